"""A policy's verdict on candidates, and how often a rule would fire if nothing had changed."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import click
import numpy as np

from pipeline.analysis import false_alarms, stats
from pipeline.cli.lookup import Row, column, rows
from pipeline.cli.page import heading, labelled, percent, print_table, sentence, write_markdown
from pipeline.profile import gate
from pipeline.profile.gate import Verdict, asked, change, interval, required
from pipeline.report import Comparison
from pipeline.report.filters import cell, ref
from pipeline.text import one_line
from pipeline.warehouse import Warehouse

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

# Missing rows count as failures; what a task took is known of scored rollouts only.
MEASURED = """
    with changes as (
        select
            metric, task_id, task_group,
            candidate_lowest - base_lowest as change,
            candidate_lowest - base_highest as lowest,
            candidate_highest - base_lowest as highest
        from staging.comparison_values
        where base = $1 and candidate = $2 and is_paired
        union all
        select
            metric || coalesce('/' || k, ''), task_id, task_id as task_group,
            candidate_value - base_value as change, change as lowest, change as highest
        from staging.measure_pairs
        where base = $1 and candidate = $2
    ),
    chosen as (
        select
            *,
            count(*) over of_metric as n_tasks,
            -- Of one task unknown, the mean is.
            case when count(change) over of_metric = n_tasks then
                list_sum(list(change order by change) over of_metric) / n_tasks
            end as delta
        from changes
        where not list_contains($3, task_id)
        window of_metric as (partition by metric)
    ),
    grouped as (
        select
            metric, n_tasks, delta,
            count(*) as n_own,
            sorted_sum(change - delta) ** 2 as square,
            case when delta is not null then sorted_sum(lowest) end as lowest,
            case when delta is not null then sorted_sum(highest) end as highest
        from chosen
        group by metric, n_tasks, delta, task_group
    )
    select
        metric, n_tasks, delta,
        count(*) as n_groups,
        clustered_error(square, n_own, n_tasks) as se,
        clustered_degrees(n_own, 1, n_tasks) as degrees,
        sorted_sum(lowest) / n_tasks as bound_low,
        sorted_sum(highest) / n_tasks as bound_high,
        metric like 'pass%' or coalesce((
            select is_bounded from staging.comparison_levels as levels
            where base = $1 and candidate = $2 and levels.metric = grouped.metric
        ), false) as is_bounded
    from grouped
    group by metric, n_tasks, delta
    order by metric
"""
QUALITIES = """
    select run_id, metrics.coverage, health.clean_rate
    from run_metrics as metrics
    left join run_health as health using (run_id)
"""
COMMON = "from comparison_tasks where base = ? and candidate = ? and is_common"
TASKS = f"select task_id {COMMON}"
TALLIES = f"""
    select base_n_scored, candidate_n_scored, base_n_passed, candidate_n_passed {COMMON}
        and base_n_passed is not null and candidate_n_passed is not null
    order by all
"""


def gates(warehouse: Warehouse, policy_path: Path, found: Sequence[Comparison]) -> list[Row]:
    """The policy's verdict on every candidate."""
    policy = gate.read(policy_path)
    waived = [waiver.task_id for waiver in policy.waivers]
    qualities = {row.pop("run_id"): row for row in rows(warehouse, QUALITIES)}
    return [
        gate.decide(
            policy,
            gate.Compared(
                base=each.base,
                candidate=each.candidate,
                every_task=_measured(warehouse, each, []),
                unwaived=_measured(warehouse, each, waived) if waived else (),
                base_quality=qualities[each.base],
                candidate_quality=qualities[each.candidate],
                common_tasks=frozenset(column(warehouse, TASKS, each.base, each.candidate)),
            ),
        )
        for each in found
    ]


def _measured(
    warehouse: Warehouse, each: Comparison, without: list[str]
) -> tuple[gate.Measured, ...]:
    """Each metric's change over the common tasks, without those that are waived."""
    found = rows(warehouse, MEASURED, each.base, each.candidate, without)
    spread = (
        np.array([row[name] for row in found], dtype=float)
        for name in ("delta", "se", "n_groups", "degrees")
    )
    is_bounded = np.array([row["is_bounded"] for row in found], dtype=bool)
    low, high = stats.change_interval(*spread, is_bounded=is_bounded)
    measured = []
    for row, lower, upper in zip(found, low.tolist(), high.tolist(), strict=True):
        known = (row["n_tasks"], row["delta"], lower, upper, row["bound_low"], row["bound_high"])
        # pass@k is known as that, and by its k.
        name, _, k = row["metric"].partition("/")
        for metric in (name, f"{name.removesuffix('_k')}_{k}") if k else (name,):
            measured.append(gate.Measured(metric, *known))
    return tuple(measured)


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


def noise(
    opened: Warehouse, each: Comparison, gates: Sequence[Row], *, margin: float, rerun: str | None
) -> Row:
    """The rule of the verdict on a candidate, and that of the policy where there is one.

    At these tasks and repeats; by simulation, or by a rerun of the base.
    """
    source = "simulation" if rerun is None else "rerun"
    said = {"base": each.base, "candidate": each.candidate, "source": source, "rerun": rerun}
    counts = rows(opened, TALLIES, each.base, rerun or each.candidate)
    if not counts:
        return {**said, "n_tasks": 0, "rates": None, "policy": []}
    table = np.array([list(row.values()) for row in counts], dtype=np.int64)
    n_base, n_other, passed, passed_other = table.T

    def rate(fires: false_alarms.Fires | None) -> false_alarms.FalseAlarms:
        if rerun is not None:
            return false_alarms.rerun_false_alarm_rate(
                n_base, n_other, passed, passed_other, margin=margin, fires=fires
            )
        rates = false_alarms.shrunken_rates(passed + passed_other, n_base + n_other)
        return false_alarms.false_alarm_rate(n_base, n_other, rates, margin=margin, fires=fires)

    def at(limit: float) -> Row:
        fail = rate(lambda _low, high: np.asarray(high < limit))
        passed = rate(lambda low, _high: np.asarray(low > limit))
        return {"threshold": limit, "fail": fail.either, "pass": passed.either}

    found = rate(None)
    rates = {name: getattr(found, name) for name in ("improved", "regressed", "either")}
    # What pass@1 must be beyond for the policy not to fail.
    limits = [
        metric["threshold"]
        for one in gates
        if one["candidate"] == each.candidate
        for metric in one["metrics"]
        if (metric["metric"], metric["direction"]) == ("pass_at_1", "higher")
    ]
    return {
        **said,
        "n_tasks": len(counts),
        "n_simulations": found.n_simulations,
        "rates": {**rates, "no_change": found.within_margin},
        "policy": [at(limit) for limit in limits],
    }


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
