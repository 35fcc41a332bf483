-- $1 `ended:`, the id the journal had, a space and the engine, $2 engine.
INSERT INTO meta (name, value) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;
