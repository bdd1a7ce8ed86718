"""Columns of Arrow as arrays of numbers, and back; tests that are counted together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.analysis.stats import Numbers, q_values


def numbers(column: pa.ChunkedArray) -> Numbers:
    """A column with NaN for null."""
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def nullable(values: Numbers) -> pa.Array:
    """Null for what is undefined, and for infinity, which JSON cannot say."""
    return pa.array(values, mask=~np.isfinite(values))


def q_within(keys: pa.ChunkedArray, p_values: Numbers) -> Numbers:
    """The q-values of the tests of each key among themselves."""
    _, codes = np.unique(keys.to_numpy(), return_inverse=True)
    found = np.full(len(p_values), np.nan)
    for code in range(codes.max(initial=-1) + 1):
        own = codes == code
        found[own] = q_values(p_values[own])
    return found
