-- $1 topics as a JSON array. Rows: those somebody listens to.
SELECT topic FROM listeners WHERE topic IN (SELECT jsonb_array_elements_text($1::text::jsonb))
    AND until_us > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
