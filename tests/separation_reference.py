"""What separates pass from fail, by its definition: exact counts, tables one by one.

Nothing here is taken from `pipeline`. What is undefined is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy.special import chdtrc

# A task: passed with and without the behaviour, failed with and without.
Table = tuple[int, int, int, int]

Z = 1.959963984540054


def cmh(tables: Sequence[Table]) -> Fraction | None:
    """The statistic of Cochran, Mantel and Haenszel."""
    excess, variance = Fraction(0), Fraction(0)
    for a, b, c, d in tables:
        n = a + b + c + d
        excess += a - Fraction((a + b) * (a + c), n)
        variance += Fraction((a + b) * (c + d) * (a + c) * (b + d), n * n * (n - 1))
    return excess**2 / variance if variance else None


def p_value(statistic: Fraction | None) -> float | None:
    return None if statistic is None else float(chdtrc(1, float(statistic)))


def odds_ratio(tables: Sequence[Table]) -> Fraction | float | None:
    """Mantel and Haenszel's; infinite where nothing speaks against it."""
    up = sum(Fraction(a * d, a + b + c + d) for a, b, c, d in tables)
    down = sum(Fraction(b * c, a + b + c + d) for a, b, c, d in tables)
    if up == down == 0:
        return None
    return up / down if down else math.inf


def interval(tables: Sequence[Table]) -> tuple[float, float] | None:
    """Robins, Breslow and Greenland's; none for a ratio of 0 or infinity."""
    ratio = odds_ratio(tables)
    if not ratio or ratio == math.inf:
        return None
    n = [sum(table) for table in tables]
    p = [Fraction(a + d, size) for (a, _, _, d), size in zip(tables, n, strict=True)]
    r = [Fraction(a * d, size) for (a, _, _, d), size in zip(tables, n, strict=True)]
    s = [Fraction(b * c, size) for (_, b, c, _), size in zip(tables, n, strict=True)]
    up, down = sum(r), sum(s)
    variance = (
        sum(x * y for x, y in zip(p, r, strict=True)) / (2 * up**2)
        + sum(x * z + (1 - x) * y for x, y, z in zip(p, r, s, strict=True)) / (2 * up * down)
        + sum((1 - x) * z for x, z in zip(p, s, strict=True)) / (2 * down**2)
    )
    half = Z * math.sqrt(variance)
    return float(ratio) * math.exp(-half), float(ratio) * math.exp(half)


def ways(table: Table) -> dict[int, int]:
    """In how many ways the totals of a task lead to each count of passes with the behaviour."""
    a, b, c, d = table
    passed, failed, having = a + b, c + d, a + c
    return {
        count: math.comb(passed, count) * math.comb(failed, having - count)
        for count in range(max(0, having - failed), min(passed, having) + 1)
    }


def most_chance(tables: Sequence[Table], ratio: float) -> float:
    """How likely every task has the most passes with the behaviour, under an odds ratio."""
    chance = 1.0
    for table in tables:
        weights = {count: number * ratio**count for count, number in ways(table).items()}
        chance *= weights[max(weights)] / sum(weights.values())
    return chance
