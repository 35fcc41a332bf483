-- $1 kind, $2 name.
DELETE FROM presences WHERE kind = $1 AND name = $2;
