"""Shares of all failures from those that were read, stratum by stratum; how far readers agree."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .stats import Numbers, added

NORMAL = 1.959964
# Half of an observation like all others is added to each stratum: where all that was read
# in one is alike, the rest of it may not be.
PRIOR = 0.5
# With fewer of a stratum read, how much it varies is unknown.
LEAST_READ = 2

AGREEMENT = ("n_both", "n_agreed", "agreement", "kappa", "kappa_low", "kappa_high")


def shares(rows: pa.Table) -> pa.Table:
    """Each mode or cause with its share of all failures and the share's 95% interval."""
    names = ("n_by_stratum", "n_read_by_stratum", "n_with_by_stratum")
    columns = [rows.column(name).to_pylist() for name in names]
    estimates = np.array([estimate(*counts) for counts in zip(*columns, strict=True)]).reshape(
        -1, 3
    )
    return added(rows, share=estimates[:, 0], ci_low=estimates[:, 1], ci_high=estimates[:, 2])


def estimate(
    sizes: Sequence[int] | None, n_read: Sequence[int], n_with: Sequence[int]
) -> tuple[float, float, float]:
    """A share and its interval, by strata; NaN until two of each, or all of it, have been read.

    Wilson's interval, with the sample size that would be as exact without strata, of a population
    that ends: nothing that was read is uncertain.
    """
    size, read, bearing = (np.array(each or [], dtype=float) for each in (sizes, n_read, n_with))
    if not size.sum() or bool((read < np.minimum(size, LEAST_READ)).any()):
        return math.nan, math.nan, math.nan
    weight, unread = size / size.sum(), 1 - read / size
    share = float((weight * bearing / read).sum())
    # Without a spread, as if the strata were all alike.
    variance = float((weight**2 * unread * _variance(read, bearing, share)).sum())
    per_one = float((weight**2 * unread / read).sum())
    per_one = variance / (share * (1 - share)) if 0 < share < 1 and variance > 0 else per_one
    square = NORMAL**2 * per_one
    middle = (share + square / 2) / (1 + square)
    half = NORMAL * math.sqrt(per_one * (share * (1 - share) + square / 4)) / (1 + square)
    known, known_not = bearing.sum() / size.sum(), (read - bearing).sum() / size.sum()
    return share, max(middle - half, known), min(middle + half, 1 - known_not)


def _variance(read: Numbers, bearing: Numbers, share: float) -> Numbers:
    """The variance of the share of each stratum, were it endless."""
    likely = (bearing + PRIOR * share) / (read + PRIOR)
    return np.asarray(likely * (1 - likely) / np.maximum(read - 1, 1))


def agreements(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each pair of readers how often they agree, and Cohen's kappa with its 95% interval."""
    tables: dict[tuple[str, ...], Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in rows:
        key = (row["kind"], row["first_by"], row["second_by"])
        tables[key][row["first_value"], row["second_value"]] += row["n"]
    names = ("kind", "first_by", "second_by", *AGREEMENT)
    return [dict(zip(names, (*key, *kappa(table)), strict=True)) for key, table in tables.items()]


def kappa(table: Counter[tuple[str, str]]) -> tuple[int, int, float, *tuple[float | None, ...]]:
    """Counts, agreement and Cohen's kappa; null where chance alone makes all agree.

    The interval is Wilson's of the agreement, at the chance that the readers' own shares give.
    """
    n_both = table.total()
    n_agreed = sum(n for (one, other), n in table.items() if one == other)
    firsts, seconds = Counter[str](), Counter[str]()
    for (one, other), n in table.items():
        firsts[one] += n
        seconds[other] += n
    by_chance = sum(firsts[value] * seconds[value] for value in sorted(firsts)) / n_both**2
    agreement = n_agreed / n_both
    if by_chance == 1:
        return n_both, n_agreed, agreement, None, None, None
    square = NORMAL**2 / n_both
    middle = (agreement + square / 2) / (1 + square)
    half = NORMAL * math.sqrt((agreement * (1 - agreement) + square / 4) / n_both) / (1 + square)
    ends = (agreement, max(middle - half, 0), min(middle + half, 1))
    return n_both, n_agreed, agreement, *((end - by_chance) / (1 - by_chance) for end in ends)
