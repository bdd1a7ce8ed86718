"""A policy and what a comparison measured -> the verdict, with reasons; no pass by silence.

No rounding in a reason carries a number across its threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import product
from pathlib import Path

import numpy as np

from pipeline.analysis import stats
from pipeline.answers.names import Row
from pipeline.profile.policy import Criterion, Policy, read
from pipeline.report import Comparison
from pipeline.text import counted
from pipeline.warehouse import Warehouse

# Seventeen digits tell any two floats apart.
DIGITS = (4, 6, 9, 12, 17)
MOST_NAMES = 12
EFFECTS = {"blocking": "it blocks", "tracked": "tracked, a warning only"}
Range = tuple[float, float]
# The coverage and the clean rate of a run by name; None is unknown.
Quality = dict[str, float | None]
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
COMMON = "select task_id from comparison_tasks where base = ? and candidate = ? and is_common"


class Verdict(StrEnum):
    """How a metric or a candidate fares, from best to worst; only the whole can be WARN."""

    PASS = "PASS"
    WARN = "WARN"
    INCONCLUSIVE = "INCONCLUSIVE"
    FAIL = "FAIL"


# A failed gate alone is a 1; what the data cannot decide passes nothing either.
EXIT_CODES = {Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3}


@dataclass(frozen=True)
class Measured:
    """One metric's paired change, candidate less base, over some of the common tasks.

    `low` and `high` are its interval for new tasks, missing rollouts counted as failed; the bounds
    are the change itself with missing rollouts against and in favour of the candidate, in any
    order: the change twice where none is missing. None is undefined, never zero.
    """

    metric: str
    n_tasks: int | None = None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None

    @property
    def change(self) -> float | None:
        """The change, if it is a number."""
        return _finite(self.delta)

    @property
    def interval(self) -> Range | None:
        """Its interval for new tasks."""
        return _range(self.low, self.high)

    @property
    def bounds(self) -> Range | None:
        """The change with missing rollouts one way and the other."""
        return _range(self.bound_low, self.bound_high)


@dataclass(frozen=True)
class Compared:
    """A candidate beside its base: each metric over all common tasks, and without the waived ones.

    `common_tasks` are ids: all of them, or at least those that the policy waives.
    """

    base: str
    candidate: str
    every_task: tuple[Measured, ...]
    unwaived: tuple[Measured, ...] = ()
    base_quality: Quality = field(default_factory=dict)
    candidate_quality: Quality = field(default_factory=dict)
    common_tasks: frozenset[str] = frozenset()


def gates(warehouse: Warehouse, policy_path: Path, found: Sequence[Comparison]) -> list[Row]:
    """The policy's verdict on every candidate."""
    policy = read(policy_path)
    waived = [waiver.task_id for waiver in policy.waivers]
    qualities = {row.pop("run_id"): row for row in warehouse.rows(QUALITIES)}
    return [
        decide(
            policy,
            Compared(
                base=each.base,
                candidate=each.candidate,
                every_task=_measured(warehouse, each, []),
                unwaived=_measured(warehouse, each, waived) if waived else (),
                base_quality=qualities[each.base],
                candidate_quality=qualities[each.candidate],
                common_tasks=frozenset(warehouse.column(COMMON, each.base, each.candidate)),
            ),
        )
        for each in found
    ]


def _measured(warehouse: Warehouse, each: Comparison, without: list[str]) -> tuple[Measured, ...]:
    """Each metric's change over the common tasks, without those that are waived."""
    found = warehouse.rows(MEASURED, each.base, each.candidate, without)
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
            measured.append(Measured(metric, *known))
    return tuple(measured)


def decide(policy: Policy, compared: Compared) -> Row:
    """What the policy says of a candidate, and all that led to it, as JSON has it."""
    unmet = list(_unmet(policy, compared))
    # With nothing waived there is but one set of tasks.
    deciding = compared.unwaived if policy.waivers else compared.every_task
    metrics = []
    for each in policy.criteria:
        judged, whole = (_judged(each, policy, on, unmet) for on in (deciding, compared.every_task))
        with_waived = whole if policy.waivers else None
        asked = {**asdict(each), "threshold": each.threshold}
        metrics.append({**asked, **judged, "with_waived": with_waived})
    waived = [
        {**asdict(each), "is_common": each.task_id in compared.common_tasks}
        for each in policy.waivers
    ]
    reasons = [*_reasons(metrics), *unmet, *_waiver_reasons(metrics, waived)]
    # What is tracked, and waivers that matter or are for nothing, warn.
    blocking = [each["verdict"] for each in metrics if each["level"] == "blocking"]
    verdict = worst([Verdict.WARN if reasons else Verdict.PASS, *blocking])
    return {
        "base": compared.base,
        "candidate": compared.candidate,
        "policy": policy.name,
        "verdict": verdict,
        "exit_code": EXIT_CODES.get(verdict, 0),
        "reasons": reasons,
        "metrics": metrics,
        "require": asdict(policy.require),
        "quality": {"base": compared.base_quality, "candidate": compared.candidate_quality},
        "waived": waived,
    }


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on several, all of which must pass; of none nothing is known."""
    return max(verdicts, key=list(Verdict).index, default=Verdict.INCONCLUSIVE)


def _judged(
    criterion: Criterion, policy: Policy, given: Iterable[Measured], unmet: Sequence[str]
) -> Row:
    by_metric = {measured.metric: measured for measured in given}
    measured = by_metric.get(criterion.metric, Measured(criterion.metric))
    verdict, reasons = _verdict(criterion, measured)
    least = policy.require.min_common_tasks
    if least is not None and (measured.n_tasks is None or measured.n_tasks < least):
        few = f"it stands on {_tasks(measured.n_tasks)}, required are at least {least:,}"
        unmet = [few, *unmet]
    return {
        "verdict": Verdict.INCONCLUSIVE if unmet else verdict,
        "reasons": [*reasons, *unmet],
        "n_tasks": measured.n_tasks,
        "delta": measured.change,
        "ci_new_tasks": measured.interval,
        "bounds": measured.bounds,
    }


def _verdict(criterion: Criterion, measured: Measured) -> tuple[Verdict, list[str]]:
    """What the interval says, unless the rollouts that are missing could say otherwise."""
    threshold, delta = criterion.threshold, measured.change
    said = f"the change is {'unknown' if delta is None else change(delta, threshold)}"
    if measured.interval:
        said += f", interval {interval(measured.interval, threshold)}"
    said += f", over {_tasks(measured.n_tasks)}"
    if delta is None or measured.interval is None:
        return Verdict.INCONCLUSIVE, [f"{said}: no interval is defined for it"]
    side, where = _side(criterion, measured.interval)
    reasons = [f"{said}: the interval {where}"]
    if measured.bounds is None:
        reasons.append("what the missing rollouts would make of it is unknown")
    else:
        with_missing, where = _side(criterion, measured.bounds)
        if with_missing is Verdict.INCONCLUSIVE or side not in (with_missing, Verdict.INCONCLUSIVE):
            ends = interval(sorted(measured.bounds), threshold)
            could = f"with the missing rollouts the change could be anything from {ends}"
            reasons.append(f"{could}, and that {where}")
    # Without tasks there is nothing that an interval could be of.
    is_open = len(reasons) > 1 or not measured.n_tasks
    return Verdict.INCONCLUSIVE if is_open else side, reasons


def _side(criterion: Criterion, ends: Range) -> tuple[Verdict, str]:
    """On which side of the threshold a range lies whole; what touches it lies on neither."""
    threshold, said = criterion.threshold, _exact(criterion.threshold)
    if min(ends) > threshold:
        return Verdict.PASS if criterion.sign == 1 else Verdict.FAIL, f"is all above {said}"
    if max(ends) < threshold:
        return Verdict.FAIL if criterion.sign == 1 else Verdict.PASS, f"is all below {said}"
    return Verdict.INCONCLUSIVE, f"includes {said}"


def _unmet(policy: Policy, compared: Compared) -> Iterator[str]:
    for name in ("coverage", "clean_rate"):
        least = getattr(policy.require, f"min_{name}")
        for run, quality in (
            (compared.base, compared.base_quality),
            (compared.candidate, compared.candidate_quality),
        ):
            value = _finite(quality.get(name))
            if least is not None and (value is None or value < least):
                known = "unknown" if value is None else _apart(value, least, ",")
                what = f"the {name.replace('_', ' ')} of {run}"
                yield f"{what} is {known}, required is at least {least:,.15g}"


def _reasons(metrics: Sequence[Row]) -> Iterator[str]:
    """Which metrics stand in the way, the gravest first."""
    for level, verdict in product(EFFECTS, (Verdict.FAIL, Verdict.INCONCLUSIVE)):
        for each in metrics:
            if (each["level"], each["verdict"]) == (level, verdict):
                yield f"{asked(each)}: {verdict} ({EFFECTS[level]})"


def _waiver_reasons(metrics: Sequence[Row], waived: Sequence[Row]) -> Iterator[str]:
    """What the waivers changed, and those that change nothing."""
    for each in metrics:
        whole = each["with_waived"]
        if whole is not None and whole["verdict"] != each["verdict"]:
            without = f"{asked(each)}: {each['verdict']} without the waived tasks"
            yield f"{without}, {whole['verdict']} with them"
    if absent := [each["task_id"] for each in waived if not each["is_common"]]:
        more = f" and {len(absent) - MOST_NAMES:,} more" if len(absent) > MOST_NAMES else ""
        yield f"waived, but not among the common tasks: {', '.join(absent[:MOST_NAMES])}{more}"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _range(first: float | None, second: float | None) -> Range | None:
    first, second = _finite(first), _finite(second)
    return None if first is None or second is None else (first, second)


def asked(metric: Row) -> str:
    """What a policy asks, by metric and rule: one metric may have both rules."""
    return f"{metric['metric']} {metric['rule']}"


def required(metric: Row) -> str:
    """What the change must be."""
    side = "above" if metric["direction"] == "higher" else "below"
    return f"{side} {_exact(metric['threshold'])}"


def change(value: float, threshold: float) -> str:
    """A change with its sign, and as many digits as show on which side of the threshold it is."""
    return _apart(value, threshold, "+,")


def interval(ends: Sequence[float], threshold: float) -> str:
    """Two ends of a range, on the side of the threshold where they are."""
    return " to ".join(change(end, threshold) for end in ends)


def _tasks(n_tasks: int | None) -> str:
    return "an unknown number of tasks" if n_tasks is None else counted(n_tasks, "task")


def _exact(value: float) -> str:
    """A number of a policy as someone wrote it, with its sign."""
    return f"{value:+,.15g}" if value else "0"


def _apart(value: float, threshold: float, form: str) -> str:
    """The fewest digits that leave the value on its side of the threshold."""

    def side(number: float) -> int:
        return (number > threshold) - (number < threshold)

    # Whole numbers are written out, as far as a float knows them.
    n_whole = min(DIGITS[-1], len(str(int(abs(value)))))
    for digits in DIGITS:
        said = f"{value:{form}.{max(digits, n_whole)}g}"
        if side(float(said.replace(",", ""))) == side(value):
            break
    return said if value else "0"
