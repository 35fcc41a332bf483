-- $1 session id, $2 how many at most. Rows: one for each.
DELETE FROM webhooks WHERE webhook_id IN (
    SELECT w.webhook_id FROM webhooks AS w WHERE w.session_id = $1 ORDER BY w.created_us, w.webhook_id LIMIT $2
)
RETURNING 1;
