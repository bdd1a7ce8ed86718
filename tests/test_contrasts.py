"""A failing rollout beside the closest passing one: which, where they part, and in what."""

from __future__ import annotations

import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline
from pipeline.analysis.alignment import Trail, first_divergence, longest_common
from tests import results as written
from tests.diagnosis_truth import planted, simulated
from tests.results import Results, Row, rollout

analyzed = partial(written.analyzed, needs=("contrasts",))

Items = list[dict[str, Any]]
ids = itertools.count()


def call(tool: str | None, arguments: Any = None, result: str | None = "ok") -> Items:
    """A call and its result, joined by an id of their own; no result where it is None."""
    name = f"call_{next(ids)}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    made: dict[str, Any] = {"type": "function_call", "arguments": text, "call_id": name}
    if tool is not None:
        made["name"] = tool
    answer = {"type": "function_call_output", "call_id": name, "output": result}
    return [made] if result is None else [made, answer]


def say(text: str) -> Items:
    return [{"type": "message", "role": "assistant", "content": text}]


def think(text: str) -> Items:
    return [{"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}]


def chain(calls: Iterable[Items]) -> Items:
    return list(itertools.chain.from_iterable(calls))


def without(items: Items, *names: str) -> Items:
    """The items without some of their fields."""
    return [{k: v for k, v in item.items() if k not in names} for item in items]


ERROR = '{"error": "no such record"}'
FIND, READ, SEND = (
    call("find", {"name": "Ana"}),
    call("read", {"id": 7}),
    call("send", {"to": "ana"}),
)
WRONG = call("send", {"to": "bob"})
DONE, SORRY = say("Done."), say("Sorry, I could not.")


@dataclass(frozen=True)
class Pair:
    """A failing output beside a passing one, and what the contrast of the two says."""

    failing: Items
    passing: Items
    expected: Row = field(default_factory=dict)


PAIRS = {
    "other tool": Pair(
        FIND + call("guess") + SEND + DONE,
        think("Who?") + FIND + READ + SEND + DONE,
        {"difference": "tool", "seq": 3, "passing_seq": 4, "n_common": 2, "n_common_first": 1}
        | {"tools_only_failing": ["guess"], "tools_only_passing": ["read"]}
        | {"failing_event": "guess {}", "passing_event": 'read {"id": 7}'},
    ),
    "other arguments": Pair(
        FIND + WRONG + READ + DONE,
        FIND + SEND + READ + DONE,
        {"difference": "arguments", "seq": 3, "passing_seq": 3, "n_common": 2, "n_common_first": 1}
        | {"failing_event": 'send {"to": "bob"}', "failing_chars": 18, "tools_only_failing": []},
    ),
    "arguments that are no JSON": Pair(
        FIND + call("send", "{'to': 'ana'}", ERROR) + SORRY,
        FIND + SEND + DONE,
        {"difference": "arguments", "seq": 3, "passing_seq": 3, "n_common": 1},
    ),
    "arguments written otherwise": Pair(
        call("find", '{"b": [{"y": 1,  "x": "\\u00e9"}], "a": null}') + SORRY,
        call("find", '{"a":null,"b":[{"x":"é","y":1}]}') + DONE,
        {"difference": "answer", "n_common": 1, "n_common_first": 1},
    ),
    "an error on one side": Pair(
        FIND + call("send", {"to": "ana"}, ERROR) + DONE,
        FIND + SEND + DONE,
        {"difference": "result", "seq": 3, "passing_seq": 3, "n_common": 2, "n_common_first": 1}
        | {"failing_event": ERROR, "passing_event": "ok", "passing_chars": 2},
    ),
    "another result": Pair(
        call("read", {"id": 7}, "nothing new") + DONE,
        call("read", {"id": 7}, "a letter of Ana") + DONE,
        {"difference": "result", "seq": 1, "passing_seq": 1, "failing_event": "nothing new"},
    ),
    "a result that never came": Pair(
        FIND + call("send", {"to": "ana"}, None),
        FIND + SEND + DONE,
        {"difference": "result", "seq": 3, "passing_seq": 3, "passing_event": "ok"}
        | {"failing_event": 'send {"to": "ana"}'},
    ),
    "results that differ in numbers": Pair(
        call("read", {"id": 7}, "id 4f2a at 10:31, 3 rows") + say("4"),
        call("read", {"id": 7}, "id 99bc at 11:02, 4 rows") + say("3"),
        {"difference": "answer", "seq": 3, "failing_event": "4", "passing_event": "3"},
    ),
    "results that differ far in": Pair(
        call("read", {"id": 7}, "x" * 300 + "this") + say("this"),
        call("read", {"id": 7}, "x" * 300 + "that") + say("that"),
        {"difference": "answer"},
    ),
    "stops with a message": Pair(
        FIND + SORRY,
        FIND + think("Now send.") + SEND + DONE,
        {"difference": "stop", "seq": 3, "passing_seq": 4, "n_common": 1, "n_common_first": 1}
        | {"failing_event": "Sorry, I could not.", "tools_only_passing": ["send"]},
    ),
    "stops with a thought": Pair(
        FIND + think("That is enough.") + SORRY,
        FIND + SEND + DONE,
        {"difference": "stop", "seq": 3, "failing_event": "That is enough."},
    ),
    "stops without a word": Pair(
        FIND,
        FIND + SEND + DONE,
        {"difference": "stop", "seq": 2, "failing_event": "ok"},
    ),
    "calls nothing": Pair(
        think("Who is Ana?") + SORRY,
        FIND + DONE,
        {"difference": "stop", "seq": 2, "passing_seq": 1, "n_calls": 0, "n_passing_calls": 1},
    ),
    "a call too many": Pair(
        FIND + SEND + think("And Bob?") + WRONG + DONE,
        FIND + SEND + think("All is sent.") + DONE,
        {"difference": "stop", "seq": 6, "passing_seq": 6, "n_common_first": 2}
        | {"passing_event": "Done."},
    ),
    "a call too many in between": Pair(
        FIND + call("guess") + SEND + DONE,
        FIND + SEND + DONE,
        {"difference": "tool", "seq": 3, "passing_seq": 3, "n_common": 2, "n_common_first": 1},
    ),
    "other words": Pair(
        FIND + think("So it is 4.") + say("It is 4."),
        FIND + say("It is 3."),
        {"difference": "answer", "seq": 4, "passing_seq": 3, "n_common": 1},
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
        FIND + DONE,
        {"difference": "stop", "seq": None, "passing_seq": 1, "failing_event": None}
        | {"failing_chars": None},
    ),
    "an empty output beside words": Pair(
        [], DONE, {"difference": "answer", "seq": None, "passing_seq": 1}
    ),
    "an empty message": Pair(
        say(""),
        DONE,
        {"difference": "answer", "seq": 1, "failing_event": "", "failing_chars": 0},
    ),
    "a retry that mended a failure": Pair(
        call("find", {"name": "Ana"}, ERROR) + think("Again.") + FIND + WRONG + DONE,
        FIND
        + call("send", {"to": "ana"}, ERROR)
        + call("send", {"to": "ana"}, ERROR)
        + SEND
        + DONE,
        {"difference": "arguments", "seq": 6, "passing_seq": 7, "n_calls": 3, "n_common": 1},
    ),
    "a retry after other calls": Pair(
        FIND + call("send", {"to": "ana"}, ERROR) + READ + SEND + SORRY,
        FIND + READ + SEND + DONE,
        {"difference": "answer", "n_common": 3},
    ),
    "a failure that no retry mended": Pair(
        FIND + call("send", {"to": "ana"}, ERROR) * 3 + SORRY,
        FIND + SEND + DONE,
        {"difference": "result", "seq": 3, "n_common": 2, "n_common_first": 1},
    ),
    "a needless repeat": Pair(
        FIND + WRONG + DONE,
        FIND + READ + FIND + SEND + DONE,
        {"difference": "tool", "seq": 3, "passing_seq": 3},
    ),
    "a needless repeat alone": Pair(
        FIND + SEND + FIND + SORRY, FIND + SEND + DONE, {"difference": "answer", "seq": 7}
    ),
    "a repeat that got another result": Pair(
        call("poll", {}, "pending") + SORRY,
        call("poll", {}, "pending") + call("poll", {}, "ready") + DONE,
        {"difference": "stop", "seq": 3, "passing_seq": 3},
    ),
    "a failure after a success": Pair(
        call("test", {}, "passed") + call("test", {}, ERROR) + DONE,
        call("test", {}, "passed") + DONE,
        {"difference": "stop", "seq": 3, "passing_seq": 3, "n_common_first": 1},
    ),
    "another order, then other arguments": Pair(
        READ + FIND + WRONG + DONE,
        FIND + READ + SEND + DONE,
        {"difference": "arguments", "seq": 5, "passing_seq": 5, "n_common": 2, "n_common_first": 2},
    ),
    "another order alone": Pair(
        READ + FIND + SORRY, FIND + READ + DONE, {"difference": "answer", "n_common": 2}
    ),
    "a call left out, and what came of it": Pair(
        READ + call("send", {"to": "guess"}) + DONE,
        FIND + READ + SEND + DONE,
        {"difference": "arguments", "seq": 3, "passing_seq": 5, "skipped_seq": 1, "n_common": 1}
        | {"tools_only_passing": ["find"]},
    ),
    "a call left out alone": Pair(
        FIND + SEND + DONE,
        FIND + READ + SEND + DONE,
        {"difference": "tool", "seq": 3, "passing_seq": 3, "skipped_seq": None}
        | {"n_common": 2, "n_common_first": 1},
    ),
    "no ids at all": Pair(
        without(FIND + call("send", {"to": "ana"}, ERROR), "call_id") + DONE,
        without(FIND + SEND, "call_id") + DONE,
        {"difference": "result", "seq": 3, "failing_event": ERROR, "passing_event": "ok"},
    ),
    "results without ids": Pair(
        FIND + without(call("send", {"to": "ana"}, ERROR), "call_id") + DONE,
        [SEND[0], FIND[0], *without([SEND[1], FIND[1]], "call_id"), *DONE],
        {"difference": "result", "seq": 3, "failing_event": ERROR},
    ),
    "ids that come again": Pair(
        [{**item, "call_id": "call_0"} for item in FIND + call("send", {"to": "ana"}, ERROR)]
        + DONE,
        FIND + SEND + DONE,
        {"difference": "result", "seq": 3, "failing_event": ERROR},
    ),
    "results in another order than calls": Pair(
        [FIND[0], *call("send", {"to": "ana"}, ERROR), FIND[1], *DONE],
        [FIND[0], *SEND, FIND[1], *DONE],
        {"difference": "result", "seq": 2, "passing_seq": 2, "failing_event": ERROR},
    ),
    "calls without a name": Pair(
        call(None, {"a": 1}) + DONE,
        call(None, {"a": 2}) + DONE,
        {"difference": "arguments", "seq": 1, "tools_only_failing": []},
    ),
    "hostile text": Pair(
        call("x" * 500, "</script>\x1b[2J\u202e|" + "ß" * 1000) + DONE,
        call("**`<img src=x>`**", {"'; drop table": 1}) + DONE,
        {"difference": "tool", "failing_event": "x" * 300, "failing_chars": 500 + 1 + 15 + 1000}
        | {"tools_only_failing": ["x" * 100], "tools_only_passing": ["**`<img src=x>`**"]},
    ),
    "many made-up tools": Pair(
        chain(call(f"tool_{n:02}") for n in range(50)) + DONE,
        DONE,
        {"difference": "stop", "tools_only_failing": [f"tool_{n:02}" for n in range(20)]},
    ),
}


def pair_rows(task: int, pair: Pair) -> list[Row]:
    return [
        rollout(task, 0, reward=0.0, output=pair.failing),
        rollout(task, 1, reward=1.0, output=pair.passing),
    ]


@pytest.fixture(scope="module")
def contrasts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The contrast of every pair, by its name."""
    rows = [row for task, pair in enumerate(PAIRS.values()) for row in pair_rows(task, pair)]
    results = analyzed(tmp_path_factory.mktemp("pairs"), {"a_rollouts.jsonl": rows})
    with pipeline.open_warehouse(results.path) as warehouse:
        found = warehouse.sql("from contrasts order by task_id::int").to_dicts()
    return dict(zip(PAIRS, found, strict=True))


@pytest.mark.parametrize("name", PAIRS)
def test_pair(name: str, contrasts: dict[str, Row]) -> None:
    """The contrast of a pair says where the failing side parts from the passing one, and how."""
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
    """Runs with several repeats a task."""
    choice = repeats(
        0,
        (1.0, READ + FIND + SEND + chain(call("note", {"n": n}) for n in range(5)) + DONE),
        (1.0, FIND + call("ask") + call("wait") + DONE),
        (1.0, FIND + call("ask") + SEND + DONE),
        (1.0, FIND + SEND + DONE),
        (1.0, FIND + SEND + DONE),
        (0.0, FIND + WRONG + SEND + DONE),
        (0.0, call("guess") + SEND + READ + FIND + DONE),
        (0.0, FIND + SEND + WRONG + DONE),
    )
    ties = repeats(0, (0.0, SORRY), (0.0, SORRY), (1.0, DONE), (1.0, DONE))
    ties += repeats(1, (1.0, FIND), (1.0, FIND), (0.0, FIND), (0.0, FIND))
    plain = repeats(0, (1.0, DONE), (1.0, FIND)) + repeats(1, (0.0, DONE), (0.0, FIND))
    mixed = repeats(0, (0.0, DONE)) + repeats(1, (1.0, DONE))
    mixed += repeats(2, (None, SORRY), (0.0, FIND), (1.0, FIND + DONE))
    files = {"choice": choice, "ties": ties, "plain": plain, "mixed": mixed}
    named = {f"{name}_rollouts.jsonl": rows for name, rows in files.items()}
    return analyzed(tmp_path_factory.mktemp("runs"), named)


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
def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    """Shuffled rows give the same contrasts."""
    draw = random.Random(4)
    tools = [call(tool, {"n": n}) for tool in ("a", "b") for n in (1, 2)]
    rows = []
    for task in range(12):
        outputs = [chain(draw.choices(tools, k=4)) + DONE for _ in range(9)]
        rows += repeats(task, *((float(n % 3 == 0), items) for n, items in enumerate(outputs)))
    before = analyzed(tmp_path / "before", {"a_rollouts.jsonl": rows}).rows("from contrasts")
    draw.shuffle(rows)
    after = analyzed(tmp_path / "after", {"a_rollouts.jsonl": rows}).rows("from contrasts")
    assert len(before) == 12 * 6 and after == before


def test_very_long_rollouts(tmp_path: Path) -> None:
    """Thousands of calls are aligned in no time, whether they differ early, late or in order."""
    steps = [call("step", {"n": n}) for n in range(3000)]
    same = call("step", {"n": 0}, ERROR)
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
        ("stop", 6001, 3000, 3001),
        ("tool", 2001, 1000, 1001),
    ]


@pytest.mark.parametrize("n_kinds", [1, 3, 5000])
def test_alignment_is_fast(n_kinds: int) -> None:
    """The longest rollouts that are brought into one order take milliseconds, whatever repeats."""
    draw = random.Random(n_kinds)
    left, right = ([draw.randrange(n_kinds) for _ in range(5000)] for _ in range(2))
    started = time.process_time()
    longest_common([-1, *left, -2], [-3, *right, -4])
    assert time.process_time() - started < 1


def n_common(left: list[int], right: list[int]) -> int:
    """The length of the longest common subsequence, by the book."""
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            rows[i + 1][j + 1] = rows[i][j] + 1 if a == b else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


codes = st.lists(st.integers(0, 4), max_size=12)


@given(codes, codes)
def test_alignment_is_longest(left: list[int], right: list[int]) -> None:
    """The pairs are equal, ascending on both sides, and as many as can be."""
    pairs = longest_common(left, right)
    assert all(left[a] == right[b] for a, b in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in itertools.pairwise(pairs))
    assert len(pairs) == n_common(left, right)


@given(codes, codes)
def test_divergence_is_the_first(left: list[int], right: list[int]) -> None:
    """What both have is counted in whatever order, and all before the divergence is common."""
    failing, passing = (Trail(tuple(x), tuple(x), [str(c % 2) for c in x]) for x in (left, right))
    found = first_divergence(failing, passing)
    assert found.n_common == (Counter(left) & Counter(right)).total()
    assert found.n_common_first <= found.n_common
    assert not Counter(left[: found.n_common_first]) - Counter(right)
    assert (found.difference == "answer") == (Counter(left) == Counter(right))
    if found.step is not None and found.passing_step is not None:
        assert left[found.step] != right[found.passing_step]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_planted_failures_are_found(seed: int, tmp_path: Path) -> None:
    """Of failures planted in sometimes-pass tasks nearly all part where they were planted."""
    folder = simulated(tmp_path / "results", seed=seed)
    path = pipeline.analyze(folder, out=tmp_path / "out").warehouse
    with pipeline.open_warehouse(path) as warehouse:
        rows = warehouse.sql("select run_id, task_id, rollout_index, seq from contrasts").rows()
        n_closest = warehouse.sql("""
            select count(*) from contrasts where is_closest
            group by run_id, task_id having count(*) <> 1
        """).rows()
    truth = {row.key: row for row in planted(folder)}
    found, missed = Counter[str](), Counter[str]()
    for *key, seq in rows:
        row = truth[(key[0], key[1], key[2])]
        (found if row.is_shown_by(seq) else missed)[row.mode] += 1
    assert n_closest == [] and found.total() > 60
    assert found.total() >= 0.95 * len(rows), missed
    assert {run.partition("_desk")[0] for run, *_ in rows} > {"office"}
