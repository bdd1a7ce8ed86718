"""The explorer in a real browser: reading, finding, asking and labelling, by mouse and by keys."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests import browser
from tests.browser import Tab
from tests.viewed import Reader, viewed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed"),
]

ASTER = "office_desk_aster-8b"
FAILING = f"/rollout?at={quote(f'{ASTER}/0:0', safe='')}"


@pytest.fixture(scope="module")
def reader(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """The demo on loopback."""
    with viewed(demo, tmp_path_factory.mktemp("labels") / "labels.jsonl") as actual:
        yield actual


@pytest.fixture(scope="module")
def tab(reader: Reader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """One browser, let in by the address that is printed."""
    with browser.tab(tmp_path_factory.mktemp("browser")) as page:
        opened(page, reader.explorer.url)
        yield page


def opened(tab: Tab, url: str) -> None:
    """Load a page."""
    tab.ask("Page.navigate", url=url)
    tab.wait_for("Page.loadEventFired")


def until(tab: Tab, script: str) -> Any:
    """The value of an expression, once there is one; pages change on the way."""
    for _ in range(100):
        try:
            if actual := tab.run(f"document.readyState === 'complete' && ({script})"):
                return actual
        except AssertionError:
            pass  # between two pages
        time.sleep(0.05)
    raise AssertionError(script)


def press(tab: Tab, *keys: str) -> None:
    """Keys, one after the other."""
    for key in keys:
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        tab.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        tab.ask("Input.dispatchKeyEvent", type="keyUp", key=key)


def test_it_loads_in_silence(tab: Tab, reader: Reader) -> None:
    """No error, nothing asked of another host, and the key is gone from the address."""
    for path in ("/", FAILING, "/compare", "/sql?query=from+bucket_counts", "/labels"):
        opened(tab, reader.base + path)
    assert tab.complaints == []
    assert all(url.startswith((reader.base, "data:", "about:")) for url in tab.requests)
    opened(tab, reader.explorer.url)
    assert tab.run("location.search + document.cookie") == ""


def test_filter_and_open(tab: Tab, reader: Reader) -> None:
    """A filter narrows the tasks; a task opens its attempts, an attempt its transcript."""
    opened(tab, reader.base + "/?benchmark=office_desk")
    tab.run("document.querySelector('[name=bucket]').value = 'never'")
    tab.run("document.getElementById('filter').requestSubmit()")
    assert until(tab, "new URLSearchParams(location.search).get('bucket') === 'never'")
    n_tasks = until(tab, "document.querySelectorAll('.tasks tbody tr').length")
    assert 0 < n_tasks < 22
    tab.run("document.querySelector('.tasks tbody a').click()")
    until(tab, "location.pathname === '/task' && document.querySelectorAll('tbody a').length")
    tab.run("document.querySelector('tbody a').click()")
    assert until(tab, "document.querySelectorAll('[data-seq]').length")


def test_a_transcript_by_keys(tab: Tab, reader: Reader) -> None:
    """By events with j and k, by errors with n and p; o folds, / finds, ? lists the keys."""
    opened(tab, reader.base + FAILING)
    at = "document.querySelector('.event.at')?.dataset.seq"
    press(tab, "j", "j")
    assert tab.run(at) == "2"
    assert tab.run("document.getElementById('e2').open") is False
    press(tab, "o")
    assert tab.run("document.getElementById('e2').open") is True
    press(tab, "n")
    assert tab.run(at) == "7"
    press(tab, "n", "n", "p", "k")
    assert tab.run(at) == "8"
    press(tab, "/")
    assert tab.run("document.activeElement.name") == "q"
    press(tab, *"lock", "Enter")
    assert until(tab, "document.querySelectorAll('.hits li').length") == 4
    press(tab, "?")
    assert tab.run("document.getElementById('keys').open") is True
    press(tab, "Escape")


def test_rows_by_keys(tab: Tab, reader: Reader) -> None:
    """From the first page to a transcript with j and Enter, and back with h."""
    opened(tab, reader.base + "/rollouts?benchmark=office_desk")
    press(tab, "j", "j", "Enter")
    assert until(tab, "location.pathname === '/rollout' && location.search")
    assert until(tab, "document.querySelectorAll('[data-seq]').length")
    press(tab, "h")
    assert until(tab, "location.pathname === '/' && document.querySelectorAll('[data-row]').length")
    press(tab, "j", "Enter")
    assert until(tab, "location.search === '?benchmark=office_desk'")


def test_kinds_are_hidden_by_a_press(tab: Tab, reader: Reader) -> None:
    """Results are gone, here and in the next transcript, until they are wanted again."""
    opened(tab, reader.base + FAILING)
    hidden = "document.getElementById('e3').offsetParent === null"
    assert tab.run(hidden) is False
    tab.run("document.querySelector('[data-kind=tool_result]').click()")
    assert tab.run(hidden) is True
    assert tab.run("document.getElementById('e2').offsetParent === null") is False
    opened(tab, reader.base + FAILING.replace("%3A0", "%3A1"))
    assert tab.run("document.querySelector('.event.tool_result').offsetParent === null") is True
    tab.run("document.querySelector('[data-kind=tool_result]').click()")
    opened(tab, reader.base + FAILING)
    assert tab.run(hidden) is False


def test_paper_has_everything_open(tab: Tab, reader: Reader) -> None:
    """Every event, and no form or menu."""
    opened(tab, reader.base + FAILING)
    tab.run("dispatchEvent(new Event('beforeprint'))")
    tab.show(media="print")
    assert tab.run("document.querySelectorAll('.event:not([open])').length") == 0
    for name in (".top", "aside", ".filters"):
        assert tab.run(f"document.querySelector('{name}').offsetParent === null"), name
    tab.show()


def test_a_labelling_session(tab: Tab, reader: Reader) -> None:
    """Evidence by a press and by a key, kept while reading on; saved; in file and report."""
    opened(tab, f"{reader.base}/rollout?at={ASTER}%2F9%3A0")
    press(tab, "j", "j", "e")
    tab.run("document.querySelector('#e3 > summary button').click()")
    cited = "document.querySelector('[name=evidence]').value"
    assert tab.run(cited) == f"{ASTER}/9:0#2\n{ASTER}/9:0#3"
    tab.run("document.querySelector('#e3 > summary button').click()")
    assert tab.run(cited) == f"{ASTER}/9:0#2"
    press(tab, "}")
    until(tab, "location.search.endsWith('9%3A1') && !!document.querySelector('[data-seq]')")
    assert tab.run(cited) == f"{ASTER}/9:0#2", "a draft is of the task"
    press(tab, "l")
    assert tab.run("document.activeElement.name") == "mode"
    is_valid = "document.querySelector('.label form').checkValidity()"
    assert tab.run(is_valid) is False, "a rollout needs a mode or a cause"
    tab.run("""
        document.querySelector('[name=rollout]').value = '';
        document.querySelector('[name=cause]').value = 'IR';
        document.querySelector('[name=note]').value = 'the record stays locked';
        document.querySelector('.label form').dispatchEvent(new Event('change'));
        document.querySelector('.label form').requestSubmit();
    """)
    assert "the record stays locked" in until(
        tab, "document.querySelector('.label .words')?.textContent"
    )
    (line,) = reader.explorer.labels.path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {
        **{"run": ASTER, "task": "9", "cause": "IR", "note": "the record stays locked"},
        "evidence": [f"{ASTER}/9:0#2"],
    }
    assert tab.run(cited) == "", "what was saved is no draft any more"
    opened(tab, f"{reader.base}/report?benchmark=office_desk")
    assert "the record stays locked" in tab.run("document.body.textContent")
    assert tab.complaints == []


def test_a_rollout_is_labelled_in_own_words(tab: Tab, reader: Reader) -> None:
    """The same form, with a mode instead of a cause: one line more, of this rollout."""
    opened(tab, f"{reader.base}/rollout?at={ASTER}%2F10%3A3")
    press(tab, "j", "e", "l", *"acts unseen")
    press(tab, "Enter")
    words = until(tab, "document.querySelector('.label .words')?.textContent")
    assert words.startswith("rollout: acts unseen, labelled")
    last = reader.explorer.labels.path.read_text(encoding="utf-8").splitlines()[-1]
    key = {"run": ASTER, "task": "10", "rollout": 3}
    assert json.loads(last) == {**key, "mode": "acts unseen", "evidence": [f"{ASTER}/10:3#1"]}
    assert tab.complaints == []


def test_sql_by_keys(tab: Tab, reader: Reader) -> None:
    """Ctrl+Enter asks; the answer is a table and a chart, which another column changes."""
    opened(tab, reader.base + "/sql")
    press(tab, "/")
    press(tab, *"from bucket_counts")
    tab.ask("Input.dispatchKeyEvent", type="keyDown", key="Enter", modifiers=2)
    assert until(tab, "document.querySelectorAll('.panel-text tbody tr').length") == 16
    assert tab.run("document.querySelector('.chart .heading').textContent") == "n_tasks by run_id"
    tab.run("""
        document.querySelector('[name=x]').value = 'bucket';
        document.querySelector('[name=x]').dispatchEvent(new Event('change'));
    """)
    heading = "document.querySelector('.chart .heading')?.textContent"
    assert until(tab, f"{heading} === 'n_tasks by bucket'")


def test_dark_and_narrow(tab: Tab, reader: Reader) -> None:
    """In the dark the page is dark; on a phone nothing reaches beyond the screen."""
    beside = FAILING.replace("/rollout", "/diff") + f"&with={ASTER}%2F0%3A2&all=1"
    lists = (
        "/",
        "/?benchmark=office_desk",
        "/rollouts",
        "/task?benchmark=office_desk&task=0",
        "/labels",
    )
    for path in (*lists, FAILING, beside, "/compare", "/sql?query=from+bucket_counts"):
        tab.show(width=390, height=800, dark=True)
        opened(tab, reader.base + path)
        assert tab.run("document.documentElement.scrollWidth") <= 390, path
        red, green, blue = tab.run(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        )[:3]
        assert red + green + blue < 150
    tab.show()
