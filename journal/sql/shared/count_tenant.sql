-- $1 tenant, $2 since when turns count as new. Rows: a name and a number. It looks at every thread and turn of the tenant.
SELECT 'sessions', count(*) FROM sessions WHERE tenant = $1 AND deleted_at_us IS NULL
UNION ALL SELECT 'sessions_paused', count(*) FROM sessions WHERE tenant = $1 AND paused = 1 AND deleted_at_us IS NULL
UNION ALL SELECT 'threads', count(*) FROM threads WHERE tenant = $1 AND agent <> ''
UNION ALL SELECT 'entries', CAST(coalesce(sum(seq), 0) AS bigint) FROM threads WHERE tenant = $1
UNION ALL SELECT 'entry_bytes', CAST(coalesce(sum(total_bytes), 0) AS bigint) FROM threads WHERE tenant = $1
UNION ALL SELECT 'turns_new', count(*) FROM turns WHERE tenant = $1 AND created_us > $2
UNION ALL SELECT 'turns_' || phase, count(*) FROM turns WHERE tenant = $1 GROUP BY phase;
