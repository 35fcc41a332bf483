-- $1 presence, $2 engine.
INSERT INTO serving (presence, engine) VALUES ($1, $2)
ON CONFLICT (presence) DO UPDATE SET engine = excluded.engine;
