"""Tasks that flip between two runs: which they are, and where a failure diverges from a pass."""

from __future__ import annotations

from functools import partial
from typing import Any

import duckdb
import pytest

import pipeline
from pipeline.cli.terminal import print_page
from pipeline.settings import SQL_DIR
from tests import results as written
from tests.fact_files import Fact, facts
from tests.results import Results, Row, rollout
from tests.results import called as call
from tests.results import wrote as say

analyzed = partial(written.analyzed, needs=("flips", "contrasts"))

Items = list[dict[str, Any]]


ADD, MOVE, SEND = call("add", {"name": "Ana"}), call("move", {"id": 7}), call("send", {"to": "ana"})
WHOLE, SHORT = ADD + MOVE + SEND + say("Done."), ADD + SEND + say("Done.")


def repeats(task: int, *outputs: tuple[float, Items], first: int = 0, **fields: Any) -> list[Row]:
    """The repeats of a task: the reward and the output of each."""
    return [
        rollout(task, first + number, reward=reward, output=output, **fields)
        for number, (reward, output) in enumerate(outputs)
    ]


LEFT_OUT, STOPS, WORDS, SAME_WORDS, CHANGES_LITTLE, OTHER_QUESTION, BETWEEN = range(7)
WRITTEN = {
    "a": {
        LEFT_OUT: repeats(LEFT_OUT, (0.0, SHORT), (1.0, WHOLE), (1.0, WHOLE), (1.0, WHOLE)),
        STOPS: repeats(STOPS, (0.0, ADD + say("Sorry.")), (0.0, call("cancel") + say("Sorry."))),
        WORDS: repeats(WORDS, (1.0, say("It is 3."))),
        SAME_WORDS: repeats(SAME_WORDS, (0.0, say("It is 3."))),
        CHANGES_LITTLE: repeats(CHANGES_LITTLE, (1.0, WHOLE), (0.0, SHORT), (1.0, WHOLE)),
        OTHER_QUESTION: repeats(OTHER_QUESTION, (1.0, WHOLE)),
        BETWEEN: repeats(BETWEEN, (1.0, WHOLE), first=1),
    },
    "b": {
        LEFT_OUT: repeats(LEFT_OUT, (0.0, SHORT), (0.0, SHORT), (1.0, SHORT)),
        STOPS: repeats(STOPS, (1.0, SHORT), (1.0, WHOLE)),
        WORDS: repeats(WORDS, (0.0, say("It is 4."))),
        SAME_WORDS: repeats(SAME_WORDS, (1.0, say("It is 3."))),
        CHANGES_LITTLE: repeats(CHANGES_LITTLE, (1.0, WHOLE), (1.0, WHOLE), (0.0, SHORT)),
        OTHER_QUESTION: repeats(OTHER_QUESTION, (0.0, SHORT), ask="another question"),
        BETWEEN: repeats(BETWEEN, (0.0, SHORT), first=2),
    },
    "c": {
        LEFT_OUT: repeats(LEFT_OUT, (0.0, MOVE + say("Done."))),
        BETWEEN: repeats(BETWEEN, (0.0, call("cancel") + say("Sorry.")), first=0),
    },
}


def files(*runs: str) -> dict[str, list[Row]]:
    return {
        f"{run}_rollouts.jsonl": [row for rows in WRITTEN[run].values() for row in rows]
        for run in runs
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Three runs, each compared with those after it."""
    return analyzed(tmp_path_factory.mktemp("flips"), files("a", "b", "c"))


@facts("flips")
def test_runs(runs: Results, fact: Fact) -> None:
    """As tests/facts/flips.test says."""
    fact.check(runs)


def test_what_is_left_out_is_counted() -> None:
    """Of a side 12 are listed, the first by their number, and 300 in all; every flip is counted."""
    with duckdb.connect() as db:
        db.execute("create schema staging")
        db.execute("""
            create table staging.run_pairs as
            select 'x' as benchmark, 'base' as base, printf('r%02d', no) as candidate, no as pair_no
            from range(1, 31) as pairs(no)
        """)
        # Of each comparison 13 tasks are lost, and one is gained.
        db.execute("""
            create table main.comparison_tasks as
            select
                benchmark, base, candidate, task_no::varchar as task_id, true as is_common,
                (task_no < 13)::int as base_n_passed, 1 as base_n_scored,
                (task_no = 13)::int as candidate_n_passed, 1 as candidate_n_scored,
                base_n_passed as base_pass_rate, candidate_n_passed as candidate_pass_rate,
                candidate_n_passed - base_n_passed as pass_change
            from staging.run_pairs cross join range(14) as tasks(task_no)
        """)
        query = (SQL_DIR / "comparison" / "_flip_tasks.sql").read_text(encoding="utf-8")
        rows = db.execute(f"""
            select candidate, side, count(*), min(n_flips), max(task_id::int)
            from ({query}) group by all order by candidate, side desc
        """).fetchall()
    both = [(("lost", 12, 13, 11), ("gained", 1, 1, 13)) for _ in range(23)]
    expected = [(f"r{no:02}", *side) for no, sides in enumerate(both, start=1) for side in sides]
    # What is left of 300 shows the most changed of either side.
    assert rows == [*expected, ("r24", "lost", 1, 13, 0)]


def test_page(runs: Results, capsys: pytest.CaptureFixture[str]) -> None:
    """The page tells lost tasks, then gained ones, and how many it leaves out."""
    query = "from flips where base = 'a' and candidate = 'b' order by abs(change) desc, task_id"
    with pipeline.open_warehouse(runs.path) as warehouse:
        ranked = warehouse.sql(query).to_dicts()
    print_page("flips", flips=ranked, most_flips=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("lost", "gained", "task"))] == [
        "lost: 3 tasks that the base passes at least half the time, the candidate less often; "
        "the most changed",
        f"task {WORDS}  pass rate 100.0% to 0.0%, fails with no shared sign",
        "gained: 2 tasks that the candidate passes at least half the time, the base less often; "
        "the most changed",
        f"task {STOPS}  pass rate 0.0% to 100.0%, fails with no shared sign",
    ]
    assert lines[-6:] == [
        "  then            the failure leaves out a step",
        f"  failing         a/{STOPS}:0#3",
        "                  Sorry.",
        f"  passing         b/{STOPS}:0#3",
        '                  send {"to": "ana"}',
        "  tools           all passes, no failure: send",
    ]
