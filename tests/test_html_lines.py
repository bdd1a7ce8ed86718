"""Lines and tables of a page that are written without the parser of Markdown: as it would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pipeline.report.html import body

MARK = "<!--blade:a?b=c&d=e#f-->"
PIECES = (
    *("word", " ", "12.5%", "n/a", "a_b", "_", "*", "**", "`", "``", "`name`", "`r/1:0`"),
    *("\\", "|"),
    *(MARK, "<!--", "-->", "<b>", "&amp;", "&", "'", '"', "@", "^", "(", ")", "!", "[a](b)", "é"),
    *("\x00", "\u00a0", "\ue000", "https://x.example", "~", "#", ">", "- ", "1. "),
)
LINES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
ROWS = st.lists(st.sampled_from((*PIECES, "|", "\\|", " | ", "    ")), max_size=8).map("".join)


@given(LINES)
def test_plain_lines_need_no_parser(line: str) -> None:
    """A line is written as its parts are where it is parsed."""
    writer = body.Body(draw=lambda _: "", cited=frozenset({"r/1:0"}))
    parser = body._parser(of_lines=True)
    (parsed,) = parser.parseInline(line)
    assert writer.line(line) == writer.renderInline(parsed.children or [], parser.options, {})


@given(ROWS, st.lists(ROWS, max_size=4))
def test_tables_have_the_cells_of_the_library(head: str, rows: list[str]) -> None:
    """A table begins and ends where the library sees it, with the cells that it sees."""
    text = "\n".join([f"{head}|x", "--|:-", *rows, "", "|behind|it|"])
    wanted: list[list[str]] = []
    is_inside = False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        is_inside = token.type == "table_open" or (is_inside and token.type != "table_close")
        if is_inside and token.type == "tr_open":
            wanted.append([])
        elif is_inside and token.type == "inline":
            wanted[-1].append(token.content)
    tokens = body._parser(of_lines=False).parse(text)
    grids = [token.meta["grid"] for token in tokens if token.type == "table"]
    assert [row for rows, _ in grids for row in rows] == wanted
    assert all(are_right == [False, True] for _, are_right in grids)
