-- Rows: name, info, of everybody who left a trace.
SELECT name, info FROM presences WHERE kind = 'presence' ORDER BY name;
