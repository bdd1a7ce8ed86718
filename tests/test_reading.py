"""A report is read as a person reads it: sections, sentences, rows, figures and what they cite."""

from __future__ import annotations

import pytest

from pipeline.package.headings import canonical, section_of
from pipeline.package.numbers import Number, numbers
from pipeline.package.reading import Block, Table, read
from pipeline.package.statements import of_text, statements

REPORT = """\
# A report

Before any section.

## 2. Workflow funnel

The run has 44.0%<!--blade:run_metrics?run_id=a%20b#pass_at_1--> of
21<!--blade:run_metrics?run_id=a%20b#n_tasks--> tasks. It stops at `a/10:3#10`,
see also task 4. <!-- curate: Say why. -->

| stage | reached |
| --- | ---: |
| passed | 31 |
| all\\|any | 88 |

### Task `10`

- It says "It is done now: 3 of 4" without a call.

```
blade show a/10:3
```
"""


def text_block(text: str) -> Block:
    return Block("paragraph", 1, text)


def test_sections_know_where_they_stand() -> None:
    """Headings open sections; a deeper one stands under those above it."""
    found = [(each.title, each.level, each.line, each.path) for each in read(REPORT).sections]
    assert found == [
        ("A report", 1, 1, ()),
        ("2. Workflow funnel", 2, 5, ("2. Workflow funnel",)),
        ("Task 10", 3, 16, ("2. Workflow funnel", "Task 10")),
    ]
    assert section_of(read(REPORT).sections[2]) == "Workflow Funnel"


def test_marks_end_where_their_figure_does() -> None:
    """A mark names the source of the figure before it; the line is the figure's."""
    (block, *_) = read(REPORT).sections[1].parts
    assert isinstance(block, Block)
    first, second = block.marks
    assert block.text[: first.end].endswith("44.0%")
    assert (first.relation, first.key, first.column) == (
        "run_metrics",
        (("run_id", "a b"),),
        "pass_at_1",
    )
    assert [block.line_at(mark.end - 1) for mark in (first, second)] == [7, 8]
    assert read(REPORT).curations == ((9, "Say why."),)


def test_tables_keep_cells_and_lines() -> None:
    """An escaped bar is part of its cell."""
    table = read(REPORT).sections[1].parts[1]
    assert isinstance(table, Table)
    assert [cell.text for cell in table.header] == ["stage", "reached"]
    assert [(row.line, [cell.text for cell in row.cells]) for row in table.rows] == [
        (13, ["passed", "31"]),
        (14, ["all|any", "88"]),
    ]


def test_statements_are_sentences_and_rows() -> None:
    """Each has its line, its figures, what it cites and what it quotes."""
    found = {(each.line, each.is_row): each for each in statements(read(REPORT))}
    cited = found[8, False]
    assert [str(each) for each in cited.citations] == ["a/10:3#10"]
    assert cited.tasks == ("4", "10")
    assert [each.text for each in found[13, True].numbers] == ["31"]
    quoted = found[18, False]
    assert (quoted.quotes, quoted.numbers) == (("It is done now: 3 of 4",), ())


@pytest.mark.parametrize(
    ("text", "value", "agrees"),
    [
        ("44.0%", 0.4404, True),
        ("44.0%", 0.4406, False),
        ("+3.5 points", 0.035, True),
        ("-3.5 points", 0.035, False),
        ("3.5 points", -0.035, True),
        ("0.5", 0.45, True),
        ("1,024", 1024, True),
    ],
)
def test_a_figure_agrees_with_what_rounds_to_it(text: str, value: float, agrees: bool) -> None:
    """Half a unit of the last digit is allowed; a sign that is printed counts."""
    (number,) = numbers(text_block(text))
    assert isinstance(number, Number)
    assert number.agrees(value) is agrees


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Executive Summary", "Executive Summary"),
        ("1. Overall metrics", "Aggregate Results"),
        ("Failure Mode Analysis", "Dominant Failure Modes"),
        ("Why flaky tasks flip", "Sometimes-Pass Deep Dives"),
        ("Next steps", "Recommendations"),
        ("Thanks", None),
    ],
)
def test_headings_by_other_words(title: str, expected: str | None) -> None:
    """A heading is known by what it is about."""
    assert canonical(title) == expected


def test_a_fact_is_read_like_a_sentence() -> None:
    """Backquotes make code of a fact's names as in Markdown."""
    fact = of_text(
        "Task 9 calls `calendar_create` with `new_value` in 4 of 4 attempts (`a/9:0#5`)."
    )
    assert fact.names == ("calendar_create", "new_value")
    assert [str(each) for each in fact.citations] == ["a/9:0#5"]
    assert [each.value for each in fact.numbers] == [4, 4]


def test_a_quote_is_never_cut() -> None:
    """The end of a sentence within quotes is not the end of the statement that quotes it."""
    said = 'Task 3 ends with "I tried. Please contact the desk." and no call. It fails.'
    assert [each.text for each in statements(read(said))] == [
        'Task 3 ends with "I tried. Please contact the desk." and no call.',
        "It fails.",
    ]


def test_sentences_of_a_paragraph_keep_lines_and_code() -> None:
    """Each sentence has its own line and its own code spans, wherever it stands in its block."""
    told = "Task 3 calls `mail_send`\nand fails. Task 4 calls\n`mail_find`. `a/4:1#2` does not."
    first, second, third = statements(read(told))
    assert (first.line, first.names) == (1, ("mail_send",))
    assert (second.line, second.names) == (2, ("mail_find",))
    assert (third.line, [str(each) for each in third.citations]) == (3, ["a/4:1#2"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the interval for new tasks 29.8% to 59.4%", ()),
        ("for new tasks -12.8 points", ()),
        ("most at task `run-70b/0:0` alone", ("0",)),
        ("task 18: no call; tasks 4, 7 and 9.", ("18", "4", "7", "9")),
        ("task geo-3b.", ("geo-3b",)),
        ("tasks `Age:55`, `a b` and `c`, not `d`", ("Age:55", "a b", "c")),
        ("In task 11, 3 of 4 attempts call nothing", ("11",)),
    ],
)
def test_what_names_a_task(text: str, expected: tuple[str, ...]) -> None:
    """A number after the word is a task's name unless it is a figure or part of a citation."""
    assert of_text(text).tasks == expected


def test_a_command_cites_nothing() -> None:
    """What is to be typed is no evidence."""
    assert of_text("Read it with `blade show a/4:1`, not `a/4:2`.").tasks == ("4",)
    assert [str(each) for each in of_text("`blade show a/4:1` or `a/4:2`").citations] == ["a/4:2"]
