"""blade view: what its pages hold, who is answered, and what is written."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import duckdb
import pytest
from markupsafe import escape

import pipeline
from pipeline.answers import label_file
from pipeline.ingest.formats import labels as label_format
from pipeline.text import ACTIVE
from pipeline.view import labels, question
from pipeline.view.opened import Followed
from pipeline.view.prose import csv_text
from tests import hostile
from tests.case_files import cases
from tests.conftest import ROOT
from tests.results import BLADE, call, rows_of
from tests.transcript_files import PICTURE
from tests.viewed import Markup, Reader, viewed

ASTER, BIRCH = "office_desk_aster-8b", "office_desk_birch-70b"
FAILING = f"{ASTER}/0:0"
PAIR = f"{ASTER}/{BIRCH}"
MODE = "calendar_delete expected, not made as expected"


@pytest.fixture(scope="module")
def reader(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """The demo, with a file of labels that is not there yet."""
    with viewed(demo, tmp_path_factory.mktemp("labels") / "labels.jsonl") as actual:
        yield actual


@pytest.fixture
def own(demo: Path, tmp_path: Path) -> Iterator[Reader]:
    """The demo, with labels of this test alone."""
    with viewed(demo, tmp_path / "labels.jsonl") as actual:
        yield actual


def form(**fields: str) -> dict[str, str]:
    """A label of the first task."""
    return {"run": ASTER, "task": "0", "cause": "BI", **fields}


def tasks(reader: Reader, **query: str) -> list[str]:
    """The tasks of a matrix, in its order."""
    page = reader.get("/", benchmark="office_desk", **query)
    assert page.status == 200
    return re.findall(r'<th scope="row"><a href="/task[^"]*">([^<]*)</a>', page.text)


def test_the_matrix_has_every_task_and_run(reader: Reader, demo: Path) -> None:
    """Each task once, with passes of scored attempts in each run."""
    actual = tasks(reader, sort="task")
    assert actual == [str(number) for number in range(22)]
    page = reader.get("/", benchmark="office_desk")
    assert {ASTER, BIRCH} <= set(page.words.split())
    row = page.words[page.words.index("Uma up to and including") - 120 :]
    assert "sometimes 1/4 always 4/4" in row
    query = f"select pass_at_1 from run_metrics where run_id = '{ASTER}'"
    ((rate,),) = rows_of(demo, query)
    assert f"{100 * rate:.1f}%" in page.words


@pytest.mark.parametrize(("filters", "condition"), cases("view", "filters"))
def test_the_matrix_filters(
    reader: Reader, demo: Path, filters: dict[str, str], condition: str
) -> None:
    """By run, bucket, cause, mode, sign, slice and words: as SQL says, and each finds some."""
    rows = rows_of(
        demo,
        "select distinct task_id from task_outcomes as outcomes "
        "left join root_causes using (run_id, task_id) "
        f"where benchmark = 'office_desk' and {condition} order by try_cast(task_id as int)",
    )
    assert rows and tasks(reader, sort="task", **filters) == [name for (name,) in rows]
    assert tasks(reader, q="no such words") == []


def test_modes_lead_to_their_tasks(reader: Reader, demo: Path) -> None:
    """The first page lists them with failures and passes; each leads to its tasks, as do signs."""
    page = reader.get("/", benchmark="office_desk")
    ((n_failures, n_all, n_passes, n_all_passes, n_tasks),) = rows_of(
        demo,
        "select n_failures, n_failures_observed, n_passes, n_passes_observed, n_tasks "
        f"from failure_modes where mode = '{MODE}' and run_id is null",
    )
    row = f"{MODE} {n_failures} of {n_all} {n_passes} of {n_all_passes} {n_tasks} tested"
    assert row in page.words
    (rollouts, *_, link) = [each for each in page.links if f"mode={quote(MODE)}" in each]
    assert f"{n_failures + n_passes} rollouts of {n_tasks} tasks" in reader.get(rollouts).words
    assert link.endswith("#tasks")
    actual = re.findall(r'<th scope="row"><a href="/task', reader.get(link.partition("#")[0]).text)
    assert len(actual) == n_tasks == 3
    transcript = reader.get("/rollout", at=FAILING)
    signs = [each for each in transcript.links if "sign=" in each]
    assert any(each.endswith("sign=calls%20calendar_delete") for each in signs)
    assert tasks(reader, sign="calls calendar_delete") and not tasks(reader, sign="no such sign")


def test_the_first_page_is_the_answer(reader: Reader, demo: Path) -> None:
    """Scores with intervals, findings in sentences, what changed and health precede tasks."""
    page = reader.get("/", benchmark="office_desk")
    headings = ["What matters most", "What changed", "What failures have", "Health", "Tasks by"]
    places = [page.text.index(f">{each}") for each in headings]
    assert places == sorted(places)
    ((low, high),) = rows_of(
        demo,
        "select pass_at_1_ci_new_tasks_low, pass_at_1_ci_new_tasks_high "
        f"from run_metrics where run_id = '{ASTER}'",
    )
    ((n_unhealthy, n_rollouts),) = rows_of(
        demo,
        "select sum(n_unhealthy), sum(n_rollouts) from run_health "
        "where starts_with(run_id, 'office_desk')",
    )
    ((delta,),) = rows_of(
        demo, f"select delta from comparisons where candidate = '{BIRCH}' and is_lead"
    )
    assert f"{100 * low:.1f}% to {100 * high:.1f}%" in page.words
    assert f"{n_unhealthy} of {n_rollouts} rollouts are unhealthy" in page.words
    assert f"{BIRCH} vs {ASTER} {100 * delta:+.1f}" in page.words
    assert "17 of 106 attempts that did not pass" in page.words
    leading = [link for link in page.links if link.startswith(("/rollouts?", "/compare?", "/?"))]
    # Every link of every page is followed in a bundle.
    for link in leading[::4]:
        assert reader.get(link.partition("#")[0]).status == 200, link


def test_several_benchmarks_have_one_page(reader: Reader, demo: Path) -> None:
    """Every run with its score, and each benchmark a press away."""
    page = reader.get("/")
    rows = rows_of(demo, "select benchmark, run_id, pass_at_1 from run_metrics")
    for benchmark, run, rate in rows:
        assert f"{run} {100 * rate:.1f}%" in page.words
        assert f"/?benchmark={benchmark}" in page.links
    assert "What matters most" in page.words


@pytest.mark.parametrize("sort", ["hardest", "easiest"])
def test_tasks_are_sorted_by_any_run(reader: Reader, demo: Path, sort: str) -> None:
    """By the pass rate in that run; equal ones by their id."""
    rows = rows_of(
        demo,
        "select task_id, coalesce(pass_rate, -1) from task_outcomes "
        f"where run_id = '{BIRCH}' order by try_cast(task_id as int)",
    )
    rows.sort(key=lambda row: row[1] if sort == "hardest" else -row[1])
    assert tasks(reader, by=BIRCH, sort=sort) == [task for task, _ in rows]


def test_what_is_shown_is_downloaded(reader: Reader, demo: Path) -> None:
    """All tasks or rollouts of the filters as CSV, as SQL says."""
    expected = rows_of(
        demo,
        "select task_id, run_id, bucket, n_passed, n_scored from task_outcomes "
        "where benchmark = 'office_desk' and task_id in (select task_id from task_outcomes "
        f"where run_id = '{ASTER}' and bucket = 'never')",
    )
    n_rollouts = rows_of(
        demo, f"select count(*) from rollouts where run_id = '{ASTER}' and not is_pass"
    )[0][0]
    request = {"benchmark": "office_desk", "run": ASTER}
    answer = reader.get("/tasks.csv", bucket="never", **request)
    rows = list(csv.DictReader(answer.text.splitlines()))
    names = ("task_id", "run_id", "bucket", "n_passed", "n_scored")
    actual = {tuple(row[name] for name in names) for row in rows}
    written = {tuple("" if each is None else str(each) for each in row) for row in expected}
    assert actual == written and len(rows) == len(expected)
    rollouts = reader.get("/rollouts.csv", verdict="failed", **request)
    assert len(list(csv.DictReader(rollouts.text.splitlines()))) == n_rollouts
    formulas = csv_text(["a"], [["=1+1"], ["@x"], [-1], ["x"]])
    assert formulas == "a\n'=1+1\n'@x\n-1\nx\n"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("verdict", "if(is_pass, 'passed', if(is_pass is null, 'unscored', 'failed'))"),
        *((name, name) for name in ("reward", "n_turns", "output_tokens", "duration_s")),
    ],
)
@pytest.mark.parametrize("down", ["", "-"])
def test_rollouts_are_sorted_by_any_column(
    reader: Reader, demo: Path, name: str, column: str, down: str
) -> None:
    """What is chosen is shown and downloaded in that order; what is not recorded comes last."""
    rows = rows_of(
        demo,
        f"select run_id, task_id, rollout_index, {column} as value from rollouts "
        "where starts_with(run_id, 'office_desk') "
        f"order by value {'desc' if down else 'asc'} nulls last, "
        "run_id, try_cast(task_id as bigint), rollout_index",
    )
    request = {"benchmark": "office_desk", "sort": down + name, "columns": name}
    answer = reader.get("/rollouts.csv", **request)
    head, *actual = csv.reader(answer.text.splitlines())
    assert head == ["run_id", "task_id", "rollout_index", name]
    assert actual == [["" if each is None else str(each) for each in row] for row in rows]
    page = reader.get("/rollouts", **request)
    assert re.findall(r'<th scope="row">.*?<code>([^<]*)', page.text) == [
        f"{run}/{task}:{index}" for run, task, index, _ in rows[:50]
    ]
    assert len(re.findall('<th scope="col"', page.text)) == 2
    assert f'aria-sort="{"descending" if down else "ascending"}"' in page.text


def test_columns_are_chosen(reader: Reader) -> None:
    """Boxes of a form repeat their name; a run that is left out is in no row, of CSV neither."""
    path = "/?benchmark=office_desk&columns=%2Fasked&columns="
    heads = re.findall(r'<th scope="col".*?</th>', reader.get(path + BIRCH).text)
    assert [each for each in heads if "sort=" in each and BIRCH in each]
    assert not [each for each in heads if "sort=" in each and f">{ASTER}<" in each]
    assert ">asked</th>" in "".join(heads)
    assert ">asked</th>" not in reader.get("/", benchmark="office_desk", columns=BIRCH).text
    rows = reader.get("/tasks.csv", benchmark="office_desk", columns=BIRCH).text
    assert BIRCH in rows and ASTER not in rows
    unknown = reader.get("/rollouts", benchmark="office_desk", columns="nothing", sort="nothing")
    assert unknown.status == 200 and "calls" in unknown.words


def test_words_are_searched_in_all_transcripts(reader: Reader, demo: Path) -> None:
    """How many rollouts and events have them, and how many of these pass; each opens its event."""
    with pipeline.open_warehouse(demo) as opened:
        ((n_rollouts, n_events, n_passed),) = opened.execute(
            "select count(distinct (run_id, task_id, rollout_index)), count(*), "
            "count(distinct (run_id, task_id, rollout_index)) filter (is_pass) "
            "from events inner join rollouts using (run_id, task_id, rollout_index) "
            "where starts_with(run_id, 'office_desk') "
            "and contains(lower(concat_ws(' ', tool, text, arguments)), 'locked by')"
        ).fetchall()
    page = reader.get("/rollouts", benchmark="office_desk", q="Locked BY")
    assert n_rollouts == 2 and f"{n_rollouts} rollouts of" in page.words
    assert f"{n_events} events with “Locked BY”: {n_passed} passed" in page.words
    assert any(link.endswith("#e7") and "q=Locked%20BY" in link for link in page.links)


def test_hardest_first_and_pages(transcripts: Path) -> None:
    """120 tasks are three pages, each task on one of them, those that never pass first."""
    with viewed(transcripts) as reader:
        pages = [reader.get("/", benchmark="many", page=number) for number in "1234"]
    listed = [re.findall(r'"/task[^"]*">(\d+)</a>', page.text) for page in pages]
    expected = [str(task) for rest in (0, 1) for task in range(rest, 120, 2)]
    assert [*listed[0], *listed[1], *listed[2]] == expected
    assert [len(each) for each in listed] == [50, 50, 20, 20], "beyond the last is the last"
    assert "page 2 of 3" in pages[1].words


def test_a_task_shows_its_attempts(reader: Reader) -> None:
    """Every attempt of every run with its verdict; a task that was only expected too."""
    page = reader.get("/task", benchmark="office_desk", task="0")
    attempts = [link for link in page.links if re.search(r"at=[^&]*%3A\d$", link)]
    assert len(set(attempts)) == 8
    assert "Remove all meetings with Uma" in page.words
    assert f"{MODE} #8 calendar_delete called as expected, answered with an error" in page.words
    missing = reader.get("/task", benchmark="office_desk", task="13")
    assert missing.status == 200 and "missing" in missing.words


def test_a_transcript_says_first_why_it_failed(reader: Reader) -> None:
    """Modes, what the record says, expected beside actual and the closest pass precede events."""
    page = reader.get("/rollout", at=FAILING)
    places = [
        page.text.index(each)
        for each in (
            f"<b>{MODE}</b>",
            "called otherwise, and refused: event_id: expected &#34;00073742&#34;, got ",
            "calendar_delete: made fewer times",
            "First difference from the closest pass",
            'id="transcript"',
            'id="e1"',
        )
    ]
    assert places == sorted(places)
    assert f"/diff?at={FAILING.replace('/', '%2F').replace(':', '%3A')}" in "".join(
        link.partition("&")[0] for link in page.links if "0%3A2" in link and "/diff" in link
    )
    # Its events, the system prompt, the question, and the fields of the verifier.
    assert page.text.count('<details class="event') == 14 + 3
    errors = re.findall(r'data-error="(\d+)"', page.text)
    assert errors == ["7", "9", "11", "13"]
    actual = reader.get("/rollout", at=FAILING, q="LOCKED BY")
    assert "4 events with" in actual.words


def test_events_are_shown_as_what_they_are(transcripts: Path) -> None:
    """Markdown of messages, fields of calls, columns and images; or every text as written."""
    with viewed(transcripts) as reader:
        page = reader.get("/rollout", at="seen/0:0")
        raw = reader.get("/rollout", at="seen/0:0", raw="1")
        whole = reader.get("/event", at="seen/0:0#4")
    assert "<strong>Bold</strong> and <code>code</code>, &lt;b&gt;no tag" in page.event(1)
    assert 'class="event message assistant"' in page.event(1)
    assert 'class="event message user"' in page.event(2)
    assert "<pre>a    b" in page.event(2), "columns keep their width"
    assert "<dt>n</dt><dd><code>1</code></dd>" in page.event(3)
    for seq in (4, 5):
        assert page.event(seq).count(f'<img src="{PICTURE}"') == 1
        assert " open>" in page.event(seq), "an image is seen at once"
        assert page.text.count(PICTURE) == 2, "not in the text once more"
    assert f'<img src="{PICTURE}"' in whole.text
    assert "<pre>**Bold** and `code`, &lt;b&gt;no tag&lt;/b&gt;</pre>" in raw.event(1)
    assert "<pre>{&#34;n&#34;: 1}</pre>" in raw.event(3)


def test_turns_are_those_that_are_counted(transcripts: Path, reader: Reader, demo: Path) -> None:
    """The last turn of a transcript is the number of turns of its rollout."""
    query = f"select n_turns from rollouts where rollout_id = '0:0' and run_id = '{ASTER}'"
    ((n_turns,),) = rows_of(demo, query)
    numbers = re.findall(r'class="meta">turn (\d+)', reader.get("/rollout", at=FAILING).text)
    assert numbers == [str(number) for number in range(1, n_turns + 1)]
    with viewed(transcripts) as other:
        pages = [other.get("/rollout", at="long/0:0", page=number).text for number in "123"]
    assert [len(re.findall(r'class="meta">turn', page)) for page in pages] == [1, 0, 0]


def test_marks_are_at_their_events(reader: Reader, demo: Path) -> None:
    """The mode, the notes and the signs of a failure, each where it occurs; errors are open."""
    page = reader.get("/rollout", at=FAILING)
    where = f"run_id = '{ASTER}' and task_id = '0' and rollout_index = 0"
    rows = rows_of(demo, f"select seq, note from failure_notes where {where}")
    signs = rows_of(demo, f"select distinct seq, sign from signs where kind = 'error' and {where}")
    marks = [(seq, text) for seq, text in [*rows, *signs] if seq]
    assert len(marks) >= 3
    for seq, text in marks:
        assert f">{escape(text)}</" in page.event(seq)
    assert f">{MODE}</a>" in page.event(8)
    assert "first difference from the closest pass" in page.event(6)
    assert 'data-seq="7"' in page.event(7) and " open>" in page.event(7)
    label = page.text.index('<details class="fold label"')
    assert page.text[label:].startswith('<details class="fold label" id="label"><summary>')


def test_failed_checks_come_first(transcripts: Path) -> None:
    """What the verifier checked and found wanting is above everything else."""
    with viewed(transcripts) as reader:
        words = reader.get("/rollout", at="checked/0:0").words
    assert words.index("Failed checks") < words.index("test_b") < words.index("test_a")


def test_long_transcripts_are_paged(transcripts: Path) -> None:
    """Of 450 events each is on its page; an address of an event opens its page."""
    with viewed(transcripts) as reader:
        first = reader.get("/rollout", at="long/0:0")
        cited = reader.get("/rollout", at="long/0:0#437", q="word437")
        whole = reader.get("/event", at="long/0:0#437")
    assert re.findall(r'id="e(\d+)"', first.text) == [str(seq) for seq in range(1, 201)]
    assert re.findall(r'id="e(\d+)"', cited.text) == [str(seq) for seq in range(401, 451)]
    assert "1 event with" in cited.words and "x" * 4000 not in cited.text
    assert "all 4,008 characters" in cited.words and "x" * 4000 in whole.text


def test_two_attempts_are_aligned(reader: Reader) -> None:
    """Equal steps are one line; what differs is side by side, marked."""
    page = reader.get("/diff", at=FAILING, with_=f"{ASTER}/0:2")
    assert "2 steps alike" in page.words
    assert "<mark>record is locked by another session</mark>" in page.text
    assert "<mark>permission denied for this field</mark>" in page.text
    whole = reader.get("/diff", at=FAILING, with_=f"{ASTER}/0:2", all="1")
    assert "reasoning" in whole.words and "reasoning" not in page.words
    alike = re.findall(r'<details class="alike">.*?</details>', page.text, re.DOTALL)
    assert [each.count("<li>") for each in alike] == [2], "equal steps can be opened"
    last = page.text[page.text.rindex('<div class="side" data-row>') :]
    assert last.count('class="event message assistant" open') == 2
    assert "I&#39;m running" in last and "<mark>" not in last, "unlike messages are read whole"


def test_calls_are_aligned_by_their_tools(transcripts: Path) -> None:
    """Each with the result that follows it, though ids repeat; equal tools beside each other."""
    with viewed(transcripts) as reader:
        page = reader.get("/diff", at="odd/0:0", with_="odd/0:1")
    assert "1 step alike" in page.words and "result of z" in page.words
    assert re.findall(r"<mark>(\d)</mark>", page.text) == ["2", "3"]
    assert page.words.count("no such step") == 1


@pytest.mark.slow
def test_a_line_of_a_ledger_opens_its_tasks(reader: Reader, demo: Path) -> None:
    """As many tasks as the ledger counts, of every line that counts some."""
    page = reader.get("/compare", pair=PAIR, metric="pass_at_1")
    counts = rows_of(
        demo,
        "select policy, ledger, slice_key, line, effect, n_tasks from ledger"
        f" where base || '/' || candidate = '{PAIR}' and metric = 'pass_at_1'",
    )
    links = [link for link in page.links if link.startswith("/compare/tasks?")]
    assert len(links) == len(counts) > 30
    for policy, ledger, slice_key, line, effect, n_tasks in counts:
        request = {"policy": policy, "ledger": ledger, "slice": slice_key, "line": line}
        opened_line = reader.get(
            "/compare/tasks", pair=PAIR, metric="pass_at_1", effect=effect, **request
        )
        if n_tasks is not None:
            assert f" {n_tasks} task" in opened_line.words, request


def test_a_line_without_a_name_has_a_title(reader: Reader) -> None:
    """Tasks in none of the slices are headed so, in the browser too."""
    page = reader.get("/compare/tasks", pair=PAIR, ledger="slices", slice="category", line="")
    assert "<title>in none of them · blade view</title>" in page.text
    assert "<h1>in none of them</h1>" in page.text


def test_sql_is_answered_within_limits(reader: Reader) -> None:
    """A table, a chart of its numbers and links of its citations; errors say what is wrong."""
    query = "select rollout_id, reward from rollouts order by run_id, task_id limit 3"
    page = reader.get("/sql", query=query)
    assert page.status == 200 and "<svg viewBox" in page.text and "3 rows." in page.words
    cited = reader.get("/sql", query=f"select '{FAILING}#3' as place")
    assert any(link.endswith("%3A0%233#e3") for link in cited.links)
    assert "1,000 rows, and more" in reader.get("/sql", query="from range(1000000000)").words
    same = reader.get("/sql", query="select 'x' as a, 1 as a")
    assert same.status == 200 and "a_2" in same.words
    wrong = reader.get("/sql", query="from rolouts")
    assert wrong.status == 400 and "Did you mean rollouts?" in wrong.words


@pytest.mark.parametrize("query", cases("view", "sql_reads_nothing_else_and_writes_nothing"))
def test_sql_reads_nothing_else_and_writes_nothing(reader: Reader, query: str) -> None:
    """A question may ask the warehouse and do nothing more."""
    assert reader.get("/sql", query=query).status == 400


def test_sql_has_limits_of_time_and_bytes(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query ends in time and the next one is answered; of long rows fewer are fetched."""
    monkeypatch.setattr(question, "MOST_BYTES", 1000)
    endless = {"query": "select count(*) from range(10000000000)"}
    with Followed(demo, labels.LabelFile(demo)).opened() as opened:
        late = question.question(opened, endless, seconds=0.3)
        cut = question.question(opened, {"query": "select repeat('x', 100) from range(100)"})
    assert "took longer than 0.3 s and was stopped" in late["error"]
    # Messages have 1, 4, 16 and more rows of 100 characters each.
    assert len(cut["rows"]) == 5 and cut["is_cut"]


def test_only_who_has_the_key_is_answered(reader: Reader) -> None:
    """The token in the address becomes a strict cookie; neither is in the pages' reach."""
    path = "/rollout"
    for headers in ({"Cookie": ""}, {"Cookie": f"{reader.explorer.cookie}=x"}):
        refused = reader.get(path, headers=headers, at=FAILING)
        assert refused.status == 401 and "office_desk" not in refused.text
    assert reader.get("/", headers={"Cookie": ""}, token="x").status == 401
    admitted = reader.get("/", headers={"Cookie": ""}, token=reader.explorer.token)
    assert admitted.status == 200
    cookie = admitted.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert reader.explorer.url.endswith(f"/?token={reader.explorer.token}")


def test_other_hosts_and_pages_are_refused(reader: Reader) -> None:
    """By Host against rebinding, by Origin and the browser's own word against other pages."""
    port = reader.explorer.port
    assert reader.get("/", headers={"Host": f"localhost:{port}"}).status == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.x"):
        assert reader.get("/", headers={"Host": host}).status == 421
    assert reader.get("/", headers={"Origin": "http://evil.example"}).status == 403
    assert reader.get("/", headers={"Origin": f"http://127.0.0.1:{port + 1}"}).status == 403
    assert reader.get("/sql", headers={"Sec-Fetch-Site": "same-site"}).status == 403
    assert reader.get("/", headers={"Sec-Fetch-Site": "same-origin"}).status == 200


def test_it_listens_on_loopback_only(reader: Reader) -> None:
    """No other address of the machine is bound."""
    actual = Path("/proc/net/tcp").read_text(encoding="ascii")
    bound = re.findall(rf"\d+: ([0-9A-F]+):{reader.explorer.port:04X} 00000000:0000 0A", actual)
    assert bound == ["0100007F"]


def test_answers_are_sealed(reader: Reader) -> None:
    """Each forbids scripts and styles of others, frames and caches; refusals too."""
    for page in (reader.get("/"), reader.get("/nothing"), reader.get("/", headers={"Cookie": ""})):
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "no-store"
    report = reader.get("/report", benchmark="quick_math")
    assert "default-src 'none'" in report.text
    assert "frame-ancestors 'none'" in report.headers["content-security-policy"]


def test_what_is_missing_is_reported(reader: Reader) -> None:
    """A page with the reason, never a traceback."""
    for path, query in cases("view", "absent"):
        answer = reader.get(path, **query)
        assert answer.status == 404 and "<h1>" in answer.text, (path, query)
    for page in ("0", "-1", "x", "9" * 30):
        assert reader.get("/rollout", at=FAILING, page=page).status == 200


@pytest.mark.slow
def test_a_label_is_written_and_shown(own: Reader, tmp_path: Path) -> None:
    """One line as an analysis reads it; pages, filters and the report go by it at once."""
    at = f"{ASTER}/9:0"
    first = form(
        **{"task": "9", "cause": "IR", "by": "me", "evidence": f"{at}#2\r\n{ASTER}/9:1\r\n"},
        note="locked record,\r\nnever released",
        back=f"/rollout?at={quote(at)}",
    )
    sent = own.post(first)
    assert (
        sent.status == 200 and "infrastructure (IR) , labelled by me: locked record" in sent.words
    )
    (line,) = (tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    message = label_format.read(line)
    assert (message.cause, message.note, message.said_by) == (
        "IR",
        "locked record,\nnever released",
        "me",
    )
    assert [str(each) for each in message.evidence] == [f"{at}#2", f"{ASTER}/9:1"]
    assert "9" in tasks(own, run=ASTER, cause="IR")
    assert "9" not in tasks(own, run=ASTER, cause="KG")
    assert "infrastructure (IR)" in own.get("/labels").words
    report = own.get("/report", benchmark="office_desk", format="md")
    assert "never released" in report.text and report.headers["content-disposition"]
    again = own.post({**first, "cause": "KG", "second": "BI", "back": "//evil.example"})
    assert "knowledge gap (KG) and behaviour (BI)" in again.words, "the list of labels"
    assert len((tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_a_rollout_is_labelled_as_blade_read_does(own: Reader, demo: Path, tmp_path: Path) -> None:
    """The form writes the line of the command; each reader has a label, and names may change."""
    path, file = tmp_path / "labels.jsonl", tmp_path / "read.jsonl"
    words = {"mode": "acts unseen", "note": "n", "by": "ana"}
    options = [part for name, text in words.items() for part in (f"--{name}", text)]
    where = ("--evidence", f"{FAILING}#2", "--warehouse", demo, "--labels", file)
    assert call("read", "--label", FAILING, *options, *where).code == 0
    back = f"/rollout?at={quote(FAILING)}"
    sent = own.post(
        {**form(**words), "cause": "", "rollout": "0", "evidence": f"{FAILING}#2", "back": back}
    )
    assert path.read_text(encoding="utf-8") == file.read_text(encoding="utf-8")
    assert "rollout: acts unseen , labelled by ana: n" in sent.words
    own.post(form(rollout="0", by="ben", back=back))
    own.post(form(rollout="0", by="ben", cause="KG", back=back))
    renamed = json.dumps({"rename": "acts unseen", "to": "guesses"})
    path.write_text(path.read_text(encoding="utf-8") + renamed, encoding="utf-8")
    page = own.get("/rollout", at=FAILING)
    assert "rollout: guesses , labelled by ana" in page.words
    assert (
        "knowledge gap (KG) , labelled by ben" in page.words and "(BI) , labelled" not in page.words
    )
    assert "labelled" not in own.get("/rollout", at=f"{ASTER}/0:1").words, "of one rollout"
    assert "0" not in tasks(own, run=ASTER, cause="KG"), "the task has no label"
    assert "0:0 guesses" in own.get("/labels").words


def test_a_label_that_an_analysis_would_refuse_is_refused(own: Reader, tmp_path: Path) -> None:
    """With the reason, and nothing is written."""
    for wrong, reason in cases("view", "labels"):
        answer = own.post(form(**wrong))
        assert answer.status in (400, 404) and reason in answer.words, wrong
    assert own.post(form(note="x" * 200_000)).status == 413
    assert not (tmp_path / "labels.jsonl").exists()


def test_a_label_needs_key_and_origin(own: Reader, tmp_path: Path) -> None:
    """A form of another page, or without the token, writes nothing."""
    for headers in ({}, {"Origin": "null"}, {"Origin": "http://evil.example"}):
        assert own.post(form(), headers=headers).status == 403
    assert own.post({**form(), "token": "x"}).status == 403
    assert own.post(form(), headers={"Origin": own.base, "Cookie": ""}).status == 401
    assert own.get("/label").status == 405
    assert not (tmp_path / "labels.jsonl").exists()


def test_labels_of_the_analysis_are_kept(transcripts: Path, tmp_path: Path) -> None:
    """A new file begins with what the analysis read: it replaces all labels of it."""
    path = tmp_path / "labels.jsonl"
    with viewed(transcripts, path) as reader:
        reader.post({"run": "many", "task": "2", "cause": "BI"})
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    first = {"run": "many", "task": "4", "cause": "KG", "note": "n", "by": "b"}
    second = {"run": "many", "task": "4", "rollout": 0, "mode": "slow", "by": "c"}
    assert lines == [first, second, {"run": "many", "task": "2", "cause": "BI"}]


def test_labels_of_the_analysis_are_shown(transcripts: Path, tmp_path: Path) -> None:
    """At the transcript, until there is a file, which replaces them."""
    with viewed(transcripts, tmp_path / "labels.jsonl") as reader:
        words = reader.get("/rollout", at="many/4:0").words
        assert "task: knowledge gap (KG) , labelled by b: n line 1 of labels.jsonl" in words
        assert "rollout: slow , labelled by c" in words
        (tmp_path / "labels.jsonl").write_text("")
        assert ", labelled" not in reader.get("/rollout", at="many/4:0").words


def test_labels_appended_at_once_are_all_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By several writers, behind what a person wrote without an end of line; nothing is torn."""
    # A disk takes its time.
    monkeypatch.setattr(os, "fsync", lambda _file: time.sleep(0.001))
    path = tmp_path / "labels.jsonl"
    path.write_text('{"run": "r", "task": 0, "cause": "KG"}', encoding="utf-8")
    path.chmod(0o640)
    torn = []

    def write(writer: int) -> None:
        for number in range(20):
            line = json.dumps({"run": "r", "task": f"{writer}-{number}", "cause": "BI"})
            label_file.append(path, line, first=lambda: [])
            torn.extend(each for each in path.read_text().splitlines() if each[-1:] != "}")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert torn == [] and len(labels.LabelFile(path).rows()) == 81
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["labels.jsonl"]


def test_a_file_that_cannot_be_written_is_reported(demo: Path, tmp_path: Path) -> None:
    """With what to do about it; the page is still there."""
    with viewed(demo, tmp_path / "none" / "labels.jsonl") as reader:
        answer = reader.post(form())
        assert answer.status == 400 and "--labels FILE" in answer.words
        assert reader.get("/").status == 200


def test_forms_offer_what_labels_may_say() -> None:
    """The causes and interventions are those that an analysis reads."""
    assert tuple(labels.CAUSES) == (*label_format.CAUSES, label_format.UNEXPLAINED)
    parts = (ROOT / "report_templates" / "view" / "parts.html.j2").read_text(encoding="utf-8")
    assert all(f'"{each}"' in parts for each in label_format.INTERVENTIONS)


def test_a_new_warehouse_is_followed(demo: Path, transcripts: Path, tmp_path: Path) -> None:
    """Replaced by a rename it is read at once; while it is gone or broken the old one answers."""
    path = tmp_path / "warehouse.duckdb"
    shutil.copy(demo, path)
    with viewed(path) as reader:
        assert "office_desk" in reader.get("/").words
        path.rename(tmp_path / "aside")
        assert "office_desk" in reader.get("/").words
        path.write_bytes(b"not a warehouse")
        assert "office_desk" in reader.get("/").words
        shutil.copy(transcripts, tmp_path / "next")
        (tmp_path / "next").rename(path)
        page = reader.get("/")
    assert "checked" in page.words and "office_desk" not in page.words


def test_a_warehouse_of_another_version_is_reported(demo: Path, tmp_path: Path) -> None:
    """What the pages ask and it does not hold is no traceback, at the start and on the way."""
    path, old = tmp_path / "warehouse.duckdb", tmp_path / "old.duckdb"
    shutil.copy(demo, path)
    shutil.copy(demo, old)
    with duckdb.connect(str(old)) as db:
        db.execute("drop table main.run_metrics")
    assert call("view", old, "--no-browser").code == 3
    with viewed(path) as reader:
        old.rename(path)
        answer = reader.get("/")
    assert answer.status == 400 and "Analyze the results again" in answer.words


def test_the_command_prints_its_address(demo: Path) -> None:
    """On stdout, with the key; Ctrl-C ends it with 0 and without a word of alarm."""
    process = subprocess.Popen(
        [BLADE, "view", demo.parent, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}\n", url)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=20)
    assert (process.returncode, message) == (0, "")


def test_wrong_calls_are_reported(demo: Path, tmp_path: Path, reader: Reader) -> None:
    """A port that is taken is 2, no warehouse 3."""
    taken = call("view", demo, "--no-browser", "--port", str(reader.explorer.port))
    assert taken.code == 2 and "--port 0" in taken.stderr
    assert call("view", tmp_path, "--no-browser").code == 3


def test_without_its_libraries_it_says_what_to_install(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2 and the command that installs them; other commands need none of them."""
    for name in [each for each in sys.modules if each.startswith("pipeline.view.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    outcome = call("view", demo, "--no-browser")
    assert outcome.code == 2 and "make view-libraries" in outcome.stderr


@pytest.mark.slow
def test_hostile_texts_are_inert(hostile_out: Path, tmp_path: Path) -> None:
    """No page has a tag, attribute or address that a rollout brought along."""
    event = quote(f"{hostile.RUN}/{hostile.task_id(0)}:0#2")
    todo = ["/", "/compare", "/labels", "/sql?query=from+rollouts", f"/event?at={event}"]
    seen, kinds = set[str](), Counter[str]()
    with viewed(hostile_out, tmp_path / "labels.jsonl") as reader:
        while todo:
            path = todo.pop(0).partition("#")[0]
            kind = path.partition("?")[0]
            if path in seen or kinds[kind] == 5 or kind in ("/report", "/view.css", "/view.js"):
                continue
            seen.add(path)
            kinds[kind] += 1
            page = reader.get(path)
            assert page.status == 200, path
            if kind.endswith(".csv"):
                assert page.headers["content-type"].startswith("text/csv")
                assert page.headers["content-disposition"].startswith("attachment")
                continue
            assert not ACTIVE.search(page.text)
            markup = Markup(page.text)
            assert not markup.tags & {"img", "iframe", "object", "embed", "base", "use", "style"}
            assert not any(name.startswith("on") or name == "style" for name in markup.attributes)
            assert page.text.count("<script") == 1
            assert all(each.startswith(("/", "#", "data:,")) for each in markup.addresses)
            todo += [each for each in page.links if each.startswith("/")]
    assert set(kinds) == {
        *("/", "/task", "/rollout", "/event", "/diff", "/rollouts"),
        *("/tasks.csv", "/rollouts.csv"),
        *("/compare", "/compare/tasks", "/sql", "/labels"),
    }
