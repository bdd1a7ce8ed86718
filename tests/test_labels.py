"""labels.jsonl: curated root causes, each true to what is there or refused by its line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline.ingest.formats import labels
from pipeline.run import run
from pipeline.settings import Settings
from tests import results as written
from tests.case_files import cases
from tests.lean import CHECKED, only
from tests.results import Content, Outcome, Results, Row, asked, call, lines, rollout, write
from tests.test_security import ACTIVE, EVIL, TERMINAL_ACTIVE

analyzed = partial(written.analyzed, needs=(*CHECKED, "labels"))

REFUSED = "select subject from assertions.warn where check_name = 'warn_unusable_labels'"
ODD_TASK = "pkg/mod.py:3#2"
COLUMNS = "run_id, task_id, cause, intervention, note, evidence, said_by"


def runs() -> dict[str, list[Row]]:
    """Run a: tasks 0 to 3, two repeats of one event each, of task 3 one is missing. Run b: one."""
    rows = [
        rollout(task, index) for task in range(4) for index in (0, 1) if (task, index) != (3, 1)
    ]
    return {
        "a_rollouts.jsonl": rows,
        "a_rollouts_materialized_inputs.jsonl": [
            asked(task, index) for task in range(4) for index in (0, 1)
        ],
        "b_rollouts.jsonl": [rollout(None, 0, ask="odd", task_id=ODD_TASK)],
    }


def label(task: Any = 0, cause: Any = "BI", **fields: Any) -> Row:
    """A row of labels.jsonl for run a."""
    return {"run": "a", "task": task, "cause": cause, **fields}


def analyzed_by_command(
    folder: Path, files: Mapping[str, Content], *options: str
) -> tuple[Results, Outcome]:
    """The files analyzed from the command line, and what it printed."""
    results = write(folder / "results", files)
    outcome = call("analyze", results, "--out", folder / "out", *options)
    assert outcome.code == 0
    return Results(folder / "out"), outcome


def reasons(results: Results, path: str = "labels.jsonl") -> dict[int, str]:
    """Why each refused line of a file was, by line."""
    query = f"select source_line, reason from rejects where source_file = '{path}' order by all"
    return dict(results.rows(query))


def counts(results: Results, path: str = "labels.jsonl") -> tuple[int, ...]:
    """Lines, rows, rejects, other and blank lines of a file."""
    numbers = "n_lines, n_rows, n_rejects, n_other, n_blank"
    return results.rows(f"select {numbers} from artifacts where path = '{path}'")[0]


GOOD = [(case["row"], case["label"]) for case in cases("labels", "good")]
GOOD_FILE = "good/labels.jsonl"


BAD: list[tuple[Any, str]] = [
    (b'{"run": "a"', "not JSON: Expecting ',' delimiter at column 12"),
    (b"\xff{}", "not UTF-8 at byte 1"),
    (b"[" * 100_000, "not JSON: nested too deeply"),
    *cases("labels", "bad"),
]


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A labels file of nothing but bad lines, in the order of BAD, and one with the lines of GOOD.

    The latter begins with a byte-order mark and ends with blank lines.
    """
    content = b"".join(
        (row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row, _ in BAD
    )
    good = "\ufeff" + lines(row for row, _ in GOOD) + "\n \t\n\r\n"
    files = {**runs(), "labels.jsonl": content, GOOD_FILE: good}
    return analyzed(tmp_path_factory.mktemp("refused"), files)


@pytest.fixture(scope="module")
def rejects(refused: Results) -> dict[int, tuple[str, str]]:
    """Reason and snippet of each line that was refused."""
    rows = refused.rows(
        "select source_line, reason, snippet from rejects where source_file = 'labels.jsonl'"
    )
    return {line: (reason, snippet) for line, reason, snippet in rows}


@pytest.mark.parametrize("line", range(1, len(BAD) + 1))
def test_bad_lines_are_named(rejects: dict[int, tuple[str, str]], line: int) -> None:
    """Each is a reject with its line, a reason that says what is wrong, and its beginning."""
    row, expected = BAD[line - 1]
    text = row.decode("utf-8", "replace") if isinstance(row, bytes) else json.dumps(row)
    reason, snippet = rejects[line]
    assert reason.startswith(expected)
    assert snippet == text[:200]


def test_good_labels(refused: Results) -> None:
    """Synonyms, integers and mixed causes are read; byte-order marks and blank lines do no harm."""
    rows = refused.rows(f"select {COLUMNS} from labels")
    assert [list(row) for row in rows] == [message for _, message in GOOD if message]
    assert refused.column("select source_line from labels") == [1, 2, 4, 5, 6]
    assert reasons(refused, GOOD_FILE) == {3: "evidence b/x:0: run b has no task x"}
    assert counts(refused, GOOD_FILE) == (9, 5, 1, 0, 3)


def test_bad_lines_are_counted(refused: Results) -> None:
    """None of them is a label, and none is lost."""
    assert set(refused.column("select source_file from labels")) == {GOOD_FILE}
    assert counts(refused) == (len(BAD), 0, len(BAD), 0, 0)
    assert refused.one("select n_rollouts from runs where run_id = 'a'") == 7


def test_notices_are_bounded(refused: Results) -> None:
    """Of many refused labels the first ten of a file are named; the file's own notice counts."""
    named = [f"labels.jsonl:{line}" for line in range(1, 11)]
    assert sorted(refused.column(REFUSED)) == sorted([*named, f"{GOOD_FILE}:3"])
    message = refused.one("""
        select message from assertions.warn
        where check_name = 'warn_rejects' and subject = 'labels.jsonl'
    """)
    assert message == f"{len(BAD)} of {len(BAD)} lines could not be used"


@pytest.mark.slow
def test_a_bad_line_spoils_no_other(tmp_path: Path) -> None:
    """The labels around it count, and the analysis tells which line was refused and why."""
    inputs = [label(0), label(9), label(1)]
    results, message = analyzed_by_command(tmp_path, {**runs(), "labels.jsonl": inputs})
    assert "! labels.jsonl:2: label refused: run a has no task 9\n" in message.stderr
    assert results.column("select task_id from labels") == ["0", "1"]
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "label refused: run a has no task 9" in report


@pytest.mark.slow
def test_a_later_label_corrects_an_earlier_one(tmp_path: Path) -> None:
    """The last for a task counts; those before are superseded, which is no refusal."""
    rows = [label(0), label(1), label("0", "KG"), label(1, "TI", evidence="a/1:7"), label(0, "TI")]
    results = analyzed(tmp_path, {**runs(), "labels.jsonl": [*rows, label(1, "XX")]})
    # A refused label corrects nothing.
    standing = [("0", "TI", 5), ("1", "BI", 2)]
    assert results.rows("select task_id, cause, source_line from labels") == standing
    assert sorted(reasons(results)) == [1, 3, 4, 6]
    assert {reasons(results)[line] for line in (1, 3)} == {"superseded by labels.jsonl:5"}
    assert counts(results) == (6, 2, 4, 0, 0)
    refused_lines = results.column(REFUSED + " order by all")
    assert refused_lines == ["labels.jsonl:4", "labels.jsonl:6"]


@pytest.mark.slow
def test_several_files_in_path_order(tmp_path: Path) -> None:
    """Labels files anywhere below the folder are read; of two for one task the last path counts."""
    by_name = {"z/labels.jsonl": [label(0, "TI")], "labels.jsonl": [label(0, "KG"), label(1)]}
    results = analyzed(tmp_path, {**runs(), **by_name})
    assert results.rows("select task_id, cause, source_file from labels") == [
        ("0", "TI", "z/labels.jsonl"),
        ("1", "BI", "labels.jsonl"),
    ]
    assert reasons(results) == {1: "superseded by z/labels.jsonl:1"}


@pytest.mark.slow
def test_a_draft_says_how_many_tasks_have_a_cause(tmp_path: Path) -> None:
    """Two of five tasks that fail are labelled: the draft says so, and is not complete."""
    rows = [rollout(task, index, reward=0.0) for task in range(5) for index in range(2)]
    rows.append(rollout(9, 0, reward=1.0))
    content = lines([label("1"), label("3")])
    results, _ = analyzed_by_command(tmp_path, {"a_rollouts.jsonl": rows, "labels.jsonl": content})
    counts = "select n_labelled, n_to_label from report.headlines"
    assert results.rows(counts) == [(2, 5)]
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "Causes given by a person: 2 of 5 tasks of `a` that do not always pass." in text


@pytest.mark.slow
def test_without_labels(tmp_path: Path) -> None:
    """No file, or none that says anything: the relation is there, and empty."""
    results = analyzed(tmp_path, {**runs(), "labels.jsonl": "\n\n"})
    assert results.one("select count(*) from labels") == 0
    types = dict(results.rows("select column_name, column_type from (describe labels)"))
    assert (types["evidence"], types["source_line"]) == ("VARCHAR[]", "BIGINT")
    assert results.one("select count(*) from rejects") == 0


@pytest.mark.slow
def test_hostile_text(tmp_path: Path) -> None:
    """Notes are kept to a bound, and what a label says is inert wherever it is printed."""
    long = EVIL + "x" * labels.LONGEST_TEXT
    rows = [
        label(0, note=long, by=EVIL),
        label(1, note="\x00 \ud800", by="\udfff"),
        label(EVIL),
        label(2, EVIL),
        label(2, evidence=f"a/{EVIL}:0"),
        label("\ud800", evidence="a/\ud800:0"),
        label(2, intervention="x" * 100_000),
    ]
    results, message = analyzed_by_command(tmp_path, {**runs(), "labels.jsonl": rows})
    assert not TERMINAL_ACTIVE.search(message.stdout + message.stderr)
    assert results.rows("select note, said_by from labels") == [
        (long[: labels.LONGEST_TEXT], EVIL),
        ("\x00 \\ud800", "\\udfff"),
    ]
    assert sorted(reasons(results)) == [3, 4, 5, 6, 7]
    assert max(map(len, reasons(results).values())) < 600
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert ACTIVE not in report and "<script>" not in report
    printed = call("sql", "from labels", "--warehouse", results.path).stdout
    assert not TERMINAL_ACTIVE.search(printed)


@pytest.mark.slow
def test_over_long_lines(tmp_path: Path) -> None:
    """The limit on a line holds for labels too."""
    files = {**runs(), "labels.jsonl": [label(0, note="x" * 2000), label(1)]}
    inputs = (write(tmp_path / "results", files),)
    with only("labels", "rejects"):
        run(Settings(results=inputs, out=tmp_path / "out", max_line_bytes=1000))
    results = Results(tmp_path / "out")
    assert reasons(results) == {1: "line is longer than 1000 bytes"}
    assert results.column("select task_id from labels") == ["1"]
