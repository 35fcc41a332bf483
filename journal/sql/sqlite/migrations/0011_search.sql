-- What people and agents said and what sessions are called, as the words of `journal/search/words.py`: each has a space
-- of its own on both sides. `owners` are such words too, of the tenant, the user and the session. `text_words` splits at
-- spaces and changes nothing. Of a thread everything up to `searched_seq` can be found.
ALTER TABLE threads ADD COLUMN searched_seq INTEGER NOT NULL DEFAULT 0;
CREATE TABLE texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    owners TEXT NOT NULL,
    words TEXT NOT NULL,
    UNIQUE (thread_id, seq)
) STRICT;
CREATE VIRTUAL TABLE text_words USING fts5(
    owners, words, content = 'texts', content_rowid = 'id', columnsize = 0, tokenize = 'ascii'
);
CREATE TRIGGER texts_added AFTER INSERT ON texts BEGIN
    INSERT INTO text_words (rowid, owners, words) VALUES (new.id, new.owners, new.words); END;
-- The index keeps what was deleted until its parts are merged: the row of `meta` says that this is to be done.
CREATE TRIGGER texts_deleted AFTER DELETE ON texts BEGIN
    INSERT INTO text_words (text_words, rowid, owners, words) VALUES ('delete', old.id, old.owners, old.words);
    INSERT OR REPLACE INTO meta VALUES ('texts_to_merge', 'begin'); END;
