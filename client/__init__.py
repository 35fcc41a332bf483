"""The way into a conversation: start it, send to it, follow it."""
