"""The page: the same figures as the Markdown, links that lead somewhere, and inert text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import pipeline
from pipeline import report
from pipeline.report.html import body, evidence, tasks

MARKER = re.compile(r"<!--blade:([^<>\s]+)-->")
SVG_TAGS = {"svg", "g", "path", "rect", "line", "circle", "text", "tspan", "title", "desc"} | {
    *("polyline", "polygon", "defs", "pattern", "clippath", "use")
}
TAGS = SVG_TAGS | set(
    "html head meta link style script body a header main nav section footer div p b span button "
    "h1 h2 h3 h4 ul ol li dl dt dd table thead tbody tr th td code pre data details summary figure "
    "figcaption q strong em br caption mark label select option input".split()
)
ATTRIBUTES = set(
    "aria-hidden aria-label aria-labelledby aria-live charset class content cx cy d data-do "
    "data-figure data-sort data-tags font-size height hidden href http-equiv id lang name open "
    "patternunits placeholder r rel role scope tabindex text-anchor transform type value viewbox "
    "width x y".split()
)
EMPTY = {"meta", "link", "br", "input"}


@dataclass
class Read(HTMLParser):
    """A page as a parser sees it."""

    tags: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    figures: Counter[str] = field(default_factory=Counter)
    attributes: set[str] = field(default_factory=set)
    inside: list[str] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)
    policy: str = ""
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag carries."""
        given = dict(attrs)
        assert len(given) == len(attrs), (tag, attrs)
        self.tags[tag] += 1
        self.attributes |= set(given)
        for name, listed in (("id", self.ids), ("href", self.links)):
            if name in given:
                listed.append(given[name] or "")
        if "data-figure" in given:
            self.figures[given["data-figure"] or ""] += 1
        if given.get("http-equiv"):
            self.policy = given["content"] or ""
        if tag not in EMPTY:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Tags end in the order they began."""
        assert self.inside.pop() == tag, (tag, self.getpos())

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An empty element of a drawing."""
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        """Text, and what is in script and style."""
        if self.inside and self.inside[-1] in ("script", "style"):
            self.held[self.inside[-1]] = self.held.get(self.inside[-1], "") + data
        else:
            self.words.append(data)


def read(path: Path) -> Read:
    """The page of an output folder."""
    page = Read()
    page.feed((path / "report.html").read_text(encoding="utf-8"))
    page.close()
    assert page.inside == []
    return page


@pytest.fixture(scope="module")
def page(demo: Path) -> Read:
    """The page of a benchmark of the demo."""
    return read(demo.parent / "benchmarks" / "office_desk")


def test_every_figure_of_the_markdown_is_in_the_page(demo: Path, page: Read) -> None:
    """With its source, at least as often; the full account has many times more."""
    with pipeline.open_warehouse(demo) as warehouse:
        document = report.document(report.collect(warehouse).of_benchmark("office_desk"))
    content = Counter(MARKER.findall("".join(document.sections.values())))
    assert not content - page.figures
    assert page.figures.total() > 3 * content.total() > 600


def test_the_policy_lets_through_what_is_there(page: Read) -> None:
    """Nothing but the style and the script of the page itself, by their hashes."""
    for kind, text in page.held.items():
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in page.policy
    assert page.policy.startswith("default-src 'none';")
    assert "unsafe" not in page.policy
    assert "style" not in page.attributes


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("44.0%<!--blade:a?b=c#d--> of", '<data data-figure="a?b=c#d">44.0%</data> of'),
        ("(5<!--blade:a?b=c#d-->)", '(<data data-figure="a?b=c#d">5</data>)'),
        ("a <b> & \\*c\\*", "a &lt;b&gt; &amp; *c*"),
        ("<!--blade:a?b=c#d-->", ""),
        ("`x<y`", "<code>x&lt;y</code>"),
        ("[a](javascript:b)", "[a](javascript:b)"),
        ("[a](https://x.example)", "[a](https://x.example)"),
        ("![a](https://x.example/y.png)", "![a](https://x.example/y.png)"),
    ],
)
def test_lines(markdown: str, expected: str) -> None:
    """A line of Markdown as HTML: figures are marked, everything else is text."""
    assert body.inline(markdown) == expected


def test_blocks() -> None:
    """Charts stand where their comments did; other comments are not shown, other HTML is text."""
    writer = body.Body(draw=lambda mark: f"[{mark}]", cited=frozenset({"r/1:0", "r/1:0#3"}))
    lead, content = writer.section(
        "`r/1:0#3` and `r/2:0` or `r/1:0#4`\n\n<!--blade-chart:funnel?run_id=a-->\n\n"
        "<!-- curate: look -->\n\n<div onclick=x>\n\n"
        "### `a`\n\n#### `one`: 1\n\ntext\n\n#### `one`\n\n#### two\n",
        name="s",
    )
    assert '<a class="cite" href="#r/1:0%233"><code>r/1:0#3</code></a> and <code>r/2:0' in lead
    assert "or <code>r/1:0#4</code>" in lead
    assert "[funnel?run_id=a]" in content
    assert "look" not in content
    assert "&lt;div onclick=x&gt;" in content
    assert 'id="s/a/one"' in content
    assert 'id="s/a/one~2"' in content
    assert content.count("<details") == content.count("</details>") == 2
    assert content.count(" open>") == 1
    assert '<h4 class="plain">two</h4>' in content


def test_headings_leave_no_level_out() -> None:
    """Cards of an only run stand right below the section; a quotation's heading parts nothing."""
    writer = body.Body(draw=lambda _: "", cited=frozenset())
    lead, content = writer.section("#### Task `a`: 1\n\n#### two\n\n> ### quoted\n", name="s")
    assert "<summary><h3>Task <code>a</code>: 1</h3>" in content
    assert '<h3 class="plain">two</h3>' in content
    assert "<blockquote>\n<h3>quoted</h3>\n</blockquote>\n" in content
    assert "<section" not in content and lead == ""


def test_tables_of_a_users_own() -> None:
    """Without pipes at the ends, short of a cell or of all pipes, in a list; each has a head."""
    writer = body.Body(draw=lambda _: "", cited=frozenset())
    lead, content = writer.section("- a\n\n  x | y\n  --- | ---:\n  1 | 2\n  3\n", name="s")
    assert (
        '<th scope="col" class="s">x</th><th scope="col" class="n">y</th>' in lead and not content
    )
    assert lead.count("<tr>") == 3
    _, content = writer.section(
        "### a\n\n| x |\n| --- | --- |\n\n| x | y |\n| - | - |\n| 1 |\n", name="s"
    )
    assert content.count("<table>") == 1
    assert '<td class="s">1</td><td class="s"></td>' in content


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("card 90 x", "card 45 x", (("card ", "90", " x"), ("card ", "45", " x"))),
        ("aba", "abaaba", (("aba", "", ""), ("aba", "aba", ""))),
        (None, "a\u202e", (("", "nothing", ""), ("", "a\\u202e", ""))),
        ("same " * 20 + ".", "same " * 20 + ".", (("same " * 20 + ".", "", ""),) * 2),
    ],
)
def test_what_differs_is_marked(
    one: str | None, other: str, expected: tuple[evidence.Marked, evidence.Marked]
) -> None:
    """Only what two texts do not share at their ends, and nothing that acts."""
    assert evidence.marked(one, other) == expected


def test_tasks_carry_what_they_are_filtered_by(demo: Path) -> None:
    """Each row has the numbers of its options: its buckets in any run, its modes, its slices."""
    with pipeline.open_warehouse(demo) as warehouse:
        found = tasks.strips(warehouse, report.collect(warehouse))
        rows = warehouse.execute(
            "select task_id, bucket from task_outcomes inner join runs using (run_id) "
            "where runs.benchmark = 'office_desk'"
        ).fetchall()
    desk = next(strip for strip in found if strip.benchmark == "office_desk")
    options = {kind: dict(chosen) for kind, chosen in desk.options}
    assert list(options) == ["bucket", "failure mode", "slice"]
    for task in desk.tasks:
        buckets = {options["bucket"][tag] for tag in task.tags if tag in options["bucket"]}
        assert buckets == {bucket for task_id, bucket in rows if task_id == task.task_id}
        slices = [tag for tag in task.tags if tag in options["slice"]]
        assert len(slices) == 2


def test_long_differences_are_cut() -> None:
    """Around where they begin, with how much there is."""
    before, middle, after = evidence.marked("a" * 100 + "b" * 900, "a" * 100 + "c")[0]
    assert (before, after) == ("…" + "a" * 60, "")
    assert middle == "b" * 240 + "… (900 characters)"


def test_expected_is_beside_actual() -> None:
    """Argument by argument, those of either side; what is no object is shown whole."""
    values = {"name": "book", "status": "differs", "one": '{"a": 1, "b": [2]}', "other": '{"a": 3}'}
    found = evidence.beside(values)
    assert (found.title, found.heads) == ("book: made with other arguments", ("expected", "actual"))
    assert found.lines == [
        ("a", ("", "1", ""), ("", "3", "")),
        ("b", ("", "[2]", ""), ("", "nothing", "")),
    ]
    broken = evidence.beside({**values, "one": "{", "other": None})
    assert broken.lines == [("", ("", "{", ""), ("", "nothing", ""))]


MARK = "<!--blade:a?b=c&d=e#f-->"
PIECES = (
    *("word", " ", "12.5%", "n/a", "a_b", "_", "*", "**", "`", "``", "`name`", "`r/1:0`"),
    *("\\", "|"),
    *(MARK, "<!--", "-->", "<b>", "&amp;", "&", "'", '"', "@", "^", "(", ")", "!", "[a](b)", "é"),
    *("\x00", "\u00a0", "\ue000", "https://x.example", "~", "#", ">", "- ", "1. "),
)
LINES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
ROWS = st.lists(st.sampled_from((*PIECES, "|", "\\|", " | ", "    ")), max_size=8).map("".join)


@given(LINES)
def test_plain_lines_need_no_parser(line: str) -> None:
    """A line is written as its parts are where it is parsed."""
    writer = body.Body(draw=lambda _: "", cited=frozenset({"r/1:0"}))
    parser = body._parser(of_lines=True)
    (parsed,) = parser.parseInline(line)
    assert writer.line(line) == writer.renderInline(parsed.children or [], parser.options, {})


@given(ROWS, st.lists(ROWS, max_size=4))
def test_tables_have_the_cells_of_the_library(head: str, rows: list[str]) -> None:
    """A table begins and ends where the library sees it, with the cells that it sees."""
    text = "\n".join([f"{head}|x", "--|:-", *rows, "", "|behind|it|"])
    wanted: list[list[str]] = []
    is_inside = False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        is_inside = token.type == "table_open" or (is_inside and token.type != "table_close")
        if is_inside and token.type == "tr_open":
            wanted.append([])
        elif is_inside and token.type == "inline":
            wanted[-1].append(token.content)
    tokens = body._parser(of_lines=False).parse(text)
    grids = [token.meta["grid"] for token in tokens if token.type == "table"]
    assert [row for rows, _ in grids for row in rows] == wanted
    assert all(are_right == [False, True] for _, are_right in grids)
