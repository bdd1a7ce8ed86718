"""What to look into first: every failure once, and nothing that passes at its tasks show too."""

from __future__ import annotations

from tests.results import Row, rollout
from tests.together import Batch, together


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
