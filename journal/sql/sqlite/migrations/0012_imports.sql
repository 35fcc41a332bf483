-- Sessions that are being imported, hidden as deleted ones are until all of them is there and proven. `digest` is that of
-- the file, so whoever comes with the same one goes on where it was cut off. Times in microseconds.
CREATE TABLE imports (
    session_id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,
    begun_us INTEGER NOT NULL
) STRICT;
