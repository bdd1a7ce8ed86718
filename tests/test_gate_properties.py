"""The gate: what holds of every policy and every change."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from pipeline.answers.gate import Compared, Measured, decide
from pipeline.profile.policy import Criterion, Policy, Requirements
from tests.gate_cases import FAIL, INCONCLUSIVE, KNOWN, PASS, WARN, quality

ORDER = (FAIL, INCONCLUSIVE, WARN, PASS)
# Few numbers, so that thresholds are met exactly too.
NUMBERS = st.integers(-6, 6).map(lambda number: number / 4)
MAYBE = st.none() | NUMBERS
RATES = st.none() | st.sampled_from([0.0, 0.5, 0.9, 1.0])
CRITERIA = st.builds(
    Criterion,
    metric=st.just("pass_at_1"),
    rule=st.sampled_from(["non-inferior", "superior"]),
    margin=st.sampled_from([0.0, 0.25, 0.5]),
    direction=st.sampled_from(["higher", "lower"]),
    level=st.sampled_from(["blocking", "tracked"]),
)
CHANGES = st.builds(
    Measured,
    metric=st.just("pass_at_1"),
    n_tasks=st.none() | st.integers(0, 40),
    delta=MAYBE,
    low=MAYBE,
    high=MAYBE,
    bound_low=MAYBE,
    bound_high=MAYBE,
    wide_low=MAYBE,
    wide_high=MAYBE,
    p_value=st.none() | st.sampled_from([0.0, 0.01, 0.05, 0.2]),
)
QUALITIES = st.builds(quality, coverage=RATES, clean_rate=RATES)
REQUIREMENTS = st.builds(
    Requirements,
    min_coverage=RATES,
    min_clean_rate=RATES,
    min_common_tasks=st.none() | st.integers(1, 40),
)
POLICIES = st.builds(
    Policy,
    name=st.just("p"),
    criteria=CRITERIA.map(lambda criterion: (criterion,)),
    require=REQUIREMENTS,
    waivers=st.sampled_from([(), KNOWN]),
)
COMPARED = st.builds(
    Compared,
    base=st.just("a"),
    candidate=st.just("b"),
    every_task=CHANGES.map(lambda change: (change,)),
    unwaived=CHANGES.map(lambda change: (change,)),
    base_quality=QUALITIES,
    candidate_quality=QUALITIES,
    common_tasks=st.sampled_from([frozenset(), frozenset({"12"})]),
)


@given(POLICIES, COMPARED)
def test_never_a_pass_by_silence(policy: Policy, comparison: Compared) -> None:
    """With anything undefined or anything required unmet, nothing passes."""
    actual = decide(policy, comparison)
    (metric,) = actual["metrics"]
    sets = [comparison.every_task[0], *([comparison.unwaived[0]] if policy.waivers else [])]
    is_undefined = [
        any(getattr(change, field.name) is None for field in fields(change)) for change in sets
    ]
    if any(is_undefined):
        assert actual["verdict"] is not PASS
    if is_undefined[-1]:
        assert metric["verdict"] is INCONCLUSIVE
    require = policy.require
    runs = (comparison.base_quality, comparison.candidate_quality)
    if any(
        least is not None and (value is None or value < least)
        for least, values in (
            (require.min_coverage, [run["coverage"] for run in runs]),
            (require.min_clean_rate, [run["clean_rate"] for run in runs]),
            (require.min_common_tasks, [sets[-1].n_tasks]),
        )
        for value in values
    ):
        assert metric["verdict"] is INCONCLUSIVE
        assert actual["verdict"] is (INCONCLUSIVE if metric["level"] == "blocking" else WARN)
    assert actual["exit_code"] == {PASS: 0, WARN: 0, FAIL: 1}.get(actual["verdict"], 3)
    assert bool(actual["reasons"]) == (actual["verdict"] is not PASS)


@given(POLICIES, COMPARED, st.tuples(*[st.integers(0, 6)] * 12))
def test_better_is_never_worse(policy: Policy, comparison: Compared, by: tuple[int, ...]) -> None:
    """Moving ends of intervals and bounds to the good side never worsens a verdict."""
    sign = policy.criteria[0].sign

    def moved(change: Measured, steps: tuple[int, ...]) -> Measured:
        low, high = _ends(change.low, change.high)
        first, second = _ends(change.bound_low, change.bound_high)
        ends = (low, high, first, second, *_ends(change.wide_low, change.wide_high))
        shifted = [
            None if end is None else end + sign * step / 4
            for end, step in zip(ends, steps, strict=True)
        ]
        return Measured(change.metric, change.n_tasks, change.delta, *shifted, change.p_value)

    better = replace(
        comparison,
        every_task=(moved(comparison.every_task[0], by[:6]),),
        unwaived=(moved(comparison.unwaived[0], by[6:]),),
    )
    before, after = decide(policy, comparison), decide(policy, better)
    assert ORDER.index(after["verdict"]) >= ORDER.index(before["verdict"])
    judged = [gate["metrics"][0]["verdict"] for gate in (before, after)]
    assert ORDER.index(judged[1]) >= ORDER.index(judged[0])


def _ends(first: float | None, second: float | None) -> tuple[float | None, float | None]:
    return (first, second) if first is None or second is None else (*sorted((first, second)),)


@given(POLICIES, COMPARED)
def test_lower_mirrors_higher(policy: Policy, comparison: Compared) -> None:
    """Turning every number and the direction around changes no verdict."""
    (criterion,) = policy.criteria
    other = replace(criterion, direction="lower" if criterion.direction == "higher" else "higher")

    def turned(change: Measured) -> Measured:
        values = (change.delta, change.high, change.low, change.bound_high, change.bound_low)
        values += (change.wide_high, change.wide_low)
        negated = [None if value is None else -value for value in values]
        return Measured(change.metric, change.n_tasks, *negated, change.p_value)

    mirrored = replace(
        comparison,
        every_task=(turned(comparison.every_task[0]),),
        unwaived=(turned(comparison.unwaived[0]),),
    )
    first = decide(policy, comparison)
    second = decide(replace(policy, criteria=(other,)), mirrored)
    assert (first["verdict"], first["reasons"]) == (second["verdict"], second["reasons"])
    assert first["metrics"][0]["verdict"] is second["metrics"][0]["verdict"]
    assert other.threshold == -criterion.threshold
