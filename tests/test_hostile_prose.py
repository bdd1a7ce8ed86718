"""Markdown, code, JSON and media of rollouts are shown, and nothing of them is loaded or run."""

from __future__ import annotations

import base64
import json
import re
import time
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given

from pipeline.text import ACTIVE, neutral
from pipeline.view import prose
from tests import browser
from tests.lean import without_pages
from tests.results import analyzed, call, rollout
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


def items(payloads: list[str]) -> list[dict[str, Any]]:
    """Each as a message, a thought, a call, its result, and as the address of media."""
    return [
        item
        for number, text in enumerate(payloads)
        for item in (
            {"type": "message", "role": ("assistant", "user")[number % 2], "content": text},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]},
            {"type": "function_call", "name": text, "call_id": f"{number}", "arguments": text},
            {"type": "function_call_output", "call_id": f"{number}", "output": text},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": text},
                    {"type": text, "image_url": {"url": f"data:image/png;base64,{text}"}},
                    {"type": "input_audio", "input_audio": {"data": text, "format": text}},
                    {"type": "input_text", "text": text},
                ],
            },
        )
    ]


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Payloads in transcripts, questions, file names, fields, and labels of the analysis."""
    folder = tmp_path_factory.mktemp("bad")
    middle = len(PAYLOADS) // 2
    rows = [
        rollout(0, 0, ask=PAYLOADS[0], reward=0.0, output=items(PAYLOADS[:middle])),
        rollout(0, 1, ask=PAYLOADS[0], reward=1.0, output=items(PAYLOADS[middle:])),
    ]
    named = re.sub(r"[/\\\0]", "_", " ".join(TAGGED))
    files = {
        "bad_rollouts.jsonl": rows,
        **{f"{named[start : start + 120]}_rollouts.jsonl": rows for start in (0, 300)},
        "labels.jsonl": [
            {**TASK, "cause": "KG", "note": " ".join(PAYLOADS), "by": TAGGED[0]},
            *labels(),
        ],
    }
    with without_pages():
        return analyzed(folder, files).path


TASK = {"run": "bad", "task": 0}


def labels() -> list[dict[str, Any]]:
    """Payloads as the modes, notes and names of readers of one rollout."""
    return [
        {**TASK, "rollout": 0, "mode": f"x {text}"[:100], "note": text, "by": f"{number} {text}"}
        for number, text in enumerate(PAYLOADS)
    ]


PAGES = [
    *("/", "/rollouts", "/labels", "/compare", "/task?benchmark={}&task=0"),
    *(f"/rollout?at=bad/0:{index}{more}" for index in (0, 1) for more in ("", "&raw=1", "&page=2")),
    "/diff?at=bad/0:0&with=bad/0:1&all=1",
    *(f"/event?at=bad/0:0%23{seq}" for seq in (1, 5, 60, 160)),
]


def acting(page: str) -> set[tuple[str, str, str]]:
    """What would load, run, submit or lead elsewhere."""
    return {
        (tag, name, value)
        for tag, name, value in Elements(page).elements
        if tag in ("iframe", "object", "embed", "base", "style", "link", "video", "use", "!--")
        or name.startswith("on")
        or name in ("style", "srcdoc", "ping", "http-equiv", "formaction")
        or (name in ("src", "href", "action", "data") and not _is_ours(value))
    } - OURS


OURS = {
    ("link", "rel", "icon"),
    ("link", "rel", "stylesheet"),
    ("meta", "http-equiv", "Content-Security-Policy"),
    *(("link", "href", address) for address in ("data:,", "/view.css", "view.css", "../view.css")),
}


def _is_ours(address: str) -> bool:
    is_file = re.fullmatch(r"(\.\./)?([a-z-]+/)?[0-9a-z]+\.(html|js)(#.*)?", address)
    return bool(address[:1] == "#" or prose.MEDIA.fullmatch(address) or is_file) or (
        address[:1] == "/" and address[:2] != "//"
    )


@pytest.mark.slow
def test_payloads_are_inert_on_every_page(bad: Path, tmp_path: Path) -> None:
    """Of the server, with labels of a file too, and of a bundle."""
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(label) + "\n" for label in labels()), encoding="utf-8")
    with viewed(bad, file) as reader:
        home = reader.get("/")
        benchmark = next(each for each in home.links if "benchmark=" in each).partition("=")[2]
        texts = [reader.get(path.format(benchmark.partition("&")[0])) for path in PAGES]
    assert [page.status for page in texts] == [200] * len(PAGES)
    transcript = next(page for path, page in zip(PAGES, texts, strict=True) if "/rollout?" in path)
    assert transcript.text.count('<p class="words">') >= len(PAYLOADS)
    assert call("view", bad, "--bundle", tmp_path / "bundle").code == 0
    bundled = sorted((tmp_path / "bundle").rglob("*.html"))
    assert len(bundled) > 20
    for page in (*(each.text for each in texts), *(each.read_text("utf-8") for each in bundled)):
        assert acting(page) == set()
        assert not ACTIVE.search(page)
        assert page.count("<script") == 1


@pytest.mark.slow
@pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed")
def test_a_browser_loads_nothing_of_a_transcript(bad: Path, tmp_path: Path) -> None:
    """As prose and as written, side by side, every event open: no request, dialog or message."""
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(label) + "\n" for label in labels()), encoding="utf-8")
    assert call("view", bad, "--bundle", tmp_path / "bundle").code == 0
    bundled = [each.as_uri() for each in sorted((tmp_path / "bundle").rglob("*.html"))[::4]]
    profile = tmp_path / "browser"
    with viewed(bad, file) as reader, browser.tab(profile) as tab:
        served = [reader.base + page for page in PAGES if "{" not in page]
        for page in (reader.explorer.url, *served, *bundled):
            tab.ask("Page.navigate", url=page)
            tab.wait_for("Page.loadEventFired")
            tab.run("for (const each of document.querySelectorAll('details')) each.open = true")
            sources = tab.run(
                "[...document.querySelectorAll('img, audio')].map((each) => each.src)"
            )
            assert all(prose.MEDIA.fullmatch(unescape(source)) for source in sources), page
            assert tab.run("document.scripts.length") == 1
        assert tab.complaints == []
        ours = (reader.base, "data:", "about:", (tmp_path / "bundle").as_uri())
        assert all(url.startswith(ours) for url in tab.requests)
