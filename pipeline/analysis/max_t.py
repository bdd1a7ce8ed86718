"""Many signs tested at once: p-values that allow for all of them (max-T)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .signs import Integers, Numbers, Sign
from .subsets import Flags, Places, Subset

N_PERMUTATIONS = 999
# With so many attempts fewer permutations tell as much, and memory and time stay bounded.
MANY_ATTEMPTS = 20_000
FEWER_PERMUTATIONS = 199
# Permutations at a time, and at most so many outcomes of them.
CHUNK = 100
MOST_DRAWN = 1 << 24
# Weights of attempts by sign that are in memory at a time.
MOST_WEIGHTS = 1 << 24
# Of many signs, those that at most this part of the attempts decide are summed over these alone.
SPARSE_SHARE = 1 / 8
# Attempts of such signs that are in one block.
MOST_PLACES = 1 << 17
# A standard deviation below this is rounding: nothing varies.
LEAST_SCALE = 1e-9
# Sums have variance 1 and are in float32: equal ones may differ by this much in their rounding.
ROUNDING = 1e-4

Columns = npt.NDArray[np.float32]
Entries = tuple[Integers, Numbers]
# The beginning and the end of a stratum in a sorted array, for np.searchsorted.
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


def max_t(signs: Sequence[Sign], strata: Integers, outcome: Flags | Numbers) -> Numbers:
    """Step-down adjusted p-values of Westfall and Young: outcomes are shuffled within strata.

    Strata are groups of attempts, such as runs, whose outcomes may be exchanged. The test is
    one-sided: p is small if attempts with the sign have larger outcomes, such as more failures or
    higher ranks. Step-down: the sum of a sign is compared with the largest among it and all signs
    with smaller sums.
    """
    if not signs or not len(outcome):
        return np.ones(len(signs))
    tests = _Tests(signs, strata, outcome)
    observed = tests.sums(tests.values.astype(np.float32)[:, None])[:, 0]
    is_usable = np.isfinite(observed)
    ranks = np.argsort(-observed, kind="stable")
    n_draws = n_permutations(len(outcome))
    n_beyond = np.zeros(len(signs))
    for shuffled in _shuffles(tests.values, tests.strata, n_draws):
        # The largest of this sign and of all that come after it.
        largest = np.maximum.accumulate(tests.sums(shuffled)[ranks][::-1], axis=0)[::-1]
        n_beyond += (largest >= observed[ranks][:, None] - ROUNDING).sum(axis=1)
    p_values = np.ones(len(signs))
    p_values[ranks] = np.maximum.accumulate((n_beyond + 1) / (n_draws + 1))
    p_values[~is_usable] = 1
    return p_values


def n_permutations(n_attempts: int) -> int:
    """How many permutations test signs of so many attempts."""
    return N_PERMUTATIONS if n_attempts <= MANY_ATTEMPTS else FEWER_PERMUTATIONS


def _shuffles(outcome: Numbers, strata: Integers, n_draws: int) -> Iterator[Columns]:
    """Columns of outcomes, each shuffled within strata; strata of one size at once."""
    generator = np.random.default_rng(0)
    sizes = np.bincount(strata)
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    n_at_once = min(CHUNK, max(MOST_DRAWN // len(outcome), 1))
    for first in range(0, n_draws, n_at_once):
        n = min(n_at_once, n_draws - first)
        drawn = np.empty((len(outcome), n), dtype=np.float32)
        for size in np.unique(sizes):
            places = starts[sizes == size][:, None] + np.arange(size)
            block = np.repeat(outcome[places].astype(np.float32)[:, :, None], n, axis=2)
            drawn[places] = generator.permuted(block, axis=1, out=block)
        yield drawn


@dataclass(frozen=True, eq=False)
class _SparseBlock:
    """Signs whose sums need few attempts: the places of these, and a weight for each."""

    numbers: list[int]
    places: Places
    weights: Columns


class _Tests:
    """Sums of outcomes for each sign that have mean 0 and variance 1 when outcomes are shuffled.

    Attempts are in the order of their strata. Weights of few signs are computed once; of many, only
    those of one block are in memory, and signs of few attempts have no weights but for these.
    """

    def __init__(self, signs: Sequence[Sign], strata: Integers, outcome: Flags | Numbers) -> None:
        """The signs, the strata of all attempts, and their outcomes."""
        self._signs = signs
        strata = np.unique(strata, return_inverse=True)[1]
        self._order = np.argsort(strata, kind="stable")
        self.strata, self.values = strata[self._order], outcome[self._order].astype(float)
        self._sizes = np.bincount(self.strata).astype(float)
        self._means = (np.bincount(self.strata, self.values) / self._sizes)[self.strata]
        squared = (self.values - self._means) ** 2
        self._variances = np.bincount(self.strata, squared) / np.maximum(self._sizes - 1, 1)
        size = max(MOST_WEIGHTS // len(outcome), 1)
        sparse = self._sparse_weights() if len(signs) > size else {}
        self._sparse_blocks = list(_in_blocks(sparse))
        many = [number for number in range(len(signs)) if number not in sparse]
        self._blocks = [many[first : first + size] for first in range(0, len(many), size)]
        self._computed = [self._weights(self._blocks[0])] if len(self._blocks) == 1 else None

    def sums(self, outcomes: Columns) -> Columns:
        """Sums of signs for each column of outcomes; infinitely low where nothing varies."""
        sums = np.full((len(self._signs), outcomes.shape[1]), -np.inf, dtype=np.float32)
        computed = self._computed or map(self._weights, self._blocks)
        for block, (weights, is_usable) in zip(self._blocks, computed, strict=True):
            sums[block] = np.where(is_usable[:, None], weights @ outcomes, -np.inf)
        for sparse in self._sparse_blocks:
            excess = outcomes[sparse.places]
            excess -= self._means[sparse.places, None].astype(np.float32)
            sums[sparse.numbers] = np.matmul(sparse.weights[:, None], excess)[:, 0]
        return sums

    def _weights(self, block: Sequence[int]) -> tuple[Columns, Flags]:
        """A weight for each attempt and sign of a block, and which of these vary within strata."""
        strata, sizes = self.strata, self._sizes
        weights = np.empty((len(block), len(strata)), dtype=np.float32)
        is_usable = np.empty(len(block), dtype=np.bool_)
        # One sign at a time: in float64 all of them would take several times as much memory.
        for row, number in enumerate(block):
            excess = self._excess(self._signs[number])
            means = np.bincount(strata, excess) / sizes
            squares = np.bincount(strata, excess**2)
            scale = np.sqrt(((squares - sizes * means**2) * self._variances).sum())
            is_usable[row] = scale > LEAST_SCALE
            weights[row] = (excess - means[strata]) / (scale if is_usable[row] else 1)
        return weights, is_usable

    def _excess(self, sign: Sign) -> Numbers:
        """Which attempts have it, less its share among those known, stratum by stratum."""
        bears, known = (some.flags[self._order].astype(float) for some in (sign.bears, sign.known))
        rates = np.bincount(self.strata, bears) / np.maximum(np.bincount(self.strata, known), 1)
        return np.asarray(bears - known * rates[self.strata])

    def _sparse_weights(self) -> dict[int, Entries]:
        """Weights of signs that few attempts have, by number, without the many that are 0.

        A sign has the places of the attempts whose outcomes count in its sum, and their weights.
        """
        numbers = np.argsort(self._order, kind="stable")
        most = SPARSE_SHARE * len(self.values)
        sparse: dict[int, Entries] = {}
        known: Subset | None = None
        own_known = strata_known = np.empty(0, dtype=np.int64)
        for number, sign in enumerate(self._signs):
            if sign.known is not known:  # Signs of one field follow one another.
                known = sign.known
                own_known = np.flatnonzero(known.flags[self._order])
                strata_known = self.strata[own_known]
            if not 0 < sign.bears.size <= most:
                continue
            places = numbers[sign.bears.places]
            strata, n_bearing = np.unique(self.strata[places], return_counts=True)
            first, end = (np.searchsorted(strata_known, strata, side) for side in SIDES)
            n_known = end - first
            rates = n_bearing / n_known
            # Outcomes less their mean add up to 0 in a stratum: where all of it are known, a share
            # that is taken off each changes nothing, and bearers alone count.
            partly = np.flatnonzero(n_known < self._sizes[strata])
            if len(places) + n_known[partly].sum() > most:
                continue
            others = [own_known[first[each] : end[each]] for each in partly]
            weights = np.r_[np.ones(len(places)), -np.repeat(rates[partly], n_known[partly])]
            scale = np.sqrt((n_bearing * (1 - rates) * self._variances[strata]).sum())
            if scale > LEAST_SCALE:
                sparse[number] = np.concatenate([places, *others]), weights / scale
            else:
                sparse[number] = places[:0], weights[:0]
        return sparse


def _in_blocks(sparse: Mapping[int, Entries]) -> Iterator[_SparseBlock]:
    """Signs of about as many places together, those of fewer filled up with weights of 0."""
    waiting = sorted(
        (number for number in sparse if len(sparse[number][0])),
        key=lambda number: (-len(sparse[number][0]), number),
    )
    while waiting:
        longest = len(sparse[waiting[0]][0])
        n = max(MOST_PLACES // longest, 1)
        block, waiting = waiting[:n], waiting[n:]
        places = np.zeros((len(block), longest), dtype=np.int32)
        weights = np.zeros((len(block), longest), dtype=np.float32)
        for row, number in enumerate(block):
            own, factors = sparse[number]
            places[row, : len(own)] = own
            weights[row, : len(own)] = factors
        yield _SparseBlock(block, places, weights)
