-- The key that a session's content is sealed with, wrapped by the key of that name; `whole`: nothing of the session is left
-- unsealed. Without its row what it sealed is erased.
CREATE TABLE data_keys (
    session_id INTEGER PRIMARY KEY,
    key_id BLOB NOT NULL UNIQUE,
    wrapped BLOB NOT NULL,
    wrapped_by TEXT NOT NULL,
    whole INTEGER NOT NULL
) STRICT;
