-- $1 tenant, $2 after (microseconds), $3 after (key id), $4 limit. Row: key_id and the columns of find_key.
SELECT key_id, tenant, secret_digest, grant_body, created_us, expires_us, revoked_us FROM api_keys
WHERE tenant = $1 AND (created_us > $2 OR (created_us = $2 AND key_id > $3))
ORDER BY created_us, key_id LIMIT $4;
