"""Buckets that change by noise alone, against all relabellings and against simulated reruns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.analysis import ledgers

Counts = list[tuple[int, int, int]]  # repeats of base and candidate, passes of both
tasks = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
        lambda n: st.tuples(st.just(n[0]), st.just(n[1]), st.integers(0, sum(n)))
    ),
    max_size=6,
)


def bucket(passed: int, n: int) -> int:
    return 0 if passed == n else 2 if passed == 0 else 1


def expected(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    columns = np.array(counts, dtype=np.int64).reshape(-1, 3).T
    return ledgers.expected_transitions(*columns)


@given(tasks)
def test_enumeration(counts: Counts) -> None:
    """Expected tasks and changes are the means over all ways to deal rollouts out."""
    n_tasks, amounts = np.zeros((3, 3)), np.zeros((3, 3))
    for n_base, n_candidate, n_passed in counts:
        ways = list(combinations(range(n_base + n_candidate), n_base))
        for chosen in ways:
            base = sum(place < n_passed for place in chosen)
            candidate = n_passed - base
            cell = bucket(base, n_base), bucket(candidate, n_candidate)
            n_tasks[cell] += 1 / len(ways)
            amounts[cell] += (candidate / n_candidate - base / n_base) / len(ways)
    found = expected(counts)
    assert found[0] == pytest.approx(n_tasks, abs=1e-9)
    assert found[1] == pytest.approx(amounts, abs=1e-9)


def test_by_hand() -> None:
    """One pass in 1 + 1 repeats is the base's as often as the candidate's."""
    n_tasks, amounts = expected([(1, 1, 1)] * 10)
    assert n_tasks.tolist() == [[0, 0, 5], [0, 0, 0], [5, 0, 0]]
    assert amounts.tolist() == [[0, 0, -5], [0, 0, 0], [5, 0, 0]]


def test_equal_models() -> None:
    """Two equal runs of 500 tasks x 8 change the bucket of as many tasks as expected.

    Rates are uniform: a run always passes in 1/9 of tasks, both in 1/17, and so for never. Both do
    something between in 1 - 4/9 + 2/17 and hardly more; 104.6 of 500 tasks are left to change.
    """
    random = np.random.default_rng(1)
    eight, seen, foretold = np.full(500, 8), [], []
    for _ in range(60):
        rate = random.random(500)
        base, candidate = random.binomial(8, rate), random.binomial(8, rate)
        n_tasks, _ = ledgers.expected_transitions(eight, eight, base + candidate)
        foretold.append(n_tasks.sum() - np.trace(n_tasks))
        buckets = [np.where(run == 8, 0, np.where(run == 0, 2, 1)) for run in (base, candidate)]
        seen.append(np.count_nonzero(buckets[0] != buckets[1]))
    assert np.mean(foretold) == pytest.approx(np.mean(seen), abs=4 * np.std(seen) / np.sqrt(60))
    assert np.mean(foretold) == pytest.approx(500 * (4 / 9 - 4 / 17), abs=2)
