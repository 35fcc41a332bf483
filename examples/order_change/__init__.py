"""A customer wants an order cancelled, is asked whether it really shall be, and chooses not to."""
