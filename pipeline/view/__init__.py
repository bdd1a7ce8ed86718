"""The warehouse for a browser and for agents: local, read-only, every answer bounded."""
