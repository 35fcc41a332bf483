-- $1 seconds without a beat, far beyond any lease.
DELETE FROM presences WHERE beat_at < clock_timestamp() - make_interval(secs => $1);
