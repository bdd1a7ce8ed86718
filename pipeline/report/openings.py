"""Which rows a section opens with, chosen by rules; the words around them stand in its template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.report.comparisons import Change, Comparison, leading
from pipeline.report.figures import Figure, Row


@dataclass(frozen=True)
class Leader:
    """The run of a benchmark with the highest figure, the next one, and the two compared."""

    benchmark: str
    metric: str
    n_runs: int
    n_tied: int
    first: Row | None
    second: Row | None
    comparison: Comparison | None

    @property
    def is_reward(self) -> bool:
        """Whether the mean reward leads, because what passes is not settled."""
        return self.metric == "mean_reward"

    @property
    def value(self) -> Figure | None:
        """The leading figure."""
        return None if self.first is None else _figure(self.first, self.metric)

    @property
    def next_value(self) -> Figure | None:
        """The one that follows."""
        return None if self.second is None else _figure(self.second, self.metric)

    @property
    def is_tied(self) -> bool:
        """Whether the two are equal."""
        return self.n_tied > 1

    @property
    def change(self) -> Change | None:
        """What the comparison of the two says by the figure that leads."""
        changes = [] if self.comparison is None else self.comparison.changes
        return next((change for change in changes if change.metric == self.metric), None)


def leaders(heads: Iterable[Row], comparisons: Sequence[Comparison]) -> list[Leader]:
    """The first and second run of each benchmark, those with most runs first."""
    pairs = {frozenset((each.base, each.candidate)): each for each in comparisons}
    groups: dict[str, list[Row]] = {}
    for head in heads:
        groups.setdefault(head.benchmark, []).append(head)
    found = [_leader(benchmark, own, pairs) for benchmark, own in groups.items()]
    return sorted(found, key=lambda leader: -leader.n_runs)


def _leader(benchmark: str, own: list[Row], pairs: Mapping[frozenset[str], Comparison]) -> Leader:
    scored = [head for head in own if not head.is_unscored]
    metric = "mean_reward" if any(head.is_unsettled for head in scored) else "pass_at_1"
    ranked = largest(scored, metric)
    first = ranked[0] if ranked else None
    second = ranked[1] if len(ranked) > 1 else None
    pair = frozenset(head.run_id for head in ranked[:2])
    n_tied = sum(_figure(head, metric).value == _figure(ranked[0], metric).value for head in ranked)
    return Leader(benchmark, metric, len(own), n_tied, first, second, pairs.get(pair))


def largest(rows: Iterable[Row], column: str) -> list[Row]:
    """Rows that have the figure, the largest first; equal ones as they stood."""
    known = [row for row in rows if _figure(row, column).value is not None]
    return sorted(known, key=lambda row: -(_figure(row, column).value or 0))


def is_apart(change: Change) -> bool:
    """Whether the interval for new tasks leaves out no change at all."""
    low, high = change.row.ci_new_tasks_low.value, change.row.ci_new_tasks_high.value
    return low is not None and high is not None and (low > 0 or high < 0)


def _figure(row: Row, column: str) -> Figure:
    found = getattr(row, column)
    assert isinstance(found, Figure)
    return found


FILTERS: Mapping[str, Callable[..., Any]] = {
    "largest": largest,
    "leaders": leaders,
    "leading": leading,
}
GLOBALS: Mapping[str, Callable[..., Any]] = {"is_apart": is_apart}
