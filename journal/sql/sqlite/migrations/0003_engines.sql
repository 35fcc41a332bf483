-- Which Temporal each worker serves the journal through; rows of workers that are gone mean nothing.
CREATE TABLE serving (
    presence TEXT PRIMARY KEY,
    engine TEXT NOT NULL
) STRICT;
