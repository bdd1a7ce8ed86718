"""A headless Chromium driven through a pipe: no port, no driver, nothing to download."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATH = next((path for name in NAMES if (path := shutil.which(name))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe"),
)
COMPLAINTS = (
    *("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"),
    *("Page.javascriptDialogOpening", "Page.windowOpen", "Page.downloadWillBegin"),
)


@dataclass
class Tab:
    """One page: what it logged, what it asked the network for, what it answers."""

    to_browser: int
    from_browser: int
    session: str | None = None
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    rest: bytes = b""
    n_sent: int = 0

    def ask(self, method: str, **parameters: Any) -> Any:
        """Send a command and wait for its answer; events are noted on the way."""
        self.n_sent += 1
        number = self.n_sent
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while (reported := self._next()).get("id") != number:
            self._note(reported)
        assert "error" not in reported, (method, reported["error"])
        return reported["result"]

    def wait_for(self, event: str) -> None:
        """Until the event comes."""
        while (reported := self._next()).get("method") != event:
            self._note(reported)
        self._note(reported)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        reported = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in reported, reported["exceptionDetails"]
        return reported["result"].get("value")

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file, and what it links to inside itself."""
        self.ask("Page.navigate", url="about:blank")
        self.wait_for("Page.loadEventFired")
        self.ask("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait_for("Page.loadEventFired")

    def show(
        self, *, width: int = 1300, height: int = 1000, dark: bool = False, media: str = ""
    ) -> None:
        """The size of the window, its colours, and whether it is paper."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)

    def picture(self, path: Path) -> None:
        """What is to be seen now, as a PNG."""
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            read = os.read(self.from_browser, 1 << 20)
            assert read, "the browser ended"
            self.rest += read
        message, _, self.rest = self.rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _note(self, reported: dict[str, Any]) -> None:
        method, inputs = reported.get("method"), reported.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(inputs["request"]["url"])
        elif method in COMPLAINTS:
            self.complaints.append(json.dumps(inputs))


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """A new browser with one page; gone on leaving."""
    assert PATH is not None
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()

    def as_three_and_four() -> None:
        # Both may stand on 3 or 4 already: copy them out of the way first.
        reading, writing = os.dup(theirs_in), os.dup(theirs_out)
        os.dup2(reading, 3)
        os.dup2(writing, 4)

    process = subprocess.Popen(
        [PATH, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=as_three_and_four,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    page = Tab(ours_out, ours_in)
    try:
        target = page.ask("Target.createTarget", url="about:blank")["targetId"]
        page.session = page.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.show()
        yield page
    finally:
        process.kill()
        process.wait()
        os.close(ours_out)
        os.close(ours_in)
