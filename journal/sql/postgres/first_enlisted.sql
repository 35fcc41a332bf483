-- $1 the thread's key. Row: id and body of what was enlisted for it first.
SELECT id, body FROM inbox WHERE thread_digest = sha256(convert_to($1, 'UTF8')) ORDER BY id LIMIT 1;
