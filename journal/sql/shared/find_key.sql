-- $1 key id. Row: tenant, secret_digest, grant_body, created_us, expires_us, revoked_us.
SELECT tenant, secret_digest, grant_body, created_us, expires_us, revoked_us FROM api_keys WHERE key_id = $1;
