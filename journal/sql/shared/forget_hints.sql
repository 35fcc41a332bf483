-- Every thread with work is looked at next time, and its wakes count from the beginning.
DELETE FROM hints;
