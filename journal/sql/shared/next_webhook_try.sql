-- $1 now (microseconds). Row: when the next webhook that failed is to be tried again (null: none is), how many are active.
SELECT min(next_try_us) FILTER (WHERE next_try_us > $1), count(*) FROM webhooks WHERE state = 'active';
