"""blade show: one rollout as a person reads it."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.citation import SHAPE, Citation, parse
from pipeline.cli.lookup import Row, column, find_run, find_task, rows, task_names
from pipeline.cli.options import json_option, warehouse_option
from pipeline.cli.page import phrase
from pipeline.errors import UsageError, listed
from pipeline.text import json_text, neutral, one_line, parsed
from pipeline.warehouse import Warehouse, open_warehouse

SHOWN_CHARACTERS = 2000
LONGEST_TITLE = 300
FACTS = (
    "status finish_reason n_turns n_tool_calls n_tool_errors input_tokens output_tokens duration_s"
).split()
KEY = "run_id = ? and task_id = ? and rollout_index = ?"
PROMPTS = """
    select system_prompt, prompt from task_prompts
    where run_id = ? and task_id = ? and prompt_sha = ?
"""
EVENTS = f"""
    select * exclude (run_id, task_id, rollout_index) from events where {KEY} order by seq
"""


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
    with open_warehouse(warehouse) as opened:
        rollout = cited_rollout(opened, citation)
    click.echo(json_text(rollout, indent=2) if as_json else _page(rollout, full=full))


def cited_rollout(warehouse: Warehouse, text: str) -> Row:
    """The rollout that is cited with its prompts and events; the one event where it is."""
    citation = parse(text)
    if citation is None:
        message = f"{one_line(text, LONGEST_TITLE)!r} is not {SHAPE}, such as run_a/17:0#3"
        raise UsageError(f"{message}.")
    run = find_run(warehouse, citation.run_id)
    task_id = find_task(run, citation.task_id, task_names(warehouse, run))
    key = (run["run_id"], task_id, citation.rollout_index)
    found = rows(warehouse, f"from rollouts where {KEY}", *key)
    if not found:
        query = "select rollout_index from rollouts where run_id = ? and task_id = ? order by all"
        recorded = listed(column(warehouse, query, *key[:2])) or "none"
        cited = one_line(str(Citation(*key, None)), LONGEST_TITLE)
        raise UsageError(f"{cited}: no such rollout.", hint=f"Rollouts of this task: {recorded}")
    prompts = rows(warehouse, PROMPTS, *key[:2], found[0]["prompt_sha"])
    events = rows(warehouse, EVENTS, *key)
    chosen = [event for event in events if citation.seq in (None, event["seq"])]
    if citation.seq is not None and not chosen:
        hint = f"Its events are numbered 1 to {len(events)}." if events else "It has none."
        raise UsageError(f"#{citation.seq}: the rollout has no such event.", hint=hint)
    return {
        **found[0],
        "verifier": parsed(found[0]["verifier"]),
        "prompts": prompts[0] if prompts else {},
        "events": chosen,
    }


def _page(rollout: Row, *, full: bool) -> str:
    limit = None if full else SHOWN_CHARACTERS
    cited = f"{rollout['run_id']}/{rollout['rollout_id']}"
    title = click.style(one_line(cited, LONGEST_TITLE), bold=True)
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
        heading = phrase(*named, event["is_error"] and " (error)", by=" ")
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
