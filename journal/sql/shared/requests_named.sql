-- $1 session id, $2 request id: what the threads of a session remember of a request. Rows: the thread's key, receipt.
SELECT t.key, r.receipt FROM threads AS t
JOIN requests AS r ON r.log_id = t.id AND r.request_id = $2
WHERE t.session_id = $1 ORDER BY t.id;
