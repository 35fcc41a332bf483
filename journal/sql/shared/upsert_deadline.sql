-- $1 thread id, $2 the earliest deadline of its open questions.
INSERT INTO deadlines (thread_id, due_us) VALUES ($1, $2) ON CONFLICT (thread_id) DO UPDATE SET due_us = excluded.due_us;
