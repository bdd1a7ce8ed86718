"""Attempts that never ran: no turn of the model and no grade, so no behaviour either."""

from __future__ import annotations

from tests.attempts import wants
from tests.results import Row, called, rollout, wrote
from tests.together import Batch, together


def row(task: int, *, is_run: bool, is_pass: bool = False) -> Row:
    """Calls `look`, and `book` where it passes; `book` is expected of every task."""
    calls = [*called("look", {"id": 1}), *(called("book", {"id": 1}) if is_pass else [])]
    return rollout(
        task,
        0,
        reward=float(is_pass),
        output=[*calls, *wrote("Done.")] if is_run else [],
        checks={"booked": is_pass, "polite": True} if is_run else None,
        **wants(("book", 1)),
    )


@together
def test_what_never_ran_left_out_no_call() -> Batch:
    """Its calls were not made, and nobody failed to make them; tasks that ran once do not count."""
    one = [row(task, is_run=True, is_pass=task > 3) for task in range(12)]
    two = [row(task, is_run=task > 1, is_pass=task > 3) for task in range(12)]
    # What became of an attempt without a transcript is not known.
    del two[2]["response"]
    results = yield {"one": one, "two": two}
    never = "select task_id from signs where sign = 'book expected, never called' order by all"
    assert results.column(never) == ["0", "1", "2", "3", "3"]
    shapes = "select count(*) from signs where kind = 'answer' and value = 'is empty'"
    assert results.one(shapes) == 0
    query = "select n_tasks, n_not_run_tasks from findings where kind = 'never'"
    assert results.rows(query) == [(2, 0)]
    counts = "select distinct run_id, n_never_tasks, n_not_run from report.dives order by run_id"
    assert [each[1:] for each in results.rows(counts)] == [(4, 0), (4, 2)]
