"""Turnwright as an MCP server, for agents and programs that speak the Model Context Protocol."""
