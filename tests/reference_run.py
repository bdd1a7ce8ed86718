"""A run as plain values, and what k attempts at one task reach: by enumeration, in fractions.

Written from STATISTICS.md; nothing here is taken from `pipeline`. What is undefined is None.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

Key = tuple[str, int]  # a task and a repeat

NOTHING = Fraction(0)


@dataclass(frozen=True)
class Rollout:
    """A recorded row; without a usable reward it is not scored."""

    reward: float | None
    answer: str | None = None
    components: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """What a run holds, what it was asked for, and how each failed attempt ended."""

    rollouts: Mapping[Key, Rollout]
    expected: frozenset[Key] | None = None
    failures: Mapping[Key, str | None] = field(default_factory=dict)
    threshold: float | None = 1.0
    groups: Mapping[str, str] = field(default_factory=dict)
    is_bounded: bool = True

    def grid(self) -> list[Key]:
        """Everything expected or recorded."""
        return sorted(set(self.rollouts) | (self.expected or frozenset()))

    def tasks(self) -> list[str]:
        """Every task of the grid."""
        return sorted({task for task, _ in self.grid()})

    def only(self, tasks: Iterable[str]) -> Run:
        """The run as if it held these tasks alone."""
        remaining = set(tasks)
        expected = self.expected
        return Run(
            {key: row for key, row in self.rollouts.items() if key[0] in remaining},
            None if expected is None else frozenset(key for key in expected if key[0] in remaining),
            {key: kind for key, kind in self.failures.items() if key[0] in remaining},
            self.threshold,
            self.groups,
            self.is_bounded,
        )

    def outcome(self, key: Key) -> str:
        """How one cell of the grid ended."""
        if key in self.rollouts:
            return "unscored" if self.rollouts[key].reward is None else "scored"
        return "failed attempt" if key in self.failures else "missing"

    def passes(self, reward: float) -> bool:
        """Does this reward pass? Only where a threshold is settled."""
        assert self.threshold is not None
        return Fraction(reward) >= Fraction(self.threshold) - Fraction(1, 10**9)

    def rewards(self) -> dict[str, list[Fraction]]:
        """The rewards of each task's scored rollouts."""
        actual: dict[str, list[Fraction]] = defaultdict(list)
        for (task, _), row in sorted(self.rollouts.items()):
            if row.reward is not None:
                actual[task].append(Fraction(row.reward))
        return dict(actual)

    def verdicts(self) -> dict[str, list[bool]]:
        """Pass or not, of each task's scored rollouts; nothing without a threshold."""
        if self.threshold is None:
            return {}
        return {
            task: [self.passes(float(reward)) for reward in rewards]
            for task, rewards in self.rewards().items()
        }

    def votes(self) -> dict[str, list[tuple[Hashable, bool]]]:
        """Answer and pass of each task's scored rollouts, where the run has any answer."""
        actual: dict[str, list[tuple[Hashable, bool]]] = defaultdict(list)
        for (task, _), row in sorted(self.rollouts.items()):
            if row.reward is not None and self.threshold is not None:
                actual[task].append((row.answer, self.passes(row.reward)))
        answers = [answer for votes in actual.values() for answer, _ in votes]
        return dict(actual) if any(answer is not None for answer in answers) else {}


def mean(values: Sequence[Fraction | int]) -> Fraction | None:
    return sum(map(Fraction, values), NOTHING) / len(values) if values else None


def variance(values: Sequence[Fraction]) -> Fraction | None:
    """The sample variance; None with fewer than two values."""
    centre = mean(values)
    if len(values) < 2 or centre is None:
        return None
    return sum(((value - centre) ** 2 for value in values), NOTHING) / (len(values) - 1)


def root(value: Fraction | None) -> float | None:
    """The square root, exact to the last digits however small the fraction."""
    if value is None:
        return None
    scale = 10**40
    return math.isqrt(int(value * scale * scale)) / scale


def ratio(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


# Levels of one task


def over_subsets(items: Sequence[Any], k: int, value: Callable[[Any], Any]) -> Fraction | None:
    """The mean of a value over all k-subsets; None where there is none."""
    return mean([Fraction(value(chosen)) for chosen in combinations(items, k)])


def pass_at(verdicts: Sequence[bool], k: int) -> Fraction | None:
    return over_subsets(verdicts, k, any)


def pass_hat(verdicts: Sequence[bool], k: int) -> Fraction | None:
    return over_subsets(verdicts, k, all)


def max_at(rewards: Sequence[Fraction], k: int) -> Fraction | None:
    return over_subsets(rewards, k, max)


def maj_at(votes: Sequence[tuple[Hashable, bool]], k: int) -> Fraction | None:
    """Expected rightness of the commonest answer; ties averaged, no answer is a wrong one."""
    rightness = {
        answer: NOTHING if answer is None else mean([v for a, v in votes if a == answer])
        for answer, _ in votes
    }

    def right(chosen: Sequence[tuple[Hashable, bool]]) -> Fraction:
        counts = Counter(answer for answer, _ in chosen)
        top = max(counts.values())
        actual = mean([rightness[answer] for answer, n in counts.items() if n == top])
        assert actual is not None
        return actual

    return over_subsets(votes, k, right)


def pass_at_by_formula(n: int, passed: int, k: int) -> Fraction:
    """1 - C(n - c, k) / C(n, k): what enumeration gives, for n beyond enumeration."""
    return 1 - Fraction(math.comb(n - passed, k), math.comb(n, k))


def pass_hat_by_formula(n: int, passed: int, k: int) -> Fraction:
    return Fraction(math.comb(passed, k), math.comb(n, k))


def max_at_by_formula(rewards: Sequence[Fraction], k: int) -> Fraction:
    """Sum over ranks r of x_(r) C(r - 1, k - 1) / C(n, k), x ascending."""
    ranked = enumerate(sorted(rewards), start=1)
    total = sum((x * math.comb(r - 1, k - 1) for r, x in ranked), NOTHING)
    return total / math.comb(len(rewards), k)
