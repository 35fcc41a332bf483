-- $1 session id. Row: the digest of the file whose import into it has not ended.
SELECT digest FROM imports WHERE session_id = $1;
