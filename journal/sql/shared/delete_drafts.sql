-- $1 thread id, $2 turn id, $3 step, $4 ordinal: what this attempt at the step's model call said, and those before it.
DELETE FROM drafts WHERE thread_id = $1 AND turn_id = $2 AND step = $3 AND ordinal <= $4;
