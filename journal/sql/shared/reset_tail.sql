-- $1 thread id, $2 bytes of the checkpoint that was just written.
UPDATE threads SET tail_bytes = 0, checkpoint_bytes = $2 WHERE id = $1;
