"""The proof: agents at work while workers are killed, Temporal is lost and caches are deleted. `make demo` runs it."""
