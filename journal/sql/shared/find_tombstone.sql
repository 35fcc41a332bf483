-- $1 session id. Row: request_id, principal, reason, deleted_us, erased_us, counts.
SELECT request_id, principal, reason, deleted_us, erased_us, counts FROM tombstones WHERE session_id = $1;
