-- $1 webhook id. Row: webhook_id, session_id, turn_id, url, types, secret, principal, created_us, position, state, tries,
-- failing_since_us, next_try_us, last_error, ended_us.
SELECT webhook_id, session_id, turn_id, url, types, secret, principal, created_us, position, state, tries,
    failing_since_us, next_try_us, last_error, ended_us
FROM webhooks WHERE webhook_id = $1;
