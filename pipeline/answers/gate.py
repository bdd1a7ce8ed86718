"""A policy and what a comparison measured -> the verdict, with reasons; no pass by silence.

No rounding in a reason carries a number across its threshold.
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

from pipeline import run
from pipeline.analysis import stats
from pipeline.analysis.claims import (
    POSSIBLE,
    SHARED,
    Evidence,
    Names,
    evidence,
    fewest_tasks,
    p_beyond,
)
from pipeline.answers.names import Row
from pipeline.profile.policy import CONFIDENCE, Criterion, Policy, read
from pipeline.report import Comparison, wording
from pipeline.report.comparisons import Change
from pipeline.text import counted
from pipeline.warehouse import Warehouse

# Seventeen digits tell any two floats apart.
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
# pass@1 and rewards with what is missing and tasks of one run; other figures of the same pairs.
DECIDED = {"staging.comparison_tests": (SHARED, POSSIBLE), "staging.measure_changes": (POSSIBLE,)}
OF_PAIRS = "from {} where [base, candidate] in (select unnest($1)) order by metric, base, candidate"
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
    order: the change twice where none is missing. `wide_low` and `wide_high` are the interval with
    unseen tasks allowed for. A task that only one run has, and the other may have lost, counts as
    missing. None is undefined, never zero; `p_value` is 0 where the interval is the only test.
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
    # Of tasks that only one run has; of the range of its values, where they have one.
    n_unshared: int = 0
    value_range: float | None = None
    # Among so many candidates, that it is superior to the base.
    n_candidates: int = 1
    p_superior: float | None = 0.0

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

    @property
    def with_unseen(self) -> Range | None:
        """Its interval with unseen tasks allowed for."""
        return _range(self.wide_low, self.wide_high)

    def evidence(self, level: float) -> Evidence:
        """What may be said of it."""
        ends = [sorted(each or UNKNOWN) for each in (self.interval, self.bounds, self.with_unseen)]
        p_value = math.nan if self.p_value is None else self.p_value
        return Evidence(*map(np.asarray, (*chain(*ends), p_value)), level=level)


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


def gates(
    path: Path, warehouse: Warehouse, policy_path: Path, found: Sequence[Comparison]
) -> list[Row]:
    """The policy's verdict on every candidate."""
    policy = read(policy_path)
    qualities = {row.pop("run_id"): row for row in warehouse.rows(QUALITIES)}
    every, unwaived = measured(warehouse, policy, found), {}
    if waived := [waiver.task_id for waiver in policy.waivers]:
        pairs = [run.Pair(each.benchmark, each.base, each.candidate, True, 0.0) for each in found]
        with run.compare(path, pairs, without=waived) as fewer:
            unwaived = measured(fewer, policy, found)
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
        for each in found
    ]


def measured(
    warehouse: Warehouse, policy: Policy, found: Sequence[Comparison]
) -> dict[tuple[str, str], tuple[Measured, ...]]:
    """Each metric's change by base and candidate."""
    pairs = [[each.base, each.candidate] for each in found]
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
    """One metric of all candidates: what is superior must be so among all of them."""
    table = rows.to_pylist()
    is_tested = "p_mean" in rows.column_names
    tests = [stats.numbers(rows[name]) for name in TESTS] if is_tested else [np.zeros(len(table))]
    p_value = np.maximum.reduce(tests)
    shown = evidence(rows, p_value, level=policy.confidence, unseen=policy.unseen, over=over)
    # pass@k is known as that, and by its k.
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
    """The test that is less sure that something changed."""
    if (row["p_any"] or 0) > (row["p_mean"] or 0):
        return "permutation test (no task changed)"
    return TEST_NAMES[row["p_signs"] is not None, row["n_groups"] < row["n_common_tasks"]]


def with_verdicts(found: Sequence[Comparison], gates: Sequence[Row]) -> list[Comparison]:
    """The comparisons with the policy's verdict in place of ours: one page has one verdict.

    That no regression is shown beyond a margin, and that no change is shown at all, may both hold.
    """
    said: dict[tuple[str, str, str], list[Verdict]] = defaultdict(list)
    for each in gates:
        for metric in each["metrics"]:
            said[each["base"], each["candidate"], metric["metric"]].append(metric["verdict"])

    def judged(change: Change) -> Change:
        values = change.row.values
        verdicts = said.get((values["base"], values["candidate"], change.metric))
        word = None if verdicts is None else f"{worst(verdicts)} by the policy"
        own = {"verdict": word, "verdict_holm": word, "could_reverse": False, "decided_by": None}
        return replace(change, row=replace(change.row, values={**values, **own}))

    judged_pairs = {(each["base"], each["candidate"]) for each in gates}
    return [
        replace(each, changes=list(map(judged, each.changes)))
        if (each.base, each.candidate) in judged_pairs
        else each
        for each in found
    ]


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
    """What the policy sets otherwise than we would."""
    if policy.confidence != CONFIDENCE:
        yield f"the policy asks for a confidence of {policy.confidence:g}"
    if policy.unseen is not None:
        yield f"the policy allows for a share of {policy.unseen:g} of tasks unlike all of these"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on several, all of which must pass; of none nothing is known."""
    return max(verdicts, key=list(Verdict).index, default=Verdict.INCONCLUSIVE)


def _judged(
    criterion: Criterion, policy: Policy, given: Iterable[Measured], unmet: Sequence[str]
) -> Row:
    by_metric = {measured.metric: measured for measured in given}
    measured = by_metric.get(criterion.metric, Measured(criterion.metric))
    verdict, reasons = _verdict(criterion, measured, policy)
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
        "ci_with_unseen": measured.with_unseen,
        "bounds": measured.bounds,
        "p_value": _finite(measured.p_value),
        "n_unshared": measured.n_unshared,
        "fewest_tasks": _fewest(criterion, measured, policy),
    }


def _verdict(criterion: Criterion, measured: Measured, policy: Policy) -> tuple[Verdict, list[str]]:
    """What is shown of the change; where that is nothing, what stands in the way."""
    threshold, delta = criterion.threshold, measured.change
    said = f"the change is {'unknown' if delta is None else change(delta, threshold)}"
    if measured.interval:
        said += f", interval {interval(measured.interval, threshold)}"
    said += f", over {_tasks(measured.n_tasks)}"
    if delta is None or measured.interval is None:
        return Verdict.INCONCLUSIVE, [f"{said}: no interval is defined for it"]
    side, where = _side(criterion, measured.interval)
    reasons = [f"{said}: the interval {where}"]
    shown = measured.evidence(policy.confidence)
    is_above, is_below = bool(shown.is_above(threshold)), bool(shown.is_below(threshold))
    # Without tasks there is nothing that an interval could be of.
    if is_above == is_below or not measured.n_tasks:
        doubts = _doubts(criterion, measured, policy) if side is not Verdict.INCONCLUSIVE else ()
        return Verdict.INCONCLUSIVE, [*reasons, *doubts]
    # A change towards the threshold and beyond it was tested; one that stays away from it was not.
    if (threshold >= 0) == is_above or _risen(shown, is_above):
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


def _risen(shown: Evidence, is_above: bool) -> bool:
    """Whether it is shown to have changed at all, in that direction."""
    return bool(shown.is_above(0.0) if is_above else shown.is_below(0.0))


def _doubts(criterion: Criterion, measured: Measured, policy: Policy) -> Iterator[str]:
    """Why an interval that lies on one side of the threshold decides nothing."""
    threshold = criterion.threshold
    side, _ = _side(criterion, measured.interval or UNKNOWN)
    if measured.bounds is None:
        yield "what the missing rollouts would make of it is unknown"
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
        yield "what unseen tasks would make of it is unknown"
    elif _side(criterion, measured.with_unseen)[0] is not side:
        end = min(measured.with_unseen) if is_above else max(measured.with_unseen)
        could = f"but a share of tasks that {_tasks(measured.n_tasks)} may not show could make it"
        fewest = _fewest(criterion, measured, policy)
        takes = f"; at this margin it takes at least {fewest:,} tasks" if fewest else ""
        yield f"{could} {change(end, threshold)}{takes}"


def _fewest(criterion: Criterion, measured: Measured, policy: Policy) -> int | None:
    """The fewest tasks that could show that nothing changed beyond the margin."""
    if policy.unseen is not None or not measured.value_range:
        return None
    return fewest_tasks(criterion.margin / measured.value_range, level=policy.confidence)


def _chance(value: float | None) -> str:
    return "unknown" if value is None or math.isnan(value) else wording.chance(value)


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
        for run_id, quality in (
            (compared.base, compared.base_quality),
            (compared.candidate, compared.candidate_quality),
        ):
            value = _finite(quality.get(name))
            if least is not None and (value is None or value < least):
                known = "unknown" if value is None else _apart(value, least, ",")
                what = f"the {name.replace('_', ' ')} of {run_id}"
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
