-- Rows: a wrapping key's name, and how many data keys it wraps.
SELECT wrapped_by, count(*) FROM data_keys GROUP BY wrapped_by ORDER BY wrapped_by;
