"""Deterministic orchestration of conversations and turns; no I/O happens here."""
