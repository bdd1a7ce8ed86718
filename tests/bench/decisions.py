"""How often what is said of simulated runs is right: `python -m tests.bench.decisions`.

Runs are simulated as counts of passes by task, many pairs at once; what is said of them is what
`comparison_tests` and `new_tasks_interval` say of such rows in a warehouse.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from pipeline.analysis import permutation, stats
from pipeline.analysis.intervals import comparison_tests

MARGIN = 0.02
N_TRIALS = 2000
# Of losses, whose limit is near the rate of any rule at 5%.
N_LOSSES = 10_000
# Rates change within this share of the room they have, up or down, where effects differ by task.
UNEVEN = 0.6
LOST = 0.4
CALLED = ("improved", "regressed")

Rates = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def uniform(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Tasks of every difficulty."""
    return random.random(shape)


def constant(rate: float) -> Rates:
    """Tasks that are all alike."""
    return lambda _, shape: np.full(shape, rate)


def few_hard(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Tasks that nearly always pass, and 5% that hardly do."""
    return np.where(random.random(shape) < 0.05, 0.02, 0.99)


@dataclass(frozen=True)
class Pairs:
    """Repeats that were scored, passes and repeats that should be, a pair a row, a task a column.

    A task without a scored repeat is missing; where nothing says what was expected, it is unknown.
    """

    n_base: np.ndarray
    n_candidate: np.ndarray
    base: np.ndarray
    candidate: np.ndarray
    all_base: np.ndarray
    all_candidate: np.ndarray
    is_expected_known: bool = True

    def rows(self, *, n_candidates: int = 1) -> pa.Table:
        """What the decision reads of each pair; so many pairs in turn have one family."""
        common = (self.n_base > 0) & (self.n_candidate > 0)
        paired = common if not self.is_expected_known else np.full_like(common, True)
        possible = (self.n_base > 0) | (self.n_candidate > 0) | paired
        with np.errstate(all="ignore"):
            change = self.candidate / self.n_candidate - self.base / self.n_base
        low_base, low_candidate = self.base / self.all_base, self.candidate / self.all_candidate
        high_base = (self.base + self.all_base - self.n_base) / self.all_base
        high_candidate = (
            self.candidate + self.all_candidate - self.n_candidate
        ) / self.all_candidate
        counted = low_candidate - low_base
        columns = {
            **_mean(change, common, "delta", "se_new_tasks", "n_groups", "degrees"),
            **_mean(counted, paired, *_names("counted_as_fail", "counted")),
            **_mean(counted, possible, *_names("possible", "possible")),
        }
        for name, counts in (("bound", paired), ("possible", possible)):
            n = counts.sum(axis=1)
            columns[f"{name}_low"] = _sum(low_candidate - high_base, counts) / n
            columns[f"{name}_high"] = _sum(high_candidate - low_base, counts) / n
        n_pairs = len(change)
        nothing, whole = np.full(n_pairs, np.nan), np.ones(n_pairs)
        columns |= dict.fromkeys(("se_same_tasks", "se_same_counted_as_fail"), nothing)
        columns |= dict.fromkeys(("base_common", "candidate_common"), whole)
        columns["n_mixed_tasks"] = np.zeros(n_pairs)
        columns["n_paired_tasks"] = paired.sum(axis=1)
        columns["margin"] = np.full(n_pairs, MARGIN)
        found = pa.table({name: pa.array(values) for name, values in columns.items()})
        for name, flags in (
            ("is_bounded", np.full(n_pairs, True)),
            ("is_named", np.arange(n_pairs) // n_candidates),
            ("is_lead", np.full(n_pairs, True)),
        ):
            found = found.append_column(name, pa.array(flags))
        asked = self._asked(found, n_candidates)
        tests = [self._p_values(pair) if asked[pair] else (None, 1.0) for pair in range(n_pairs)]
        for name, values in zip(("p_signs", "p_any"), zip(*tests, strict=True), strict=True):
            found = found.append_column(name, pa.array(values, pa.float64()))
        return found

    def _asked(self, rows: pa.Table, n_candidates: int) -> np.ndarray:
        """Where the interval says nothing, the tests need not be asked."""
        low, high = stats.change_interval(
            *(rows[name].to_numpy() for name in _names("counted_as_fail", "counted")),
            is_bounded=np.full(len(rows), True),
        )
        is_clear = (low > 0) | (high < 0)
        return np.repeat(is_clear.reshape(-1, n_candidates).any(axis=1), n_candidates)

    def _p_values(self, pair: int) -> tuple[float | None, float | None]:
        """Both tests of one pair, from its rollouts one by one."""
        common = (self.n_base[pair] > 0) & (self.n_candidate[pair] > 0)
        sizes = np.stack((self.n_base[pair][common], self.n_candidate[pair][common]), axis=1)
        passed = np.stack((self.base[pair][common], self.candidate[pair][common]), axis=1)
        signs, dealt = p_values(sizes, passed)
        return signs.p_value, dealt.p_value

    def verdicts(self, *, n_candidates: int = 1, column: str = "verdict") -> np.ndarray:
        """What is said of each pair."""
        said = comparison_tests(self.rows(n_candidates=n_candidates))[column]
        return np.array(said.to_pylist()).reshape(-1, n_candidates)

    def fired(self) -> float:
        """How often a change is called."""
        return float(np.isin(self.verdicts(), CALLED).mean())


def p_values(
    sizes: np.ndarray, passed: np.ndarray
) -> tuple[permutation.ChangeTest, permutation.ChangeTest]:
    """Both tests from the repeats and passes of base and candidate, a task a row."""
    values = permutation.passing_values(sizes.T, passed.T)
    return permutation.change_p_values(values, *sizes.T)


def _names(figure: str, short: str) -> tuple[str, str, str, str]:
    return f"delta_{figure}", f"se_{figure}", f"n_{short}_groups", f"{short}_degrees"


def _sum(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.where(counts, values, 0).sum(axis=1)


def _mean(
    change: np.ndarray, counts: np.ndarray, delta: str, se: str, n_groups: str, degrees: str
) -> dict[str, np.ndarray]:
    """The mean of what counts, a pair a row, with its error."""
    n = counts.sum(axis=1).astype(float)
    mean = _sum(change, counts) / n
    squares = _sum((change - mean[:, None]) ** 2, counts)
    return {delta: mean, se: np.sqrt(squares / (n - 1) / n), n_groups: n, degrees: n - 1}


def simulated(
    n_tasks: int,
    repeats: tuple[int, int],
    *,
    rates: Rates = uniform,
    planted: float = 0,
    uneven: float = 0,
    n_pairs: int = N_TRIALS,
    n_candidates: int = 1,
    seed: int = 0,
) -> Pairs:
    """Pairs of runs. Where effects are uneven each task's is its own, with a mean of 0.

    Several candidates share their base.
    """
    random = np.random.default_rng([seed, n_tasks, *repeats, n_pairs])
    shape = (n_pairs, n_tasks)
    # Room for what is planted keeps the true change the same for all rates.
    rate = rates(random, shape) * (1 - planted)
    effect = uneven * np.minimum(rate, 1 - rate) * random.uniform(-1, 1, shape)
    changed = np.repeat(np.clip(rate + effect + planted, 0, 1), n_candidates, axis=0)
    n_base, n_candidate = (np.full((n_pairs * n_candidates, n_tasks), n) for n in repeats)
    base = np.repeat(random.binomial(repeats[0], rate), n_candidates, axis=0)
    candidate = random.binomial(n_candidate, changed)
    return Pairs(n_base, n_candidate, base, candidate, n_base, n_candidate)


def lossy(pairs: Pairs, *, whole: bool, is_expected_known: bool) -> Pairs:
    """The candidate loses some of its failures: single rollouts, or tasks that never passed."""
    random = np.random.default_rng(len(pairs.base))
    failed = pairs.n_candidate - pairs.candidate
    if whole:
        is_lost = (pairs.candidate == 0) & (random.random(failed.shape) < LOST)
        lost = np.where(is_lost, pairs.n_candidate, 0)
    else:
        lost = random.binomial(failed, LOST)
    scored = pairs.n_candidate - lost
    expected = pairs.all_candidate if is_expected_known else _usual(scored)
    return replace(
        pairs, n_candidate=scored, all_candidate=expected, is_expected_known=is_expected_known
    )


def _usual(scored: np.ndarray) -> np.ndarray:
    """The repeats that nearly all tasks have, else those of the fullest, as a warehouse has it."""
    found = []
    for own in scored:
        repeats, n_tasks = np.unique(own[own > 0], return_counts=True)
        is_usual = n_tasks.max() >= 0.9 * n_tasks.sum()
        usual = repeats[np.flatnonzero(n_tasks == n_tasks.max())[-1]] if is_usual else repeats[-1]
        found.append(np.maximum(own, usual))
    return np.array(found)


def coverage(
    n_tasks: int, k: int, rates: Rates, *, is_graded: bool = False, n_trials: int = N_TRIALS
) -> float:
    """How often the interval of a run holds the true figure of new tasks."""
    random = np.random.default_rng([n_tasks, k, n_trials])
    truth = float(rates(random, (1_000_000,)).mean())
    rate = rates(random, (n_trials, n_tasks))
    scores = random.binomial(k, rate) / k
    if is_graded:
        scores = random.beta(rate * 4 + 1e-9, (1 - rate) * 4 + 1e-9, (k, *rate.shape)).mean(axis=0)
    n = np.full(n_trials, float(n_tasks))
    se = scores.std(axis=1, ddof=1) / np.sqrt(n)
    low, high = stats.new_tasks_interval(
        scores.mean(axis=1), se, n, n - 1, is_bounded=np.full(n_trials, True)
    )
    return float(np.mean((low <= truth) & (truth <= high)))


def power(n_tasks: int, k: int, n_trials: int = N_TRIALS) -> float:
    """How often a planted change of the size that is said to be seen four times in five is seen."""
    planted = 0.0
    # What is printed hangs on the change itself.
    for _ in range(3):
        typical = simulated(n_tasks, (k, k), planted=planted, seed=7, n_pairs=200)
        se, degrees = (typical.rows()[name].to_numpy() for name in ("se_new_tasks", "degrees"))
        planted = float(np.median(stats.detectable(se, degrees)))
    pairs = simulated(n_tasks, (k, k), planted=planted, seed=8, n_pairs=n_trials)
    return float((pairs.verdicts() == "improved").mean())


@dataclass(frozen=True)
class Line:
    """One claim: how often it was seen to hold or fail, and how often it may."""

    claim: str
    setting: str
    n_trials: int
    observed: float
    least: float
    most: float

    @property
    def holds(self) -> bool:
        """Whether what was seen is within what may be."""
        return self.least <= self.observed <= self.most

    @property
    def is_near(self) -> bool:
        """Whether it is, but for what so few trials may err by."""
        slack = 3 * np.sqrt(self.observed * (1 - self.observed) / self.n_trials)
        return bool(self.least - slack <= self.observed <= self.most + slack)

    def __str__(self) -> str:
        nominal = f"{self.least:.0%} to {self.most:.0%}"
        mark = "" if self.holds else "  !"
        told = f"{self.claim:44}{self.setting:30}{self.n_trials:7,}{self.observed:9.1%}"
        return f"{told}   {nominal}{mark}"


def lines(n_trials: int = N_TRIALS, n_losses: int = N_LOSSES) -> Iterator[Line]:
    """Every claim of docs/metrics.md that only a simulation can hold."""
    shapes = [(n, k) for n in (10, 20, 50) for k in (1, 4, 8)]
    kinds = {f"rate {rate}": constant(rate) for rate in (0.02, 0.1, 0.5, 0.9, 0.98)}
    kinds |= {"uniform rates": uniform, "5% hard tasks": few_hard}
    for name, rates in kinds.items():
        for graded in (False, True):
            worst = min(
                (coverage(n, k, rates, is_graded=graded, n_trials=n_trials), n, k)
                for n, k in shapes
            )
            claim = f"interval holds the truth{', graded' if graded else ''}: the worst"
            setting = f"{worst[1]} x {worst[2]}, {name}"
            yield Line(claim, setting, n_trials, worst[0], 0.93, 1)
    equal = [(n, (k, k), uniform) for n in (100, 300) for k in (5, 8)]
    unequal = [(100, (8, 1), constant(rate)) for rate in (0.02, 0.5, 0.95)]
    for n, repeats, rates in [*equal, (100, (8, 4), uniform), *unequal]:
        name = f"{n} x {repeats[0]} / {repeats[1]}"
        if rates is not uniform:
            name += f", rate {rates(np.random.default_rng(), (1,))[0]}"
        pairs = simulated(n, repeats, rates=rates, seed=1, n_pairs=n_trials)
        yield Line("a change is called, equal runs", name, n_trials, pairs.fired(), 0, 0.06)
    for n, repeats, _ in equal:
        pairs = simulated(n, repeats, uneven=UNEVEN, seed=2, n_pairs=n_trials)
        name = f"{n} x {repeats[0]} / {repeats[1]}"
        yield Line("a change is called, uneven effects", name, n_trials, pairs.fired(), 0, 0.07)
    n_folders = n_trials // 4
    for n_candidates, claim, most in (
        (19, "19 equal candidates: any is called", 0.07),
        (190, "20 runs, no base, 190 pairs: any is called", 0.06),
    ):
        folders = n_folders if n_candidates == 19 else n_folders // 5
        several = (
            simulated(100, (4, 4), n_pairs=folders, n_candidates=19, seed=3)
            if n_candidates == 19
            else all_pairs(folders)
        )
        said = several.verdicts(n_candidates=n_candidates, column="verdict_holm")
        observed = float(np.isin(said, CALLED).any(axis=1).mean())
        yield Line(claim, "100 x 4", folders, observed, 0, most)
    for n, k in ((50, 4), (100, 8), (300, 4)):
        observed = power(n, k, n_trials)
        yield Line(
            "a change of the printed size is seen", f"{n} x {k}", n_trials, observed, 0.75, 0.85
        )
    for whole in (False, True):
        for is_known in (True, False):
            for n, k, rates in ((100, 8, uniform), (300, 5, uniform), (100, 8, constant(0.5))):
                pairs = simulated(n, (k, k), rates=rates, seed=5, n_pairs=n_losses)
                lost = lossy(pairs, whole=whole, is_expected_known=is_known)
                observed = float((lost.verdicts() == "improved").mean())
                claim = f"improved, {LOST:.0%} of failing {'tasks' if whole else 'rows'} lost"
                name = "" if rates is uniform else ", rate 0.5"
                inputs = "inputs" if is_known else "no inputs"
                yield Line(claim, f"{n} x {k}{name}, {inputs}", n_losses, observed, 0, 0.03)


def all_pairs(n_folders: int, n_runs: int = 20) -> Pairs:
    """Folders of equal runs, each two of them a pair."""
    random = np.random.default_rng([n_folders, n_runs])
    rate = random.random((n_folders, 1, 100))
    passed = random.binomial(4, np.repeat(rate, n_runs, axis=1))
    first, second = np.triu_indices(n_runs, 1)
    base, candidate = (passed[:, side].reshape(-1, 100) for side in (first, second))
    n = np.full_like(base, 4)
    return Pairs(n, n, base, candidate, n, n)


def main() -> None:
    """Print the table."""
    started = time.perf_counter()
    print(
        f"{'what is said of simulated runs':44}{'tasks x repeats':30}{'trials':>7} observed  may be"
    )
    for line in lines():
        print(line, flush=True)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
