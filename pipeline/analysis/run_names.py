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
# A time as files of logs have it: its date, hours and minutes, seconds, and the zone.
TIME = re.compile(r"(\d{4}-)(\d\d-\d\d[T_]\d\d[-:]\d\d)([-:]\d\d)([-+]\d\d[-:]?\d\d|Z)?(?!\d)")
# Ways to write it, until it fits and all names are still unlike.
TIMES = (r"\g<0>", r"\1\2\3", r"\1\2", r"\2", r"\2\3")
# From a word on; neither a version nor a date is cut.
ENDING = re.compile(r"(?:_|[./ -](?![0-9])).*")


def aliases(runs: pa.Table) -> pa.Table:
    """The runs, by benchmark, each with a short name that no other run has."""
    names: list[str] = runs["run_id"].to_pylist()
    models: list[str | None] = runs["model"].to_pylist()
    shown: list[str] = []
    benchmarks = runs["benchmark"].to_pylist()
    for _, own in groupby(zip(benchmarks, names, models, strict=True), itemgetter(0)):
        _, own_names, own_models = zip(*own, strict=True)
        shown += distinguished(own_names, own_models)
    # Names that are alike in several benchmarks, or the only one of theirs: as all runs differ.
    uses = Counter(map(str.lower, shown))
    of_all = distinguished(names, models)
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


def distinguished(names: Sequence[str], models: Sequence[str | None]) -> list[str]:
    """Long names without the words that all of them begin or end with."""
    if len(names) == 1:
        return [_from_model(name, model) for name, model in zip(names, models, strict=True)]
    alike = _alike(names)
    # A name that ends there would keep nothing, and one that goes on with a digit only a number.
    is_border = alike.endswith(BORDERS) and all(name[len(alike) :][:1].isalpha() for name in names)
    beginning = BEGINNING.match(alike)
    start = len(alike) if is_border else beginning.end() if beginning else 0
    # The name of a model is not cut.
    cut_models = [_model_place(*each) for each in zip(names, models, strict=True)]
    start = min([start, *(first for first, last in cut_models if first < start < last)])
    rests = [name[start:] for name in names]
    ending = ENDING.search(_alike([rest[::-1] for rest in rests])[::-1])
    n_cut = len(ending[0]) if ending else 0
    shown = [
        name if len(name) <= LONGEST else rest[: len(rest) - n_cut] or name
        for name, rest in zip(names, rests, strict=True)
    ]
    for form in TIMES:
        brief = [each if len(each) <= LONGEST else TIME.sub(form, each) for each in shown]
        if (
            len({*map(str.lower, brief)}) == len(brief)
            and max(map(len, brief), default=0) <= LONGEST
        ):
            return brief
    return shown


def _from_model(name: str, model: str | None) -> str:
    """A long name from its model on: what is before it is often the name of the benchmark."""
    first, last = _model_place(name, model)
    return name[first:] if len(name) > LONGEST and last else name


def _model_place(name: str, model: str | None) -> tuple[int, int]:
    """Where a name has the name of its model, without the maker's."""
    own = (model or "").rpartition("/")[2].lower()
    first = name.lower().find(own) if own else -1
    return (0, 0) if first < 0 else (first, first + len(own))


def shortened(name: str, number: str) -> str:
    """At most so many characters with the number: of a longer name both ends."""
    room = LONGEST - len(number)
    end = (room - 2) // 2
    return (name if len(name) <= room else f"{name[:end]}..{name[-end:]}") + number


def _alike(names: Sequence[str]) -> str:
    return os.path.commonprefix(names)  # noqa: RUF071  no paths
