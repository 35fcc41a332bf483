-- $1 the name of a wrapping key. Row: key id, the key, wrapped, and that name, of the newest data key that it wraps.
SELECT key_id, wrapped, wrapped_by FROM data_keys WHERE wrapped_by = $1 ORDER BY session_id DESC LIMIT 1;
