-- $1 key id, $2 tenant, $3 digest of the secret, $4 grant, $5 now, $6 expiry (microseconds; 0: never).
INSERT INTO api_keys (key_id, tenant, secret_digest, grant_body, created_us, expires_us) VALUES ($1, $2, $3, $4, $5, $6);
