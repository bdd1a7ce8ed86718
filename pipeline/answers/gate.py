"""Decide by a policy whether a comparison passes, with reasons; unknown is never a pass.

Numbers in reasons are rounded so that they stay on their side of the threshold.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from itertools import chain, product
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..analysis import stats
from ..analysis.claims import (
    POSSIBLE,
    SHARED,
    Evidence,
    Names,
    evidence,
    fewest_tasks,
    p_beyond,
)
from ..errors import UsageError
from ..profile.policy import CONFIDENCE, SUITE, Criterion, Policy, read
from ..report import Comparison, wording
from ..report.comparisons import Change
from ..text import counted
from ..warehouse import Warehouse
from . import recomputed
from .names import Row

# Seventeen digits distinguish any two floats.
DIGITS = (4, 6, 9, 12, 17)
MOST_NAMES = 12
EFFECTS = {"blocking": "it blocks", "tracked": "tracked, a warning only"}
Range = tuple[float, float]
UNKNOWN: Range = (math.nan, math.nan)
TESTS = ("p_mean", "p_any")
ENDS = ("low", "high", "bound_low", "bound_high", "wide_low", "wide_high", "p_value")
TEST_NAMES = {
    (True, False): "sign-flip test over tasks",
    (True, True): "sign-flip test over groups of tasks",
    (False, False): "t test over tasks",
    (False, True): "t test over groups of tasks",
}
# The coverage and the clean rate of a run by name; None is unknown.
Quality = dict[str, float | None]
# pass@1 and rewards, with missing rollouts and tasks of one run; then the other metrics.
DECIDED = {"staging.comparison_tests": (SHARED, POSSIBLE), "staging.measure_changes": (POSSIBLE,)}
OF_PAIRS = "from {} where [base, candidate] in (select unnest($1)) order by metric, base, candidate"
QUALITIES = """
    select run_id, metrics.coverage, health.clean_rate
    from run_metrics as metrics
    left join run_health as health using (run_id)
"""
COMMON = "select task_id from comparison_tasks where base = ? and candidate = ? and is_common"


class Verdict(StrEnum):
    """The verdict on a metric or a candidate, from best to worst; only candidates can be WARN."""

    PASS = "PASS"
    WARN = "WARN"
    INCONCLUSIVE = "INCONCLUSIVE"
    FAIL = "FAIL"


# Other verdicts exit with 0.
EXIT_CODES = {Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3}


def exit_code(gates: Sequence[Row]) -> int:
    """The exit code of a command that decides on several candidates: FAIL comes first."""
    codes = {each["exit_code"] for each in gates}
    return 1 if 1 in codes else max(codes, default=0)


@dataclass(frozen=True)
class Measured:
    """One metric's paired change, candidate less base, over some of the common tasks.

    `low` and `high` are its interval for new tasks, missing rollouts counted as failed; the bounds
    are the change itself with missing rollouts counted against and for the candidate, in any order;
    they are equal if none is missing. `wide_low` and `wide_high` are the interval that
    allows for unseen tasks. A task that only one run has, and the other may have lost, counts as
    missing. None is undefined, never zero; `p_value` is 0 if the interval is the only test.
    """

    metric: str
    n_tasks: int | None = None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    wide_low: float | None = None
    wide_high: float | None = None
    p_value: float | None = 0.0
    test: str = "the interval"
    # The number of tasks that only one run has, and the range of values if it is known.
    n_unshared: int = 0
    value_range: float | None = None
    # The p-value of being superior to the base, corrected for the number of candidates.
    n_candidates: int = 1
    p_superior: float | None = 0.0

    @property
    def change(self) -> float | None:
        return _finite(self.delta)

    @property
    def interval(self) -> Range | None:
        return _range(self.low, self.high)

    @property
    def bounds(self) -> Range | None:
        return _range(self.bound_low, self.bound_high)

    @property
    def with_unseen(self) -> Range | None:
        return _range(self.wide_low, self.wide_high)

    def evidence(self, level: float) -> Evidence:
        ends = [sorted(each or UNKNOWN) for each in (self.interval, self.bounds, self.with_unseen)]
        p_value = math.nan if self.p_value is None else self.p_value
        return Evidence(*map(np.asarray, (*chain(*ends), p_value)), level=level)


@dataclass(frozen=True)
class Compared:
    """A candidate and its base: each metric over all common tasks, and without the waived ones.

    `common_tasks` are ids: all of them, or at least those that the policy waives.
    """

    base: str
    candidate: str
    every_task: tuple[Measured, ...]
    unwaived: tuple[Measured, ...] = ()
    base_quality: Quality = field(default_factory=dict)
    candidate_quality: Quality = field(default_factory=dict)
    common_tasks: frozenset[str] = frozenset()
    # Reasons for which nothing can pass.
    unmet: tuple[str, ...] = ()


def gates(
    path: Path, warehouse: Warehouse, policy_path: Path, comparisons: Sequence[Comparison]
) -> list[Row]:
    policy = read(policy_path)
    qualities = {row.pop("run_id"): row for row in warehouse.rows(QUALITIES)}
    every = measured(warehouse, policy, comparisons)
    unwaived = {}
    if waived := [waiver.task_id for waiver in policy.waivers]:
        pairs = [
            recomputed.Pair(each.benchmark, each.base, each.candidate, True, 0.0)
            for each in comparisons
        ]
        with recomputed.compare(path, pairs, without=waived) as fewer:
            unwaived = measured(fewer, policy, comparisons)
    return [
        decide(
            policy,
            Compared(
                base=each.base,
                candidate=each.candidate,
                every_task=every.get((each.base, each.candidate), ()),
                unwaived=unwaived.get((each.base, each.candidate), ()),
                base_quality=qualities[each.base],
                candidate_quality=qualities[each.candidate],
                common_tasks=frozenset(warehouse.column(COMMON, each.base, each.candidate)),
            ),
        )
        for each in comparisons
    ]


def measured(
    warehouse: Warehouse, policy: Policy, comparisons: Sequence[Comparison]
) -> dict[tuple[str, str], tuple[Measured, ...]]:
    pairs = [[each.base, each.candidate] for each in comparisons]
    changes: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for relation, over in DECIDED.items():
        rows = warehouse.arrow(OF_PAIRS.format(relation), [pairs])
        metrics = rows["metric"].to_pylist()
        for metric in dict.fromkeys(metrics):
            own = rows.slice(metrics.index(metric), metrics.count(metric))
            for pair, change in _changes(own, metric, policy, over):
                changes[pair].append(change)
    return {pair: tuple(own) for pair, own in changes.items()}


def _changes(
    rows: pa.Table, metric: str, policy: Policy, over: tuple[Names, ...]
) -> Iterator[tuple[tuple[str, str], Measured]]:
    """The changes of one metric for all candidates, corrected for their number."""
    table = rows.to_pylist()
    is_tested = "p_mean" in rows.column_names
    tests = [stats.numbers(rows[name]) for name in TESTS] if is_tested else [np.zeros(len(table))]
    p_value = np.maximum.reduce(tests)
    shown = evidence(rows, p_value, level=policy.confidence, unseen=policy.unseen, over=over)
    # pass@k also has a name with its k.
    ks = {row.get("k") for row in table} - {None}
    names = [metric, *(f"{metric.removesuffix('_k')}_{k}" for k in sorted(ks))]
    for name in names:
        among = [
            stats.holm(np.maximum(p_beyond(rows, each.threshold, over=over), p_value))
            for each in policy.criteria
            if (each.metric, each.rule) == (name, "superior") and len(table) > 1
        ]
        for place, row in enumerate(table):
            ends = {field: float(getattr(shown, field)[place]) for field in ENDS}
            yield (
                (row["base"], row["candidate"]),
                Measured(
                    metric=name,
                    n_tasks=row["n_paired_tasks"] if is_tested else row["n_tasks"],
                    delta=row[over[0][0]],
                    **ends,
                    test=_test(row) if is_tested else "the interval",
                    n_unshared=row["n_possible_tasks"] - row["n_paired_tasks"] if is_tested else 0,
                    value_range=row["value_range"],
                    n_candidates=len(table),
                    p_superior=float(among[0][place]) if among else 0.0,
                ),
            )


def _test(row: Row) -> str:
    """The name of the test with the larger p-value."""
    if (row["p_any"] or 0) > (row["p_mean"] or 0):
        return "permutation test (no task changed)"
    return TEST_NAMES[row["p_signs"] is not None, row["n_groups"] < row["n_common_tasks"]]


def suite_gates(policy_path: Path, answer: Row) -> list[Row]:
    """The verdict of the policy's [suite] on each candidate: over all benchmarks and at each.

    A benchmark that only one of the two has makes the suite inconclusive, never better.
    """
    policy = read(policy_path)
    if policy.suite is None:
        hint = "Add: [suite], and below it margin = 0.02"
        raise UsageError(f"{policy.name}: it says nothing about a suite.", hint=hint)
    if policy.confidence != CONFIDENCE:
        hint = f"Leave confidence out, or write {CONFIDENCE}."
        raise UsageError(f"{policy.name}: suites are decided at {CONFIDENCE}.", hint=hint)
    changes = [row for row in answer["comparisons"] if row["is_named"]]
    cells = {row["entrant"]: row["cells"] for row in answer["entrants"]}
    pairs = list(dict.fromkeys((row["base"], row["candidate"]) for row in changes))
    decisions = []
    for base, candidate in pairs:
        own = [row for row in changes if (row["base"], row["candidate"]) == (base, candidate)]
        has = {
            entrant: {name for name, each in cells[entrant].items() if each["value"] is not None}
            for entrant in (base, candidate)
        }
        lacking = [
            f"{entrant} has no result at {name}"
            for entrant in (base, candidate)
            for name in sorted((has[base] | has[candidate]) - has[entrant])
        ]
        measured = tuple(_suite_change(row, policy, len(pairs)) for row in own)
        criteria = policy.suite.criteria(sorted(has[base] | has[candidate]))
        decisions.append(
            decide(
                replace(policy, criteria=criteria, waivers=()),
                Compared(base, candidate, measured, unmet=tuple(lacking)),
            )
        )
    return decisions


def _suite_change(row: Row, policy: Policy, n_candidates: int) -> Measured:
    """The change at a benchmark or over the suite, as a criterion reads it."""
    unseen_low, unseen_high = row["unseen_low"], row["unseen_high"]
    if policy.unseen is not None and row["delta"] is not None:
        centre = (1 - policy.unseen) * row["delta"]
        unseen_low = min(row["ci_new_tasks_low"], centre - policy.unseen)
        unseen_high = max(row["ci_new_tasks_high"], centre + policy.unseen)
    return Measured(
        metric=SUITE if row["benchmark"] is None else row["benchmark"],
        n_tasks=row["n_tasks"],
        delta=row["delta"],
        low=row["ci_new_tasks_low"],
        high=row["ci_new_tasks_high"],
        bound_low=row["bound_low"],
        bound_high=row["bound_high"],
        wide_low=unseen_low,
        wide_high=unseen_high,
        p_value=row["p_value"],
        test="sign-flip test over tasks" if row["n_draws"] else "t test over tasks",
        n_unshared=row["n_base_only"] + row["n_candidate_only"],
        value_range=1.0 if row["benchmark"] is None else None,
        n_candidates=n_candidates,
        p_superior=row["p_holm"],
    )


def with_verdicts(comparisons: Sequence[Comparison], gates: Sequence[Row]) -> list[Comparison]:
    """Replace the verdicts of comparisons by those of the policy: a page has one verdict.

    Otherwise a page could print both "no change" and the verdict of another rule.
    """
    verdicts_by_metric: dict[tuple[str, str, str], list[Verdict]] = defaultdict(list)
    for each in gates:
        for metric in each["metrics"]:
            verdicts_by_metric[each["base"], each["candidate"], metric["metric"]].append(
                metric["verdict"]
            )

    def judged(change: Change) -> Change:
        values = change.row.values
        verdicts = verdicts_by_metric.get((values["base"], values["candidate"], change.metric))
        word = None if verdicts is None else f"{worst(verdicts)} by the policy"
        own = {"verdict": word, "verdict_holm": word, "could_reverse": False, "decided_by": None}
        return replace(change, row=replace(change.row, values={**values, **own}))

    judged_pairs = {(each["base"], each["candidate"]) for each in gates}
    return [
        replace(each, changes=list(map(judged, each.changes)))
        if (each.base, each.candidate) in judged_pairs
        else each
        for each in comparisons
    ]


def decide(policy: Policy, compared: Compared) -> Row:
    """The verdict of the policy on a candidate and its reasons, as JSON values."""
    unmet = list(_unmet(policy, compared))
    # Without waivers both sets of tasks are the same.
    deciding = compared.unwaived if policy.waivers else compared.every_task
    metrics = []
    for each in policy.criteria:
        judged, whole = (_judged(each, policy, on, unmet) for on in (deciding, compared.every_task))
        with_waived = whole if policy.waivers else None
        criterion = {**asdict(each), "threshold": each.threshold}
        metrics.append({**criterion, **judged, "with_waived": with_waived})
    waived = [
        {**asdict(each), "is_common": each.task_id in compared.common_tasks}
        for each in policy.waivers
    ]
    reasons = [*_reasons(metrics), *unmet, *_waiver_reasons(metrics, waived)]
    # Tracked metrics, and waivers that matter or have no effect, warn.
    blocking = [each["verdict"] for each in metrics if each["level"] == "blocking"]
    verdict = worst([Verdict.WARN if reasons else Verdict.PASS, *blocking])
    return {
        "base": compared.base,
        "candidate": compared.candidate,
        "policy": policy.name,
        "confidence": policy.confidence,
        "unseen": policy.unseen,
        "verdict": verdict,
        "exit_code": EXIT_CODES.get(verdict, 0),
        "reasons": reasons,
        "notes": list(_notes(policy)),
        "metrics": metrics,
        "require": asdict(policy.require),
        "quality": {"base": compared.base_quality, "candidate": compared.candidate_quality},
        "waived": waived,
    }


def _notes(policy: Policy) -> Iterator[str]:
    """Settings of the policy that differ from the defaults."""
    if policy.confidence != CONFIDENCE:
        yield f"the policy asks for a confidence of {policy.confidence:g}"
    if policy.unseen is not None:
        yield f"the policy allows for a share of {policy.unseen:g} of tasks unlike all of these"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of several verdicts; INCONCLUSIVE if there is none."""
    return max(verdicts, key=list(Verdict).index, default=Verdict.INCONCLUSIVE)


def _judged(
    criterion: Criterion, policy: Policy, changes: Iterable[Measured], unmet: Sequence[str]
) -> Row:
    by_metric = {measured.metric: measured for measured in changes}
    measured = by_metric.get(criterion.metric, Measured(criterion.metric))
    verdict, reasons = _verdict(criterion, measured, policy)
    least = policy.require.min_common_tasks
    if least is not None and (measured.n_tasks is None or measured.n_tasks < least):
        few = f"it is based on {_tasks(measured.n_tasks)}, required are at least {least:,}"
        unmet = [few, *unmet]
    return {
        "verdict": Verdict.INCONCLUSIVE if unmet else verdict,
        "reasons": [*reasons, *unmet],
        "n_tasks": measured.n_tasks,
        "delta": measured.change,
        "ci_new_tasks": measured.interval,
        "ci_with_unseen": measured.with_unseen,
        "bounds": measured.bounds,
        "p_value": _finite(measured.p_value),
        "n_unshared": measured.n_unshared,
        "fewest_tasks": _fewest(criterion, measured, policy),
    }


def _verdict(criterion: Criterion, measured: Measured, policy: Policy) -> tuple[Verdict, list[str]]:
    """The verdict on the change; if inconclusive, why."""
    threshold = criterion.threshold
    delta = measured.change
    summary = f"the change is {'unknown' if delta is None else change(delta, threshold)}"
    if measured.interval:
        summary += f", interval {interval(measured.interval, threshold)}"
    summary += f", over {_tasks(measured.n_tasks)}"
    if delta is None or measured.interval is None:
        return Verdict.INCONCLUSIVE, [f"{summary}: no interval is defined for it"]
    side, where = _side(criterion, measured.interval)
    reasons = [f"{summary}: the interval {where}"]
    shown = measured.evidence(policy.confidence)
    is_above, is_below = bool(shown.is_above(threshold)), bool(shown.is_below(threshold))
    # Without tasks there is no interval.
    if is_above == is_below or not measured.n_tasks:
        doubts = _doubts(criterion, measured, policy) if side is not Verdict.INCONCLUSIVE else ()
        return Verdict.INCONCLUSIVE, [*reasons, *doubts]
    # The test is about a change beyond the threshold, seen from zero.
    has_changed = bool(shown.is_above(0.0) if is_above else shown.is_below(0.0))
    if (threshold >= 0) == is_above or has_changed:
        if measured.p_value:
            reasons[0] += f"; {measured.test}, p = {_chance(measured.p_value)}"
    elif measured.with_unseen:
        ends = interval(sorted(measured.with_unseen), threshold)
        reasons[0] += f", with unseen tasks allowed for too ({ends})"
    is_many = criterion.rule == "superior" and side is Verdict.PASS and measured.n_candidates > 1
    if is_many and not (measured.p_superior or 0) <= 1 - policy.confidence:
        among = f"among {measured.n_candidates:,} candidates"
        reasons.append(f"{among} p = {_chance(measured.p_superior)} by Holm")
        return Verdict.INCONCLUSIVE, reasons
    return side, reasons


def _doubts(criterion: Criterion, measured: Measured, policy: Policy) -> Iterator[str]:
    """Why an interval on one side of the threshold is still inconclusive."""
    threshold = criterion.threshold
    side, _ = _side(criterion, measured.interval or UNKNOWN)
    if measured.bounds is None:
        yield "the effect of the missing rollouts is unknown"
    else:
        with_missing, where = _side(criterion, measured.bounds)
        if with_missing is not side:
            ends = interval(sorted(measured.bounds), threshold)
            lost = counted(measured.n_unshared, "task") if measured.n_unshared else ""
            others = f" and {lost} that only one run has" if lost else ""
            could = f"with the missing rollouts{others} the change could be anything from {ends}"
            yield f"{could}, and that {where}"
    is_above = min(measured.interval or UNKNOWN) > threshold
    if (is_above and threshold >= 0) or (not is_above and threshold <= 0):
        if not (measured.p_value or 0) <= 1 - policy.confidence:
            yield f"but {measured.test} gives p = {_chance(measured.p_value)}"
    elif measured.with_unseen is None:
        yield "the effect of unseen tasks is unknown"
    elif _side(criterion, measured.with_unseen)[0] is not side:
        end = min(measured.with_unseen) if is_above else max(measured.with_unseen)
        could = f"but a share of tasks that {_tasks(measured.n_tasks)} may not show could make it"
        fewest = _fewest(criterion, measured, policy)
        takes = f"; at this margin it takes at least {fewest:,} tasks" if fewest else ""
        yield f"{could} {change(end, threshold)}{takes}"


def _fewest(criterion: Criterion, measured: Measured, policy: Policy) -> int | None:
    """The smallest number of tasks that could show no change beyond the margin."""
    if policy.unseen is not None or not measured.value_range:
        return None
    return fewest_tasks(criterion.margin / measured.value_range, level=policy.confidence)


def _chance(value: float | None) -> str:
    return "unknown" if value is None or math.isnan(value) else wording.chance(value)


def _side(criterion: Criterion, ends: Range) -> tuple[Verdict, str]:
    """The verdict of a range that is entirely on one side of the threshold, and words for it."""
    threshold = criterion.threshold
    shown = _exact(threshold)
    if min(ends) > threshold:
        return Verdict.PASS if criterion.sign == 1 else Verdict.FAIL, f"is all above {shown}"
    if max(ends) < threshold:
        return Verdict.FAIL if criterion.sign == 1 else Verdict.PASS, f"is all below {shown}"
    return Verdict.INCONCLUSIVE, f"includes {shown}"


def _unmet(policy: Policy, compared: Compared) -> Iterator[str]:
    yield from compared.unmet
    for name in ("coverage", "clean_rate"):
        least = getattr(policy.require, f"min_{name}")
        for run_id, quality in (
            (compared.base, compared.base_quality),
            (compared.candidate, compared.candidate_quality),
        ):
            value = _finite(quality.get(name))
            if least is not None and (value is None or value < least):
                known = "unknown" if value is None else _distinct(value, least, ",")
                what = f"the {name.replace('_', ' ')} of {run_id}"
                yield f"{what} is {known}, required is at least {least:,.15g}"


def _reasons(metrics: Sequence[Row]) -> Iterator[str]:
    """The metrics that do not pass, the worst first."""
    for level, verdict in product(EFFECTS, (Verdict.FAIL, Verdict.INCONCLUSIVE)):
        for each in metrics:
            if (each["level"], each["verdict"]) == (level, verdict):
                yield f"{criterion_name(each)}: {verdict} ({EFFECTS[level]})"


def _waiver_reasons(metrics: Sequence[Row], waived: Sequence[Row]) -> Iterator[str]:
    for each in metrics:
        whole = each["with_waived"]
        if whole is not None and whole["verdict"] != each["verdict"]:
            without = f"{criterion_name(each)}: {each['verdict']} without the waived tasks"
            yield f"{without}, {whole['verdict']} with them"
    if absent := [each["task_id"] for each in waived if not each["is_common"]]:
        more = f" and {len(absent) - MOST_NAMES:,} more" if len(absent) > MOST_NAMES else ""
        yield f"waived, but not among the common tasks: {', '.join(absent[:MOST_NAMES])}{more}"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _range(first: float | None, second: float | None) -> Range | None:
    first, second = _finite(first), _finite(second)
    return None if first is None or second is None else (first, second)


def criterion_name(metric: Row) -> str:
    """Metric and rule: one metric may have both rules."""
    return f"{metric['metric']} {metric['rule']}"


def required(metric: Row) -> str:
    side = "above" if metric["direction"] == "higher" else "below"
    return f"{side} {_exact(metric['threshold'])}"


def change(value: float, threshold: float) -> str:
    """A change with its sign, and enough digits to show its side of the threshold."""
    return _distinct(value, threshold, "+,")


def interval(ends: Sequence[float], threshold: float) -> str:
    """Both ends of a range, with enough digits to show their sides of the threshold."""
    return " to ".join(change(end, threshold) for end in ends)


def _tasks(n_tasks: int | None) -> str:
    return "an unknown number of tasks" if n_tasks is None else counted(n_tasks, "task")


def _exact(value: float) -> str:
    return f"{value:+,.15g}" if value else "0"


def _distinct(value: float, threshold: float, form: str) -> str:
    """The value with the fewest digits that keep it on its side of the threshold."""

    def side(number: float) -> int:
        return (number > threshold) - (number < threshold)

    # The integer part is written in full, up to the precision of a float.
    n_whole = min(DIGITS[-1], len(str(int(abs(value)))))
    for digits in DIGITS:
        text = f"{value:{form}.{max(digits, n_whole)}g}"
        if side(float(text.replace(",", ""))) == side(value):
            break
    return text if value else "0"
