-- What an API key's bearer may do; of its secret only the digest is kept. Times in microseconds, 0: never.
CREATE TABLE api_keys (
    key_id text PRIMARY KEY,
    tenant text NOT NULL,
    secret_digest bytea NOT NULL,
    grant_body bytea NOT NULL,
    created_us bigint NOT NULL,
    expires_us bigint NOT NULL,
    revoked_us bigint NOT NULL DEFAULT 0
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_us, key_id);
