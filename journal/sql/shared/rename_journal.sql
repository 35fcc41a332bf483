-- $1 the new id.
UPDATE meta SET value = $1 WHERE name = 'journal_id';
