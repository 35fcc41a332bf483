-- $1 id, $2 the thread's key: named too, for of all indexes that hold the id only those of both go to it at once. Row: one,
-- unless somebody took it before.
DELETE FROM inbox WHERE id = $1 AND key_digest = sha256(convert_to($2, 'UTF8')) RETURNING 1;
