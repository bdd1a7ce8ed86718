"""Plain English: words that readers tripped over are not used, but in files still to be cleaned.

A word that a reader has to read twice is added to a list, with what to write.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from tests.conftest import ROOT

# History, data, and the tests that nobody has gone through yet; all other files are clean.
UNCHECKED = ("CHANGELOG.md", "data_samples/*", "tests/reports/*", "tests/*.py")
CLEAN_TESTS = re.compile(
    "tests/(bench/.*|test_(formats|gate|hostile|load|planted|profile|sanitize).*)"
)
# Names that say nothing of what they are. Write the noun: message, rows, match, previous_output.
EMPTY_NAMES = frozenset(
    "asked found given heard held kept left made said spoken stood thing things told".split()
)
# Words of comments, docstrings, help and messages, and what to write instead.
WORDS = {
    "anew": "again",
    "bears": "has",
    "fares": "does",
    "hears": "receives",
    "kin": "related",
    "lies": "is",
    "mend": "fix",
    "speaks": "is about",
    "nowhere": "in no place; of links: broken",
    "said": "reported, written, claimed, or a noun: message, answer",
    "spoken": "message, answer",
    "stands": "is",
    "stood": "was",
    "told": "reported, recognised, distinguished",
    "unto": "to",
    "whatever": "any, all that",
    "whoever": "who",
    "cannot be said": "is not known",
    "hold against": "compare with",
    "is not there to be read": "not found",
    "makes anew": "rebuilds",
    "tell apart": "distinguish",
    "tells apart": "distinguishes",
}
NAMES = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(EMPTY_NAMES)})(?![A-Za-z0-9])", re.IGNORECASE)
PATTERN = re.compile(rf"\b({'|'.join(map(re.escape, WORDS))})\b", re.IGNORECASE)


def files() -> list[Path]:
    """The clean files that people read."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    )
    names = [
        name
        for name in tracked.stdout.split("\0")
        if CLEAN_TESTS.fullmatch(name) or not any(fnmatch(name, path) for path in UNCHECKED)
    ]
    endings = (".j2", ".md", ".py", ".sql", ".toml")
    return [ROOT / name for name in names if name.endswith(endings) and (ROOT / name).is_file()]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Comments and texts by line; of a file that is not Python every line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), start=1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield from enumerate(token.string.split("\n"), start=token.start[0])


def names(path: Path) -> Iterator[tuple[int, str]]:
    """The names that a Python file gives: variables, parameters, functions and classes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name


def faults(path: Path, place: str) -> list[str]:
    """File, line, word, and what to write instead."""
    # Few files hold any: only these are parsed.
    whole = path.read_text(encoding="utf-8")
    found = [
        f"{place}:{line}: {match[0]!r} reads oddly; write: {WORDS[match[0].lower()]}"
        for line, text in (prose(path) if PATTERN.search(whole) else ())
        for match in PATTERN.finditer(text)
    ]
    if path.suffix == ".py" and NAMES.search(whole):
        found += [
            f"{place}:{line}: the name {name!r} says nothing; name what it is"
            for line, name in names(path)
            if name.strip("_").lower() in EMPTY_NAMES
        ]
    return found


def test_plain_words() -> None:
    """No clean file has a word of the lists."""
    checked = files()
    assert len(checked) > 300
    found = [fault for path in checked for fault in faults(path, path.relative_to(ROOT).as_posix())]
    assert not found, "\n" + "\n".join(found)
