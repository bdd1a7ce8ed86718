"""blade why: the whole story of one task, across runs and repeats."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.options import json_option, warehouse_option
from pipeline.text import json_text


@click.command()
@click.argument("task", metavar="RUN/TASK[:ROLLOUT]")
@warehouse_option
@json_option
def why(task: str, warehouse: Path, as_json: bool) -> None:
    """Tell why RUN fails TASK: how all runs fare on it, then each attempt with its evidence.

    With a rollout, that attempt comes first, and the contrast is its own.

    \b
    Examples:
      blade why office_desk_aster-8b/0
      blade why office_desk_aster-8b/0:1             one attempt first
      blade why office_desk_aster-8b/0 --json
    """
    from pipeline.cli.why_content import story
    from pipeline.cli.why_next import next_commands
    from pipeline.cli.why_page import print_story
    from pipeline.cli.why_task import find
    from pipeline.warehouse import open_warehouse

    with open_warehouse(warehouse) as opened:
        told = story(opened, find(opened, task))
    told["next"] = next_commands(told, warehouse)
    if as_json:
        click.echo(json_text(told, indent=2))
    else:
        print_story(told)
