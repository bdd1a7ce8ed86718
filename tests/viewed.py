"""An explorer running on loopback, and a reader who has its key."""

from __future__ import annotations

import html
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

from pipeline.view.server import Explorer, prepared


class Markup(HTMLParser):
    """What a browser would act on: elements with their attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.tags = {tag for tag, _ in self.elements}
        self.attributes = {name for _, own in self.elements for name in own}
        self.ids = [own["id"] or "" for _, own in self.elements if "id" in own]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note tag and attributes."""
        self.elements.append((tag, dict(attrs)))

    @property
    def addresses(self) -> list[str]:
        """Where they lead."""
        leading = ("href", "src", "action")
        return [own[name] or "" for _, own in self.elements for name in leading if name in own]


@dataclass
class Answer:
    """What came back."""

    status: int
    text: str
    headers: dict[str, str]

    @property
    def words(self) -> str:
        """Without markup, as a person reads it."""
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", self.text)).split())

    def event(self, name: str | int) -> str:
        """One event of a transcript by its number, or the question."""
        end = rf"e{name}" if isinstance(name, int) else name
        match = re.search(rf'<details class="event[^>]* id="{end}".*?</details>', self.text, re.S)
        assert match is not None
        return match[0]

    @property
    def links(self) -> list[str]:
        """Addresses of the page, in order."""
        return [html.unescape(each) for each in re.findall(r'href="([^"]*)"', self.text)]


@dataclass
class Reader:
    """Asks as a browser with the cookie would, unless the headers say otherwise."""

    explorer: Explorer
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.explorer.port}"

    def get(self, path: str, *, headers: dict[str, str] | None = None, **query: str) -> Answer:
        """A page."""
        request = {name.rstrip("_"): value for name, value in query.items()}
        address = f"{path}?{urlencode(request, quote_via=quote)}" if request else path
        return self._sent(urllib.request.Request(self.base + address), headers)

    def post(self, form: dict[str, str], *, headers: dict[str, str] | None = None) -> Answer:
        """A label, as the form of a page sends it."""
        body = urlencode({"token": self.explorer.token, **form}).encode()
        request = urllib.request.Request(f"{self.base}/label", data=body)
        return self._sent(request, {"Origin": self.base} if headers is None else headers)

    def _sent(self, request: urllib.request.Request, headers: dict[str, str] | None) -> Answer:
        known = {"Cookie": f"{self.explorer.cookie}={self.explorer.token}"}
        for name, value in {**known, **(headers or {})}.items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return Answer(response.status, response.read().decode(), dict(response.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read().decode(), dict(error.headers))


@contextmanager
def viewed(warehouse: Path, labels: Path | None = None) -> Iterator[Reader]:
    """An explorer for as long as it is needed."""
    explorer, server, listening = prepared(warehouse, port=0, label_file=labels)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Reader(explorer)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
