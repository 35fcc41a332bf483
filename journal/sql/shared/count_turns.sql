-- Rows: a phase, and how many turns are in it.
SELECT phase, count(*) FROM turns GROUP BY phase ORDER BY phase;
