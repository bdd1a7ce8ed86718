"""Text that tries to be markup, a mark of ours or a command is text in both outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import pipeline
from pipeline.citation import bounded_name
from pipeline.report import cited, filters
from pipeline.report.figures import Row
from pipeline.report.html import body, evidence
from pipeline.text import ACTIVE, one_line
from tests import browser, hostile, markdown_read, results
from tests.results import analyzed, call, failure, rollout
from tests.test_html import ATTRIBUTES, TAGS, Read, read
from tests.test_report import unverified

SOURCES = ("<!-- from ", "<!-- sql: ")
FORGED = "<!-- from runs: forged"


@pytest.fixture(scope="module")
def out(hostile_out: Path) -> Path:
    """The output of results whose every text is hostile."""
    return hostile_out.parent


@pytest.fixture(scope="module")
def page(out: Path) -> Read:
    """Its page."""
    return read(out)


def test_markdown_holds_only_markup_of_ours(out: Path) -> None:
    """No link, image, fence, HTML or heading of others; every row has its header's cells."""
    reports = list(out.rglob("report.md"))
    assert len(reports) == 3
    for path in reports:
        text = path.read_text(encoding="utf-8")
        assert markdown_read.complaints(text) == []
        assert not ACTIVE.search(text)
        assert FORGED in text
        for comment in markdown_read.comments(text):
            assert comment.startswith(SOURCES) and not comment.startswith(FORGED)


def test_sources_of_hostile_results_hold(out: Path) -> None:
    """With any names of runs, tasks, slices and a profile's own modes."""
    assert unverified(out) == []


def test_a_page_holds_only_markup_of_ours(out: Path, page: Read) -> None:
    """No tag, attribute, comment, id or figure that a rollout brought along."""
    assert set(page.tags) <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.tags["script"] == page.tags["style"] == 1
    assert not any(source.startswith("runs?") for source in page.figures)
    assert not ACTIVE.search((out / "report.html").read_text(encoding="utf-8"))


def test_links_of_a_hostile_page_lead_somewhere(page: Read) -> None:
    """With any names of tasks and benchmarks, and any text before a citation."""
    assert len(page.ids) == len(set(page.ids))
    targets = [unquote(link[1:]) for link in page.links if link.startswith("#")]
    assert set(targets) <= set(page.ids)
    assert sum("täsk" in target for target in targets) > 20
    assert [link for link in page.links if not link.startswith("#")] == ["data:,"]


def test_hostile_text_is_shown_as_it_is(page: Read) -> None:
    """Nothing is lost: what cannot be shown is escaped visibly."""
    words = "".join(page.words)
    assert "<script>alert(1)</script>" in words
    assert "<!--blade:runs?run_id=forged#n-->" in words
    assert "\\u202e" in words


@pytest.mark.slow
@pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed")
def test_a_browser_finds_nothing_to_run(out: Path, tmp_path: Path) -> None:
    """No message, dialog or request; sorting, filtering and opening all of it changes nothing."""
    with browser.tab(tmp_path) as tab:
        tab.open(out / "report.html")
        tab.run("""
            for (const each of document.querySelectorAll("thead button, [data-do]")) each.click();
            for (const each of document.querySelectorAll("[data-figure]")) each.dispatchEvent(
                new MouseEvent("click", {bubbles: true}));
            for (const each of document.querySelectorAll("main a")) each.click();
        """)
        assert tab.complaints == []
        request = {url.partition("#")[0] for url in tab.requests if not url.startswith("about:")}
        assert request <= {(out / "report.html").as_uri(), "data:,"}
        assert tab.run("document.images.length + document.scripts.length") == 1


# Letters that mean something to Markdown, HTML or our marks, and any other.
PIECES = st.one_of(
    st.sampled_from([*hostile.TRICKS, *hostile.STARTS, "<!--", "-->", "--", "`", "|", "\\", "\n"]),
    st.text(max_size=8),
    st.text("`|<>!-#&;[]()*_~\\\n\t .:/@w1=\"'$", max_size=12),
)
# One for all examples: to open another takes longer than any of them.
ENGINE = duckdb.connect()
TEXTS = st.lists(PIECES, max_size=6).map("".join)


ROW = "| a | b |\n| --- | --- |\n| {} | b |"
PLACES = ("A {}", "- {}", "Asked: {}", ROW, "### {}", "**x**: {}.")
FILTERS = {
    filters.cell: filters.LONGEST,
    filters.ref: filters.LONGEST_NAME,
    filters.excerpt: filters.EXCERPT,
}


def settled(text: str) -> str:
    """As it is written to a file."""
    return "\n".join(map(filters.settled, text.split("\n")))


@given(TEXTS, st.sampled_from(list(FILTERS)), st.sampled_from(PLACES))
@example("www.x.example WWW.x.example @a a@b.cd mailto:a@b.cd x://y", filters.cell, "A {}")
@example("\u2064\u180e\U000e0100\ufffe\ud800\x00", filters.ref, "- {}")
def test_any_text_is_text(words: str, written: Callable[[str], str], place: str) -> None:
    """In any place of a report."""
    text = settled(f"Before.\n\n{place.format(written(words))}\n\nAfter.\n")
    assert markdown_read.complaints(f"## a\n\n{text}") == []
    parsed = [token for token in markdown_read.tokens(text) if token.type == "inline"]
    assert [parsed[0].content, parsed[-1].content] == ["Before.", "After."]
    assert not ACTIVE.search(text)
    assert len(text) < 20 * filters.LONGEST


@given(TEXTS, st.sampled_from(list(FILTERS)))
def test_what_is_shown_is_what_was_written(words: str, written: Callable[[str], str]) -> None:
    """A reader of either sees the neutral text on one line, to the letter, but for white space."""
    if written is filters.excerpt:
        words = " ".join(words.split())
    expected = one_line(words, FILTERS[written])
    if written is not filters.cell:
        expected = expected.replace(filters.PIPE, "\ufffd").replace(filters.OPENING, "\ufffd")
    if written is filters.ref and not expected.strip():
        expected = "(empty)"
    markdown = written(words)
    seen = markdown_read.words(settled(markdown)).removesuffix(" (redacted)")
    assert seen.split() == expected.split()
    page = re.sub(r"</?code>", "", body.inline(markdown)).removesuffix(" (redacted)")
    assert "<" not in page
    assert unescape(page).split() == expected.split()


@given(TEXTS, TEXTS)
def test_marks_hold_any_value(key: str, value: str) -> None:
    """Figures, charts and places for a curator: each is one comment, and gives back its key."""
    values = {"run_id": key.replace("\ud800", ""), "n": 1}
    values["task_id"] = value.replace("\ud800", "")
    row = Row("main.x", ("run_id", "task_id"), values)
    figure = row.n
    assert cited.MARK.findall(f"1{figure.marker} a") == [figure.source]
    assert markdown_read.words(f"1{figure.marker} a") == "1 a"
    chart = filters.chart("funnel", run_id=values["run_id"])
    assert filters.CHART.sub("", f"{chart} {chart}") == " "
    assert filters.chart_key(chart[len("<!--blade-chart:") : -len("-->")])[1] == {
        "run_id": values["run_id"]
    }
    written = cited.Sources({"x": [row]}).written(f"1{figure.marker}")
    assert markdown_read.complaints(f"a\n\n{written}\n\nb\n") == []
    one, comment = written.split("\n")
    assert (one, markdown_read.comments(written)) == ("1", [comment])
    conditions = re.fullmatch(r"<!-- from main.x where (.*): n = 1 -->", comment)
    assert conditions is not None
    named = "select ? as run_id, ? as task_id"
    actual = ENGINE.execute(f"from ({named}) where {conditions[1]}", list(values.values())[::2])
    assert len(actual.fetchall()) == 1
    place = filters.curate(value)
    assert markdown_read.complaints(f"a\n\n{place}\n\nb {place} c\n") == []
    assert len(filters.CURATE.findall(f"{place} {place}")) == 2
    assert "--" not in place[len("<!--") : -len("-->")]


@given(TEXTS)
def test_commands_stay_inside_their_backquotes(words: str) -> None:
    """With any name of a run or a benchmark, and no mark can be read out of it."""
    line = f"- Again: `{filters.code(f'blade {words} x')}`\n"
    assert markdown_read.complaints(line) == []
    assert not re.search("<!--", line)


@given(TEXTS, TEXTS)
def test_ids_are_one_a_name(one: str, other: str) -> None:
    """Without white space or anything a parser replaces; a link of a name leads to its id."""
    ids = [filters.target(name) for name in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)
    for name, actual in zip((one, other), ids, strict=True):
        assert not re.search(r"\s", actual) and not ACTIVE.search(actual)
        assert len(actual) < 300
        assert unquote(filters.href(name)[1:]) == actual


def test_escaped_backquotes_hide_no_citation() -> None:
    """Text of others may stand before a citation on its line."""
    for written in (filters.excerpt, filters.cell):
        line = f"| {written('an odd ` and `r/9:9`')} | `r/1:0#3` | `r/2:0` |"
        actual = evidence.cited([line], frozenset({"r"}))
        assert {(each.task_id, *events) for each, events in actual.items()} == {("1", 3), ("2",)}


@pytest.mark.parametrize("task", ["a|b", "a`b", "<!-- a -->", "a#b/c:1", "\\|"])
def test_any_task_can_be_cited(task: str) -> None:
    """In a table too: the citation is found in what a page is made of, and leads to its id."""
    name = f"r/{task}:0#3"
    row = f"| a | b |\n| --- | --- |\n| {filters.ref(name)} | 1 |"
    ((actual, events),) = evidence.cited([row], frozenset({"r"})).items()
    assert (actual.task_id, events) == (task, {3})
    _, page = body.Body(draw=lambda _: "", cited=frozenset({name})).section(row, name="s")
    assert f'href="{escape(filters.href(name))}"><code>{escape(name)}</code>' in page
    reported = settled(row)
    assert markdown_read.complaints(reported) == [] and markdown_read.comments(reported) == []


BIG = "y" * 2_000_000


@pytest.mark.slow
def test_names_are_bounded(tmp_path: Path) -> None:
    """What is a key keeps the beginning of a long name, and stays apart: 200 characters at most."""
    long = "n" * 1000
    rows = [
        rollout(
            None,
            index,
            agent=f"{long}{index}",
            model=long,
            task_id=f"{long}{task}",
            reward=float(task),
            reward_components={long: 1.0},
            verifier_metadata={long: "ab"[task % 2]},
            category=f"{long}{task % 2}",
        )
        for task in range(4)
        for index in range(2)
    ]
    files = {
        "a_rollouts.jsonl": rows,
        "a_rollouts_failures.jsonl": [failure(None, 1, long, task_id="t9") | {"agent_ref": None}],
        "blade.toml": 'slices = ["category"]\n',
    }
    needs = ["runs", "rollouts", "failures", "reward_components", "slice_metrics"]
    actual = analyzed(tmp_path, files, needs=needs)
    lengths = """
        select max(length(run_id)), max(length(task_id)), max(length(model)), max(length(agent))
        from rollouts
    """
    assert actual.rows(lengths) == [(199, 200, 200, 200)]
    assert actual.one("select count(distinct task_id) from rollouts") == 4
    assert actual.one("select count(distinct run_id) from rollouts") == 2
    assert actual.one("select max(length(failure_class)) from failures") == 200
    assert actual.column("select distinct length(component) from reward_components") == [200]
    assert actual.column("select distinct length(slice_value) from slice_metrics") == [200]


@pytest.mark.slow
def test_a_long_name_finds_its_key(tmp_path: Path) -> None:
    """Ids of 100 kB: labels, figures, a profile and a person may name them in full."""
    tasks = [f"{'n' * 100_000}{task}" for task in "ab"]
    rows = [rollout(None, 0, task_id=task, reward=float(task[-1] == "a")) for task in tasks]
    group = {"_ng_task_index": tasks[0], "mean/reward": 1.0}
    folder = "f" * 150
    files = {
        f"{folder}/{folder}/x_rollouts.jsonl": rows,
        f"{folder}/x_rollouts.jsonl": rows,
        f"{folder}/x_rollouts_aggregate_metrics.json": json.dumps({"group_level_metrics": [group]}),
        "labels.jsonl": [
            {
                "run": f"{folder}-x",
                "task": tasks[1],
                "cause": "BI",
                "evidence": f"{folder}-x/{tasks[1]}:0",
            }
        ],
        "blade.toml": f'benchmark = "{"b" * 100_000}"\n\n[expected]\ntasks = {json.dumps(tasks)}\n',
    }
    actual = analyzed(tmp_path, files)
    runs = actual.column("select run_id from runs order by length(run_id)")
    assert runs[0] == f"{folder}-x" and len(runs[1]) == 199
    assert sorted(path.name for path in (actual.path.parent / "runs").iterdir()) == sorted(runs)
    assert actual.rows("select distinct length(benchmark), n_expected from runs") == [(200, 2)]
    assert actual.column("select count(*) from rejects") == [0]
    assert actual.one("select cause from labels") == "BI"
    assert actual.rows("select status, ours from reported_checks") == [("equal", 1.0)]
    keys = actual.column("select task_id from tasks order by all")
    assert keys == sorted(bounded_name(task) for task in tasks)
    with pipeline.open_warehouse(actual.path) as opened:
        same = opened.execute("select bounded_name(?)", [tasks[0]]).fetchone()
    assert same == (bounded_name(tasks[0]),)
    # Nothing is lost: the row keeps the whole id, and it finds the key.
    whole = "select distinct verifier->>'task_id' from rollouts order by all"
    assert actual.column(whole) == tasks
    for command, request in (("show", f"{runs[0]}/{tasks[0]}:0"), ("why", f"{runs[0]}/{tasks[1]}")):
        outcome = call(command, request, "--warehouse", actual.path)
        assert outcome.code == 0 and len(outcome.stdout) < 200_000, outcome.stderr


def _long_rows() -> list[results.Row]:
    """A field of two megabytes in each, another one each time."""
    call = {"type": "function_call", "name": "t", "call_id": "c", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c", "output": "Error: no"}
    done = {"type": "message", "role": "assistant", "content": "done"}
    outputs = [
        [{**call, "name": BIG}, answer, done],
        [{**call, "arguments": BIG}, answer, done],
        [call, {**answer, "output": f"Error: {BIG}"}, done],
        [call, answer, {**done, "content": BIG}],
        [{"type": BIG}, done],
    ]
    rows = [rollout(None, 0, reward=0.0, task_id=f"o{n}", output=o) for n, o in enumerate(outputs)]
    fields: list[results.Row] = [
        {"reason": BIG},
        {BIG: 1.5},
        {"reward_components": {BIG: 0.5}},
        {"category": BIG},
        {"verifier_metadata": {BIG: "a"}},
        {"error": BIG},
        {"task_id": BIG},
        {"_ng_failure_class": BIG},
    ]
    rows += [
        rollout(None, 0, reward=0.0, **{"task_id": f"f{n}", **f}) for n, f in enumerate(fields)
    ]
    rows += [rollout(None, 0, reward=0.0, task_id="p", ask=BIG)]
    rows += [rollout(None, 0, reward=0.0, task_id="m", model=BIG)]
    rows += [rollout(None, index, reward=float(index), task_id="s") for index in range(2)]
    return rows


@pytest.mark.exhaustive
@pytest.mark.slow
def test_megabytes_in_each_field(tmp_path: Path) -> None:
    """Pages and sidecars stay small, and what was cut ends in an ellipsis or says its length."""
    rows = _long_rows()
    files = {"a_rollouts.jsonl": rows, "b_rollouts.jsonl": rows[-6:]}
    files["labels.jsonl"] = [
        {"run": "a", "task": "o0", "cause": "BI", "note": BIG[: len(BIG) // 2]}
    ]
    out = analyzed(tmp_path, files).path.parent
    for path in out.rglob("*"):
        if path.suffix in (".md", ".html", ".json"):
            assert path.stat().st_size < 1_000_000, path
    for path in out.rglob("report.md"):
        text = path.read_text(encoding="utf-8")
        assert markdown_read.complaints(text) == []
        # What is left of such a field never ends without saying so.
        shown = markdown_read.COMMENT.sub("", text)
        assert set(re.findall(r"y{100,}(.)", shown)) <= {"…"}
        assert not re.search("y{501}", text)
    texts = [path.read_text(encoding="utf-8") for path in out.rglob("report.*")]
    assert any("yyy…" in text for text in texts)
    assert any(" of 2,000,007 characters" in text for text in texts)
