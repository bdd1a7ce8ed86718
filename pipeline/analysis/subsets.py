"""Some of many attempts: most signs are of few, and there may be as many signs as attempts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[Any]


class Subset:
    """Some of n attempts: few by their indices, many by a flag for each, to take less memory.

    Equality is identity: signs of one field share one object, which keys the caches of `Selection`.
    """

    __slots__ = ("_chosen", "is_few", "n", "size")

    def __init__(self, n: int, places: Places) -> None:
        """Of n attempts those at these places (indices), each once and in order."""
        self.n, self.size = n, len(places)
        self.is_few = 4 * self.size < n
        self._chosen: Places = places.astype(np.int32) if self.is_few else _flags(n, places)

    @classmethod
    def of(cls, flags: Flags) -> Subset:
        """Those with a flag."""
        return cls(len(flags), np.flatnonzero(flags))

    @property
    def flags(self) -> Flags:
        """Of each attempt, whether it is one of them."""
        return _flags(self.n, self._chosen) if self.is_few else self._chosen

    @property
    def places(self) -> Places:
        """Their places, in order."""
        return self._chosen if self.is_few else np.flatnonzero(self._chosen)

    def has(self, places: Places) -> Flags:
        """Which of these places are among them."""
        if self.is_few:
            return np.isin(places, self._chosen, assume_unique=True)
        return np.asarray(self._chosen[places])

    def count(self, flags: Flags) -> int:
        """How many of them have a flag."""
        chosen = flags[self._chosen] if self.is_few else flags & self._chosen
        return int(np.count_nonzero(chosen))

    def n_shared(self, other: Subset) -> int:
        """How many are of both."""
        few, many = sorted((self, other), key=lambda subset: subset.size)
        return int(np.count_nonzero(many.has(few.places)))

    def __and__(self, other: Subset | Flags) -> Subset:
        """Those that are of the other, too, or have a flag."""
        if isinstance(other, Subset):
            few, many = sorted((self, other), key=lambda subset: subset.size)
            return few._where(many.has(few.places))
        return self._where(other[self.places])

    def __sub__(self, other: Subset | Flags) -> Subset:
        """Those that are not of the other, or have no flag."""
        places = self.places
        return self._where(~(other.has(places) if isinstance(other, Subset) else other[places]))

    def _where(self, is_chosen: Flags) -> Subset:
        return Subset(self.n, self.places[is_chosen])


class Selection:
    """Attempts that are looked at, and the parts of subsets among them.

    Counts and parts of a subset that several signs share are computed once.
    """

    def __init__(self, flags: Flags) -> None:
        """Those with a flag."""
        self.flags = flags
        self._counts: dict[Subset, int] = {}
        self._parts: dict[Subset, Subset] = {}

    @cached_property
    def size(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.flags))

    def count(self, subset: Subset) -> int:
        """How many of them are of these, which several signs share."""
        if subset not in self._counts:
            self._counts[subset] = subset.count(self.flags)
        return self._counts[subset]

    def part(self, subset: Subset) -> Subset:
        """The part of a subset that is selected, by its places within the selection."""
        return Subset(self.size, self._numbers[(subset & self.flags).places])

    def cached_part(self, subset: Subset) -> Subset:
        """The same, computed once for a subset that several signs share."""
        if subset not in self._parts:
            self._parts[subset] = self.part(subset)
        return self._parts[subset]

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int64]:
        return np.cumsum(self.flags) - 1


def union(every: Iterable[Subset]) -> Subset:
    """Those that are of any, of at least one."""
    first, *others = every
    flags = first.flags.copy()
    for subset in others:
        flags[subset.places] = True
    return Subset.of(flags)


def _flags(n: int, places: Places) -> Flags:
    flags = np.zeros(n, dtype=bool)
    flags[places] = True
    return flags
