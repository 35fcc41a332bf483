"""Runnable examples; the tests run each of them and check its output."""
