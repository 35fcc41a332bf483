-- Rows: an id the journal had before, followed by a space and the Temporal unless an older version wrote it; the
-- Temporal where its workflows were ended.
SELECT substr(name, 7), value FROM meta WHERE name LIKE 'ended:%' ORDER BY name;
