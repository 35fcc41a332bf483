"""AgentScope's `AgentState` as JSON, of AgentScope Java and of the Python one, in and out.

Rule: nothing of a document is lost. What has a meaning here becomes a message or a part of the state; the difference
between the document and what would be written of that is kept with it, and comes back when it is written again.
"""

from turnwright.journal.elsewhere.agentscope.state import read as read
from turnwright.journal.elsewhere.agentscope.writing import written as written
