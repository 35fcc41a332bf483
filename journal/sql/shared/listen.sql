-- $1 a thread's topic, $2 until when somebody listens to it (microseconds).
INSERT INTO listeners (topic, until_us) VALUES ($1, $2)
ON CONFLICT (topic) DO UPDATE SET until_us = excluded.until_us WHERE listeners.until_us < excluded.until_us;
