-- $1 session id. Row: its counter, how many entries it has, their least and their greatest position.
SELECT (SELECT position FROM counters WHERE session_id = $1), count(*), min(position), max(position)
FROM entries WHERE session_id = $1;
