-- $1 session id, $2 turn id ('': of all of it), $3 after (microseconds), $4 after (webhook id), $5 limit.
-- Rows: as `find_webhook`, oldest first.
SELECT webhook_id, session_id, turn_id, url, types, secret, principal, created_us, position, state, tries,
    failing_since_us, next_try_us, last_error, ended_us
FROM webhooks
WHERE session_id = $1 AND ($2 = '' OR turn_id = $2) AND (created_us > $3 OR (created_us = $3 AND webhook_id > $4))
ORDER BY created_us, webhook_id LIMIT $5;
