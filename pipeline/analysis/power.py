"""The smallest change that would mostly be seen: power of the rule of a verdict, from task rates.

The rule has three parts, and tasks that nearly always pass or fail are not normal: where tasks are
few, runs are simulated with a change planted, from shrunken rates, and the rule is applied to them;
where they are many, each part goes by its expected size. Tests are replaced by their normal
approximations, with a correction for the steps in which a sum of passes can move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from statistics import NormalDist

import numpy as np

from .stats import (
    LEVEL,
    POWER,
    Counts,
    Numbers,
    dealt_variance,
    mean,
    mean_and_error,
    t_quantile,
)

# Runs of more tasks are not simulated; of fewer, so many pairs.
MOST_SIMULATED, N_PAIRS = 50, 500
Z_LEVEL, Z_POWER = (NormalDist().inv_cdf(share) for share in ((1 + LEVEL) / 2, POWER))
N_STEPS, FEWEST_TASKS = 24, 6


def task_rates(n_passed: Counts, n_scored: Counts) -> Numbers:
    """Pass rates of tasks drawn to their mean until they vary as the true ones do.

    Without repeats all of their spread may be noise.
    """
    rates = n_passed / n_scored
    middle = mean(rates)
    repeated = n_scored > 1
    if len(rates) < 2 or not repeated.any():
        return np.full(len(rates), middle)
    own = rates * (1 - rates) * n_scored / np.maximum(n_scored - 1, 1)
    noise = mean(own[repeated]) * mean(1 / n_scored)
    variance = mean((rates - middle) ** 2) * len(rates) / (len(rates) - 1)
    weight = np.sqrt(max(variance - noise, 0.0) / variance) if variance > 0 else 0.0
    return np.clip(middle + weight * (rates - middle), 0, 1)


def spread_of_changes(
    n_base: Counts, n_candidate: Counts, base: Counts, candidate: Counts
) -> float | None:
    """The deviation of tasks' true changes; None where nothing says what of it is sampling."""
    changes = np.sort(candidate / n_candidate - base / n_base)
    sampling = 0.0
    for n, passed in ((n_base, base), (n_candidate, candidate)):
        repeated = n > 1
        if len(changes) < 2 or not repeated.any():
            return None
        rates = passed / n
        own = rates * (1 - rates) * n / np.maximum(n - 1, 1)
        sampling += mean(np.where(repeated, own, mean(own[repeated])) / n)
    return float(np.sqrt(max(changes.var(ddof=1) - sampling, 0.0)))


@dataclass(frozen=True)
class Suite:
    """Tasks by their shrunken rates, with the repeats of both runs, and the spread of changes.

    `spread` is the standard deviation of tasks' true changes around their mean. A planted change
    moves base and candidate apart by the same amount on every task, as far as there is room.
    """

    rates: Numbers
    n_base: Counts
    n_candidate: Counts
    spread: float = 0.0

    @cached_property
    def doubled(self) -> tuple[Counts, Counts]:
        """The repeats of base and candidate, each task twice."""
        return np.tile(self.n_base, 2), np.tile(self.n_candidate, 2)

    def planted(self, change: float) -> tuple[Numbers, Numbers]:
        """Rates of base and candidate, each task twice: with more of the change and with less."""
        rates = np.concatenate((self.rates, self.rates))
        off = np.repeat((self.spread, -self.spread), len(self.rates))
        # Where there is no room more is asked for, until the mean is the change.
        wanted = change
        for _ in range(N_STEPS):
            base, candidate = _moved(rates, wanted + off)
            # The same as the mean, which takes three times as long of few tasks.
            lacking = change - float(np.add.reduce(candidate - base)) / len(rates)
            if abs(lacking) < 1e-7:
                break
            wanted = min(wanted + 1.5 * lacking, 2.0)
        return base, candidate

    def expected(self, change: float, n_tasks: int) -> tuple[float, float]:
        """What the rule asks of a mean change, and how such means vary, by expected sizes."""
        p, q = self.planted(change)
        n_base, n_candidate = self.doubled
        own = p * (1 - p) / n_base + q * (1 - q) / n_candidate
        delta = q - p
        se = float(np.sqrt((own.mean() + delta.var()) / n_tasks))
        n = n_base + n_candidate
        passed = n_base * p + n_candidate * q
        square = n_base * p * (1 - p) + n_candidate * q * (1 - q) + passed**2
        dealt = (passed - square / n) / (n - 1) * (1 / n_base + 1 / n_candidate)
        required = [_t_quantile(n_tasks) * se, Z_LEVEL * np.sqrt(dealt.mean() / n_tasks)]
        if np.array_equal(n_base, n_candidate):
            required.append(Z_LEVEL * np.sqrt((own + delta**2).mean() / n_tasks))
        return float(max(required)), se

    def share_called(self, change: float, n_tasks: int) -> float:
        """How often a planted change is called, tasks and rollouts drawn again."""
        p, q = self.planted(change)
        n_base, n_candidate = self.doubled
        random = np.random.default_rng(self._seed(change, n_tasks))
        drawn = random.integers(0, len(p), (N_PAIRS, n_tasks))
        repeats = n_base[drawn], n_candidate[drawn]
        base, candidate = (
            random.binomial(repeats[0], p[drawn]),
            random.binomial(repeats[1], q[drawn]),
        )
        return float(np.mean(_is_called(*repeats, base, candidate)))

    def detectable(self, n_tasks: int) -> float:
        """The change that is called four times in five; NaN where none is."""
        # Of fewer tasks the signs of differences agree too often by chance.
        if n_tasks < FEWEST_TASKS or not len(self.rates):
            return np.nan
        change, se = 0.0, 0.0
        for _ in range(N_STEPS):
            required, se = self.expected(change, n_tasks)
            following = min(required + Z_POWER * se, 1.0)
            if abs(following - change) < 1e-5:
                break
            change = following
        if n_tasks > MOST_SIMULATED:
            return change if change < 1 else np.nan
        # By steps of the normal distribution, whose slope is known.
        tried: list[tuple[float, float]] = []
        for _ in range(4):
            share = self.share_called(change, n_tasks)
            z = NormalDist().inv_cdf(min(max(share, 0.01), 0.99))
            tried.append((change, z))
            if abs(share - POWER) < 0.01 or change >= 1:
                break
            change = min(_next(tried, se), 1.0)
        return change if change < 1 else np.nan

    def _seed(self, change: float, n_tasks: int) -> int:
        """Of what is simulated, not of the order in which it came."""
        order = np.lexsort((self.rates, self.n_candidate, self.n_base))
        parts = (self.n_base[order], self.n_candidate[order], self.rates[order], [n_tasks])
        digest = sha256(np.concatenate(parts).astype("<f8").tobytes())
        return int.from_bytes(digest.digest()[:8], "little")


@cache
def _t_quantile(n_tasks: int) -> float:
    (quantile,) = t_quantile(np.array([n_tasks - 1.0]), np.array([True]))
    return float(quantile)


def _moved(rates: Numbers, change: Numbers) -> tuple[Numbers, Numbers]:
    # Of few tasks np.clip takes three times as long as what it does.
    half = change / 2
    return _rate(rates - half), _rate(rates + half)


def _rate(wanted: Numbers) -> Numbers:
    return np.minimum(np.maximum(wanted, 0.0), 1.0)


def _next(tried: list[tuple[float, float]], se: float) -> float:
    """Where the share would be as wanted, on a line through the last two, or by the error alone."""
    change, z = tried[-1]
    slope = 1 / max(se, 1e-9)
    if len(tried) > 1 and tried[-2][0] != change:
        through = (z - tried[-2][1]) / (change - tried[-2][0])
        slope = min(max(through, slope / 3), slope * 3)
    return change + (Z_POWER - z) / slope


def _is_called(n_base: Counts, n_candidate: Counts, base: Counts, candidate: Counts) -> np.ndarray:
    """Whether the three parts agree that the candidate improved, of many pairs at once."""
    n_tasks = base.shape[1]
    change, moved, se = mean_and_error(n_base, n_candidate, base, candidate)
    # Sums move by these steps: half of one is what a continuous tail leaves out.
    step = (1 / n_base + 1 / n_candidate).min(axis=1) / 2
    total = change.sum(axis=1)
    dealt = np.sqrt(dealt_variance(n_base, n_candidate, base, candidate).sum(axis=1))
    is_called = (moved > _t_quantile(n_tasks) * se) & (total - step >= Z_LEVEL * dealt)
    flipped = np.sqrt((change**2).sum(axis=1))
    is_equal = (n_base == n_candidate).all(axis=1)
    return np.asarray(is_called & (~is_equal | (total - step >= Z_LEVEL * flipped)))


def detectable_change(
    n_base: Counts, n_candidate: Counts, base: Counts, candidate: Counts
) -> float:
    """The minimum detectable change of a comparison, from passes of so many repeats by task."""
    spread = spread_of_changes(n_base, n_candidate, base, candidate)
    rates = task_rates(base + candidate, n_base + n_candidate)
    return Suite(rates, n_base, n_candidate, spread or 0.0).detectable(len(rates))
