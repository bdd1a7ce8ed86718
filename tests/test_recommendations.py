"""What to look into first: every failure once, and nothing that passes at its tasks show too."""

from __future__ import annotations

from tests.results import Row, rollout
from tests.together import Batch, together, with_pages


@together
def test_the_same_failures_are_recommended_once() -> Batch:
    """Ten attempts without a grade end in one way: that way is no second recommendation."""

    def row(task: int) -> Row:
        is_dead, is_pass = task < 10, task >= 20
        return rollout(
            task,
            0,
            reward=float(is_pass),
            checks=None if is_dead else {"saved": is_pass, "polite": True},
            stop="crashed" if is_dead else "timeout" if task < 13 else "done",
        )

    found = yield [row(task) for task in range(40)]
    modes = "select mode from failure_modes where run_id is null and is_told and parent is null"
    assert {"checks is null", "stop = crashed"} <= set(found.column(modes))
    assert found.column("select mode from recommendations") == ["checks is null"]
    assert found.column("select mode from findings where kind = 'mode'") == ["checks is null"]


@together
def test_a_value_that_goes_with_the_task() -> Batch:
    """Tasks that are mostly failed say `quiet`, and so do those who pass them."""

    def row(run: int, task: int) -> Row:
        is_hard = task < 8
        is_pass = task % 8 == run % 8 if is_hard else task % 10 != run
        verdict = "quiet" if is_hard else "wrote" if is_pass else "lost"
        return rollout(task, 0, reward=float(is_pass), verdict=verdict, run=f"{run}-{task}")

    found = yield {f"run{run}": [row(run, task) for task in range(40)] for run in range(4)}
    query = "select mode from failure_modes where run_id is null and is_told and parent is null"
    assert "verdict = quiet" in found.column(query)
    assert "verdict = quiet" not in found.column("select mode from recommendations")


@with_pages.each((3, True), (0, False))
def test_runs_that_have_most_of_a_mode(n_others: int, has_other_runs: bool) -> Batch:
    """Two of three have most attempts without a grade; the third is mentioned if it has any."""

    def row(run: int, task: int) -> Row:
        is_ungraded = task < (6, 6, n_others)[run]
        return rollout(task, 0, reward=None if is_ungraded else float(task < 17))

    found = yield {f"run{run}": [row(run, task) for task in range(20)] for run in range(3)}
    assert found.rows("select len(top_runs), has_other_runs from recommendations") == [
        (2, has_other_runs)
    ]
    names = ", ".join(f"`{found.alias(run)} (6)`" for run in ("run0", "run1"))
    end = " and others" if has_other_runs else ""
    (line,) = [line for line in found.report.splitlines() if "by run" in line]
    assert f"by run {names}{end}" in line
    assert ("others" in line) == has_other_runs


@with_pages
def test_failures_without_the_only_mode() -> Batch:
    """The table below has one row, and the sentence above it agrees."""
    found = yield [
        rollout(task, 0, reward=float(task >= 14), stop="crashed" if task < 10 else "done")
        for task in range(30)
    ]
    assert "14 failures, 4 of which do not have the one mode below. Looked at" in found.report
