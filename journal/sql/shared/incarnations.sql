-- Rows: the ids the journal had before.
SELECT substr(name, 13) FROM meta WHERE name LIKE 'incarnation:%' ORDER BY name;
