-- Sessions that are being imported, hidden as deleted ones are until all of them is there and proven. `digest` is that of
-- the file, so whoever comes with the same one goes on where it was cut off. Times in microseconds.
CREATE TABLE imports (
    session_id bigint PRIMARY KEY,
    digest text NOT NULL,
    begun_us bigint NOT NULL
);
