-- $1 session id, $2 sha256: goes if no entry of the session has it or names it any more. Reads all of the session.
DELETE FROM blobs WHERE session_id = $1 AND sha256 = $2 AND NOT EXISTS (
    SELECT 1 FROM payloads AS p
    JOIN threads AS t ON t.id = p.thread_id
    LEFT JOIN blobs AS b ON b.session_id = $1 AND b.sha256 = p.blob
    WHERE t.session_id = $1 AND (p.blob = $2 OR instr(coalesce(p.body, b.body), CAST($2 AS BLOB)) > 0)
);
