-- What of it running model calls reserved, and until when (microseconds; 0: no) the thread waits for what others reserved.
ALTER TABLE spent
    ADD COLUMN reserved_tokens bigint NOT NULL DEFAULT 0,
    ADD COLUMN reserved_microusd bigint NOT NULL DEFAULT 0,
    ADD COLUMN waits_us bigint NOT NULL DEFAULT 0;
