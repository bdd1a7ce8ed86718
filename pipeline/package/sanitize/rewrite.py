"""A file's lines -> the same lines without what must go; their number never changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pipeline.package.sanitize.documents import document_spans
from pipeline.package.sanitize.json_text import is_json
from pipeline.package.sanitize.ledger import Ledger
from pipeline.package.sanitize.screen import suspects
from pipeline.package.sanitize.values import Policy, Span

# Lines of prose are read together: a key, or a name, may go over several. The blocks of a file
# are the same on every run, since no line comes or goes.
LINES = 64
MOST_KEY_LINES = 400
MOST_HELD = 1 << 22
# What is left may look private only once its surroundings are gone.
MOST_ROUNDS = 8
BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
ROWS = (".jsonl", ".ndjson")
STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Parts of a file that are read on their own, each with the number of its first line."""
    with path.open("rb") as file:
        if path.suffix.lower() == ".json":
            yield 1, file.read()
        else:
            yield from _line_blocks(file, 1 if path.suffix.lower() in ROWS else LINES)


def _line_blocks(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    first, held, is_open = 1, [], False
    for number, line in enumerate(file, 1):
        held.append(line)
        is_open = _is_open_after(line, is_open, is_row=size == 1)
        if number % size == 0 and (not is_open or len(held) > size + MOST_KEY_LINES):
            yield first, b"".join(held)
            first, held, is_open = number + 1, [], False
    if held:
        yield first, b"".join(held)


def _is_open_after(line: bytes, is_open: bool, *, is_row: bool) -> bool:
    """Whether a key that began here or above has not ended by the end of the line."""
    begin = max((match.end() for match in BEGIN.finditer(line)), default=-1)
    end = max((match.end() for match in END.finditer(line)), default=-1)
    if begin < 0 and end < 0:
        return is_open
    # A row's strings hold their line breaks escaped.
    return begin > end and not (is_row and is_json(line.decode("utf-8", "surrogateescape")))


@dataclass(frozen=True)
class Block:
    """Lines that are read together; whether anything could be found in them, in each string."""

    first: int
    content: bytes
    is_suspect: bool
    flags: Sequence[bool]


def screened(path: Path, policy: Policy) -> Iterator[Block]:
    """The blocks of a file, many of them looked over at once."""
    held: list[tuple[int, bytes]] = []
    size = 0
    for first, content in blocks(path):
        held.append((first, content))
        size += len(content)
        if size >= MOST_HELD:
            yield from _screened(held, policy)
            held, size = [], 0
    yield from _screened(held, policy)


def _screened(held: list[tuple[int, bytes]], policy: Policy) -> Iterator[Block]:
    are_suspect = suspects([content for _, content in held], policy)
    strings = [
        [match[1] for match in STRING.finditer(content)]
        if is_suspect and _is_like_json(content)
        else []
        for (_, content), is_suspect in zip(held, are_suspect, strict=True)
    ]
    flags = suspects([string for each in strings for string in each], policy)
    at = 0
    for (first, content), is_suspect, each in zip(held, are_suspect, strings, strict=True):
        yield Block(first, content, is_suspect, flags[at : at + len(each)])
        at += len(each)


def _is_like_json(content: bytes) -> bool:
    return content.lstrip()[:1] in (b"{", b"[")


def sanitized(block: Block, file: str, policy: Policy, ledger: Ledger) -> bytes:
    """A block without what must go; the ledger learns of it."""
    if not block.is_suspect:
        return block.content
    text = block.content.decode("utf-8", "surrogateescape")
    is_changed = False
    for _ in range(MOST_ROUNDS):
        # What was not suspect is not changed, and so is not suspect still.
        found = document_spans(text, policy, flags=block.flags)
        if not found:
            break
        text = _replaced(text, found, block.first, file, ledger)
        is_changed = True
    return text.encode("utf-8", "surrogateescape") if is_changed else block.content


def _replaced(text: str, found: list[Span], first: int, file: str, ledger: Ledger) -> str:
    parts: list[str] = []
    last, line = 0, first
    for span in found:
        before = text[last : span.start]
        line += before.count("\n")
        after = text[span.end : span.end + 1]
        placeholder = ledger.put(span, file, line, after)
        n_breaks = text.count("\n", span.start, span.end)
        parts += (before, placeholder, "\n" * n_breaks)
        line += n_breaks
        last = span.end
    return "".join((*parts, text[last:]))
