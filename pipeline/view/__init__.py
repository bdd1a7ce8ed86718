"""What answers while it runs, over one warehouse, read-only: the explorer in a browser, and MCP."""
