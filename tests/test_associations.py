"""Which signs count, and what they go with, against enumeration and figures worked by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, sqrt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtrc, stdtrit

from pipeline.analysis.associations import common_p_value
from tests.mode_cases import CLEAN, LOOKED, TRIED, WROTE, Step, no, ok
from tests.results import Results, Row, analyzed, rollout

Task = tuple[int, int, int]
strata = st.tuples(st.integers(2, 5), st.integers(1, 4), st.integers(1, 4)).filter(
    lambda task: task[1] < task[0] and task[2] < task[0]
)


def enumerated(tasks: list[Task], n_observed: int) -> Fraction:
    """All ways to place each task's signs on its attempts, the first of which are failures."""
    hits = total = 0
    for placed in product(*(combinations(range(n), signed) for n, _, signed in tasks)):
        n_hit = sum(
            place < failed for (_, failed, _), at in zip(tasks, placed, strict=True) for place in at
        )
        hits, total = hits + (n_hit >= n_observed), total + 1
    return Fraction(hits, total)


@given(st.lists(strata, min_size=1, max_size=3), st.integers(0, 8))
def test_the_chance_of_signed_failures(tasks: list[Task], n_observed: int) -> None:
    """The p-value is the share of all placements with as many signed failures or more."""
    found = common_p_value(Counter(tasks), n_observed)
    assert found == pytest.approx(float(enumerated(tasks, n_observed)), abs=1e-12)


def test_many_tasks_alike() -> None:
    """A hundred tasks of two attempts, one signed: a binomial, far beyond enumeration."""
    found = common_p_value(Counter({(2, 1, 1): 100}), 70)
    assert found == pytest.approx(float(bdtrc(69, 100, 0.5)), rel=1e-9)


# Attempts at each task: s bears the sign, a capital passes.
TASKS = ["ssuU", "sSUU", "ssUU", "sUUU", "ssss", "UUUU"] + ["sU"] * 4
STEPS: dict[str, tuple[Step, ...]] = {"s": (LOOKED, TRIED, TRIED, TRIED), "u": (LOOKED, WROTE)}


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run whose failures thrash more often than its passes."""
    rows: list[Row] = []
    for task, attempts in enumerate(TASKS):
        for index, each in enumerate(attempts):
            made = ok if each.isupper() else no
            rows.append(rollout(task, index, **made(*STEPS[each.lower()], f"{task} {index}")))
    needs = ["associations", "mode_tests", "rollout_modes", "recommendations"]
    return analyzed(tmp_path_factory.mktemp("signed"), {"a_rollouts.jsonl": rows}, needs=needs)


def test_a_sign_that_separates(signed: Results) -> None:
    """The p-value by hand: tasks with both kinds of attempt and both verdicts, enumerated."""
    tasks = [(4, 3, 2), (4, 1, 2), (4, 2, 2), (4, 1, 1), *[(2, 1, 1)] * 4]
    n_observed = 2 + 1 + 2 + 1 + 4
    (row,) = signed.rows("""
        select n_signed, n_signed_failed, n_passes, p_value, is_counted from mode_tests
        where sign = 'THRASH'
    """)
    assert row[:3] == (15, 14, 17) and row[4]
    assert row[3] == pytest.approx(float(enumerated(tasks, n_observed)), rel=1e-9)


def test_what_it_goes_with(signed: Results) -> None:
    """The Mantel-Haenszel risk difference, worked task by task; never-pass tasks are counted."""
    # Signed and unsigned attempts, and the passes of each.
    tables = [(2, 2, 0, 1), (2, 2, 1, 2), (2, 2, 0, 2), (1, 3, 0, 3), *[(1, 1, 0, 1)] * 4]
    weights = [Fraction(s * u, s + u) for s, u, _, _ in tables]
    parts = [
        weight * (Fraction(right, u) - Fraction(wrong, s))
        for weight, (s, u, wrong, right) in zip(weights, tables, strict=True)
    ]
    difference = sum(parts) / sum(weights)
    assert difference == Fraction(19, 23)
    (row,) = signed.rows("""
        select share, n_signed, n_unsigned, n_tasks, n_never_tasks, risk_difference, points,
            risk_low, risk_high, ci_low, ci_high
        from associations where sign = 'THRASH'
    """)
    assert row[1:5] == (15, 17, 8, 1)
    assert row[0] == 15 / 32 and row[5] == pytest.approx(float(difference))
    assert row[6] == pytest.approx(100 * 15 / 32 * float(difference))
    # Each task left out in turn.
    left_out = [
        (sum(parts) - part) / (sum(weights) - weight)
        for part, weight in zip(parts, weights, strict=True)
    ]
    n = len(tables)
    jackknife = sqrt((n - 1) / n * sum((each - difference) ** 2 for each in left_out))
    n_tried = signed.one("select n_tried from mode_tests where sign = 'THRASH'")
    t = stdtrit(n - 1, 1 - 0.025 / n_tried)
    # No surer than attempts alone would have it.
    assert row[7] <= float(difference) - t * jackknife + 1e-9
    assert row[8] == 1 or row[8] - row[5] == pytest.approx(row[5] - row[7])
    assert (row[9], row[10]) == pytest.approx((100 * row[0] * row[7], 100 * row[0] * row[8]))


@pytest.mark.slow
def test_nothing_is_promised_of_never_pass_tasks(tmp_path: Path) -> None:
    """Where every task with the sign never passes, it counts and goes with no figure."""
    # Of different lengths: what all end at alike would be a cap.
    rows = [rollout(n % 2, n // 2, **no(*[LOOKED] * n, *STEPS["s"], f"{n} of 4")) for n in range(4)]
    rows += [rollout(task, 0, **ok(*CLEAN)) for task in range(2, 14)]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, needs=["associations", "rollout_modes"])
    modes = found.column("select distinct mode from rollout_modes where is_primary")
    assert modes == ["THRASH"] and found.rows("from associations") == []


@pytest.mark.slow
def test_signs_without_effect(tmp_path: Path) -> None:
    """As common in passes as in failures of every task: p is what chance gives, and none counts."""
    rows = [
        rollout(task, n, **(ok if n % 2 else no)(*STEPS["s" if n < 2 else "u"], f"{task} {n}"))
        for task in range(3)
        for n in range(4)
    ]
    needs = ["mode_tests", "rollout_modes"]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, needs=needs)
    ((p_value, is_counted),) = found.rows(
        "select p_value, is_counted from mode_tests where sign = 'THRASH'"
    )
    # Of each task one signed failure: 4 of 6 placements; two in 1 of 6.
    assert p_value == pytest.approx(float(enumerated([(4, 2, 2)] * 3, 3)))
    assert comb(4, 2) == 6 and not is_counted
    assert found.column("select distinct mode from rollout_modes") == ["UNEXPLAINED"]
