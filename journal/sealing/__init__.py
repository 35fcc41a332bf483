"""What a journal keeps of conversations, sealed at rest: each session under a data key of its own.

A script (`turnwright.journal.script`) and the store that runs it know nothing of this. Between them stands
`sealed_script`, which seals what a statement writes and opens what it reads, as `columns` lists them.
"""
