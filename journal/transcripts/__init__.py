"""Transcripts: each session as two files of JSON lines, a projection of the journal that can be deleted at any time."""

# As what a deletion's receipt counts them.
TRANSCRIPTS = "transcripts"
