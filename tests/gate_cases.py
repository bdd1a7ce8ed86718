"""Changes of each verdict, and policies that judge them."""

from __future__ import annotations

from dataclasses import replace

from pipeline.answers.gate import Compared, Measured, Quality, Row, Verdict, decide
from pipeline.profile.policy import Criterion, Policy, Requirements, Waiver

PASS, WARN, INCONCLUSIVE, FAIL = Verdict.PASS, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.FAIL
KNOWN = (Waiver("12", "the answer key is wrong"),)


def quality(coverage: float | None, clean_rate: float | None) -> Quality:
    """How complete and how clean a run is."""
    return {"coverage": coverage, "clean_rate": clean_rate}


GOOD = quality(1.0, 1.0)


def measured(
    low: float,
    high: float,
    *,
    bounds: tuple[float, float] | None = None,
    wide: tuple[float, float] | None = None,
    p_value: float = 0.001,
) -> Measured:
    """A change in the middle of its interval, over 100 tasks, that both tests are sure of.

    Without bounds none is missing; unless it is given, what is unseen is allowed for already.
    """
    middle = (low + high) / 2
    ends = (*(bounds or (middle, middle)), *(wide or (low, high)))
    return Measured("pass_at_1", 100, middle, low, high, *ends, p_value, "the test")


# Intervals of each verdict for a margin of two points.
HOLDS, OPEN, FAILS = measured(-0.01, 0.01), measured(-0.03, 0.01), measured(-0.08, -0.04)
OF = {PASS: HOLDS, INCONCLUSIVE: OPEN, FAIL: FAILS}


def compared(every: Measured, unwaived: Measured | None = None, **others: object) -> Compared:
    """Two good runs that share task 12."""
    given = Compared("a", "b", (every,), (unwaived or every,), GOOD, GOOD, frozenset({"12"}))
    return replace(given, **others)  # type: ignore[arg-type]


def decided(criterion: Criterion, change: Measured, **require: float) -> Row:
    """What a policy of one criterion says of a change."""
    policy = Policy("policy.toml", (criterion,), Requirements(**require))  # type: ignore[arg-type]
    return decide(policy, compared(replace(change, metric=criterion.metric)))
