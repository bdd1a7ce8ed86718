"""The steps of a funnel against all orders to change them in."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.analysis import ledgers

NAN = math.nan


def value(steps: list[float], endings: list[float]) -> float:
    """The mean of where rollouts end: what goes on at each step, times what is reached beyond."""
    if not steps:
        return endings[0]
    return (1 - steps[0]) * endings[0] + steps[0] * value(steps[1:], endings[1:])


def by_orders(base: list[float], candidate: list[float], endings: list[float]) -> list[float]:
    """What each step adds when it is changed, the mean over all orders."""
    orders = list(permutations(range(len(base))))
    added = [0.0] * len(base)
    for order in orders:
        steps = list(base)
        for step in order:
            before = value(steps, endings)
            steps[step] = candidate[step]
            added[step] += (value(steps, endings) - before) / len(orders)
    return added


def filled(own: list[float], other: list[float]) -> list[float]:
    taken = [b if math.isnan(a) else a for a, b in zip(own, other, strict=True)]
    return [0.0 if math.isnan(a) else a for a in taken]


def rates(n: int) -> st.SearchStrategy[list[float]]:
    return st.lists(st.floats(0, 1) | st.just(NAN), min_size=n, max_size=n)


funnels = st.integers(0, 5).flatmap(
    lambda n: st.tuples(rates(n), rates(n), rates(n + 1), rates(n + 1))
)


@given(funnels)
def test_shapley_steps(funnel: tuple[list[float], ...]) -> None:
    """Each step's amount is its mean over all orders; all amounts sum to the change."""
    steps, endings = ledgers.shapley_steps(*(np.array(part) for part in funnel))
    base, candidate = filled(funnel[0], funnel[1]), filled(funnel[1], funnel[0])
    before, after = filled(funnel[2], funnel[3]), filled(funnel[3], funnel[2])
    middle = [(a + b) / 2 for a, b in zip(before, after, strict=True)]
    assert steps.tolist() == pytest.approx(by_orders(base, candidate, middle), abs=1e-12)
    whole = value(candidate, after) - value(base, before)
    assert steps.sum() + endings.sum() == pytest.approx(whole, abs=1e-12)
    swapped = ledgers.shapley_steps(*(np.array(funnel[place]) for place in (1, 0, 3, 2)))
    assert swapped[0] == pytest.approx(-steps, abs=1e-12)
    assert swapped[1] == pytest.approx(-endings, abs=1e-12)
