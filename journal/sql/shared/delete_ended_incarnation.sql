-- $1 and $2 the note's name, now and as older versions wrote it, $3 engine.
DELETE FROM meta WHERE name IN ($1, $2) AND value = $3;
