-- $1 id. Row: one, unless somebody took it before.
DELETE FROM inbox WHERE id = $1 RETURNING 1;
