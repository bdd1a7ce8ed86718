"""blade show: one rollout as a person reads it."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.citation import SHAPE, Citation, parse
from pipeline.cli.lookup import Row, rows
from pipeline.cli.options import json_option, warehouse_option
from pipeline.errors import UsageError
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
# What does exist: the repeats of the task, else some tasks of the run, else the runs.
NEAREST = {
    "these repeats of this task": (
        "select rollout_index from rollouts where run_id = ? and task_id = ? order by all"
    ),
    "in this run, among others, the tasks": (
        "select distinct task_id from rollouts where run_id = ? order by all limit 12"
    ),
    "these runs": "select run_id from runs order by all",
}


class CitationType(click.ParamType[Citation]):
    """RUN/TASK:ROLLOUT[#SEQ]."""

    name = "CITATION"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> Citation:
        """Parse, or say what it should look like."""
        citation = parse(value)
        if citation is None:
            self.fail(f"{value!r} is not {SHAPE}, such as run_a/17:0#3", param, ctx)
        return citation


@click.command()
@click.argument("citation", type=CitationType())
@warehouse_option
@json_option
@click.option("--full", is_flag=True, help=f"Do not cut texts at {SHOWN_CHARACTERS:,} characters.")
def show(citation: Citation, warehouse: Path, as_json: bool, full: bool) -> None:
    """Print one rollout: prompt, events in order, verifier fields, reward, source.

    \b
    Examples:
      blade show office_desk_aster-8b/3:0
      blade show office_desk_aster-8b/3:0#4          one event of it
      blade show office_desk_aster-8b/3:0 --json
    """
    with open_warehouse(warehouse) as opened:
        rollout = _rollout(opened, citation)
    click.echo(json_text(rollout, indent=2) if as_json else _page(rollout, full=full))


def _rollout(warehouse: Warehouse, citation: Citation) -> Row:
    found = rows(warehouse, f"from rollouts where {KEY}", *citation.rollout)
    if not found:
        cited = one_line(_cited(*citation.rollout), LONGEST_TITLE)
        raise UsageError(f"{cited}: no such rollout.", hint=_nearest(warehouse, citation))
    rollout = found[0]
    prompts = rows(warehouse, PROMPTS, *citation.rollout[:2], rollout["prompt_sha"])
    return {
        **rollout,
        "verifier": parsed(rollout["verifier"]),
        "prompts": prompts[0] if prompts else {},
        "events": _events(warehouse, citation),
    }


def _nearest(warehouse: Warehouse, citation: Citation) -> str:
    for what, query in NEAREST.items():
        found = warehouse.execute(query, list(citation.rollout[: query.count("?")])).fetchall()
        if found:
            return f"There are {what}: {', '.join(one_line(str(row[0]), 60) for row in found)}"
    return "The warehouse holds no rollouts."


def _events(warehouse: Warehouse, citation: Citation) -> list[Row]:
    columns = "seq, kind, role, tool, call_id, arguments, text, is_error"
    query = f"select {columns} from events where {KEY} order by seq"
    events = rows(warehouse, query, *citation.rollout)
    if citation.seq is None:
        return events
    chosen = [event for event in events if event["seq"] == citation.seq]
    if not chosen:
        raise UsageError(
            f"#{citation.seq}: the rollout has no such event.",
            hint=f"Its events are numbered 1 to {len(events)}." if events else "It has none.",
        )
    return chosen


def _cited(run_id: str, task_id: str, rollout_index: int) -> str:
    return f"{run_id}/{task_id}:{rollout_index}"


def _page(rollout: Row, *, full: bool) -> str:
    limit = None if full else SHOWN_CHARACTERS
    cited = _cited(rollout["run_id"], rollout["task_id"], rollout["rollout_index"])
    title = click.style(one_line(cited, LONGEST_TITLE), bold=True)
    model = f"  {one_line(str(rollout['model']), LONGEST_TITLE)}" if rollout["model"] else ""
    parts = [title + model, _facts(rollout)]
    for name, text in rollout["prompts"].items():
        if text:
            parts.append(_block(name.replace("_", " "), text, limit))
    for event in rollout["events"]:
        named = (f"#{event['seq']}", event["kind"], event["role"], event["tool"])
        heading = " ".join(part for part in named if part)
        heading += "  (error)" if event["is_error"] else ""
        body = event["arguments"] if event["kind"] == "tool_call" else event["text"]
        parts.append(_block(heading, body or "", limit))
    if rollout["verifier"]:
        parts.append(_block("verifier", json_text(rollout["verifier"], indent=2), limit))
    return "\n\n".join(parts)


def _facts(rollout: Row) -> str:
    reward = rollout["reward"]
    passed = {True: "passed", False: "failed", None: "pass unsettled"}[rollout["is_pass"]]
    known = [f"{name} {_fact(rollout[name])}" for name in FACTS if rollout[name] is not None]
    scored = f"reward {reward:g} ({passed})" if reward is not None else "unscored"
    source = f"source {one_line(rollout['source_file'], LONGEST_TITLE)}:{rollout['source_line']}"
    return "\n".join(["  ".join([scored, *known]), source])


def _fact(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else one_line(str(value), LONGEST_TITLE)


def _block(title: str, text: str, limit: int | None) -> str:
    shown = text if limit is None else text[:limit]
    rest = len(text) - len(shown)
    body = "\n".join(f"  {line}" for line in neutral(shown).split("\n"))
    more = f"\n  … {rest:,} more characters (--full)" if rest else ""
    return click.style(one_line(title, LONGEST_TITLE), bold=True) + "\n" + body + more
