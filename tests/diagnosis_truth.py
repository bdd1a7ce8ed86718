"""What the simulator planted, as rows to measure a diagnosis with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

PLANTED_CAUSES = Path(".planted") / "planted_causes.jsonl"
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Planted:
    """One attempt that did not pass: why, and the events of its output that show it."""

    run_id: str
    task_id: str
    rollout_index: int
    mode: str
    cause: str
    # Null where there is no event to point at: no row, or an empty output.
    event_seq: int | None
    also_seq: tuple[int, ...]

    @property
    def key(self) -> Key:
        """How the relations name the rollout."""
        return self.run_id, self.task_id, self.rollout_index

    def is_shown_by(self, seq: int | None) -> bool:
        """Whether an event is one of those that show it; none, where none does."""
        return seq == self.event_seq or seq in self.also_seq


def planted(folder: Path) -> list[Planted]:
    """Every planted failure of a simulated results folder, in the order of the file."""
    lines = (folder / PLANTED_CAUSES).read_text(encoding="utf-8").splitlines()
    return [_planted(json.loads(line)) for line in lines]


def _planted(row: dict[str, object]) -> Planted:
    return Planted(
        run_id=str(row["run"]),
        task_id=str(row["_ng_task_index"]),
        rollout_index=int(str(row["_ng_rollout_index"])),
        mode=str(row["mode"]),
        cause=str(row["cause"]),
        event_seq=row["event_seq"],  # type: ignore[arg-type]
        also_seq=tuple(row["also_seq"]),  # type: ignore[arg-type]
    )
