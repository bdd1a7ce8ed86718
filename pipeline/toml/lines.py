"""The line of every key of a TOML text, which the standard parser does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field

# Names from the top of the file down; the tables of a list are numbered from 0.
Key = tuple[str | int, ...]

# No key of ours lies deeper: what does is refused above it.
DEEPEST_KEY = 4
# Against input made to take long: the parser needs the square of a key's parts, a stack frame or
# more for each level of nesting, and Python limits the digits of an integer.
MOST_PARTS = 20
MOST_NESTING = 50
LONGEST_WORD = 1000

# Every text is a row of these. A string that does not end takes the rest, so that no character is
# looked at twice.
TOKEN = re.compile(
    r"""
    (?P<newline>\n)
    | (?P<skipped>[^\S\n]+ | \#[^\n]*)
    | (?P<string>
        \"{3} (?: [^"\\]++ | \\. | "{1,2}(?!") )*+ (?: "{3,5} | \\?\Z )
        | '{3} (?: [^']++ | '{1,2}(?!') )*+ (?: '{3,5} | \Z )
        | " (?: [^"\\\n]++ | \\[^\n] )*+ (?: " | \\?(?=\n|\Z) )
        | ' [^'\n]*+ '?
    )
    | (?P<mark>[\[\]{},=.])
    | (?P<word>[^\s\[\]{},=.\#"']+)
    """,
    re.VERBOSE | re.DOTALL,
)


class ExcessError(ValueError):
    """Nothing a person would write; the parser is spared it."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def key_lines(text: str) -> dict[Key, int]:
    """Each key with the line it stands on. Any text is taken: the parser says what is not TOML."""
    scanner = _Scanner()
    for kind, raw, line in _tokens(text):
        if kind == "newline":
            scanner.end_line()
        elif kind == "mark":
            scanner.take_mark(raw, line)
        elif kind != "skipped":
            scanner.take_text(kind, raw, line)
    scanner.end_line()
    return scanner.lines


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    for match in TOKEN.finditer(text):
        raw = match[0]
        yield match.lastgroup or "", raw, line
        line += raw.count("\n")


@dataclass
class _Nest:
    """An open list or inline table: the key it is the value of, and the list's next element."""

    bracket: str
    key: Key
    index: int = 0


@dataclass
class _Scanner:
    """Where in the document the text has led: in which table, in which lists, at which key."""

    lines: dict[Key, int] = field(default_factory=dict)
    n_tables: dict[Key, int] = field(default_factory=dict)
    table: Key = ()
    nests: list[_Nest] = field(default_factory=list)
    key: Key = ()
    parts: list[str] = field(default_factory=list)
    line: int = 0
    n_brackets: int = 0
    is_value: bool = False

    def take_text(self, kind: str, raw: str, line: int) -> None:
        """A string or a bare word: part of a key, or of a value, which is of no interest."""
        if kind == "word" and len(raw) > LONGEST_WORD:
            raise ExcessError(line, f"a word of {len(raw)} characters")
        if self.is_value:
            return
        if not self.parts:
            self.line = line
        self.parts.append(raw if kind == "word" else _unquoted(raw))
        if len(self.parts) > MOST_PARTS:
            raise ExcessError(line, f"a key of more than {MOST_PARTS} parts")

    def take_mark(self, mark: str, line: int) -> None:
        """Punctuation: what it means depends on where it stands."""
        if self.is_value and mark in "[{":
            self._open(mark, line)
        elif mark == "[":
            self.n_brackets += 1
        elif mark == "=" and not self.is_value:
            self.key = self._below(self.nests[-1].key if self.nests else self.table, *self.parts)
            self._record(self.key, self.line)
            self.is_value = True
        elif mark in "]}" and self.nests:
            self.nests.pop()
            self.is_value = True
        elif mark == "," and self.nests:
            self._next()

    def end_line(self) -> None:
        """A line ends a statement, save inside brackets."""
        if self.nests:
            return
        if self.n_brackets and self.parts:
            self._enter_table()
        self.parts, self.n_brackets, self.is_value = [], 0, False

    def _open(self, bracket: str, line: int) -> None:
        self.nests.append(_Nest(bracket, self.key))
        if len(self.nests) > MOST_NESTING:
            raise ExcessError(line, f"nested more than {MOST_NESTING} levels deep")
        if bracket == "[":
            self.key = self._below(self.key, 0)
        else:
            self._record(self.key, line)
            self.parts, self.is_value = [], False

    def _next(self) -> None:
        nest = self.nests[-1]
        nest.index += 1
        self.is_value = nest.bracket == "["
        self.key = self._below(nest.key, nest.index)
        self.parts = []

    def _enter_table(self) -> None:
        """`[a.b]`, or `[[a.b]]` for one more of a list; within a list the last table is meant."""
        key: Key = ()
        for part in self.parts[:-1]:
            key = self._below(key, part)
            if key in self.n_tables:
                key = self._below(key, self.n_tables[key] - 1)
        key = self._below(key, self.parts[-1])
        if self.n_brackets > 1:
            index = self.n_tables.get(key, 0)
            self.n_tables[key] = index + 1
            key = self._below(key, index)
        self.table = key
        self._record(key, self.line)

    def _record(self, key: Key, line: int) -> None:
        for length in range(1, len(key) + 1):
            self.lines.setdefault(key[:length], line)

    @staticmethod
    def _below(key: Key, *names: str | int) -> Key:
        return (*key, *names)[:DEEPEST_KEY]


def _unquoted(raw: str) -> str:
    """The name in a quoted key; one that is not TOML is the parser's to refuse."""
    try:
        return str(tomllib.loads(f"name = {raw}")["name"])
    except ValueError:
        return raw
