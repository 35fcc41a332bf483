"""Commands of the terminal that need the worker's side: dev, worker, demo, and the journal's upkeep."""
