-- $1 session id, $2 turn id ('': any of the session), $3 webhook id. Row: one if it was there.
DELETE FROM webhooks WHERE session_id = $1 AND ($2 = '' OR turn_id = $2) AND webhook_id = $3 RETURNING 1;
