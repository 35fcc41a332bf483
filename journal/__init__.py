"""The record of a conversation: entries, turn states, and the stores that keep them."""
