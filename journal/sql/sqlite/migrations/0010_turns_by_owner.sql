-- For lists of one agent's, one user's or one session's turns in one phase. `owner` is `+name` or, where it is nobody, `-`.
-- Rows that older code adds have neither, until newer code writes them.
ALTER TABLE turns ADD COLUMN agent TEXT;
ALTER TABLE turns ADD COLUMN owner TEXT;
UPDATE turns SET
    agent = (SELECT h.agent FROM threads AS h WHERE h.id = turns.thread_id),
    owner = (SELECT coalesce('+' || s.user_id, '-') FROM sessions AS s WHERE s.id = turns.session_id);
CREATE INDEX turns_by_agent ON turns (tenant, agent, phase, created_us, turn_id);
CREATE INDEX turns_by_owner ON turns (tenant, owner, phase, created_us, turn_id);
CREATE INDEX turns_in_session ON turns (session_id, phase, created_us, turn_id);
CREATE INDEX turns_without_agent ON turns (tenant, created_us, turn_id) WHERE agent IS NULL;
