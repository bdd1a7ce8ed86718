"""Literal signs of attempts as arrays: which attempts have each, and of which it is known.

`max_t` tests many of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

LEVEL = 0.05
N_PERMUTATIONS = 999
# With so many attempts fewer permutations tell as much, and memory and time stay bounded.
MANY_ATTEMPTS = 20_000
FEWER_PERMUTATIONS = 199
CHUNK = 100
# Weights of attempts by sign that are in memory at a time, in three arrays.
MOST_WEIGHTS = 1 << 24

# With fewer failures nothing can be shown by a test: what most of them share is counted.
FEW_FAILURES = 10

# Of signs that the same attempts bear, the kind that says most gives the name.
MOST_SPECIFIC = (
    "profile",
    "expected",
    "error",
    "check",
    "answer",
    "limit",
    "ungraded",
    "field",
    "call",
)

NOTHING = ("is null", "is empty")


@dataclass(frozen=True, eq=False)
class Sign:
    """One sign of a benchmark: which attempts bear it, and of which it is known at all."""

    kind: str
    name: str
    value: str
    text: str
    scope: str
    bears: Flags
    known: Flags
    # Of an error, where each attempt first meets it.
    first: Numbers | None = None

    @property
    def field(self) -> tuple[str, str]:
        """What the sign is a value of."""
        return self.kind, self.name


@dataclass(frozen=True)
class Attempts:
    """The recorded attempts of a benchmark: one that was not graded counts as a failure."""

    run: Integers
    task: Integers
    fails: Flags
    passes: Flags
    # Null where an attempt was not scored.
    reward: Numbers = field(default_factory=lambda: np.empty(0))
    run_names: tuple[str, ...] = ()
    # Fields with numbers, of some attempts; null where one has none.
    numbers: dict[str, Numbers] = field(default_factory=dict)

    @property
    def n_failures(self) -> int:
        """How many did not pass."""
        return int(self.fails.sum())

    @property
    def n_passes(self) -> int:
        """How many passed."""
        return int(self.passes.sum())

    @property
    def has_few_failures(self) -> bool:
        """Too few for a test."""
        return self.n_failures < FEW_FAILURES

    def n_tasks(self, attempts: Flags) -> int:
        """How many tasks these attempts are of."""
        return len(np.unique(self.task[attempts]))


def share(bears: Flags, attempts: Flags) -> float:
    """The share of these attempts that bear it; 0 of none."""
    n = int(attempts.sum())
    return int((bears & attempts).sum()) / n if n else 0.0


def of_failures(sign: Sign, attempts: Attempts) -> float:
    """The share of the failures of which it is known."""
    return share(sign.bears, attempts.fails & sign.known)


def of_passes(sign: Sign, attempts: Attempts) -> float:
    """The share of the passes of which it is known."""
    return share(sign.bears, attempts.passes & sign.known)


def contrast(sign: Sign, attempts: Attempts) -> float:
    """1 where no pass has it, 0 where passes have it as often as failures, negative beyond."""
    failing = of_failures(sign, attempts)
    return 1 - of_passes(sign, attempts) / failing if failing else -np.inf


def n_failing(sign: Sign, attempts: Attempts) -> int:
    """How many failures have it."""
    return int((sign.bears & attempts.fails).sum())


def is_nested(sign: Sign, other: Sign, least: float) -> bool:
    """Whether at least this share of the attempts that have it have the other one too."""
    return bool((sign.bears & other.bears).sum() >= least * sign.bears.sum())


def max_t(signs: Sequence[Sign], strata: Integers, outcome: Flags | Numbers) -> Numbers:
    """Step-down adjusted p-values of Westfall and Young: outcomes are shuffled within strata.

    A sign is clear where attempts that have it have larger outcomes: more failures, higher ranks.
    """
    if not signs or not len(outcome):
        return np.ones(len(signs))
    strata = np.unique(strata, return_inverse=True)[1]
    order = np.argsort(strata, kind="stable")
    strata, values = strata[order], outcome[order].astype(float)
    n = np.bincount(strata).astype(float)
    # The mean and the variance of a weighted sum of outcomes that are shuffled within strata.
    squared = (values - (np.bincount(strata, values) / n)[strata]) ** 2
    per_stratum = np.bincount(strata, squared) / np.maximum(n - 1, 1)

    def centred(some: Sequence[Sign]) -> tuple[npt.NDArray[np.float32], Flags]:
        """Weights by which a sum of shuffled outcomes has mean 0 and variance 1, if it varies."""
        weights = np.stack([_weights(sign, strata, order) for sign in some])
        means = np.stack([np.bincount(strata, row) / n for row in weights])
        squares = np.stack([np.bincount(strata, row**2) for row in weights])
        scale = np.sqrt(((squares - n * means**2) * per_stratum).sum(axis=1))
        is_usable = scale > 1e-9
        scale[~is_usable] = 1
        return ((weights - means[:, strata]) / scale[:, None]).astype(np.float32), is_usable

    size = max(MOST_WEIGHTS // len(values), 1)
    blocks = [signs[first : first + size] for first in range(0, len(signs), size)]
    # Weights of few signs are computed once; of many, only those of one block are in memory.
    computed = [centred(blocks[0])] if len(blocks) == 1 else None

    def sums(outcomes: npt.NDArray[np.float32]) -> Numbers:
        """The sum of each sign for each column of outcomes."""
        return np.concatenate(
            [
                np.where(is_usable[:, None], weights @ outcomes, -np.inf)
                for weights, is_usable in computed or map(centred, blocks)
            ]
        )

    observed = sums(values.astype(np.float32)[:, None])[:, 0]
    is_usable = np.isfinite(observed)
    ranks = np.argsort(-observed, kind="stable")
    n_draws = n_permutations(len(values))
    n_beyond = np.zeros(len(signs))
    for shuffled in _shuffles(values, strata, n_draws):
        # The largest of this sign and of all that stand behind it.
        largest = np.maximum.accumulate(sums(shuffled)[ranks][::-1], axis=0)[::-1]
        n_beyond += (largest >= observed[ranks][:, None] - 1e-4).sum(axis=1)
    p_values = np.ones(len(signs))
    p_values[ranks] = np.maximum.accumulate((n_beyond + 1) / (n_draws + 1))
    p_values[~is_usable] = 1
    return p_values


def n_permutations(n_attempts: int) -> int:
    """How many permutations test signs of so many attempts."""
    return N_PERMUTATIONS if n_attempts <= MANY_ATTEMPTS else FEWER_PERMUTATIONS


def _weights(sign: Sign, strata: Integers, order: Integers) -> Numbers:
    """Which attempts have it, less its share among those known, stratum by stratum."""
    bears, known = sign.bears[order].astype(float), sign.known[order].astype(float)
    rates = np.bincount(strata, bears) / np.maximum(np.bincount(strata, known), 1)
    return np.asarray(bears - known * rates[strata])


def _shuffles(
    outcome: Numbers, strata: Integers, n_draws: int
) -> Iterator[npt.NDArray[np.float32]]:
    """Columns of outcomes, each shuffled within strata; strata of one size at once."""
    generator = np.random.default_rng(0)
    sizes = np.bincount(strata)
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    for first in range(0, n_draws, CHUNK):
        n = min(CHUNK, n_draws - first)
        drawn = np.empty((len(outcome), n), dtype=np.float32)
        for size in np.unique(sizes):
            places = starts[sizes == size][:, None] + np.arange(size)
            block = np.repeat(outcome[places][:, :, None], n, axis=2).astype(np.float32)
            drawn[places] = generator.permuted(block, axis=1)
        yield drawn


def groups(signs: Sequence[Sign]) -> list[tuple[Sign, tuple[str, ...]]]:
    """Signs that nearly the same attempts bear, under the one that says most."""
    grouped: list[list[Sign]] = []
    for sign in signs:
        for group in grouped:
            n_either = (group[0].bears | sign.bears).sum()
            if (group[0].bears & sign.bears).sum() >= 0.9 * n_either:
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


def first_place(sign: Sign) -> float:
    """Where attempts meet it first, by their median; of what has no place, 0."""
    return 0.0 if sign.first is None else float(np.median(sign.first[sign.bears]))


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
        and least <= sign.bears.sum() < sign.known.sum()
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
    """Attempts and signs of one benchmark: rows of attempts by sign, a row without one for each."""
    is_attempt = block["kind"].is_null()
    of_attempts = block.filter(is_attempt).sort_by("attempt_no")
    outcome = of_attempts["outcome"].to_numpy().astype(str)
    run_names, run = np.unique(of_attempts["run_id"].to_numpy().astype(str), return_inverse=True)
    n = len(run)
    rest = block.filter(pc.invert(is_attempt))
    place = rest["attempt_no"].to_numpy() - of_attempts["attempt_no"][0].as_py()
    attempts = Attempts(
        run,
        np.unique(of_attempts["task_id"].to_numpy().astype(str), return_inverse=True)[1],
        fails=outcome == "fail",
        passes=outcome == "pass",
        reward=of_attempts["reward"].to_numpy().astype(float),
        run_names=tuple(run_names.tolist()),
        numbers=_numbers(rest, place, n),
    )
    is_number = pc.equal(rest["kind"], "number")
    place = place[~is_number.to_numpy()]
    rest = rest.filter(pc.invert(is_number))
    fields, field_no = _keys(rest, ("kind", "name"))
    known = dict(zip(fields, _places(place, field_no, len(fields)), strict=True))
    borne = rest.filter(rest["is_borne"])
    place = place[rest["is_borne"].to_numpy()]
    keys, sign_no = _keys(borne, ("kind", "name", "value", "sign", "scope"))
    places = _places(place, sign_no, len(keys))
    # One array for all values of a field, of which there may be many.
    known_of = {of: _known(of, known, attempts) for of in dict.fromkeys(key[:2] for key in keys)}
    seqs = _places(borne["seq"].to_numpy().astype(float), sign_no, len(keys))
    return attempts, [
        Sign(
            kind=key[0],
            name=key[1],
            value=key[2],
            text=key[3],
            scope=key[4],
            bears=_flags(n, listed),
            known=known_of[key[:2]],
            first=_firsts(n, listed, seq) if key[0] == "error" else None,
        )
        for key, listed, seq in sorted(zip(keys, places, seqs, strict=True), key=itemgetter(0))
    ]


def _numbers(rows: pa.Table, places: Integers, n: int) -> dict[str, Numbers]:
    """The numbers of each field, attempt by attempt."""
    is_number = pc.equal(rows["kind"], "number")
    numbers: dict[str, Numbers] = {}
    own = rows.filter(is_number)
    columns = (own["name"].to_pylist(), own["value"].to_pylist(), places[is_number.to_numpy()])
    for name, value, place in zip(*columns, strict=True):
        numbers.setdefault(name, np.full(n, np.nan))[place] = float(value)
    return dict(sorted(numbers.items()))


def _encoded(column: pa.ChunkedArray) -> tuple[list[str], Integers]:
    """The distinct values of a column, and which of them each row has."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _keys(rows: pa.Table, names: Sequence[str]) -> tuple[list[tuple[str, ...]], Integers]:
    """The distinct values of these columns together, and which of them each row has."""
    number = np.zeros(rows.num_rows, dtype=np.int64)
    first = np.empty(0, dtype=np.int64)
    for name in names:
        values, codes = _encoded(rows[name])
        _, first, number = np.unique(
            number * len(values) + codes, return_index=True, return_inverse=True
        )
    columns = [rows[name].take(first).to_pylist() for name in names]
    return list(zip(*columns, strict=True)), number


def _places(values: npt.NDArray[Any], group_no: Integers, n_groups: int) -> list[npt.NDArray[Any]]:
    """The values of each group, in their order."""
    order = np.argsort(group_no, kind="stable")
    edges = np.searchsorted(group_no[order], np.arange(1, n_groups))
    return np.split(values[order], edges)[:n_groups]


def _firsts(n: int, places: Integers, seqs: Numbers) -> Numbers | None:
    """Where each attempt first meets an error; None where no place is recorded."""
    is_placed = ~np.isnan(seqs)
    if not is_placed.any():
        return None
    firsts = np.full(n, np.inf)
    firsts[places[is_placed]] = seqs[is_placed]
    return firsts


def _flags(n: int, places: Integers) -> Flags:
    flags = np.zeros(n, dtype=bool)
    flags[places] = True
    return flags


def _known(
    field: tuple[str, ...], known: Mapping[tuple[str, ...], Integers], attempts: Attempts
) -> Flags:
    """Of which attempts it is known: of a check who has it, of fields and calls whole runs."""
    kind, name = field
    n = len(attempts.run)
    if kind == "check":
        return _flags(n, known[kind, name])
    if kind not in ("field", "expected", "call"):
        return np.ones(n, dtype=bool)
    places = (
        known[kind, name]
        # A tool that no attempt of a run calls may not exist there.
        if kind in ("field", "call")
        else np.concatenate([listed for (other, _), listed in known.items() if other == kind])
    )
    return np.isin(attempts.run, np.unique(attempts.run[places]))
