"""A rollout, or one event of it, as reports and labels cite it: `run/task:rollout[#seq]`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

SHAPE = "RUN/TASK:ROLLOUT[#SEQ]"
# The run ends at the first slash, the index is the digits after the last colon: task ids may
# contain both. Python refuses to convert texts of more than 4,300 digits.
PATTERN = re.compile(
    r"(?P<run>[^/]+)/(?P<task>.*):(?P<index>[0-9]{1,100})(?:#(?P<seq>[0-9]{1,100}))?", re.DOTALL
)
LONGEST_NAME = 200


@dataclass(frozen=True)
class Citation:
    """RUN/TASK:ROLLOUT, and optionally one of its events."""

    run_id: str
    task_id: str
    rollout_index: int
    seq: int | None

    @property
    def rollout(self) -> tuple[str, str, int]:
        """Run, task and repeat, without the event."""
        return self.run_id, self.task_id, self.rollout_index

    def __str__(self) -> str:
        event = "" if self.seq is None else f"#{self.seq}"
        return f"{self.run_id}/{self.task_id}:{self.rollout_index}{event}"


def bounded_name(name: str) -> str:
    """The key of a name: long names become their beginning and a hash, as in sql/macros.sql."""
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.md5(name.encode(errors="replace"), usedforsecurity=False).hexdigest()
    return f"{name[:182]}… {digest[:16]}"


def parse(text: str) -> Citation | None:
    """Parse a citation; None if the text is not one. Long task names may be written in full."""
    match = PATTERN.fullmatch(text)
    if match is None:
        return None
    seq = match["seq"]
    task = bounded_name(match["task"])
    return Citation(match["run"], task, int(match["index"]), int(seq) if seq else None)
