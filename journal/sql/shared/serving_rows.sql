-- Rows: presence, engine of each worker that said which Temporal it works through.
SELECT presence, engine FROM serving ORDER BY presence;
