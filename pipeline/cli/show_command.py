"""blade show: one rollout as a person reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.citation import SHAPE, Citation, parse
from pipeline.cli.lookup import rows
from pipeline.cli.options import json_option, warehouse_option
from pipeline.errors import UsageError
from pipeline.text import json_text, neutral, one_line, parsed
from pipeline.warehouse import Warehouse, open_warehouse

SHOWN_CHARACTERS = 2000
LONGEST_TITLE = 300
FACTS = (
    "status finish_reason n_turns n_tool_calls n_tool_errors input_tokens output_tokens duration_s"
).split()


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
        rollout["prompts"] = _prompts(opened, rollout)
        rollout["events"] = _events(opened, citation)
    click.echo(json_text(rollout, indent=2) if as_json else _page(rollout, full=full))


def _rollout(warehouse: Warehouse, citation: Citation) -> dict[str, Any]:
    key = (citation.run_id, citation.task_id, citation.rollout_index)
    found = rows(
        warehouse,
        "from rollouts where run_id = ? and task_id = ? and rollout_index = ?",
        *key,
    )
    if not found:
        raise UsageError(f"{_cited(*key)}: no such rollout.", hint=_nearest(warehouse, citation))
    rollout = found[0]
    rollout["verifier"] = parsed(rollout["verifier"])
    return rollout


def _nearest(warehouse: Warehouse, citation: Citation) -> str:
    """What does exist: the repeats of the task, else some tasks of the run, else the runs."""
    steps: tuple[tuple[str, str, list[Any]], ...] = (
        (
            "these repeats of this task",
            "select rollout_index from rollouts where run_id = ? and task_id = ? order by all",
            [citation.run_id, citation.task_id],
        ),
        (
            "in this run, among others, the tasks",
            "select distinct task_id from rollouts where run_id = ? order by all limit 12",
            [citation.run_id],
        ),
        ("these runs", "select run_id from runs order by all", []),
    )
    for what, query, values in steps:
        found = warehouse.execute(query, values).fetchall()
        if found:
            return f"There are {what}: {', '.join(one_line(str(row[0]), 60) for row in found)}"
    return "The warehouse holds no rollouts."


def _prompts(warehouse: Warehouse, rollout: dict[str, Any]) -> dict[str, str]:
    found = rows(
        warehouse,
        """
        select system_prompt, prompt from task_prompts
        where run_id = ? and task_id = ? and prompt_sha = ?
        """,
        rollout["run_id"],
        rollout["task_id"],
        rollout["prompt_sha"],
    )
    return found[0] if found else {}


def _events(warehouse: Warehouse, citation: Citation) -> list[dict[str, Any]]:
    events = rows(
        warehouse,
        """
        select seq, kind, role, tool, call_id, arguments, text, is_error from events
        where run_id = ? and task_id = ? and rollout_index = ? order by seq
        """,
        citation.run_id,
        citation.task_id,
        citation.rollout_index,
    )
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
    return one_line(f"{run_id}/{task_id}:{rollout_index}", LONGEST_TITLE)


def _page(rollout: dict[str, Any], *, full: bool) -> str:
    limit = None if full else SHOWN_CHARACTERS
    cited = _cited(rollout["run_id"], rollout["task_id"], rollout["rollout_index"])
    parts = [_heading(cited, str(rollout["model"] or "")), _facts(rollout)]
    for name, text in rollout["prompts"].items():
        if text:
            parts.append(_block(name.replace("_", " "), text, limit))
    for event in rollout["events"]:
        parts.append(_event(event, limit))
    if rollout["verifier"]:
        parts.append(_block("verifier", json_text(rollout["verifier"], indent=2), limit))
    return "\n\n".join(parts)


def _heading(cited: str, model: str) -> str:
    return click.style(cited, bold=True) + (f"  {one_line(model, LONGEST_TITLE)}" if model else "")


def _facts(rollout: dict[str, Any]) -> str:
    reward = rollout["reward"]
    passed = {True: "passed", False: "failed", None: "pass unsettled"}[rollout["is_pass"]]
    known = [f"{name} {_fact(rollout[name])}" for name in FACTS if rollout[name] is not None]
    scored = f"reward {reward:g} ({passed})" if reward is not None else "unscored"
    source = f"source {one_line(rollout['source_file'], LONGEST_TITLE)}:{rollout['source_line']}"
    return "\n".join(["  ".join([scored, *known]), source])


def _fact(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else one_line(str(value), LONGEST_TITLE)


def _event(event: dict[str, Any], limit: int | None) -> str:
    named = (f"#{event['seq']}", event["kind"], event["role"], event["tool"])
    title = " ".join(part for part in named if part)
    if event["is_error"]:
        title += "  (error)"
    body = event["arguments"] if event["kind"] == "tool_call" else event["text"]
    return _block(title, body or "", limit)


def _block(title: str, text: str, limit: int | None) -> str:
    shown = text if limit is None else text[:limit]
    rest = len(text) - len(shown)
    body = "\n".join(f"  {line}" for line in neutral(shown).split("\n"))
    more = f"\n  … {rest:,} more characters (--full)" if rest else ""
    return click.style(one_line(title, LONGEST_TITLE), bold=True) + "\n" + body + more
