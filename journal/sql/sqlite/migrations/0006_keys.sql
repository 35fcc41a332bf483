-- What an API key's bearer may do; of its secret only the digest is kept. Times in microseconds, 0: never.
CREATE TABLE api_keys (
    key_id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    secret_digest BLOB NOT NULL,
    grant_body BLOB NOT NULL,
    created_us INTEGER NOT NULL,
    expires_us INTEGER NOT NULL,
    revoked_us INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_us, key_id);
