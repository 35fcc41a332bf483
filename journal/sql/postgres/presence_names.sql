-- Rows: name, of everybody who left a trace.
SELECT name FROM presences WHERE kind = 'presence' ORDER BY name;
