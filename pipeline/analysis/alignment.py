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
        """The calls at these places."""
        calls, steps = (tuple(each[at] for at in places) for each in (self.calls, self.steps))
        return Trail(calls, steps, [self.tools[at] for at in places])

    @cached_property
    def counted(self) -> Counter[int]:
        """How often each call was made."""
        return Counter(self.calls)

    def n_shared(self, other: Trail) -> int:
        """How many calls both make, in any order."""
        return 0 if self.is_apart(other) else (self.counted & other.counted).total()

    def is_apart(self, other: Trail) -> bool:
        """Whether no call of the one is made by the other."""
        return self.counted.keys().isdisjoint(other.counted)


@dataclass(frozen=True)
class Divergence:
    """Where a failing trail leaves a passing one; a step of None is the end of that side."""

    difference: str
    step: int | None
    passing_step: int | None
    n_common: int
    n_common_first: int
    # A call of the passing side that the failing one left out before they diverged.
    skipped_step: int | None = None

    @property
    def is_same(self) -> bool:
        """Whether no call differs, nor what came of it."""
        return self.difference == "answer"


def n_shared_first(left: Sequence[object], right: Sequence[object]) -> int:
    """How many elements two sequences have in common at their beginning."""
    pairs = zip(left, right, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def longest_common(left: Sequence[int], right: Sequence[int]) -> list[Pair]:
    """The longest common subsequence as pairs of places, each as early as can be."""
    head = n_shared_first(left, right)
    tail = n_shared_first(left[head:][::-1], right[head:][::-1])
    inner = _common(
        left[head : len(left) - tail][:MOST_ORDERED], right[head : len(right) - tail][:MOST_ORDERED]
    )
    return [
        *((place, place) for place in range(head)),
        *((head + a, head + b) for a, b in inner),
        *((len(left) - back, len(right) - back) for back in range(tail, 0, -1)),
    ]


def _common(left: Sequence[int], right: Sequence[int]) -> list[Pair]:
    """By rows of bits: a bit of row i is 0 where one more of `right` adds to what is common.

    Both are walked from their ends, so that the way back goes from their beginnings.
    """
    if set(left).isdisjoint(right):
        return []
    places: dict[int, int] = {}
    for bit, value in enumerate(reversed(right)):
        places[value] = places.get(value, 0) | 1 << bit
    every = (1 << len(right)) - 1
    rows = [every]
    for value in reversed(left):
        hits = rows[-1] & places.get(value, 0)
        rows.append(((rows[-1] + hits) | (rows[-1] - hits)) & every)
    pairs = []
    a, b = len(left), len(right)
    while a and b:
        if rows[a] >> (b - 1) & 1:
            b -= 1
        elif not rows[a - 1] >> (b - 1) & 1:
            a -= 1
        else:
            pairs.append((len(left) - a, len(right) - b))
            a, b = a - 1, b - 1
    return pairs


@dataclass(frozen=True)
class Alignment:
    """Two trails, and the steps of both that are the same call."""

    failing: Trail
    passing: Trail
    in_order: list[Pair]
    # With those that stand in another order.
    mates: dict[int, int]

    @cached_property
    def left_out(self) -> list[int]:
        """The steps of the passing trail that the failing one has not."""
        mated = set(self.mates.values())
        return [step for step in range(len(self.passing)) if step not in mated]

    def place(self, step: int) -> int | None:
        """What the passing trail does where the failing one takes a step of its own.

        A step of its own too, or what comes next of all that the failing one has yet to do.
        """
        start = 1 + max((b for a, b in self.in_order if a < step), default=-1)
        end = min((b for a, b in self.in_order if a > step), default=len(self.passing))
        done = {b for a, b in self.mates.items() if a < step}
        own = (other for other in self.left_out if start <= other < end)
        rest = (other for other in range(start, len(self.passing)) if other not in done)
        return next(own, next(rest, None))

    def difference(self, step: int, place: int | None) -> str:
        """How a step of the failing trail's own differs from what the passing one does there.

        It is one more where the passing one goes on with what both do.
        """
        if place not in self.left_out:
            return "extra"
        same = place is not None and self.failing.tools[step] == self.passing.tools[place]
        return "arguments" if same else "tool"

    def diverging(self, difference: str, step: int | None, passing_step: int | None) -> Divergence:
        """The place where they diverge, with what came before it."""
        n_first = len(self.failing) if step is None else step
        limit = len(self.passing) if passing_step is None else passing_step
        skipped = next((other for other in self.left_out if other < limit), None)
        return Divergence(
            difference, step, passing_step, len(self.mates), n_first, skipped_step=skipped
        )


def align(failing: Trail, passing: Trail) -> Alignment:
    """Equal calls in pairs: the most that stand in one order, then those that stand in another."""
    if failing.is_apart(passing):
        return Alignment(failing, passing, [], {})
    in_order = longest_common(failing.calls, passing.calls)
    moved = _moved(failing.calls, passing.calls, in_order)
    return Alignment(failing, passing, in_order, {**dict(in_order), **moved})


def _moved(left: Sequence[int], right: Sequence[int], in_order: list[Pair]) -> dict[int, int]:
    if len(in_order) in (len(left), len(right)):
        return {}
    seen, mated = {a for a, _ in in_order}, {b for _, b in in_order}
    free: dict[int, deque[int]] = {}
    for place, value in enumerate(right):
        if place not in mated:
            free.setdefault(value, deque()).append(place)
    return {
        place: free[value].popleft()
        for place, value in enumerate(left)
        if place not in seen and free.get(value)
    }


def first_divergence(failing: Trail, passing: Trail) -> Divergence:
    """What the failing trail first does, or gets, that the passing one does not.

    A call in another order is no difference. Nor is yet a call left out, where the two go on as
    one: it counts where nothing that follows differs.
    """
    both = align(failing, passing)
    for step in range(len(failing)):
        mate = both.mates.get(step)
        if mate is None:
            place = both.place(step)
            return both.diverging(both.difference(step, place), step, place)
        if failing.steps[step] != passing.steps[mate]:
            return both.diverging("result", step, mate)
    if not both.left_out:
        return both.diverging("answer", None, None)
    place = both.left_out[0]
    after = 1 + max((a for a, b in both.in_order if b < place), default=-1)
    return both.diverging("missing", after if after < len(failing) else None, place)
