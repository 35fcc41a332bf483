-- $1 the thread's key. Row: id and body of what was enlisted for it first. Looked for from the thread's place in its index
-- on: with `=` alone the cheapest plan for a small inbox walks through all of it in the order of ids, and is kept.
SELECT f.id, f.body FROM (
    SELECT key_digest, id, body FROM inbox WHERE key_digest >= sha256(convert_to($1, 'UTF8'))
    ORDER BY key_digest, id LIMIT 1
) AS f
WHERE f.key_digest = sha256(convert_to($1, 'UTF8'));
