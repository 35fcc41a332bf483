-- $1 webhook id, $2 session id, $3 turn id ('': the whole session), $4 URL, $5 types, $6 secret, $7 principal, $8 now,
-- $9 position to begin behind.
INSERT INTO webhooks (webhook_id, session_id, turn_id, url, types, secret, principal, created_us, position, state, tries,
    failing_since_us, next_try_us, last_error, ended_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'active', 0, 0, 0, '', 0);
