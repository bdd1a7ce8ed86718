"""A policy's verdict on candidates, and how often a rule would fire if nothing had changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from pipeline.analysis import false_alarms, stats
from pipeline.cli.lookup import Row, rows
from pipeline.cli.paragraphs import LONGEST_TEXT, heading, inline, labelled
from pipeline.cli.tables import percent, print_table
from pipeline.profile import gate
from pipeline.profile.gate import Gate, Verdict, asked, change, interval, required
from pipeline.report import Comparison
from pipeline.warehouse import Warehouse

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

# Missing rows count as failures; what a task took is known of scored rollouts only.
MEASURED = """
    with changes as (
        select
            base, candidate, metric, task_id, task_group,
            candidate_lowest - base_lowest as change,
            candidate_lowest - base_highest as lowest,
            candidate_highest - base_lowest as highest
        from staging.comparison_values
        where is_paired
        union all
        select
            base, candidate, metric || coalesce('/' || k, ''), task_id, task_id as task_group,
            candidate_value - base_value as change,
            candidate_value - base_value as lowest,
            candidate_value - base_value as highest
        from staging.measure_pairs
    ),
    chosen as (
        select
            *,
            count(*) over of_metric as n_tasks,
            -- Of one task unknown, the mean is.
            case when count(change) over of_metric = count(*) over of_metric then
                list_sum(list(change order by change) over of_metric) / count(*) over of_metric
            end as delta
        from changes
        where base = $1 and candidate = $2 and not list_contains($3, task_id)
        window of_metric as (partition by metric)
    ),
    grouped as (
        select
            metric, n_tasks, delta,
            sorted_sum(change - delta) as deviation,
            case when delta is not null then sorted_sum(lowest) end as lowest,
            case when delta is not null then sorted_sum(highest) end as highest
        from chosen
        group by metric, n_tasks, delta, task_group
    )
    select
        metric,
        n_tasks,
        delta,
        count(*) as n_groups,
        sqrt(count(*) / nullif(count(*) - 1, 0) * sorted_sum(deviation * deviation)) / n_tasks
            as se,
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
    select metrics.run_id, metrics.coverage, health.clean_rate
    from run_metrics as metrics
    left join run_health as health using (run_id)
"""
COMMON = "select task_id from comparison_tasks where base = ? and candidate = ? and is_common"
TALLIES = """
    select base_n_scored, candidate_n_scored, base_n_passed, candidate_n_passed
    from comparison_tasks
    where base = ? and candidate = ? and is_common and base_n_passed is not null
      and candidate_n_passed is not null
    order by all
"""


def gates(warehouse: Warehouse, policy_path: Path, found: Sequence[Comparison]) -> tuple[Gate, ...]:
    """The policy's verdict on every candidate."""
    policy = gate.read(policy_path)
    return tuple(gate.decide(policy, _compared(warehouse, policy, each)) for each in found)


def _compared(warehouse: Warehouse, policy: gate.Policy, each: Comparison) -> gate.Compared:
    """Each metric's change over all common tasks, and without those that are waived."""
    qualities = {
        row["run_id"]: gate.Quality(row["coverage"], row["clean_rate"])
        for row in rows(warehouse, QUALITIES)
    }
    waived = [waiver.task_id for waiver in policy.waivers]
    common = rows(warehouse, COMMON, each.base, each.candidate)
    return gate.Compared(
        base=each.base,
        candidate=each.candidate,
        every_task=_measured(warehouse, each, []),
        unwaived=_measured(warehouse, each, waived) if waived else (),
        base_quality=qualities[each.base],
        candidate_quality=qualities[each.candidate],
        common_tasks=frozenset(row["task_id"] for row in common),
    )


def _measured(
    warehouse: Warehouse, each: Comparison, without: list[str]
) -> tuple[gate.Measured, ...]:
    found = rows(warehouse, MEASURED, each.base, each.candidate, without)
    low, high = stats.change_interval(
        *(
            np.array([row[name] for row in found], dtype=float)
            for name in ("delta", "se", "n_groups")
        ),
        is_bounded=np.array([row["is_bounded"] for row in found], dtype=bool),
    )
    measured = []
    for row, *ends in zip(found, low, high, strict=True):
        lower, upper = (float(end) if np.isfinite(end) else None for end in ends)
        known = {name: row[name] for name in ("n_tasks", "delta", "bound_low", "bound_high")}
        # pass@k is known as that, and by its k.
        name, _, k = row["metric"].partition("/")
        for metric in (name, f"{name.removesuffix('_k')}_{k}") if k else (name,):
            measured.append(gate.Measured(metric=metric, low=lower, high=upper, **known))
    return tuple(measured)


def print_gate(gates: Sequence[Gate]) -> None:
    """The verdict first, then a section per candidate: its metrics, the reasons, the waivers."""
    if len(gates) > 1:
        n_through = sum(each.exit_code == 0 for each in gates)
        counted = f"{n_through} of {len(gates)} candidates may go on; all of them must"
        click.echo(f"{_styled(gate.worst(gates))}  {counted}\n")
    for number, each in enumerate(gates):
        click.echo("" if number == 0 else "\n", nl=False)
        names = f"{inline(each.compared.candidate)} against {inline(each.compared.base)}"
        click.echo(f"{_styled(each.verdict)}  {names}, by {inline(each.policy.name)}")
        click.echo(labelled("", MEANINGS[each.verdict]))
        for reason in each.reasons:
            click.echo(_item(reason))
        click.echo()
        print_table(
            ("metric", "level", "change", "interval", "must be", "tasks", "verdict"),
            [_cells(judgement) for judgement in each.judgements],
            notes=[_notes(judgement.deciding, each) for judgement in each.judgements],
        )
        if each.policy.waivers:
            _print_waivers(each)
    if gates:
        click.echo("\n" + labelled("", LEGEND))


def _cells(judgement: gate.Judgement) -> tuple[object, ...]:
    criterion, measured = judgement.criterion, judgement.deciding.measured
    threshold = criterion.threshold
    return (
        asked(criterion),
        criterion.level,
        "n/a" if measured.change is None else change(measured.change, threshold),
        "n/a" if measured.interval is None else interval(measured.interval, threshold),
        required(criterion),
        measured.n_tasks,
        str(judgement.verdict),
    )


def _notes(finding: gate.Finding, whole: Gate) -> str:
    """Why a metric does not hold, without what is said of the whole already."""
    if finding.verdict is Verdict.PASS:
        return ""
    reasons = [reason for reason in finding.reasons if reason not in whole.reasons]
    return "\n".join(_item(reason, indent=4) for reason in reasons)


def _print_waivers(whole: Gate) -> None:
    """The waived tasks with their reasons, and every verdict with and without them."""
    waivers = whole.policy.waivers
    click.echo(heading("waived") + ", and so left out of what decides")
    for waiver in waivers[:MOST_WAIVERS]:
        absent = " (not a common task)" if waiver in whole.absent_waivers else ""
        reason = inline(waiver.reason, LONGEST_TEXT)
        click.echo(labelled(f"task {inline(waiver.task_id)}{absent}", reason, indent=2))
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
            for judgement in whole.judgements
        ],
        notes=[
            _notes(judgement.with_waived, whole) if judgement.is_waiver_decisive else ""
            for judgement in whole.judgements
        ],
    )


def _item(text: str, *, indent: int = 2) -> str:
    return labelled("-", inline(text, LONGEST_TEXT), indent=indent)


def _styled(verdict: Verdict) -> str:
    return click.style(str(verdict), bold=True, fg=COLOURS[verdict])


def noise(
    warehouse: Warehouse,
    each: Comparison,
    gates: Sequence[Gate],
    *,
    margin: float,
    rerun: str | None,
) -> Row:
    """The rule of the verdict on a candidate, and that of the policy where there is one.

    At these tasks and repeats; by simulation, or by a rerun of the base.
    """
    said = {
        "base": each.base,
        "candidate": each.candidate,
        "source": "simulation" if rerun is None else "rerun",
        "rerun": rerun,
    }
    counts = rows(warehouse, TALLIES, each.base, rerun or each.candidate)
    if not counts:
        return {**said, "n_tasks": 0, "rates": None, "policy": []}
    table = np.array([list(row.values()) for row in counts], dtype=np.int64)
    n_base, n_other, passed, passed_other = table.T

    def rate(fires: false_alarms.Fires) -> false_alarms.FalseAlarms:
        if rerun is not None:
            return false_alarms.rerun_false_alarm_rate(
                n_base, n_other, passed, passed_other, margin=margin, fires=fires
            )
        rates = false_alarms.shrunken_rates(passed + passed_other, n_base + n_other)
        return false_alarms.false_alarm_rate(n_base, n_other, rates, margin=margin, fires=fires)

    def at(limit: float) -> Row:
        return {
            "threshold": limit,
            "fail": rate(lambda _low, high: np.asarray(high < limit)).either,
            "pass": rate(lambda low, _high: np.asarray(low > limit)).either,
        }

    found = rate(false_alarms.excludes_zero)
    # What pass@1 must be beyond for the policy not to fail.
    limits = [
        judgement.criterion.threshold
        for one in gates
        if one.compared.candidate == each.candidate
        for judgement in one.judgements
        if judgement.criterion.metric == "pass_at_1" and judgement.criterion.sign == 1
    ]
    return {
        **said,
        "n_tasks": len(counts),
        "n_simulations": found.n_simulations,
        "rates": {
            "improved": found.improved,
            "regressed": found.regressed,
            "either": found.either,
            "no_change": found.within_margin,
        },
        "policy": [at(limit) for limit in limits],
    }


def print_false_alarms(found: Sequence[Row]) -> None:
    """A sentence per candidate: the rule of the verdict, and of the policy."""
    if found:
        click.echo(heading("false alarms") + ", if nothing had changed")
    for alarm in found:
        click.echo(labelled("", _alarm(alarm), indent=2))


def _alarm(alarm: Row) -> str:
    name, rates = inline(alarm["candidate"]), alarm["rates"]
    if rates is None:
        return f"{name}: n/a, the runs have no task in common"
    times = f"{alarm['n_simulations']:,} times"
    how = f"both runs simulated {times} from shrunken pass rates"
    if alarm["rerun"] is not None:
        how = f"rollouts of {inline(alarm['rerun'])} and the base dealt out anew {times}"
    said = (
        f"{name}: the rule would say improved in {percent(rates['improved'])} and regressed in "
        f"{percent(rates['regressed'])} of comparisons ({how}, {alarm['n_tasks']:,} tasks)"
    )
    for limit in alarm["policy"]:
        said += (
            f"; the policy's rule at {100 * limit['threshold']:+.1f} points of pass@1 would fail "
            f"{percent(limit['fail'])} and pass {percent(limit['pass'])}"
        )
    return said
