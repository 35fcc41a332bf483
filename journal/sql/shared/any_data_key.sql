-- Row: one, if a session of the journal is sealed.
SELECT 1 FROM data_keys LIMIT 1;
