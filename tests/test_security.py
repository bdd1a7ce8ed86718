"""Rollouts are untrusted and queries are locked down: neither reaches the machine."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import pyarrow.parquet
import pytest

import pipeline
from pipeline.answers.recomputed import Pair, compare
from pipeline.cli import terminal
from tests import results as written
from tests.case_files import cases
from tests.lean import CHECKED, LOADED, all_empty_but, only, without_pages
from tests.results import BLADE, Outcome, Results, call, lines, opened, rollout, write

analyzed = partial(written.analyzed, needs=LOADED)

# Colour, a link, a C1 control, a bidi override, an invisible character, a bell, a backspace.
ACTIVE = "\x1b[31m\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\\x9b31m\u202egnp.exe\u200b\x07\b"
MARKUP = "[red]x[/red] | `code` **bold** <script>alert(1)</script> [a](javascript:b) \\| # h"
EVIL = f"{ACTIVE} {MARKUP}\n# line\ttab \"double\" 'single'"
# What a terminal may act on: everything but newline and tab.
TERMINAL_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e]")
FILE_NAME = "e\x1b[31mvil [red]_rollouts.jsonl"
TASK_ID = f"a/b:c#7 {EVIL}"


@dataclass(frozen=True)
class Evil(Results):
    """A run in which every text that can be hostile is, and what its analysis printed."""

    path: Path
    outcome: Outcome


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Evil:
    """Analyzed once, from the command line."""
    items = [
        {"type": "function_call", "name": EVIL, "call_id": EVIL, "arguments": EVIL},
        {"type": "function_call_output", "call_id": EVIL, "output": EVIL},
        {"type": "message", "role": "user", "content": EVIL},
        {"type": EVIL, "payload": EVIL},
        {"type": "message", "role": "assistant", "content": EVIL},
    ]
    fields = {"task_id": TASK_ID, f"verdict {EVIL}": EVIL}
    row = rollout(None, 0, ask=EVIL, agent=EVIL, model=EVIL, output=items, **fields)
    row["response"] |= {"status": EVIL, "incomplete_details": {"reason": EVIL}}
    folder = tmp_path_factory.mktemp("evil")
    results = write(folder / "results", {FILE_NAME: lines([row]) + f"not JSON {ACTIVE}\n"})
    with without_pages(), all_empty_but(*CHECKED, "assertions.warn"):
        outcome = call("analyze", results, "--out", folder / "out")
    return Evil(folder / "out" / "warehouse.duckdb", outcome)


@pytest.fixture(scope="module")
def citation(evil: Results) -> str:
    """The one rollout's."""
    return f"{evil.one('select run_id from runs')}/{TASK_ID}:0"


def test_all_that_a_page_prints_is_inert() -> None:
    """By every way a template has to print a text: bare, bold, wrapped, a label, a cell, a note."""
    source = """{{ x }}{{ x | bold }}{% filter wrap(x) %}{{ x ~ x }}{% endfilter %}
{% filter table %}
{{ cells(x, "b") }}
{{ cells(x, 1) }}
{% filter note %}{{ x }}{% endfilter %}
{% endfilter %}{{ {"text": x, "n_characters": 1} | block(indent=2, most_lines=9) }}"""
    page = click.unstyle(terminal._environment().from_string(source).render(x=EVIL * 9))
    assert not TERMINAL_ACTIVE.search(page) and "\n# line" not in page
    assert "\\x1b[31m" in page


FORBIDDEN = cases("security", "forbidden")


@pytest.fixture(scope="module")
def outside(evil: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is none of a query's business: a secret, and another warehouse."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret.json").write_text('{"token": "hunter2"}')
    shutil.copy(evil.path, folder / "other.duckdb")
    return folder


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_a_query_reads_and_writes_nothing_else(
    evil: Results, outside: Path, statement: str
) -> None:
    """Other files, other databases, extensions, settings and changes are all refused."""
    secret, other = outside / "secret.json", outside / "other.duckdb"
    before = evil.path.stat()
    query = statement.format(secret=secret, other=other, folder=outside)

    outcome = call("sql", query, "--warehouse", evil.path)
    assert outcome.code == 2
    assert outcome.stderr.startswith("blade: ")
    assert "hunter2" not in outcome.stdout + outcome.stderr
    assert outcome.stdout == ""
    with pytest.raises(pipeline.UsageError):
        opened(evil.path).sql(query)
    assert sorted(path.name for path in outside.iterdir()) == ["other.duckdb", "secret.json"]
    after = evil.path.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)


def test_a_warehouse_asked_once_more_is_locked_down(demo: Path, tmp_path: Path) -> None:
    """A comparison asked for opens it again; then no file can be read or written, nothing set."""
    pair = Pair("quick_math", "quick_math_birch-70b", "quick_math_aster-8b", True, 0.02)
    with compare(demo, [pair]) as again:
        for query in (
            f"from read_text('{demo.parent / 'manifest.json'}')",
            f"from '{demo.parent / 'metrics.json'}'",
            f"copy (select 1) to '{tmp_path / 'x.csv'}'",
            f"attach '{tmp_path / 'x.duckdb'}'",
            "set enable_external_access = true",
            "create table x (i int)",
            "delete from runs",
        ):
            with pytest.raises(pipeline.UsageError):
                again.execute(query)
    assert list(tmp_path.iterdir()) == []


def test_python_variables_are_not_relations(evil: Results) -> None:
    """A query cannot reach into the process that runs it."""
    frame = pyarrow.table({"token": ["hunter2"]})
    with pipeline.open_warehouse(evil.path) as warehouse, pytest.raises(pipeline.UsageError):
        warehouse.sql("from frame")
    assert frame.num_rows == 1


EVERYTHING = """
    select task_id, agent, model, rollouts.status, finish_reason, final_text, source_file, prompt,
        tool, arguments, text, [text] as listed, map {'k': text} as mapped
    from rollouts
    join events using (run_id, task_id, rollout_index)
    join task_prompts using (run_id, task_id)
    order by seq
"""


@pytest.mark.parametrize("format_", ["table", "markdown", "json", "jsonl"])
def test_rows_are_inert_in_every_format(evil: Results, format_: str) -> None:
    """No character that a terminal acts on is printed, with anything in a rollout."""
    outcome = call("sql", EVERYTHING, "--warehouse", evil.path, "--format", format_)
    assert outcome.code == 0
    assert not TERMINAL_ACTIVE.search(outcome.stdout)


def test_markdown_cells_stay_cells(evil: Results) -> None:
    """Every row has as many unescaped pipes as its header; no tag, link or code is left."""
    outcome = call("sql", EVERYTHING, "--warehouse", evil.path, "--format", "markdown")
    table = outcome.stdout.splitlines()
    assert len(table) == 2 + 5  # header, rule, and a row an event
    pipes = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table}
    assert pipes == {14}
    for active in (r"(?<!\\)<", r"(?<!\\)`", r"(?<!\\)\[", r"(?<!\\)\*"):
        assert not re.search(active, outcome.stdout.replace("\\\\", ""))


def test_markdown_links_no_bare_address(evil: Results) -> None:
    """An address in a rollout is text, in the Markdown that links bare ones too."""
    query = "select 'see https://evil.example and www.evil.example' as x"
    outcome = call("sql", query, "--warehouse", evil.path, "--format", "markdown")
    assert not re.search(r"(?<![\\\w])(https?://|www\.)", outcome.stdout)


def _on_a_terminal(*arguments: str | Path) -> str:
    """What the command prints when its output is a terminal."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen([BLADE, *arguments], stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    printed = b""
    try:
        while part := os.read(ours, 1 << 16):
            printed += part
    except OSError:
        pass  # Linux reports the other end's closing so
    finally:
        running.wait(timeout=30)
        os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def test_csv_is_inert_on_a_terminal_and_exact_in_a_file(evil: Results, tmp_path: Path) -> None:
    """A person sees escapes; a program reads what the rollout holds."""
    query = "select task_id, final_text from rollouts"
    arguments = ("sql", query, "--warehouse", evil.path, "--format", "csv")
    assert not TERMINAL_ACTIVE.search(_on_a_terminal(*arguments))
    call(*arguments, "--out", tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["task_id", "final_text"], [TASK_ID, EVIL]]


def test_errors_that_quote_a_rollout_are_inert(evil: Results) -> None:
    """An error that quotes untrusted text shows it with escapes."""
    outcome = call("sql", "select final_text::int from rollouts", "--warehouse", evil.path)
    assert outcome.code == 2
    assert not TERMINAL_ACTIVE.search(outcome.stderr)


def test_show_is_inert(evil: Results, citation: str) -> None:
    """Prompt, events, tool names, verifier fields and file name of a hostile rollout."""
    outcome = call("show", citation, "--warehouse", evil.path, "--full")
    assert outcome.code == 0
    # The headings are bold where the output is a terminal; here it is none.
    assert not TERMINAL_ACTIVE.search(outcome.stdout)
    assert "alert(1)" in outcome.stdout
    listing = call("show", citation, "--warehouse", evil.path, "--json").stdout
    assert not TERMINAL_ACTIVE.search(listing)
    shown = json.loads(listing)
    assert shown["source_file"] == FILE_NAME
    assert [event["text"] for event in shown["events"]][1] == EVIL
    assert shown["prompts"]["prompt"] == EVIL


def test_a_summary_is_inert(evil: Evil) -> None:
    """File names, agents and rejects of the results are printed by the analysis itself."""
    assert evil.outcome.code == 0
    assert not TERMINAL_ACTIVE.search(evil.outcome.stdout + evil.outcome.stderr)
    assert "1 of 2 lines could not be used" in evil.outcome.stderr


def test_a_command_that_is_suggested_is_safe_to_run(tmp_path: Path) -> None:
    """A hint may be pasted into a shell: a file's name must not become a command."""
    name = "$(touch pwned)_rollouts.jsonl"
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / name).write_text("not JSON\n")
    with only(*CHECKED):
        analysis = pipeline.analyze(folder, out=tmp_path / "out")
    (hint,) = (warning.hint for warning in analysis.warnings if warning.hint)
    stub = 'blade() { printf "%s" "$2" >printed; }; '
    subprocess.run(["sh", "-c", stub + hint], cwd=tmp_path, check=True, timeout=10)
    assert not (tmp_path / "pwned").exists()
    assert (tmp_path / "printed").read_text().startswith("from rejects")


TASK_IDS = ["plain", "a/b", "a:1", "a/b:2:3", "x#4", "x:0#4", "tab\tid", "new\nline", 'it\'s "q"']


@pytest.fixture(scope="module")
def odd_ids(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run whose task ids hold what citations are made of, and one whose names forge lines."""
    rows = [
        rollout(None, index, ask=task, task_id=task, reward=float(index))
        for task in TASK_IDS
        for index in (0, 1)
    ]
    forged = "m\nreward 1 (passed)\n\n#2 tool_result\n  all tests pass"
    call_item = {"type": "function_call", "name": forged, "call_id": "c", "arguments": "{}"}
    forging = [rollout(0, 0, reward=0.0, model=forged, output=[call_item])]
    files = {"r_rollouts.jsonl": rows, "forging_rollouts.jsonl": forging}
    return analyzed(tmp_path_factory.mktemp("odd"), files)


def test_a_name_cannot_forge_a_line(odd_ids: Results) -> None:
    """What a rollout calls its model, status or tool stays on the line it is printed on."""
    shown = call("show", "forging/0:0", "--warehouse", odd_ids.path).stdout.splitlines()
    assert shown and not {"reward 1 (passed)", "#2 tool_result"} & {*shown}


@pytest.mark.parametrize("task", TASK_IDS)
def test_citations_find_tasks_with_odd_ids(odd_ids: Results, task: str) -> None:
    """The run ends at the first slash, the index is the digits after the last colon."""
    for index in (0, 1):
        outcome = call("show", f"r/{task}:{index}#1", "--warehouse", odd_ids.path, "--json")
        shown = json.loads(outcome.stdout)
        assert (shown["task_id"], shown["reward"]) == (task, float(index))
        assert [event["seq"] for event in shown["events"]] == [1]


def test_values_are_bound(odd_ids: Results) -> None:
    """A citation is never taken for SQL."""
    outcome = call("show", "r/x' or true --:0", "--warehouse", odd_ids.path)
    assert outcome.code == 2
    assert "no such task" in outcome.stderr
