"""Tools from elsewhere: what lists them, on which terms they become tools of an agent, and how their calls are made.

Rule: a source only says what it has. What repeating a call means, and who is asked first, is for the agent's author to
say.
"""

from turnwright.activities.sources.port import OpenSource as OpenSource
from turnwright.activities.sources.port import SourceAway as SourceAway
from turnwright.activities.sources.port import ToolSource as ToolSource
from turnwright.activities.sources.terms import TermOptions as TermOptions
from turnwright.activities.sources.terms import Terms as Terms
