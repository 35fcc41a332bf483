-- $1 the journal's schema. Asks the catalog, so that it can fail for no reason of ours: a failed statement would undo
-- the caller's whole transaction.
-- Row: whether the inbox is there, whether this user may write to it, whether the transaction may write at all.
SELECT
    count(c.oid) > 0,
    coalesce(bool_and(
        has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'INSERT')
        AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(m.oid, 'SELECT')
    ), false),
    current_setting('transaction_read_only') = 'off'
FROM pg_catalog.pg_namespace AS n
JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'inbox'
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'key_digest'
JOIN pg_catalog.pg_class AS m ON m.relnamespace = n.oid AND m.relname = 'meta'
WHERE n.nspname = $1::text;
