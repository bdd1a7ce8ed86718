"""What is said of changes holds what is promised: simulated runs, more of them when slow."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench import decisions
from tests.bench.decisions import CALLED, constant, few_hard, lossy, simulated, uniform


@pytest.mark.parametrize("repeats", [(5, 5), (8, 4), (8, 1)])
def test_equal_runs_are_seldom_told_apart(repeats: tuple[int, int]) -> None:
    """Whatever their repeats, a change is called about once in twenty."""
    assert simulated(100, repeats, n_pairs=400).fired() <= 0.08


@pytest.mark.slow
def test_losing_failures_is_no_improvement() -> None:
    """Rows or whole tasks, whether or not anything says what was expected."""
    pairs = simulated(100, (8, 8), n_pairs=400, seed=5)
    for whole in (False, True):
        for is_known in (True, False):
            lost = lossy(pairs, whole=whole, is_expected_known=is_known)
            assert (lost.verdicts() == "improved").mean() <= 0.05


def test_the_interval_alone_would_not_do() -> None:
    """Eight repeats against one at a rate of 0.02: the interval calls many that tests do not."""
    pairs = simulated(100, (8, 1), rates=constant(0.02), n_pairs=400)
    rows = pairs.rows()
    by_interval = decisions.comparison_tests(
        rows.set_column(rows.schema.get_field_index("p_any"), "p_any", [[0.0] * len(rows)])
    )["ci_new_tasks_high"].to_numpy()
    assert (by_interval < 0).mean() > 0.1
    assert pairs.fired() <= 0.06


@pytest.mark.slow
def test_many_equal_candidates() -> None:
    """Of nineteen some look changed in a quarter of folders; with all allowed for, hardly ever."""
    pairs = simulated(100, (4, 4), n_pairs=60, n_candidates=19, seed=3)
    alone = pairs.verdicts(n_candidates=19)
    allowed = pairs.verdicts(n_candidates=19, column="verdict_holm")
    assert np.isin(alone, CALLED).any(axis=1).mean() >= 0.2
    assert np.isin(allowed, CALLED).any(axis=1).mean() <= 0.12


@pytest.mark.parametrize("rates", [uniform, constant(0.02), constant(0.98), few_hard])
def test_intervals_of_few_tasks(rates: decisions.Rates) -> None:
    """Ten tasks tried once, or twenty tried eight times: the truth is inside."""
    assert min(decisions.coverage(n, k, rates) for n, k in ((10, 1), (20, 8))) >= 0.93


@pytest.mark.slow
def test_every_line_of_the_table() -> None:
    """What `make bench` prints holds, line by line, with fewer trials."""
    assert [str(line) for line in decisions.lines(240, 600) if not line.is_near] == []
