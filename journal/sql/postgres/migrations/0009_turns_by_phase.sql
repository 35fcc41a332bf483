-- For lists of turns in one phase, which are few among many that have ended.
CREATE INDEX turns_by_phase ON turns (tenant, phase, created_us, turn_id);
