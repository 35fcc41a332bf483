-- $1 presence.
DELETE FROM serving WHERE presence = $1;
