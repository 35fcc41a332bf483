-- The one writer needs no lock. Row: the id of the journal.
SELECT value FROM meta WHERE name = 'journal_id';
