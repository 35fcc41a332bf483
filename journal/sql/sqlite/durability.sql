-- Rows: what decides whether the file survives a crash, and how it is set.
SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
UNION ALL SELECT 'sqlite_version', sqlite_version();
