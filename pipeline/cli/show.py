"""Print one rollout with all its events."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from ..answers.tasks import cited, cited_rollout
from ..text import json_text, neutral
from ..warehouse import open_warehouse
from .completion import complete_task
from .options import json_option, warehouse_option
from .terminal import Laid, print_page, show_aliases

SHOWN_CHARACTERS = 2000
FACTS = (
    "status finish_reason limit_reached is_masked n_checks_met n_checks_total n_turns n_tool_calls "
    "n_tool_errors n_tool_timeouts n_subagents n_compactions sandbox_outcome input_tokens "
    "output_tokens duration_s"
).split()


@click.command()
@click.argument("citation", shell_complete=complete_task)
@warehouse_option
@json_option
@click.option(
    "--full",
    is_flag=True,
    help=f"Print texts of more than {SHOWN_CHARACTERS:,} characters in full.",
)
def show(citation: str, warehouse: Path, as_json: bool, full: bool) -> None:
    """Print one rollout: prompt, events in order, verifier fields, reward, source.

    \b
    Examples:
      blade show office_desk_aster-8b/3:0
      blade show office_desk_aster-8b/3:0#4          one event
      blade show office_desk_aster-8b/3:0 --json
    """
    cited(citation)  # reject malformed citations before a file is opened
    with open_warehouse(warehouse) as opened:
        rollout = cited_rollout(opened, citation)
        show_aliases(opened)
    print_page(
        "show",
        json=rollout if as_json else None,
        rollout=rollout,
        facts=FACTS,
        verifier=json_text(rollout["verifier"], indent=2),
        block=partial(_block, limit=sys.maxsize if full else SHOWN_CHARACTERS),
    )


def _block(text: str, limit: int) -> Laid:
    """An indented text up to a limit, with a note if it was cut."""
    rest = len(text) - limit
    more = f"\n  … {rest:,} more characters (--full)" if rest > 0 else ""
    return Laid("\n".join(f"  {line}" for line in neutral(text[:limit]).split("\n")) + more)
