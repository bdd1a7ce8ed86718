"""Intervals around a figure: for new tasks like these, and for these tasks again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

LEVEL = 0.95
# Below so many tasks with both passes and failures an interval for the same tasks misleads.
FEWEST_MIXED = 10


def new_tasks_interval(
    value: Numbers, se: Numbers, n_units: Numbers, *, is_bounded: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Where the figure of new tasks like these would lie; NaN with fewer than two units.

    Wilson's with the effective size that the standard error implies, which holds near 0 and 1;
    the plain t interval for rewards without bounds, which says nothing where tasks are all alike.
    """
    from scipy.special import stdtrit

    quantile = stdtrit(np.maximum(n_units - 1, 1), (1 + LEVEL) / 2)
    low, high = _wilson(value, se, n_units, quantile)
    half = np.where(_is_spread(value, se), quantile * se, np.nan)
    plain_low, plain_high = value - half, value + half
    is_defined = (n_units > 1) & np.isfinite(se)
    return (
        np.where(is_defined, np.where(is_bounded, low, plain_low), np.nan),
        np.where(is_defined, np.where(is_bounded, high, plain_high), np.nan),
    )


def _wilson(
    value: Numbers, se: Numbers, n_units: Numbers, quantile: Numbers
) -> tuple[Numbers, Numbers]:
    with np.errstate(all="ignore"):
        size = np.where(_is_spread(value, se), value * (1 - value) / se**2, n_units)
        spread = quantile**2 / size
        centre = (value + spread / 2) / (1 + spread)
        inside = np.maximum(value * (1 - value) / size + spread / (4 * size), 0)
        half = quantile / (1 + spread) * np.sqrt(inside)
    # The figure itself is never outside, not even by a rounding.
    return (
        np.minimum(np.maximum(centre - half, 0), value),
        np.maximum(np.minimum(centre + half, 1), value),
    )


def _is_spread(value: Numbers, se: Numbers) -> NDArray[np.bool_]:
    """Do tasks differ at all? What is left of a sum of equal floats is no spread."""
    return np.asarray(se > 1e-12 * np.maximum(np.abs(value), 1))


def same_tasks_interval(
    value: Numbers, se: Numbers, n_mixed: Numbers, *, is_bounded: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Where these tasks, sampled again, would lie; NaN with too few mixed tasks to say."""
    from scipy.special import ndtri

    half = ndtri((1 + LEVEL) / 2) * se
    low = np.where(is_bounded, np.maximum(value - half, 0), value - half)
    high = np.where(is_bounded, np.minimum(value + half, 1), value + half)
    is_defined = (n_mixed >= FEWEST_MIXED) & np.isfinite(se)
    return np.where(is_defined, low, np.nan), np.where(is_defined, high, np.nan)
