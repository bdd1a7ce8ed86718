"""Literal signs of attempts as arrays: which attempts have each, and of which it is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .subsets import Flags, Selection, Subset

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

LEVEL = 0.05
# With fewer failures nothing can be shown by a test: what most of them share is counted.
FEW_FAILURES = 10

# Of signs that the same attempts bear, the kind that says most gives the name.
MOST_SPECIFIC = (
    "profile",
    "expected",
    "error",
    "explanation",
    "check",
    "answer",
    "limit",
    "ungraded",
    "field",
    "call",
)

NOTHING = ("is null", "is empty")
# Columns of rows of attempts, and those by which signs differ.
OF_ATTEMPTS = ["attempt_no", "run_id", "task_id", "outcome", "reward"]
KEY = ("kind", "name", "value", "sign", "scope")


@dataclass(frozen=True, eq=False)
class Sign:
    """One sign of a benchmark: of which attempts it is known, and which of them bear it."""

    kind: str
    name: str
    value: str
    text: str
    scope: str
    bears: Subset
    known: Subset
    # Of an error, where attempts first meet it.
    first: Firsts | None = None

    @property
    def field(self) -> tuple[str, str]:
        """What the sign is a value of."""
        return self.kind, self.name


@dataclass(frozen=True, eq=False)
class Firsts:
    """Places in attempts, of those that have one."""

    attempts: Subset
    seqs: Numbers

    def at(self, places: Integers) -> Numbers:
        """The place in each of these attempts; infinite where there is none."""
        if not self.attempts.size:
            return np.full(len(places), np.inf)
        own = self.attempts.places
        numbers = np.minimum(np.searchsorted(own, places), len(own) - 1)
        return np.where(own[numbers] == places, self.seqs[numbers], np.inf)

    def among(self, selection: Selection) -> Firsts:
        """As far as attempts are looked at."""
        return Firsts(
            selection.part(self.attempts), self.seqs[selection.flags[self.attempts.places]]
        )


@dataclass(frozen=True, eq=False)
class Attempts:
    """The recorded attempts of a benchmark: one that was not graded counts as a failure."""

    run: Integers
    task: Integers
    fails: Flags
    passes: Flags
    # Null where an attempt was not scored.
    reward: Numbers = field(default_factory=lambda: np.empty(0))
    run_names: tuple[str, ...] = ()
    # Fields with numbers, of the first attempts; null where one has none.
    numbers: dict[str, Numbers] = field(default_factory=dict)

    @cached_property
    def failing(self) -> Selection:
        """Those that did not pass."""
        return Selection(self.fails)

    @cached_property
    def passing(self) -> Selection:
        """Those that passed."""
        return Selection(self.passes)

    @property
    def n_failures(self) -> int:
        """How many did not pass."""
        return self.failing.size

    @property
    def n_passes(self) -> int:
        """How many passed."""
        return self.passing.size

    @property
    def has_few_failures(self) -> bool:
        """Too few for a test."""
        return self.n_failures < FEW_FAILURES

    def n_tasks(self, subset: Subset) -> int:
        """How many tasks these attempts are of."""
        return len(np.unique(self.task[subset.places]))

    @cached_property
    def run_sizes(self) -> Integers:
        """How many attempts each run has."""
        return np.bincount(self.run)


def share(sign: Sign, attempts: Selection) -> float:
    """The share of these attempts that bear it, of those of which it is known; 0 of none."""
    n = attempts.count(sign.known)
    return sign.bears.count(attempts.flags) / n if n else 0.0


def of_failures(sign: Sign, attempts: Attempts) -> float:
    """The share of the failures of which it is known."""
    return share(sign, attempts.failing)


def of_passes(sign: Sign, attempts: Attempts) -> float:
    """The share of the passes of which it is known."""
    return share(sign, attempts.passing)


def contrast(sign: Sign, attempts: Attempts) -> float:
    """1 where no pass has it, 0 where passes have it as often as failures, negative beyond."""
    failing = of_failures(sign, attempts)
    return 1 - of_passes(sign, attempts) / failing if failing else -np.inf


def n_failing(sign: Sign, attempts: Attempts) -> int:
    """How many failures have it."""
    return sign.bears.count(attempts.fails)


def is_nested(sign: Sign, other: Sign, least: float) -> bool:
    """Whether at least this share of the attempts that have it have the other one too."""
    return sign.bears.n_shared(other.bears) >= least * sign.bears.size


def groups(signs: Sequence[Sign]) -> list[tuple[Sign, tuple[str, ...]]]:
    """Signs that nearly the same attempts bear, under the one that says most."""
    grouped: list[list[Sign]] = []
    for sign in signs:
        for group in grouped:
            if _is_same(group[0].bears, sign.bears):
                group.append(sign)
                break
        else:
            grouped.append([sign])
    named = []
    for group in grouped:
        group.sort(
            key=lambda sign: (_specific(sign), first_place(sign), -len(sign.text), sign.text)
        )
        named.append((group[0], tuple(sign.text for sign in group[1:])))
    return named


def _is_same(one: Subset, other: Subset) -> bool:
    """Whether nine in ten of the attempts of either are of both."""
    if min(one.size, other.size) < 0.9 * max(one.size, other.size):
        return False
    n_both = one.n_shared(other)
    return n_both >= 0.9 * (one.size + other.size - n_both)


def first_place(sign: Sign) -> float:
    """Where attempts meet it first, by their median; of what has no place, 0."""
    return 0.0 if sign.first is None else float(np.median(sign.first.at(sign.bears.places)))


def _specific(sign: Sign) -> int:
    """How much its kind says; words that several tasks get say less than a call they go with."""
    return len(MOST_SPECIFIC) if is_canned(sign) else MOST_SPECIFIC.index(sign.kind)


def is_canned(sign: Sign) -> bool:
    """Whether it is a text that several tasks get."""
    return sign.kind == "answer" and sign.value.startswith("is given")


def candidates(signs: Sequence[Sign], attempts: Attempts, kinds: Collection[str]) -> list[Sign]:
    """Signs of enough attempts at enough tasks, and not of all; outcomes are not looked at."""
    least = 2 if attempts.has_few_failures else 3
    return [
        sign
        for sign in signs
        if sign.kind in kinds
        and sign.scope == "rollout"
        and least <= sign.bears.size < sign.known.size
        and attempts.n_tasks(sign.bears) >= 2
        and (sign.kind != "check" or attempts.n_tasks(sign.known) >= 5)
    ]


Row = tuple[object, ...]


def by_benchmark(
    rows: pa.Table,
    columns: pa.Schema,
    listed: Callable[[Sequence[Sign], Attempts], Iterable[Row]],
) -> pa.Table:
    """A table of what is listed for the signs of each benchmark, its name in front."""
    rows_of_all: list[Row] = []
    for benchmark, block in _blocks(rows):
        attempts, signs = _read(block)
        rows_of_all += [(benchmark, *row) for row in listed(signs, attempts)]
    filled = zip(*rows_of_all, strict=True) if rows_of_all else [()] * len(columns)
    return pa.table(
        [pa.array(values, column.type) for values, column in zip(filled, columns, strict=True)],
        schema=columns,
    )


def _blocks(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Each stretch of rows of one benchmark, with its name."""
    if rows.num_rows:
        benchmarks, codes = _encoded(rows["benchmark"])
        edges = (np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist()
        for start, end in zip([0, *edges], [*edges, rows.num_rows], strict=True):
            yield benchmarks[codes[start]], rows.slice(start, end - start)


def _read(block: pa.Table) -> tuple[Attempts, list[Sign]]:
    """Attempts and signs of one benchmark: a row for each attempt, one for each sign."""
    import pyarrow.compute as pc  # takes as long to import as small results to read

    is_attempt = block["kind"].is_null()
    of_attempts = block.select(OF_ATTEMPTS).filter(is_attempt)
    outcomes, outcome = _ordered(of_attempts["outcome"])
    run_names, run = _ordered(of_attempts["run_id"])
    n = len(run)
    of_signs = block.filter(pc.invert(is_attempt))
    keys = list(zip(*(of_signs[name].to_pylist() for name in KEY), strict=True))
    first = of_attempts["attempt_no"][0].as_py()
    places = [numbers - first for numbers in of_signs["attempts"].to_numpy()]
    attempts = Attempts(
        run,
        _ordered(of_attempts["task_id"])[1],
        fails=np.array(outcomes)[outcome] == "fail",
        passes=np.array(outcomes)[outcome] == "pass",
        reward=of_attempts["reward"].to_numpy().astype(float),
        run_names=tuple(run_names),
        numbers=_numbers(keys, places),
    )
    recorded: dict[tuple[str, ...], list[Integers]] = defaultdict(list)
    for key, listed in zip(keys, places, strict=True):
        recorded[key[:2]].append(listed)
    borne = sorted(np.flatnonzero(of_signs["is_borne"].to_numpy()), key=keys.__getitem__)
    # One for all values of a field, of which there may be many.
    fields = dict.fromkeys(keys[number][:2] for number in borne)
    known = dict(zip(fields, _known(fields, recorded, attempts), strict=True))
    seqs = of_signs["seqs"].to_numpy()
    return attempts, [
        Sign(
            kind=keys[number][0],
            name=keys[number][1],
            value=keys[number][2],
            text=keys[number][3],
            scope=keys[number][4],
            bears=Subset(n, np.sort(places[number])),
            known=known[keys[number][:2]],
            first=_firsts(n, places[number], seqs[number]),
        )
        for number in borne
    ]


def _numbers(keys: Sequence[tuple[str, ...]], places: Sequence[Integers]) -> dict[str, Numbers]:
    """The numbers of each field, attempt by attempt, as far as attempts have any."""
    rows = [place for place, key in enumerate(keys) if key[0] == "number"]
    n = max((int(places[row].max()) + 1 for row in rows), default=0)
    numbers: dict[str, Numbers] = {}
    for row in sorted(rows, key=keys.__getitem__):
        _, name, value, *_ = keys[row]
        numbers.setdefault(name, np.full(n, np.nan))[places[row]] = float(value)
    return numbers


def _encoded(column: pa.ChunkedArray) -> tuple[list[str], Integers]:
    """The distinct values of a column, and which of them each row has."""
    encoded = column.dictionary_encode().combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _ordered(column: pa.ChunkedArray) -> tuple[list[str], Integers]:
    """The distinct values of a column in their order, and which of them each row has."""
    values, codes = _encoded(column)
    own, numbers = np.unique(codes, return_inverse=True)
    order = sorted(range(len(own)), key=lambda number: values[own[number]])
    return [values[own[number]] for number in order], np.argsort(order)[numbers]


def _firsts(n: int, places: Integers, seqs: Numbers | None) -> Firsts | None:
    """Where each attempt first meets an error; None where no place is recorded."""
    if seqs is None:
        return None
    seqs = seqs.astype(float)
    order = np.argsort(places)
    order = order[~np.isnan(seqs[order])]
    return Firsts(Subset(n, places[order]), seqs[order]) if len(order) else None


def _known(
    fields: Iterable[tuple[str, ...]],
    recorded: Mapping[tuple[str, ...], Sequence[Integers]],
    attempts: Attempts,
) -> Iterator[Subset]:
    """Of which attempts each is known: of a check who has it, of fields and calls whole runs.

    What is known of the same runs is one and the same, however many fields there are.
    """
    n = len(attempts.run)
    of_runs: dict[bytes, Subset] = {}
    expected = [
        listed for (kind, _), places in recorded.items() if kind == "expected" for listed in places
    ]
    for kind, name in fields:
        if kind == "check":
            yield Subset(n, np.unique(np.concatenate(recorded[kind, name])))
            continue
        runs = np.arange(len(attempts.run_names))
        # A tool that no attempt of a run calls may not exist there.
        if kind in ("field", "call"):
            runs = np.unique(attempts.run[np.concatenate(recorded[kind, name])])
        elif kind == "expected":
            runs = np.unique(attempts.run[np.concatenate(expected)])
        if runs.tobytes() not in of_runs:
            of_runs[runs.tobytes()] = Subset.of(np.isin(attempts.run, runs))
        yield of_runs[runs.tobytes()]
