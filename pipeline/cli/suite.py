"""Show models by benchmarks: averages with ties, what moved, and which benchmarks decide."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from ..answers import gate, suites
from ..answers.names import Row
from ..errors import UsageError
from ..report import wording
from ..report.filters import cell
from ..text import json_text
from .gates import gate_page, print_gate
from .options import PATH, format_option, json_option, link_option, warehouse_option
from .terminal import defined, page

MOST_CHANGES, MOST_EXAMPLES, MOST_MODES = 12, 2, 8
DECIDED = ("improved", "regressed")
percent = defined(wording.FORMATS["pct"])
# What is marked in a cell, and why.
MARKS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "*": (
        "fewer than 20 tasks: suite_cells.shrunken_value has the score drawn towards the others",
        lambda own: own["shrunken_value"] is not None,
    ),
    "†": (
        "not in the average",
        lambda own: own["value"] is not None and not own["is_counted"],
    ),
}


@click.command()
@click.argument("names", nargs=-1, metavar="[BASE] [CANDIDATE]...")
@click.option("--suite", "suite_file", type=PATH, help="Entrants and benchmarks, as a suite.toml.")
@click.option(
    "--policy",
    type=PATH,
    help="Decide by the [suite] of this policy.toml. The exit code is 0 only for PASS and WARN.",
)
@format_option
@link_option
@json_option
@warehouse_option
def suite(
    names: tuple[str, ...],
    suite_file: Path | None,
    policy: Path | None,
    format_: str,
    link: str,
    as_json: bool,
    warehouse: Path,
) -> None:
    """Show entrants by benchmarks, with averages, standings and what changed from BASE.

    An entrant is a model, or what a suite.toml says. Without BASE, each two are compared; the
    correction allows for all of them.

    \b
    Examples:
      blade suite
      blade suite aster-8b birch-70b
      blade suite --suite suite.toml --json
      blade suite aster-8b birch-70b --policy policy.toml --format markdown > comment.md
    """
    with suites.opened(warehouse, suite_file, names) as opened:
        answer = suites.answer(opened, names)
    gates: list[Row] = []
    if policy is not None:
        if not any(row["is_named"] for row in answer["comparisons"]):
            hint = "For example: blade suite BASE CANDIDATE --policy policy.toml"
            raise UsageError("no base is named, which a decision needs.", hint=hint)
        gates = gate.suite_gates(policy, answer)
    if as_json or format_ == "json":
        content = {**answer, "gates": gates} if policy else answer
        click.echo(json_text(content, indent=2))
    elif format_ == "markdown":
        whole = f"[The whole report]({link})\n\n" if link else ""
        text = page("suite.md", **_page(answer), cell=cell)
        click.echo(f"{gate_page(gates)}{whole}{text}", nl=False)
    else:
        print_gate(gates)
        click.echo(text_page(answer), nl=False)
    sys.exit(gate.exit_code(gates))


def text_page(answer: Row) -> str:
    return page("suite.txt", **_page(answer))


def _page(answer: Row) -> dict[str, Any]:
    changes = [row for row in answer["comparisons"] if row["benchmark"] is None]
    # Without a base only what is shown: there may be hundreds of pairs.
    is_named = any(row["is_named"] for row in changes)
    shown = [row for row in changes if is_named or row["verdict"] in DECIDED]
    if not is_named:
        shown.sort(key=lambda row: -abs(row["delta"]))
    ranked = [row["rank_low"] for row in answer["entrants"] if row["rank_low"] is not None]
    return {
        **answer,
        "changes": shown[:MOST_CHANGES],
        "n_changes": len(shown),
        "n_pairs": len(changes),
        "single": [row for row in answer["comparisons"] if row["benchmark"] is not None],
        "is_decisive": len(ranked) > 1 and len(set(ranked)) == len(ranked),
        "ranks": _ranks,
        "row_cells": lambda row: [_cell(row["cells"][name]) for name in answer["benchmarks"]],
        "marks": {
            mark: meaning
            for mark, (meaning, is_marked) in MARKS.items()
            if any(is_marked(own) for row in answer["entrants"] for own in row["cells"].values())
        },
        "interval": _interval,
        "points": defined(wording.points),
        "deciding": _deciding,
        "counted": sorted(
            {
                name
                for row in answer["entrants"]
                for name, own in row["cells"].items()
                if own["is_counted"]
            }
        ),
        "of_kind": _of_kind,
        "has_shared": len(answer["entrants"]) < 2 or any(row["n_benchmarks"] for row in changes),
        "most_modes": MOST_MODES,
    }


def _of_kind(kind: str, notes: Sequence[Row]) -> str:
    """The notes of a kind: how many, and two of them."""
    shown = notes[:MOST_EXAMPLES]
    about = [
        " at ".join(name for name in (note["entrant"], note["benchmark"]) if name) for note in shown
    ]
    if len({note["message"] for note in notes}) == 1:
        text = f"{' and '.join(about)}: {notes[0]['message']}"
    else:
        pairs = zip(about, shown, strict=True)
        text = "; ".join(f"{name}: {note['message']}" for name, note in pairs)
    return f"{len(notes)} notes ({kind}), for example {text}" if len(notes) > 1 else text


def _ranks(row: Row) -> str:
    low, high = row["rank_low"], row["rank_high"]
    if low is None:
        return ""
    return f"{low}" if low == high else f"{low} to {high}"


def _interval(row: Row) -> str:
    if row["value"] is None:
        return "n/a"
    low, high = (percent(row[f"ci_new_tasks_{end}"]) for end in ("low", "high"))
    return f"{percent(row['value'])} ({low} to {high})" if low != "n/a" else percent(row["value"])


def _cell(own: Row) -> str:
    """A cell of the matrix; those of few tasks, or not counted, are marked."""
    if own["value"] is None:
        return "not pooled" if own["n_runs"] else "missing"
    if not own["is_bounded"]:
        return f"{own['value']:.4g}"
    return _interval(own) + "".join(mark for mark, (_, is_on) in MARKS.items() if is_on(own))


def _deciding(change: Row, single: Sequence[Row]) -> list[str]:
    """The benchmarks without which the change would not be shown."""
    pair = (change["base"], change["candidate"])
    own = (row for row in single if (row["base"], row["candidate"]) == pair)
    return [row["benchmark"] for row in own if row["is_decisive"]]
