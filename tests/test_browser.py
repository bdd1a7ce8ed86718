"""The page in a real browser: it loads in silence, and does what its controls promise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import browser
from tests.browser import Tab

pytestmark = pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed")

DESK = "#task_outcome_buckets .tasks"
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
def page(tab: Tab, demo: Path) -> Tab:
    """The demo's page, freshly loaded, on a light screen."""
    tab.show()
    tab.open(demo.parent / "report.html")
    return tab


def press(page: Tab, selector: str) -> None:
    """A click on the first that matches."""
    page.run(f"document.querySelector({selector!r}).click()")


def test_it_loads_in_silence(page: Tab, demo: Path) -> None:
    """No error, no warning, no request but for the file itself."""
    assert page.complaints == []
    asked = {url for url in page.requests if not url.startswith(("about:", "data:"))}
    assert {url.partition("#")[0] for url in asked} == {(demo.parent / "report.html").as_uri()}
    assert page.run("document.querySelectorAll('main .section').length") == 12
    assert page.run("document.querySelectorAll('figure.chart svg').length") > 10


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
    """By a press on a heading, largest first, then smallest; a reader is told."""
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


def test_tables_filter(page: Tab) -> None:
    """Rows that hold all words stay; without words all come back."""
    all_rows = page.run(FIRST_CELLS)
    type_in = """
        const input = document.querySelector("#task_outcome_buckets .strip .filter input");
        input.value = {!r};
        input.dispatchEvent(new Event("input"));
    """
    page.run("{" + type_in.format("meetings UMA") + "}")
    assert page.run(FIRST_CELLS) == ["0"]
    page.run("{" + type_in.format("") + "}")
    assert page.run(FIRST_CELLS) == all_rows


def test_a_link_opens_its_evidence(page: Tab, demo: Path) -> None:
    """From the text, and from outside: what was folded stands open, in view."""
    press(page, "main a.cite")
    target = page.run("decodeURIComponent(location.hash.slice(1))")
    opened = f"document.getElementById({target!r}).closest('details').open"
    assert page.run(opened) is True
    page.open(demo.parent / "report.html", page.run("location.hash"))
    assert page.run(opened) is True
    top = page.run(f"document.getElementById({target!r}).getBoundingClientRect().top")
    assert -1 <= top < 1000
    page.open(demo.parent / "report.html", "#task/office_desk/3")
    top = page.run("document.getElementById('task/office_desk/3').getBoundingClientRect().top")
    assert -1 <= top < 1000


def test_a_figure_says_where_it_comes_from(page: Tab) -> None:
    """Pressed, it shows the question that it answers; Escape puts that away."""
    press(page, "#aggregate_results td data")
    assert page.run("document.querySelector('#where code').textContent").startswith("select ")
    page.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    assert page.run("document.getElementById('where').hidden") is True


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
