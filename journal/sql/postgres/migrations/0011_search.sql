-- What people and agents said and what sessions are called, as the words of `journal/search/words.py`: each has a space
-- of its own on both sides. `owners` are such words too, of the tenant, the user and the session; they begin with a sign
-- that no word has. The index takes them as they are. Of a thread everything up to `searched_seq` can be found.
ALTER TABLE threads ADD COLUMN searched_seq bigint NOT NULL DEFAULT 0;
CREATE TABLE texts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id bigint NOT NULL,
    seq bigint NOT NULL,
    session_id bigint NOT NULL,
    size integer NOT NULL,
    owners text NOT NULL,
    words text NOT NULL,
    vector tsvector GENERATED ALWAYS AS (array_to_tsvector(string_to_array(btrim(owners || words), '  '))) STORED
);
CREATE UNIQUE INDEX texts_by_entry ON texts (thread_id, seq);
CREATE INDEX texts_by_word ON texts USING gin (vector);
