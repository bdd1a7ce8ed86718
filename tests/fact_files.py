"""Facts of analyzed results: files of queries and the rows they give, as SQLite's logic tests are.

A fact is a line `# what is so.` and below it queries, each with its rows after `----`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lean import named
from tests.results import Content, Results, analyzed

FOLDER = Path(__file__).parent / "facts"


@dataclass(frozen=True)
class Fact:
    """What is so, and the queries that show it."""

    says: str
    queries: tuple[tuple[str, str], ...]

    def check(self, actual: Results) -> None:
        """Every query gives its rows, in their order."""
        for query, rows in self.queries:
            values = "\n".join(" | ".join(map(_shown, row)) for row in actual.rows(query))
            assert values == rows, f"{query}\n----\n{values}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value.replace("\n", "\\n") or "''"
    return "null" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def fact(says: str, text: str) -> Fact:
    """Queries with their rows, parted by blank lines."""
    blocks = [block.partition("\n----") for block in re.split(r"\n\n+", text.strip("\n"))]
    assert all(mark for _, mark, _ in blocks), f"no ---- below a query of: {says}"
    return Fact(says, tuple((query, rows.removeprefix("\n")) for query, _, rows in blocks))


def read(name: str) -> list[Fact]:
    """The facts of `tests/facts/<name>.test`."""
    text = (FOLDER / f"{name}.test").read_text(encoding="utf-8")
    parts = re.split(r"^# ", text, flags=re.MULTILINE)[1:]
    return [fact(says, rest) for says, _, rest in (part.partition("\n") for part in parts)]


def facts(name: str) -> pytest.MarkDecorator:
    """A test for each fact of a file."""
    actual = read(name)
    return pytest.mark.parametrize("fact", actual, ids=[fact.says for fact in actual])


def facts_of(files: Mapping[str, Content], name: str) -> Any:
    """A test for each fact of a file about these results, which are analyzed once.

    Only the relations that its queries name are made, and what must hold of any input is checked.
    """
    results: list[Results] = []

    @facts(name)
    def test(fact: Fact, tmp_path_factory: pytest.TempPathFactory) -> None:
        if not results:
            queries = (query for each in read(name) for query, _ in each.queries)
            needs = ("assertions.fail", *named(*queries))
            results.append(analyzed(tmp_path_factory.mktemp(name), files, needs=needs))
        fact.check(results[0])

    test.__doc__ = f"As tests/facts/{name}.test says."
    return test


def check(actual: Results, name: str) -> None:
    """Every fact of a file holds."""
    for each in read(name):
        each.check(actual)
