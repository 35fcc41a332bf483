"""The journal's transactions, as scripts for any store.

Rule: lock order is thread head, session row, counter; rows of requests, turns and deadlines are written only under
the head of their thread. What may happen is decided by the pure core on what was read under those locks; a script
only reads, asks the core, and appends.
"""
