"""The templates of the page and what they are given: each field is printed, each name known."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import jinja2
import pytest
from jinja2 import meta, nodes

from pipeline.report import filters, templates
from pipeline.report.declared import EVERY
from pipeline.report.html.evidence import Beside, Evidence
from pipeline.report.html.render import Benchmark, Page, Part, environment
from pipeline.report.html.tasks import Strip, Task
from pipeline.settings import SQL_DIR

FILES = sorted((templates.OURS / "html").glob("*.html.j2"))
TREES = {path.name: environment().parse(path.read_text(encoding="utf-8")) for path in FILES}
# By the name that templates call each.
EVIDENCE = {
    "page": Page,
    "part": Part,
    "benchmark": Benchmark,
    "strip": Strip,
    "task": Task,
    "each": Evidence,
    "beside": Beside,
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_fields_given_are_names_used(name: str) -> None:
    """What templates read of each value is what it has."""
    used = {
        node.attr
        for tree in TREES.values()
        for node in tree.find_all(nodes.Getattr)
        if isinstance(node.node, nodes.Name) and node.node.name == name
    }
    assert used == {field.name for field in fields(EVIDENCE[name])}


def test_nothing_else_is_read() -> None:
    """A template gets the page and its functions."""
    names = [
        meta.find_undeclared_variables(tree) - set(environment().globals) for tree in TREES.values()
    ]
    assert set().union(*names) == {"page"}
    assert environment().undefined is jinja2.StrictUndefined


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_needs_name_relations(path: Path) -> None:
    """The first line names what is needed, and relations that exist."""
    (needs,) = re.findall(r"(?s)\A\{# Needs: (.*?) #\}\n", path.read_text(encoding="utf-8"))
    for relation in re.findall(r"report\.(\w+)", needs):
        assert relation in EVERY or (SQL_DIR / "report" / f"{relation}.sql").is_file()


def test_filters_are_used() -> None:
    """Each filter of the page's own is used by one of its templates."""
    used = {node.name for tree in TREES.values() for node in tree.find_all(nodes.Filter)}
    assert set(filters.OF_PAGES) <= used
