-- $1 session id. Row: how many webhooks of it are active.
SELECT count(*) FROM webhooks WHERE session_id = $1 AND state = 'active';
