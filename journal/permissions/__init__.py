"""Whether an agent's call may run: a pure answer from the permissions, the call, and what a worker found out about it.

Rule: nothing here reads a file, a clock or a process. Where an answer needs one (the real path of a link, a tool's own
check), a worker brings it as a fact, and what is not known counts against the call.
"""
