"""What a policy says of each candidate, as a page for people."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pipeline.cli.paragraphs import heading, labelled
from pipeline.cli.tables import print_table
from pipeline.profile.gate import (
    Finding,
    Gate,
    Judgement,
    Verdict,
    asked,
    change,
    interval,
    required,
    worst,
)
from pipeline.text import one_line

LONGEST_NAME = 200
LONGEST_TEXT = 400
MOST_WAIVERS = 20
COLOURS = {
    Verdict.PASS: "green",
    Verdict.WARN: "yellow",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.FAIL: "red",
}
MEANINGS = {
    Verdict.PASS: "all that the policy asks holds",
    Verdict.WARN: "nothing blocks, but look at this first",
    Verdict.INCONCLUSIVE: "the data does not settle what the policy asks",
    Verdict.FAIL: "what the policy asks does not hold",
}
LEGEND = (
    "Intervals are for new tasks like these, with missing attempts counted as failed; where one "
    "includes what the change must be beyond, or missing attempts could carry the change across "
    "it, nothing is settled."
)


def print_gate(gates: Sequence[Gate]) -> None:
    """The verdict first, then a section a candidate: its metrics, the reasons, the waivers."""
    if len(gates) > 1:
        whole = worst(gates)
        n_through = sum(gate.exit_code == 0 for gate in gates)
        counted = f"{n_through} of {len(gates)} candidates may go on; all of them must"
        click.echo(f"{_styled(whole)}  {counted}\n")
    for number, gate in enumerate(gates):
        click.echo("" if number == 0 else "\n", nl=False)
        _print_one(gate)
    if gates:
        click.echo("\n" + labelled("", LEGEND))


def _print_one(gate: Gate) -> None:
    compared = gate.compared
    names = [one_line(name, LONGEST_NAME) for name in (compared.candidate, compared.base)]
    policy = one_line(gate.policy.name, LONGEST_NAME)
    click.echo(f"{_styled(gate.verdict)}  {' against '.join(names)}, by {policy}")
    click.echo(labelled("", MEANINGS[gate.verdict]))
    for reason in gate.reasons:
        click.echo(_item(reason))
    click.echo()
    print_table(
        ("metric", "level", "change", "interval", "must be", "tasks", "verdict"),
        [_cells(judgement) for judgement in gate.judgements],
        notes=[_notes(judgement.deciding, gate) for judgement in gate.judgements],
    )
    if gate.policy.waivers:
        _print_waivers(gate)


def _cells(judgement: Judgement) -> tuple[object, ...]:
    criterion, measured = judgement.criterion, judgement.deciding.measured
    threshold = criterion.threshold
    ends = "n/a"
    if measured.low is not None and measured.high is not None:
        ends = interval(measured.low, measured.high, threshold)
    return (
        asked(criterion),
        criterion.level,
        "n/a" if measured.delta is None else change(measured.delta, threshold),
        ends,
        required(criterion),
        measured.n_tasks,
        str(judgement.verdict),
    )


def _notes(finding: Finding, gate: Gate) -> str:
    """Why a metric does not hold, without what is said of the whole already."""
    if finding.verdict is Verdict.PASS:
        return ""
    reasons = [reason for reason in finding.reasons if reason not in gate.reasons]
    return "\n".join(_item(reason, indent=4) for reason in reasons)


def _print_waivers(gate: Gate) -> None:
    """The waived tasks with their reasons, and every verdict with and without them."""
    waivers = gate.policy.waivers
    click.echo(heading("waived") + ", and so left out of what decides")
    for waiver in waivers[:MOST_WAIVERS]:
        task_id = one_line(waiver.task_id, LONGEST_NAME)
        absent = " (not a common task)" if waiver in gate.absent_waivers else ""
        reason = one_line(waiver.reason, LONGEST_TEXT)
        click.echo(labelled(f"task {task_id}{absent}", reason, indent=2))
    if len(waivers) > MOST_WAIVERS:
        click.echo(f"  and {len(waivers) - MOST_WAIVERS:,} more, in the policy")
    click.echo()
    print_table(
        ("metric", "without waived", "tasks", "with waived", "tasks "),
        [
            (
                asked(judgement.criterion),
                str(judgement.verdict),
                judgement.deciding.measured.n_tasks,
                str(judgement.with_waived.verdict),
                judgement.with_waived.measured.n_tasks,
            )
            for judgement in gate.judgements
        ],
        notes=[
            _notes(judgement.with_waived, gate) if judgement.is_waiver_decisive else ""
            for judgement in gate.judgements
        ],
    )


def _item(text: str, *, indent: int = 2) -> str:
    return labelled("-", one_line(text, LONGEST_TEXT), indent=indent)


def _styled(verdict: Verdict) -> str:
    return click.style(str(verdict), bold=True, fg=COLOURS[verdict])
