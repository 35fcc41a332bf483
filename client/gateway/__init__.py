"""The HTTP gateway: what a client may do, over HTTP, for those outside the trust boundary."""
