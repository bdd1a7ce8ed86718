"""Which signs are failure modes: verdicts left out, the rest tested together, then put in an order.

A mode is a group of signs that the same attempts bear, named by the one that says most. What the
record states of how an attempt ended is listed without a test. Every other description is tested
by max-T over the attempts of each run, every behaviour over the attempts at each task. The order
covers as many failures as it can.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.relation import computed

Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

LEVEL = 0.05
N_PERMUTATIONS = 999
# With so many attempts fewer permutations tell as much, and memory and time stay bounded.
MANY_ATTEMPTS = 20_000
FEWER_PERMUTATIONS = 199
CHUNK = 100
# With fewer failures nothing can be shown by a test: what most of them share is counted.
FEW_FAILURES = 10
MOST_COUNTED = 3
DESCRIPTIONS = ("field", "check", "expected", "error", "answer")
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
YES_OR_NO = frozenset(
    "true false 0 1 0.0 1.0 pass passed fail failed success failure error correct incorrect yes no "
    "resolved unresolved".split()
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


@dataclass(frozen=True, eq=False)
class Mode:
    """A sign that is listed, why, and the other signs of its group; a child belongs to a parent."""

    sign: Sign
    reason: str
    members: tuple[str, ...] = ()
    p_adjusted: float | None = None
    parent: str | None = None


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
    """1 where no pass bears it, 0 where passes bear it as often as failures, negative beyond."""
    failing = of_failures(sign, attempts)
    return 1 - of_passes(sign, attempts) / failing if failing else -np.inf


def n_failing(sign: Sign, attempts: Attempts) -> int:
    """How many failures bear it."""
    return int((sign.bears & attempts.fails).sum())


def is_nested(sign: Sign, other: Sign, least: float) -> bool:
    """Whether at least this share of its bearers bear the other one too."""
    return bool((sign.bears & other.bears).sum() >= least * sign.bears.sum())


def same_as_score(signs: Sequence[Sign], attempts: Attempts) -> set[tuple[str, str]]:
    """The fields and checks that say the verdict again: they go with failing by definition."""
    n_values: dict[str, int] = defaultdict(int)
    for sign in signs:
        n_values[sign.name] += sign.kind == "field"
    has_passes, has_both = attempts.n_passes >= 3, min(attempts.n_passes, attempts.n_failures) >= 3
    fields = set()
    for sign in signs:
        # A check that few attempts have is one test among many.
        if sign.kind not in ("field", "check") or 2 * sign.known.sum() < len(sign.known):
            continue
        failing, passing = of_failures(sign, attempts), of_passes(sign, attempts)
        if sign.kind == "check" or sign.value.lower() in YES_OR_NO:
            is_same = failing >= 0.8 and passing <= 0.1
            is_same |= sign.kind == "field" and has_passes and passing >= 0.9 and failing <= 0.1
        elif sign.value in NOTHING:
            is_same = has_passes and failing >= 0.9 and passing == 0
        else:
            is_same = has_both and n_values[sign.name] <= 2 and failing >= 0.9 and passing == 0
        if is_same:
            fields.add(sign.field)
    return fields


def parts_of_score(signs: Sequence[Sign], attempts: Attempts) -> set[tuple[str, str]]:
    """Yes-or-no fields and checks of every attempt that hardly a pass fails: factors of the score.

    What stands in one object with a field that says the verdict again is a factor, too.
    """
    objects = {_object(name) for kind, name in same_as_score(signs, attempts)} - {""}
    return {
        sign.field
        for sign in signs
        if (sign.kind == "check" or (sign.kind == "field" and sign.value.lower() in YES_OR_NO))
        and sign.known.sum() >= 0.9 * len(sign.known)
        and attempts.n_passes >= 3
        and (of_failures(sign, attempts) >= 0.3 or _object(sign.name) in objects)
        and of_passes(sign, attempts) <= 0.02
    }


def measures(signs: Sequence[Sign], attempts: Attempts) -> set[tuple[str, str]]:
    """Checks that half of the passes fail: a penalty, or a score of which less is better."""
    return {
        sign.field
        for sign in signs
        if sign.kind == "check"
        and 2 * sign.known.sum() >= len(sign.known)
        and (sign.known & attempts.passes).sum() >= 4
        and of_passes(sign, attempts) >= 0.5
    }


def _object(name: str) -> str:
    """The object that a field or a check stands in; none of the row itself."""
    source, colon, _ = name.partition(": ")
    return source if colon else name.rpartition(".")[0]


def max_t(signs: Sequence[Sign], strata: Integers, fails: Flags) -> Numbers:
    """Step-down adjusted p-values of Westfall and Young: outcomes are shuffled within strata."""
    if not signs:
        return np.empty(0)
    order = np.argsort(strata, kind="stable")
    strata, outcome = strata[order], fails[order]
    weights = np.stack([_weights(sign, strata, order) for sign in signs])
    n = np.bincount(strata).astype(float)
    n_failed = np.bincount(strata, outcome)
    chance = n_failed / n
    # The mean and the variance of a weighted sum of outcomes that are shuffled within strata.
    per_stratum = n_failed * (n - n_failed) / np.maximum(n * (n - 1), 1)
    means = np.stack([np.bincount(strata, row) / n for row in weights])
    squares = np.stack([np.bincount(strata, row**2) for row in weights])
    scale = np.sqrt(((squares - n * means**2) * per_stratum).sum(axis=1))
    is_usable = scale > 1e-9
    scale[~is_usable] = 1
    centred = ((weights - means[:, strata]) / scale[:, None]).astype(np.float32)
    observed = np.where(is_usable, centred @ outcome.astype(np.float32), -np.inf)
    ranks = np.argsort(-observed, kind="stable")
    n_draws = N_PERMUTATIONS if len(outcome) <= MANY_ATTEMPTS else FEWER_PERMUTATIONS
    n_beyond = np.zeros(len(signs))
    for shuffled in _shuffles(outcome, strata, n_draws):
        drawn = np.where(is_usable[:, None], centred @ shuffled, -np.inf)[ranks]
        # The largest of this sign and of all that stand behind it.
        largest = np.maximum.accumulate(drawn[::-1], axis=0)[::-1]
        n_beyond += (largest >= observed[ranks][:, None] - 1e-4).sum(axis=1)
    p_values = np.ones(len(signs))
    p_values[ranks] = np.maximum.accumulate((n_beyond + 1) / (n_draws + 1))
    p_values[(~is_usable) | (chance.size == 0)] = 1
    return p_values


def _weights(sign: Sign, strata: Integers, order: Integers) -> Numbers:
    """Who bears it, less its share among those of whom it is known, stratum by stratum."""
    bears, known = sign.bears[order].astype(float), sign.known[order].astype(float)
    rates = np.bincount(strata, bears) / np.maximum(np.bincount(strata, known), 1)
    return np.asarray(bears - known * rates[strata])


def _shuffles(outcome: Flags, strata: Integers, n_draws: int) -> Iterator[npt.NDArray[np.float32]]:
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
        group.sort(key=lambda sign: (MOST_SPECIFIC.index(sign.kind), -len(sign.text), sign.text))
        named.append((group[0], tuple(sign.text for sign in group[1:])))
    return named


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


def terminal_fields(signs: Sequence[Sign], attempts: Attempts) -> list[list[Sign]]:
    """Fields whose few words partition the attempts: their values, what leans to failing first.

    The commonest word is the usual end, and leads only where no other leans.
    """
    if attempts.n_failures < 10 or attempts.n_passes < 3:
        return []
    values: dict[str, list[Sign]] = defaultdict(list)
    for sign in signs:
        if sign.kind == "field":
            values[sign.name].append(sign)
    fields = []
    for listed in values.values():
        n_borne = np.sum([sign.bears for sign in listed], axis=0)
        is_words = not any(
            sign.value.lower() in YES_OR_NO or sign.value.startswith(("has ", "is "))
            for sign in listed
        )
        is_of_rollouts = any(sign.scope == "rollout" for sign in listed)
        if not (2 <= len(listed) <= 8 and is_words and is_of_rollouts):
            continue
        if (n_borne == 1).mean() < 0.95:
            continue
        usual = max(listed, key=lambda sign: int(sign.bears.sum()))
        leaning = [
            sign
            for sign in listed
            if of_failures(sign, attempts) >= 1.25 * of_passes(sign, attempts)
            and n_failing(sign, attempts) >= max(3, 0.02 * attempts.n_failures)
        ]
        leaning = [sign for sign in leaning if sign is not usual] or leaning
        if leaning:
            lead = max(leaning, key=lambda sign: (n_failing(sign, attempts), sign.text))
            others = sorted(
                (sign for sign in listed if sign is not lead),
                key=lambda sign: (-n_failing(sign, attempts), sign.text),
            )
            fields.append([lead, *others])
    fields.sort(key=lambda listed: (-n_failing(listed[0], attempts), listed[0].text))
    kept: list[list[Sign]] = []
    for listed in fields:
        if not any(is_nested(listed[0], other[0], 0.9) for other in kept):
            kept.append(listed)
    return kept[:2]


def modes(signs: Sequence[Sign], attempts: Attempts) -> list[Mode]:
    """The modes of a benchmark in their order, with their children behind each."""
    if not attempts.n_failures:
        return []
    left_out = same_as_score(signs, attempts)
    left_out |= parts_of_score(signs, attempts) | measures(signs, attempts)
    signs = [sign for sign in signs if sign.field not in left_out]
    listed = [
        Mode(sign, "profile")
        for sign in signs
        if sign.kind == "profile" and n_failing(sign, attempts)
    ]
    for sign, members in groups(
        [sign for sign in signs if sign.kind == "ungraded" and n_failing(sign, attempts)]
    ):
        listed.append(Mode(sign, "ungraded", members))
        listed += _children(sign, signs, attempts)
    ends = terminal_fields(signs, attempts)
    for values in ends:
        listed.append(Mode(values[0], "terminal"))
        listed += [Mode(sign, "terminal", parent=values[0].text) for sign in values[1:]]
    ended = {values[0].field for values in ends}
    signs = [sign for sign in signs if sign.field not in ended]
    ungraded = [mode.sign for mode in listed if mode.reason == "ungraded"]
    listed += _limits(signs, attempts, [values[0] for values in ends], ungraded)
    listed += _descriptions(signs, attempts, listed)
    return listed + _behaviours(signs, attempts)


def _children(sign: Sign, signs: Sequence[Sign], attempts: Attempts) -> list[Mode]:
    """What one other field says of those attempts, where it tells most of them apart."""
    values: dict[str, list[Sign]] = defaultdict(list)
    for other in signs:
        is_value = other.value not in NOTHING and not other.value.startswith("has ")
        if other.kind == "field" and other.scope == "rollout" and is_value:
            values[other.name].append(other)
    best: list[Sign] = []
    for listed in values.values():
        usual = max(listed, key=lambda other: int(other.bears.sum()))
        inside = [
            replace(other, bears=other.bears & sign.bears)
            for other in listed
            if other is not usual and (other.bears & sign.bears).sum() >= 2
        ]
        n_covered = sum(int(other.bears.sum()) for other in inside)
        if n_covered >= 0.6 * sign.bears.sum() and n_covered > sum(
            int(other.bears.sum()) for other in best
        ):
            best = inside
    best.sort(key=lambda other: (-n_failing(other, attempts), other.text))
    return [Mode(other, "part", parent=sign.text) for other in best]


def _limits(
    signs: Sequence[Sign], attempts: Attempts, ends: Sequence[Sign], ungraded: Sequence[Sign]
) -> list[Mode]:
    """Recorded limits, and numbers at which several attempts end; not what an end says already.

    Where attempts without a grade are those at a limit, the limit is a part of that mode.
    """
    limits = [
        sign
        for sign in signs
        if sign.kind == "limit"
        and n_failing(sign, attempts)
        and contrast(sign, attempts) > 0
        and not any(is_nested(sign, end, 0.7) for end in ends)
    ]
    limits.sort(key=lambda sign: (-n_failing(sign, attempts), of_passes(sign, attempts), sign.text))
    listed: list[Mode] = []
    for sign, members in groups(limits):
        if any(is_nested(sign, mode.sign, 0.7) for mode in listed):
            continue
        parent = next((other for other in ungraded if is_nested(sign, other, 0.9)), None)
        if parent is None:
            listed.append(Mode(sign, "limit", members))
        else:
            listed.append(Mode(sign, "part", members, parent=parent.text))
    return listed


def _descriptions(signs: Sequence[Sign], attempts: Attempts, before: Sequence[Mode]) -> list[Mode]:
    """Signs that failures bear and passes do not: first what adds most to those listed before."""
    # Nothing varies in a run whose every answer is empty, and yet it must be said.
    of_whole_runs = [
        sign
        for sign in signs
        if sign.scope == "run"
        and sign.kind in ("answer", "error")
        and n_failing(sign, attempts)
        and not (sign.bears & attempts.passes).any()
        and (sign.value in NOTHING or not sign.bears.all())
    ]
    is_few = attempts.has_few_failures
    kinds = (*DESCRIPTIONS, "call") if is_few else DESCRIPTIONS
    described = candidates(signs, attempts, kinds)
    p_values: dict[Sign, float] = {}
    if is_few:
        passing = [sign for sign in described if _is_common(sign, attempts)]
    else:
        adjusted = max_t(described, attempts.run, attempts.fails)
        p_values = dict(zip(described, map(float, adjusted), strict=True))
        passing = [
            sign
            for sign, p_value in p_values.items()
            if p_value < LEVEL
            and n_failing(sign, attempts) >= 3
            and attempts.n_tasks(sign.bears & attempts.fails) >= 2
            and contrast(sign, attempts) >= _least_contrast(sign)
        ]
    listed_before = [mode.sign for mode in before if mode.parent is None]
    left = [
        one
        for one in groups([*of_whole_runs, *passing])
        if is_few or not any(is_nested(one[0], sign, 0.7) for sign in listed_before)
    ]
    covered = np.zeros(len(attempts.fails), dtype=bool)
    for mode in before:
        if mode.parent is None:
            covered |= mode.sign.bears
    least_new = 0 if is_few else max(3, 0.02 * attempts.n_failures)
    # Of few failures each sign is shown, however much it has in common with others.
    most_nested = np.inf if is_few else 0.7
    listed: list[Mode] = []
    while left and not (is_few and len(listed) == MOST_COUNTED):
        best = max(left, key=lambda one: (_gain(one[0], attempts, covered), _tie(one[0])))
        sign, members = best
        if (sign.bears & attempts.fails & ~covered).sum() < least_new:
            break
        reason = "counted" if is_few or sign in of_whole_runs else "tested"
        listed.append(Mode(sign, reason, members, p_values.get(sign)))
        covered |= sign.bears
        failing = replace(sign, bears=sign.bears & attempts.fails)
        nested = [
            one
            for one in left
            if is_nested(replace(one[0], bears=one[0].bears & attempts.fails), failing, most_nested)
        ]
        left = [one for one in left if one is not best and one not in nested]
        listed += _parts(sign, nested, attempts)
    return listed


def _tie(sign: Sign) -> tuple[int, str]:
    """Of signs that cover as much, the commoner and then any fixed one."""
    return int(sign.bears.sum()), sign.text


def _parts(
    sign: Sign, nested: Sequence[tuple[Sign, tuple[str, ...]]], attempts: Attempts
) -> list[Mode]:
    """What a mode of more than a third of the failures is mostly made of, three at most."""
    if 3 * n_failing(sign, attempts) < attempts.n_failures:
        return []
    inside = [other for other, _ in nested if other is not sign]
    inside.sort(key=lambda other: (-n_failing(other, attempts), other.text))
    listed: list[Mode] = []
    for other in inside:
        if len(listed) < 3 and not any(is_nested(other, part.sign, 0.7) for part in listed):
            bears = other.bears & sign.bears
            listed.append(Mode(replace(other, bears=bears), "part", parent=sign.text))
    return listed


def _is_common(sign: Sign, attempts: Attempts) -> bool:
    """In a small folder: most failures bear it, hardly a pass does."""
    return (
        n_failing(sign, attempts) >= max(2, 0.4 * attempts.n_failures)
        and contrast(sign, attempts) >= 0.8
        and of_passes(sign, attempts) <= 0.1
        # Without a pass nothing says whether a call or a flag goes with failing.
        and (attempts.n_passes > 0 or sign.kind in ("field", "error", "answer"))
        and (sign.kind != "call" or min(n_failing(sign, attempts), attempts.n_passes / 2) >= 3)
        and (attempts.n_passes > 0 or sign.value.lower() not in YES_OR_NO)
    )


def _least_contrast(sign: Sign) -> float:
    """A call that nobody expected may be one that only reads."""
    return 0.9 if sign.value == "called, not expected" else 0.5


def _gain(sign: Sign, attempts: Attempts, covered: Flags) -> float:
    n_new = int((sign.bears & attempts.fails & ~covered).sum())
    return n_new * max(contrast(sign, attempts), 0.0) ** 2


def _behaviours(signs: Sequence[Sign], attempts: Attempts) -> list[Mode]:
    """Calls that failures and passes at one and the same task make unequally often, two at most."""
    if attempts.has_few_failures:
        return []
    # Where no run repeats a task, its attempts by several runs are compared.
    pairs = attempts.run * (attempts.task.max() + 1) + attempts.task
    strata = np.unique(pairs, return_inverse=True)[1]
    if np.bincount(strata).max() == 1:
        strata = np.unique(attempts.task, return_inverse=True)[1]
        # Where it is known which calls a task expects, those say more.
        if np.bincount(strata).max() == 1 or any(sign.kind == "expected" for sign in signs):
            return []
    calls = candidates(signs, attempts, ("call",))
    never = [
        replace(
            sign, value="never called", text=f"never {sign.text}", bears=sign.known & ~sign.bears
        )
        for sign in calls
    ]
    tested = [*calls, *never]
    listed = [
        Mode(sign, "behaviour", p_adjusted=float(p_value))
        for sign, p_value in zip(tested, max_t(tested, strata, attempts.fails), strict=True)
        if p_value < LEVEL and n_failing(sign, attempts) >= 3 and contrast(sign, attempts) >= 0.2
    ]
    listed.sort(key=lambda mode: (-contrast(mode.sign, attempts), mode.sign.text))
    return listed[:2]


def computed_modes(rows: pa.Table) -> pa.Table:
    """The modes of every benchmark, and the fields that are left out as saying the score again."""
    listed: dict[str, list[object]] = {name: [] for name in COLUMNS.names}
    columns = {name: rows[name].to_numpy(zero_copy_only=False) for name in rows.column_names}
    for start, end in _blocks(columns["benchmark"]):
        block = {name: column[start:end] for name, column in columns.items()}
        for row in _benchmark(block):
            for name, value in zip(COLUMNS.names, (columns["benchmark"][start], *row), strict=True):
                listed[name].append(value)
    return pa.table(listed, schema=COLUMNS)


COLUMNS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("mode", pa.string()),
        ("reason", pa.string()),
        ("rank", pa.int64()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("value", pa.string()),
        ("parent", pa.string()),
        ("members", pa.list_(pa.string())),
        ("p_adjusted", pa.float64()),
    ]
)


def _blocks(column: npt.NDArray[np.object_]) -> Iterator[tuple[int, int]]:
    """Where each stretch of equal values begins and ends."""
    if len(column):
        edges = np.flatnonzero(column[1:] != column[:-1]) + 1
        yield from zip([0, *edges.tolist()], [*edges.tolist(), len(column)], strict=True)


def _benchmark(block: dict[str, npt.NDArray[np.object_]]) -> Iterator[tuple[object, ...]]:
    attempts, signs = _read(block)
    rank = 0
    for mode in modes(signs, attempts):
        rank += mode.parent is None
        sign = mode.sign
        place = rank if mode.parent is None else None
        yield (
            sign.text,
            mode.reason,
            place,
            sign.kind,
            sign.name,
            sign.value,
            mode.parent,
            list(mode.members),
            mode.p_adjusted,
        )
    same = same_as_score(signs, attempts)
    reasons = {
        "same as score": same,
        "part of score": parts_of_score(signs, attempts) - same,
        "measure": measures(signs, attempts) - same,
    }
    for reason, fields in reasons.items():
        for kind, name in sorted(fields):
            yield name, reason, None, kind, name, "", None, [], None


def _read(block: dict[str, npt.NDArray[np.object_]]) -> tuple[Attempts, list[Sign]]:
    """Attempts and signs of one benchmark: rows of attempts by sign, a row without one for each."""
    is_attempt = np.array([kind is None for kind in block["kind"]])
    attempt_no = block["attempt_no"].astype(np.int64)
    n = int(is_attempt.sum())
    order = np.argsort(attempt_no[is_attempt], kind="stable")
    of_attempts = {name: column[is_attempt][order] for name, column in block.items()}
    outcome = of_attempts["outcome"].astype(str)
    attempts = Attempts(
        np.unique(of_attempts["run_id"].astype(str), return_inverse=True)[1],
        np.unique(of_attempts["task_id"].astype(str), return_inverse=True)[1],
        fails=outcome == "fail",
        passes=outcome == "pass",
    )
    first = int(attempt_no[is_attempt].min())
    borne: dict[tuple[str, str, str, str, str], list[int]] = {}
    known: dict[tuple[str, str], list[int]] = {}
    names = ("kind", "name", "value", "sign", "scope")
    keys = zip(*(block[name] for name in names), strict=True)
    for key, place, is_borne in zip(keys, attempt_no - first, block["is_borne"], strict=True):
        if key[0] is None:
            continue
        known.setdefault(key[:2], []).append(place)
        if is_borne:
            borne.setdefault(key, []).append(place)
    return attempts, [
        Sign(
            kind=key[0],
            name=key[1],
            value=key[2],
            text=key[3],
            scope=key[4],
            bears=_flags(n, places),
            known=_known(key, known, attempts),
        )
        for key, places in sorted(borne.items())
    ]


def _flags(n: int, places: Sequence[int]) -> Flags:
    flags = np.zeros(n, dtype=bool)
    flags[places] = True
    return flags


def _known(
    key: tuple[str, ...], known: dict[tuple[str, str], list[int]], attempts: Attempts
) -> Flags:
    """Of which attempts it is known: of a check who has it, of fields and calls whole runs."""
    kind, name = key[:2]
    n = len(attempts.run)
    if kind == "check":
        return _flags(n, known[kind, name])
    if kind not in ("field", "expected", "call"):
        return np.ones(n, dtype=bool)
    places = (
        known[kind, name]
        # A tool that no attempt of a run calls may not exist there.
        if kind in ("field", "call")
        else [place for (other, _), listed in known.items() if other == kind for place in listed]
    )
    return np.isin(attempts.run, np.unique(attempts.run[places]))


MODES = computed("staging.modes", computed_modes)
