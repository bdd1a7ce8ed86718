"""A policy's verdict on candidates, and how often a rule would fire if nothing had changed."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import click

from pipeline.answers.names import Row
from pipeline.cli.page import heading, labelled, percent, print_table, sentence, write_markdown
from pipeline.profile import gate
from pipeline.profile.gate import Verdict, asked, change, interval, required
from pipeline.report.filters import cell, ref
from pipeline.text import one_line

MOST_WAIVERS = 20
# The colour of a verdict, and what it means.
VERDICTS = {
    Verdict.PASS: ("green", "all that the policy asks holds"),
    Verdict.WARN: ("yellow", "nothing blocks, but look at this first"),
    Verdict.INCONCLUSIVE: ("yellow", "the data does not decide what the policy asks"),
    Verdict.FAIL: ("red", "what the policy asks does not hold"),
}
HEADS = ("metric", "level", "change", "95% CI", "must be", "tasks", "verdict")
LEGEND = (
    "95% CI for new tasks, missing attempts counted as failed. INCONCLUSIVE: the interval includes "
    "the limit, or missing attempts could move the change across it."
)


def print_gate(gates: Sequence[Row]) -> None:
    """The verdict first, then a section per candidate: its metrics, the reasons, the waivers."""
    if len(gates) > 1:
        click.echo(f"{_styled(gate.worst(each['verdict'] for each in gates))}  {_passing(gates)}\n")
    for number, each in enumerate(gates):
        click.echo("" if number == 0 else "\n", nl=False)
        names = f"{one_line(each['candidate'])} vs {one_line(each['base'])}"
        click.echo(f"{_styled(each['verdict'])}  {names}, by {one_line(each['policy'])}")
        click.echo(labelled("", VERDICTS[each["verdict"]][1]))
        click.echo("".join(f"{_item(reason, 2)}\n" for reason in each["reasons"]))
        print_table(
            HEADS,
            [_cells(metric) for metric in each["metrics"]],
            notes=[_notes(metric, each) for metric in each["metrics"]],
        )
        if each["waived"]:
            _print_waivers(each)
    if gates:
        click.echo("\n" + labelled("", LEGEND))


def _passing(gates: Sequence[Row]) -> str:
    n_through = sum(each["exit_code"] == 0 for each in gates)
    return f"{n_through} of {len(gates)} candidates pass; all of them must"


def gate_page(gates: Sequence[Row]) -> str:
    """The same as Markdown: verdict, reasons and a table per candidate."""
    told = []
    if len(gates) > 1:
        told.append(f"**{gate.worst(each['verdict'] for each in gates)}** {_passing(gates)}.\n")
    for each in gates:
        names = f"{ref(each['candidate'])} vs {ref(each['base'])}, by {ref(each['policy'])}"
        told.append(f"**{each['verdict']}** {names}: {VERDICTS[each['verdict']][1]}.\n")
        told += [f"- {cell(reason)}" for reason in each["reasons"]]
        table = StringIO()
        write_markdown(HEADS, [_cells(metric) for metric in each["metrics"]], table)
        told.append(f"\n{table.getvalue()}")
    return "\n".join([*told, f"{LEGEND}\n\n"]) if gates else ""


def _cells(metric: Row) -> tuple[object, ...]:
    delta, ends, threshold = metric["delta"], metric["ci_new_tasks"], metric["threshold"]
    moved = "n/a" if delta is None else change(delta, threshold)
    within = "n/a" if ends is None else interval(ends, threshold)
    said = (asked(metric), metric["level"], moved, within, required(metric))
    return (*said, metric["n_tasks"], str(metric["verdict"]))


def _notes(judged: Row, whole: Row) -> str:
    """Why a metric does not hold, without what is said of the whole already."""
    reasons = [] if judged["verdict"] is Verdict.PASS else judged["reasons"]
    return "\n".join(_item(reason, 4) for reason in reasons if reason not in whole["reasons"])


def _print_waivers(whole: Row) -> None:
    waived = whole["waived"]
    click.echo(heading("waived") + ", and so left out of what decides")
    for waiver in waived[:MOST_WAIVERS]:
        absent = "" if waiver["is_common"] else " (not a common task)"
        name = f"task {one_line(waiver['task_id'])}{absent}"
        click.echo(labelled(name, sentence(waiver["reason"]), indent=2))
    if len(waived) > MOST_WAIVERS:
        click.echo(f"  and {len(waived) - MOST_WAIVERS:,} more, in the policy")
    click.echo()
    cells, notes = [], []
    for each in whole["metrics"]:
        sides = [(str(one["verdict"]), one["n_tasks"]) for one in (each, each["with_waived"])]
        cells.append((asked(each), *sides[0], *sides[1]))
        is_decisive = gate.is_waiver_decisive(each)
        notes.append(_notes(each["with_waived"], whole) if is_decisive else "")
    print_table(("metric", "without waived", "tasks", "with waived", "tasks "), cells, notes=notes)


def _item(text: str, indent: int) -> str:
    return labelled("-", sentence(text), indent=indent)


def _styled(verdict: Verdict) -> str:
    return click.style(str(verdict), bold=True, fg=VERDICTS[verdict][0])


def print_false_alarms(found: Sequence[Row]) -> None:
    """A sentence per candidate: the rule of the verdict, and of the policy."""
    if found:
        click.echo(heading("false alarms") + ", if nothing had changed")
    for alarm in found:
        name, rates = one_line(alarm["candidate"]), alarm["rates"]
        said = f"{name}: n/a, the runs have no task in common"
        if rates is not None:
            times = f"{alarm['n_simulations']:,} times"
            how = f"both runs simulated {times} from shrunken pass rates"
            if alarm["rerun"] is not None:
                how = f"rollouts of {one_line(alarm['rerun'])} and the base shuffled {times}"
            said = (
                f"{name}: the rule would say improved in {percent(rates['improved'])} and "
                f"regressed in {percent(rates['regressed'])} of comparisons "
                f"({how}, {alarm['n_tasks']:,} tasks)"
            )
        for limit in alarm["policy"]:
            said += (
                f"; the policy's rule at {100 * limit['threshold']:+.1f} points of pass@1 would "
                f"fail {percent(limit['fail'])} and pass {percent(limit['pass'])}"
            )
        click.echo(labelled("", said, indent=2))
