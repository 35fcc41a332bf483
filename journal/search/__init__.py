"""Finding what was said: words of a text, questions about them, and the place in the text that answers."""
