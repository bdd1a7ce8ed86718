"""What to run after reading why a task fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipeline.cli.lookup import Row, command

RECORDED = ("scored", "unscored")


def next_commands(story: Row, warehouse: Path) -> list[str]:
    """The evidence to open, a run that fares otherwise, the run as a whole; each once."""
    found = [
        *(("show", citation) for citation in _evidence(story)),
        *(("why", f"{run_id}/{story['task_id']}") for run_id in _otherwise(story)),
        ("failures", story["run_id"]),
    ]
    return [command(name, argument, warehouse) for name, argument in dict.fromkeys(found)]


def _evidence(story: Row) -> Iterator[str]:
    """Both sides where two attempts part; else the first failing attempt, and the best."""
    if story["contrast"]:
        yield from (story["contrast"]["failing"], story["contrast"]["passing"])
        return
    recorded = [attempt for attempt in story["attempts"] if attempt["outcome"] in RECORDED]
    chosen = next((attempt for attempt in recorded if attempt["primary"]), None)
    chosen = chosen or next(iter(recorded), None)
    if chosen:
        seq = chosen["primary"]["seq"] if chosen["primary"] else None
        yield chosen["citation"] + ("" if seq is None else f"#{seq}")
    best = story["dive"] and story["dive"]["best_rollout"]
    if best and best != (chosen and chosen["citation"]):
        yield best


def _otherwise(story: Row) -> Iterator[str]:
    """Another run in which the same question ends otherwise."""
    own, *others = story["runs"]
    for run in others:
        if run["is_same_question"] and run["bucket"] != own["bucket"]:
            yield run["run_id"]
            return
