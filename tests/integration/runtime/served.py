"""An agent with a server, for workers in processes of their own; the server's log stands in the environment."""

import os
import sys

from tests.integration.runtime import mcp_plain
from tests.integration.runtime.agents import UNASKED
from turnwright.activities import Agent, McpServer

LOG = "TURNWRIGHT_TEST_SERVER_LOG"


def agents() -> list[Agent]:
    """The agent `bot`, with the tools of a server of its worker's."""
    server = McpServer.stdio("plain", [sys.executable, mcp_plain.__file__, os.environ[LOG]])
    return [Agent("bot", "scripted:test", tools=[server], permissions=UNASKED)]
