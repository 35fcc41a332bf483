"""`decide`: may this happen, and what does it record?

Rule: pure and total. A command gives drafts or a rejection with a stable code; a rejection changes
nothing. Which turn commands are possible in which phase is the table in `decide.table`.
"""

from turnwright.journal.decide.dispatch import decide as decide
from turnwright.journal.decide.session import decide_session as decide_session
