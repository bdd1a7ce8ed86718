"""Sources of blocks: how they are read, run and compared with the figures before them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.package import sources
from pipeline.package.blocks import Source, read
from pipeline.package.sources import (
    CONTRADICTED,
    UNCHECKED,
    VERIFIED,
    Answer,
    Answers,
    Finding,
    compared,
    fixed,
    refreshed,
)
from pipeline.report.cited import literal
from pipeline.warehouse import open_warehouse
from tests.results import call

RUN = "office_desk_aster-8b"
LINE = f"from run_metrics where run_id = '{RUN}'"


class Given:
    """Values for every source, whatever it asks."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __call__(self, source: Source) -> Answer:
        """All of them."""
        return Answer(tuple(("c", value) for value in self.values))


def found(text: str, *values: Any) -> list[tuple[str, str, str | None]]:
    """Findings on a paragraph with one source of these values."""
    report = read(f"{text}\n<!-- sql: select 1 -->\n")
    return [(each.claim, each.status, each.expected) for each in compared(report, Given(*values))]


def wrong(findings: list[Finding]) -> list[tuple[int, str, str | None]]:
    return [
        (each.line, each.claim, each.expected)
        for each in findings
        if each.span and each.status == CONTRADICTED
    ]


def tokens(text: str) -> list[str]:
    return [token.text for block in read(text).blocks for token in block.tokens]


def test_sources_belong_to_the_block_before_them() -> None:
    """Directly below, after a blank line, several, over several lines; other comments are none."""
    text = (
        "# 3 things\n\nIt is 5.\n<!-- from a: b -->\n<!-- sql: select\n  1 -->\n\n"
        "| a | b |\n| - | - |\n| x | 1 |\n<!-- from t order by x limit 1: y -->\n\n"
        "- one 1\n- two 2\n\n<!-- from l: z -->\n- three 3\n<!-- curate: from here: 4 -->\n\n"
        "```\nIt is 6.\n```\n\n> It is 7.\n\n<!-- from the author: a note -->\nLast 8.\n"
    )
    report = read(text)
    told = [
        (block.kind, block.line, [token.text for token in block.tokens], len(block.sources))
        for block in report.blocks
    ]
    assert told == [
        ("heading", 1, [], 0), ("paragraph", 3, ["5"], 2), ("table", 8, ["1"], 1),
        ("list", 13, ["1", "2"], 1), ("list", 17, ["3"], 0), ("paragraph", 27, ["8"], 0),
    ]  # fmt: skip
    assert [source.line for source in report.blocks[1].sources] == [4, 5]
    assert report.blocks[1].sources[1].query == "select\n  1"


def test_from_is_short_for_a_select() -> None:
    """The colon that begins the columns is the last one outside of quotes and casts."""
    (block,) = read(
        "5\n<!-- from t where a = 'x: y' and b::int = 2 order by c limit 3: d, e::int -->\n"
    ).blocks
    query = "select d, e::int\nfrom t where a = 'x: y' and b::int = 2 order by c limit 3"
    assert block.sources[0].query == query
    (block,) = read("5\n<!-- from t where a = 1 -->\n").blocks
    assert (block.sources[0].query, "columns" in block.sources[0].fault) == (None, True)


def test_a_literal_cannot_end_its_comment(demo: Path) -> None:
    """Quotes, dashes, line ends and signs that no reader sees survive as values."""
    value = "it's --> a\n--->\u202e\tb"
    told = literal(value)
    assert "-->" not in told and "\n" not in told and "\u202e" not in told
    with open_warehouse(demo) as warehouse:
        assert warehouse.execute(f"select {told}").fetchall() == [(value,)]


def test_what_is_a_figure() -> None:
    """Counts, rates, points and bounds; neither names nor dates, code, quotes or conventions."""
    text = (
        "1. 44.0% of 1,234, -3.2 and +17.0 points, 0.0123, below 0.001, < 0.05, ~30, 14/57, n/a, "
        '`5 of 6`, "7 of 8", run/3:1#4, pass@4, pass^2, 95% CI, 80% power, gpt-4, v1.2, '
        "2024-07-17, 11:00, 00041928, task 12, tasks 4, 7 and 9, k = 4, <b>x</b>, [a](http://x/9)."
    )
    assert tokens(text) == [
        "44.0%", "1,234", "-3.2", "+17.0 points", "0.0123", "below 0.001", "< 0.05", "30", "14",
        "57", "n/a",
    ]  # fmt: skip
    assert tokens("| 5 of | b |\n| - | - |\n| 3 of 4 | 50% |\n") == ["3", "4", "50%"]


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("45.0%", 0.44049, "44.0%"), ("45%", 0.44049, "44%"), ("1,235", 1234, "1,234"),
        ("1235", 1234, "1234"), ("+4.1 points", -0.0397, "-4.0 points"), ("+4.1", 0.0397, "+4.0"),
        ("4.1 points", -0.0397, "4.0 points"), ("+1.0 points", 0.0004, "+0.04 points"),
        ("below 0.0001", 0.0123, "0.0123"), ("0.7", 0.5, "0.5"), ("5", None, "n/a"),
        ("n/a", 7, "7"), ("3", 0.4405, "0.4405"), ("\u22123.2", -3.4, "\u22123.4"),
        ("18", 17.3, "17"),
    ],
)  # fmt: skip
def test_a_wrong_figure_comes_with_the_right_one_in_its_own_form(
    text: str, value: float | None, expected: str
) -> None:
    """Its unit, sign, digits and thousands; and that form agrees with the value."""
    assert found(f"It is {text} now.", value) == [(text, CONTRADICTED, expected)]
    assert found(f"It is {expected} now.", value) == [(expected, VERIFIED, expected)]


def test_figures_and_values_are_aligned_in_order() -> None:
    """What no value accounts for is unchecked; names and yes or no are no figures."""
    text = "In 2026, 31 of 76 pass (40.8%), 7 more by reading."
    assert found(text, "x", 31, True, 76, 0.4079) == [
        ("2026", UNCHECKED, None), ("31", VERIFIED, "31"), ("76", VERIFIED, "76"),
        ("40.8%", VERIFIED, "40.8%"), ("7", UNCHECKED, None),
    ]  # fmt: skip
    # Beside one without a source, the changed one is named: by its form, else by nearness.
    assert found("Of 12 tasks 45.0% pass.", 0.44)[1] == ("45.0%", CONTRADICTED, "44.0%")
    assert found("Of 760 rollouts 32 pass.", 31)[1] == ("32", CONTRADICTED, "31")
    assert found("In 1 of them 20.0% pass.", 0.9)[1] == ("20.0%", CONTRADICTED, "90.0%")
    # A value that is printed nowhere is no error, nor is a null in an empty cell.
    assert found("Only 76.", 31, 76, 0.4) == [("76", VERIFIED, "76")]
    assert {status for _, status, _ in found("4 and 5", 4, None, 5)} == {VERIFIED}


FIGURES = st.one_of(
    st.integers(0, 99_999).map(lambda n: (f"{n:,}", n)),
    st.integers(0, 1000).map(lambda n: (f"{n / 10:.1f}%", n / 1000)),
    st.integers(-999, 999).filter(bool).map(lambda n: (f"{n / 10:+.1f} points", n / 1000)),
    st.integers(1, 9999).map(lambda n: (f"{n / 10000:.4f}", n / 10000)),
)


@given(figures=st.lists(FIGURES, min_size=1, max_size=12), data=st.data())
def test_any_changed_figure_is_named_and_fixed(
    figures: list[tuple[str, float]], data: st.DataObject
) -> None:
    """In a paragraph, a list or a table: exactly its line and value, and the bytes come back."""
    printed, values = [text for text, _ in figures], [value for _, value in figures]
    shape = data.draw(st.sampled_from(["{} and so", "- {} is it\r\n", "| a | {} |\n"]))
    head = "| h | n |\n| - | - |\n" if shape.startswith("|") else ""
    text = f"# T\n\n{head}" + "".join(
        shape.format(each) + " " * (shape[0] == "{") for each in printed
    )
    text = text.rstrip("\n") + "\n<!-- sql: select 1 -->\n\nEnd.\n"
    report = read(text)
    assert {each.status for each in compared(report, Given(*values))} == {VERIFIED}
    every = [token for block in report.blocks for token in block.tokens]
    token = data.draw(st.sampled_from(every))
    other = token.text.translate(str.maketrans("0123456789", "1234567890"))
    other = re.sub(r"^([+-]?)0(?=\d)", r"\g<1>1", other)
    changed = text[: token.start] + other + text[token.end :]
    findings = compared(read(changed), Given(*values))
    assert wrong(findings) == [(token.line, other, token.text)]
    assert fixed(changed, findings) == text


@pytest.mark.parametrize(
    "query",
    [
        "attach 'x.db'", "copy runs to 'x.csv'", "pragma database_list", "select 1; select 2",
        "from read_csv('/etc/passwd')", "select * from glob('/*')", "drop table runs",
        "set threads = 1", "install httpfs", "selec 1", "select nothing from runs", "",
        "select 1 from nowhere",
    ],
)  # fmt: skip
def test_a_source_that_cannot_be_run_is_named_on_its_line(demo: Path, query: str) -> None:
    """Nothing is made, read or set, and no figure is verified or contradicted by it."""
    with open_warehouse(demo) as warehouse:
        findings = compared(read(f"It is 5.\n<!-- sql: {query} -->\n"), Answers(warehouse))
    assert [(each.line, each.status) for each in findings] == [(1, UNCHECKED), (2, CONTRADICTED)]
    assert findings[1].source


def test_beside_a_source_that_cannot_be_run_nothing_is_contradicted(demo: Path) -> None:
    """What another source verifies is verified; what differs may be the broken one's."""
    text = "It is 5 of 22.\n<!-- sql: nonsense -->\n<!-- sql: select 22 -->\n\n"
    text += "It is 5 of 23.\n<!-- sql: nonsense -->\n<!-- sql: select 22 -->\n"
    with open_warehouse(demo) as warehouse:
        findings = compared(read(text), Answers(warehouse))
    statuses = [each.status for each in findings if each.line in (1, 5)]
    assert statuses == [UNCHECKED, VERIFIED, UNCHECKED, UNCHECKED]


def test_a_source_that_asks_too_much_is_not_checked(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Endless recursion ends in time, and ten thousand values are the most."""
    monkeypatch.setattr(sources, "MOST_SECONDS", 1.0)
    endless = (
        "with recursive t as (select 1 as a union all select a + 1 from t) select max(a) from t"
    )
    text = f"5\n<!-- sql: {endless} -->\n\n5\n<!-- sql: from range(10001) -->\n"
    with open_warehouse(demo, memory_limit="500MB") as warehouse:
        findings = compared(read(text), Answers(warehouse))
        assert warehouse.execute("select 1").fetchall() == [(1,)]
    told = [(each.line, each.status, each.source) for each in findings if each.line in (2, 5)]
    assert told == [
        (2, UNCHECKED, "the query takes longer than 1 s"),
        (5, UNCHECKED, "the query gives more than 10,000 values"),
    ]


def test_a_source_without_a_block_is_an_error() -> None:
    """Below a heading it speaks for nothing."""
    (finding,) = compared(read("# A\n<!-- from t: a -->\n"), Given())
    assert (finding.line, finding.status) == (2, CONTRADICTED)


def test_refresh_touches_figures_of_sources_and_nothing_else(demo: Path, tmp_path: Path) -> None:
    """Every figure becomes this warehouse's, whatever it was; a second time nothing is left."""
    text = (
        "\ufeff# A\r\n\r\nIt passes 1.0% of 99 attempts at 9 tasks; 5 by hand.\r\n"
        f"<!-- {LINE}: pass_at_1, n_scored, n_tasks -->\r\n\r\nAnd 12 of 13 stay.\r\n"
    )
    path = tmp_path / "report.md"
    path.write_bytes(text.encode())
    ended = call("report", "--refresh", path, "--warehouse", demo)
    new = text.replace("1.0% of 99 attempts at 9 tasks", "44.0% of 76 attempts at 22 tasks")
    assert (ended.code, path.read_bytes()) == (0, new.encode())
    assert "-It passes 1.0%" in ended.stdout and "+It passes 44.0%" in ended.stdout
    with open_warehouse(demo) as warehouse:
        assert refreshed(new, warehouse)[0] == new
    path.write_text("5\n<!-- sql: nonsense -->\n")
    assert call("report", "--refresh", path, "--warehouse", demo).code == 1
    assert call("report", "--refresh", path, "--out", "x.md", "--warehouse", demo).code == 2
