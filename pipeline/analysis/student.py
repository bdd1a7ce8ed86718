"""Student's t: how likely a distance is, and the distance for a chance; small shares of a count.

Loading a library for these two would take longer than all else a small folder asks of `analysis`.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

# No more terms or steps than this, and none once they change next to nothing.
MOST_TERMS, MOST_STEPS = 10_000, 50
LAST_TERM, LAST_STEP = 3e-15, 1e-8
TINIEST = 1e-300
# From here on the series for a ratio of gamma functions is exact.
LARGE = 30.0
RATIO_SERIES = (
    *(1, -1 / 8, 1 / 128, 5 / 1024),
    *(-21 / 32768, -399 / 262144, 869 / 4194304, 39325 / 33554432),
)


@lru_cache(maxsize=1 << 14)
def p_value(degrees: float, distance: float) -> float:
    """How often a number is at least so far from 0, on either side."""
    square = distance * distance
    return _incomplete_beta(degrees / (degrees + square), square / (degrees + square), degrees / 2)


@cache
def quantile(degrees: float, share: float) -> float:
    """The number that this share, more than a half, of all numbers is below."""
    chance = 2 * (1 - share)
    # The logarithm of the chance is concave in that of the distance: Newton's steps cannot fail,
    # and the next would be about the square of the last.
    distance = math.sqrt(-2 * math.log(chance))
    for _ in range(MOST_STEPS):
        reached = p_value(degrees, distance)
        step = math.log(reached / chance) * reached / (2 * distance * _density(degrees, distance))
        distance *= math.exp(step)
        if abs(step) < LAST_STEP:
            break
    return distance


@cache
def least_share(n_seen: float, n: float, chance: float) -> float:
    """The share of which at least so many of n would be seen with this chance: Clopper-Pearson's.

    Neither has to be whole. For a small chance: the logarithm of it is nearly linear in that of
    the share, and Newton's steps end soon.
    """
    a, b = n_seen, n - n_seen + 1
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    share = min(math.exp((math.log(chance * a) + log_beta) / a), a / (a + b))
    if share < TINIEST:
        return 0.0
    for _ in range(MOST_STEPS):
        log_front = a * math.log(share) + b * math.log1p(-share) - log_beta
        reached = math.log(_fraction(share, a, b) / a) + log_front
        slope = math.exp(log_front - math.log1p(-share) - reached)
        step = (math.log(chance) - reached) / slope
        share = min(share * math.exp(step), (a + 1) / (a + b + 2))
        if abs(step) < LAST_STEP:
            break
    return share


def _density(degrees: float, distance: float) -> float:
    shape = -(degrees + 1) / 2 * math.log1p(distance * distance / degrees)
    return _gamma_ratio(degrees / 2) / math.sqrt(math.pi * degrees) * math.exp(shape)


def _incomplete_beta(x: float, rest: float, a: float) -> float:
    """The regularized incomplete beta function of x, with 1 - x as `rest`, at a and one half."""
    log_x = math.log(x) if x < 0.5 else math.log1p(-rest)
    front = _gamma_ratio(a) / math.sqrt(math.pi) * math.exp(a * log_x) * math.sqrt(rest)
    if x < (a + 1) / (a + 2.5):
        return front / a * _fraction(x, a, 0.5)
    return 1 - front / 0.5 * _fraction(rest, 0.5, a)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c = 1.0
    fraction = d = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < LAST_TERM:
            break
    return fraction


def _not_zero(value: float) -> float:
    return value if abs(value) > TINIEST else TINIEST


def _gamma_ratio(a: float) -> float:
    """Gamma of a + 1/2 over gamma of a, which are too large and too alike to divide."""
    factor = 1.0
    while a < LARGE:
        factor *= a / (a + 0.5)
        a += 1
    return factor * math.sqrt(a) * sum(term / a**n for n, term in enumerate(RATIO_SERIES))
