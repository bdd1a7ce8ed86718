"""The verdicts of a policy on several candidates, for terminals and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..answers import gate
from ..answers.gate import Verdict
from ..answers.names import Row
from ..report.filters import cell, ref
from ..text import markdown_cell
from .page import cell_text
from .terminal import page, print_page

# The colour and the meaning of each verdict.
VERDICTS = {
    Verdict.PASS: ("green", "all requirements of the policy are met"),
    Verdict.WARN: ("yellow", "nothing blocks, but read the warnings first"),
    Verdict.INCONCLUSIVE: ("yellow", "the data cannot decide the requirements of the policy"),
    Verdict.FAIL: ("red", "a requirement of the policy is not met"),
}
HEADS = ("metric", "level", "change", "CI", "must be", "tasks", "verdict")
LEGEND = (
    "CI for new tasks, missing attempts and tasks that only one run has counted as failed. "
    "INCONCLUSIVE: the interval includes the limit, missing attempts could move the change across "
    "it, rare tasks that this sample may lack could, or a test does not agree."
)


def print_gate(gates: Sequence[Row]) -> None:
    print_page("gate", notes_of=_notes, **_gate(gates))


def gate_page(gates: Sequence[Row]) -> str:
    how = {"ref": ref, "cell": cell, "written": lambda value: markdown_cell(cell_text(value))}
    return page("gate_page.md", **how, **_gate(gates)) if gates else ""


def _gate(gates: Sequence[Row]) -> dict[str, Any]:
    words = {"verdicts": VERDICTS, "heads": HEADS, "legend": LEGEND}
    return {"gates": gates, "whole": _passing(gates), "cells_of": _cells, **words}


def _passing(gates: Sequence[Row]) -> tuple[Verdict, str]:
    n_through = sum(each["exit_code"] == 0 for each in gates)
    words = f"{n_through} of {len(gates)} candidates pass; all of them must"
    return gate.worst(each["verdict"] for each in gates), words


def _cells(metric: Row) -> tuple[object, ...]:
    delta, ends, threshold = metric["delta"], metric["ci_new_tasks"], metric["threshold"]
    moved = "n/a" if delta is None else gate.change(delta, threshold)
    within = "n/a" if ends is None else gate.interval(ends, threshold)
    first_cells = (
        gate.criterion_name(metric),
        metric["level"],
        moved,
        within,
        gate.required(metric),
    )
    return (*first_cells, metric["n_tasks"], str(metric["verdict"]))


def _notes(judged: Row, whole: Row) -> list[str]:
    """Why a metric does not pass, without the reasons of the whole verdict."""
    reasons = [] if judged["verdict"] is Verdict.PASS else judged["reasons"]
    return [reason for reason in reasons if reason not in whole["reasons"]]
