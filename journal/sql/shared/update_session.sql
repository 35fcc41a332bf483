-- $1 session id, $2 control, $3 reducer version, $4 updated (microseconds), $5 paused, $6 cancelled seq.
UPDATE sessions SET control = $2, reducer_version = $3, updated_us = $4, paused = $5, cancelled_seq = $6 WHERE id = $1;
