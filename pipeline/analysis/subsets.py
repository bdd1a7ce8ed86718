"""Some of many attempts: most signs are of few, and there may be as many signs as attempts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[Any]


class Some:
    """Few attempts by their places, many by a flag for each: whichever takes less memory."""

    __slots__ = ("_chosen", "is_few", "n", "size")

    def __init__(self, n: int, places: Places) -> None:
        """Of n attempts those at these places, each once and in order."""
        self.n, self.size = n, len(places)
        self.is_few = 4 * self.size < n
        self._chosen: Places = places.astype(np.int32) if self.is_few else _flags(n, places)

    @classmethod
    def of(cls, flags: Flags) -> Some:
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

    def n_shared(self, other: Some) -> int:
        """How many are of both."""
        few, many = sorted((self, other), key=lambda some: some.size)
        return int(np.count_nonzero(many.has(few.places)))

    def __and__(self, other: Some | Flags) -> Some:
        """Those that are of the other, too, or have a flag."""
        if isinstance(other, Some):
            few, many = sorted((self, other), key=lambda some: some.size)
            return few._where(many.has(few.places))
        return self._where(other[self.places])

    def __sub__(self, other: Some | Flags) -> Some:
        """Those that are not of the other, or have no flag."""
        places = self.places
        return self._where(~(other.has(places) if isinstance(other, Some) else other[places]))

    def _where(self, is_chosen: Flags) -> Some:
        return Some(self.n, self.places[is_chosen])


class Among:
    """Attempts that are looked at: how many of them are known, counted once for many signs."""

    def __init__(self, flags: Flags) -> None:
        """Those with a flag."""
        self.flags = flags
        self._counts: dict[Some, int] = {}
        self._own: dict[Some, Some] = {}

    @cached_property
    def size(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.flags))

    def count(self, some: Some) -> int:
        """How many of them are of these, which several signs share."""
        if some not in self._counts:
            self._counts[some] = some.count(self.flags)
        return self._counts[some]

    def own(self, some: Some) -> Some:
        """These as far as they are looked at, by the places that they have there."""
        return Some(self.size, self._numbers[(some & self.flags).places])

    def shared(self, some: Some) -> Some:
        """The same, for what several signs share."""
        if some not in self._own:
            self._own[some] = self.own(some)
        return self._own[some]

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int64]:
        return np.cumsum(self.flags) - 1


def union(every: Iterable[Some]) -> Some:
    """Those that are of any, of at least one."""
    first, *others = every
    flags = first.flags.copy()
    for some in others:
        flags[some.places] = True
    return Some.of(flags)


def _flags(n: int, places: Places) -> Flags:
    flags = np.zeros(n, dtype=bool)
    flags[places] = True
    return flags
