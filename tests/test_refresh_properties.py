"""After any change of the data, a refreshed report has no figure beside a wrong name."""

from __future__ import annotations

import re

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.package.answers import Answer, Answering
from pipeline.package.blocks import read
from pipeline.package.compare import compared
from pipeline.package.findings import CONTRADICTED, fixed

NAMES = ["ant", "bee", "cat", "dog", "elk"]
FIGURE = re.compile(r"`?\b(ant|bee|cat|dog|elk)\b`? (?:has|leads with|is last, at) (\d+)")
Data = dict[str, int]
DB = duckdb.connect()


def asked(data: Data) -> Answering:
    """A warehouse with one relation: a name, its count and its rank."""
    ranked = sorted(data, key=lambda name: (-data[name], name))
    rows = ", ".join(f"('{name}', {data[name]}, {no})" for no, name in enumerate(ranked, 1))
    given = f"with t(name, n, rank) as (values {rows})"
    return lambda source: Answer(tuple(DB.execute(f"{given} {source.query}").fetchall()))


def written(data: Data, rows: list[str], mentioned: list[str], *, is_quoted: bool) -> str:
    """A table by name, a sentence of several names, sentences by rank and by order."""
    ranked = sorted(data, key=lambda name: (-data[name], name))
    first, last = ranked[0], ranked[-1]
    mark = "`" if is_quoted else ""
    lines = [f"| `{name}` | {data[name]} | seen |" for name in rows]
    pairs = ", ".join(f"'{name}' (n = {data[name]})" for name in mentioned)
    sentence = " and ".join(f"{mark}{name}{mark} has {data[name]}" for name in mentioned)
    return "\n".join(
        [
            *("| name | n | note |", "| - | -: | - |", *lines, "<!-- from t by name: n -->", ""),
            *(f"{sentence}.", f"<!-- from t by name: {pairs} -->", ""),
            f"{mark}{first}{mark} leads with {data[first]}.",
            f"<!-- from t where rank = 1: name = {first}, n = {data[first]} -->",
            "",
            f"- {mark}{last}{mark} is last, at {data[last]}",
            f"  <!-- sql: select name, n from t order by n, name desc limit 1 = {last}, "
            f"{data[last]} -->",
            "",
        ]
    )


def beside(text: str) -> list[tuple[int, str, int]]:
    """Each line with a name and the figure beside it."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("<!--") and "<!--" not in line:
            row = re.match(r"\| `(\w+)` \| (\d+) \|", line)
            pairs = [row.groups()] if row else FIGURE.findall(line)
            found += [(number, name, int(count)) for name, count in pairs]
    return found


counts = st.dictionaries(st.sampled_from(NAMES), st.integers(2, 99), min_size=1)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(old=counts, new=counts, data=st.data())
def test_a_refresh_never_puts_a_figure_beside_a_wrong_name(
    old: Data, new: Data, data: st.DataObject
) -> None:
    """Rows reordered and dropped, ranks changed, runs renamed, gone and new, figures changed.

    What a refresh writes is true; what it leaves untrue is contradicted on its line.
    """
    rows = data.draw(st.permutations(sorted(old)))[: data.draw(st.integers(1, len(old)))]
    mentioned = data.draw(st.permutations(sorted(old)))[: data.draw(st.integers(1, len(old)))]
    text = written(old, rows, mentioned, is_quoted=data.draw(st.booleans()))
    assert [each for each in compared(read(text), asked(old)) if each.status == CONTRADICTED] == []
    answers = asked(new)
    after = fixed(text, compared(read(text), answers))
    left = {each.line for each in compared(read(after), answers) if each.status == CONTRADICTED}
    was = set(beside(text))
    for line, name, count in beside(after):
        is_true = new.get(name) == count
        # What was not touched is as it was, and is named where it is wrong.
        assert is_true or ((line, name, count) in was and left), (text, after)
