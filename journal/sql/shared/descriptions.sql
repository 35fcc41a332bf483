-- $1 id of a session's log. Rows: the seq of each title and summary in it.
SELECT seq FROM entries WHERE thread_id = $1 AND type IN ('session.titled', 'session.summarised') ORDER BY seq;
