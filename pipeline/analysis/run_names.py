"""Short names of runs: what distinguishes the runs of a benchmark from one another."""

from __future__ import annotations

import os.path
import re
from collections import Counter
from collections.abc import Sequence
from itertools import count, groupby
from operator import itemgetter

import pyarrow as pa

LONGEST = 28
BORDERS = tuple("_./ -")
# Up to a word that does not begin with a digit: step_100 is called so, not 100.
BEGINNING = re.compile(r".*[_./ -](?=[^_./ 0-9-])")
# From a word on; neither a version nor a date is cut.
ENDING = re.compile(r"(?:_|[./ -](?![0-9])).*")


def aliases(runs: pa.Table) -> pa.Table:
    """The runs, by benchmark, each with a short name that no other run has."""
    names: list[str] = runs["run_id"].to_pylist()
    shown: list[str] = []
    for _, own in groupby(zip(runs["benchmark"].to_pylist(), names, strict=True), itemgetter(0)):
        shown += distinguished([name for _, name in own])
    # Names that are alike in several benchmarks, or the only one of theirs: as all runs differ.
    uses = Counter(map(str.lower, shown))
    of_all = distinguished(names)
    wanted = [
        other if uses[alias.lower()] > 1 or len(alias) > LONGEST else alias
        for alias, other in zip(shown, of_all, strict=True)
    ]
    taken = {name.lower() for name in names if len(name) <= LONGEST}
    chosen: list[str] = []
    uses = Counter()
    for name, alias in zip(names, wanted, strict=True):
        uses[shortened(alias, "")] += 1
        numbers = count(uses[shortened(alias, "")])
        numbered = (shortened(alias, f"~{number}" if number > 1 else "") for number in numbers)
        free = (each for each in numbered if each.lower() not in taken)
        chosen.append(name if len(name) <= LONGEST else next(free))
        taken.add(chosen[-1].lower())
    return runs.append_column("alias", pa.array(chosen, pa.string()))


def distinguished(names: Sequence[str]) -> list[str]:
    """Long names without the words that all of them begin or end with."""
    if len(names) == 1:
        return list(names)
    alike = _alike(names)
    # A name that ends there would keep nothing, and one that goes on with a digit only a number.
    is_border = alike.endswith(BORDERS) and all(name[len(alike) :][:1].isalpha() for name in names)
    beginning = BEGINNING.match(alike)
    start = len(alike) if is_border else beginning.end() if beginning else 0
    rests = [name[start:] for name in names]
    ending = ENDING.search(_alike([rest[::-1] for rest in rests])[::-1])
    n_cut = len(ending[0]) if ending else 0
    return [
        name if len(name) <= LONGEST else rest[: len(rest) - n_cut] or name
        for name, rest in zip(names, rests, strict=True)
    ]


def shortened(name: str, number: str) -> str:
    """At most so many characters with the number: of a longer name both ends."""
    room = LONGEST - len(number)
    end = (room - 2) // 2
    return (name if len(name) <= room else f"{name[:end]}..{name[-end:]}") + number


def _alike(names: Sequence[str]) -> str:
    return os.path.commonprefix(names)  # noqa: RUF071  no paths
