-- $1 topics as a JSON array. Rows: those somebody listens to.
SELECT topic FROM listeners WHERE topic IN (SELECT value FROM json_each($1)) AND until_us > now_us();
