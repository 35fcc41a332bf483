-- The entry of a fork that holds what it begins with, once it was made whole; null: its origin is read.
ALTER TABLE bases ADD COLUMN whole_seq bigint;
