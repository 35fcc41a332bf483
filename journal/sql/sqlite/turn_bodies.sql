-- $1 turn ids as a JSON array. Rows: id, body.
SELECT turn_id, body FROM turns WHERE turn_id IN (SELECT value FROM json_each($1));
