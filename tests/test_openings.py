"""Which rows a section opens with."""

from __future__ import annotations

from typing import Any

from pipeline.report import openings
from pipeline.report.comparisons import Change, Comparison
from pipeline.report.figures import Row


def head(run: str, pass_at_1: float | None, *, benchmark: str = "b", **values: Any) -> Row:
    """A headline row."""
    plain = {"is_unscored": pass_at_1 is None, "is_unsettled": False, "mean_reward": 0.5}
    named = {"run_id": run, "benchmark": benchmark, "pass_at_1": pass_at_1}
    return Row("run_metrics", ("run_id",), {**named, **plain, **values})


def compared(base: str, candidate: str, low: float | None, high: float | None) -> Comparison:
    """A comparison by pass@1 of which only the interval matters."""
    values = {"metric": "pass_at_1", "ci_new_tasks_low": low, "ci_new_tasks_high": high}
    row = Row("comparisons", (), values)
    return Comparison(base, candidate, [Change(row, [], [])], [], [], [], [], [])


def test_the_highest_leads_and_the_next_follows() -> None:
    """With the comparison of the two, whichever is its base."""
    pair = compared("c", "a", -0.2, 0.1)
    heads = [head("a", 0.4), head("b", 0.1), head("c", 0.6), head("d", None)]
    (leader,) = openings.leaders(heads, [compared("a", "b", 0.1, 0.2), pair])
    assert leader.first is not None and leader.second is not None
    assert (leader.first.run_id, leader.second.run_id, leader.n_runs) == ("c", "a", 4)
    assert leader.comparison is pair and not leader.is_tied


def test_equal_runs_share_the_lead() -> None:
    """As many as are equal, in the order they stood."""
    (leader,) = openings.leaders([head("a", 0.5), head("b", 0.5), head("c", 0.2)], [])
    assert (leader.n_tied, leader.is_tied, leader.change) == (2, True, None)
    assert leader.first is not None and leader.first.run_id == "a"


def test_rewards_lead_where_a_pass_is_not_settled() -> None:
    """One such run is enough: the others are held against it by reward."""
    heads = [head("a", 0.9), head("b", None, is_unscored=False, is_unsettled=True, mean_reward=7.0)]
    (leader,) = openings.leaders(heads, [])
    assert leader.is_reward and leader.first is not None and leader.first.run_id == "b"


def test_benchmarks_with_most_runs_come_first() -> None:
    """One without a scored run has no leader."""
    heads = [head("a", None), head("c", 0.1, benchmark="two"), head("d", 0.2, benchmark="two")]
    first, last = openings.leaders(heads, [])
    assert (first.benchmark, last.benchmark, last.first, last.value) == ("two", "b", None, None)


def test_runs_are_apart_where_no_change_is_left_out() -> None:
    """By the interval for new tasks; without one nothing is told apart."""
    told = [(0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1), (0.0, 0.1), (None, None)]
    assert [openings.is_apart(compared("a", "b", *ends).lead) for ends in told] == [
        *(True, True, False, False, False)
    ]


def test_largest_leaves_out_what_has_no_figure() -> None:
    """And keeps the order of equals."""
    rows = [head("a", 0.1), head("b", None), head("c", 0.3), head("d", 0.3)]
    assert [row.run_id for row in openings.largest(rows, "pass_at_1")] == ["c", "d", "a"]
