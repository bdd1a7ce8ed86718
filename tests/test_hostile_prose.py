"""Markdown, code, JSON and media of rollouts are shown, and nothing of them is loaded or run."""

from __future__ import annotations

import base64
import re
import time
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given

from pipeline.text import ACTIVE, neutral
from pipeline.view import prose
from tests import browser
from tests.lean import without_pages
from tests.results import analyzed, rollout
from tests.test_hostile import TEXTS
from tests.viewed import viewed

TAGS = {
    *("p", "br", "em", "strong", "s", "code", "pre", "span", "hr", "blockquote"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
}
URL = "https://x.example/"
SCRIPT = "alert(1)"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(90)).decode()
LINKS = [
    f"[x]({URL})",
    f"[x](javascript:{SCRIPT})",
    f"[x](JaVaScRiPt:{SCRIPT})",
    f"[x](java\tscript:{SCRIPT})",
    f"[x](&#106;avascript:{SCRIPT})",
    f"[x](vbscript:{SCRIPT})",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    f"[x](<{URL}> 'title')",
    f'[x]({URL} "onmouseover={SCRIPT}")',
    f"[x][r]\n\n[r]: {URL}",
    f"[r]\n\n[r]: javascript:{SCRIPT}",
    f"<{URL}>",
    f"<javascript:{SCRIPT}>",
    "<me@x.example>",
    URL,
    "www.x.example",
    "//x.example/a",
    f"[![x]({URL}i.png)]({URL})",
]
IMAGES = [
    f"![x]({URL}i.png)",
    f"![x](javascript:{SCRIPT})",
    f"![{SCRIPT}]({URL} 'x')",
    f"![x][r]\n\n[r]: {URL}i.png",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    f"![x](data:image/png;base64,{PNG})",
    f'data:image/png;base64,{PNG}" onerror="{SCRIPT}',
    f"data:image/svg+xml;base64,{PNG}",
    f"data:text/html;base64,{PNG}",
    f"data:image/png;base64,{PNG[:50]}<script>{SCRIPT}</script>",
    f"data:audio/wav;base64,{PNG}",
    f'{{"image_url": "data:image/png;base64,{PNG}"}}',
]
TAGGED = [
    f"<script>{SCRIPT}</script>",
    f"<img src=x onerror={SCRIPT}>",
    f"<svg onload={SCRIPT}>",
    f"<svg><use href='{URL}#x'/></svg>",
    f"<iframe src={URL}></iframe>",
    f"<iframe srcdoc='<script>{SCRIPT}</script>'></iframe>",
    f"<object data={URL}></object>",
    f"<embed src={URL}>",
    f"<link rel=stylesheet href={URL}>",
    f"<style>@import '{URL}';</style>",
    f"<base href={URL}>",
    f"<meta http-equiv=refresh content='0;url={URL}'>",
    f"<form action={URL}><input name=token autofocus onfocus={SCRIPT}>",
    f"<details open ontoggle={SCRIPT}>",
    f"<video src={URL} onerror={SCRIPT}></video>",
    f"<audio src={URL}></audio>",
    f"<math><maction actiontype='statusline#{URL}'>",
    f"<div style='background:url({URL})'>",
    f"</pre></details><script>{SCRIPT}</script>",
    f"<!-- --><script>{SCRIPT}</script>",
    f"<![CDATA[<script>{SCRIPT}</script>]]>",
    f"<?php {SCRIPT} ?>",
    f"<a href={URL} ping={URL}>x</a>",
]
CODE = [
    f"```html\n<script>{SCRIPT}</script>\n```",
    f'``` "><script>{SCRIPT}</script>\nx\n```',
    f"```js onclick={SCRIPT}\nx\n```",
    f"~~~\n</pre><script>{SCRIPT}</script>",
    f"    <script>{SCRIPT}</script>",
    f"`<img src=x onerror={SCRIPT}>`",
    f"| a |\n| :-: |\n| <img src=x onerror={SCRIPT}> |",
    f"# <script>{SCRIPT}</script>",
    f"999999999. x\n1) <svg onload={SCRIPT}>",
    f"> > <script>{SCRIPT}</script>",
    f'{{"<script>{SCRIPT}</script>": "<img src=x onerror={SCRIPT}>"}}',
    "&lt;script&gt; &#x202e; &#60;b&#62;",
    "\u202e\u2066\x1b]8;;http://x\x07\x00\u200b",
]
PAYLOADS = [*LINKS, *IMAGES, *TAGGED, *CODE]


class Elements(HTMLParser):
    """The tags and attributes of a text, as a browser would read them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[tuple[str, str, str]] = set()
        self.words = ""
        # A plain string: adding to markup would escape it.
        self.feed(str(text))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note each attribute; a tag without any has one empty name."""
        self.elements |= {(tag, name, value or "") for name, value in attrs or [("", "")]}

    def handle_comment(self, data: str) -> None:
        """No text is a comment."""
        self.elements.add(("!--", "", data))

    def handle_data(self, data: str) -> None:
        """What is read."""
        self.words += data


def complaints(page: str) -> list[tuple[str, str, str]]:
    """Elements that prose may not have."""
    allowed = {(tag, "", "") for tag in TAGS}
    allowed |= {("p", "class", "heading"), ("span", "class", "language")}
    return sorted(
        each
        for each in Elements(page).elements - allowed
        if each[:2] != ("ol", "start") or not each[2].isdecimal()
    )


def test_there_are_many_payloads() -> None:
    """Sixty and more, each once."""
    assert len(PAYLOADS) == len(set(PAYLOADS)) >= 60


@pytest.mark.parametrize("text", PAYLOADS)
def test_payloads_are_text(text: str) -> None:
    """Alone, within a sentence, in a list and in a quotation."""
    for place in ("{}", "a **{}** b", "- {}", "> {}", "| a |\n| - |\n| {} |"):
        page = prose.markdown(place.format(text))
        assert complaints(page) == []
        assert not ACTIVE.search(page)
    assert "x.example" in prose.markdown(text) or "x.example" not in text


@given(TEXTS)
@example("|a|\n|-|\n|b|c|")
@example("> a|b\n> -|-\n> c|d|e")
@example("[a]: b\n\n[a]")
def test_any_text_is_prose(text: str) -> None:
    """Only tags of Markdown, without attributes; and no letter or digit is lost."""
    page = prose.markdown(text)
    assert complaints(page) == []
    assert not ACTIVE.search(page)
    letters = re.compile(r"[^\W_]")
    written = letters.findall(neutral(text.replace("\r\n", "\n").replace("\r", "\n")))
    # Numbers of a list are drawn by the browser.
    expected = [each for each in written if not each.isdigit()]
    read = [each for each in letters.findall(Elements(page).words) if not each.isdigit()]
    assert sorted(read) == sorted(expected)


@given(TEXTS)
def test_any_text_has_fields(text: str) -> None:
    """A text that is no JSON is itself."""
    assert prose.fields(f"x{text}") == [("", f"x{text}")]


def test_deep_json_stays_small() -> None:
    """It is shown as written: indented, it would be many times as long."""
    text = "[" * 1000 + "]" * 1000
    assert prose.fields(text) == [("", text)]
    assert prose.fields('{"a": {"b": [1]}, "c": "x\\ny"}') == [("a", '{"b": [1]}'), ("c", "x\ny")]


def test_only_images_and_sounds_are_media() -> None:
    """By their type and letters; a drawing could hold a script, a page is none."""
    addresses = [f"data:{kind};base64,{PNG}" for kind in ("image/png", "audio/wav")]
    assert prose.media(addresses) == [
        ("img", addresses[0], "image (png, 1 kB)"),
        ("audio", addresses[1], "audio (wav, 1 kB)"),
    ]
    refused = [
        f"data:image/svg+xml;base64,{PNG}",
        f"data:text/html;base64,{PNG}",
        f'data:image/png;base64,{PNG}" onerror="{SCRIPT}',
        f"{URL}i.png",
        f"javascript:{SCRIPT}",
        "",
    ]
    assert prose.media(refused) == []


SHAPES = ("*_", "*a ", "~~a", "|a\n|-\n", "[", "![", "<", "`", "> ", "- ", "a](b", "**a", "\\", "&")


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_takes_long(shape: str) -> None:
    """A page parses a bounded number of characters, each event a part of it."""
    text = (shape * 3000)[:3000]
    started = time.process_time()
    prose.markdown(text)
    assert time.process_time() - started < 1.0


@pytest.mark.slow
@pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed")
def test_a_browser_loads_nothing_of_a_transcript(tmp_path: Path) -> None:
    """As prose and as written, side by side, every event open: no request, dialog or message."""
    items = [
        item
        for number, text in enumerate(PAYLOADS)
        for item in (
            {"type": "message", "role": ("assistant", "user")[number % 2], "content": text},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]},
            {"type": "function_call", "name": text, "call_id": f"{number}", "arguments": text},
            {"type": "function_call_output", "call_id": f"{number}", "output": text},
        )
    ]
    rows = [rollout(0, 0, ask=text, reward=0.0, output=items[:200]) for text in PAYLOADS[:1]]
    rows += [rollout(0, 1, ask=PAYLOADS[0], reward=1.0, output=items[200:])]
    with without_pages():
        warehouse = analyzed(tmp_path, {"bad_rollouts.jsonl": rows}).path
    paths = ["at=bad/0:0", "at=bad/0:1", "at=bad/0:0&raw=1", "at=bad/0:1&raw=1"]
    pages = ["/", *(f"/rollout?{path}" for path in paths), "/diff?at=bad/0:0&with=bad/0:1&all=1"]
    profile = tmp_path / "browser"
    with viewed(warehouse) as reader, browser.tab(profile) as tab:
        for page in (reader.explorer.url, *(reader.base + page for page in pages)):
            tab.ask("Page.navigate", url=page)
            tab.wait_for("Page.loadEventFired")
            tab.run("for (const each of document.querySelectorAll('details')) each.open = true")
            sources = tab.run(
                "[...document.querySelectorAll('img, audio')].map((each) => each.src)"
            )
            assert all(prose.MEDIA.fullmatch(unescape(source)) for source in sources), page
            assert tab.run("document.scripts.length") == 1
        assert tab.complaints == []
        assert all(url.startswith((reader.base, "data:", "about:")) for url in tab.requests)
