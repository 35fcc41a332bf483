"""The journal in one SQLite file, for one machine."""
