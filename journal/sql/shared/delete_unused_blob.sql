-- $1 session id, $2 sha256: goes if no entry of the session has it any more.
DELETE FROM blobs WHERE session_id = $1 AND sha256 = $2 AND NOT EXISTS (
    SELECT 1 FROM payloads AS p JOIN threads AS t ON t.id = p.thread_id WHERE t.session_id = $1 AND p.blob = $2
);
