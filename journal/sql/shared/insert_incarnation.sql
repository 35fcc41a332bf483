-- $1 `incarnation:` and the id the journal had until $2.
INSERT INTO meta (name, value) VALUES ($1, $2);
