"""Whether a figure that a run reported of itself is ours, and if not, why it may be another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

PASSES = ("pass", "all pass")
EQUAL, NOT_COMPARABLE, DIFFERS = "equal", "not comparable", "differs"


def checked(figures: pa.Table) -> pa.Table:
    """Each figure with its status: equal, different, or not comparable, and the reason."""
    import pyarrow.compute as pc  # takes as long to import as small results to read

    is_equal = pc.fill_null(figures["is_equal"], False).combine_chunks()
    others = [Figure(**row) for row in figures.filter(pc.invert(is_equal)).to_pylist()]
    foreign = _foreign_files(figures, others)
    places = np.flatnonzero(~is_equal.to_numpy(zero_copy_only=False))
    status = np.full(len(figures), EQUAL, dtype=object)
    reason = np.full(len(figures), None, dtype=object)
    for place, figure in zip(places, others, strict=True):
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
    n_rejects: int

    @property
    def is_missing_in_both(self) -> bool:
        """No values, or the deviation of one: both say that there is no number."""
        return self.kind == "statistic" and self.ours is None and self.reported is None

    def judgement(self, *, is_foreign: bool) -> tuple[str, str]:
        """The status, and the reason for it."""
        reason = self._obstacle() or self._excuse(is_foreign=is_foreign)
        return (NOT_COMPARABLE, reason) if reason else (DIFFERS, "no reason found")

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
        if self.n_rejects and self._is_within_rejects():
            return "lines of the rollout file were rejected"
        if self.kind != "count" and is_foreign:
            return "rows of the file are not those it was computed from"
        return None

    def _is_within_rejects(self) -> bool:
        """Whether so many rejected lines could make the difference; of an extreme one line can."""
        if self.ours is None or self.reported is None:
            return True
        difference = abs(self.reported - self.ours)
        if self.meant == "reward_profile_completion_pct":
            difference *= (self.n_expected or 0) / 100
        elif self.kind != "count" and self.k is None and self.statistic != "mean":
            return True
        elif self.kind != "count":
            # A line is worth all of a share to a mean, else up to twice the mean.
            worth = max(1 if self.k is None else 100, 2 * abs(self.ours), 2 * abs(self.reported))
            difference *= (self.n_averaged or 0) / worth
        is_of_rows = self.meant != "expected_num_rollouts"
        return is_of_rows and difference <= self.n_rejects * (1 + 1e-9)


def _foreign_files(figures: pa.Table, others: list[Figure]) -> set[tuple[str, str]]:
    """Files that count other rollouts, or have tasks that we have not, beyond what was rejected."""
    foreign = {
        (figure.run_id, figure.source_file)
        for figure in others
        if figure.meant in ("num_rollouts", "num_tasks")
        and figure.is_equal is False
        and not figure._is_within_rejects()
    }
    import pyarrow.compute as pc

    is_unknown = pc.and_(pc.equal(figures["n_rollouts"], 0), pc.is_valid(figures["task_id"]))
    names = ("run_id", "source_file", "task_id", "n_rejects")
    rows = figures.filter(is_unknown).select(names).to_pylist()
    unknown: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        unknown.setdefault((row["run_id"], row["source_file"]), set()).add(row["task_id"])
    n_rejects = {(row["run_id"], row["source_file"]): row["n_rejects"] for row in rows}
    return foreign | {file for file, tasks in unknown.items() if len(tasks) > n_rejects[file]}
