"""List the formats of results that are read, and what each one gives."""

from __future__ import annotations

import click

from ..ingest import formats as declared
from ..ingest import unread
from ..text import json_text
from .options import json_option

GYM = {
    "format": "gym",
    "title": "NeMo Gym",
    "files": "`*_rollouts.jsonl`, any `*.jsonl` whose rows have a reward or a response, and their "
    "sidecars",
    "gives": list(declared.EVIDENCE),
    "reward": "`reward`",
    "notes": "One run per file; its shards and sidecars belong to it.",
}


@click.command()
@json_option
def formats(as_json: bool) -> None:
    """List what `blade analyze` reads: formats, their files, and what these give.

    \b
    Examples:
      blade formats
      blade formats --json
    """
    read = [GYM, *declared.listed()]
    not_read = sorted({one[0] for one in unread.declared()})
    if as_json:
        click.echo(json_text({"read": read, "not_read": not_read}, indent=2))
        return
    for one in read:
        click.echo(f"{one['title']} ({one['format']})")
        click.echo(f"  files  {one['files']}")
        click.echo(f"  gives  {', '.join(['attempts', *one['gives']])}")
        click.echo(f"  reward  {one['reward']}")
    click.echo(f"\nRecognised and not read: {', '.join(not_read)}")
