-- $1 session id: its counter becomes the greatest position of its entries.
UPDATE counters SET position = (SELECT coalesce(max(position), 0) FROM entries WHERE session_id = $1) WHERE session_id = $1;
