-- $1 thread id. Row: when its earliest open question runs out.
SELECT due_us FROM deadlines WHERE thread_id = $1;
