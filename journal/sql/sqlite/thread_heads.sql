-- $1 thread ids as a JSON array. Rows: id, seq.
SELECT id, seq FROM threads WHERE id IN (SELECT value FROM json_each($1));
