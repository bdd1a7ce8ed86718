"""A policy and what was measured -> the verdict, each part with its reasons; no pass by silence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.profile.gate import wording
from pipeline.profile.gate.values import (
    Compared,
    Criterion,
    Finding,
    Gate,
    Judgement,
    Measured,
    Policy,
    Verdict,
    Waiver,
)

# From the best to the worst.
ORDER = (Verdict.PASS, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.FAIL)


def decide(policy: Policy, compared: Compared) -> Gate:
    """What the policy says of a candidate."""
    unmet = tuple(_unmet(policy, compared))
    judgements = tuple(
        _judgement(criterion, policy, compared, unmet) for criterion in policy.criteria
    )
    absent = tuple(w for w in policy.waivers if w.task_id not in compared.common_tasks)
    return Gate(
        policy=policy,
        compared=compared,
        verdict=_whole(judgements, absent),
        reasons=(*_reasons(judgements), *unmet, *_waiver_reasons(judgements, absent)),
        judgements=judgements,
        absent_waivers=absent,
    )


def worst(gates: Iterable[Gate]) -> Verdict:
    """The verdict on several candidates, all of which must pass; of none nothing is known."""
    verdicts = [gate.verdict for gate in gates]
    return max(verdicts, key=ORDER.index) if verdicts else Verdict.INCONCLUSIVE


def _judgement(
    criterion: Criterion, policy: Policy, compared: Compared, unmet: tuple[str, ...]
) -> Judgement:
    every = _finding(criterion, policy, compared.every_task, unmet)
    # With nothing waived there is but one set of tasks.
    deciding = _finding(criterion, policy, compared.unwaived, unmet) if policy.waivers else every
    return Judgement(criterion, deciding, every)


def _finding(
    criterion: Criterion, policy: Policy, given: tuple[Measured, ...], unmet: tuple[str, ...]
) -> Finding:
    by_metric = {measured.metric: _defined(measured) for measured in given}
    measured = by_metric.get(criterion.metric, Measured(criterion.metric))
    least = policy.require.min_common_tasks
    if least is not None and (measured.n_tasks is None or measured.n_tasks < least):
        unmet = (wording.few_tasks(measured.n_tasks, least), *unmet)
    verdict, reasons = _verdict(criterion, measured)
    return Finding(measured, Verdict.INCONCLUSIVE if unmet else verdict, (*reasons, *unmet))


def _verdict(criterion: Criterion, measured: Measured) -> tuple[Verdict, tuple[str, ...]]:
    """What the interval says, unless the rollouts that are missing could say otherwise."""
    told = wording.measured_change(measured, criterion.threshold)
    low, high = measured.low, measured.high
    if measured.delta is None or low is None or high is None:
        return Verdict.INCONCLUSIVE, (f"{told}: no interval is defined for it",)
    side = _side(criterion, low, high)
    reason = f"{told}: the interval {_where(criterion, side)}"
    missing = _missing(criterion, measured, side)
    # Without tasks there is nothing that an interval could be of.
    verdict = Verdict.INCONCLUSIVE if missing or not measured.n_tasks else side
    return verdict, (reason, *missing)


def _missing(criterion: Criterion, measured: Measured, side: Verdict) -> tuple[str, ...]:
    """Why missing rollouts leave it open, if they do."""
    first, second = measured.bound_low, measured.bound_high
    if first is None or second is None:
        return ("what the missing rollouts would make of it is unknown",)
    bounds = _side(criterion, first, second)
    if bounds is not Verdict.INCONCLUSIVE and side in (bounds, Verdict.INCONCLUSIVE):
        return ()
    ends = wording.interval(min(first, second), max(first, second), criterion.threshold)
    told = f"with the missing rollouts the change could be anything from {ends}"
    return (f"{told}, and that {_where(criterion, bounds)}",)


def _where(criterion: Criterion, side: Verdict) -> str:
    threshold = wording.exact(criterion.threshold)
    if side is Verdict.INCONCLUSIVE:
        return f"includes {threshold}"
    word = wording.better(criterion) if side is Verdict.PASS else wording.worse(criterion)
    return f"is all {word} {threshold}"


def _side(criterion: Criterion, first: float, second: float) -> Verdict:
    """On which side of the threshold a range lies whole; what touches it lies on neither."""
    threshold = criterion.sign * criterion.threshold
    low, high = sorted((criterion.sign * first, criterion.sign * second))
    if low > threshold:
        return Verdict.PASS
    return Verdict.FAIL if high < threshold else Verdict.INCONCLUSIVE


def _unmet(policy: Policy, compared: Compared) -> Iterator[str]:
    """What the policy requires of both runs and does not find."""
    for name, least in (
        ("coverage", policy.require.min_coverage),
        ("clean_rate", policy.require.min_clean_rate),
    ):
        for run, quality in (
            (compared.base, compared.base_quality),
            (compared.candidate, compared.candidate_quality),
        ):
            value = _finite(getattr(quality, name))
            if least is not None and (value is None or value < least):
                yield wording.short_of(f"the {name.replace('_', ' ')} of {run}", value, least)


def _whole(judgements: tuple[Judgement, ...], absent: tuple[Waiver, ...]) -> Verdict:
    blocking = {judgement.verdict for judgement in judgements if judgement.criterion.is_blocking}
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        if verdict in blocking:
            return verdict
    is_clear = all(
        judgement.verdict is Verdict.PASS and not judgement.is_waiver_decisive
        for judgement in judgements
    )
    return Verdict.PASS if is_clear and not absent else Verdict.WARN


def _reasons(judgements: tuple[Judgement, ...]) -> Iterator[str]:
    """Which metrics stand in the way, the gravest first."""
    for is_blocking in (True, False):
        for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
            for judgement in judgements:
                criterion = judgement.criterion
                if (criterion.is_blocking, judgement.verdict) == (is_blocking, verdict):
                    effect = "it blocks" if is_blocking else "tracked, a warning only"
                    yield f"{wording.asked(criterion)}: {verdict} ({effect})"


def _waiver_reasons(judgements: tuple[Judgement, ...], absent: tuple[Waiver, ...]) -> Iterator[str]:
    """What the waivers changed, and those that change nothing."""
    for judgement in judgements:
        if judgement.is_waiver_decisive:
            yield (
                f"{wording.asked(judgement.criterion)}: {judgement.verdict} without the waived "
                f"tasks, {judgement.with_waived.verdict} with them"
            )
    if absent:
        yield f"waived, but not among the common tasks: {wording.listed(w.task_id for w in absent)}"


def _defined(measured: Measured) -> Measured:
    """The same, with what is no number undefined."""
    return replace(
        measured,
        delta=_finite(measured.delta),
        low=_finite(measured.low),
        high=_finite(measured.high),
        bound_low=_finite(measured.bound_low),
        bound_high=_finite(measured.bound_high),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
