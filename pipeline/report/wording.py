"""Words that pages and commands share."""

from __future__ import annotations

# In what a pass and a failure of one task first differ.
PARTINGS = {
    "tool": "they call different tools",
    "arguments": "the same tool is called with other arguments",
    "result": "the same call gets another result",
    "stop": "one of them calls nothing more",
    "answer": "the calls are the same and results begin alike, the last words are not",
    "nothing": "the calls and last words are the same, and results begin alike",
}
