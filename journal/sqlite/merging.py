"""Getting rid of what the index of words keeps of deleted texts.

Rule: FTS5 only notes that a text is gone; its words stay until the index's parts have been merged into one. That is
done in pieces, each a transaction of its own, and is remembered in the file until it is done.
"""

from turnwright.journal.sqlite.runner import Runner

MOVED_LEAST = 2  # a merge that changes fewer rows had nothing to do
_BEGIN = "INSERT INTO text_words (text_words, rank) VALUES ('merge', -500)"  # so many pages at most
_GO_ON = "INSERT INTO text_words (text_words, rank) VALUES ('merge', 500)"
_STATE = "SELECT value FROM meta WHERE name = 'texts_to_merge'"
_GOES_ON = "UPDATE meta SET value = 'goes on' WHERE name = 'texts_to_merge'"
_DONE = "DELETE FROM meta WHERE name = 'texts_to_merge'"


def merge_some(runner: Runner) -> bool:
    """Merge one more piece; whether nothing of what was deleted is left."""
    row = runner.connection.execute(_STATE).fetchone()
    if row is None:
        return True
    begin = row[0] == "begin"
    runner.control("BEGIN IMMEDIATE")
    try:
        before = runner.connection.total_changes
        runner.control(_BEGIN if begin else _GO_ON)
        done = not begin and runner.connection.total_changes - before < MOVED_LEAST
        runner.control(_DONE if done else _GOES_ON)
        runner.control("COMMIT")
    finally:
        if runner.connection.in_transaction:
            runner.control("ROLLBACK")
    return done
