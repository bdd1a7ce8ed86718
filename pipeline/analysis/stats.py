"""Numbers in, numbers out: intervals, what they say of a change, and counts by chance.

Arrays of one length in and out; what is undefined is NaN, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from . import student

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[np.str_]
Key = TypeVar("Key", bound=Hashable)

LEVEL = 0.95
# How often a change of the detectable size would be seen.
POWER = 0.80
# The normal distribution's quantiles of (1 + LEVEL) / 2 and of POWER.
NORMAL_LEVEL, NORMAL_POWER = 1.959963984540054, 0.8416212335729143
# Below so many tasks with both passes and failures an interval for the same tasks misleads.
FEWEST_MIXED = 10
# So many tasks that differ are few, if they are no larger a share than this.
FEW, FEW_OF = 3.0, 0.2
# Two sums of one size that differ by no more than this share of it differ by rounding alone.
ROUNDING = 1e-12

# A change is significant where chance alone would make one as large no more often than this.
MOST_BY_CHANCE = 0.05


def new_tasks_interval(
    value: Numbers, se: Numbers, n_units: Numbers, degrees: Numbers, *, is_bounded: Mask
) -> tuple[Numbers, Numbers]:
    """Where the figure of new tasks like these would lie; NaN with fewer than two units.

    Wilson's with the effective size that the standard error implies, which holds near 0 and 1;
    the plain t interval for rewards without bounds, which says nothing where tasks are all alike.
    Up to three that differ of fifteen, by the effective size, have Clopper and Pearson's exact end.
    A share of the tasks that so few do not show may fail or pass every time: never narrower.
    """
    is_defined = (n_units > 1) & np.isfinite(se)
    quantile = t_quantile(degrees, is_defined)
    is_spread = _is_spread(value, se)
    with np.errstate(all="ignore"):
        size = np.where(is_spread, value * (1 - value) / se**2, n_units)
        spread = quantile**2 / size
        centre = (value + spread / 2) / (1 + spread)
        inside = np.maximum(value * (1 - value) / size + spread / (4 * size), 0)
        wilson = quantile / (1 + spread) * np.sqrt(inside)
    plain = np.where(is_spread, quantile * se, np.nan)
    unseen = unseen_share(n_units)
    low = np.minimum(np.maximum(centre - wilson, 0), value * (1 - unseen))
    high = np.maximum(np.minimum(centre + wilson, 1), value + (1 - value) * unseen)
    # Of one or a few that differ Wilson's makes too much.
    is_wanted = is_defined & is_bounded
    low = np.minimum(low, _least_of_few(size * value, size, is_wanted))
    high = np.maximum(high, 1 - _least_of_few(size * (1 - value), size, is_wanted))
    return np.where(is_bounded, low, value - plain), np.where(is_bounded, high, value + plain)


def _least_of_few(n_seen: Numbers, n: Numbers, wanted: Mask) -> Numbers:
    """The least share that few of n come of, once in forty; infinity where they are not few."""
    shares = np.full(len(n), np.inf)
    is_few = n_seen <= np.minimum(FEW, n * FEW_OF) * (1 + ROUNDING)
    for place in np.flatnonzero(wanted & (n_seen > ROUNDING) & is_few):
        shares[place] = student.least_share(float(n_seen[place]), float(n[place]), (1 - LEVEL) / 2)
    return shares


def same_tasks_interval(
    value: Numbers, se: Numbers, n_mixed: Numbers, *, is_bounded: Mask
) -> tuple[Numbers, Numbers]:
    """Where these tasks, sampled again, would lie; NaN with too few mixed tasks to say."""
    low, high = same_tasks_change_interval(value, se, n_mixed)
    return (
        np.where(is_bounded, np.maximum(low, 0), low),
        np.where(is_bounded, np.minimum(high, 1), high),
    )


def change_interval(
    mean: Numbers,
    se: Numbers,
    n_units: Numbers,
    degrees: Numbers,
    *,
    is_bounded: Mask,
    level: float = LEVEL,
    growing: Numbers | None = None,
) -> tuple[Numbers, Numbers]:
    """Where the change on new tasks like these would lie; NaN with fewer than two units.

    Differences that are all alike have no spread; tasks that so few do not show could still be
    unlike them, and where rates bound them lie as far off as 1 or -1. Of results that are
    `growing`, with the range of what they may be worth, it holds at all looks together.
    """
    is_spread = _is_spread(mean, se)
    is_defined = (n_units > 1) & np.isfinite(se) & (is_spread | is_bounded)
    by_spread = t_quantile(degrees, is_defined, share=(1 + level) / 2) * se
    if growing is not None:
        by_spread = _at_all_looks(by_spread, growing, level)
    unseen = unseen_share(n_units, level=level)
    below = np.where(is_spread, by_spread, unseen * (1 + mean))
    above = np.where(is_spread, by_spread, unseen * (1 - mean))
    low, high = (np.where(is_defined, end, np.nan) for end in (mean - below, mean + above))
    return (
        np.where(is_bounded, np.maximum(low, -1), low),
        np.where(is_bounded, np.minimum(high, 1), high),
    )


def _at_all_looks(half: Numbers, value_range: Numbers, level: float) -> Numbers:
    """Half an interval that holds however often growing results are looked at.

    Robbins' mixture: a sum of differences is a Brownian motion in its information, and is weighed
    against changes of a size that one would look for, a tenth of the range.
    """
    z = student.quantile(1e9, (1 + level) / 2)
    with np.errstate(all="ignore"):
        square, looked_for = (half / z) ** 2, (value_range / 10) ** 2
        ratio = looked_for / square
        growth = (1 + 1 / ratio) * (np.log1p(ratio) - 2 * np.log(1 - level))
        wider = np.sqrt(square * growth)
    return np.where(np.isnan(value_range) | (half <= 0), half, np.maximum(half, wider))


def same_tasks_change_interval(
    mean: Numbers, se: Numbers, n_mixed: Numbers
) -> tuple[Numbers, Numbers]:
    """Where the change on these tasks, sampled again, would lie; NaN with too few mixed tasks."""
    is_defined = (n_mixed >= FEWEST_MIXED) & np.isfinite(se)
    half = np.where(is_defined, NORMAL_LEVEL * se, np.nan)
    return mean - half, mean + half


def detectable(se: Numbers, degrees: Numbers) -> Numbers:
    """The minimum detectable change, with 80% power; NaN without a spread to judge by.

    Infinitely many degrees of freedom stand for a standard error that is known.
    """
    is_known = np.isinf(degrees)
    is_defined = (degrees > 0) & np.isfinite(se) & (se > ROUNDING)
    by_units = is_defined & ~is_known
    factors = np.where(is_known, NORMAL_LEVEL, t_quantile(degrees, by_units)) + np.where(
        is_known, NORMAL_POWER, t_quantile(degrees, by_units, share=POWER)
    )
    return np.where(is_defined, factors * se, np.nan)


def unseen_share(n_units: Numbers, *, level: float = LEVEL) -> Numbers:
    """The largest share of all tasks that could be unlike every one of these, and go unseen."""
    return np.asarray(1 - ((1 - level) / 2) ** (1 / np.maximum(n_units, 1)))


def t_quantile(
    degrees: Numbers, wanted: Mask, *, share: Numbers | float = (1 + LEVEL) / 2
) -> Numbers:
    """Student's, at so many degrees of freedom; NaN where it is not wanted."""
    quantiles = np.full(len(degrees), np.nan)
    shares = np.broadcast_to(share, degrees.shape)[wanted]
    quantiles[wanted] = list(map(student.quantile, degrees[wanted].tolist(), shares.tolist()))
    return quantiles


def t_test(
    mean: Numbers, se: Numbers, n_units: Numbers, degrees: Numbers, *, scale: Numbers
) -> Numbers:
    """How often a mean this far from 0 comes of differences whose mean is 0; NaN of one unit.

    Differences that are all alike have no spread to judge by: theirs is the chance that all signs
    agree. `scale` is the size of what was subtracted.
    """
    is_level = np.abs(mean) <= ROUNDING * scale
    is_spread = (se > ROUNDING * scale) & (n_units > 1)
    by_signs = np.where(is_level, 1, np.exp2(1 - np.maximum(n_units, 1)))
    p_values = np.where(n_units > 1, by_signs, np.nan)
    distance = np.abs(np.where(is_level, 0, mean))[is_spread] / se[is_spread]
    p_values[is_spread] = list(map(student.p_value, degrees[is_spread].tolist(), distance.tolist()))
    return p_values


def normal_p_value(distance: Numbers, wanted: Mask) -> Numbers:
    """How often a normal number is so many deviations off, on either side; NaN if not wanted."""
    p_values = np.full(len(distance), np.nan)
    p_values[wanted] = list(map(math.erfc, (distance[wanted] / np.sqrt(2)).tolist()))
    return p_values


def _is_spread(value: Numbers, se: Numbers) -> Mask:
    """Do values differ at all? What is left of a sum of equal floats is no spread."""
    return np.asarray(se > ROUNDING * np.maximum(np.abs(value), 1))


def holm(p_values: Numbers) -> Numbers:
    """Holm's: the chance that any of several equal candidates looks this clear.

    A test that is undefined takes no part.
    """
    adjusted, order = _ascending(p_values)
    raised = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1)
    return adjusted


def q_values(p_values: Numbers) -> Numbers:
    """Benjamini and Hochberg's: the share of false finds among those at least as clear as each.

    A test that is undefined takes no part.
    """
    q, order = _ascending(p_values)
    raised = p_values[order] * (len(order) / np.arange(1, len(order) + 1))
    q[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1)
    return q


def _ascending(p_values: Numbers) -> tuple[Numbers, NDArray[np.intp]]:
    """A NaN for each test, and the places of those that are defined, the smallest first."""
    tested = np.flatnonzero(~np.isnan(p_values))
    return np.full(len(p_values), np.nan), tested[np.argsort(p_values[tested], kind="stable")]


def within(
    adjust: Callable[[Numbers], Numbers], p_values: Numbers, *keys: pa.ChunkedArray
) -> Numbers:
    """Tests adjusted among those that have the same keys."""
    codes, groups = coded(zip(*(key.to_pylist() for key in keys), strict=True))
    adjusted = np.full(len(p_values), np.nan)
    for code in range(len(groups)):
        adjusted[codes == code] = adjust(p_values[codes == code])
    return adjusted


def tally(*columns: Counts) -> tuple[Counts, Counts]:
    """The distinct rows of these columns in order, and how many there are of each."""
    rows, n_alike = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return rows.astype(np.int64), n_alike.astype(np.int64)


def mean(values: Numbers) -> float:
    """The mean, the same in any order of the values; NaN of none."""
    return float(np.sort(values).mean()) if len(values) else np.nan


def log_factorial(n: Counts) -> Numbers:
    """The logarithm of n!."""
    return _log_factorials(int(n.max(initial=0)).bit_length())[n]


@cache
def _log_factorials(n_bits: int) -> Numbers:
    """The logarithms of the factorials of all numbers of so many bits."""
    return np.array([math.lgamma(i + 1) for i in range(1 << n_bits)])


def log_choose(n: Counts | int, k: Counts) -> Numbers:
    """The logarithm of n over k; minus infinity where there is no way."""
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0)
    ways = log_factorial(np.asarray(n)) - log_factorial(k) - log_factorial(n - k)
    return np.where(inside, ways, -np.inf)


def hypergeometric(
    n_base: Counts, n_candidate: Counts, n_passed: Counts
) -> tuple[Counts, Counts, Numbers]:
    """Every number of passes the base can get, task after task, with its chance.

    Which task it is, the passes of the base, and how likely they are when the task's passes are
    dealt out at random to both runs.
    """
    least, most = np.maximum(n_passed - n_candidate, 0), np.minimum(n_base, n_passed)
    widths = most - least + 1
    starts = np.cumsum(widths) - widths
    task = np.repeat(np.arange(len(widths)), widths)
    passed = np.arange(widths.sum()) - starts[task] + least[task]
    log_ways = -(
        log_factorial(passed)
        + log_factorial(n_base[task] - passed)
        + log_factorial(n_passed[task] - passed)
        + log_factorial((n_candidate - n_passed)[task] + passed)
    )
    # Over the likeliest of the task, so that no exponential overflows or vanishes.
    ways = np.exp(log_ways - np.maximum.reduceat(log_ways, starts)[task])
    total = np.bincount(task, ways, minlength=len(widths))
    return task, passed, ways / total[task]


def mean_and_error(
    n_base: Counts, n_candidate: Counts, base: Counts, candidate: Counts
) -> tuple[Numbers, Numbers, Numbers]:
    """Simulated changes, their mean and its error: a simulation a row, a task a column."""
    n_tasks = base.shape[1]
    change = candidate / n_candidate - base / n_base
    moved, squares = change.mean(axis=1), (change**2).sum(axis=1)
    off = (change - moved[:, None]) ** 2
    spread = off.sum(axis=1)
    # What rounding leaves of equal differences is no spread.
    spread = np.where(spread > ROUNDING * squares, spread, 0) * (n_tasks / (n_tasks - 1))
    unequal = n_base != n_candidate
    if unequal.any():
        dealt = dealt_variance(n_base, n_candidate, base, candidate)
        hidden = np.where(unequal, dealt - off * (n_tasks / (n_tasks - 1)), 0).sum(axis=1)
        spread = spread + np.maximum(hidden, 0)
    return change, moved, np.sqrt(spread) / n_tasks


def dealt_variance(n_base: Counts, n_candidate: Counts, base: Counts, candidate: Counts) -> Numbers:
    """The variance of each task's change if its attempts had been dealt out again."""
    n, passed = n_base + n_candidate, base + candidate
    pooled = passed * (n - passed) / (n * (n - 1.0))
    return np.asarray(pooled * (1 / n_base + 1 / n_candidate))


def numbers(column: pa.ChunkedArray) -> Numbers:
    """A column of Arrow with NaN for null."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def counts(column: pa.ChunkedArray) -> Counts:
    """A column of whole numbers without nulls."""
    return np.asarray(column.to_numpy(), dtype=np.int64)


def flags(column: pa.ChunkedArray) -> Mask:
    """A column of booleans; null is false."""
    return np.asarray(column.to_pylist(), dtype=bool)


def coded(keys: Iterable[Key | None]) -> tuple[Counts, list[Key]]:
    """A number for each text or other key, -1 for none, and the keys.

    Arrow's own coding, as all its `compute`, takes longer to load than most columns to be coded.
    """
    codes: dict[Key, int] = {}
    coded_keys = [-1 if key is None else codes.setdefault(key, len(codes)) for key in keys]
    return np.array(coded_keys, dtype=np.int64), list(codes)


def strata(text: str) -> list[tuple[int, ...]]:
    """Counts of alike tasks as SQL hands them over: `4:2:1:3 5:1:1:2`."""
    return [tuple(map(int, part.split(":"))) for part in text.split(" ")]


def added(rows: pa.Table, **figures: NDArray[Any]) -> pa.Table:
    """Each row with its figures beside what it holds.

    Null for what is undefined, and for infinity, which JSON cannot say.
    """
    for name, values in figures.items():
        undefined = ~np.isfinite(values) if values.dtype.kind == "f" else None
        rows = rows.append_column(name, pa.array(values, mask=undefined))
    return rows
