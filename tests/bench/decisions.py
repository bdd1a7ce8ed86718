"""How often verdicts on simulated runs are right: `python -m tests.bench.decisions`.

Runs are simulated as counts of passes by task, many pairs in one warehouse; their verdicts are
what the SQL of the product and its gate say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.analysis import stats
from pipeline.analysis.standings import ranks
from pipeline.answers import gate
from pipeline.profile.policy import Criterion, Policy
from pipeline.warehouse import Warehouse
from tests.bench import in_sql

MARGIN = 0.02
N_TRIALS = 1000
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


def u_shaped(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Tasks that mostly pass or mostly fail."""
    return random.beta(0.3, 0.3, shape)


def hardly_any_hard(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Tasks that pass, and 1% that do not."""
    return np.where(random.random(shape) < 0.01, 0.0, 0.999)


def few_hard(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Tasks that nearly always pass, and 5% that hardly do."""
    return np.where(random.random(shape) < 0.05, 0.02, 0.99)


@dataclass(frozen=True)
class Pairs:
    """Repeats that were scored, passes and repeats that should be, a pair a row, a task a column.

    So many pairs in turn are the candidates of one base. Nothing is expected where that is None,
    and a task without a scored repeat is then not there.
    """

    n_base: np.ndarray
    n_candidate: np.ndarray
    base: np.ndarray
    candidate: np.ndarray
    expected_base: np.ndarray | None = None
    expected_candidate: np.ndarray | None = None
    n_candidates: int = 1
    has_shared_base: bool = True
    is_growing: bool = False

    @cached_property
    def warehouse(self) -> Warehouse:
        """The comparisons of all pairs, as the product's SQL makes them."""
        runs: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]] = {}
        pairs = []
        for row in range(len(self.base)):
            folder = row // self.n_candidates if self.has_shared_base else row
            names = f"base {folder:06}", f"candidate {row:06}"
            for name, scored, passed, expected in (
                (names[0], self.n_base, self.base, self.expected_base),
                (names[1], self.n_candidate, self.candidate, self.expected_candidate),
            ):
                runs[name] = (scored[row], passed[row], None if expected is None else expected[row])
            pairs.append(names)
        families = np.arange(len(pairs)) // self.n_candidates
        return in_sql.warehouse(
            runs, pairs, margin=MARGIN, families=families, is_growing=self.is_growing
        )

    def column(self, name: str) -> np.ndarray:
        """A column of `comparisons` by pass@1, a folder a row and a candidate a column."""
        query = f"select {name} from comparisons where is_lead order by candidate"
        return np.array(self.warehouse.column(query)).reshape(-1, self.n_candidates)

    def fired(self, column: str = "verdict") -> float:
        """How often a change is called, of any candidate."""
        return float(np.isin(self.column(column), CALLED).any(axis=1).mean())

    def excludes_zero(self) -> float:
        """How often the interval of the change leaves out 0."""
        return float(self.column("ci_new_tasks_low > 0 or ci_new_tasks_high < 0").mean())

    def gated(self, **policy: Any) -> np.ndarray:
        """The verdict of a policy on each candidate, a folder a row."""
        request = Policy("p", (Criterion("pass_at_1", **policy),))
        query = "select base, candidate from comparisons where is_lead order by candidate"
        pairs = self.warehouse.rows(query)
        # One candidate alone is no family.
        size = self.n_candidates if self.n_candidates > 1 else len(pairs)
        actual = []
        for start in range(0, len(pairs), size):
            own = [Named(**row) for row in pairs[start : start + size]]
            changes = gate.measured(self.warehouse, request, own)
            actual += [
                gate.decide(request, gate.Compared(*names, every_task=changes[names]))["verdict"]
                for names in ((each.base, each.candidate) for each in own)
            ]
        return np.array(actual).reshape(-1, self.n_candidates)

    def passed(self, **policy: Any) -> float:
        """How often any candidate passes."""
        return float((self.gated(**policy) == "PASS").any(axis=1).mean())


@dataclass(frozen=True)
class Named:
    """Two runs that are compared."""

    base: str
    candidate: str


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
    return Pairs(n_base, n_candidate, base, candidate, n_candidates=n_candidates)


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
    if is_expected_known:
        full = {"expected_base": pairs.n_base, "expected_candidate": pairs.n_candidate}
        return replace(pairs, n_candidate=scored, **full)
    return replace(pairs, n_candidate=scored)


def broken(pairs: Pairs, share: float, *, is_lost: bool) -> Pairs:
    """A share of the candidate's tasks breaks: they fail always, or leave no row."""
    is_broken = np.random.default_rng(len(pairs.base)).random(pairs.base.shape) < share
    remaining = np.where(is_broken, 0, pairs.n_candidate) if is_lost else pairs.n_candidate
    return replace(pairs, n_candidate=remaining, candidate=np.where(is_broken, 0, pairs.candidate))


def coverage(
    n_tasks: int,
    k: int,
    rates: Rates,
    *,
    is_graded: bool = False,
    is_any: bool = False,
    n_trials: int = N_TRIALS,
) -> float:
    """How often the interval of a run holds the true figure of new tasks: pass@1, or pass@k."""
    random = np.random.default_rng([n_tasks, k, n_trials])
    every = rates(random, (1_000_000,))
    truth = float((1 - (1 - every) ** k).mean() if is_any else every.mean())
    rate = rates(random, (n_trials, n_tasks))
    scores = random.binomial(k, rate) / k
    if is_any:
        scores = (scores > 0).astype(float)
    if is_graded:
        scores = random.beta(rate * 4 + 1e-9, (1 - rate) * 4 + 1e-9, (k, *rate.shape)).mean(axis=0)
    n = np.full(n_trials, float(n_tasks))
    se = scores.std(axis=1, ddof=1) / np.sqrt(n)
    low, high = stats.new_tasks_interval(
        scores.mean(axis=1), se, n, n - 1, is_bounded=np.full(n_trials, True)
    )
    return float(np.mean((low <= truth) & (truth <= high)))


def power(n_tasks: int, k: int, rates: Rates, n_trials: int) -> float:
    """How often a planted change of the size to be seen four times in five is seen."""
    planted = 0.1
    # What is printed hangs on the change itself.
    for _ in range(3):
        typical = simulated(n_tasks, (k, k), rates=rates, planted=planted, seed=7, n_pairs=60)
        planted = float(np.median(typical.column("mde_new_tasks")))
    pairs = simulated(n_tasks, (k, k), rates=rates, planted=planted, seed=8, n_pairs=n_trials)
    return float((pairs.column("verdict") == "improved").mean())


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
        nominal = f"{100 * self.least:g}% to {100 * self.most:g}%"
        mark = "" if self.holds else "  !"
        reported = f"{self.claim:44}{self.setting:32}{self.n_trials:7,}{self.observed:9.1%}"
        return f"{reported}   {nominal}{mark}"


def lines(n_trials: int = N_TRIALS) -> Iterator[Line]:
    """Every claim of docs/metrics.md that only a simulation can hold."""
    yield from coverages(n_trials)
    yield from few_failures(4 * n_trials)
    yield from false_calls(n_trials)
    yield from false_passes(n_trials)
    yield from several_candidates(n_trials // 5)
    yield from powers(n_trials)
    yield from ranks_of_ties(n_trials // 2)
    yield from watched(n_trials // 2)
    yield from losses(n_trials)


def powers(n_trials: int) -> Iterator[Line]:
    """A change of the minimum detectable size is seen four times in five."""
    for name, rates in (("U-shaped", u_shaped), ("uniform", uniform)):
        for n, k in ((20, 4), (50, 4), (50, 1), (200, 4)):
            observed = power(n, k, rates, n_trials)
            setting = f"{n} x {k}, {name}"
            yield Line(
                "a change of the printed size is seen", setting, n_trials, observed, 0.75, 0.85
            )


def coverages(n_trials: int) -> Iterator[Line]:
    """Intervals of a run for new tasks like these: the worst of each kind of tasks."""
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


def few_failures(n_trials: int) -> Iterator[Line]:
    """Intervals where hardly a task fails: the worst of several sizes."""
    sizes = [(n, k) for n in (10, 20, 50, 100, 200) for k in (1, 4, 8)]
    worst = min((coverage(n, k, hardly_any_hard, n_trials=n_trials), n, k) for n, k in sizes)
    name = f"{worst[1]} x {worst[2]}, 1% hard tasks"
    yield Line("interval holds the truth: the worst", name, n_trials, worst[0], 0.93, 1)
    worst_any = min(
        (coverage(n, 4, constant(rate), is_any=True, n_trials=n_trials), n, rate)
        for n in (10, 20, 50, 100, 200)
        for rate in (0.5, 0.6, 0.7, 0.75, 0.8)
    )
    name = f"{worst_any[1]} x 4, rate {worst_any[2]}"
    yield Line("interval of pass@k, k = K: the worst", name, n_trials, worst_any[0], 0.93, 1)


def ranks_of_ties(n_folders: int) -> Iterator[Line]:
    """Ten runs two points apart: ranks of the best, and of all of them."""
    for n, repeats in ((50, (4,)), (100, (4,)), (50, (1, 8))):
        best, whole = near_ties(n_folders, n_tasks=n, n_runs=10, repeats=repeats)
        setting = f"{n} x {' / '.join(map(str, repeats))}"
        yield Line("ten near ties: ranks of the best hold", setting, n_folders, best, 0.93, 1)
        yield Line("ten near ties: ranks of all hold", setting, n_folders, whole, 0.93, 1)


def near_ties(
    n_folders: int, *, n_tasks: int, n_runs: int, repeats: tuple[int, ...]
) -> tuple[float, float]:
    """How often the ranks hold of the best of runs that hardly differ, and of all of them."""
    random, best, whole = np.random.default_rng(n_tasks), 0, 0
    truth = np.arange(n_runs, 0, -1)
    n_scored = np.resize(repeats, n_runs)[:, None] * np.ones((1, n_tasks))
    for _ in range(n_folders):
        rates = random.beta(0.4, 0.4, n_tasks) * 0.98 + np.linspace(0, 0.02, n_runs)[:, None]
        values = random.binomial(n_scored.astype(int), rates) / n_scored
        with np.errstate(all="ignore"):
            variances = values * (1 - values) / (n_scored - 1)
        variances[n_scored == 1] = np.nan
        low, high = ranks(values, n_scored, variances, np.arange(n_tasks))
        holds = (low <= truth) & (truth <= high)
        best, whole = best + int(holds[-1]), whole + int(holds.all())
    return best / n_folders, whole / n_folders


def false_calls(n_trials: int) -> Iterator[Line]:
    """Equal runs, or runs whose tasks change by 0 on average."""
    equal = [(n, (k, k), uniform) for n in (100, 300) for k in (5, 8)]
    unequal = [(100, (8, 1), constant(rate)) for rate in (0.02, 0.5, 0.95)]
    for n, repeats, rates in [*equal, (100, (8, 4), uniform), *unequal]:
        name = f"{n} x {repeats[0]} / {repeats[1]}"
        if rates is not uniform:
            name += f", rate {rates(np.random.default_rng(), (1,))[0]}"
        pairs = simulated(n, repeats, rates=rates, seed=1, n_pairs=n_trials)
        yield Line("a change is called, equal runs", name, n_trials, pairs.fired(), 0, 0.06)
    for repeats in ((1, 8), (8, 1)):
        pairs = simulated(20, repeats, rates=constant(0.95), seed=1, n_pairs=n_trials)
        name = f"20 x {repeats[0]} / {repeats[1]}, rate 0.95"
        yield Line("CI excludes 0, equal runs", name, n_trials, pairs.excludes_zero(), 0, 0.06)
        failed = float((pairs.gated() == "FAIL").mean())
        yield Line("gate FAIL, equal runs", name, n_trials, failed, 0, 0.025)
    for n, repeats, _ in equal:
        pairs = simulated(n, repeats, uneven=UNEVEN, seed=2, n_pairs=n_trials)
        name = f"{n} x {repeats[0]} / {repeats[1]}"
        yield Line("a change is called, uneven effects", name, n_trials, pairs.fired(), 0, 0.07)


def false_passes(n_trials: int) -> Iterator[Line]:
    """Some tasks break, and a policy asks whether any did."""
    pairs = broken(simulated(200, (4, 4), n_pairs=n_trials), 0.05, is_lost=True)
    claim = "gate PASS, 5% of tasks leave no row"
    yield Line(claim, "200 x 4", n_trials, pairs.passed(), 0, 0.025)
    for n in (20, 50, 100):
        whole = simulated(n, (8, 8), rates=constant(0.99), n_pairs=n_trials)
        observed = broken(whole, 0.02, is_lost=False).passed()
        claim = "gate PASS, 2% of tasks break"
        yield Line(claim, f"{n} x 8, rate 0.99", n_trials, observed, 0, 0.025)


def several_candidates(n_folders: int) -> Iterator[Line]:
    """Of many equal runs none is called, and none superior."""
    claim = "19 equal candidates: any is called"
    equal = simulated(100, (4, 4), n_pairs=n_folders, n_candidates=19, seed=3)
    yield Line(claim, "100 x 4", n_folders, equal.fired("verdict_holm"), 0, 0.05)
    superior = equal.passed(rule="superior", margin=0.0)
    yield Line("19 equal candidates: any is superior", "100 x 4", n_folders, superior, 0, 0.05)
    for rate in (0.95, 0.9):
        several = simulated(
            100, (8, 1), rates=constant(rate), n_pairs=n_folders, n_candidates=19, seed=3
        )
        observed = several.fired("verdict_holm")
        yield Line(claim, f"100 x 8 / 1, rate {rate}", n_folders, observed, 0, 0.05)
    few = max(n_folders // 5, 1)
    observed = all_pairs(few).fired("verdict_holm")
    yield Line("20 runs, no base, 190 pairs: any is called", "100 x 4", few, observed, 0, 0.05)


def watched(n_folders: int) -> Iterator[Line]:
    """Ten looks at equal runs while they grow: any verdict of a change."""
    for by_repeats in (False, True):
        setting = f"100 x {10 if by_repeats else 4}, by {'repeats' if by_repeats else 'tasks'}"
        observed = looks(n_folders, is_growing=True, by_repeats=by_repeats).fired()
        yield Line("ten looks at equal runs: any is called", setting, n_folders, observed, 0, 0.05)


def losses(n_trials: int) -> Iterator[Line]:
    """A candidate that loses failures has not improved."""
    for whole in (False, True):
        for is_known in (True, False):
            for n, k, rates in ((100, 8, uniform), (300, 5, uniform), (100, 8, constant(0.5))):
                pairs = simulated(n, (k, k), rates=rates, seed=5, n_pairs=n_trials)
                lost = lossy(pairs, whole=whole, is_expected_known=is_known)
                observed = float((lost.column("verdict") == "improved").mean())
                claim = f"improved, {LOST:.0%} of failing {'tasks' if whole else 'rows'} lost"
                name = "" if rates is uniform else ", rate 0.5"
                inputs = "inputs" if is_known else "no inputs"
                yield Line(claim, f"{n} x {k}{name}, {inputs}", n_trials, observed, 0, 0.03)


def looks(
    n_folders: int, *, is_growing: bool, by_repeats: bool = False, n_looks: int = 10
) -> Pairs:
    """Equal runs looked at ten times while they grow to 100 x 4, by tasks or by repeats."""
    random = np.random.default_rng(n_folders)
    rate = random.random((n_folders, 1, 100))
    n_repeats = n_looks if by_repeats else 4
    rolled = random.random((2, n_folders, n_repeats, 100)) < rate
    scored, passed = [], [[], []]
    for look in range(1, n_looks + 1):
        n_tried = look if by_repeats else n_repeats
        n_there = 100 if by_repeats else 10 * look
        is_there = np.arange(100) < n_there
        scored.append(np.broadcast_to(np.where(is_there, n_tried, 0), (n_folders, 100)))
        for side in (0, 1):
            passed[side].append(rolled[side, :, :n_tried].sum(axis=1) * is_there)
    n, base, candidate = (
        np.stack(each, axis=1).reshape(-1, 100) for each in (scored, passed[0], passed[1])
    )
    return Pairs(
        n, n, base, candidate, n_candidates=n_looks, has_shared_base=False, is_growing=is_growing
    )


def all_pairs(n_folders: int, n_runs: int = 20) -> Pairs:
    """Folders of equal runs, each two of them a pair."""
    random = np.random.default_rng([n_folders, n_runs])
    rate = random.random((n_folders, 1, 100))
    passed = random.binomial(4, np.repeat(rate, n_runs, axis=1))
    first, second = np.triu_indices(n_runs, 1)
    base, candidate = (passed[:, side].reshape(-1, 100) for side in (first, second))
    n = np.full_like(base, 4)
    return Pairs(n, n, base, candidate, n_candidates=len(first), has_shared_base=False)


def main() -> None:
    """Print the table."""
    started = time.perf_counter()
    print(f"{'verdicts on simulated runs':44}{'tasks x repeats':32}{'trials':>7} observed  may be")
    for line in lines():
        print(line, flush=True)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
