-- $1 session id, $2 created (microseconds): it was hidden while it was imported.
UPDATE sessions SET deleted_at_us = NULL, created_us = $2 WHERE id = $1;
