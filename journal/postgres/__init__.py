"""The journal in a schema of a PostgreSQL database, for many machines."""
