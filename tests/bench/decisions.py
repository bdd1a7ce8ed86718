"""How often decisions about simulated runs are right: `python -m tests.bench.decisions`.

A pair is two runs of new tasks with uniform pass rates. Counts are simulated for all pairs at once;
p-values are asked pair by pair.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pipeline.analysis import permutation, stats

MARGIN = 0.02
N_PAIRS = 2000
# p-values within tasks take some milliseconds each.
N_TESTS_WITHIN = 1000
# Rates change within this share of the room they have, up or down, where effects differ by task.
UNEVEN = 0.6
LOST = 0.4
PLANTED = 0.05


@dataclass(frozen=True)
class Setting:
    """Tasks, and the fewest and most repeats of base and candidate."""

    n_tasks: int
    base: tuple[int, int]
    candidate: tuple[int, int]

    def __str__(self) -> str:
        told = [f"{a}" if a == b else f"{a}-{b}" for a, b in (self.base, self.candidate)]
        return f"{self.n_tasks} x {' / '.join(told)}"


SETTINGS = [Setting(n, (k, k), (k, k)) for n in (100, 300) for k in (5, 8)]
UNEQUAL = [
    Setting(n, *repeats) for n in (100, 300) for repeats in (((8, 8), (4, 4)), ((6, 8), (3, 8)))
]


@dataclass(frozen=True)
class Pairs:
    """Repeats and passes of many pairs of runs, a pair a row, and the true change of new tasks."""

    n_base: np.ndarray
    n_candidate: np.ndarray
    base: np.ndarray
    candidate: np.ndarray
    truth: float

    def interval(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean change of each pair with its interval for new tasks."""
        change = self.candidate / self.n_candidate - self.base / self.n_base
        return interval(change, np.full(change.shape, True))

    def verdicts(self) -> list[str]:
        """What is said of each pair, with nothing missing."""
        change, low, high = self.interval()
        return [
            stats.verdict(*ends, MARGIN) for ends in zip(low, high, change, change, strict=True)
        ]

    def p_value(self, pair: int) -> float:
        """The p-value of one pair, from its rollouts one by one."""
        sizes = np.stack((self.n_base[pair], self.n_candidate[pair]), axis=1).ravel()
        passed = np.stack((self.base[pair], self.candidate[pair]), axis=1).ravel()
        in_turn = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        values = (in_turn < np.repeat(passed, sizes)).astype(np.float64)
        return permutation.change_p_value(values, sizes[::2], sizes[1::2]).p_value


def interval(change: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of the changes that count, a pair a row, with its interval."""
    n = counts.sum(axis=1).astype(float)
    mean = np.where(counts, change, 0).sum(axis=1) / n
    squares = np.where(counts, (change - mean[:, None]) ** 2, 0).sum(axis=1)
    se = np.sqrt(squares / (n - 1) / n)
    return mean, *stats.change_interval(mean, se, n, is_bounded=np.full(len(n), True))


def simulated(
    setting: Setting, n_pairs: int, *, planted: float = 0, uneven: float = 0, seed: int = 0
) -> Pairs:
    """Pairs of runs. Where effects are uneven each task's is its own, with a mean of 0."""
    repeats = (*setting.base, *setting.candidate)
    random = np.random.default_rng([seed, setting.n_tasks, *repeats, n_pairs])
    shape = (n_pairs, setting.n_tasks)
    # Room for what is planted keeps the true change the same for all rates.
    rate = random.random(shape) * (1 - planted)
    effect = uneven * np.minimum(rate, 1 - rate) * random.uniform(-1, 1, shape)
    n_base = random.integers(setting.base[0], setting.base[1] + 1, shape)
    n_candidate = random.integers(setting.candidate[0], setting.candidate[1] + 1, shape)
    return Pairs(
        n_base=n_base,
        n_candidate=n_candidate,
        base=random.binomial(n_base, rate),
        candidate=random.binomial(n_candidate, np.clip(rate + effect + planted, 0, 1)),
        truth=planted,
    )


def fired(pairs: Pairs) -> float:
    """How often a change is called."""
    return float(np.mean([said in ("improved", "regressed") for said in pairs.verdicts()]))


def covered(pairs: Pairs) -> float:
    """How often the interval holds the true change."""
    _, low, high = pairs.interval()
    return float(np.mean((low <= pairs.truth) & (pairs.truth <= high)))


def rejected(pairs: Pairs, n_pairs: int) -> float:
    """How often the p-value is below 5%."""
    n_pairs = min(n_pairs, len(pairs.base))
    return float(np.mean([pairs.p_value(pair) < 0.05 for pair in range(n_pairs)]))


@dataclass(frozen=True)
class Row:
    """What was found in one setting.

    How often a change is called where there is none, with equal runs and with uneven effects; how
    often the interval holds a planted change, and none with uneven effects; how often p is below 5%
    for equal runs.
    """

    setting: Setting
    fires: float
    fires_uneven: float
    covers: float
    covers_uneven: float
    rejects: float

    def __str__(self) -> str:
        shares = (self.fires, self.fires_uneven, self.covers, self.covers_uneven, self.rejects)
        return f"{self.setting!s:18}" + "".join(f"{share:12.1%}" for share in shares)


def row(setting: Setting, n_pairs: int, n_tests: int) -> Row:
    """Equal runs, runs with uneven effects, and both with a planted change."""
    equal = simulated(setting, n_pairs, seed=1)
    return Row(
        setting=setting,
        fires=fired(equal),
        fires_uneven=fired(simulated(setting, n_pairs, uneven=UNEVEN, seed=2)),
        covers=covered(simulated(setting, n_pairs, planted=PLANTED, seed=3)),
        covers_uneven=covered(simulated(setting, n_pairs, uneven=UNEVEN, seed=4)),
        rejects=rejected(equal, n_tests),
    )


def lossy(setting: Setting, n_pairs: int) -> tuple[float, float]:
    """Equal runs, but the candidate loses some of its failing rollouts.

    How often it is called improved when what is missing is dropped, and by the rule: missing rows
    are failures, and both bounds have to agree.
    """
    pairs = simulated(setting, n_pairs, seed=5)
    random = np.random.default_rng(n_pairs)
    lost = random.binomial(pairs.n_candidate - pairs.candidate, LOST)
    base = pairs.base / pairs.n_base
    scored = pairs.n_candidate - lost
    _, low, _ = interval(pairs.candidate / np.maximum(scored, 1) - base, scored > 0)
    mean, counted_low, counted_high = pairs.interval()
    best = ((pairs.candidate + lost) / pairs.n_candidate - base).mean(axis=1)
    said = [
        stats.verdict(*ends, MARGIN)
        for ends in zip(counted_low, counted_high, mean, best, strict=True)
    ]
    return float(np.mean(low > 0)), said.count("improved") / len(said)


def main() -> None:
    """Print what is simulated, setting by setting."""
    started = time.perf_counter()
    print(f"decisions about simulated runs, {N_PAIRS:,} pairs of each kind")
    print(f"  {'':18}{'false calls':>24}{'interval holds truth':>24}")
    heads = ("equal", "uneven", "planted", "uneven", "p < 5%")
    print(f"  {'tasks x repeats':18}" + "".join(f"{head:>12}" for head in heads))
    for setting in SETTINGS + UNEQUAL:
        n_tests = N_TESTS_WITHIN if setting in UNEQUAL else N_PAIRS
        print(f"  {row(setting, N_PAIRS, n_tests)}", flush=True)
    print(f"a candidate that loses {LOST:.0%} of its failures is called improved")
    for setting in SETTINGS:
        dropped, ours = lossy(setting, N_PAIRS)
        print(f"  {setting!s:18}{dropped:8.1%} with them dropped, {ours:5.1%} by the rule")
    print(f"  {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
