"""Of any bytes a load neither crashes nor loses a line; in any order, it is equal."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import pipeline
from tests import loaded
from tests.lean import only

CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
# An example costs a whole analysis: shrinking would take minutes, and the message names the line.
thorough = settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=CHECKS,
    database=None,
)

ROW = (
    '{"_ng_task_index": %d, "_ng_rollout_index": %d, "agent_ref": {"name": "solo"}, '
    '"responses_create_params": {"input": [{"role": "user", "content": "Question %d?"}]}, '
    '"response": {"model": "m-1", "output": [{"type": "reasoning", "summary": [{"text": "so"}]}, '
    '{"type": "function_call", "name": "f", "call_id": "c", "arguments": "{\\"a\\": 1}"}, '
    '{"type": "function_call_output", "call_id": "c", "output": "{\\"exit_code\\": 1}"}, '
    '{"type": "message", "role": "assistant", "content": [{"type": "output_text", '
    '"text": "fin \\u00e9"}]}], "usage": {"input_tokens": 17, "output_tokens": 5}}, '
    '"reward": 1.0, "score": 0.25, "note": "a, ] b", "tags": ["x", null]}'
)
# Put in the place of a value, before the last bracket, or around a row.
LITERALS = [
    *"NaN Infinity -Infinity nan -nan inf -inf -NaN 1e999 -1e999 01 +1 1. .5 0x1 True nul".split(),
    *'"\\ud800" "\\udc00\\ud800" "\\ud83d\\ude00" "\\u0000" "\\x41" [1,] [1,,2] [,] ""'.split(),
    *'{"a":1,} {"a":1,"a":2} [[NaN]] [NaN,1] /*c*/1'.split(),
    *("9" * 40, "9" * 400, "1" + "0" * 4299, "[1 , ]", '{"a":NaN , }', '"\t"'),
]
TAILS = (
    ",", " , ", ",,", ', "reward": 0', ', "Reward": 0', ', "x": 1, "X": 2', ', "x": 1, "x": 2',
    ', "response": "text"', ', "response": null', ', "_ng_failure_class": "transient"',
    ', "_ng_attempt_index": 3', ', "it\'s": "--"', "} {", "}}", ", 'x': 1", ', "\\u0000": 1',
)  # fmt: skip
ODD_LINES = [
    b"", b" ", b"\t \r", b"\x0b\x0c", b"\r", b"\xef\xbb\xbf", b"\xef\xbb\xbf{}", b"\xff", b"\x00",
    b"{}", b"[]", b"null", b"1", b'"text"', b"{", b"}", b"NaN", b'{"reward": NaN}', b" {} ",
    b'{"a": 1,}', b"{}\x0b", b"\xc2\xa0", b'{"x": "\xed\xa0\x80"}', b'{"response": "r"}\r\r',
    b"[" * 5_000, b'{"a":' * 5_000, b"[" * 5_000 + b"]" * 5_000, b"[" * 200_000, b'{"a":' * 200_000,
    b"[" * 200_000 + b"]" * 200_000, b'{"reward": 1, "x": ' + b"[" * 5_000 + b"}",
]  # fmt: skip

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
numbers = st.integers(0, 5)
rows = st.builds(lambda task, repeat: ROW % (task, repeat, task), st.integers(0, 200), numbers)


@st.composite
def rows_with_any_fields(draw: st.DrawFn) -> bytes:
    """A row of the format's own fields and others, with values of any type."""
    names = st.sampled_from(
        "reward response responses_create_params agent_ref _ng_rollout_index _ng_attempt_index "
        "stage_index skills_ref ng_perf reward_components metadata verifier_metadata id task_id "
        "score Reward".split()
    )
    row = draw(st.dictionaries(names, json_values, max_size=5))
    if draw(st.booleans()):
        row["_ng_task_index"] = draw(numbers)
    return json.dumps(row, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


@st.composite
def spoilt_rows(draw: st.DrawFn) -> bytes:
    """A good row with something done to it."""
    row = draw(rows)
    spoil = draw(st.sampled_from("value tail flip cut insert around".split()))
    if spoil == "value":
        old = draw(st.sampled_from(["0.25", "1.0", '"a, ] b"', "null", '"fin \\u00e9"', '"m-1"']))
        row = row.replace(old, draw(st.sampled_from(LITERALS)))
    if spoil == "tail":
        row = row[:-1] + draw(st.sampled_from(TAILS)) + "}"
    if spoil == "around":
        spaces = st.sampled_from(
            ["", " ", "\t", "\r", "\x0b", "\x0c", "\ufeff", "\u00a0", "x", ","]
        )
        row = draw(spaces) + row + draw(spaces)
    line = bytearray(row.encode())
    if spoil == "flip":
        for _ in range(draw(st.integers(1, 3))):
            line[draw(st.integers(0, len(line) - 1))] = draw(st.integers(0, 255))
    if spoil == "cut":
        del line[draw(st.integers(0, len(line))) :]
    if spoil == "insert":
        at = draw(st.integers(0, len(line)))
        line[at:at] = draw(st.binary(max_size=4))
    return bytes(line)


one_line = st.one_of(
    spoilt_rows(),
    rows.map(str.encode),
    rows_with_any_fields(),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=30),
    st.sampled_from(ODD_LINES),
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """The bytes of one file: lines of all sorts with either line end, at times none at the end."""
    lines = draw(st.lists(one_line, max_size=40))
    end = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    start = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return start + end.join(lines) + draw(st.sampled_from([end, b""]))


def loads_as_read(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results")
        results.mkdir()
        for number, content in enumerate(contents):
            (results / f"f{number}_rollouts.jsonl").write_bytes(content)
        actual = loaded.load(results, Path(folder, "out"))
        wrong = loaded.differences(actual, results)
        assert not wrong, "\n".join(line[:300] for line in wrong[:10])


# Files are read one by one: several of them cost one analysis.
some_files = st.lists(files(), min_size=3, max_size=9)


@pytest.mark.slow
@thorough
@given(some_files)
def test_any_bytes_are_loaded_as_read(contents: list[bytes]):
    """Bytes of any kind load; each line is the row, reject, other or blank that json says it is."""
    loads_as_read(contents)


@pytest.mark.slow
@settings(thorough, max_examples=4)
@given(some_files)
def test_any_bytes_are_loaded_as_read_in_pieces(contents: list[bytes]):
    """The same where fields are sniffed and where lines lie across the borders of blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.ingest.load.records.LARGE_FILE", 0)
        patch.setattr("pipeline.ingest.load.lines.BLOCK_BYTES", 997)
        loads_as_read(contents)


def test_every_odd_line_is_loaded_as_read():
    """Each odd line, literal and tail, in one file and alone as the first and last of a file."""
    good = ROW % (1, 0, 1)
    lines = [*ODD_LINES, b'{"": 1, "reward": 1}']
    for number, literal in enumerate(LITERALS):
        lines.append((ROW % (number, 1, 1)).replace("0.25", literal).encode())
    for number, tail in enumerate(TAILS):
        lines.append(((ROW % (number, 2, 1))[:-1] + tail + "}").encode())
    contents = [b"\n".join(lines), b"\r\n".join(lines) + b"\r\n", b"", b"\n", b"\xef\xbb\xbf"]
    contents += [line + b"\n" + good.encode() + b"\n" + line for line in ODD_LINES]
    loads_as_read(contents)


# Order

RELATIONS = "runs tasks task_prompts expected rollouts events failures reported_metrics".split()
Files = dict[str, list[str]]


@st.composite
def results(draw: st.DrawFn) -> Files:
    """The lines of two runs with inputs and failures; no two rows of a file share a given key."""
    written: Files = {}
    for run in ("one", "two"):
        n_tasks, n_repeats = draw(st.integers(1, 4)), draw(st.integers(1, 3))
        keys = [(task, repeat) for task in range(n_tasks) for repeat in range(n_repeats)]
        naming = draw(st.sampled_from(["index", "id", "content", "mixed"]))
        agents = draw(st.sampled_from([["solo"], [None], ["a", "b"], ["a", "A"]]))
        rollouts = [draw(rollout_rows(*key, naming, agents)) for key in keys if draw(st.booleans())]
        written[f"{run}_rollouts.jsonl"] = [json.dumps(row) for row in rollouts]
        if draw(st.booleans()):
            inputs = [request(*key, naming) for key in keys]
            written[f"{run}_rollouts_materialized_inputs.jsonl"] = [json.dumps(i) for i in inputs]
        if draw(st.booleans()):
            failed = [
                {**request(*key, "index"), "_ng_attempt_index": n, "_ng_failure_class": "transient"}
                for n, key in enumerate(keys)
            ]
            written[f"{run}_rollouts_failures.jsonl"] = [json.dumps(row) for row in failed]
    return written


def request(task: int, repeat: int, naming: str) -> dict[str, Any]:
    """What is asked; without an index, nothing distinguishes repeats of a task."""
    row: dict[str, Any] = {
        "responses_create_params": {"input": [{"role": "user", "content": f"Question {task}?"}]},
        "expected_answer": str(task),
    }
    if naming == "index" or (naming == "mixed" and task % 2):
        row |= {"_ng_task_index": task, "_ng_rollout_index": repeat}
    if naming == "id":
        row["task_id"] = f"t/{task}:x"
    return row


@st.composite
def rollout_rows(
    draw: st.DrawFn, task: int, repeat: int, naming: str, agents: list[str | None]
) -> dict[str, Any]:
    row = request(task, repeat, naming)
    agent = draw(st.sampled_from(agents))
    if agent is not None:
        row["agent_ref"] = {"name": agent}
    row["reward"] = draw(st.sampled_from([0.0, 1.0, 0.1, 0.7, None]))
    row["category"] = draw(st.sampled_from(["x", "y"]))
    message = draw(st.sampled_from(["yes", "no", "why"]))
    row["response"] = {
        "model": draw(st.sampled_from(["m-1", "m-2"])),
        "temperature": draw(st.sampled_from([0.1, 0.2])),
        "output": [{"type": "message", "role": "assistant", "content": message}],
    }
    return row


def relations(written: Files, runs: dict[str, str]) -> dict[str, list[str]]:
    """The public relations of these files, each as sorted rows without their place."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "results")
        base.mkdir()
        for name, lines in written.items():
            (base / name).write_text("".join(f"{line}\n" for line in lines))
        with only(*RELATIONS):
            pipeline.analyze(
                base,
                out=Path(folder, "out"),
                run_names={run: base / f"{stem}_rollouts.jsonl" for run, stem in runs.items()},
                benchmark="b",
            )
        with pipeline.open_warehouse(Path(folder, "out", "warehouse.duckdb")) as warehouse:
            return {name: canonical(warehouse, name) for name in RELATIONS}


def canonical(warehouse: Any, relation: str) -> list[str]:
    places = {"source_file", "source_line", "record_id"}
    actual = warehouse.arrow(f"from {relation}").to_pylist()
    remaining = ({name: v for name, v in row.items() if name not in places} for row in actual)
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in remaining)


def order_does_not_matter(written: Files, shuffle: Callable[[list[str]], list[str]]) -> None:
    """Shuffle the rows of every file, and let the two runs' files change places."""
    names = {"one": "zz", "two": "aa"}
    moved = {names[name[:3]] + name[3:]: shuffle(lines) for name, lines in written.items()}
    before = relations(written, {"run-1": "one", "run-2": "two"})
    after = relations(moved, {"run-1": "zz", "run-2": "aa"})
    for relation in RELATIONS:
        assert before[relation] == after[relation], relation


@pytest.mark.slow
def test_rows_without_an_index_are_numbered_by_what_they_say():
    """Rows of one task that carry no repeat number keep their numbers when the file is reversed."""
    written: Files = {}
    for run, naming in (("one", "id"), ("two", "content")):
        rows = [
            {**request(task, 0, naming), "reward": repeat / 4, "response": f"text {repeat}"}
            for task in range(3)
            for repeat in range(4)
        ]
        written[f"{run}_rollouts.jsonl"] = [json.dumps(row) for row in rows]
    order_does_not_matter(written, lambda lines: lines[::-1])


@pytest.mark.slow
@settings(thorough, max_examples=6)
@given(results(), st.randoms(use_true_random=False))
def test_order_of_rows_and_files_does_not_matter(written: Files, random: Any):
    """Shuffled rows and renamed files give the same relations but for where each row was."""
    order_does_not_matter(written, lambda lines: random.sample(lines, len(lines)))


@pytest.mark.slow
def test_rows_with_an_unusable_index_are_numbered_by_what_they_say():
    """A repeat number given as text is no number: its rows are ranked by content as well."""
    rows = [
        {"_ng_task_index": 1, "_ng_rollout_index": "x", "reward": reward} for reward in (0.1, 0.2)
    ]
    written: Files = {
        f"{run}_rollouts.jsonl": [json.dumps(row) for row in rows] for run in ("one", "two")
    }
    order_does_not_matter(written, lambda lines: lines[::-1])
