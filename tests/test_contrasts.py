"""A failing rollout beside the closest passing one: which, where they part, and in what."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import pipeline
from tests import results as written
from tests.lean import only
from tests.results import Results, Row, rollout
from tests.results import called as call
from tests.results import said as say
from tests.simulated import simulator

analyzed = partial(written.analyzed, needs=("contrasts",))

Items = list[dict[str, Any]]


def think(text: str) -> Items:
    return [{"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}]


def chain(calls: Iterable[Items]) -> Items:
    return list(itertools.chain.from_iterable(calls))


def without(items: Items, *names: str) -> Items:
    """The items without some of their fields."""
    return [{k: v for k, v in item.items() if k not in names} for item in items]


ERROR = '{"error": "no such record"}'
ADD, MOVE, SEND = (
    call("add", {"name": "Ana"}),
    call("move", {"id": 7}),
    call("send", {"to": "ana"}),
)
WRONG = call("send", {"to": "bob"})
# Calls that only look, and one of a tool that says nothing of itself.
FIND, READ, SUM = (
    call("find", {"name": "Ana"}),
    call("read", {"id": 7}),
    call("calculate", {"x": 1}),
)
GUESS = call("guess")
DONE, SORRY = say("Done."), say("Sorry, I could not.")


@dataclass(frozen=True)
class Pair:
    """A failing output beside a passing one, and what the contrast of the two says."""

    failing: Items
    passing: Items
    expected: Row = field(default_factory=dict)


PAIRS = {
    "other tool": Pair(
        ADD + call("cancel") + SEND + DONE,
        think("Who?") + ADD + MOVE + SEND + DONE,
        {"difference": "tool", "seq": 3, "passing_seq": 4, "n_common": 2, "n_common_first": 1}
        | {"tools_only_failing": ["cancel"], "tools_only_passing": ["move"]}
        | {"failing_event": "cancel {}", "passing_event": 'move {"id": 7}'},
    ),
    "other arguments": Pair(
        ADD + WRONG + MOVE + DONE,
        ADD + SEND + MOVE + DONE,
        {"difference": "arguments", "seq": 3, "passing_seq": 3, "n_common": 2, "n_common_first": 1}
        | {"failing_event": 'send {"to": "bob"}', "failing_chars": 18, "tools_only_failing": []},
    ),
    "arguments written otherwise": Pair(
        call("add", '{"b": [{"y": 1,  "x": "\\u00e9"}], "a": null}') + SORRY,
        call("add", '{"a":null,"b":[{"x":"é","y":1}]}') + DONE,
        {"difference": "answer", "n_common": 1, "n_common_first": 1},
    ),
    "an error on one side": Pair(
        ADD + call("send", {"to": "ana"}, ERROR) + DONE,
        ADD + SEND + DONE,
        {"difference": "result", "seq": 3, "passing_seq": 3, "n_common": 2, "n_common_first": 1}
        | {"failing_event": ERROR, "passing_event": "ok", "passing_chars": 2},
    ),
    "a result that never came": Pair(
        ADD + call("send", {"to": "ana"}, None),
        ADD + SEND + DONE,
        {"difference": "result", "seq": 3, "passing_seq": 3, "passing_event": "ok"}
        | {"failing_event": 'send {"to": "ana"}'},
    ),
    "results that differ in numbers": Pair(
        call("move", {"id": 7}, "id 4f2a at 10:31, 3 rows") + say("4"),
        call("move", {"id": 7}, "id 99bc at 11:02, 4 rows") + say("3"),
        {"difference": "answer", "seq": 3, "failing_event": "4", "passing_event": "3"},
    ),
    "stops with a message": Pair(
        ADD + SORRY,
        ADD + think("Now send.") + SEND + DONE,
        {"difference": "missing", "seq": 3, "passing_seq": 4, "n_common": 1, "n_common_first": 1}
        | {"failing_event": "Sorry, I could not.", "tools_only_passing": ["send"]},
    ),
    "calls nothing": Pair(
        think("Who is Ana?") + SORRY,
        ADD + DONE,
        {"difference": "missing", "seq": 2, "passing_seq": 1, "n_calls": 0, "n_passing_calls": 1},
    ),
    "a call too many": Pair(
        ADD + SEND + think("And Bob?") + WRONG + DONE,
        ADD + SEND + think("All is sent.") + DONE,
        {"difference": "extra", "seq": 6, "passing_seq": 5, "n_common_first": 2}
        | {"passing_event": "All is sent."},
    ),
    "words alone": Pair(
        think("4?") + say("It is 4."),
        say("It is 3."),
        {"difference": "answer", "seq": 2, "passing_seq": 1, "n_common": 0, "n_calls": 0}
        | {"tools_only_failing": [], "tools_only_passing": []},
    ),
    "the same words": Pair(DONE, DONE, {"difference": "nothing", "seq": 1, "passing_seq": 1}),
    "an empty output beside calls": Pair(
        [],
        ADD + DONE,
        {"difference": "missing", "seq": None, "passing_seq": 1, "failing_event": None}
        | {"failing_chars": None},
    ),
    "an empty output beside words": Pair(
        [], DONE, {"difference": "answer", "seq": None, "passing_seq": 1}
    ),
    "a retry that mended a failure": Pair(
        call("add", {"name": "Ana"}, ERROR) + think("Again.") + ADD + WRONG + DONE,
        ADD + call("send", {"to": "ana"}, ERROR) + call("send", {"to": "ana"}, ERROR) + SEND + DONE,
        {"difference": "arguments", "seq": 6, "passing_seq": 7, "n_calls": 3, "n_common": 1},
    ),
    "a failure that no retry mended": Pair(
        ADD + call("send", {"to": "ana"}, ERROR) * 3 + SORRY,
        ADD + SEND + DONE,
        {"difference": "result", "seq": 3, "n_common": 2, "n_common_first": 1},
    ),
    "a needless repeat": Pair(
        ADD + WRONG + DONE,
        ADD + MOVE + ADD + SEND + DONE,
        {"difference": "tool", "seq": 3, "passing_seq": 3},
    ),
    "a repeat that got another result": Pair(
        call("poll", {}, "pending") + SORRY,
        call("poll", {}, "pending") + call("poll", {}, "ready") + DONE,
        {"difference": "missing", "seq": 3, "passing_seq": 3},
    ),
    "a failure after a success": Pair(
        call("test", {}, "passed") + call("test", {}, ERROR) + DONE,
        call("test", {}, "passed") + DONE,
        {"difference": "extra", "seq": 3, "passing_seq": 3, "n_common_first": 1},
    ),
    "another order, then other arguments": Pair(
        MOVE + ADD + WRONG + DONE,
        ADD + MOVE + SEND + DONE,
        {"difference": "arguments", "seq": 5, "passing_seq": 5, "n_common": 2, "n_common_first": 2},
    ),
    "a call left out, and what came of it": Pair(
        MOVE + call("send", {"to": "cancel"}) + DONE,
        ADD + MOVE + SEND + DONE,
        {"difference": "arguments", "seq": 3, "passing_seq": 5, "skipped_seq": 1, "n_common": 1}
        | {"tools_only_passing": ["add"]},
    ),
    "a call left out alone": Pair(
        ADD + SEND + DONE,
        ADD + MOVE + SEND + DONE,
        {"difference": "missing", "seq": 3, "passing_seq": 3, "skipped_seq": None}
        | {"n_common": 2, "n_common_first": 1},
    ),
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
    "other reads, sums and orders": Pair(
        READ + SUM + ADD + GUESS + FIND + WRONG + DONE,
        FIND + ADD + call("read", {"id": 8}) + SEND + DONE,
        {"difference": "arguments", "seq": 11, "passing_seq": 7, "n_common_first": 1}
        | {
            "arguments": [{"name": "to", "failing": '"bob"', "passing": '"ana"'}],
            "other_seq": None,
        },
    ),
    "reads alone, and other words": Pair(
        FIND + READ + say("It is 4."),
        FIND + SUM + say("It is 3."),
        {
            "difference": "answer",
            "seq": 5,
            "n_common": 1,
            "other_seq": 3,
            "failing_event": "It is 4.",
        },
    ),
    "tools of unknown kind alone": Pair(
        FIND + GUESS + DONE, FIND + call("bash", {"command": "make"}) + DONE, {"difference": "tool"}
    ),
    "a shell that edits": Pair(
        call("bash", {"command": "make"}) + call("bash", {"command": "echo 4 > a.txt"}) + DONE,
        call("bash", {"command": "cat a.txt"}) + call("bash", {"command": "echo 3 > a.txt"}) + DONE,
        {"difference": "arguments", "seq": 3, "passing_seq": 3},
    ),
    "an error, then another try": Pair(
        ADD + call("send", {"to": "eva"}, ERROR) + WRONG + DONE,
        ADD + call("send", {"to": "eve"}, ERROR) + SEND + DONE,
        {"difference": "arguments", "seq": 5, "passing_seq": 5},
    ),
    "a change where the pass refuses": Pair(
        FIND + SEND + DONE,
        FIND + say("That is against our rules.") + say("You are welcome."),
        {"difference": "extra", "seq": 3, "passing_seq": 3}
        | {"passing_event": "That is against our rules."},
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
        said = {"role": "user", "content": f"{name} {row['_ng_task_index']}"}
        yield {**row, "responses_create_params": {"input": [said]}}


def test_closest_goes_along_longest(runs: Results) -> None:
    """The longest common beginning comes first, then common calls, fewer others, and the index."""
    found = runs.rows("""
        select rollout_index, passing_index, is_closest from contrasts
        where run_id = 'choice' order by all
    """)
    assert found == [(5, 3, False), (6, 0, False), (7, 3, True)]


def test_ties_go_to_the_lowest_index(runs: Results) -> None:
    """Of equally close pairs the first by failing, then by passing index is the closest."""
    found = runs.rows("""
        select task_id, rollout_index, passing_index, is_closest from contrasts
        where run_id = 'ties' order by all
    """)
    assert found == [("0", 0, 2, True), ("0", 1, 2, False), ("1", 2, 0, True), ("1", 3, 0, False)]


def test_only_scored_rollouts_of_sometimes_pass_tasks(runs: Results) -> None:
    """Tasks that always or never pass have no contrast, unscored rollouts none, nor other runs."""
    found = runs.rows("""
        select run_id, task_id, rollout_index, passing_index from contrasts
        where run_id in ('plain', 'mixed')
    """)
    assert found == [("mixed", "2", 1, 2)]


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
        ("extra", 6001, 3000, 3001),
        # Calls in error change nothing.
        ("extra", 2001, 0, 1001),
    ]


def n_common(left: list[int], right: list[int]) -> int:
    """The length of the longest common subsequence, by the book."""
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            rows[i + 1][j + 1] = rows[i][j] + 1 if a == b else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


codes = st.lists(st.integers(0, 4), max_size=12)


BOOK: Row = {
    "name": "book",
    "kwargs": {"to": "SEA", "cabin": "economy", "seats": [1, 2], "note": None},
}
LOOK, CANCEL = (
    {"name": "find", "kwargs": {"name": "Ana"}},
    {"name": "cancel", "kwargs": {"id": "A1"}},
)
BOOKED = {"seats": [1, 2], "cabin": "economy", "to": "SEA"}
# What each attempt at a task with these expected calls makes, and what is said of it: status, tool,
# whether it is the first wrong change, event, and the arguments that differ.
EXPECTED: dict[str, tuple[list[Row], Items, list[tuple[Any, ...]]]] = {
    "made, in any order of arguments": (
        [LOOK, BOOK],
        FIND + call("book", BOOKED) + DONE,
        [("made", "find", False, 1, []), ("made", "book", False, 3, [])],
    ),
    "one argument is another": (
        [BOOK],
        call("book", {**BOOKED, "cabin": "business", "seats": [1]}) + DONE,
        [("differs", "book", True, 1, ["cabin", "seats"])],
    ),
    "the closest call is the one meant": (
        [BOOK, {"name": "book", "kwargs": {"to": "LAX", "cabin": "economy"}}],
        call("book", {"to": "LAX", "cabin": "first"}) + DONE,
        [("missing", "book", False, None, []), ("differs", "book", True, 1, ["cabin"])],
    ),
    "a call in error is no change": (
        [BOOK],
        call("book", {**BOOKED, "to": "OAK"}, ERROR) + call("book", {**BOOKED, "cabin": "first"}),
        [("differs", "book", True, 3, ["cabin"])],
    ),
    "nothing but an error": (
        [BOOK],
        call("book", BOOKED, ERROR) + SORRY,
        [("failed", "book", True, 1, [])],
    ),
    "arguments that are no object": (
        [CANCEL],
        call("cancel", "A1") + DONE,
        [("differs", "cancel", True, 1, [])],
    ),
    "twice where once is expected": (
        [CANCEL],
        call("cancel", {"id": "A1"}) * 2 + DONE,
        [("made", "cancel", False, 1, []), ("unasked", "cancel", True, 3, [])],
    ),
    "left out": (
        [LOOK, BOOK, CANCEL],
        call("cancel", {"id": "A1"}) + DONE,
        [
            ("missing", "find", False, None, []),
            ("missing", "book", True, None, []),
            ("made", "cancel", False, 1, []),
        ],
    ),
    "a change of a tool that no task expects": (
        [LOOK],
        FIND + SEND + DONE,
        [("made", "find", False, 1, []), ("unasked", "send", True, 3, [])],
    ),
    "nothing expected, nothing done": ([], FIND + SORRY, [("none", None, False, None, [])]),
    "nothing expected, something done": (
        [],
        FIND + call("cancel", {"id": "A1"}) + DONE,
        [("none", None, False, None, []), ("unasked", "cancel", True, 3, [])],
    ),
}


def expecting() -> list[Row]:
    """One failing attempt at each task, which lists the calls it expects."""
    return [
        rollout(task, 0, reward=0.0, output=output, expected_actions=actions)
        for task, (actions, output, _) in enumerate(EXPECTED.values())
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_expected_calls(name: str, runs: Results) -> None:
    """Expected calls stand beside the actual ones, and changes nobody asked for after them."""
    found = runs.rows(f"""
        select status, tool, is_first, seq, differing_keys from expected_calls
        where run_id = 'expecting' and task_id = '{list(EXPECTED).index(name)}' order by call_no
    """)
    assert found == EXPECTED[name][2]


def test_only_differing_arguments_are_told(runs: Results) -> None:
    """Both values of each argument that differs, and no other."""
    query = "select detail from expected_calls where run_id = 'expecting' and task_id in ('1', '5')"
    assert runs.column(f"{query} order by task_id") == [
        'cabin: expected "economy", got "business"; seats: expected [1,2], got [1]',
        'expected {"id":"A1"}, got A1',
    ]


def test_tasks_to_refuse_are_a_slice(runs: Results) -> None:
    """A task that expects no change is to be refused, whatever its list of reads."""
    found = runs.rows("""
        select slices['task_kind'] from tasks
        where benchmark = 'expecting' order by task_id::int
    """)
    assert found == [(kind,) for kind in ["act"] * 8 + ["refuse"] * 3]


texts = st.text(st.sampled_from("ab{é🙂"), max_size=30)


@pytest.mark.slow
def test_nothing_recorded_is_not_contrasted(tmp_path: Path) -> None:
    """Where an attempt left tokens but no items, nothing is said of what it did."""
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
def test_planted_changes_are_found(tmp_path: Path) -> None:
    """Wrong, missing and unasked changes are found beside the expected calls and beside a pass."""
    cases, n_pairs = simulator().cases, 0
    for seed in (71,):
        case = cases.acting(seed)
        cases.write_case(tmp_path / str(seed), case)
        with only("contrasts", "expected_calls"):
            path = pipeline.analyze(tmp_path / str(seed), out=tmp_path / f"out_{seed}").warehouse
        with pipeline.open_warehouse(path) as warehouse:
            pairs = warehouse.execute("""
                select task_id::int, rollout_index, difference, seq, passing_event from contrasts
            """).fetchall()
            firsts = warehouse.execute("""
                select task_id::int, rollout_index, tool, seq, differing_keys from expected_calls
                where is_first
            """).fetchall()
        truth = {(each.task, each.repeat): each for each in case.truth if each.mode}
        assert len(firsts) == len(truth)
        for task, index, tool, seq, keys in firsts:
            planted_one = truth[task, index]
            assert seq == planted_one.event_seq and keys == planted_one.facts["differing_keys"]
            assert tool in planted_one.facts["missing_calls"] or seq is not None
        for task, index, difference, seq, passing_event in pairs:
            planted_one = truth[task, index]
            if planted_one.event_seq is None:
                assert difference == "missing"
                assert passing_event.split()[0] in planted_one.facts["missing_calls"]
            else:
                assert seq == planted_one.event_seq
        n_pairs += len(pairs)
    assert n_pairs > 8


@pytest.mark.slow
def test_a_report_says_once_that_there_is_no_transcript(tmp_path: Path) -> None:
    """Checks are shown in place of steps; nothing is placed beside a pass."""
    cases = simulator().cases
    cases.write_case(tmp_path / "results", cases.terminal(3))
    out = pipeline.analyze(tmp_path / "results", out=tmp_path / "out").warehouse.parent
    text = (out / "report.md").read_text(encoding="utf-8")
    assert text.count("No transcript is recorded; nothing to compare.") == 1
    assert "- pass: " not in text and "`check=test_" in text
