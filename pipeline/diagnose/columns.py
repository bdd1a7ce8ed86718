"""Columns of Arrow as arrays of numbers, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.stats import Numbers


def numbers(column: pa.ChunkedArray) -> Numbers:
    """A column with NaN for null."""
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def nullable(values: Numbers) -> pa.Array:
    """Null for what is undefined, and for infinity, which JSON cannot say."""
    return pa.array(values, mask=~np.isfinite(values))
