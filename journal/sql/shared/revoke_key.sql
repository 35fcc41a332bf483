-- $1 tenant, $2 key id, $3 now (microseconds). Row: revoked_us, as it is after this.
UPDATE api_keys SET revoked_us = CASE WHEN revoked_us = 0 THEN $3 ELSE revoked_us END
WHERE tenant = $1 AND key_id = $2
RETURNING revoked_us;
