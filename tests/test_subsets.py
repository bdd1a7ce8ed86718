"""Subsets of many attempts: in any form, they are the sets that they stand for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.analysis.subsets import Selection, Subset, union

N = 30
sets = st.sets(st.integers(0, N - 1))


def some(places: set[int]) -> Subset:
    return Subset(N, np.array(sorted(places), dtype=np.int64))


def flags(places: set[int]) -> np.ndarray:
    return np.isin(np.arange(N), list(places))


@given(one=sets, other=sets)
def test_some_are_sets(one: set[int], other: set[int]) -> None:
    """Counts, what two share, and what one has alone."""
    left, right = some(one), some(other)
    assert left.places.tolist() == sorted(one) and (left.flags == flags(one)).all()
    assert (left.size, left.n) == (len(one), N)
    assert Subset.of(flags(one)).places.tolist() == sorted(one)
    assert left.count(flags(other)) == left.n_shared(right) == len(one & other)
    assert left.has(np.array(sorted(other), dtype=np.int64)).tolist() == [
        place in one for place in sorted(other)
    ]
    for again in (right, flags(other)):
        assert (left & again).places.tolist() == sorted(one & other)
        assert (left - again).places.tolist() == sorted(one - other)
    assert union([left, right]).places.tolist() == sorted(one | other)
    assert left.places.tolist() == sorted(one)


@given(one=sets, looked_at=sets)
def test_attempts_that_are_looked_at_have_numbers_of_their_own(
    one: set[int], looked_at: set[int]
) -> None:
    """Places count among those that are looked at, the first of which is 0."""
    selection, own = Selection(flags(looked_at)), some(one)
    expected = [number for number, place in enumerate(sorted(looked_at)) if place in one]
    assert selection.size == len(looked_at) and selection.count(own) == len(expected)
    part, cached = selection.part(own), selection.cached_part(own)
    assert part.places.tolist() == cached.places.tolist() == expected
    assert part.n == len(looked_at) and selection.cached_part(own) is cached


def test_few_take_little_memory() -> None:
    """Four bytes for each of few, one for each of all where there are many."""
    few, many = (Subset(1_000_000, np.arange(n)) for n in (10, 900_000))
    assert few._chosen.nbytes == 40 and many._chosen.nbytes == 1_000_000
