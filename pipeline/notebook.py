"""Answers as text and as HTML tables for notebooks, in which every text is inert."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .text import json_text, one_line

if TYPE_CHECKING:
    import polars
    import pyarrow

LONGEST_CELL = 400
MOST_ROWS = 200
# Columns of a comparison and their headings.
COMPARED = {
    "candidate": "candidate",
    "base": "base",
    "metric": "metric",
    "verdict": "verdict",
    "base_value": "base value",
    "candidate_value": "candidate value",
    "delta": "change on common tasks",
    "ci_new_tasks": "95% CI (new tasks)",
    "p_holm": "p (Holm)",
    "n_common_tasks": "common tasks",
}
EVENT = ("seq", "kind", "tool", "is_error", "arguments", "text")


class Comparisons(list[dict[str, Any]]):
    """One object per candidate and metric, as `blade compare --json` prints them."""

    def __repr__(self) -> str:
        lines = (
            f"{each['candidate']} vs {each['base']}: {each['metric']} {_number(each['delta'])}, "
            f"95% CI {_number(low)} to {_number(high)}, {each['verdict'] or 'no verdict'}"
            for each in self
            for low, high in (each["ci_new_tasks"] or (None, None),)
        )
        return "\n".join(one_line(line, LONGEST_CELL) for line in lines)

    def frame(self) -> polars.DataFrame:
        """One row per candidate and metric, without ledgers and tasks."""
        import polars

        names = [name for name in COMPARED if name != "ci_new_tasks"]
        types: dict[str, Any] = dict.fromkeys([*names, "ci_low", "ci_high"], polars.Float64)
        types |= dict.fromkeys(("candidate", "base", "metric", "verdict"), polars.String)
        types["n_common_tasks"] = polars.Int64
        rows = [
            [*(each[name] for name in names), *(each["ci_new_tasks"] or (None, None))]
            for each in self
        ]
        return polars.DataFrame(rows, types, orient="row")

    def _repr_html_(self) -> str:
        return table(COMPARED.values(), [[each[name] for name in COMPARED] for each in self])


class Suite(dict[str, Any]):
    """Entrants by benchmarks, as `blade suite --json` prints them; its text is the command's."""

    def __init__(
        self, answer: Mapping[str, Any], text: str, tables: Mapping[str, pyarrow.Table]
    ) -> None:
        super().__init__(answer)
        self._text = text
        self._tables = tables

    @property
    def standings(self) -> polars.DataFrame:
        """One row per entrant, by its average."""
        return self._frame("standings")

    @property
    def cells(self) -> polars.DataFrame:
        """One row per entrant and benchmark."""
        return self._frame("cells")

    @property
    def comparisons(self) -> polars.DataFrame:
        """One row per pair of entrants, over the suite and at each benchmark."""
        return self._frame("comparisons")

    def _frame(self, name: str) -> polars.DataFrame:
        import polars

        return polars.DataFrame(self._tables[name])

    def __repr__(self) -> str:
        return self._text.rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


class Rollout(dict[str, Any]):
    """One rollout with its prompts and events, as `blade show --json` prints it."""

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self._facts())
        events = (
            "  ".join(
                "error" if name == "is_error" else str(event[name]) for name in EVENT if event[name]
            )
            for event in self["events"]
        )
        lines = [f"{self['run_id']}/{self['rollout_id']}: {facts}", *events]
        return "\n".join(one_line(line, LONGEST_CELL) for line in lines)

    def _repr_html_(self) -> str:
        prompts = [(name, text) for name, text in self["prompts"].items() if text]
        events = [[event[name] for name in EVENT] for event in self["events"]]
        title = f"<b>{cell(self['run_id'] + '/' + self['rollout_id'])}</b>"
        return title + table((), [*self._facts(), *prompts]) + table(EVENT, events)

    def _facts(self) -> list[tuple[str, Any]]:
        shown = ("reward", "is_pass", "status", "finish_reason", "n_turns", "n_tool_calls", "model")
        return [(name, self[name]) for name in shown if self[name] is not None]


class Story(dict[str, Any]):
    """A task in all runs and its attempts in one, as `blade why --json` prints it."""

    def __repr__(self) -> str:
        runs = [
            f"{run['run_id']}: {run['n_passed']} of {run['n_scored']} passed"
            for run in self["runs"]
        ]
        return "\n".join(one_line(line, LONGEST_CELL) for line in [*runs, *self._attempts()])

    def _repr_html_(self) -> str:
        title = f"<b>{cell(self['run_id'] + '/' + self['task_id'])}</b>"
        runs = [(run["run_id"], run["n_passed"], run["n_scored"]) for run in self["runs"]]
        attempts = [[line] for line in self._attempts()]
        return title + table(("run", "passed", "scored"), runs) + table(("attempts",), attempts)

    def _attempts(self) -> list[str]:
        return [
            "  ".join(
                [
                    attempt["citation"],
                    attempt["verdict"],
                    *(note["note"]["text"] for note in attempt["notes"]),
                ]
            )
            for attempt in self["attempts"]
        ]


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:+.4g}"


def table(names: Iterable[str], rows: Sequence[Iterable[Any]]) -> str:
    """Rows as a table; if there are too many, the first ones and the number of all."""
    head = "".join(f"<th>{cell(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{cell(value)}</td>' for value in row)}</tr>"
        for row in rows[:MOST_ROWS]
    )
    rest = f"<p>the first {MOST_ROWS} of {len(rows):,} rows</p>" if len(rows) > MOST_ROWS else ""
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table>{top}<tbody>{body}</tbody></table>{rest}"


def cell(value: Any) -> str:
    """A value for people: shortened and escaped."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(cell, value[:MOST_ROWS]))
    text = value if isinstance(value, str) else json_text(value)
    return escape(one_line(text, LONGEST_CELL))
