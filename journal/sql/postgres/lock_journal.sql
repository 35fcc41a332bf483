-- Locks what is said of the journal as a whole. Row: its id.
SELECT value FROM meta WHERE name = 'journal_id' FOR UPDATE;
