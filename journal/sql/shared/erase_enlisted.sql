-- $1 session id, $2 how many at most. Rows: one for each.
DELETE FROM inbox WHERE id IN (
    SELECT id FROM inbox WHERE session_key = (SELECT key FROM sessions WHERE id = $1) LIMIT $2
)
RETURNING 1;
