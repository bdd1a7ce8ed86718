"""Two runs held against each other, by the definitions: pairing, values, errors, bounds, tests.

Written from STATISTICS.md, in fractions of the decimals that stand in the files; nothing here is
taken from `pipeline`. What is undefined is None.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from statistics import NormalDist
from typing import Any

from scipy.special import stdtr, stdtrit

from tests.metrics_reference import bucket, modal_repeats
from tests.reference_run import NOTHING, Key, Run, mean, pass_at, pass_hat, ratio, root, variance
from tests.uncertainty_reference import (
    FEWEST_MIXED,
    LEVEL,
    clustered_variance,
    degrees,
    same_tasks_variance,
    sizes,
)

METRICS = ("pass_at_1", "mean_reward")
MEASURES = "input_tokens output_tokens n_turns n_tool_calls n_tool_errors duration_s".split()
POWER, MOST_STATES = 0.8, 3_000


@dataclass(frozen=True)
class Side:
    """A run, and what it asked in each task: question and ground truth, of every row."""

    run: Run
    questions: Mapping[str, frozenset[tuple[str, str]]]
    # As the warehouse has them: how each attempt failed, and after how many stages it ended.
    modes: Mapping[Key, str] = field(default_factory=dict)
    ends: Mapping[Key, int] = field(default_factory=dict)

    @cached_property
    def keys(self) -> dict[str, list[Key]]:
        """Every repeat of every task, expected or recorded."""
        actual: dict[str, list[Key]] = defaultdict(list)
        for key in self.run.grid():
            actual[key[0]].append(key)
        return dict(actual)

    @cached_property
    def scored(self) -> dict[Key, Fraction]:
        """The rewards of scored rollouts, as they were written."""
        rows = sorted(self.run.rollouts.items())
        return {key: Fraction(str(row.reward)) for key, row in rows if row.reward is not None}

    @cached_property
    def passed(self) -> dict[Key, Fraction]:
        """1 for each scored rollout that passed, 0 for the others."""
        return {key: Fraction(self.run.passes(float(r))) for key, r in self.scored.items()}

    def rewards(self, task: str) -> list[Fraction]:
        """The rewards of a task's scored rollouts."""
        return [self.scored[key] for key in self.keys.get(task, ()) if key in self.scored]

    def repeats(self, task: str, metric: str) -> list[Fraction]:
        """What each scored rollout of a task is worth."""
        if metric == "mean_reward":
            return self.rewards(task)
        return [self.passed[key] for key in self.keys.get(task, ()) if key in self.passed]

    def value(self, task: str, metric: str) -> Fraction | None:
        """What a task is worth: the mean of its scored rollouts."""
        return mean(self.repeats(task, metric))

    def n_attempts_alone(self, task: str) -> int:
        """How many there should be: where nothing says so, as many as nine tasks in ten have.

        Else as many as the fullest has; a task that has more has all it should.
        """
        if self.run.expected is not None:
            return len(self.keys.get(task, ()))
        counts = Counter(map(len, self.keys.values()))
        usual = max(counts, key=lambda n: (counts[n], n))
        is_usual = 10 * counts[usual] >= 9 * sum(counts.values())
        return max(len(self.keys.get(task, ())), usual if is_usual else max(counts))

    def ends_of_missing(self, task: str, metric: str, n: int) -> tuple[Fraction, Fraction] | None:
        """A task's value with all that is missing of n failed, and with all of it passed."""
        worth = self.repeats(task, metric)
        if metric == "mean_reward" and not self.run.is_bounded and n > len(worth):
            return None
        return sum(worth, NOTHING) / n, (sum(worth, NOTHING) + n - len(worth)) / n

    def bucket(self, task: str) -> str | None:
        """Whether a task passed always, sometimes or never."""
        is_known = self.run.threshold is not None
        passed = [bool(each) for each in self.repeats(task, "pass_at_1")] if is_known else []
        return bucket(len(self.rewards(task)), passed, is_known=is_known)

    def measured(self, task: str, name: str) -> Fraction | None:
        """The mean of a measure over the scored rollouts of a task that know it."""
        rows = [self.run.rollouts[key].measures for key in self.keys[task] if key in self.scored]
        return mean([Fraction(str(measures[name])) for measures in rows if name in measures])


@dataclass(frozen=True)
class Pair:
    """A base and a candidate."""

    base: Side
    candidate: Side

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """The base before the candidate."""
        return self.base, self.candidate

    @cached_property
    def tasks(self) -> list[str]:
        """Every task of either run."""
        return sorted({task for side in self.sides for task in side.keys})

    @cached_property
    def is_same_plan(self) -> bool:
        """Nine tasks in ten are in both runs, as often."""
        equal = [
            len(self.base.keys.get(task, ())) == len(self.candidate.keys.get(task, ()))
            for task in self.tasks
        ]
        return 10 * sum(equal) >= 9 * len(equal)

    def n_attempts(self, side: Side, task: str) -> int:
        """How many there should be; of tasks that were planned alike, no more than either has."""
        alone = side.n_attempts_alone(task)
        if side.run.expected is not None or not self.is_same_plan:
            return alone
        return min(alone, max(len(own.keys.get(task, ())) for own in self.sides))

    def pairing(self, task: str) -> str:
        """Whether both runs have a task, and whether they ask the same."""
        has_base, has_candidate = (task in side.keys for side in self.sides)
        if not has_candidate:
            return "base only"
        if not has_base:
            return "candidate only"
        request = [side.questions[task] for side in self.sides]
        if any(len(own) > 1 or not min(own)[0] for own in request):
            return "unverified"
        return "verified" if request[0] == request[1] else "contradicted"

    @cached_property
    def paired(self) -> list[str]:
        """The tasks in which both runs ask the same, as far as is known."""
        return [task for task in self.tasks if self.pairing(task) in ("verified", "unverified")]

    @cached_property
    def common(self) -> list[str]:
        """Paired tasks that both runs have scored."""
        return [t for t in self.paired if all(side.rewards(t) for side in self.sides)]

    def is_settled(self) -> bool:
        """It is known what passes."""
        return self.base.run.threshold is not None

    def change(self, task: str, metric: str) -> Fraction:
        """What a common task gained."""
        return self._changes[task, metric]

    @cached_property
    def _changes(self) -> dict[tuple[str, str], Fraction]:
        by_name = {}
        for metric in METRICS if self.is_settled() else METRICS[1:]:
            for task in self.common:
                before, after = (side.value(task, metric) for side in self.sides)
                assert before is not None and after is not None
                by_name[task, metric] = after - before
        return by_name

    def groups(self, tasks: Iterable[str]) -> dict[str, list[str]]:
        """Tasks that belong together; one that names no group is its own."""
        actual: dict[str, list[str]] = defaultdict(list)
        for task in tasks:
            actual[self.base.run.groups.get(task, f"task {task}")].append(task)
        return dict(actual)


def comparison_tasks(pair: Pair) -> dict[str, dict[str, Any]]:
    """How each task of either run fared."""
    by_name = {}
    for task in pair.tasks:
        row: dict[str, Any] = {
            "pairing": pair.pairing(task),
            "is_paired": task in pair.paired,
            "is_common": task in pair.common,
        }
        for name, side in zip(("base", "candidate"), pair.sides, strict=True):
            is_here, settled = task in side.keys, pair.is_settled()
            figures = {
                "n_attempts": pair.n_attempts(side, task),
                "n_scored": len(side.rewards(task)),
                "n_passed": sum(side.repeats(task, "pass_at_1")) if settled else None,
                "pass_rate": side.value(task, "pass_at_1") if settled else None,
                "mean_reward": side.value(task, "mean_reward"),
                "bucket": side.bucket(task),
            }
            row |= {f"{name}_{key}": value if is_here else None for key, value in figures.items()}
        is_told = row["is_common"]
        row["pass_change"] = pair.change(task, "pass_at_1") if is_told and settled else None
        row["reward_change"] = pair.change(task, "mean_reward") if is_told else None
        by_name[task] = row
    return by_name


def comparison(pair: Pair, metric: str) -> dict[str, Any]:
    """The figures of one change: levels, difference, both errors, bounds, and how sure it is."""
    common, states = pair.common, Counter(pair.pairing(task) for task in pair.tasks)
    shared = Counter(pair.pairing(task) for task in common)
    levels = [[side.value(task, metric) for task in pair.tasks] for side in pair.sides]
    base, candidate = ([value for value in own if value is not None] for own in levels)
    changes = [pair.change(task, metric) for task in common]
    mixed = [any(len(set(s.repeats(t, metric))) > 1 for s in pair.sides) for t in common]
    before, after = mean(base), mean(candidate)
    assert before is not None and after is not None
    by_name = {
        "n_base_tasks": len(base),
        "n_candidate_tasks": len(candidate),
        "n_common_tasks": len(common),
        "n_verified": shared["verified"],
        "n_unverified": shared["unverified"],
        "n_contradicted": states["contradicted"],
        "n_base_only": states["base only"],
        "n_candidate_only": states["candidate only"],
        "n_not_scored": len(pair.paired) - len(common),
        "base_value": before,
        "candidate_value": after,
        "total_change": after - before,
        "base_common": mean(
            [value for t in common if (value := pair.base.value(t, metric)) is not None]
        ),
        "candidate_common": mean(
            [value for t in common if (value := pair.candidate.value(t, metric)) is not None]
        ),
        "delta": mean(changes),
        "n_gains": sum(change > 0 for change in changes),
        "n_losses": sum(change < 0 for change in changes),
        "n_mixed_tasks": sum(mixed),
        "is_expected_known": all(side.run.expected is not None for side in pair.sides),
    }
    is_graded = any(not set(s.rewards(t)) <= {0, 1} for s in pair.sides for t in common)
    by_name["is_lead"] = (metric == "mean_reward") == (is_graded or not pair.is_settled())
    return (
        by_name | _sureness(pair, metric, changes, sum(mixed)) | _counted(pair, metric, pair.paired)
    )


def _sureness(pair: Pair, metric: str, changes: Sequence[Fraction], n_mixed: int) -> dict[str, Any]:
    """Errors, intervals and detectable changes for both questions."""
    groups = pair.groups(pair.common)
    new = _with_hidden(
        clustered_variance([[pair.change(t, metric) for t in own] for own in groups.values()]),
        {t: pair.change(t, metric) for t in pair.common},
        {t: [side.repeats(t, metric) for side in pair.sides] for t in pair.common},
    )
    sampling = [_sampling_variance(side, pair.common, metric) for side in pair.sides]
    same = None if None in sampling else sum((s for s in sampling if s is not None), NOTHING)
    bounded = metric == "pass_at_1" or pair.base.run.is_bounded
    delta, z = mean(changes), NormalDist().inv_cdf
    low, high = interval(delta, new, sizes(groups), is_bounded=bounded)
    has_interval = same is not None and n_mixed >= FEWEST_MIXED
    half = z((1 + LEVEL) / 2) * (root(same) or 0) if has_interval else None
    by_name = {
        "se_new_tasks": root(new),
        "se_same_tasks": root(same),
        "ci_new_tasks_low": low,
        "ci_new_tasks_high": high,
        "ci_same_tasks_low": None if half is None or delta is None else float(delta) - half,
        "ci_same_tasks_high": None if half is None or delta is None else float(delta) + half,
        "mde_new_tasks": None,
        "mde_same_tasks": None,
    }
    is_graded = any(not set(s.rewards(t)) <= {0, 1} for s in pair.sides for t in pair.common)
    is_passes = pair.is_settled() and (metric == "pass_at_1" or not is_graded)
    # By the rule itself, which a simulation holds; of rewards that are no passes by the error.
    if is_passes and len(groups) == len(pair.common):
        del by_name["mde_new_tasks"]
    if new and "mde_new_tasks" in by_name:
        shares = [float(stdtrit(degrees(sizes(groups)), s)) for s in ((1 + LEVEL) / 2, POWER)]
        by_name["mde_new_tasks"] = sum(shares) * (root(new) or 0)
    if same:
        by_name["mde_same_tasks"] = (z((1 + LEVEL) / 2) + z(POWER)) * (root(same) or 0)
    return by_name


def _with_hidden(
    square: Fraction | None,
    changes: Mapping[str, Fraction],
    attempts: Mapping[str, list[list[Fraction]]],
) -> Fraction | None:
    """Tasks with unequal repeats vary at least as their attempts, dealt out again, would."""
    n = len(changes)
    middle = mean(list(changes.values()))
    if square is None or middle is None or n < 2:
        return square
    hidden = NOTHING
    for task, (base, candidate) in attempts.items():
        if len(base) != len(candidate):
            pooled = variance(base + candidate) or NOTHING
            dealt = pooled * (Fraction(1, len(base)) + Fraction(1, len(candidate)))
            hidden += dealt - (changes[task] - middle) ** 2 * Fraction(n, n - 1)
    return square + max(hidden, NOTHING) / n**2


def _sampling_variance(side: Side, tasks: Sequence[str], metric: str) -> Fraction | None:
    """How far the mean of these tasks would move if they were sampled again."""
    repeats = {task: side.repeats(task, metric) for task in tasks}
    own = {task: variance(values) for task, values in repeats.items()}
    sizes = {task: len(values) for task, values in repeats.items()}
    return same_tasks_variance(
        {task: None if v is None else v / sizes[task] for task, v in own.items()}, sizes
    )


def _counted(pair: Pair, metric: str, tasks: Sequence[str]) -> dict[str, Any]:
    """The change with what is missing counted as failed, and how far it could lie either way.

    Of a task that a run lacks nothing is known but its bounds.
    """
    bounded = metric == "pass_at_1" or pair.base.run.is_bounded
    ends = {
        t: [
            side.ends_of_missing(t, metric, pair.n_attempts(side, t))
            if t in side.keys
            else (NOTHING, Fraction(1))
            for side in pair.sides
        ]
        for t in tasks
    }
    names = ("delta_counted_as_fail", "bound_low", "bound_high")
    blank = (*names, "ci_counted_as_fail_low", "ci_counted_as_fail_high")
    is_lacking = any(t not in side.keys for t in tasks for side in pair.sides)
    if not ends or any(None in own for own in ends.values()) or (is_lacking and not bounded):
        return dict.fromkeys(blank)
    known = {t: [own for own in both if own is not None] for t, both in ends.items()}
    counted = {t: after[0] - before[0] for t, (before, after) in known.items()}
    groups = pair.groups(ends)
    both_have = [t for t in tasks if all(t in side.keys for side in pair.sides)]
    filled = {
        t: [_filled(side.repeats(t, metric), pair.n_attempts(side, t)) for side in pair.sides]
        for t in both_have
    }
    square = _with_hidden(
        clustered_variance([[counted[t] for t in own] for own in groups.values()]), counted, filled
    )
    delta = mean(list(counted.values()))
    low, high = interval(delta, square, sizes(groups), is_bounded=bounded)
    return {
        "delta_counted_as_fail": delta,
        "bound_low": mean([after[0] - before[1] for before, after in known.values()]),
        "bound_high": mean([after[1] - before[0] for before, after in known.values()]),
        "ci_counted_as_fail_low": low,
        "ci_counted_as_fail_high": high,
    }


def _filled(worth: list[Fraction], n_attempts: int) -> list[Fraction]:
    """What each attempt is worth, those that are missing nothing."""
    return worth + [NOTHING] * (n_attempts - len(worth))


def interval(
    centre: Fraction | None, square: Fraction | None, own: Sequence[int], *, is_bounded: bool
) -> tuple[float | None, float | None]:
    """The t interval of a mean of differences, cut where rates end.

    Differences that are all alike have no spread. Where rates bound them, a share of tasks that
    n units would miss once in forty could be 1 or -1; without bounds there is nothing to say.
    """
    n_units = len(own)
    if centre is None or square is None or n_units < 2 or (square == 0 and not is_bounded):
        return None, None
    middle, unseen = float(centre), 1 - 0.025 ** (1 / n_units)
    if square == 0:
        return (1 - unseen) * middle - unseen, (1 - unseen) * middle + unseen
    half = float(stdtrit(degrees(own), (1 + LEVEL) / 2)) * (root(square) or 0)
    low, high = middle - half, middle + half
    return (max(low, -1.0), min(high, 1.0)) if is_bounded else (low, high)


def verdict(
    pair: Pair, metric: str, p_values: Sequence[float | None], margin: float
) -> tuple[str, bool]:
    """What the interval, both bounds and both tests agree on; and whether tasks of one run undo it.

    A task that one run lacks may have been lost, unless something says what that run expected.
    """
    if not pair.paired:
        return "not comparable", False
    shared, whole = every_end(pair, metric)
    both = [shared, whole]
    is_tested = all(p is not None and p <= 0.05 for p in p_values)
    first, message = (_tested(ends, margin, is_tested=is_tested) for ends in ([shared], both))
    return message, message == "inconclusive" != first


def lost(pair: Pair) -> list[str]:
    """Tasks that one run may have lost: nothing says that it was not to have them."""
    unknown = [side.run.expected is None for side in pair.sides]
    return [
        task
        for task in pair.tasks
        if (pair.pairing(task) == "base only" and unknown[1])
        or (pair.pairing(task) == "candidate only" and unknown[0])
    ]


def every_end(pair: Pair, metric: str) -> list[list[tuple[float, float]] | None]:
    """What decides, over paired tasks, and over those too that one run may have lost."""
    return [_ends(pair, metric, tasks) for tasks in (pair.paired, pair.paired + lost(pair))]


def _ends(pair: Pair, metric: str, tasks: Sequence[str]) -> list[tuple[float, float]] | None:
    """The interval, the bounds, and the interval with unseen tasks; None where one is unknown."""
    actual = _counted(pair, metric, tasks)
    names = ("ci_counted_as_fail_low", "ci_counted_as_fail_high", "bound_low", "bound_high")
    if any(actual[name] is None for name in names):
        return None
    low, high, bound_low, bound_high = (float(actual[name]) for name in names)
    unseen = 1 - 0.025 ** (1 / len(pair.groups(tasks)))
    values = [float(reward) for side in pair.sides for reward in side.scored.values()]
    is_rate = metric == "pass_at_1" or pair.base.run.is_bounded
    reach = 1.0 if is_rate else max(values) - min(values)
    delta = float(actual["delta_counted_as_fail"])
    wide = delta - unseen * (reach + delta), delta + unseen * (reach - delta)
    return [(low, high), (bound_low, bound_high), (min(low, wide[0]), max(high, wide[1]))]


def _tested(
    every: Sequence[list[tuple[float, float]] | None], margin: float, *, is_tested: bool
) -> str:
    """A change needs the tests, and ends beyond 0; none needs all ends within the margin.

    What changed one way did not change the other.
    """
    seen, wide = [], []
    for ends in every:
        if ends is None:
            return "inconclusive"
        seen += ends[:2]
        wide += ends
    if is_tested and min(low for low, _ in seen) > 1e-12:
        return "improved"
    if is_tested and max(high for _, high in seen) < -1e-12:
        return "regressed"
    is_low = min(low for low, _ in wide) > 1e-12 - margin
    is_high = max(high for _, high in wide) < margin - 1e-12
    return "no change" if is_low and is_high else "inconclusive"


def p_mean(pair: Pair, metric: str) -> tuple[float | None, str | None]:
    """How often a mean that did not change moves as far, and by which test.

    By the signs of tasks, of whole groups where there are any; where repeats differ by t. None
    where signs are more than can be enumerated here.
    """
    common = pair.common
    if not common:
        return None, None
    groups = pair.groups(common)
    changes = {t: pair.change(t, metric) for t in common}
    moved = [abs(sum(changes[t] for t in own)) for own in groups.values()]
    seen = abs(sum(changes.values(), NOTHING))
    if all(len({len(side.rewards(t)) for side in pair.sides}) == 1 for t in common):
        method = "signs of tasks" if len(groups) == len(common) else "signs of groups"
        actual = share_at_least(seen, [Counter((move, -move)) for move in moved if move])
        return (None if actual is None else float(actual)), method
    method = "t of tasks' differences"
    square = _with_hidden(
        clustered_variance([[changes[t] for t in own] for own in groups.values()]),
        changes,
        {t: [side.repeats(t, metric) for side in pair.sides] for t in common},
    )
    if square is None:
        return None, None
    if not square:
        return (2.0 ** (1 - len(groups)) if seen else 1.0), method
    distance = float(seen / len(common)) / (root(square) or 1)
    return 2 * float(stdtr(degrees(sizes(groups)), -distance)), method


def p_any(pair: Pair, metric: str) -> float | None:
    """How often the rollouts of tasks that did not change, dealt out again, move as far."""
    seen = abs(sum((pair.change(t, metric) for t in pair.common), NOTHING))
    dealt = [_dealt(*(side.repeats(t, metric) for side in pair.sides)) for t in pair.common]
    actual = share_at_least(seen, dealt)
    return None if actual is None or not pair.common else float(actual)


def _dealt(base: list[Fraction], candidate: list[Fraction]) -> Counter[Fraction]:
    """A task's change under every way to say which rollouts were the candidate's."""
    pooled, n = base + candidate, len(candidate)
    total = sum(pooled, NOTHING)
    chosen = Counter(sum(own, NOTHING) for own in combinations(pooled, n))
    return Counter({own / n - (total - own) / len(base): number for own, number in chosen.items()})


def share_at_least(seen: Fraction, parts: Sequence[Counter[Fraction]]) -> Fraction | None:
    """How often a sum, one of each part, is as far from 0 as was seen."""
    sums = Counter({NOTHING: 1})
    for part in parts:
        further: Counter[Fraction] = Counter()
        for total, number in sums.items():
            for value, more in part.items():
                further[total + value] += number * more
        sums = further
        if len(sums) > MOST_STATES:
            return None
    far = sum(number for total, number in sums.items() if abs(total) >= seen)
    return Fraction(far, sum(sums.values()))


def metrics(pair: Pair) -> dict[str, dict[str, Any]]:
    """What else changed: pass@k and pass^k at a common k, what tasks took, what was recorded."""
    by_name: dict[str, dict[str, Any]] = {}
    k = min(modal_repeats(side.run) or 0 for side in pair.sides)
    if pair.is_settled() and k > 1:
        for name, at in (("pass_at_k", pass_at), ("pass_hat_k", pass_hat)):
            both = {
                task: [at(list(map(bool, s.repeats(task, "pass_at_1"))), k) for s in pair.sides]
                for task in pair.common
            }
            by_name |= _changed(name, both, k=k, is_bounded=True)
    for name in MEASURES:
        both = {t: [side.measured(t, name) for side in pair.sides] for t in pair.common}
        by_name |= _changed(name, both, k=None, is_bounded=False)
    recorded = [_recorded(side.run) for side in pair.sides]
    for name in recorded[0]:
        before, after = (own[name] for own in recorded)
        delta = None if before is None or after is None else after - before
        by_name[name] = {"base_value": before, "candidate_value": after, "delta": delta}
    return by_name


def _changed(
    name: str, both: Mapping[str, list[Fraction | None]], *, k: int | None, is_bounded: bool
) -> dict[str, dict[str, Any]]:
    known = [(a, b) for a, b in both.values() if a is not None and b is not None]
    if not known:
        return {}
    changes = [after - before for before, after in known]
    spread = variance(changes)
    square = None if spread is None else spread / len(changes)
    low, high = interval(mean(changes), square, [1] * len(changes), is_bounded=is_bounded)
    row = {
        "k": k,
        "n_tasks": len(known),
        "base_value": mean([before for before, _ in known]),
        "candidate_value": mean([after for _, after in known]),
        "delta": mean(changes),
        "se_new_tasks": root(square),
        "ci_new_tasks_low": low,
        "ci_new_tasks_high": high,
    }
    return {name: row}


def _recorded(run: Run) -> dict[str, Fraction | None]:
    """Shares of what was expected, and of what was recorded."""
    ends = Counter(run.outcome(key) for key in run.expected or ())
    n_expected = len(run.expected or ())
    unscored = sum(row.reward is None for row in run.rollouts.values())
    return {
        "coverage": ratio(ends["scored"], n_expected),
        "failed_attempt_rate": ratio(ends["failed attempt"], n_expected),
        "missing_rate": ratio(ends["missing"], n_expected),
        "unscored_rate": ratio(unscored, len(run.rollouts)),
    }
