"""The page in a real browser: it loads in silence, and does what its controls promise."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pipeline
from tests import browser
from tests.browser import Tab
from tests.results import call

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed"),
]

DESK = "#tasks .tasks"
FIRST_CELLS = f"""
    [...document.querySelector("{DESK}").tBodies[0].rows]
        .filter(row => !row.hidden).map(row => row.cells[0].textContent)
"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """One browser for all tests."""
    with browser.tab(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def desk(demo: Path) -> Path:
    """The report on one benchmark of the demo."""
    return demo.parent / "benchmarks" / "office_desk" / "report.html"


@pytest.fixture
def page(tab: Tab, desk: Path) -> Tab:
    """Its page, freshly loaded, on a light screen."""
    tab.show()
    tab.open(desk)
    return tab


def press(page: Tab, selector: str) -> None:
    """A click on the first that matches."""
    page.run(f"document.querySelector({selector!r}).click()")


def test_it_loads_in_silence(page: Tab, desk: Path) -> None:
    """No error, no warning, no request but for the file itself."""
    assert page.complaints == []
    request = {url for url in page.requests if not url.startswith(("about:", "data:"))}
    assert {url.partition("#")[0] for url in request} == {desk.as_uri()}
    assert page.run("document.querySelectorAll('main .section').length") == 13
    assert page.run("document.querySelectorAll('figure.chart svg').length") == 8


def test_the_policy_holds(page: Tab) -> None:
    """Neither a style nor a script nor a request that is added later gets through."""
    page.run("""
        window.ran = false;
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        document.body.setAttribute("style", "color: rgb(1, 2, 3)");
        const image = document.createElement("img");
        image.src = "https://x.invalid/y.png";
        document.body.append(image);
    """)
    assert page.run("window.ran") is False
    assert page.run("getComputedStyle(document.body).color") != "rgb(1, 2, 3)"
    assert page.run("document.images[0].naturalWidth") == 0
    page.complaints.clear()


def test_tables_sort(page: Tab) -> None:
    """By a press on a heading, largest first, then smallest; the order is announced."""
    press(page, f"{DESK} thead th:nth-child(2) button")
    rates = f"""[...document.querySelector("{DESK}").tBodies[0].rows]
        .map(row => Number(row.cells[1].dataset.sort))"""
    falling = page.run(rates)
    assert falling == sorted(falling, reverse=True)
    assert page.run("document.getElementById('status').textContent").startswith("Sorted by")
    press(page, f"{DESK} thead th:nth-child(2) button")
    rising = page.run(rates)
    assert rising == sorted(rising) != falling
    press(page, f"{DESK} thead th:nth-child(1) button")
    assert page.run(FIRST_CELLS)[:3] == ["21", "20", "19"]


def test_tasks_filter(page: Tab) -> None:
    """By what a task is chosen for and by words; what remains is counted, and all comes back."""
    all_rows = page.run(FIRST_CELLS)
    choose = """
        const control = [...document.querySelectorAll("#tasks .strip")[0].querySelectorAll("label")]
            .find(each => each.textContent.startsWith({!r})).querySelector("select, input");
        const option = [...(control.options ?? [])].find(each => each.textContent === {!r});
        control.value = option ? option.value : {!r};
        control.dispatchEvent(new Event("input"));
    """

    def chosen(kind: str, value: str) -> list[str]:
        page.run("{" + choose.format(kind, value, value) + "}")
        actual: list[str] = page.run(FIRST_CELLS)
        return actual

    never = chosen("bucket", "never")
    assert 0 < len(never) < len(all_rows)
    both = chosen("slice", "category = email")
    assert 0 < len(both) < len(never)
    counted = page.run("document.querySelector('#tasks .found').textContent")
    assert counted == f"{len(both)} of {len(all_rows)} rows"
    chosen("slice", "any")
    assert chosen("failure mode", "crm_update expected, not made as expected") != never
    chosen("failure mode", "any")
    chosen("bucket", "any")
    assert chosen("text", "meetings UMA") == ["0"]
    assert chosen("text", "") == all_rows


def test_sections_are_folded(page: Tab) -> None:
    """Each shows its title and what it found; a button opens all of them."""
    folds = "[...document.querySelectorAll('.section > .fold')]"
    assert page.run(f"{folds}.length") == 11
    assert page.run(f"{folds}.some(each => each.open)") is False
    assert page.run("document.querySelectorAll('#executive_summary .fold').length") == 0
    press(page, "[data-do=unfold]")
    assert page.run(f"{folds}.every(each => each.open)") is True


def test_evidence_opens_below_what_cites_it(page: Tab, desk: Path) -> None:
    """Expected beside actual; closed, it goes back; a link from outside opens it too."""
    press(page, "#executive_summary a.cite")
    card = "document.querySelector('#executive_summary .evidence')"
    assert page.run(f"{card}.open") is True
    target = page.run("decodeURIComponent(location.hash.slice(1))")
    page.run(f"{card}.open = false; new Promise(done => setTimeout(done, 100))")
    assert page.run(card) is None
    opened = f"document.getElementById({target!r}).closest('details').open"
    page.open(desk, page.run("location.hash"))
    assert page.run(opened) is True
    top = page.run(f"document.getElementById({target!r}).getBoundingClientRect().top")
    assert -1 <= top < 1000
    assert page.run("document.querySelectorAll('.evidence .beside mark').length") > 50
    page.open(desk, "#task/office_desk/3")
    top = page.run("document.getElementById('task/office_desk/3').getBoundingClientRect().top")
    assert -1 <= top < 1000


def test_a_figure_shows_its_query(page: Tab, demo: Path) -> None:
    """On hover and on focus, with a button that copies it; each query gives one value."""
    press(page, "#aggregate_results summary")
    page.run("document.querySelector('#aggregate_results td data').focus()")
    assert page.run("document.getElementById('where').hidden") is False
    page.run("document.querySelector('#where button').click()")
    page.run("new Promise(done => setTimeout(done, 100))")
    assert page.run("document.querySelector('#where button').textContent") == "Copied"
    page.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    assert page.run("document.getElementById('where').hidden") is True
    page.run("""document.querySelector('#executive_summary data').dispatchEvent(
        new PointerEvent('pointerover', {bubbles: true}))""")
    page.run("new Promise(done => setTimeout(done, 400))")
    assert page.run("document.getElementById('where').hidden") is False
    queries = page.run("""[...new Set([...document.querySelectorAll('[data-figure]')]
        .map(each => question(each.dataset.figure)))]""")
    assert len(queries) > 1000
    with pipeline.open_warehouse(demo) as warehouse:
        for query in queries[::40]:
            assert len(warehouse.execute(query).fetchall()) == 1, query


def test_arrows_lead_from_figure_to_figure(page: Tab) -> None:
    """A block is one stop of the keyboard, however many figures it has."""
    first = "document.querySelectorAll('#executive_summary li')[0]"
    page.run(f"{first}.querySelector('[data-figure]').focus()")
    stops = f"{first}.querySelectorAll('[data-figure][tabindex=\"0\"]').length"
    assert page.run(stops) == 1
    before = page.run("document.activeElement.dataset.figure")
    page.run("""document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))""")
    assert page.run("document.activeElement.dataset.figure") != before


def test_light_dark_and_paper(page: Tab) -> None:
    """Dark by the system's wish or by the button; light on paper."""
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.run(colour)
    page.show(dark=True)
    dark = page.run(colour)
    assert light == "rgb(255, 255, 255)" != dark
    press(page, "[data-do=theme]")
    assert page.run(colour) == light
    press(page, "[data-do=theme]")
    page.show(media="print", dark=True)
    assert page.run(colour) == light
    assert page.run("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_small_screens_do_not_scroll_sideways(page: Tab) -> None:
    """Wide tables scroll in themselves."""
    page.show(width=390)
    assert page.run("document.documentElement.scrollWidth") <= 390


def test_a_keyboard_reaches_everything(page: Tab) -> None:
    """The first stop skips to the report; headings sort, tables scroll, drawings have names."""
    assert page.run("document.querySelector('a').className") == "skip"
    assert page.run("document.querySelectorAll('thead button').length") > 50
    assert page.run("[...document.querySelectorAll('.scroll')].every(each => each.tabIndex === 0)")
    assert page.run(
        "[...document.querySelectorAll('svg')].every(each => "
        "each.getAttribute('role') === 'img' || each.getAttribute('aria-hidden'))"
    )


def test_paper_is_short(page: Tab) -> None:
    """What is folded is not printed: two runs fit on twelve pages."""
    printed = base64.b64decode(page.ask("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert 2 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12


def test_the_page_of_a_curated_report(tab: Tab, demo: Path, tmp_path: Path) -> None:
    """Loads in silence; a citation opens its evidence in place, a figure shows its query."""
    report, out = tmp_path / "mine.md", tmp_path / "mine.html"
    where = "run_id = 'office_desk_aster-8b'"
    report.write_text(
        "# Mine\n\n## Why\n\nIt passes 44.0%, see `office_desk_aster-8b/9:0#1`.\n"
        f"<!-- from run_metrics where {where}: pass_at_1 = 44.0% -->\n"
    )
    assert call("report", "--html", report, "--out", out, "--warehouse", demo).code == 0
    for width in (1400, 420):
        tab.show(width=width)
        tab.open(out)
        assert tab.complaints == []
        press(tab, "a.cite")
        placed = "document.querySelector('p + .evidence.placed')"
        assert tab.run(f"{placed}.open && {placed}.querySelector('.cited') !== null")
        press(tab, "[data-figure]")
        shown = tab.run("document.querySelector('#where code').textContent")
        assert shown == f"select pass_at_1 from run_metrics where {where}"
        assert tab.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1400, 800, 390])
def test_a_suite_fits_its_window(tab: Tab, demo: Path, width: int, dark: bool) -> None:
    """The matrix scrolls in itself, not the page; a benchmark's name leads to its report."""
    tab.show(width=width, dark=dark)
    overview = demo.parent / "report.html"
    tab.open(overview)
    assert tab.complaints == []
    assert tab.run("document.documentElement.scrollWidth") == width
    assert tab.run("document.querySelectorAll('.matrix tbody tr').length") == 2
    links = tab.run("[...document.querySelectorAll('.matrix thead a')].map(a => a.href)")
    desk, maths = ("office_desk", "quick_math")
    folder = demo.parent / "benchmarks"
    assert links == [(folder / name / "report.html").as_uri() for name in (desk, maths)]
