"""Several entrants over several benchmarks: paired changes, their tests, and averages.

An entrant's average weighs benchmarks alike. Two entrants are compared task by task within each
benchmark; over the suite the change is the mean of these changes, and its test flips the signs of
all tasks' differences. Nothing is filled in: a pair is compared over what both have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import claims, stats
from .stats import Counts, Mask, Numbers, added, coded, flags, numbers

MARGIN = 0.02
# Draws of signs: enough that Holm's correction for all pairs leaves something to be shown.
FEWEST_DRAWS, DRAWS_PER_PAIR, DRAWS_AT_ONCE = 9_999, 30, 512
# Of more pairs the t test takes the place of the flips.
MOST_FLIPPED_PAIRS = 1_000
# Pairs whose tasks are worked on at a time.
PAIRS_AT_ONCE = 64
# Cells with fewer tasks are also shown drawn towards what the entrant does elsewhere.
FEW_TASKS, FEWEST_BENCHMARKS = 20, 3
FIGURES = (
    "n_tasks",
    "n_base_only",
    "n_candidate_only",
    "n_other_questions",
    "base_value",
    "candidate_value",
    "delta",
    "se_new_tasks",
    "bound_low",
    "bound_high",
    "n_groups",
    "degrees",
    "is_unequal",
    "n_possible",
)
COUNTED = ("n_tasks", "n_base_only", "n_candidate_only", "n_other_questions")


def cells(rows: pa.Table) -> pa.Table:
    """Each cell with its interval and, of a small benchmark, its value drawn towards the others."""
    low, high = _intervals(rows)
    return added(
        rows,
        ci_new_tasks_low=low,
        ci_new_tasks_high=high,
        shrunken_value=_shrunken(rows, (high - low) / (2 * stats.NORMAL_LEVEL)),
    )


def standings(rows: pa.Table) -> pa.Table:
    """Each score or average with its interval."""
    low, high = _intervals(rows)
    return added(rows, ci_new_tasks_low=low, ci_new_tasks_high=high)


def _intervals(rows: pa.Table) -> tuple[Numbers, Numbers]:
    """For new tasks like these: Wilson's, by the size that the error implies."""
    names = ("value", "se_new_tasks", "n_groups", "degrees")
    figures = [numbers(rows[name]) for name in names]
    return stats.new_tasks_interval(*figures, is_bounded=flags(rows["is_bounded"]))


def _shrunken(rows: pa.Table, error: Numbers) -> Numbers:
    """Cells of few tasks, drawn towards what the entrant scores elsewhere (empirical Bayes).

    What is drawn is the distance from the benchmark's mean over entrants, so that a hard benchmark
    stays hard. How much by is DerSimonian and Laird's spread of these distances beyond their error.
    """
    value, n_tasks = numbers(rows["value"]), numbers(rows["n_tasks"])
    shrunken = np.full(len(value), np.nan)
    is_usable = flags(rows["is_bounded"]) & np.isfinite(value) & (error > 0)
    benchmark, benchmarks = coded(rows["benchmark"].to_pylist())
    level = np.full(len(benchmarks), np.nan)
    for code in range(len(benchmarks)):
        level[code] = stats.mean(value[is_usable & (benchmark == code)])
    distance = value - level[benchmark]
    entrant, entrants = coded(rows["entrant"].to_pylist())
    for code in range(len(entrants)):
        own = np.flatnonzero(is_usable & (entrant == code))
        if len(own) < FEWEST_BENCHMARKS:
            continue
        weight = 1 / error[own] ** 2
        centre = (weight * distance[own]).sum() / weight.sum()
        excess = (weight * (distance[own] - centre) ** 2).sum() - (len(own) - 1)
        spread = max(excess / (weight.sum() - (weight**2).sum() / weight.sum()), 0)
        share_of_own = spread / (spread + error[own] ** 2)
        drawn = level[benchmark[own]] + centre + share_of_own * (distance[own] - centre)
        is_few = n_tasks[own] < FEW_TASKS
        shrunken[own[is_few]] = np.clip(drawn, 0, 1)[is_few]
    return shrunken


@dataclass(frozen=True)
class Benchmark:
    """The tasks of a benchmark: one row per entrant, one column per task; NaN where there is none.

    An entrant may have a task without a score: then only its lowest and highest value are known.
    """

    name: str
    task_ids: list[str]
    groups: Counts
    values: Numbers
    n_scored: Numbers
    variances: Numbers
    lowest: Numbers
    highest: Numbers
    questions: Counts
    is_expected_known: Mask
    is_bounded: bool
    value_range: float
    is_counted: bool


@dataclass(frozen=True)
class Pairs:
    """Each two entrants at one benchmark, by FIGURES; and what each group of tasks adds."""

    figures: dict[str, Numbers]
    parts: Numbers

    @property
    def is_usable(self) -> Mask:
        """Whether a pair has an error, without which it is in no mean."""
        return np.asarray(np.isfinite(self.figures["se_new_tasks"]) & (self.figures["n_tasks"] > 1))


def comparisons(tasks: pa.Table) -> pa.Table:
    """Pairs of entrants: at each benchmark, over those both have, over those all have.

    All pairs, or of very many entrants those with one that all others are compared with.
    """
    if not len(tasks):
        return SCHEMA.empty_table()
    columns = {name: tasks[name].to_numpy(zero_copy_only=False) for name in tasks.column_names}
    number, first = np.unique(columns["entrant_no"], return_index=True)
    entrants = columns["entrant"][first].tolist()
    is_base = columns["is_base"][first].astype(bool)
    base, candidate = _two(columns["is_with_all"][first].astype(bool))
    # The baseline is the base of its pairs.
    turned = is_base[candidate] & ~is_base[base]
    base, candidate = np.where(turned, candidate, base), np.where(turned, base, candidate)
    is_named = is_base[base]
    is_shown = is_named if is_base.any() else np.ones(len(base), dtype=bool)
    benchmarks = list(_benchmarks(columns, number))
    pairs = [_pairs(each, base, candidate) for each in benchmarks]
    is_flipped = len(base) <= MOST_FLIPPED_PAIRS
    scopes = {
        "suite": np.array(
            [each.is_usable & one.is_bounded for one, each in zip(benchmarks, pairs, strict=True)]
        ),
        "common": np.array(
            [each.is_usable & one.is_counted for one, each in zip(benchmarks, pairs, strict=True)]
        ),
    }
    p_signs, n_draws = _flipped(benchmarks, pairs, scopes) if is_flipped and len(base) else ({}, 0)
    growing = columns["is_growing"][:1].any()
    tests = [
        _tested(each.figures, one, p_signs.get(place), n_draws, growing=growing)
        for place, (one, each) in enumerate(zip(benchmarks, pairs, strict=True))
    ]
    for scope, is_in in scopes.items():
        whole = _averaged(pairs, is_in)
        tests.append(_tested(whole, None, p_signs.get(scope), n_draws, growing=growing))
    places = [("benchmark", each.name) for each in benchmarks] + [(scope, "") for scope in scopes]
    _correct(tests, places, is_shown)
    _mark_decisive(tests, pairs, scopes["suite"])
    rows: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for (scope, name), own in zip(places, tests, strict=True):
        n = len(base)
        own |= {
            "base": np.array(entrants, dtype=object)[base],
            "candidate": np.array(entrants, dtype=object)[candidate],
            "base_no": number[base],
            "candidate_no": number[candidate],
            "scope": np.full(n, scope, dtype=object),
            "benchmark": np.full(n, name, dtype=object),
            "is_named": is_named,
            "is_shown": is_shown,
        }
        # Of a benchmark that one of them lacks there is nothing to say.
        is_row = (own["n_both"] > 0) if scope == "benchmark" else np.ones(n, dtype=bool)
        for column in rows:
            rows[column].append(own[column][is_row])
    return _table({name: np.concatenate(parts) for name, parts in rows.items()})


def _two(is_with_all: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of each pair in which one is compared with all others."""
    if is_with_all.all():
        return np.triu_indices(len(is_with_all), 1)
    bases = np.flatnonzero(is_with_all)
    base = np.repeat(bases, len(is_with_all))
    candidate = np.tile(np.arange(len(is_with_all)), len(bases))
    # Of two that are both compared with all there is one pair.
    is_pair = ~is_with_all[candidate] | (base < candidate)
    return base[is_pair], candidate[is_pair]


SCHEMA = pa.schema(
    {
        **dict.fromkeys(("base", "candidate"), pa.string()),
        **dict.fromkeys(("base_no", "candidate_no"), pa.int64()),
        **dict.fromkeys(("scope", "benchmark"), pa.string()),
        **dict.fromkeys(("is_named", "is_shown"), pa.bool_()),
        **dict.fromkeys(("n_benchmarks", *COUNTED), pa.int64()),
        **dict.fromkeys(("base_value", "candidate_value", "delta", "se_new_tasks"), pa.float64()),
        **dict.fromkeys(("ci_new_tasks_low", "ci_new_tasks_high"), pa.float64()),
        **dict.fromkeys(("bound_low", "bound_high", "unseen_low", "unseen_high"), pa.float64()),
        "p_value": pa.float64(),
        "test": pa.string(),
        "n_draws": pa.int64(),
        **dict.fromkeys(("p_holm", "p_rank"), pa.float64()),
        "verdict": pa.string(),
        "is_decisive": pa.bool_(),
    }
)


def _table(columns: dict[str, NDArray[Any]]) -> pa.Table:
    arrays = []
    for each in SCHEMA:
        values = columns[each.name]
        mask = ~np.isfinite(values) if values.dtype.kind == "f" else None
        if mask is not None and pa.types.is_integer(each.type):
            values = np.where(mask, 0, values).astype(np.int64)
        arrays.append(pa.array(values, type=each.type, mask=mask))
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _benchmarks(columns: dict[str, NDArray[Any]], number: Counts) -> Iterator[Benchmark]:
    """Rows come by benchmark, entrant and task: each benchmark as matrices."""
    names = columns["benchmark"]
    is_next = np.flatnonzero(names[1:] != names[:-1]) + 1
    for start, end in pairwise([0, *is_next.tolist(), len(names)]):
        own = {name: values[start:end] for name, values in columns.items()}
        task_ids = sorted(set(own["task_id"]))
        code = {task: place for place, task in enumerate(task_ids)}
        column = np.array([code[task] for task in own["task_id"]])
        row = np.searchsorted(number, own["entrant_no"])
        shape = (len(number), len(task_ids))

        def matrix(name: str, row: Any = row, column: Any = column, own: Any = own) -> Numbers:
            filled = np.full(shape, np.nan)  # noqa: B023 - used within this turn of the loop
            filled[row, column] = own[name].astype(np.float64)
            # Plus 0 there is no negative zero, which would be another seed.
            return filled + 0.0

        questions = np.full(shape, -1)
        questions[row, column] = coded(own["question"])[0]
        groups = np.arange(shape[1])
        group, _ = coded(own["task_group"])
        has_group = group >= 0
        groups[column[has_group]] = shape[1] + group[has_group]
        known = np.zeros(len(number), dtype=bool)
        known[row] = own["is_expected_known"].astype(bool)
        yield Benchmark(
            name=str(own["benchmark"][0]),
            task_ids=task_ids,
            groups=np.unique(groups, return_inverse=True)[1].astype(np.int64),
            values=matrix("value"),
            n_scored=np.nan_to_num(matrix("n_scored")),
            variances=matrix("sampling_variance"),
            lowest=matrix("lowest"),
            highest=matrix("highest"),
            questions=questions,
            is_expected_known=known,
            is_bounded=bool(own["is_bounded"][0]),
            value_range=1.0 if own["is_bounded"][0] else float(own["value_range"][0]),
            is_counted=bool(own["is_counted"].any()),
        )


def _pairs(one: Benchmark, base: NDArray[np.intp], candidate: NDArray[np.intp]) -> Pairs:
    """The paired changes of all pairs, a few pairs at a time."""
    n_groups = int(one.groups.max(initial=-1)) + 1
    is_grouped = n_groups < len(one.task_ids)
    to_groups = np.zeros((len(one.task_ids), n_groups))
    to_groups[np.arange(len(one.task_ids)), one.groups] = 1
    figures = {name: np.full(len(base), np.nan) for name in (*FIGURES, "n_both")}
    parts = np.zeros((len(base), n_groups))
    has_task = ~np.isnan(one.lowest) | (one.n_scored > 0) | (one.questions >= 0)
    # A pair in which one lacks the benchmark has no figures; where each has its own, most do.
    is_here = np.asarray(has_task.any(axis=1))
    here = np.flatnonzero(is_here[base] & is_here[candidate])
    for start in range(0, len(here), PAIRS_AT_ONCE):
        at = here[start : start + PAIRS_AT_ONCE]
        one_side, other_side = base[at], candidate[at]
        is_other = (one.questions[one_side] >= 0) & (one.questions[other_side] >= 0)
        is_other &= one.questions[one_side] != one.questions[other_side]
        k_one, k_other = one.n_scored[one_side], one.n_scored[other_side]
        both = (k_one > 0) & (k_other > 0) & ~is_other
        n = both.sum(axis=1).astype(np.float64)
        some = np.maximum(n, 1)
        change = np.where(both, one.values[other_side] - one.values[one_side], 0.0)
        delta = np.where(n > 0, change.sum(axis=1) / some, np.nan)
        off = np.where(both, change - delta[:, None], 0.0)
        sizes, by_group = both.astype(np.float64), off
        if is_grouped:
            sizes, by_group = sizes @ to_groups, off @ to_groups
        share = sizes / some[:, None]
        with np.errstate(all="ignore"):
            square = (by_group**2 / np.where(share < 1, 1 - share, np.nan)).sum(axis=1) / some**2
            wide = share**2 / np.where(share < 1, 1 - share, np.nan)
            # What rounding leaves of equal differences is no spread.
            largest = (change**2).sum(axis=1) / some**2
            square = np.where(square > stats.ROUNDING * largest, square, square * 0)
            degrees = 1 / ((share**2).sum(axis=1) + wide.sum(axis=1) ** 2 - (wide**2).sum(axis=1))
        count = (sizes > 0).sum(axis=1).astype(np.float64)
        is_even = np.where(sizes > 0, sizes, np.inf).min(axis=1) == sizes.max(axis=1)
        degrees = np.where(is_even, count - 1, degrees)
        unequal = both & (k_one != k_other)
        if unequal.any():
            hidden = (
                _dealt(one, one_side, other_side)
                - off**2 * (some / np.maximum(some - 1, 1))[:, None]
            )
            square = square + np.maximum(np.where(unequal, hidden, 0).sum(axis=1), 0) / some**2
        has_one_side, has_other_side = has_task[one_side], has_task[other_side]
        possible = (has_one_side & has_other_side) & ~is_other
        possible |= has_one_side & ~has_other_side & ~one.is_expected_known[other_side][:, None]
        possible |= has_other_side & ~has_one_side & ~one.is_expected_known[one_side][:, None]
        n_possible = possible.sum(axis=1)
        low = _end(
            one.lowest,
            one.highest,
            other_side,
            one_side,
            has_other_side,
            has_one_side,
            one.is_bounded,
        )
        high = -_end(
            one.lowest,
            one.highest,
            one_side,
            other_side,
            has_one_side,
            has_other_side,
            one.is_bounded,
        )
        own = {
            "n_both": np.where(has_one_side.any(axis=1) & has_other_side.any(axis=1), 1.0, 0.0),
            "n_tasks": n,
            "n_base_only": (has_one_side & ~has_other_side).sum(axis=1),
            "n_candidate_only": (has_other_side & ~has_one_side).sum(axis=1),
            "n_other_questions": is_other.sum(axis=1),
            "base_value": np.where(both, one.values[one_side], 0).sum(axis=1)
            / np.where(n, n, np.nan),
            "candidate_value": np.where(both, one.values[other_side], 0).sum(axis=1)
            / np.where(n, n, np.nan),
            "delta": delta,
            "se_new_tasks": np.where(n > 1, np.sqrt(square), np.nan),
            "bound_low": np.where(possible, low, 0).sum(axis=1) / np.maximum(n_possible, 1),
            "bound_high": np.where(possible, high, 0).sum(axis=1) / np.maximum(n_possible, 1),
            "n_groups": count,
            "degrees": degrees,
            "is_unequal": unequal.any(axis=1).astype(np.float64),
            "n_possible": n_possible.astype(np.float64),
        }
        for name, values in own.items():
            figures[name][at] = values
        by_task = change / some[:, None]
        parts[at] = by_task @ to_groups if is_grouped else by_task
    return Pairs(figures, parts)


def _end(
    lowest: Numbers,
    highest: Numbers,
    one: NDArray[np.intp],
    other: NDArray[np.intp],
    has_one: Mask,
    has_other: Mask,
    is_bounded: bool,
) -> Numbers:
    """The least change from the other to one: a task that one lacks is at its worst for it."""
    if not is_bounded:
        return np.asarray(lowest[one] - highest[other])
    least = np.where(has_one, lowest[one], 0.0)
    return np.asarray(least - np.where(has_other, highest[other], 1.0))


def _dealt(one: Benchmark, one_side: NDArray[np.intp], other_side: NDArray[np.intp]) -> Numbers:
    """The variance of each task's change if its attempts had been dealt out again."""
    spread = (one.n_scored - 1) * one.n_scored * np.nan_to_num(one.variances)
    n, other = one.n_scored[one_side], one.n_scored[other_side]
    with np.errstate(all="ignore"):
        change = one.values[other_side] - one.values[one_side]
        pooled = spread[one_side] + spread[other_side] + n * other / (n + other) * change**2
        dealt = pooled / (n + other - 1) * (1 / n + 1 / other)
    return np.where(np.isfinite(dealt), dealt, 0.0)


def _averaged(pairs: list[Pairs], is_in: Mask) -> dict[str, Numbers]:
    """The mean change over benchmarks, each weighed alike, with the error of each one's change."""

    def over(name: str) -> Numbers:
        figures = np.array([each.figures[name] for each in pairs]).reshape(is_in.shape)
        return np.where(is_in, figures, 0)

    n = is_in.sum(axis=0).astype(np.float64)
    some = np.where(n > 0, n, np.nan)
    variance = over("se_new_tasks") ** 2
    with np.errstate(all="ignore"):
        bends = np.where(is_in & (variance > 0), variance**2 / over("degrees"), 0).sum(axis=0)
        degrees = variance.sum(axis=0) ** 2 / bends
    n_groups = over("n_groups").sum(axis=0)
    unseen = np.where(is_in, stats.unseen_share(over("n_groups").ravel()).reshape(is_in.shape), 0)
    return {
        **{name: over(name).sum(axis=0) for name in COUNTED},
        **{
            name: over(name).sum(axis=0) / some
            for name in ("base_value", "candidate_value", "delta", "bound_low", "bound_high")
        },
        "se_new_tasks": np.sqrt(variance.sum(axis=0)) / some,
        "n_groups": n_groups,
        # Whole, which is on the safe side, and the same for most pairs.
        "degrees": np.floor(np.where(np.isfinite(degrees), degrees, np.maximum(n_groups - n, 1))),
        "is_unequal": over("is_unequal").max(axis=0),
        "n_benchmarks": n,
        # All that is unseen may be in the smallest benchmark, which has its weight alone.
        "unseen": unseen.max(axis=0) / some,
    }


def _tested(
    figures: dict[str, Numbers],
    one: Benchmark | None,
    p_signs: Numbers | None,
    n_draws: int,
    *,
    growing: bool,
) -> dict[str, Any]:
    """The interval, the test and what the verdict needs, of all pairs at one place."""
    is_bounded = np.full(len(figures["delta"]), one is None or one.is_bounded)
    value_range = 1.0 if one is None else one.value_range
    spread = [figures[name] for name in ("delta", "se_new_tasks", "n_groups", "degrees")]
    low, high = stats.change_interval(
        *spread,
        is_bounded=is_bounded,
        growing=np.full(len(is_bounded), value_range) if growing else None,
    )
    level = np.fmax(np.abs(figures["base_value"]), np.abs(figures["candidate_value"]))
    p_value = stats.t_test(*(np.nan_to_num(each) for each in spread), scale=np.nan_to_num(level))
    p_value = np.where(np.isfinite(figures["se_new_tasks"]), p_value, np.nan)
    by_signs = np.zeros(len(p_value), dtype=bool)
    if p_signs is not None:
        by_signs = (figures["is_unequal"] == 0) & np.isfinite(p_value)
        p_value = np.where(by_signs, p_signs, p_value)
    unseen = figures["unseen"] if one is None else stats.unseen_share(figures["n_groups"])
    centre, reach = (1 - unseen) * figures["delta"], unseen * value_range
    return {
        "n_benchmarks": np.ones(len(p_value)),
        "n_both": np.ones(len(p_value)),
        **figures,
        "ci_new_tasks_low": low,
        "ci_new_tasks_high": high,
        # That nothing changed is not claimed where results are missing.
        "unseen_low": np.full_like(low, -np.inf) if growing else np.fmin(low, centre - reach),
        "unseen_high": np.full_like(high, np.inf) if growing else np.fmax(high, centre + reach),
        "p_value": p_value,
        "test": np.where(by_signs, "signs of tasks", "t of tasks' differences").astype(object),
        "n_draws": np.where(by_signs, float(n_draws), np.nan),
    }


def _correct(tests: list[dict[str, Any]], places: list[tuple[str, str]], is_shown: Mask) -> None:
    """Holm's p-values, and the verdict by them.

    Over the suite all pairs that are shown are allowed for, at benchmarks all of them at all
    benchmarks; ranks allow for all pairs of their own benchmark.
    """
    for is_family in (
        [scope == "benchmark" for scope, _ in places],
        [scope == "suite" for scope, _ in places],
        [scope == "common" for scope, _ in places],
    ):
        own = [test for test, is_one in zip(tests, is_family, strict=True) if is_one]
        together = [np.where(is_shown, test["p_value"], np.nan) for test in own]
        adjusted = stats.holm(np.concatenate(together)) if together else np.zeros(0)
        for place, test in enumerate(own):
            test["p_holm"] = adjusted[place * len(is_shown) : (place + 1) * len(is_shown)]
    for test in tests:
        # A change that missing attempts could turn round puts nobody first.
        test["p_rank"] = np.where(_could_turn(test), 1.0, stats.holm(test["p_value"]))
        evidence = claims.Evidence(
            test["ci_new_tasks_low"],
            test["ci_new_tasks_high"],
            test["bound_low"],
            test["bound_high"],
            test["unseen_low"],
            test["unseen_high"],
            test["p_holm"],
        )
        has_tasks = np.nan_to_num(test["n_tasks"]) > 0
        verdict = np.where(has_tasks, evidence.verdict(MARGIN), claims.NOT_COMPARABLE)
        test["verdict"] = verdict.astype(object)


def _could_turn(test: dict[str, Any]) -> Mask:
    """Whether missing attempts and tasks, or the interval, leave both signs possible."""
    lowest = np.fmin(test["ci_new_tasks_low"], test["bound_low"])
    highest = np.fmax(test["ci_new_tasks_high"], test["bound_high"])
    return np.asarray((lowest <= stats.ROUNDING) & (highest >= -stats.ROUNDING))


def _mark_decisive(tests: list[dict[str, Any]], pairs: list[Pairs], is_in: Mask) -> None:
    """Benchmarks without which the verdict on the suite would not be shown, by the t test."""
    for test in tests:
        test["is_decisive"] = np.zeros(len(test["delta"]), dtype=bool)
    if not pairs:
        return
    whole = tests[len(pairs)]
    is_shown = np.isin(whole["verdict"].astype(str), [claims.IMPROVED, claims.REGRESSED])
    with np.errstate(all="ignore"):
        factor = np.where(whole["p_value"] > 0, whole["p_holm"] / whole["p_value"], 1)
    for place in range(len(pairs)):
        others = is_in.copy()
        others[place] = False
        rest = _averaged(pairs, others)
        is_asked = is_shown & is_in[place]
        spread = [
            np.nan_to_num(rest[name])[is_asked]
            for name in ("delta", "se_new_tasks", "n_groups", "degrees")
        ]
        p_value = stats.t_test(*spread, scale=np.ones(len(spread[0])))
        is_same = np.sign(spread[0]) == np.sign(whole["delta"][is_asked])
        holds = is_same & (p_value * factor[is_asked] <= 1 - stats.LEVEL)
        tests[place]["is_decisive"][is_asked] = ~holds


def _flipped(
    benchmarks: list[Benchmark], pairs: list[Pairs], scopes: dict[str, Mask]
) -> tuple[dict[int | str, Numbers], int]:
    """How often signs at random move each mean as far as it moved; the same signs for all pairs.

    In whole numbers that floats hold exactly, sums do not depend on their order.
    """
    n_pairs = len(pairs[0].parts)
    n_draws = max(FEWEST_DRAWS, DRAWS_PER_PAIR * n_pairs - 1)
    largest = max(float(np.abs(each.parts).sum(axis=1).max(initial=0)) for each in pairs) or 1.0
    unit = np.exp2(23 - np.ceil(np.log2(largest)))
    rounded = [np.rint(each.parts * unit).T.astype(np.float32) for each in pairs]
    # Most pairs of many entrants share no task: their mean is 0, which every draw reaches.
    has_moved = np.any([own.any(axis=0) for own in rounded], axis=0)
    weights = [own[:, has_moved] for own in rounded]
    is_in_scope = {scope: is_in[:, has_moved] for scope, is_in in scopes.items()}
    seen = [each.sum(axis=0, dtype=np.float64) for each in weights]
    least: dict[int | str, Numbers] = {place: np.abs(each) for place, each in enumerate(seen)}
    for scope, is_in in is_in_scope.items():
        least[scope] = np.abs(np.where(is_in, seen, 0).sum(axis=0))
    n_moved = int(has_moved.sum())
    hits = {place: np.zeros(n_moved) for place in least}
    random = np.random.default_rng(_seed(benchmarks))
    for start in range(0, n_draws, DRAWS_AT_ONCE):
        n = min(DRAWS_AT_ONCE, n_draws - start)
        totals = {scope: np.zeros((n, n_moved)) for scope in scopes}
        for place, own in enumerate(weights):
            n_bytes = -(-len(own) // 8)
            bits = np.unpackbits(random.integers(0, 256, (n, n_bytes), dtype=np.uint8), axis=1)
            sums = (bits[:, : len(own)] * np.float32(2) - np.float32(1)) @ own
            hits[place] += (np.abs(sums) >= least[place]).sum(axis=0)
            for scope, is_in in is_in_scope.items():
                totals[scope] += sums if is_in[place].all() else np.where(is_in[place], sums, 0.0)
        for scope, total in totals.items():
            hits[scope] += (np.abs(total) >= least[scope]).sum(axis=0)
    p_values = {place: np.ones(n_pairs) for place in hits}
    for key, own in hits.items():
        p_values[key][has_moved] = (1 + own) / (1 + n_draws)
    return p_values, n_draws


def _seed(benchmarks: list[Benchmark]) -> int:
    """Of tasks and what entrants scored: neither their names nor their order change it."""
    seed = sha256()
    for each in sorted(benchmarks, key=lambda one: one.task_ids):
        seed.update("\0".join(each.task_ids).encode())
        rows = np.stack([each.values, each.n_scored], axis=1).astype("<f8")
        for own in sorted(row.tobytes() for row in rows):
            seed.update(own)
    return int.from_bytes(seed.digest(), "little")
