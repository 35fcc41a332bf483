"""What a process counts and times, as Prometheus asks for it."""
