-- Runs on a caller's connection, whose search path is the caller's: `journal_schema` stands for the journal's schema.
-- $1 the journal's id, $2 the thread's key, $3 its session's key, $4 turn id, $5 request id, $6 the request as JSON,
-- $7 channel, $8 topic. One statement, and no lock that anybody of ours would wait for. The server tells of it with the
-- caller's commit, if that comes.
-- Row: whether this is the journal (1 or 0), the turn's request that the transaction can see already (null: none).
WITH journal AS (
    SELECT 1 FROM journal_schema.meta WHERE name = 'journal_id' AND value = $1::text
), known AS (
    SELECT f.body FROM (
        SELECT turn_id, body FROM journal_schema.inbox WHERE turn_id >= $4::text ORDER BY turn_id, id LIMIT 1
    ) AS f
    WHERE f.turn_id = $4::text
), new AS (
    INSERT INTO journal_schema.inbox (thread_key, key_digest, session_key, turn_id, request_id, body, enlisted_us)
    SELECT $2::text, sha256(convert_to($2::text, 'UTF8')), $3::text, $4::text, $5::text,
        $6::bytea, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    FROM journal WHERE NOT EXISTS (SELECT FROM known)
    RETURNING pg_notify($7::text, $8::text)
)
SELECT (SELECT count(*)::integer FROM journal), (SELECT body FROM known);
