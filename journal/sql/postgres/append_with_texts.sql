-- As `append`, with $30..$33 one array for each column of the texts: seq, number of words, owners, words.
-- Row: heads updated (0 or 1), position of the first entry (null: the session has no counter).
WITH head AS (
    UPDATE threads
    SET seq = $4, hash = $5, at_us = $6, epoch = $7, control = $8, reducer_version = $9,
        tail_bytes = tail_bytes + $10, total_bytes = total_bytes + $10,
        queued = $11, active_turn = $12, runnable = $13,
        searched_seq = CASE WHEN searched_seq = $3 THEN $4 ELSE searched_seq END
    WHERE id = $1 AND seq = $3
    RETURNING id
), counter AS (
    UPDATE counters SET position = position + $14
    WHERE session_id = $2 AND EXISTS (SELECT FROM head)
    RETURNING position - $14 AS base
), new AS (
    SELECT e.*, counter.base + e.n AS position
    FROM counter, unnest(
        $15::bigint[], $16::text[], $17::text[], $18::integer[], $19::bigint[], $20::text[], $21::text[],
        $22::integer[], $23::bigint[], $24::integer[], $25::bytea[], $26::bytea[], $27::bytea[],
        $28::bytea[], $29::text[]
    ) WITH ORDINALITY AS e (
        seq, entry_id, type, version, at_us, turn_id, run,
        step, epoch, required, prev_hash, hash, salt,
        body, blob, n
    )
), envelopes AS (
    INSERT INTO entries (
        thread_id, seq, entry_id, type, version, position, session_id, at_us, turn_id, run, step, epoch,
        required, prev_hash, hash
    )
    SELECT $1, seq, entry_id, type, version, position, $2, at_us, turn_id, run, step, epoch,
        required, prev_hash, hash
    FROM new
), bodies AS (
    INSERT INTO payloads (thread_id, seq, salt, body, blob)
    SELECT $1, seq, salt, body, blob FROM new
), words AS (
    INSERT INTO texts (thread_id, seq, session_id, size, owners, words)
    SELECT $1, w.seq, $2, w.size, w.owners, w.words
    FROM counter, unnest($30::bigint[], $31::integer[], $32::text[], $33::text[]) AS w (seq, size, owners, words)
    ON CONFLICT (thread_id, seq) DO NOTHING
)
SELECT (SELECT count(*)::integer FROM head), (SELECT base + 1 FROM counter);
