"""The signs of differences flipped at random: what their sum would be without a change."""

from __future__ import annotations

import numpy as np

from pipeline.analysis.stats.draws import Sums
from pipeline.analysis.stats.intervals import Numbers

# So many signs are all tried: a million sums.
MOST_EXACT_SIGNS = 20
TABLES_AT_ONCE = 64
FLIPS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1


def share_of_flips(sizes: Numbers, least: float) -> float:
    """The share of all choices of signs whose sum is at least so far from 0.

    A choice and its opposite are equally far: half of them do.
    """
    sums = sizes[:1]
    for size in sizes[1:]:
        sums = np.concatenate((sums - size, sums + size))
    return float(np.mean(np.abs(sums) >= least))


def flipped_sums(sizes: Numbers, random: np.random.Generator) -> Sums:
    """Draws of the sum: a random byte chooses the signs of eight sizes at a time."""
    eights = np.append(sizes, np.zeros(-len(sizes) % 8)).reshape(-1, 8)
    tables = np.ascontiguousarray((FLIPS @ eights.T).T)

    def draw(n_draws: int) -> Numbers:
        sums = np.zeros(n_draws)
        for start in range(0, len(tables), TABLES_AT_ONCE):
            own = tables[start : start + TABLES_AT_ONCE]
            flips = random.integers(0, 256, (len(own), n_draws), dtype=np.uint8)
            for table, flip in zip(own, flips, strict=True):
                sums += table.take(flip)
        return sums

    return draw
