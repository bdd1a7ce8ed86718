"""The command line: exit codes, messages, formats, the prompt, and names that a shell offers."""

from __future__ import annotations

import csv
import fcntl
import importlib
import io
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import click
import duckdb
import pyarrow.parquet
import pytest

from pipeline.cli import COMMANDS
from pipeline.cli import blade as commands
from pipeline.cli.analyze import brief_warnings
from pipeline.errors import UsageError, matching, resolved
from pipeline.ingest import discover
from pipeline.warehouse.relations import Notice
from tests.case_files import cases
from tests.conftest import ROOT
from tests.lean import without_pages
from tests.results import BLADE, Outcome, Results, analyzed, blade, call, lines, rollout, write


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two tasks of one run."""
    rows = [rollout(0, 0, reward=1.0), rollout(1, 0, reward=0.0)]
    with without_pages():
        return analyzed(tmp_path_factory.mktemp("cli"), {"a_rollouts.jsonl": rows})


def _sql(results: Results, *arguments: str | Path, stdin: str = "") -> Outcome:
    return call("sql", *arguments, "--warehouse", results.path, stdin=stdin)


def _refused(outcome: Outcome, code: int, *parts: str) -> None:
    """Nothing on stdout, every part in the message, and the exit code that says whose fault."""
    assert (outcome.code, outcome.stdout) == (code, "")
    for part in parts:
        assert part in outcome.stderr


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        (None, ["no such file or folder", "Name"]),
        ({}, ["contains no files", "Looked for", ".jsonl"]),
        ({"x.txt": "hi", "y.log": "hi"}, ["no rollouts found", "1 log", "1 other", "Looked for"]),
        ({"a_materialized_inputs.jsonl": "{}\n"}, ["no rollouts found", "1 inputs"]),
    ],
)
def test_a_folder_without_rollouts_cannot_be_used(
    tmp_path: Path, files: dict[str, str] | None, parts: list[str]
) -> None:
    """Exit code 3; the message says what was found and what was looked for."""
    folder = tmp_path / "results"
    if files is not None:
        folder.mkdir()
        write(folder, files)
    outcome = call("analyze", folder, "--out", tmp_path / "out")
    _refused(outcome, 3, f"{folder}: ", *parts)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "content"), cases("cli", "a_file_that_holds_no_results_cannot_be_used")
)
def test_a_file_that_holds_no_results_cannot_be_used(
    tmp_path: Path, name: str, content: str
) -> None:
    """Exit code 3 and what was looked for; the same rows in a file of any name are read."""
    path = write(tmp_path, {name: content}) / name
    outcome = call("analyze", path, "--out", tmp_path / "out")
    _refused(outcome, 3, f"{name}: no rollouts found", "it is: other", "Looked for", "JSON object")
    assert not (tmp_path / "out").exists()
    path.write_text(lines([rollout(0, 0)]), encoding="utf-8")
    (found,) = discover.artifacts((path,))
    assert found.kind == "rollouts"


# Root may read anything: then the command, once imported, goes on as nobody.
AS_A_PERSON = """
import encodings.unicode_escape, os, pydoc, unicodedata
import pipeline.cli.analyze, pipeline.run
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
pipeline.cli.main()
"""


@pytest.mark.parametrize(
    ("closed", "codes", "parts"),
    [
        ("results", [3], ["results: cannot be read", "permissions"]),
        pytest.param("results/closed", [0, 3], ["closed"], marks=pytest.mark.slow),
    ],
)
def test_a_folder_that_may_not_be_read_is_reported(
    closed: str, codes: list[int], parts: list[str]
) -> None:
    """With what to look at; a run behind closed doors is not silently left out."""
    if any(not parent.stat().st_mode & 0o001 for parent in ROOT.parents):
        pytest.skip("the project lies where only its owner may read it")
    rows = [rollout(0, 0)]
    # Another session of pytest closes the folders of this one while it runs.
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = write(Path(place) / "results", {"a_rollouts.jsonl": rows, "closed/b.jsonl": rows})
        out = Path(place) / "out"
        out.mkdir()
        out.chmod(0o777)
        (Path(place) / closed).chmod(0o000)
        command = [sys.executable, "-c", AS_A_PERSON, "analyze", folder, "--out", out]
        ended = subprocess.run(command, capture_output=True, timeout=60, text=True)
        (Path(place) / closed).chmod(0o755)
    assert ended.returncode in codes and (ended.returncode == 0 or not ended.stdout)
    assert all(part in ended.stderr for part in parts)


def test_an_output_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    """Exit code 3, and which option to change."""
    folder = write(tmp_path / "results", {"a_rollouts.jsonl": [rollout(0, 0)], "file": "x"})
    outcome = call("analyze", folder, "--out", folder / "file" / "out")
    _refused(outcome, 3, "cannot be written", "--out")


@pytest.mark.parametrize(("arguments", "parts"), cases("cli", "wrong_calls_say_what_is_wrong"))
def test_wrong_calls_say_what_is_wrong(
    tmp_path: Path, arguments: list[str], parts: list[str]
) -> None:
    """Exit code 2 before anything is written."""
    rows = [rollout(0, 0)]
    write(tmp_path, {"x_rollouts.jsonl": rows, "y.jsonl": rows, "empty/notes.md": "none"})
    out = tmp_path / "out"
    given = [argument.format(folder=tmp_path) for argument in arguments]
    outcome = call(*given, *(["--out", out] if arguments[0] == "analyze" else []))
    _refused(outcome, 2, *parts)
    assert not out.exists()


@pytest.mark.slow
def test_analyze_prints_its_result_and_keeps_warnings_apart(tmp_path: Path) -> None:
    """Inventory, runs and what to run next on stdout; warnings on stderr; the same as JSON."""
    rows = lines([rollout(0, 0, reward=1.0), rollout(1, 0, reward=0.5)]) + "{broken\n"
    folder = write(tmp_path / "results", {"a_rollouts.jsonl": rows, "notes.md": "n"})
    outcome = call("analyze", folder, "--out", tmp_path / "out")
    assert outcome.code == 0
    for part in ("2 files, 2 rollouts", "0.75", "blade sql", str(tmp_path / "out")):
        assert part in outcome.stdout
    assert "could not be used" in outcome.stderr and "could not be used" not in outcome.stdout
    assert "\x1b" not in outcome.stdout + outcome.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        "metrics.json",
        "report.html",
        "report.md",
        "runs",
        "warehouse.duckdb",
    ]

    with without_pages():
        content = json.loads(call("analyze", folder, "--out", tmp_path / "out", "--json").stdout)
    (run,) = content["runs"]
    assert run["run_id"] == "a"
    assert [kind["kind"] for kind in content["inventory"]] == ["notes", "rollouts"]
    counts = [run[name] for name in ("total_tasks", "total_rollouts", "scored_rollouts")]
    assert counts == [2, 2, 2]
    assert (run["mean_reward"], run["expected_rollouts"], run["coverage"]) == (0.75, None, None)
    assert [warning["check"] for warning in content["warnings"]] == ["warn_rejects"]


@pytest.mark.parametrize(("arguments", "parts"), cases("cli", "wrong_queries_say_what_is_wrong"))
def test_wrong_queries_say_what_is_wrong(
    results: Results, tmp_path: Path, arguments: list[str], parts: list[str]
) -> None:
    """Exit code 2, with a suggestion where there is one."""
    query = tmp_path / "query.sql"
    query.write_text("select 1")
    outcome = _sql(results, *(argument.format(query=query) for argument in arguments))
    assert (outcome.code, outcome.stdout) == (2, "")
    for part in parts:
        assert part.lower() in outcome.stderr.lower()


def test_a_query_file_that_is_no_text_is_refused(results: Results, tmp_path: Path) -> None:
    """A query file must be UTF-8."""
    (tmp_path / "query.sql").write_bytes(b"\xff\xfe")
    _refused(_sql(results, "-f", tmp_path / "query.sql"), 2, "query.sql")


def test_a_query_that_fails_late_leaves_the_file_whole(results: Results, tmp_path: Path) -> None:
    """An error in row 150,000 is an error: no traceback, and the previous output stays."""
    out = tmp_path / "rows.csv"
    out.write_text("previous\n")
    query = "select case when i = 150000 then error('late') else i end from range(200000) t(i)"
    outcome = _sql(results, query, "--format", "csv", "--out", out)
    _refused(outcome, 2, "late")
    assert out.read_text() == "previous\n"


def test_an_output_that_cannot_be_written_is_reported(results: Results, tmp_path: Path) -> None:
    """Exit code 3, for text and for Parquet."""
    for format_ in ("csv", "parquet"):
        out = tmp_path / "absent" / "rows"
        outcome = _sql(results, "from runs", "--format", format_, "--out", out)
        _refused(outcome, 3, "cannot be written")


TYPED = (
    "select 1 as n, 0.1::double + 0.2 as f, true as b, 'x|y' as t, null as nothing,"
    " [1, 2] as l, {'k': 'v'} as s, '{\"a\": [1]}'::json as j"
)


@pytest.mark.parametrize("format_", ["json", "jsonl"])
def test_json_keeps_types(results: Results, format_: str) -> None:
    """Numbers, null, lists, structs and JSON columns come back as they were."""
    outcome = _sql(results, TYPED, "--format", format_)
    row = json.loads(outcome.stdout)[0] if format_ == "json" else json.loads(outcome.stdout)
    expected = {"n": 1, "f": 0.1 + 0.2, "b": True, "t": "x|y", "nothing": None}
    assert row == {**expected, "l": [1, 2], "s": {"k": "v"}, "j": {"a": [1]}}
    empty = _sql(results, "from runs where false", "--format", format_).stdout
    assert json.loads(empty or "[]") == []


def test_text_formats_round_trip(results: Results, tmp_path: Path) -> None:
    """CSV, Markdown and Parquet hold the same two rows; --out prints nothing."""
    query = "select task_id, reward from rollouts order by all"
    printed = _sql(results, query, "--format", "csv").stdout
    assert list(csv.reader(io.StringIO(printed))) == [
        ["task_id", "reward"],
        ["0", "1.0"],
        ["1", "0.0"],
    ]
    assert _sql(results, "select 'x|y' as t", "--format", "markdown").stdout == (
        "| t |\n| --- |\n| x\\|y |\n"
    )
    out = tmp_path / "rows.parquet"
    outcome = _sql(results, query, "--format", "parquet", "--out", out)
    assert (outcome.code, outcome.stdout, outcome.stderr) == (0, "", "")
    assert pyarrow.parquet.read_table(out).to_pylist() == [
        {"task_id": "0", "reward": 1.0},
        {"task_id": "1", "reward": 0.0},
    ]
    table = _sql(results, query).stdout.split()
    assert table[:2] == ["task_id", "reward"] and table[-4:] == ["0", "1", "1", "0"]


def test_the_schema_of_one_relation(results: Results) -> None:
    """By its name or a part of it; a query is no relation."""
    outcome = _sql(results, "--schema", "task_outc").stdout
    assert outcome.startswith("task_outcomes  ") and "\n\n" not in outcome
    _refused(_sql(results, "--schema", "from runs"), 2, "from runs: no such relation")
    rows = json.loads(_sql(results, "--schema", "runs", "--format", "json").stdout)
    assert {row["relation"] for row in rows} == {"runs"}


def test_missing_and_broken_warehouses_are_reported(results: Results, tmp_path: Path) -> None:
    """Absent, no database, cut short, or one of someone else: exit code 3, and how to make one."""
    broken, half, foreign = (tmp_path / f"{name}.duckdb" for name in ("broken", "half", "foreign"))
    broken.write_bytes(b"this is no database" * 1000)
    half.write_bytes(results.path.read_bytes()[:500_000])
    duckdb.connect(str(foreign)).execute("create table t as select 1").close()
    for command in (["sql", "from runs"], ["show", "a/0:0"], ["compare"], ["compare", "--series"]):
        for path, part in [
            (tmp_path / "none.duckdb", "no warehouse here"),
            (tmp_path, "no warehouse here"),
            (broken, "cannot be opened"),
            (half, ""),
            (foreign, ""),
        ]:
            _refused(call(*command, "--warehouse", path), 3, part, "blade analyze")


def test_a_warehouse_with_free_blocks_at_its_end_is_whole(tmp_path: Path) -> None:
    """DuckDB counts blocks of a dropped table that it has cut off the file."""
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect() as db:
        db.execute(f"attach '{path}' as warehouse (recovery_mode no_wal_writes); use warehouse")
        db.execute("create schema raw")
        db.execute("create table raw.events as select hash(range) from range(500000)")
        db.execute("create table dropped as select hash(range) from range(500000)")
        db.execute("create table runs as select 'a' as run_id")
        db.execute("drop table dropped; use memory; detach warehouse")
    with duckdb.connect(str(path), read_only=True) as db:
        ((n_bytes,),) = db.execute(
            "select block_size * total_blocks from pragma_database_size()"
        ).fetchall()
    assert path.stat().st_size < n_bytes
    assert call("sql", "from runs", "--warehouse", path).stdout.split()[0] == "run_id"


def test_the_warehouse_is_found_from_the_current_folder(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """blade_out here, the folder itself, then those above; a folder may be named; hints agree."""
    out = tmp_path / "blade_out"
    out.symlink_to(results.path.parent)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for folder, arguments in (
        (tmp_path, []),
        (out, []),
        (tmp_path / "deep" / "er", []),
        (tmp_path / "deep", ["--warehouse", "../blade_out"]),
    ):
        monkeypatch.chdir(folder)
        outcome = call("why", "a/1", *arguments)
        assert outcome.code == 0 and "\n      blade failures a\n" in outcome.stdout, folder
    monkeypatch.chdir(tmp_path)
    shutil.copytree(results.path.parent, tmp_path / "other one")
    outcome = call("why", "a/1", "--warehouse", "other one")
    assert "blade failures a --warehouse 'other one'\n" in outcome.stdout


NAMES = ["office_a-8b", "office_b", "math_A-8b", "step_100", "step_1000", "task_17", "x7"]


@pytest.mark.parametrize(("given", "found"), cases("cli", "names_may_be_given_in_part"))
def test_names_may_be_given_in_part(given: str, found: list[str]) -> None:
    """Exact, then by a beginning, then by a part; never by a piece of a number."""
    assert matching(given, NAMES) == found
    if len(found) == 1:
        assert resolved("run", given, NAMES) == found[0]
        return
    with pytest.raises(UsageError) as refused:
        resolved("run", given, NAMES)
    assert f"{len(found)} runs match" in str(refused.value) or not found
    assert all(name in refused.value.hint for name in found)


@pytest.mark.parametrize(
    "command",
    [
        *("show desk_as/3:0", "why desk_as/3", "health desk_as"),
        *(
            pytest.param(command, marks=pytest.mark.slow)
            for command in (
                *("failures desk_as", "metrics desk_as", "plan desk_as", "plan desk_as desk_bi"),
                *("compare desk_as bir --json", "report --run desk_as --sections reprod"),
            )
        ),
    ],
)
def test_every_command_takes_a_part_of_a_name(demo: Path, command: str) -> None:
    """One resolver for all of them: a run of which one part is enough, and two that are meant."""
    outcome = call(*command.split(), "--warehouse", demo.parent)
    assert outcome.code == 0 and "office_desk_aster-8b" in outcome.stdout, outcome.stderr
    wrong = call(*command.replace("desk_as", "aster").split(), "--warehouse", demo)
    _refused(wrong, 2, "aster", "2 runs match", "office_desk_aster-8b, quick_math_aster-8b")


@pytest.mark.parametrize(("citation", "parts"), cases("cli", "broken_citations_say_what_there_is"))
def test_broken_citations_say_what_there_is(
    results: Results, citation: str, parts: list[str]
) -> None:
    """Exit code 2, with the nearest thing that exists."""
    _refused(call("show", citation, "--warehouse", results.path), 2, *parts)


@pytest.mark.parametrize("command", ["show", "why"])
def test_a_malformed_citation_is_a_wrong_call(command: str, tmp_path: Path) -> None:
    """Whether or not there is a warehouse; a good one without a warehouse lacks its input."""
    absent = ("--warehouse", tmp_path / "none")
    _refused(call(command, "nonsense", *absent), 2, "nonsense", "is not RUN/TASK")
    _refused(call(command, "a/0:0", *absent), 3, "no warehouse here")


def test_show_prints_a_rollout(results: Results) -> None:
    """Prompt, events, reward, source; as JSON too."""
    outcome = call("show", "a/1:0", "--warehouse", results.path)
    for part in ("a/1:0", "reward 0 (failed)", "a_rollouts.jsonl:2", "question 1", "done"):
        assert part in outcome.stdout
    shown = json.loads(call("show", "a/1:0", "--json", "--warehouse", results.path).stdout)
    assert (shown["reward"], shown["is_pass"], shown["source_line"]) == (0.0, False, 2)
    assert [event["text"] for event in shown["events"]] == ["done"]


def test_help_waits_for_no_library() -> None:
    """`blade --help` imports none of the heavy ones."""
    heavy = {"duckdb", "numpy", "polars", "pyarrow", "rich"}
    code = (
        "import sys; sys.argv = ['blade', '--help']\n"
        "from pipeline.cli import main\n"
        "try: main()\n"
        "except SystemExit: print('loaded', *sorted(sys.modules), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    loaded = ended.stderr.split()
    assert loaded[0] == "loaded"
    assert heavy.isdisjoint(loaded)


@pytest.mark.parametrize(
    "format_", ["csv", *(pytest.param(name, marks=pytest.mark.slow) for name in ("jsonl", "table"))]
)
def test_a_reader_that_stops_early_sees_no_traceback(results: Results, format_: str) -> None:
    """`blade sql ... | head -1` prints its line and nothing on stderr."""
    query = "select repeat('x', 70) as x from range(900) a, range(100) b"
    options = ("--format", format_, "--warehouse", results.path)
    ended = subprocess.run(
        ["sh", "-c", '"$@" | head -1', "sh", BLADE, "sql", query, *options],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert len(ended.stdout.splitlines()) == 1
    assert "Traceback" not in ended.stderr and "Error" not in ended.stderr


class Prompt:
    """`blade sql` on a terminal of its own."""

    def __init__(self, warehouse: Path, state: Path) -> None:
        self.printed = ""
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "dumb"}
        self._running = subprocess.Popen(
            [BLADE, "sql", "--warehouse", warehouse],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            # Ctrl-C and Ctrl-D need a controlling terminal.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.wait_for("blade> ")

    def wait_for(self, text: str) -> str:
        """What was printed up to the text."""
        deadline = time.monotonic() + 15
        while text not in self.printed:
            ready, _, _ = select.select([self._ours], [], [], deadline - time.monotonic())
            assert ready, f"no {text!r} in {self.printed!r}"
            self.printed += os.read(self._ours, 1 << 16).decode()
        before, _, self.printed = self.printed.partition(text)
        return before

    def type(self, text: str, *, until: str = "blade> ") -> str:
        """Type, and return what is printed until the prompt is back."""
        os.write(self._ours, text.encode())
        return self.wait_for(until)

    def leave(self) -> int:
        """Ctrl-D; the exit code."""
        os.write(self._ours, b"\x04")
        code = self._running.wait(timeout=15)
        os.close(self._ours)
        return code

    def kill(self) -> None:
        """In any state."""
        if self._running.poll() is None:
            self._running.kill()
            self._running.wait()


@pytest.fixture
def prompt(results: Results, tmp_path: Path):
    """A prompt that is ended with the test."""
    opened = Prompt(results.path, tmp_path)
    yield opened
    opened.kill()


def test_the_prompt_answers_and_forgives(prompt: Prompt, tmp_path: Path) -> None:
    """A query, one of several lines, a mistake, Ctrl-C, the history, and Ctrl-D."""
    assert "42" in prompt.type("select 40 + 2 as x;\n")
    prompt.type("select\n", until="...> ")
    assert "77" in prompt.type("70 + 7 as y;\n")
    assert "Did you mean rollouts?" in prompt.type("from rollots;\n")
    assert "rejects" in prompt.type(".schema\n")
    prompt.type("half a quer", until="quer")
    time.sleep(0.2)  # Python's line editor misses a signal that comes while it handles a key
    prompt.type("\x03")
    # Two lines up is the query before .schema: the mistake again.
    assert "Did you mean rollouts?" in prompt.type("\x1b[A\x1b[A\n")
    assert prompt.leave() == 0
    history = (tmp_path / "blade" / "history").read_text().splitlines()
    assert history[0] == "select 40 + 2 as x;"


@pytest.mark.slow
def test_ctrl_c_ends_the_query_and_not_the_prompt(prompt: Prompt) -> None:
    """A query that takes too long can be left."""
    query = "select sum(a.range * b.range) from range(1000000) a, range(1000000) b;\n"
    prompt.type(query, until="b;")
    time.sleep(0.5)
    outcome = prompt.type("\x03")
    assert "Traceback" not in outcome


@pytest.mark.parametrize("wrapped", [None, ValueError("a library's own"), SystemExit(1)])
def test_an_interrupt_ends_with_130_however_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapped: BaseException | None
) -> None:
    """Ctrl-C in a query, in rendering or in a library that makes an error of its own of it."""

    def interrupted(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise wrapped or KeyboardInterrupt from None

    # Where tests run in the background it is ignored.
    monkeypatch.setattr("pipeline.run.report.check_templates", interrupted)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ended = call("analyze", tmp_path)
    assert ended.code == 130 and "blade: interrupted" in ended.stderr
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_waits_for_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries abort where it strikes while they are imported."""
    (tmp_path / "slow_library.py").write_text(
        "import signal\nsignal.raise_signal(signal.SIGINT)\nis_whole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    seen = []

    def importing(*_: object, **__: object) -> None:
        seen.append(importlib.import_module("slow_library").is_whole)
        time.sleep(30)

    monkeypatch.setattr("pipeline.run.report.check_templates", importing)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert call("analyze", tmp_path).code == 130 and seen == [True]


def test_an_interrupt_while_stdin_is_read(results: Results) -> None:
    """Exit code 130, and no traceback."""
    command = [BLADE, "sql", "--warehouse", results.path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        assert running.stderr is not None and b"Traceback" not in running.stderr.read()


def test_arguments_that_are_no_text() -> None:
    """Of every command, as what is named and as the value of every option: exit code 2."""
    for name in COMMANDS:
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        options = [each.opts[0] for each in command.params if isinstance(each, click.Option)]
        for before in ([], *([option] for option in options)):
            ended = call(name, *before, "\udcff")
            assert (ended.code, ended.stdout) == (2, "") and "not UTF-8" in ended.stderr
    assert blade("analyze", os.fsdecode(b"\xff")).code == 2


def test_queries_come_from_arguments_files_and_stdin(results: Results, tmp_path: Path) -> None:
    """All three ask the same."""
    (tmp_path / "q.sql").write_text("select 42 as x")
    for arguments, stdin in [
        (["select 42 as x"], ""),
        (["-f", str(tmp_path / "q.sql")], ""),
        ([], "select 42 as x;\n"),
    ]:
        assert _sql(results, *arguments, "--format", "csv", stdin=stdin).stdout == "x\n42\n"
    _refused(_sql(results), 2, "the query is empty")


@pytest.mark.slow
def test_output_survives_a_terminal_without_unicode(results: Results) -> None:
    """Characters that the output cannot hold are replaced, not fatal."""
    outcome = blade(
        "sql",
        "select 'ō' as x",
        "--warehouse",
        results.path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (outcome.code, "Traceback" in outcome.stderr) == (0, False)


def test_warnings_of_a_kind_are_one_line() -> None:
    """Files that were not read come first; of many runs the one that lacks most is named."""
    warnings = [
        Notice("warn_a", f"run{n}", f"{n} of 25 rollouts have no usable reward", "look")
        for n in (3, 12, 9)
    ]
    warnings.append(Notice("warn_rejects", "x.jsonl", "not read: it is empty", ""))
    assert brief_warnings(warnings) == [
        ("x.jsonl", "not read: it is empty", ""),
        ("run12", "12 of 25 rollouts have no usable reward; 2 others like this", "look"),
    ]


def offered(words: str, folder: Path) -> list[str]:
    """What bash is offered for the last word."""
    environment = {
        **os.environ,
        "_BLADE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [str(BLADE)], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [line.removeprefix("plain,") for line in done.stdout.splitlines() if line]


@pytest.mark.slow
def test_runs_and_tasks_of_the_named_warehouse(demo: Path, tmp_path: Path) -> None:
    """Runs for a command about runs; runs, then the tasks of one, for a command about a task."""
    warehouse = f"--warehouse {demo.parent}"
    runs = ["quick_math_aster-8b", "quick_math_birch-70b"]
    assert offered(f"blade failures {warehouse} quick", tmp_path) == runs
    assert offered(f"blade why {warehouse} quick_math_b", tmp_path) == ["quick_math_birch-70b/"]
    tasks = offered(f"blade why {warehouse} quick_math_birch-70b/2", tmp_path)
    assert tasks == [f"quick_math_birch-70b/{task}" for task in (2, 20, 21, 22, 23, 24)]


@pytest.mark.slow
def test_nothing_where_there_is_no_warehouse(tmp_path: Path) -> None:
    assert offered(f"blade failures --warehouse {tmp_path} a", tmp_path) == []
    assert offered("blade failures a", tmp_path) == []


@pytest.mark.slow
def test_a_name_that_a_shell_would_run_is_not_offered(tmp_path: Path) -> None:
    """A shell inserts what it is offered unquoted."""
    results = tmp_path / "results"
    results.mkdir()
    rows = [
        {"task_id": task, "reward": 1.0, "response": {"output": []}}
        for task in ("plain", "p$(touch x)", "p;ls", "p q")
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (results / "a_rollouts.jsonl").write_text(lines)
    assert call("analyze", results, "--out", tmp_path / "blade_out").code == 0
    assert offered("blade why a/p", tmp_path) == ["a/plain"]


def test_commands_and_options(tmp_path: Path) -> None:
    """Nothing, and no message, where there is no such command."""
    assert offered("blade comp", tmp_path) == ["compare"]
    assert offered("blade compare --pol", tmp_path) == ["--policy"]
    assert offered("blade nothing --x", tmp_path) == []


@pytest.mark.slow
def test_of_very_many_runs_the_largest_are_printed(tmp_path: Path) -> None:
    """In their order, with how to ask for the others."""
    files = {
        f"run{number:02}_rollouts.jsonl": [
            rollout(task, 0, ask=f"{task}?") for task in range(1 + (number > 9))
        ]
        for number in range(45)
    }
    with without_pages():
        printed = call("analyze", write(tmp_path / "in", files), "--out", tmp_path / "out").stdout
    names = [line.split()[0] for line in printed.splitlines() if line.startswith("run0")]
    assert names == [f"run0{number}" for number in range(5)]
    assert 'Of 45 runs those with most rollouts; all: blade sql "from run_metrics"' in printed
