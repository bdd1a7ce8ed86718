"""Show why a task fails: its attempts and their evidence, in all runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from ..answers.names import Row
from ..answers.tasks import SIDES, refuse_malformed, task_story
from ..text import json_text
from ..warehouse import open_warehouse
from .completion import complete_task
from .options import command, json_option, warehouse_option
from .page import print_next
from .terminal import print_page, show_aliases


@click.command()
@click.argument("task", metavar="RUN/TASK[:ROLLOUT]", shell_complete=complete_task)
@warehouse_option
@json_option
def why(task: str, warehouse: Path, as_json: bool) -> None:
    """Show how all runs do on a task, then each attempt of RUN at it with its evidence.

    If a rollout is given, it comes first and is the one compared with the closest pass.

    \b
    Examples:
      blade why office_desk_aster-8b/0
      blade why office_desk_aster-8b/0:1             one attempt first
      blade why office_desk_aster-8b/0 --json
    """
    refuse_malformed(task)
    with open_warehouse(warehouse) as opened:
        story = task_story(opened, task)
        show_aliases(opened)
    story["next"] = _next(story, warehouse)
    if as_json:
        click.echo(json_text(story, indent=2))
        return
    print_page("why", story=story)
    print_next(story["next"])


def _next(story: Row, warehouse: Path) -> list[str]:
    own, *others = story["runs"]
    different = [
        f"{run['run_id']}/{story['task_id']}"
        for run in others
        if run["is_same_question"] and run["bucket"] != own["bucket"]
    ]
    commands = [
        *(("show", citation) for citation in _evidence(story)),
        *(("why", task) for task in different[:1]),
        ("failures", story["run_id"]),
    ]
    return [command(name, argument, warehouse) for name, argument in dict.fromkeys(commands)]


def _evidence(story: Row) -> Iterator[str]:
    """Both attempts of a contrast, else the first failing attempt."""
    if story["contrast"]:
        yield from (story["contrast"][side] for side in SIDES)
        return
    recorded = [each for each in story["attempts"] if each["outcome"] in ("scored", "unscored")]
    first = next((each for each in recorded if each["modes"]), next(iter(recorded), None))
    if first:
        places = [*first["modes"], *first["notes"]]
        seqs = [place["seq"] for place in places if place["seq"] is not None]
        yield first["citation"] + (f"#{seqs[0]}" if seqs else "")
