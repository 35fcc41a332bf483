-- The key that a session's content is sealed with, wrapped by the key of that name; `whole`: nothing of the session is left
-- unsealed. Without its row what it sealed is erased.
CREATE TABLE data_keys (
    session_id bigint PRIMARY KEY,
    key_id bytea NOT NULL UNIQUE,
    wrapped bytea NOT NULL,
    wrapped_by text NOT NULL,
    whole smallint NOT NULL
);
