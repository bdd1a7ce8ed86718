"""`blade report`: the same bytes again, some runs and sections, other templates, other labels."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import resource
import shlex
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

import pipeline
from pipeline import provenance, report
from pipeline.answers import rerender
from pipeline.profile import Profile
from pipeline.report import templates as own_templates
from pipeline.settings import Settings
from tests.conftest import DEMO, ROOT
from tests.results import Outcome, analyzed, call, lines, rollout, write

DOCUMENT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
ASTER, BIRCH = "office_desk_aster-8b", "office_desk_birch-70b"
# The shortest: what is written of it is soon rendered.
FUNNEL = "workflow_funnel"


def report_of(demo: Path, *arguments: str | Path) -> Outcome:
    return call("report", "--warehouse", demo, *arguments)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def headings(page: str) -> list[str]:
    return re.findall(r"^## (.*)$", page, re.MULTILINE)


def templates(folder: Path, **files: str) -> Path:
    """Sections of one's own, by name."""
    return write(folder, {f"{name}.md.j2": content for name, content in files.items()})


@pytest.fixture(scope="module")
def collected(demo: Path) -> report.Content:
    """What the report of the demo is made of, read once."""
    with pipeline.open_warehouse(demo) as warehouse:
        return report.collect(warehouse)


@pytest.fixture
def quick(collected: report.Content, monkeypatch) -> None:
    """For tests of something else than reading: it takes longest."""
    monkeypatch.setattr(report, "collect", lambda _: collected)


def test_the_same_bytes_again(demo: Path) -> None:
    """Rendered from the warehouse alone, the report is the file that the analysis wrote."""
    printed = report_of(demo)
    assert (printed.code, printed.stderr) == (0, "")
    assert printed.stdout == text(demo.with_name("report.md"))


@pytest.mark.slow
def test_each_run_again(demo: Path, collected: report.Content) -> None:
    """One run is its own report, to the byte, and all runs of a benchmark are that of it."""
    office = text(demo.parent / "benchmarks" / "office_desk" / "report.md")
    assert report_of(demo, "--run", BIRCH, "--run", ASTER).stdout == office
    assert report_of(demo, "--run", BIRCH).stdout == text(
        demo.parent / "runs" / BIRCH / "report.md"
    )
    with pipeline.open_warehouse(demo) as warehouse:
        for run in collected.runs:
            page = report.page(warehouse, collected.only([run.run_id]), as_html=False)
            assert page == text(demo.parent / "runs" / run.run_id / "report.md")


@pytest.mark.usefixtures("quick")
def test_the_page_again(demo: Path, tmp_path: Path) -> None:
    """So is the page; the ending of the file asks for it."""
    out = tmp_path / "again.html"
    assert report_of(demo, "--out", out).stdout == ""
    assert out.read_bytes() == demo.with_name("report.html").read_bytes()


def test_some_runs_are_reported_truly(collected: report.Content) -> None:
    """Of several benchmarks an overview of them; of other runs nothing."""
    page = report.document(collected.only([ASTER, "quick_math_birch-70b"])).text
    assert headings(page) == ["Overview"] and f"| `office_desk` | `{ASTER}` | 21 |" in page
    assert BIRCH not in page and "quick_math_aster-8b" not in page


@pytest.mark.usefixtures("quick")
def test_some_sections(demo: Path) -> None:
    """By name or by title, once each, in the order of the report, and as they stand there."""
    asked = "Workflow Funnel, artifact_inventory,workflow_funnel,"
    page = report_of(demo, "--sections", asked, "--run", ASTER).stdout
    assert headings(page) == ["Artifact Inventory", "Workflow Funnel"]
    whole = text(demo.parent / "runs" / ASTER / "report.md")
    for section in page.split("\n## "):
        assert section.rstrip("\n") in whole


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("arguments", "code", "message", "hint"),
    [
        (
            ["--sections", "workflow_funel"],
            2,
            "workflow_funel: no such section.",
            "Did you mean workflow_funnel? Sections: executive_summary, artifact_inventory, ",
        ),
        (
            ["--run", "office_desk_astr-8b"],
            2,
            "office_desk_astr-8b: no such run.",
            f"Did you mean {ASTER}? Runs: {ASTER}, {BIRCH}, ",
        ),
        (["--templates", "missing"], 3, "missing: no such folder of templates.", "It may hold: "),
        (["--labels", "missing"], 3, "missing: no readable file of labels", "docs/cli.md"),
        (
            ["--sections", FUNNEL, "--out", "no/where.md"],
            3,
            "no/where.md: cannot be written (No such file",
            "Choose another file",
        ),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    demo: Path,
    tmp_path: Path,
    monkeypatch,
    arguments: list[str],
    code: int,
    message: str,
    hint: str,
) -> None:
    """What, where and what there is; nothing is printed or written."""
    monkeypatch.chdir(tmp_path)
    ended = report_of(demo, *arguments)
    assert (ended.code, ended.stdout) == (code, "")
    first, second = ended.stderr.splitlines()
    assert first.startswith(f"blade: {message}") and second.strip().startswith(hint)
    assert list(tmp_path.iterdir()) == []


def test_a_warehouse_of_an_older_version(tmp_path: Path) -> None:
    """It lacks what a report asks of it; the message says what to do."""
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute("create schema raw; create table raw.events (i int)")
        db.execute("create table main.runs (run_id varchar, benchmark varchar)")
    labels = write(tmp_path, {"labels.jsonl": ""}) / "labels.jsonl"
    for arguments in ((), ("--labels", labels)):
        ended = report_of(path, *arguments)
        assert ended.code == 3
        assert "was written by another version of blade" in ended.stderr
        assert "Analyze the results again." in ended.stderr


@pytest.mark.usefixtures("quick")
def test_a_file_is_written_whole_or_not_at_all(demo: Path, tmp_path: Path, monkeypatch) -> None:
    """Where the move fails the old file stays, and nothing is left beside it."""
    out = write(tmp_path, {"report.txt": "old"}) / "report.txt"

    def fail(*_: object) -> None:
        raise OSError(28, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        ended = report_of(demo, "--sections", FUNNEL, "--out", out)
    assert ended.code == 3 and "no space left" in ended.stderr
    assert (text(out), list(tmp_path.iterdir())) == ("old", [out])
    assert report_of(demo, "--sections", FUNNEL, "--out", out).code == 0
    # Any other ending is Markdown.
    assert headings(text(out)) == ["Workflow Funnel"] and list(tmp_path.iterdir()) == [out]


@pytest.mark.usefixtures("quick")
def test_a_stream_is_written_to(demo: Path, tmp_path: Path) -> None:
    """A pipe or a device that --out names is still one afterwards."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(text, pipe)
        assert report_of(demo, "--sections", FUNNEL, "--out", pipe).code == 0
        assert headings(read.result(timeout=10)) == ["Workflow Funnel"]
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


@pytest.mark.usefixtures("quick")
def test_odd_templates_are_rendered(demo: Path, tmp_path: Path) -> None:
    """Charts without a key or of no such name draw nothing; half a character is written out."""
    odd = """{{ chart("strip") }}

<!--blade-chart:%%%?=&&=-->

{{ chart("waterfall", base="x", metric="y") }} {{ "\\ud800" }}
"""
    folder = templates(tmp_path / "own", **{FUNNEL: odd})
    for ending in ("md", "html"):
        out = tmp_path / f"report.{ending}"
        ended = report_of(demo, "--sections", FUNNEL, "--templates", folder, "--out", out)
        assert (ended.code, ended.stderr) == (0, "")
        assert "\\ud800" in text(out)


@pytest.mark.usefixtures("quick")
def test_the_commands_in_the_notes_make_it_again(demo: Path, tmp_path: Path) -> None:
    """Those of a part too; with the folder put in, each runs."""
    part = ("--run", ASTER, "--sections", "reproducibility_notes")
    page = report_of(demo, *part).stdout
    (line,) = re.findall(r"This report again: `blade (.*)`", page)
    words = shlex.split(line.replace("DIR/warehouse.duckdb", str(demo)))
    assert call(*words).stdout == page
    (line,) = re.findall(r"Everything again: `(.*)`", page)
    assert line == provenance.command(Profile(), Settings((tmp_path,), tmp_path))


@pytest.mark.usefixtures("quick")
def test_notes_name_no_place_and_all_that_counts(demo: Path) -> None:
    """Versions, thresholds and, on the page, hashes; no path of this machine and no clock."""
    asked = ("--sections", "reproducibility_notes")
    notes, page = report_of(demo, *asked).stdout, report_of(demo, *asked, "--format", "html").stdout
    for name in ("blade", "duckdb", "numpy", "jinja2", "markdown-it-py", "python"):
        assert re.search(rf"{name} `[\d.]+`[,.]", notes), name
    assert "pass threshold `1.0, unless rewards leave 0..1`" in notes
    for file in DEMO.glob("[!.]*"):
        assert hashlib.sha256(file.read_bytes()).hexdigest() in page
    for message in (notes, page):
        assert str(demo.parent) not in message and str(ROOT) not in message


@pytest.mark.usefixtures("quick")
def test_a_section_of_ones_own(demo: Path, tmp_path: Path) -> None:
    """It replaces ours in both formats; the notes name it, its hash, and the option to give."""
    folder = templates(
        tmp_path / "own",
        workflow_funnel="Ours: {{ content.runs[0].headline.pass_at_1 | pct }}.\n"
        '\n{{ curate("Why?") }}\n',
    )
    asked = ("--templates", folder, "--sections", f"{FUNNEL},reproducibility_notes")
    page = report_of(demo, *asked).stdout
    source = f"<!-- from run_metrics where run_id = '{ASTER}': pass_at_1 = 44.0% -->"
    message = f"Ours: 44.0%.\n{source}\n\n<!-- curate: Why? -->\n"
    assert f"## Workflow Funnel\n\n{message}" in page
    sha256 = hashlib.sha256((folder / f"{FUNNEL}.md.j2").read_bytes()).hexdigest()
    assert f"- Own template: `{FUNNEL}.md.j2`, sha256 `{sha256}`" in page
    assert "`blade analyze RESULTS --out DIR --templates TEMPLATES`" in page
    assert f"--sections {FUNNEL},reproducibility_notes --templates TEMPLATES`" in page
    html = report_of(demo, *asked, "--format", "html").stdout
    assert "Ours: " in html and "loses the most attempts" not in html
    # Another look at the folder sees what has changed there.
    templates(folder, workflow_funnel="Mine.")
    assert "\nMine.\n" in report_of(demo, *asked).stdout


@pytest.mark.slow
def test_an_analysis_with_templates(demo: Path, tmp_path: Path) -> None:
    """It writes what `blade report` renders by them, and names them in the manifest."""
    folder = templates(tmp_path / "own", **{FUNNEL: "{{ content.runs | length }} runs."})
    rows = {"a_rollouts.jsonl": [rollout(0, 0), rollout(1, 0, reward=0.0)]}
    out = analyzed(tmp_path, rows, templates=folder).path.parent
    assert report_of(out / "warehouse.duckdb", "--templates", folder).stdout == text(
        out / "report.md"
    )
    assert "\n1 runs.\n" in text(out / "report.md")
    own = text(out / "runs" / "a" / "report.md")
    assert "\n1 runs.\n" in own
    assert report_of(out / "warehouse.duckdb", "--templates", folder, "--run", "a").stdout == own
    assert json.loads(text(out / "manifest.json"))["settings"]["templates"] == [
        {
            "path": f"{FUNNEL}.md.j2",
            "sha256": hashlib.sha256((folder / f"{FUNNEL}.md.j2").read_bytes()).hexdigest(),
        }
    ]
    assert json.loads(text(demo.with_name("manifest.json")))["settings"]["templates"] == []


BROKEN = {
    "{% for %}": (3, "Expected an expression, got 'end of statement block'"),
    "{{ 1 | pctt }}": (3, "No filter named 'pctt'."),
    "\n{{ content.nothing }}": (4, "Content has no attribute 'nothing'"),
    "{{ content.runs[0].headline.nothing }}": (3, "Row has no attribute 'nothing'"),
    "{{ content.runs[0].headline.pass_at_1 }}": (
        3,
        f"the figure run_metrics?run_id={ASTER}#pass_at_1 is printed without a format",
    ),
    "{% include 'nothing' %}": (3, "there is no template nothing."),
    "{{ content.__class__.__subclasses__() }}": (
        3,
        "access to attribute '__class__' of 'Content' object is unsafe.",
    ),
}


@pytest.mark.parametrize(("broken", "expected"), BROKEN.items(), ids=[str(n) for n in range(7)])
def test_broken_templates(
    collected: report.Content, tmp_path: Path, broken: str, expected: tuple[int, str]
) -> None:
    """File and line, and what is wrong there."""
    folder = templates(tmp_path / "own", **{FUNNEL: f"One.\n\n{broken}\n"})
    sections = [report.SECTIONS[FUNNEL]]
    with duckdb.connect() as unread, pytest.raises(pipeline.InputError) as raised:
        report.check_templates(folder)
        report.page(unread, collected, as_html=False, sections=sections, folder=folder)
    line, message = expected
    assert str(raised.value).startswith(f"{folder / FUNNEL}.md.j2:{line}: {message}")


@pytest.mark.usefixtures("quick")
def test_a_broken_template_ends_the_command(demo: Path, tmp_path: Path) -> None:
    """With the exit code of an input that cannot be used, and nothing printed."""
    folder = templates(tmp_path / "own", **{FUNNEL: "{{ nothing }}"})
    # Of several benchmarks the report is an overview, which has no such section.
    for asked in (["--run", ASTER], []):
        ended = report_of(demo, "--templates", folder, *asked)
        assert (ended.code, ended.stdout) == (3, "")
        message = f"blade: {folder / FUNNEL}.md.j2:1: 'nothing' is undefined\n"
        assert ended.stderr.startswith(message)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"workflow_funel.md.j2": "x"}, "workflow_funel.md.j2: replaces nothing."),
        ({"sub/workflow_funnel.md.j2": "x"}, "sub: replaces nothing."),
        ({"opening.md.j2": b"\xff"}, "opening.md.j2: cannot be read as UTF-8 text."),
        ({".hidden": "x"}, "holds no template."),
    ],
)
def test_folders_that_cannot_be_used(
    tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    """What replaces nothing, or is no text, is reported before anything is read."""
    results = write(tmp_path / "in", {"a_rollouts.jsonl": [rollout(0, 0)]})
    folder = write(tmp_path / "own", files)
    ended = call("analyze", results, "--out", tmp_path / "out", "--templates", folder)
    assert ended.code == 3 and message in ended.stderr
    assert not (tmp_path / "out").exists()
    if "replaces" in message:
        assert "These can be replaced: " in ended.stderr and "opening.md.j2" in ended.stderr


@pytest.mark.parametrize(
    ("endless", "message"),
    [
        ("{{ 2**100000 }}", f"{FUNNEL}.md.j2"),
        (
            "{% for a in range(99999) %}{% for b in range(999) %}{{ a }}{% endfor %}{% endfor %}",
            "took",
        ),
        ("{{ 'x' * 10**11 }}", "more than 2 GB of memory"),
        ("{{ 'x' * 2 * 10**6 }}", "more than 1 MB"),
    ],
)
def test_templates_without_an_end(
    collected: report.Content,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    endless: str,
    message: str,
) -> None:
    """Numbers that cannot be printed, endless loops, giant texts are reported; limits go again."""
    monkeypatch.setattr(own_templates, "SECONDS", 0.2 if "took" in message else 20.0)
    monkeypatch.setattr("pipeline.files.MOST_BYTES", 1 << 20)
    folder = templates(tmp_path / "own", **{FUNNEL: endless})
    sections = [report.SECTIONS[FUNNEL]]
    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGALRM)
    with duckdb.connect() as unread, pytest.raises(pipeline.InputError) as raised:
        report.check_templates(folder)
        report.page(unread, collected, as_html=False, sections=sections, folder=folder)
    assert str(raised.value).startswith(str(folder)) and message in str(raised.value)
    assert (resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGALRM)) == before


def test_our_own_mistakes_stay_ours(tmp_path: Path) -> None:
    """Only what fails inside a user's template is reported as theirs."""
    with pytest.raises(ZeroDivisionError), own_templates.explained(tmp_path):
        raise ZeroDivisionError


LABELS = lines(
    [
        {
            "run": ASTER,
            "task": 9,
            "cause": "DA",
            "note": "row 7 of 12 is stale",
            "evidence": [f"{ASTER}/9:0", f"{ASTER}/9:1#1"],
        },
        {"run": BIRCH, "task": 3, "cause": "TI+KG", "intervention": "prompt"},
        {"run": "nobody", "task": 1, "cause": "BI"},
        {"run": ASTER, "task": 0, "cause": "WHO"},
    ]
)
REFUSED = [
    "! labels.jsonl: 2 of 4 lines could not be used",
    "! labels.jsonl:3: label refused: there is no run nobody",
    "! labels.jsonl:4: label refused: unknown cause 'WHO'",
]


@pytest.mark.slow
def test_labels_given_now(demo: Path, tmp_path: Path) -> None:
    """They change causes and what hangs on them, are listed where refused, and leave no trace."""
    before = hashlib.sha256(demo.read_bytes()).hexdigest()
    labels = write(tmp_path, {"labels.jsonl": LABELS}) / "labels.jsonl"
    asked = ("--run", ASTER, "--sections", "never_pass_deep_dives")
    ended, was = report_of(demo, *asked, "--labels", labels), report_of(demo, *asked).stdout
    given = "- cause: data (DA), given by a person: `row 7 of 12 is stale`; see "
    assert f"{given}`{ASTER}/9:0`, `{ASTER}/9:1#1`\n" in ended.stdout
    assert "given by a person" not in was and "cause: " not in was
    # Task 9 had no cause.
    query = f"select task_id, cause, source from root_causes where run_id = '{ASTER}'"
    with pipeline.open_warehouse(demo) as one, rerender.relabel(demo, labels) as other:
        before_, after = (set(each.execute(query).fetchall()) for each in (one, other))
    assert after - before_ == {("9", "DA", "label")} and not before_ - after
    for line, message in zip(ended.stderr.splitlines(), REFUSED, strict=True):
        assert line.startswith(message)
    assert hashlib.sha256(demo.read_bytes()).hexdigest() == before
    assert sorted(tmp_path.iterdir()) == [labels]


@pytest.mark.slow
def test_labels_given_now_are_those_of_an_analysis(demo: Path, tmp_path: Path) -> None:
    """The report is the one that analyzing the folder with the file in it writes, to the byte."""
    files = {path.name: path.read_bytes() for path in DEMO.glob("[!.]*")}
    out = analyzed(tmp_path / "with", {**files, "labels.jsonl": LABELS}).path.parent
    labels = tmp_path / "with" / "results" / "labels.jsonl"
    assert report_of(demo, "--labels", labels).stdout == text(out / "report.md")
    page = report_of(demo, "--labels", labels, "--format", "html").stdout
    assert page == text(out / "report.html")
    own = text(out / "runs" / ASTER / "report.md")
    assert report_of(demo, "--labels", labels, "--run", ASTER).stdout == own
    # The other way round: labels given stand for those that were there, none for all of them.
    none = write(tmp_path, {"labels.jsonl": ""}) / "labels.jsonl"
    with rerender.relabel(out / "warehouse.duckdb", none) as opened:
        assert opened.execute("from labels").fetchall() == []
        assert opened.execute("from root_causes where source = 'label'").fetchall() == []
        kept = "select path from artifacts where kind = 'labels'"
        assert opened.execute(kept).fetchall() == [("labels.jsonl",)]


def test_labels_under_a_name_that_is_taken(demo: Path, tmp_path: Path) -> None:
    """They would be taken for another file of the results."""
    labels = write(tmp_path, {"notes.md": LABELS}) / "notes.md"
    ended = report_of(demo, "--labels", labels)
    assert ended.code == 3 and "another kind of file with this name" in ended.stderr


@pytest.mark.usefixtures("quick")
def test_the_example_of_the_document(demo: Path, tmp_path: Path) -> None:
    """The template of docs/report.md prints what is below it."""
    (template,) = re.findall(r"```jinja\n(.*?)```", DOCUMENT, re.DOTALL)
    (printed,) = re.findall(r"```markdown\n(.*?)```", DOCUMENT, re.DOTALL)
    folder = templates(tmp_path / "my_templates", **{FUNNEL: template})
    page = report_of(demo, "--templates", folder, "--sections", FUNNEL).stdout
    assert page.endswith(f"\n\n{printed}")


def test_the_document_names_what_a_template_can_read() -> None:
    """Every field and property of a run and of a report; make golden writes the lists of rows."""
    names = set(re.findall(r"`([\w.]+)`", DOCUMENT))
    assert {"headline", *(name for name in dir(report.RunContent) if name[0] != "_")} <= names
    fields = {field.name for field in dataclasses.fields(report.Content)}
    fields |= {name for name, own in vars(report.Content).items() if isinstance(own, property)}
    # How rows and sources are kept.
    fields -= {"by_subject", "own", "sources", "strips"}
    assert {f"content.{name}" for name in fields} <= names


@pytest.mark.usefixtures("quick")
def test_from_python(demo: Path) -> None:
    """`pipeline.render` gives the same text."""
    text_ = pipeline.render(demo, runs=ASTER, sections="Workflow Funnel")
    assert text_ == report_of(demo, "--run", ASTER, "--sections", FUNNEL).stdout
    assert "<h2 " in pipeline.render(demo, runs=[ASTER], sections=[FUNNEL], as_html=True)
