-- $1 name. Row: its value.
SELECT value FROM meta WHERE name = $1;
