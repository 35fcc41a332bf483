"""What fits into a request: how long a conversation is, and what of it gives way when it becomes too long."""
