"""A client outside the trust boundary: it speaks to a gateway, and offers the same as one that reads the stores."""
