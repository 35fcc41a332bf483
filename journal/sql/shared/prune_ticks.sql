-- $1 session id, $2 generation, $3 how many to keep.
DELETE FROM ticks WHERE session_id = $1 AND generation = $2 AND seq <= (
    SELECT t.seq FROM ticks AS t WHERE t.session_id = $1 AND t.generation = $2 ORDER BY t.seq DESC LIMIT 1 OFFSET $3
);
