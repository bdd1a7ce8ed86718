"""A failing rollout beside the closest passing one: which, where they part, and in what."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import pipeline
from tests import results as written
from tests.case_files import cases
from tests.fact_files import Fact, facts
from tests.results import Results, Row, rollout, steps
from tests.results import called as call
from tests.simulated import simulator
from tests.together import Batch, together

analyzed = partial(written.analyzed, needs=("contrasts",))

Items = list[dict[str, Any]]


def chain(calls: Iterable[Items]) -> Items:
    return list(itertools.chain.from_iterable(calls))


def without(items: Items, *names: str) -> Items:
    """The items without some of their fields."""
    return [{k: v for k, v in item.items() if k not in names} for item in items]


ERROR = '{"error": "no such record"}'
NAMED = cases("contrasts", "named")
ADD, MOVE, SEND, WRONG = (steps(NAMED[name]) for name in ("add", "move", "send", "wrong"))
DONE, SORRY = steps("Done."), steps(NAMED["sorry"])


def _items(case: Row) -> Row:
    """A case of the file with its steps as the items of an output."""
    return {name: steps(*case[name]) for name in ("failing", "passing")} | {
        "expected": case["expected"]
    }


@dataclass(frozen=True)
class Pair:
    """A failing output beside a passing one, and what the contrast of the two says."""

    failing: Items
    passing: Items
    expected: Row = field(default_factory=dict)


PAIRS = {
    **{name: Pair(**_items(case)) for name, case in cases("contrasts", "pairs").items()},
    # Ids that are not there or not apart, odd orders, and texts of any length.
    "no ids at all": Pair(
        without(ADD + call("send", {"to": "ana"}, ERROR), "call_id") + DONE,
        without(ADD + SEND, "call_id") + DONE,
        {"difference": "result", "seq": 3, "failing_event": ERROR, "passing_event": "ok"},
    ),
    "ids that come again": Pair(
        [{**item, "call_id": "call_0"} for item in ADD + call("send", {"to": "ana"}, ERROR)] + DONE,
        ADD + SEND + DONE,
        {"difference": "result", "seq": 3, "failing_event": ERROR},
    ),
    "results in another order than calls": Pair(
        [ADD[0], *call("send", {"to": "ana"}, ERROR), ADD[1], *DONE],
        [ADD[0], *SEND, ADD[1], *DONE],
        {"difference": "result", "seq": 2, "passing_seq": 2, "failing_event": ERROR},
    ),
    "hostile text": Pair(
        call("x" * 500, "</script>\x1b[2J\u202e|" + "ß" * 1000) + DONE,
        call("**`<img src=x>`**", {"'; drop table": 1}) + DONE,
        {"difference": "tool", "failing_event": "x" * 300, "failing_chars": 500 + 1 + 15 + 1000}
        | {"tools_only_failing": ["x" * 100], "tools_only_passing": ["**`<img src=x>`**"]},
    ),
    "a long call": Pair(
        call("send", {"text": "x" * 400 + "this" + "y" * 400, "to": "ana"}) + DONE,
        call("send", {"text": "x" * 400 + "that" + "y" * 400, "to": "ana"}) + DONE,
        {"failing_event": "send text: …" + "x" * 18 + "this" + "y" * 98, "failing_chars": 834}
        | {"difference": "arguments"},
    ),
    "many made-up tools": Pair(
        chain(call(f"tool_{n:02}") for n in range(50)) + DONE,
        DONE,
        {"difference": "extra", "tools_only_failing": [f"tool_{n:02}" for n in range(20)]},
    ),
}


def pairs() -> list[Row]:
    """A task for every pair."""
    found: list[Row] = []
    for task, pair in enumerate(PAIRS.values()):
        found += repeats(task, (0.0, pair.failing), (1.0, pair.passing))
    return found


@pytest.fixture(scope="module")
def contrasts(runs: Results) -> dict[str, Row]:
    """The contrast of every pair, by its name."""
    with pipeline.open_warehouse(runs.path) as warehouse:
        query = "from contrasts where run_id = 'pairs' order by task_id::int"
        return dict(zip(PAIRS, warehouse.sql(query).to_dicts(), strict=True))


@pytest.mark.parametrize("name", PAIRS)
def test_pair(name: str, contrasts: dict[str, Row]) -> None:
    """The contrast of a pair says where the failing side diverges from the passing one, and how."""
    expected = PAIRS[name].expected
    assert {column: contrasts[name][column] for column in expected} == expected


def test_differences_are_readable(contrasts: dict[str, Row]) -> None:
    """What else differs is listed with the failing side first; what is equal is not."""
    assert contrasts["an error on one side"]["differences"] == "n_tool_errors 1 vs 0"
    assert contrasts["the same words"]["differences"] == ""
    assert contrasts["an empty output beside words"]["differences"] == (
        "n_turns 0 vs 1; final_chars n/a vs 5"
    )


def repeats(task: int, *outputs: tuple[float | None, Items]) -> list[Row]:
    """The repeats of a task: the reward and the output of each."""
    return [
        rollout(task, index, reward=reward, output=output)
        for index, (reward, output) in enumerate(outputs)
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Pairs, runs with several repeats a task, and tasks that list the calls they expect."""
    choice = repeats(
        0,
        (1.0, MOVE + ADD + SEND + chain(call("set", {"n": n}) for n in range(5)) + DONE),
        (1.0, ADD + call("close") + call("pay") + DONE),
        (1.0, ADD + call("close") + SEND + DONE),
        (1.0, ADD + SEND + DONE),
        (1.0, ADD + SEND + DONE),
        (0.0, ADD + WRONG + SEND + DONE),
        (0.0, call("cancel") + SEND + MOVE + ADD + DONE),
        (0.0, ADD + SEND + WRONG + DONE),
    )
    ties = repeats(0, (0.0, SORRY), (0.0, SORRY), (1.0, DONE), (1.0, DONE))
    ties += repeats(1, (1.0, ADD), (1.0, ADD), (0.0, ADD), (0.0, ADD))
    plain = repeats(0, (1.0, DONE), (1.0, ADD)) + repeats(1, (0.0, DONE), (0.0, ADD))
    mixed = repeats(0, (0.0, DONE)) + repeats(1, (1.0, DONE))
    mixed += repeats(2, (None, SORRY), (0.0, ADD), (1.0, ADD + DONE))
    files = {"choice": choice, "ties": ties, "plain": plain, "mixed": mixed}
    files |= {"pairs": pairs(), "expecting": expecting()}
    named = {f"{name}_rollouts.jsonl": [*asked(name, rows)] for name, rows in files.items()}
    needs = ("contrasts", "expected_calls", "tasks")
    return written.analyzed(tmp_path_factory.mktemp("runs"), named, needs=needs)


def asked(name: str, rows: list[Row]) -> Iterator[Row]:
    """Of a run the questions are its own: so it is a benchmark of its own."""
    for row in rows:
        message = {"role": "user", "content": f"{name} {row['_ng_task_index']}"}
        yield {**row, "responses_create_params": {"input": [message]}}


@facts("contrasts")
def test_runs(runs: Results, fact: Fact) -> None:
    """As tests/facts/contrasts.test says."""
    fact.check(runs)


@pytest.mark.slow
def test_very_long_rollouts(tmp_path: Path) -> None:
    """Thousands of calls are aligned in no time, whether they differ early, late or in order."""
    steps = [call("put", {"n": n}) for n in range(3000)]
    same = call("put", {"n": 0}, ERROR)
    rows = repeats(
        0,
        (1.0, chain(steps)),
        (0.0, chain(steps[:1500]) + WRONG + chain(steps[1501:])),
        (0.0, chain(steps[:2500]) + WRONG),
        (0.0, chain(reversed(steps)) + WRONG),
    )
    rows += repeats(1, (1.0, same * 2500), (0.0, same * 1000 + SEND))
    results = analyzed(tmp_path, {"a_rollouts.jsonl": rows})
    found = results.rows("""
        select difference, seq, n_common_first, n_calls from contrasts
        order by task_id, rollout_index
    """)
    assert found == [
        ("tool", 3001, 1500, 3000),
        ("tool", 5001, 2500, 2501),
        # Equal calls in another order are no common beginning.
        ("extra", 6001, 0, 3001),
        ("extra", 2001, 1000, 1001),
    ]


EXPECTED: dict[str, Row] = cases("contrasts", "expected_calls")


def expecting() -> list[Row]:
    """One failing attempt at each task, which lists the calls it expects."""
    return [
        rollout(task, 0, reward=0.0, output=steps(*case["made"]), expected_actions=case["actions"])
        for task, case in enumerate(EXPECTED.values())
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_expected_calls(name: str, runs: Results) -> None:
    """Expected calls stand beside the actual ones, and calls nobody asked for after them."""
    found = runs.rows(f"""
        select status, tool, seq, differing_keys from expected_calls
        where run_id = 'expecting' and task_id = '{list(EXPECTED).index(name)}' order by call_no
    """)
    assert [list(row) for row in found] == EXPECTED[name]["result"]


@pytest.mark.slow
def test_nothing_recorded_is_not_contrasted(tmp_path: Path) -> None:
    """Where an attempt left tokens but no items, nothing is reported of what it did."""
    usage = {"input_tokens": 9, "output_tokens": 9}
    bare = {"response": {"output": [], "usage": usage}}
    rows = [
        rollout(0, 0, reward=0.0, **bare),
        rollout(0, 1, **bare),
        rollout(0, 2, reward=0.0, **bare),
    ]
    rows += [*repeats(1, (0.0, ADD + WRONG), (1.0, ADD + SEND)), rollout(1, 2, reward=0.0, **bare)]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": rows})
    assert found.rows("select task_id, rollout_index from contrasts") == [("1", 0)]


@pytest.mark.slow
def test_without_a_transcript_checks_are_shown(tmp_path: Path) -> None:
    """Checks are shown in place of steps."""
    cases = simulator().cases
    cases.write_case(tmp_path / "results", cases.terminal(3))
    out = pipeline.analyze(tmp_path / "results", out=tmp_path / "out").warehouse.parent
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "No transcript is recorded" in text and "recorded; nothing to compare" not in text
    assert "checks met, fails test_" in text


def unwritten(task: int, index: int, *, met: str) -> Row:
    """An attempt of which three checks are recorded and nothing of its words or calls."""
    tests = {f"test_{name}": name in met for name in "abc"}
    row = rollout(task, index, reward=float(all(tests.values())), tests=tests)
    del row["response"]
    return row


@together.each((6, 1), (0, 0))
def test_attempts_that_go_other_ways_are_not_set_beside_each_other(
    n_shared: int, n_cards: int
) -> Batch:
    """Of agents that write commands, the first of many differences says nothing."""

    def row(index: int) -> Row:
        shared = [call("bash", {"command": f"step {place}"}) for place in range(n_shared)]
        own = [call("bash", {"command": f"{index} {place}"}) for place in range(20 - n_shared)]
        output = [item for items in (*shared, *own) for item in items]
        return rollout(0, index, output=output, reward=float(index), tests={"a": index == 1})

    results = yield [row(0), row(1)]
    assert results.rows("select count(*) from report.contrasts") == [(n_cards,)]


@pytest.mark.slow
def test_without_transcripts_checks_are_compared(tmp_path: Path) -> None:
    """The nearest failure beside a pass: which checks one of them meets alone, with citations."""
    rows = [
        *(unwritten(0, 0, met="abc"), unwritten(0, 1, met="a"), unwritten(0, 2, met="ab")),
        *(
            unwritten(1, 0, met="c"),
            unwritten(1, 1, met="abc"),
            unwritten(2, 0, met=""),
            rollout(3, 0),
        ),
        *(rollout(4, 0, reward=0.0), rollout(4, 1)),
    ]
    found = written.analyzed(tmp_path, {"a_rollouts.jsonl": rows})
    shown = found.rows(
        "select task_id, failing, passing, n_compared, met_by_pass, met_by_failure "
        "from report.check_contrasts order by task_id"
    )
    assert shown == [
        ("0", "a/0:2", "a/0:0", 3, ["test_c"], []),
        ("1", "a/1:0", "a/1:1", 3, ["test_a", "test_b"], []),
    ]
    report = tmp_path / "out" / "report.md"
    text = report.read_text(encoding="utf-8")
    assert "- met by `a/1:1` and not by `a/1:0`: `test_a`, `test_b`\n" in text
    assert "of 3 checks that both have, 2 are met by the pass alone and 0 by the failure" in text
    # A failure and a pass that are recorded alike make no card.
    assert "Task `4`" not in text
    assert written.call("verify", report).code == 0
    wrong = text.replace("not by `a/1:0`: `test_a`", "not by `a/1:0`: `test_c`")
    report.write_text(wrong, encoding="utf-8")
    assert written.call("verify", report).code == 1
