-- Row: the random id this journal got when it was made.
SELECT value FROM meta WHERE name = 'journal_id';
