-- $1 key id. Row: the key, wrapped; the name of what wraps it.
SELECT wrapped, wrapped_by FROM data_keys WHERE key_id = $1;
