"""blade show: one rollout as a person reads it."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.answers.names import Row
from pipeline.answers.tasks import LONGEST_TITLE, cited, cited_rollout
from pipeline.cli.options import json_option, warehouse_option
from pipeline.text import json_text, neutral, one_line
from pipeline.warehouse import open_warehouse

SHOWN_CHARACTERS = 2000
FACTS = (
    "status finish_reason n_turns n_tool_calls n_tool_errors input_tokens output_tokens duration_s"
).split()


@click.command()
@click.argument("citation")
@warehouse_option
@json_option
@click.option("--full", is_flag=True, help=f"Do not cut texts at {SHOWN_CHARACTERS:,} characters.")
def show(citation: str, warehouse: Path, as_json: bool, full: bool) -> None:
    """Print one rollout: prompt, events in order, verifier fields, reward, source.

    \b
    Examples:
      blade show office_desk_aster-8b/3:0
      blade show office_desk_aster-8b/3:0#4          one event of it
      blade show office_desk_aster-8b/3:0 --json
    """
    cited(citation)  # what is no citation is refused before anything is opened
    with open_warehouse(warehouse) as opened:
        rollout = cited_rollout(opened, citation)
    click.echo(json_text(rollout, indent=2) if as_json else _page(rollout, full=full))


def _page(rollout: Row, *, full: bool) -> str:
    limit = None if full else SHOWN_CHARACTERS
    name = f"{rollout['run_id']}/{rollout['rollout_id']}"
    title = click.style(one_line(name, LONGEST_TITLE), bold=True)
    model = f"  {one_line(str(rollout['model']), LONGEST_TITLE)}" if rollout["model"] else ""
    reward = rollout["reward"]
    passed = {True: "passed", False: "failed", None: "pass unknown"}[rollout["is_pass"]]
    scored = f"reward {reward:g} ({passed})" if reward is not None else "unscored"
    known = [f"{name} {_fact(rollout[name])}" for name in FACTS if rollout[name] is not None]
    source = f"source {one_line(rollout['source_file'], LONGEST_TITLE)}:{rollout['source_line']}"
    parts = [f"{title}{model}", "  ".join([scored, *known]) + "\n" + source]
    for name, text in rollout["prompts"].items():
        if text:
            parts.append(_block(name.replace("_", " "), text, limit))
    for event in rollout["events"]:
        named = (f"#{event['seq']}", event["kind"], event["role"], event["tool"])
        error = " (error)" if event["is_error"] else None
        heading = " ".join(part for part in (*named, error) if part)
        body = event["arguments"] if event["kind"] == "tool_call" else event["text"]
        parts.append(_block(heading, body or "", limit))
    if rollout["verifier"]:
        parts.append(_block("verifier", json_text(rollout["verifier"], indent=2), limit))
    return "\n\n".join(parts)


def _fact(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else one_line(str(value), LONGEST_TITLE)


def _block(title: str, text: str, limit: int | None) -> str:
    shown = text if limit is None else text[:limit]
    rest = len(text) - len(shown)
    body = "\n".join(f"  {line}" for line in neutral(shown).split("\n"))
    more = f"\n  … {rest:,} more characters (--full)" if rest else ""
    return click.style(one_line(title, LONGEST_TITLE), bold=True) + "\n" + body + more
