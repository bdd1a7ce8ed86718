"""Tests within tasks against published figures, exact counts, scipy and simulated truth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from pipeline.analysis import separation, stats
from tests import separation_reference as reference
from tests.separation_reference import Table

# Admissions to Berkeley, 1973, six departments: men admitted and rejected, women likewise. The
# example of R's mantelhaen.test.
BERKELEY: list[Table] = [
    (512, 313, 89, 19),
    (353, 207, 17, 8),
    (120, 205, 202, 391),
    (138, 279, 131, 244),
    (53, 138, 94, 299),
    (22, 351, 24, 317),
]
cells = st.tuples(*[st.integers(0, 5)] * 4).filter(lambda t: t[0] + t[1] > 0 and t[2] + t[3] > 0)
tasks = st.lists(cells, min_size=1, max_size=5)


def sums(tables: list[Table]) -> dict[str, stats.Numbers]:
    """What SQL sums over the tables, here in exact arithmetic."""
    found = dict.fromkeys(
        ("up", "down", "null_variance", "spread_up", "spread_across", "spread_down"), Fraction(0)
    )
    for a, b, c, d in tables:
        n = a + b + c + d
        up, down, agreeing = Fraction(a * d, n), Fraction(b * c, n), Fraction(a + d, n)
        found["up"] += up
        found["down"] += down
        found["null_variance"] += Fraction(
            (a + b) * (c + d) * (a + c) * (b + d), n * n * max(n - 1, 1)
        )
        found["spread_up"] += agreeing * up
        found["spread_across"] += agreeing * down + (1 - agreeing) * up
        found["spread_down"] += (1 - agreeing) * down
    return {name: np.array([float(value)]) for name, value in found.items()}


def p_value(tables: list[Table]) -> float:
    own = sums(tables)
    return float(separation.association_p_value(own["up"], own["down"], own["null_variance"])[0])


def odds_ratio(tables: list[Table]) -> tuple[float, ...]:
    own = sums(tables)
    own.pop("null_variance")
    return tuple(float(part[0]) for part in separation.common_odds_ratio(**own))


def strata(tables: list[Table]) -> list[separation.Stratum]:
    return [(a + b, c + d, a + c, 1) for a, b, c, d in tables]


def test_berkeley() -> None:
    """R's published figures: X-squared 1.5246, ratio 0.9046968, 0.7719074 to 1.0603298."""
    statistic = reference.cmh(BERKELEY)
    assert statistic is not None
    assert float(statistic) == pytest.approx(1.5246, abs=5e-5)
    corrected = reference.cmh(BERKELEY, correction=Fraction(1, 2))
    assert corrected is not None and float(corrected) == pytest.approx(1.4269, abs=5e-5)
    assert p_value(BERKELEY) == pytest.approx(0.2169, abs=5e-5)
    published = (0.9046968, 0.7719074, 1.0603298)
    assert odds_ratio(BERKELEY) == pytest.approx(published, abs=5e-8)


@given(tasks)
def test_association(tables: list[Table]) -> None:
    """p, ratio and interval are those of exact arithmetic; undefined is NaN."""
    expected = reference.p_value(reference.cmh(tables))
    found = p_value(tables)
    assert math.isnan(found) if expected is None else found == pytest.approx(expected, rel=1e-9)
    ratio, low, high = odds_ratio(tables)
    truth, ends = reference.odds_ratio(tables), reference.interval(tables)
    assert math.isnan(ratio) if truth is None else ratio == pytest.approx(float(truth))
    if ends is None:
        assert math.isnan(low) and math.isnan(high)
    else:
        assert (low, high) == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize(
    "tables",
    [
        [(3, 2, 1, 4)] * 12,
        [(2, 2, 1, 3)] * 8 + [(1, 3, 3, 1)] * 5,
        [(4, 4, 2, 6), (5, 3, 4, 4), (6, 2, 2, 6)] * 3,
        [(1, 1, 0, 2)] * 10 + [(0, 1, 3, 0)] * 2,
        [(20, 30, 10, 40)],
    ],
)
def test_close_to_exact(tables: list[Table]) -> None:
    """Where tasks are many or large p is halfway between the exact tails without and with ties."""
    middle = sum(reference.exact_p_values(tables)) / 2
    assert p_value(tables) == pytest.approx(float(middle), abs=0.01)


def test_tied_sides() -> None:
    """Sums that differ by rounding alone are alike: no lean, and p is 1."""
    up, down = np.array([0.1 + 0.2]), np.array([0.3])
    assert up != down
    assert separation.lean(up, down) == 0 == separation.lean(np.zeros(1), np.zeros(1))
    assert separation.association_p_value(up, down, np.array([0.5])) == 1


@pytest.mark.parametrize("table", [(5, 0, 0, 5), (2, 0, 1, 3), (4, 0, 0, 1), (7, 1, 0, 9)])
def test_edge_of_one_task(table: Table) -> None:
    """The bound of one task is Fisher's conditional one, as scipy has it."""
    a, b, c, d = table
    exact = scipy_stats.contingency.odds_ratio([[a, b], [c, d]]).confidence_interval(0.95)
    assert exact.high == math.inf
    assert separation.edge_ratio_bound([strata([table])])[0] == pytest.approx(exact.low, rel=1e-9)


@given(st.lists(tasks, min_size=1, max_size=3))
def test_edge_of_many_tasks(behaviours: list[list[Table]]) -> None:
    """Under the bound what was seen has a chance of 2.5%, whatever other behaviours there are."""
    pushed = [
        [
            (a + move, b - move, c - move, d + move)
            for a, b, c, d in tables
            for move in [min(b, c)]
            if 0 < a + c < a + b + c + d
        ]
        for tables in behaviours
    ]
    pushed = [tables for tables in pushed if tables]
    found = separation.edge_ratio_bound([strata(tables) for tables in pushed])
    for tables, bound in zip(pushed, found, strict=True):
        assert reference.most_chance(tables, float(bound)) == pytest.approx(0.025, rel=1e-6)


def test_edges_are_weighted_by_tasks() -> None:
    """Ten tasks alike are ten tasks; large ones keep their digits; none at all has no bound."""
    (ten,) = separation.edge_ratio_bound([[(2, 3, 2, 10)]])
    assert ten == pytest.approx(separation.edge_ratio_bound([[(2, 3, 2, 1)] * 10])[0])
    (large,) = separation.edge_ratio_bound([[(1000, 1, 1, 1)]])
    assert large == pytest.approx(0.025 / 0.975 / 1000)
    assert len(separation.edge_ratio_bound([])) == 0


differences = st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=8)


@given(differences.filter(lambda values: len(set(values)) > 1))
def test_paired(values: list[float]) -> None:
    """The p and interval of a mean difference are those of scipy's t test."""
    exact = scipy_stats.ttest_1samp(values, 0)
    ends = exact.confidence_interval(0.95)
    p, low, high = paired(values)
    assert p == pytest.approx(exact.pvalue, rel=1e-9)
    assert (low, high) == pytest.approx((ends.low, ends.high), abs=1e-9)


def paired(values: list[float]) -> tuple[float, ...]:
    mean = np.array([np.mean(values)])
    se = np.array([np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else np.nan])
    n, scale = np.array([float(len(values))]), np.array([max(map(abs, values))])
    return tuple(float(part[0]) for part in separation.paired_test(mean, se, n, scale=scale))


@pytest.mark.parametrize(
    ("values", "p"),
    [([3.0] * 5, 2 / 2**5), ([-1.0, -1.0], 0.5), ([0.1 + 0.2, 0.3, 0.3], 0.25), ([0.0] * 4, 1.0)],
)
def test_paired_without_spread(values: list[float], p: float) -> None:
    """Differences that are all alike are judged by their signs, and have no interval."""
    found, low, high = paired(values)
    assert found == p
    assert math.isnan(low) and math.isnan(high)


chances = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.04, 0.3, 0.5, 1.0]), max_size=9)


@given(chances, st.integers(0, 3))
def test_q_values(p_values: list[float], n_untested: int) -> None:
    """Benjamini and Hochberg's, as scipy and the definition have it; the undefined take no part."""
    found = stats.q_values(np.array([*p_values, *[np.nan] * n_untested]))
    assert np.isnan(found[len(p_values) :]).all()
    if p_values:
        tested = found[: len(p_values)]
        assert tested == pytest.approx(scipy_stats.false_discovery_control(p_values))
        assert tested == pytest.approx(reference.q_values(p_values))


N_TRIALS, N_TASKS, N_REPEATS = 2000, 30, 6


def chance_trials(seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Passes of sometimes-pass tasks, and how readily each task does what is looked at."""
    random = np.random.default_rng(seed)
    shape = (N_TRIALS, N_TASKS, N_REPEATS)
    passed = random.random(shape) < random.uniform(0.2, 0.8, size=shape[:2])[..., None]
    is_mixed = passed.any(axis=2) & ~passed.all(axis=2)
    return passed, is_mixed, random


def test_false_finds_of_behaviours() -> None:
    """A behaviour that has nothing to do with passing is found at the 5% level in about 5%."""
    passed, is_mixed, random = chance_trials(1)
    does = random.random(passed.shape) < random.uniform(0.1, 0.9, size=passed.shape[:2])[..., None]
    a, c = (does & passed).sum(axis=2), (does & ~passed).sum(axis=2)
    b, d = (~does & passed).sum(axis=2), (~does & ~passed).sum(axis=2)
    n = N_REPEATS
    variance = (a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))
    up, down, total = (
        np.where(is_mixed, part, 0).sum(axis=1) for part in (a * d / n, b * c / n, variance)
    )
    rate = (separation.association_p_value(up, down, total) <= 0.05).mean()
    assert 0.035 <= rate <= 0.065


def test_false_finds_of_numbers() -> None:
    """A number that has nothing to do with passing likewise, skewed as token counts are."""
    passed, is_mixed, random = chance_trials(2)
    value = random.lognormal(5, 1, size=passed.shape)
    n_passed = passed.sum(axis=2)
    with np.errstate(all="ignore"):
        of_passes = np.where(passed, value, 0).sum(axis=2) / n_passed
        of_failures = np.where(passed, 0, value).sum(axis=2) / (N_REPEATS - n_passed)
    difference = np.where(is_mixed, of_passes - of_failures, np.nan)
    mean, n = np.nanmean(difference, axis=1), is_mixed.sum(axis=1).astype(float)
    se = np.nanstd(difference, axis=1, ddof=1) / np.sqrt(n)
    scale = np.full(N_TRIALS, float(value.max()))
    p, _, _ = separation.paired_test(mean, se, n, scale=scale)
    assert 0.035 <= (p <= 0.05).mean() <= 0.065
