"""Signs: what is literally recorded of an attempt, worked out by hand from the rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.case_files import cases
from tests.results import Results, Row, analyzed, called, rollout, tried, wrote
from tests.together import Batch, together

Key = tuple[int, int]
ATTEMPTS: list[Key] = [(task, index) for task in range(4) for index in range(2)]
# Second attempts fail, and so does the first one at task 3.
FAILING = {(0, 1), (1, 1), (2, 1), (3, 0), (3, 1)}


def fields(task: int, index: int) -> Row:
    """The fields of a row, of every shape that gives signs or none."""
    key = (task, index)
    row: Row = {
        "category": "law" if task < 2 else "art",
        "stop": "timeout" if key in {(0, 1), (1, 1), (2, 0)} else "done",
        "flag": key in {(0, 1), (2, 1)},
        "half": int(index == 0),
        # Null once, distinct otherwise.
        "note": None if key == (0, 0) else f"see {task}-{index}",
        # Too long to be a value, or empty.
        "patch": "" if key in {(2, 0), (3, 1)} else "x" * 100,
        "labels": {(0, 1): ["user"], (1, 1): ["user", "tool"]}.get(key, []),
        "tags": ["y" * 41],
        # What gives no sign: sizes, ids, what every row says.
        "n_words": 10 + task,
        "uid": f"{task}-{index}",
        "version": "1.2",
    }
    # A map: no key is in more than half of the rows that have it.
    if key in {(1, 0), (2, 1)}:
        row["broken"] = {f"src/file{task}.py": "no such name"}
    return row


def files(*, is_flipped: bool = False) -> dict[str, list[Row]]:
    """Runs of which every sign is known; where flipped, what failed passes and the reverse."""

    def reward(is_pass: bool) -> float:
        return float(is_pass is not is_flipped)

    found: dict[str, list[Row]] = {
        "fields_rollouts.jsonl": [
            rollout(*key, ask=f"fields {key[0]}", reward=reward(key not in FAILING), **fields(*key))
            for key in ATTEMPTS
        ],
        "checks_rollouts.jsonl": [
            rollout(task, 0, ask=f"checks {task}", reward=reward(task == 2), results=results)
            for task, results in enumerate(CHECKS)
        ],
        "answers_rollouts.jsonl": [
            rollout(
                task,
                0,
                ask=f"answers {task}",
                reward=reward(task < 3),
                output=wrote(text) if text else [],
                extracted_answer=answer,
                expected_answer=key,
                **({} if text else SPENT),
            )
            for task, (text, answer, key) in enumerate(ANSWERS)
        ],
    }
    # Two harnesses at the same questions.
    for name in ("one", "two"):
        found[f"{name}_rollouts.jsonl"] = [
            rollout(task, 0, ask=f"both {task}", reward=reward(task > 1), harness=name)
            for task in range(4)
        ]
    limits = [4096, 4096, 4096, 700, 801, 20, 35]
    found["limits_rollouts.jsonl"] = tried(
        7,
        lambda task: reward(task > 2),
        ask=lambda task: f"limits {task}",
        response=lambda task: spent(limits[task]) | (CUT if task < 3 else {}),
    )
    alike = [295, 295, 295, 70, 80, 20, 35]
    found["alike_rollouts.jsonl"] = tried(
        7,
        lambda task: reward(task > 2),
        ask=lambda task: f"alike {task}",
        response=lambda task: spent(alike[task]),
    )
    found["errors_rollouts.jsonl"] = [
        rollout(
            task,
            0,
            ask=f"errors {task}",
            reward=reward(task > 1),
            output=[*called("pay", {"n": task}, answer), *wrote("Paid.")],
            judge_error=traceback,
        )
        for task, (answer, traceback) in enumerate(ERRORS)
    ]
    return found


def spent(n_tokens: int) -> Row:
    """A response of so many tokens."""
    return {"output": wrote("so"), "usage": {"input_tokens": 5, "output_tokens": n_tokens}}


CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
SPENT = {"response": {"output": [], "usage": {"input_tokens": 9, "output_tokens": 0}}}
CHECKS = [
    {"test_sum - assert 3 == 4": "failed", "test_parse": "passed"},
    {"test_sum - assert 5 == 9": "failed", "test_parse": "failed"},
    {"test_sum": "passed", "test_parse": "passed"},
]
# The words, the answer that was taken from them, and the key.
ANSWERS: list[tuple[str, str | None, str]] = [
    ("It is 7.", "7", "7"),
    ("It is Paris.", "Paris", "Paris"),
    ("It is 12.", "12", "12"),
    ("```json\n{}\n```", "9", "8"),
    ('{"a": 1}', "1,2", "12"),
    ("<b>x</b>", None, "3"),
    ("", None, "4"),
    ("I will now write it:\n", "8", "8"),
]
TRACEBACK = "Traceback (most recent call last):\n  File 'x.py', line 3\nKeyError: 'name'"
ERRORS: list[tuple[str, str | None]] = [
    ("Error: total price is 5, but paid 7", None),
    ("Error: total price is 61, but paid 70", TRACEBACK),
    ("ok", None),
    ("ok", None),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every run of `files`."""
    folder = tmp_path_factory.mktemp("signs")
    return analyzed(folder, files(), needs=["signs", "failure_modes", "checks"])


def borne(found: Results, run: str, kind: str) -> dict[str, list[Key]]:
    """Which attempts of a run bear each sign of a kind."""
    rows = found.rows(f"""
        select sign, task_id::int, rollout_index::int from signs
        where run_id = '{run}' and kind = '{kind}' order by 1, 2, 3
    """)
    listed: dict[str, list[Key]] = {}
    for sign, task, index in rows:
        listed.setdefault(sign, []).append((task, index))
    return listed


def test_fields(found: Results) -> None:
    """Short texts, booleans, 0 and 1, null, empty, members of lists and maps; nothing else."""
    expected: dict[str, set[Key]] = {
        "category = law": {(0, 0), (0, 1), (1, 0), (1, 1)},
        "category = art": {(2, 0), (2, 1), (3, 0), (3, 1)},
        "stop = timeout": {(0, 1), (1, 1), (2, 0)},
        "stop = done": set(ATTEMPTS) - {(0, 1), (1, 1), (2, 0)},
        "flag = true": {(0, 1), (2, 1)},
        "flag = false": set(ATTEMPTS) - {(0, 1), (2, 1)},
        "half = 1": {key for key in ATTEMPTS if key[1] == 0},
        "half = 0": {key for key in ATTEMPTS if key[1] == 1},
        "note is null": {(0, 0)},
        "patch is empty": {(2, 0), (3, 1)},
        "labels is empty": set(ATTEMPTS) - {(0, 1), (1, 1)},
        "labels has user": {(0, 1), (1, 1)},
        "labels has tool": {(1, 1)},
        "broken has src/file1.py": {(1, 0)},
        "broken has src/file2.py": {(2, 1)},
    }
    assert borne(found, "fields", "field") == {
        sign: sorted(keys) for sign, keys in expected.items()
    }


def test_scope(found: Results) -> None:
    """What all attempts at a task share is the task's, what all of a run share is the run's."""
    scopes = dict(
        found.rows("""
            select distinct sign, scope from signs
            where kind = 'field' and run_id in ('fields', 'one', 'two')
        """)
    )
    of_tasks = {sign for sign, scope in scopes.items() if scope == "task"}
    of_runs = {sign for sign, scope in scopes.items() if scope == "run"}
    assert of_tasks == {"category = law", "category = art"}
    assert of_runs == {"harness = one", "harness = two"}


def test_checks_by_name(found: Results) -> None:
    """A check's name is what stays the same when it passes; its message is not part of it."""
    assert borne(found, "checks", "check") == {
        "check test_parse fails": [(1, 0)],
        "check test_sum fails": [(0, 0), (1, 0)],
        "one check fails all others pass": [(0, 0)],
    }
    messages = found.rows("select message from checks where check_name = 'test_sum' order by all")
    assert messages == [("assert 3 == 4",), ("assert 5 == 9",), (None,)]
    # The verdicts are not listed again as fields.
    assert borne(found, "checks", "field") == {}


def test_answers(found: Results) -> None:
    """How the final answer begins and ends, that there is none, and how it differs from its key."""
    assert borne(found, "answers", "answer") == {
        "answer begins with <": [(5, 0)],
        "answer begins with a code fence": [(3, 0)],
        "answer begins with {": [(4, 0)],
        "answer ends with a colon": [(7, 0)],
        "answer equals the key but for case, white space or punctuation": [(4, 0)],
        "answer is empty": [(6, 0)],
        "answer was not extracted": [(5, 0), (6, 0)],
    }


def test_an_answer_that_is_not_recorded(tmp_path: Path) -> None:
    """Only null or empty says that there is none, also in the field that a profile names."""
    answers: list[Row] = [
        {"out": {"final": "a"}},
        {"out": {"final": None}},
        {"out": {"final": ""}},
        {"out": {"other": 1}},
        {},
    ]
    rows = [
        rollout(task, 0, ask=f"q{task}", reward=task % 2, output=wrote(f"so {task}"), **answer)
        for task, answer in enumerate(answers)
    ]
    profile = '[fields]\nanswer = "out.final"\n'
    files = {"a_rollouts.jsonl": rows, "blade.toml": profile}
    results = analyzed(tmp_path, files, needs=("signs",))
    missing = "select task_id from signs where sign = 'answer was not extracted' order by all"
    assert results.column(missing) == ["1", "2"]


@together.each(("extracted_answer",), ("predicted_answer",), ("final_label",))
def test_a_field_of_the_answer_keeps_its_name(name: str) -> Batch:
    """Only of a field that is called so is it said that the answer was not extracted."""
    results = yield [
        rollout(task, 0, reward=float(task > 2), **{name: f"a{task}" if task > 2 else None})
        for task in range(9)
    ]
    missing = results.column("select distinct sign from signs where sign like 'answer %'")
    null = results.column("select distinct sign from signs where sign like '% is null'")
    is_extracted = name == "extracted_answer"
    assert missing == ["answer was not extracted"] * is_extracted
    assert null == [f"{name} is null"] * (not is_extracted)


def test_limits(found: Results) -> None:
    """A recorded cap, and a number at which several attempts end."""
    assert borne(found, "limits", "limit") == {
        "recorded limit = max_output_tokens": [(0, 0), (1, 0), (2, 0)],
        "output tokens at 4,096, the largest of the run": [(0, 0), (1, 0), (2, 0)],
    }
    # Three answers of one length are no cap.
    assert borne(found, "alike", "limit") == {}


def test_errors(found: Results) -> None:
    """Errors of tools and tracebacks in fields are listed without numbers that differ.

    One of a class has its class as well: words may differ where the fault is one.
    """
    signs = borne(found, "errors", "error")
    assert {sign: keys for sign, keys in signs.items() if "price" in sign} == {
        "error: total price is <n>, but paid <n>": [(0, 0), (1, 0)]
    }
    by_class = {sign: keys for sign, keys in signs.items() if "KeyError" in sign}
    assert by_class == {"error: KeyError": [(1, 0)], "error: KeyError: <text>": [(1, 0)]}
    assert len(signs) == 3


def test_calls(found: Results) -> None:
    """A tool that was called."""
    assert borne(found, "errors", "call") == {"calls pay": [(task, 0) for task in range(4)]}


def test_signs_cite_their_event(found: Results) -> None:
    """A call is cited where it was made, its error where it was answered."""
    assert found.rows("""
        select kind, seq from signs
        where run_id = 'errors' and task_id = '0' and seq is not null order by kind
    """) == [("call", 1), ("error", 2)]


def test_no_sign_depends_on_the_outcome(
    found: Results, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With every reward turned over, the same attempts bear the same signs."""
    flipped = analyzed(tmp_path_factory.mktemp("flipped"), files(is_flipped=True), needs=["signs"])
    query = "select * exclude (is_verdict) from signs where kind <> 'ungraded' order by all"
    assert flipped.rows(query) == found.rows(query)
    assert len(flipped.rows(query)) > 80


def test_signs_that_say_the_score_again(found: Results) -> None:
    """`half` is 0 in four of five failures, `flag` is true in two, and no pass shows either."""
    marked = "select distinct sign from signs where run_id = 'fields' and is_verdict order by all"
    assert found.column(marked) == ["flag = false", "flag = true", "half = 0", "half = 1"]
    assert not found.rows("from signs where is_verdict is null")


# --- expected calls


SHAPES: dict[str, Any] = cases("expected_calls", "shapes")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run for every shape in which calls are listed: each asks for two bookings."""
    written = {}
    for shape, case in SHAPES.items():
        run = shape.replace(" ", "_")
        written[f"{run}_rollouts.jsonl"] = [
            rollout(
                task,
                0,
                ask=f"{shape} {task}",
                reward=float(task == 0),
                output=[*(item for call in made for item in called(*call)), *wrote("Done.")],
                **case.get("rows", [{}] * 9)[task],
                **case["row"],
            )
            for task, made in enumerate(case.get("made", cases("expected_calls", "made")))
        ]
    folder = tmp_path_factory.mktemp("expected")
    return analyzed(folder, written, needs=["signs", "expected_calls", "expected_tools"])


@pytest.mark.parametrize("shape", SHAPES)
def test_expected_calls(shape: str, expected: Results) -> None:
    """Calls that a record lists are recognised by their shape and compared tool by tool."""
    rows = expected.rows(f"""
        select task_id::int, tool, status, differing_keys from expected_calls
        where run_id = '{shape.replace(" ", "_")}' order by task_id::int, call_no
    """)
    assert [list(row) for row in rows] == SHAPES[shape]["expected"]


def test_expected_signs(expected: Results) -> None:
    """The signs say which tool, and how its calls differ from what is expected."""
    signs = borne(expected, "a_list_of_calls", "expected")
    assert signs == {
        "book called with another to": [(1, 0)],
        "book expected, not made as expected": [(1, 0), (2, 0)],
        "book expected, called fewer times": [(2, 0)],
        "cancel expected, never called": [(2, 0)],
        "cancel expected, not made as expected": [(2, 0)],
        "cancel expected, answered with an error": [(3, 0)],
        "find called, not expected": [(3, 0)],
    }
    assert Counter(map(len, signs.values())) == {1: 6, 2: 1}


def test_expected_tools(expected: Results) -> None:
    """Every tool with what was not as expected, in failures and passes of all that are compared."""
    rows = expected.rows("""
        select
            tool, n_all_failures, n_all_passes, n_failures_not_met, n_failures_never,
            n_failures_differs, n_failures_unasked, n_passes_not_met + n_passes_unasked
        from expected_tools
        inner join (select distinct benchmark from runs where run_id = 'a_list_of_calls')
            using (benchmark)
        order by all
    """)
    assert rows == [
        ("book", 3, 1, 2, 0, 1, 0, 0),
        ("cancel", 3, 1, 1, 1, 0, 0, 0),
        ("find", 3, 1, 0, 0, 0, 1, 0),
    ]


@together.each((4,), (8,))
def test_what_an_object_lacks(n_with: int) -> Batch:
    """Where half of ten attempts have the object, that its field is null is a sign."""
    results = yield [
        rollout(task, 0, reward=0.0, fault={"line": None, "code": task} if task < n_with else None)
        for task in range(10)
    ]
    null = results.rows("from signs where name = 'fault.line' and value = 'is null'")
    assert len(null) == (8 if n_with == 8 else 0)


@together.each((6, 6, 5), (6, 5, 0), (2, 2, 0))
def test_as_many_turns_in_every_attempt_are_a_cap(
    n_turns: int, n_other: int, n_bearing: int
) -> Batch:
    """Of few turns where all attempts of a run have as many; of two or three it is no cap."""
    (own,) = wrote("x")
    turn = [own, {**own, "role": "user"}]
    results = yield [
        rollout(task, 0, reward=0.0, output=turn * (n_other if task == 0 else n_turns))
        for task in range(5)
    ]
    assert len(results.rows("from signs where name = 'turns'")) == n_bearing
