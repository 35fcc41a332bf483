-- $1 webhook id, $2 where it stands, $3 to $9 its new position, state, tries, failing_since_us, next_try_us, last_error,
-- ended_us. Row: one if it stood there and was active.
UPDATE webhooks SET position = $3, state = $4, tries = $5, failing_since_us = $6, next_try_us = $7, last_error = $8,
    ended_us = $9
WHERE webhook_id = $1 AND position = $2 AND state = 'active'
RETURNING 1;
