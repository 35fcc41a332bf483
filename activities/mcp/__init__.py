"""Servers of the Model Context Protocol as sources of tools.

Rule: a server is not trusted. Its words are hints: none of them lets a call run unasked, and none makes a worker wait
for ever. Its SDK (the extra `mcp`) is loaded when a server is first needed.
"""

from turnwright.activities.mcp.server import McpServer as McpServer
