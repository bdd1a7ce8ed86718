"""The pages as files for any web host: relative links, no server."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from html import escape, unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from .. import __version__, files, outputs
from ..citation import parse
from ..errors import BladeError, UsageError
from ..text import json_text
from . import pages
from .labels import LabelFile
from .opened import Followed
from .prose import link
from .transcript import PAGE as EVENTS

HOME = "index.html"
LISTING = "bundle.json"
NAME = re.compile(r"index\.html|view\.(css|js)|[a-z]+(-[a-z]+)?/[0-9a-f]{16}\.html")
# What a page of the bundle may be asked for: not every filter and order is worth a page.
PARAMETERS = {
    "/": {"benchmark", "run", "bucket", "mode", "slice", "page", "runs"},
    "/rollouts": {"benchmark", "run", "mode", "health", "page"},
    "/task": {"benchmark", "task"},
    "/rollout": {"at", "page"},
    "/diff": {"at", "with", "page"},
    "/event": {"at"},
    "/compare": {"pair", "metric"},
    "/compare/tasks": {"pair", "metric", "policy", "ledger", "slice", "line", "effect", "page"},
}
FILES = {"/view.css": pages.STYLES, "/view.js": pages.SCRIPTS}
# Attributes of the pages' own tags: in texts of rollouts quotes are escaped.
ADDRESS = re.compile(r' (href|src)="(/[^"]*)"')
# Most of the time of a page goes into its queries.
THREADS = 4
BATCH = 64
# Rows of a list, which are narrowed in the page.
ROWS = "500"


class _Copy:
    """What templates read of a bundle: no label but those of the analysis."""

    is_bundle = True
    labels = LabelFile(Path(os.devnull))


def write(
    warehouse: Path,
    folder: Path,
    *,
    clean: Callable[[str, str], str],
    memory_limit: str | None = None,
    progress: Callable[[int, int], None] = lambda _written, _known: None,
) -> tuple[int, int]:
    """Write all files or none; returns their number and bytes. `clean` gets a name and a page.

    `progress` gets how many pages are written, and of how many that are known so far.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file.", hint="Choose a folder with --bundle.")
    sizes: dict[str, int] = {}
    with outputs.replaced(folder, by="bundle", stale=_of_earlier_call) as beside:
        for name, text, n_known in bundle(warehouse, memory_limit=memory_limit):
            outputs.write(beside, {name: clean(name, text) if name.endswith(".html") else text})
            sizes[name] = (beside / name).stat().st_size
            progress(len(sizes), n_known)
        content = {"blade_version": __version__, "files": sorted(sizes)}
        outputs.write(beside, {LISTING: json_text(content, indent=1) + "\n"})
    return len(sizes), sum(sizes.values())


def _of_earlier_call(folder: Path) -> set[str]:
    known: set[str] = set()
    if files.is_own(folder / LISTING):
        with suppress(files.UnreadableError, ValueError, KeyError, TypeError, RecursionError):
            listed = set(json.loads(files.content(folder / LISTING))["files"])
            known = {*listed, LISTING} if all(map(NAME.fullmatch, listed)) else set()
    hint = "Choose an empty folder with --bundle."
    return outputs.of_earlier_call(folder, known, by="bundle", hint=hint)


def bundle(warehouse: Path, *, memory_limit: str | None = None) -> Iterator[tuple[str, str, int]]:
    """Every page that others lead to, with the name of its file; then style and script.

    With each of them how many files are known to come in all.
    """
    followed = Followed(warehouse, _Copy.labels, memory_limit=memory_limit)
    seen = {"/"}
    todo = ["/"]

    def rendered(address: str) -> tuple[str, str, list[str]]:
        parts = urlsplit(address)
        query = {**dict(parse_qsl(parts.query, keep_blank_values=True)), "rows": ROWS}
        try:
            with followed.opened() as opened:
                content = pages.content(parts.path, opened, query)
        except BladeError as error:
            content = ("message", pages.message(error, error.hint))
        return (_name(address), *_relinked(pages.text(*content, _Copy, followed), address))

    with ThreadPoolExecutor(THREADS) as threads:
        while todo:
            batch, todo = todo[:BATCH], todo[BATCH:]
            for name, text, targets in threads.map(rendered, batch):
                todo += [each for each in targets if each not in seen]
                seen.update(targets)
                yield name, text, len(seen) + len(FILES)
    for path, names in FILES.items():
        yield path[1:], pages.file(names), len(seen) + len(FILES)


def _relinked(text: str, address: str) -> tuple[str, list[str]]:
    """A page with links to files, and the pages that it leads to; other links are text."""
    targets: dict[str, None] = {}
    prefix = "../" * _name(address).count("/")

    def relative(match: re.Match[str]) -> str:
        path, _, fragment = unescape(match[2]).partition("#")
        target = path if path in FILES else _target(path)
        if target is None:
            return ""
        if target not in FILES:
            targets[target] = None
        file = prefix + _name(target) + (f"#{fragment}" if fragment else "")
        return f' {match[1]}="{escape(file)}"'

    return ADDRESS.sub(relative, text), list(targets)


def _name(address: str) -> str:
    """The file of a page: a digest, since names of runs and tasks may be anything."""
    if address in FILES:
        return address[1:]
    if address == "/":
        return HOME
    folder = urlsplit(address).path.strip("/").replace("/", "-") or "tasks"
    return f"{folder}/{sha256(address.encode()).hexdigest()[:16]}.html"


def _target(address: str) -> str | None:
    """The address under which the bundle has a page; None if it has not."""
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query))
    if parts.path not in PARAMETERS or not query.keys() <= PARAMETERS[parts.path]:
        return None
    for name in ("at", "with") if parts.path in ("/rollout", "/diff") else ():
        cited = parse(query.get(name, ""))
        if cited and cited.seq is not None:
            query[name] = str(replace(cited, seq=None))
            if parts.path == "/rollout":
                query["page"] = str(-(-cited.seq // EVENTS))
    if query.get("page") == "1":
        del query["page"]
    return link(parts.path, **{f"{name}_": query[name] for name in sorted(query)})
