"""Answers for commands, agents and notebooks: a warehouse in, plain values out."""
