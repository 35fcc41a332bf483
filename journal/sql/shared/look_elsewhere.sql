-- $1 journal id and Temporal of now: what another one was told is told this one at once.
UPDATE schedules SET look_us = 0 WHERE applied_to <> $1 AND look_us <> 0;
