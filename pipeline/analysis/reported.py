"""Whether a figure that a run reported of itself is ours, and if not, why it may be another.

A line of the rollout file that was rejected may be one more row, or replace another one. So each
moves a sum by no more than the range of its field, which bounds what rejected lines can explain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PASSES = ("pass", "all pass")
EQUAL, NOT_COMPARABLE, DIFFERS = "equal", "not comparable", "differs"
# What rejected lines explain is found by division, which may fall short of all by rounding.
SLACK = 1 + 1e-9

Range = tuple[float | None, float | None]


def checked(figures: pa.Table) -> pa.Table:
    """Each figure with its status: equal, different, or not comparable, and the reason."""
    is_equal = pc.fill_null(figures["is_equal"], False).combine_chunks()
    others = [Figure(**row) for row in figures.filter(pc.invert(is_equal)).to_pylist()]
    foreign = _foreign_files(figures, others)
    places = np.flatnonzero(~is_equal.to_numpy(zero_copy_only=False))
    status = np.full(len(figures), EQUAL, dtype=object)
    reason, explained = (np.full(len(figures), None, dtype=object) for _ in range(2))
    for place, figure in zip(places, others, strict=True):
        explained[place] = figure.explained_rate
        if not figure.is_missing_in_both:
            is_foreign = (figure.run_id, figure.source_file) in foreign
            status[place], reason[place] = figure.judgement(is_foreign=is_foreign)
    return pa.table(
        {
            **{name: figures[name] for name in ("run_id", "agent", "task_id", "metric")},
            "reported": figures["value"],
            "ours": pc.multiply(figures["ours"], figures["scale"]),
            "status": pa.array(status, pa.string()),
            "reason": pa.array(reason, pa.string()),
            "explained_rate": pa.array(explained, pa.float64()),
            "source_file": figures["source_file"],
        }
    )


@dataclass(frozen=True)
class Figure:
    """A reported figure that is not equal to ours; what is unknown is None.

    `kind` says what it is: a statistic of the numbers of a field (the whole run's, or a task's), of
    the means of repeats, a count, or a share of tasks by their first `k` repeats.
    """

    run_id: str
    agent: str | None
    task_id: str | None
    metric: str
    source_file: str
    kind: str
    meant: str
    statistic: str | None
    k: int | None
    value: float | None
    scale: float
    reported: float | None
    ours: float | None
    is_equal: bool | None
    stated_reason: str | None
    pass_threshold: float | None
    n_rollouts: int
    n_expected: int | None
    n_numbers: int
    n_readings: int
    n_averaged: int | None
    is_scored: bool
    is_graded: bool
    is_cut: bool
    n_rejects: int | None
    lowest: float | None
    highest: float | None
    around_median: list[float] | None

    @property
    def is_missing_in_both(self) -> bool:
        """No values, or the deviation of one: both say that there is no number."""
        return self.kind == "statistic" and self.ours is None and self.reported is None

    def judgement(self, *, is_foreign: bool) -> tuple[str, str]:
        """The status, and the reason for it."""
        reason = self._obstacle() or self._excuse(is_foreign=is_foreign)
        if reason:
            return NOT_COMPARABLE, reason
        if (self.explained_rate or 0) > 0:
            return DIFFERS, "rejected lines explain only part of it"
        return DIFFERS, "no reason found"

    def _obstacle(self) -> str | None:
        """Why we have no such figure."""
        if self.kind == "other" and self.stated_reason is not None:
            return self.stated_reason
        if self.kind == "other" or (self.k is not None and self.task_id is not None):
            return "a figure we do not compute"
        if self.ours is not None:
            return None
        if self.n_rollouts == 0:
            return "no rows to compute it from"
        if self.kind == "statistic" and self.n_readings > 1:
            return "several readings of its name"
        if self.kind == "statistic" and self.n_numbers == 0:
            return "field not in the rows"
        if self.kind in PASSES and self.pass_threshold is None:
            return "no pass threshold"
        if self.kind in ("repeats", "majority"):
            return "field not in the rows"
        if self.kind in (*PASSES, "average") and not self.is_scored:
            return "field not in the rows"
        if self.kind in PASSES:
            return "no task with that many repeats"
        return "nothing says what was expected" if self.kind == "count" else None

    def _excuse(self, *, is_foreign: bool) -> str | None:
        """What explains that it is another than ours."""
        if self.reported is None:
            return "reported as no number"
        if self.stated_reason is not None:
            return self.stated_reason
        if self.kind == "pass" and self.is_graded:
            return "defined otherwise: the best of the first k rewards"
        if self.kind == "pass" and self.pass_threshold not in (None, 1):
            return "defined otherwise: only a reward of 1 passes"
        if self.kind in ("average", "majority") and self.is_cut:
            return "order-dependent"
        if (self.explained_rate or 0) >= 1:
            return "lines of the rollout file were rejected"
        if self.kind != "count" and is_foreign:
            return "rows of the file are not those it was computed from"
        return None

    @property
    def explained_rate(self) -> float | None:
        """What part of the difference rejected lines could explain; None where there are none."""
        if self.n_rejects is None:
            return None
        if self.ours is None or self.reported is None:
            return 1.0
        sign = -1 if self.reported < self.ours else 1
        ranges = (self._moved(self.ours, self.n_rejects), self._possible())
        ends = (low if sign < 0 else high for low, high in ranges)
        ways = [sign * (end - self.ours) for end in ends if end is not None]
        return min(1.0, max(0.0, min(ways, default=0.0)) / abs(self.reported - self.ours) * SLACK)

    def _moved(self, ours: float, n_rejects: int) -> Range:
        """How far the rejected lines could take our figure."""
        n, width = self.n_averaged, self._width
        if self.kind == "count":
            return self._moved_count(ours, n_rejects)
        if self.k is not None or self.statistic == "mean":
            # What one of them is worth to a mean, in percent where the figure is.
            worth = 100.0 if self.kind in PASSES else width
            if worth is None or not n:
                return None, None
            step = (worth if self.k is None or self.kind in PASSES else 100 * worth) / n
            return ours - n_rejects * step, ours + n_rejects * step
        if self.statistic == "median" and self.around_median:
            return self.around_median[0], self.around_median[1]
        if self.statistic == "std" and width is not None and n is not None and n > 1:
            spread = n_rejects * width**2
            low = max(0.0, ours**2 * (n - 1) - spread) / (n - 1 + n_rejects)
            return sqrt(low), sqrt(ours**2 + spread / (n - 1))
        return None, None

    def _moved_count(self, ours: float, n_rejects: int) -> Range:
        if self.meant in ("num_rollouts", "num_tasks"):
            return ours, ours + n_rejects
        if self.meant == "missing_num_rollouts":
            return ours - n_rejects, ours
        if self.meant == "reward_profile_completion_pct" and self.n_expected:
            return ours, ours + 100.0 * n_rejects / self.n_expected
        return ours, ours

    def _possible(self) -> Range:
        """Of any rows; the highest and the lowest number may have been rejected."""
        if self.kind == "count":
            return 0.0, inf
        if self.kind in PASSES:
            return 0.0, 100.0
        if self.lowest is None or self.highest is None:
            return None, None
        if self.k is not None:
            return 100 * self.lowest, 100 * self.highest
        return (0.0, self._width) if self.statistic == "std" else (self.lowest, self.highest)

    @property
    def _width(self) -> float | None:
        if self.lowest is None or self.highest is None:
            return None
        return self.highest - self.lowest


def _foreign_files(figures: pa.Table, others: list[Figure]) -> set[tuple[str, str]]:
    """Files that count other rollouts, or have tasks that we have not, beyond what was rejected."""
    foreign = {
        (figure.run_id, figure.source_file)
        for figure in others
        if figure.meant in ("num_rollouts", "num_tasks")
        and figure.is_equal is False
        and (figure.explained_rate or 0) < 1
    }
    is_unknown = pc.and_(pc.equal(figures["n_rollouts"], 0), pc.is_valid(figures["task_id"]))
    names = ("run_id", "source_file", "task_id", "n_rejects")
    rows = figures.filter(is_unknown).select(names).to_pylist()
    unknown: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        unknown.setdefault((row["run_id"], row["source_file"]), set()).add(row["task_id"])
    n_rejects = {(row["run_id"], row["source_file"]): row["n_rejects"] or 0 for row in rows}
    return foreign | {file for file, tasks in unknown.items() if len(tasks) > n_rejects[file]}
