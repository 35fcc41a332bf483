-- $1 thread id.
DELETE FROM drafts WHERE thread_id = $1;
