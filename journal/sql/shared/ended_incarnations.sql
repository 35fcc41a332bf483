-- Rows: an id the journal had before, the Temporal where its workflows were ended last.
SELECT substr(name, 7), value FROM meta WHERE name LIKE 'ended:%' ORDER BY name;
