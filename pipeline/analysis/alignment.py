"""Two rollouts side by side, step by step: what they share, and where they first diverge."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Pair = tuple[int, int]

# Of what is left between a common beginning and a common end, so much is brought into one order;
# beyond it equal calls are still found, but not where they stand.
MOST_ORDERED = 2000


@dataclass(frozen=True)
class Trail:
    """The calls of a rollout in order, as numbers that are equal where what they stand for is."""

    calls: tuple[int, ...]
    # Each call together with what came of it.
    steps: tuple[int, ...]
    tools: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.calls)

    def only(self, places: Sequence[int]) -> Trail:
        """The calls at these places, which are in order."""
        if len(places) == len(self):
            return self
        calls, steps = (tuple(each[at] for at in places) for each in (self.calls, self.steps))
        return Trail(calls, steps, [self.tools[at] for at in places])

    @cached_property
    def distinct(self) -> frozenset[int]:
        """The calls without their repeats."""
        return frozenset(self.calls)

    def n_shared(self, other: Trail) -> int:
        """How many calls both make, in any order."""
        shared = self.distinct & other.distinct
        # Counting takes long, and most calls are made once.
        if shared and len(self.distinct) < len(self) and len(other.distinct) < len(other):
            return (Counter(self.calls) & Counter(other.calls)).total()
        return len(shared)

    def is_apart(self, other: Trail) -> bool:
        """Whether no call of the one is made by the other."""
        return self.distinct.isdisjoint(other.distinct)


@dataclass(frozen=True)
class Divergence:
    """Where a failing trail leaves a passing one; a step of None is the end of that side."""

    difference: str
    step: int | None
    passing_step: int | None
    # A call of the passing side that the failing one left out before they diverged.
    skipped_step: int | None


def n_shared_first(first: Sequence[object], second: Sequence[object]) -> int:
    """How many elements two sequences have in common at their beginning."""
    for n, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return n
    return min(len(first), len(second))


def longest_common(first: Sequence[int], second: Sequence[int]) -> list[Pair]:
    """The longest common subsequence as pairs of places, each as early as can be."""
    head = n_shared_first(first, second)
    tail = n_shared_first(first[head:][::-1], second[head:][::-1])
    inner = _common(
        first[head : len(first) - tail][:MOST_ORDERED],
        second[head : len(second) - tail][:MOST_ORDERED],
    )
    return [
        *((place, place) for place in range(head)),
        *((head + a, head + b) for a, b in inner),
        *((len(first) - back, len(second) - back) for back in range(tail, 0, -1)),
    ]


def _common(first: Sequence[int], second: Sequence[int]) -> list[Pair]:
    """By rows of bits: a bit of row i is 0 where one more of `second` adds to what is common.

    Both are walked from their ends, so that the way back goes from their beginnings.
    """
    if set(first).isdisjoint(second):
        return []
    places: dict[int, int] = {}
    for bit, value in enumerate(reversed(second)):
        places[value] = places.get(value, 0) | 1 << bit
    every = (1 << len(second)) - 1
    rows = [every]
    for value in reversed(first):
        hits = rows[-1] & places.get(value, 0)
        rows.append(((rows[-1] + hits) | (rows[-1] - hits)) & every)
    pairs = []
    a, b = len(first), len(second)
    while a and b:
        if rows[a] >> (b - 1) & 1:
            b -= 1
        elif not rows[a - 1] >> (b - 1) & 1:
            a -= 1
        else:
            pairs.append((len(first) - a, len(second) - b))
            a, b = a - 1, b - 1
    return pairs


def first_divergence(failing: Trail, passing: Trail) -> Divergence:
    """What the failing trail first does, or gets, that the passing one does not.

    A call in another order is no difference. Nor is yet a call left out, where the two go on as
    one: it counts where nothing that follows differs.
    """
    in_order = [] if failing.is_apart(passing) else longest_common(failing.calls, passing.calls)
    mates = {**dict(in_order), **_moved(failing.calls, passing.calls, in_order)}
    left_out = sorted(set(range(len(passing))) - set(mates.values()))

    def diverging(difference: str, step: int | None, place: int | None) -> Divergence:
        skipped = next((other for other in left_out if place is None or other < place), None)
        return Divergence(difference, step, place, skipped)

    for step, outcome in enumerate(failing.steps):
        mate = mates.get(step)
        if mate is not None and outcome != passing.steps[mate]:
            return diverging("result", step, mate)
        if mate is None:
            place = _place(step, in_order, mates, left_out, len(passing))
            # It is one more where the passing one goes on with what both do.
            if place is None or place not in left_out:
                return diverging("extra", step, place)
            is_same_tool = failing.tools[step] == passing.tools[place]
            return diverging("arguments" if is_same_tool else "tool", step, place)
    if not left_out:
        return diverging("answer", None, None)
    after = 1 + max((a for a, b in in_order if b < left_out[0]), default=-1)
    return diverging("missing", after if after < len(failing) else None, left_out[0])


def _moved(first: Sequence[int], second: Sequence[int], in_order: list[Pair]) -> dict[int, int]:
    """Equal calls in another order, in pairs."""
    seen, mated = {a for a, _ in in_order}, {b for _, b in in_order}
    free: dict[int, deque[int]] = {}
    for place, value in enumerate(second):
        if place not in mated:
            free.setdefault(value, deque()).append(place)
    return {
        place: free[value].popleft()
        for place, value in enumerate(first)
        if place not in seen and free.get(value)
    }


def _place(
    step: int, in_order: list[Pair], mates: dict[int, int], left_out: list[int], n_passing: int
) -> int | None:
    """What the passing trail does where the failing one takes a step of its own.

    A step of its own too, or what comes next of all that the failing one has yet to do.
    """
    start = 1 + max((b for a, b in in_order if a < step), default=-1)
    end = min((b for a, b in in_order if a > step), default=n_passing)
    done = {b for a, b in mates.items() if a < step}
    own = (other for other in left_out if start <= other < end)
    rest = (other for other in range(start, n_passing) if other not in done)
    return next(own, next(rest, None))
