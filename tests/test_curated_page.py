"""blade report --html: the page of a report that a person wrote, with its evidence."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from pipeline import open_warehouse
from pipeline.package.blocks import figures
from tests.conftest import ROOT
from tests.results import call
from tests.viewed import Markup

GOLDEN = ROOT / "data_samples/benchmarks/office_desk/golden_reports/aster-8b_golden_report.md"
FIGURE = re.compile(r'<data data-figure="sql\?([^"#]*)#1">([^<]*)</data>')
RUN = "office_desk_aster-8b"
NASTY = f"""# A <script>alert(1)</script> title

Before <img src=x onerror=alert(1)>.

## Evidence <b>x</b>

It passes 44.0% of 76 attempts <!--blade:sql?drop%20table%20x#1-->.
<!-- from run_metrics
     where run_id = '{RUN}': pass_at_1 = 44.0%, n_scored = 76 -->

[link](javascript:alert(1)) ![i](http://x.example/i.png) <!--blade-chart:scores?-->

| task | outcome |
| --- | --- |
| <i>9</i> | `{RUN}/9:0` |

See {RUN}/9:0#1 and `{RUN}/9:99`.

```
## not a section
```

## Evidence <b>x</b>

### Task `9`

- fail: `{RUN}/9:0`
"""


def made(report: Path, out: Path, *words: str | Path) -> str:
    """The page of a report."""
    ended = call("report", "--html", report, "--out", out, *words)
    assert ended.code == 0, ended.stderr
    return out.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_figure_shows_a_query_that_gives_it(tmp_path: Path) -> None:
    """All figures of the sample report that its sources bind, asked again one by one."""
    package = tmp_path / "office_desk"
    shutil.copytree(GOLDEN.parents[1], package)
    out = tmp_path / "out"
    assert call("analyze", package, "--out", out).code == 0
    text = made(
        package / "golden_reports" / GOLDEN.name, tmp_path / "page.html", "--warehouse", out
    )
    assert "that hold 7" in text and "that do not 0" in text
    shown = [(unquote(unescape(query)), figure) for query, figure in FIGURE.findall(text)]
    assert len(shown) > 350
    with open_warehouse(out / "warehouse.duckdb") as warehouse:
        for query, figure in shown:
            (token,) = figures(figure.rstrip(".,;:)"))
            rows = warehouse.execute(query).fetchall()
            values = [value for row in rows for value in row if not isinstance(value, str)]
            assert any(token.agrees(value) for value in values), (query, figure, values)


def test_text_is_inert_and_citations_open_evidence(demo: Path, tmp_path: Path) -> None:
    """Of any report; a citation out of code is one too, one of nothing is no link."""
    report = tmp_path / "mine.md"
    report.write_text(NASTY, encoding="utf-8")
    text = made(report, tmp_path / "page.html", "--warehouse", demo)
    tags = Markup(text).elements
    assert [tag for tag, _ in tags].count("script") == 1
    assert not {"img", "i", "iframe"} & {tag for tag, _ in tags}
    assert not any(name.startswith("on") for _, own in tags for name in own)
    links = [own["href"] or "" for tag, own in tags if tag in ("a", "link") and "href" in own]
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert "drop%20table" not in text and "from run_metrics" not in text
    ids = Markup(text).ids
    assert len(ids) == len(set(ids))
    cites = [own["href"] for tag, own in tags if own.get("class") == "cite"]
    assert cites == [f"#{RUN}/9:0", f"#{RUN}/9:0%231", f"#{RUN}/9:0"]
    assert {unquote(each or "")[1:] for each in cites} <= set(ids)
    assert "not a section" in text and text.count('<section class="section"') == 3
    queries = [unquote(query) for query, _ in FIGURE.findall(text)]
    assert queries == [
        f"select {column} from run_metrics\n     where run_id = '{RUN}'"
        for column in ("pass_at_1", "n_scored")
    ]


def test_without_data_it_says_so(tmp_path: Path) -> None:
    """The page is there, with its queries, and no citation leads anywhere."""
    report = tmp_path / "mine.md"
    report.write_text(NASTY, encoding="utf-8")
    ended = call("report", "--html", report, "--out", tmp_path / "page.html")
    assert ended.code == 0
    assert "evidence could not be looked up" in ended.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Evidence could not be looked up" in text
    assert 'class="cite"' not in text and len(FIGURE.findall(text)) == 2


def test_what_does_not_hold_is_listed(demo: Path, tmp_path: Path) -> None:
    """With its line and what the data say."""
    report = tmp_path / "mine.md"
    report.write_text(
        f"# A\n\nAll 7.\n<!-- from run_metrics where run_id = '{RUN}': n_tasks = 7 -->"
    )
    text = made(report, tmp_path / "page.html", "--warehouse", demo)
    assert "<li>line 3: 7, expected 22</li>" in text


@pytest.mark.parametrize(
    "words",
    [
        ("--html", "x.md", "--run", "a"),
        ("--html", "x.md", "--refresh", "x.md"),
        ("--results", "x"),
        ("--json",),
    ],
)
def test_what_does_not_go_together(words: tuple[str, ...]) -> None:
    """Is reported before anything is read."""
    assert call("report", *words).code == 2
