-- $1 now (microseconds), $2 after this webhook id, $3 how many at most: those whose receiver may be told something now.
-- Rows: webhook_id, the session's key, turn_id, url, types, secret, position. By subqueries, as a join would be planned
-- once, perhaps while the tables are empty, and then read all sessions each time.
SELECT w.webhook_id, (SELECT s.key FROM sessions AS s WHERE s.id = w.session_id), w.turn_id, w.url, w.types, w.secret,
    w.position
FROM webhooks AS w
WHERE w.state = 'active' AND w.webhook_id > $2 AND w.next_try_us <= $1
    AND w.position < (SELECT c.position FROM counters AS c WHERE c.session_id = w.session_id)
ORDER BY w.webhook_id LIMIT $3;
