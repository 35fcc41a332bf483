-- Rows: a setting of the server that decides what survives a crash of it, and its value.
SELECT name, setting FROM pg_settings
WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes', 'server_version', 'max_connections') ORDER BY name;
