"""Templates and what they are given: each name is known, and nothing is given for nobody."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

from pipeline.report import filters, markdown, templates
from pipeline.report.declared import METRICS, SECTIONS, TABLES

FILES = sorted((templates.OURS / "markdown").glob("*.md.j2"))
# Read by a page's templates, a table of the account, or a user's own template.
ELSEWHERE = set("cell curate line_name listed literal signed".split())


@cache
def trees() -> list[nodes.Template]:
    """The templates as Jinja reads them."""
    environment = markdown.environment()
    return [environment.parse(path.read_text(encoding="utf-8")) for path in FILES]


def used(kind: type[nodes.Filter | nodes.Name]) -> set[str]:
    """The filters or names that templates use."""
    return {node.name for tree in trees() for node in tree.find_all(kind)}


def test_filters_and_functions_are_used() -> None:
    """Each filter, function and limit that templates are given is used by one of them."""
    named = used(nodes.Filter)
    printed = {metric.format for metric in METRICS.values()}
    assert set(filters.FILTERS) - named - printed <= ELSEWHERE
    assert named - set(filters.FILTERS) <= set(jinja2.Environment(autoescape=True).filters)
    functions = {**filters.GLOBALS, **filters.MARKS}
    assert (set(functions) | set(markdown.LIMITS)) - used(nodes.Name) <= ELSEWHERE


@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_a_template_says_what_it_needs(name: str) -> None:
    """Its first line is a comment; a page's tables are named by what they hold."""
    text = (templates.OURS / "markdown" / name).read_text(encoding="utf-8")
    assert text.startswith("{# ") or name == "opening.md.j2"


def test_every_metric_is_declared_whole() -> None:
    """Words, a format that can be printed, and a definition; which way is better, if any."""
    for name, metric in METRICS.items():
        where = f"[figure.{name}] of declared.toml"
        assert metric.format in filters.FILTERS, f"{where}: no filter {metric.format}"
        assert metric.better in ("", "higher", "lower"), f"{where}: better is higher or lower"


def test_every_figure_of_a_page_is_declared() -> None:
    """A table is in a section that exists; each count or estimate among its columns has words."""
    for table in TABLES.values():
        where = f"[table.{table.name}] of declared.toml"
        assert table.section in ("", *SECTIONS), f"{where}: no section {table.section}"
        assert bool(table.section) == bool(table.title) == bool(table.columns), where
        for name in table.columns:
            is_figure = name.startswith(("n_", "ci_", "se_", "p_"))
            assert not is_figure or name in METRICS, f"{where}: declare [figure.{name}]"


@pytest.mark.parametrize("path", sorted(templates.OURS.glob("*/*.j2")), ids=lambda path: path.name)
def test_lines_are_short(path: Path) -> None:
    """A line that is too long goes on in the next one, after a backslash."""
    lines = enumerate(path.read_text(encoding="utf-8").split("\n"), start=1)
    assert [f"{path.name}:{number}" for number, line in lines if len(line) > 120] == []


def test_a_continued_line() -> None:
    """No white space comes of the end of the line, and a mistake has the line where it is."""
    made = markdown.environment().from_string("a \\\n    b\\\n{% if 1 %}\\\n    c{% endif %} d")
    assert made.render() == "a bc d"
    with pytest.raises(jinja2.TemplateSyntaxError) as caught:
        markdown.environment().from_string("a \\\nb\\\n{{ | }}")
    assert caught.value.lineno == 3
