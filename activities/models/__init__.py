"""Models behind one port: the pydantic-ai adapter, the scripted one, and the router between them."""
