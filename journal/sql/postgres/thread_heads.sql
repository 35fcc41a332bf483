-- $1 thread ids as a JSON array. Rows: id, seq.
SELECT id, seq FROM threads WHERE id IN (SELECT value::bigint FROM jsonb_array_elements_text($1::text::jsonb));
