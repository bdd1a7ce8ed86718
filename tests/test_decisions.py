"""Verdicts on changes keep what is promised: simulated runs, more of them when slow."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from pipeline.analysis import stats
from tests.bench import decisions
from tests.bench.decisions import broken, constant, few_hard, looks, lossy, simulated, uniform

slow = partial(pytest.param, marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [slow((5, 5)), slow((8, 4)), (8, 1)])
def test_equal_runs_are_seldom_distinguished(repeats: tuple[int, int]) -> None:
    """With any number of repeats, a change is called about once in twenty."""
    assert simulated(100, repeats, n_pairs=200).fired() <= 0.09


@pytest.mark.slow
def test_losing_failures_is_no_improvement() -> None:
    """Rows or whole tasks, whether or not anything says what was expected."""
    pairs = simulated(100, (8, 8), n_pairs=400, seed=5)
    for whole in (False, True):
        for is_known in (True, False):
            lost = lossy(pairs, whole=whole, is_expected_known=is_known)
            assert (lost.column("verdict") == "improved").mean() <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [slow((1, 8)), (8, 1)])
def test_one_repeat_against_eight(repeats: tuple[int, int]) -> None:
    """Twenty tasks that pass nearly always: neither interval nor gate finds a change."""
    pairs = simulated(20, repeats, rates=constant(0.95), n_pairs=300)
    assert pairs.excludes_zero() <= 0.06
    assert (pairs.gated() == "FAIL").mean() <= 0.025


@pytest.mark.slow
def test_tasks_that_leave_no_row_do_not_pass_a_gate() -> None:
    """Five tasks in a hundred break: with 200 of them the gate is not passed by silence."""
    pairs = broken(simulated(200, (4, 4), n_pairs=80), 0.05, is_lost=True)
    assert pairs.passed() <= 0.05
    whole = simulated(200, (8, 8), rates=constant(1.0), n_pairs=20)
    assert whole.passed() == 1


@pytest.mark.slow
def test_few_tasks_do_not_show_that_nothing_broke() -> None:
    """Two tasks in a hundred break: fifty seldom show one, and the gate does not pass."""
    whole = simulated(50, (8, 8), rates=constant(0.99), n_pairs=200)
    assert broken(whole, 0.02, is_lost=False).passed() <= 0.03
    assert whole.passed() <= 0.03
    assert not (whole.column("verdict") == "no change").any()


def test_holm_goes_by_both_tests() -> None:
    """Eight against one: the larger of both p of each candidate is what is adjusted."""
    pairs = simulated(60, (8, 1), rates=constant(0.9), n_pairs=2, n_candidates=19)
    p_mean, p_any, p_holm = (pairs.column(name) for name in ("p_mean", "p_any", "p_holm"))
    assert (p_any > p_mean).any() and (p_any < p_mean).any()
    for folder, largest in enumerate(np.maximum(p_mean, p_any)):
        assert p_holm[folder].tolist() == pytest.approx(stats.holm(largest).tolist())


@pytest.mark.slow
def test_looking_again_and_again() -> None:
    """Ten looks at equal runs call a change more often than one; held together they do not."""
    once, together = (looks(60, is_growing=is_growing) for is_growing in (False, True))
    assert once.fired() >= 0.1
    assert together.fired() <= 0.05
    assert not (together.column("verdict") == "no change").any()


@pytest.mark.exhaustive
@pytest.mark.slow
def test_many_equal_candidates() -> None:
    """Of nineteen some look changed in a quarter of folders; with all allowed for, hardly ever."""
    pairs = simulated(100, (4, 4), n_pairs=60, n_candidates=19, seed=3)
    assert pairs.fired() >= 0.2
    assert pairs.fired("verdict_holm") <= 0.12
    assert pairs.passed(rule="superior", margin=0.0) <= 0.12


@pytest.mark.parametrize("rates", [uniform, constant(0.02), constant(0.98), few_hard])
def test_intervals_of_few_tasks(rates: decisions.Rates) -> None:
    """Ten tasks tried once, or twenty tried eight times: the truth is inside."""
    assert min(decisions.coverage(n, k, rates) for n, k in ((10, 1), (20, 8))) >= 0.93


@pytest.mark.slow
def test_intervals_where_hardly_a_task_fails() -> None:
    """One task in a hundred, or pass@4 near 1: Wilson's alone covers 90 and 85 of 100."""
    assert all(line.holds for line in decisions.few_failures(1000))
