"""The gate: what follows from a policy and what was measured, worked out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest

from pipeline.answers.gate import Compared, Measured, Quality, Verdict, decide, worst
from pipeline.cli.gates import print_gate
from pipeline.profile.policy import Criterion, Policy, Requirements, Waiver
from tests.case_files import cases
from tests.gate_cases import (
    FAIL,
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    KNOWN,
    OF,
    PASS,
    WARN,
    compared,
    decided,
    measured,
    quality,
)


@pytest.mark.parametrize(
    ("rule", "direction", "low", "high", "expected"), cases("gate", "interval_and_threshold")
)
def test_interval_and_threshold(
    rule: str, direction: str, low: float, high: float, expected: str
) -> None:
    """The interval is whole beyond the threshold, whole before it, or settles nothing."""
    criterion = Criterion("pass_at_1", rule, 0.02, direction)
    actual = decided(criterion, measured(low, high))
    assert (actual["metrics"][0]["verdict"], actual["verdict"]) == (expected, expected)
    assert actual["exit_code"] == {PASS: 0, FAIL: 1}.get(expected, 3)


# A change, its interval, that with unseen tasks, p, and what two rules of one margin say of it.
CLAIMS = [
    # That nothing broke needs the tasks that were not seen, not the tests.
    ((-0.01, 0.01), (-0.019, 0.019), 0.9, PASS, FAIL),
    ((-0.01, 0.01), (-0.03, 0.03), 0.9, INCONCLUSIVE, INCONCLUSIVE),
    # What rose did not fall, however few tasks there are; and it may have risen by more.
    ((0.001, 0.01), (-0.03, 0.05), 0.01, PASS, INCONCLUSIVE),
    ((0.001, 0.01), (-0.03, 0.05), 0.06, INCONCLUSIVE, INCONCLUSIVE),
    # A change needs both tests, not the tasks that were not seen.
    ((0.03, 0.09), (-0.04, 0.1), 0.01, PASS, PASS),
    ((0.03, 0.09), (-0.04, 0.1), 0.06, INCONCLUSIVE, INCONCLUSIVE),
    ((-0.09, -0.03), (-0.1, 0.04), 0.01, FAIL, FAIL),
    ((-0.09, -0.03), (-0.1, 0.04), 0.06, INCONCLUSIVE, INCONCLUSIVE),
]


@pytest.mark.parametrize(("interval", "wide", "p_value", "non_inferior", "superior"), CLAIMS)
def test_what_each_claim_needs(
    interval: tuple[float, float],
    wide: tuple[float, float],
    p_value: float,
    non_inferior: Verdict,
    superior: Verdict,
) -> None:
    """That something changed needs the tests; that it did not needs what is unseen."""
    change = measured(*interval, wide=wide, p_value=p_value)
    for rule, expected in (("non-inferior", non_inferior), ("superior", superior)):
        assert decided(Criterion("pass_at_1", rule), change)["verdict"] is expected


def test_superior_among_several() -> None:
    """Nineteen candidates: one that looks superior alone is not by Holm; none has to be worse."""
    change = replace(measured(0.01, 0.05), n_candidates=19, p_superior=0.08)
    assert decided(Criterion("pass_at_1", "superior", 0.0), change)["verdict"] is INCONCLUSIVE
    assert decided(Criterion("pass_at_1"), change)["verdict"] is PASS
    sure = replace(change, p_superior=0.04)
    assert decided(Criterion("pass_at_1", "superior", 0.0), sure)["verdict"] is PASS


def test_what_a_policy_sets_is_printed() -> None:
    """A share of unseen tasks or a confidence of its own is in the answer, and warns of nothing."""
    policy = Policy("p", (Criterion("pass_at_1"),), confidence=0.9, unseen=0.0)
    actual = decide(policy, compared(HOLDS))
    assert actual["verdict"] is PASS
    assert actual["notes"] == [
        "the policy asks for a confidence of 0.9",
        "the policy allows for a share of 0 of tasks unlike all of these",
    ]
    assert actual["metrics"][0]["fewest_tasks"] is None


@pytest.mark.parametrize(("low", "high", "expected"), [(0.0, 0.0, INCONCLUSIVE), (0.1, 0.1, PASS)])
def test_a_margin_of_zero(low: float, high: float, expected: Verdict) -> None:
    """Without a margin both rules ask for more than nothing."""
    for rule in ("non-inferior", "superior"):
        criterion = Criterion("pass_at_1", rule, 0.0)
        assert decided(criterion, measured(low, high))["verdict"] is expected
        assert str(criterion.threshold) == "0.0"


@pytest.mark.parametrize(("interval", "bounds", "expected"), cases("gate", "missing_rollouts"))
def test_missing_rollouts(
    interval: list[float], bounds: tuple[float, float], expected: str
) -> None:
    """Where missing rollouts could carry the change across the threshold nothing is settled."""
    change = measured(*interval, bounds=bounds)
    assert decided(Criterion("pass_at_1"), change)["verdict"] == expected


@pytest.mark.parametrize(
    ("require", "quality", "known"),
    [
        ({"min_coverage": 0.95}, quality(0.95, None), None),
        ({"min_coverage": 0.95}, quality(0.94, None), "0.94"),
        ({"min_coverage": 0.95}, quality(0.94999999, None), "0.94999999"),
        ({"min_coverage": 0.0}, quality(None, 1.0), "unknown"),
        ({"min_clean_rate": 0.9}, quality(None, 0.9), None),
        ({"min_clean_rate": 0.9}, quality(1.0, 0.5), "0.5"),
        ({"min_clean_rate": 0.9}, quality(1.0, float("nan")), "unknown"),
    ],
)
def test_requirements_of_runs(
    require: dict[str, float], quality: Quality, known: str | None
) -> None:
    """A run that is less complete or clean than required, or not known to be, settles nothing."""
    policy = Policy("p", (Criterion("pass_at_1"),), Requirements(**require))  # type: ignore[arg-type]
    ((name, least),) = require.items()
    label = name.removeprefix("min_").replace("_", " ")
    reported = f"the {label} of b is {known}, required is at least {least:g}"
    for change in (HOLDS, FAILS):
        actual = decide(policy, compared(change, candidate_quality=quality))
        if known is None:
            assert actual["verdict"] is (PASS if change is HOLDS else FAIL)
        else:
            assert actual["verdict"] is INCONCLUSIVE
            assert reported in actual["reasons"]
            assert reported in actual["metrics"][0]["reasons"]
    swapped = decide(policy, compared(HOLDS, base_quality=quality))
    assert swapped["verdict"] is (PASS if known is None else INCONCLUSIVE)


def test_a_metric_that_was_not_measured() -> None:
    """What the policy asks of and nobody measured is open, not passed over."""
    policy = Policy("p", (Criterion("pass_at_1"), Criterion("duration_s", margin=1)))
    actual = decide(policy, compared(HOLDS))
    assert [metric["verdict"] for metric in actual["metrics"]] == [PASS, INCONCLUSIVE]
    assert actual["verdict"] is INCONCLUSIVE
    assert actual["metrics"][1]["reasons"] == [
        "the change is unknown, over an unknown number of tasks: no interval is defined for it"
    ]


# What counts, what only warns, and what follows from both.
FIRST_DECIDES = [
    (PASS, PASS, PASS),
    (PASS, INCONCLUSIVE, WARN),
    (PASS, FAIL, WARN),
    (INCONCLUSIVE, PASS, INCONCLUSIVE),
    (INCONCLUSIVE, FAIL, INCONCLUSIVE),
    (FAIL, PASS, FAIL),
    (FAIL, FAIL, FAIL),
]


@pytest.mark.parametrize(("blocking", "tracked", "expected"), FIRST_DECIDES)
def test_blocking_and_tracked(blocking: Verdict, tracked: Verdict, expected: Verdict) -> None:
    """A blocking metric decides; a tracked one warns and never blocks."""
    criteria = (Criterion("pass_at_1"), Criterion("mean_reward", level="tracked"))
    changes = (OF[blocking], replace(OF[tracked], metric="mean_reward"))
    actual = decide(Policy("p", criteria), Compared("a", "b", changes))
    assert actual["verdict"] is expected
    assert actual["exit_code"] == {PASS: 0, WARN: 0, FAIL: 1}.get(expected, 3)


@pytest.mark.parametrize(("without", "everything", "expected"), FIRST_DECIDES)
def test_waived_tasks(without: Verdict, everything: Verdict, expected: Verdict) -> None:
    """What is left without waived tasks decides; where that makes a difference the page says so."""
    policy = Policy("p", (Criterion("pass_at_1"),), waivers=KNOWN)
    actual = decide(policy, compared(OF[everything], OF[without]))
    assert actual["verdict"] is expected
    (metric,) = actual["metrics"]
    assert (metric["verdict"], metric["with_waived"]["verdict"]) == (without, everything)
    reported = f"pass_at_1 non-inferior: {without} without the waived tasks, {everything} with them"
    assert (reported in actual["reasons"]) == (without is not everything)


def test_waived_tasks_that_are_not_there() -> None:
    """A waiver of no common task is pointed at, and is a warning."""
    waivers = tuple(Waiver(str(number), "known") for number in range(12, 27))
    policy = Policy("p", (Criterion("pass_at_1"),), waivers=waivers)
    actual = decide(policy, compared(HOLDS))
    names = ", ".join(str(number) for number in range(13, 25))
    assert actual["verdict"] is WARN
    assert actual["reasons"] == [f"waived, but not among the common tasks: {names} and 2 more"]
    assert [each["is_common"] for each in actual["waived"]] == [True, *[False] * 14]
    assert decide(policy, compared(FAILS))["verdict"] is FAIL


def test_several_candidates() -> None:
    """All must pass: the worst verdict is that of the whole, and of none nothing is known."""
    assert worst([PASS, PASS]) is PASS
    assert worst([FAIL, INCONCLUSIVE, PASS]) is FAIL
    assert worst([PASS, INCONCLUSIVE]) is INCONCLUSIVE
    assert worst([]) is INCONCLUSIVE


@pytest.mark.parametrize(
    ("criterion", "change", "lines"),
    [
        (
            Criterion("pass_at_1"),
            measured(-0.0199999, 0.0199999),
            ["the change is 0, interval -0.0199999 to +0.02, over 100 tasks: "
             "the interval is all above -0.02, with unseen tasks allowed for too "
             "(-0.0199999 to +0.02)"],
        ),
        (
            Criterion("output_tokens", "superior", 500, "lower"),
            Measured("output_tokens", 1, -12345.6, -23456.7, -499.99, -12345.6, -12345.6),
            ["the change is -12,346, interval -23,457 to -499.99, over 1 task: "
             "the interval includes -500"],
        ),
        (
            Criterion("output_tokens", "non-inferior", 1500, "lower"),
            Measured("output_tokens", 2000, 2000.0, 1600.0, 2400.0, 1000.0, 3000.0),
            ["the change is +2,000, interval +1,600 to +2,400, over 2,000 tasks: "
             "the interval is all above +1,500",
             "with the missing rollouts the change could be anything from +1,000 to +3,000, "
             "and that includes +1,500"],
        ),
        (
            Criterion("pass_at_1"),
            replace(measured(-0.01, 0.01, wide=(-0.036, 0.036)), value_range=1.0, n_unshared=3),
            ["the change is 0, interval -0.01 to +0.01, over 100 tasks: "
             "the interval is all above -0.02",
             "but a share of tasks that 100 tasks may not show could make it -0.036; "
             "at this margin it takes at least 183 tasks"],
        ),
        (
            Criterion("pass_at_1"),
            replace(measured(-0.01, 0.01, bounds=(-0.05, 0.0)), n_unshared=3),
            ["the change is 0, interval -0.01 to +0.01, over 100 tasks: "
             "the interval is all above -0.02",
             "with the missing rollouts and 3 tasks that only one run has the change could be "
             "anything from -0.05 to 0, and that includes -0.02"],
        ),
        (
            Criterion("pass_at_1", "superior", 0.0),
            replace(measured(0.01, 0.05), n_candidates=19, p_superior=0.08),
            ["the change is +0.03, interval +0.01 to +0.05, over 100 tasks: "
             "the interval is all above 0; the test, p = 0.001",
             "among 19 candidates p = 0.08 by Holm"],
        ),
    ],
)  # fmt: skip
def test_reasons(criterion: Criterion, change: Measured, lines: list[str]) -> None:
    """Reasons give the numbers, with as many digits as keep them on their side."""
    assert decided(criterion, change)["metrics"][0]["reasons"] == lines


@pytest.mark.parametrize(
    ("n_tasks", "expected"), [(20, PASS), (19, INCONCLUSIVE), (None, INCONCLUSIVE)]
)
def test_required_tasks(n_tasks: int | None, expected: Verdict) -> None:
    """A change over too few tasks settles nothing."""
    actual = decided(Criterion("pass_at_1"), replace(HOLDS, n_tasks=n_tasks), min_common_tasks=20)
    assert actual["verdict"] is expected
    reported = " ".join(actual["metrics"][0]["reasons"])
    assert ("required are at least 20" in reported) == (expected is INCONCLUSIVE)


def test_what_is_no_number_is_undefined() -> None:
    """NaN and infinity count as unknown, and reach neither JSON nor a verdict."""
    for name, value in product(
        ("delta", "low", "high", "bound_low", "bound_high"), (float("nan"), float("inf"))
    ):
        actual = decided(Criterion("pass_at_1"), replace(HOLDS, **{name: value}))
        assert actual["verdict"] is INCONCLUSIVE
        json.dumps(actual, allow_nan=False)


def test_page_of_several_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict on all comes first; waivers are shown with their reasons, inert and bounded."""
    waivers = (*KNOWN, Waiver("\x07\x1bred", "line\nbreak " + "x" * 5000))
    policy = Policy("policy.toml", (Criterion("pass_at_1"),), waivers=waivers)
    second = compared(FAILS, HOLDS, candidate="c\x1b]0;title\x07")
    print_gate([decide(policy, compared(FAILS)), decide(policy, second)])
    printed = capsys.readouterr().out
    assert printed.startswith("FAIL  1 of 2 candidates pass; all of them must\n\nFAIL  b vs a")
    assert "WARN  c\\x1b]0;title\\x07 vs a, by policy.toml" in printed
    assert "  task 12  the answer key is wrong\n" in printed
    assert "  task \\x07\\x1bred (not a common task)  line\\nbreak xxx" in printed
    assert "  -  waived, but not among the common tasks: \\x07\\x1bred\n" in printed
    assert "pass_at_1 non-inferior   PASS               100   FAIL             100\n" in printed
    assert "\x1b" not in printed and "\x07" not in printed
    assert len(printed) < 5000
