"""Measurements of Turnwright, each against a bound that it prints."""
