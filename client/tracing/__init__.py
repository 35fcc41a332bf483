"""A turn as one trace, told by what was committed."""
