-- $1 turn ids as a JSON array. Rows: id, body.
SELECT turn_id, body FROM turns WHERE turn_id IN (SELECT asked FROM jsonb_array_elements_text($1::text::jsonb) AS asked);
