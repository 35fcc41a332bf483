-- Row: the store's time now, in microseconds; under a lock it is read after waiting for the lock.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
