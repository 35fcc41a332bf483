-- $1 now (microseconds).
DELETE FROM listeners WHERE until_us < $1;
