-- What of it running model calls reserved, and until when (microseconds; 0: no) the thread waits for what others reserved.
ALTER TABLE spent ADD COLUMN reserved_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spent ADD COLUMN reserved_microusd INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spent ADD COLUMN waits_us INTEGER NOT NULL DEFAULT 0;
