"""Templates and what they are given: each field is printed, each name is known, each need named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

import pipeline
from pipeline.report import (
    filters,
    markdown,
    marks,
    openings,
    phrases,
    tables,
    templates,
)
from pipeline.report.content import Content, RunContent

FILES = sorted((templates.OURS / "markdown").glob("*.md.j2"))
TABLES = set(tables.EVERY)
# Properties, and the field that each is made of.
PROPERTIES = {
    "benchmarks": "runs",
    "gaps": "runs",
    "inventory_totals": "inventory",
    "leading_comparisons": "comparisons",
}
# Of runs, read through a property of content.
THROUGH = {"gaps"}
RUN_PROPERTIES = {"run_id": "headline", "benchmark": "headline"}
# Fields that no template prints.
UNPRINTED = {
    "bands": "for charts: pages have the figures of half and of all repeats in uncertainties",
    "buckets": "for metrics.json and charts: pages have the same counts in headlines",
    "run_inventory": "is content.inventory in a report on one run",
}
# What is read of a comparison besides its own row, by the attribute or function that reads it.
COMPARED = {
    "changed": {"changed_tasks"},
    "extremes": {"ledgers"},
    "flips": {"flips"},
    "headline": {"comparisons", "ledgers", "changed_tasks"},
    "ledgers": {"ledgers"},
    "metrics": {"comparison_metrics"},
    "refused": {"refused_tasks"},
    "differing": {"comparison_settings"},
    "statements": {"comparisons", "ledgers", "changed_tasks"},
    "transitions": {"transitions"},
}
ATTRIBUTE_FILTERS = {"map", "selectattr", "rejectattr"}


@dataclass(frozen=True)
class Template:
    """A template's text and what it is made of."""

    name: str
    text: str

    @cached_property
    def tree(self) -> nodes.Template:
        """What Jinja reads."""
        return templates.markdown().parse(self.text)

    @property
    def of_content(self) -> set[str]:
        """The attributes of `content` it uses."""
        return {node.attr for node in self.tree.find_all(nodes.Getattr) if _is(node, "content")}

    @property
    def of_runs(self) -> set[str]:
        """The attributes of runs it uses: of `run`, and by filters over `content.runs`."""
        own = {
            node.attr
            for node in self.tree.find_all(nodes.Getattr)
            if _is(node, "run")
            or (isinstance(node.node, nodes.Getitem) and _are_runs(node.node.node))
        }
        return own | set(_mapped(self.tree))

    @property
    def of_comparisons(self) -> set[str]:
        """What it reads of comparisons."""
        found = {
            node.attr
            for node in self.tree.find_all(nodes.Getattr)
            if _is(node, "comparison") or _is(node, "each")
        }
        found |= {node.name for node in self.tree.find_all(nodes.Filter)}
        return found | {
            node.name for node in self.tree.find_all(nodes.Name) if node.name == "headline"
        }

    @property
    def relations(self) -> set[str]:
        """The relations of `report` behind all it uses."""
        of_content = {PROPERTIES.get(name, name) for name in self.of_content}
        used = {name for name in of_content if name in TABLES}
        used |= THROUGH & self.of_content
        for name in self.of_runs:
            field = RUN_PROPERTIES.get(name, name)
            used.add("headlines" if field == "headline" else field)
        if "comparisons" in of_content:
            for name in self.of_comparisons:
                used |= COMPARED.get(name, set())
        return used


def _is(node: nodes.Getattr, name: str) -> bool:
    return isinstance(node.node, nodes.Name) and node.node.name == name


def _are_runs(node: nodes.Node | None) -> bool:
    """Whether an expression is `content.runs`, sliced or filtered, but not yet mapped."""
    if isinstance(node, nodes.Getitem):
        return _are_runs(node.node)
    if isinstance(node, nodes.Filter) and node.name != "map":
        return _are_runs(node.node)
    return isinstance(node, nodes.Getattr) and _is(node, "content") and node.attr == "runs"


def _mapped(tree: nodes.Template) -> Iterator[str]:
    for node in tree.find_all(nodes.Filter):
        if node.name in ATTRIBUTE_FILTERS and _are_runs(node.node):
            given = [*node.args, *(pair.value for pair in node.kwargs)]
            yield from (
                each.value.partition(".")[0] for each in given if isinstance(each, nodes.Const)
            )


EVERY = [Template(path.name, path.read_text(encoding="utf-8")) for path in FILES]


@pytest.mark.parametrize("template", EVERY, ids=lambda template: template.name)
def test_needs_are_what_is_used(template: Template) -> None:
    """The first line names the fields of content a template uses, and the relations behind them."""
    (needs,) = re.findall(r"\A\{# Needs: (.*) #\}\n", template.text)
    assert set(re.findall(r"report\.(\w+)", needs)) == template.relations
    used = {PROPERTIES.get(name, name) for name in template.of_content}
    assert set(re.findall(r"content\.(\w+)", needs)) == used


def test_every_field_is_printed() -> None:
    """Templates together use all that content and runs have, and nothing else."""
    of_content = {PROPERTIES.get(name, name) for each in EVERY for name in each.of_content}
    assert of_content == {field.name for field in fields(Content)}
    of_runs = {RUN_PROPERTIES.get(name, name) for each in EVERY for name in each.of_runs}
    of_runs |= THROUGH & {name for each in EVERY for name in each.of_content}
    assert of_runs | set(UNPRINTED) == {field.name for field in fields(RunContent)}
    assert not of_runs & set(UNPRINTED)


def test_filters_and_functions_are_used() -> None:
    """Each filter, function and limit that templates are given is used by one of them."""
    given = {**filters.FILTERS, **phrases.FILTERS, **openings.FILTERS}
    named = {node.name for each in EVERY for node in each.tree.find_all(nodes.Filter)}
    assert set(given) <= named
    assert named - set(given) <= set(jinja2.Environment(autoescape=True).filters)
    names = {node.name for each in EVERY for node in each.tree.find_all(nodes.Name)}
    functions = {**filters.GLOBALS, **phrases.GLOBALS, **openings.GLOBALS, **marks.GLOBALS}
    assert set(functions) | set(markdown.LIMITS) <= names


def test_what_is_unknown_is_an_error() -> None:
    """No name is empty for being unknown."""
    assert templates.markdown().undefined is jinja2.StrictUndefined


def test_a_need_that_is_not_named_is_noticed() -> None:
    """Through a loop, a filter over runs, a property and a function alike."""
    text = (
        "{% for run in content.runs %}{{ run.modes }}{% endfor %}"
        '{{ content.runs | selectattr("contrasts") | map(attribute="headline") | list }}'
        "{% for comparison in content.leading_comparisons %}{{ headline(comparison) }}{% endfor %}"
    )
    read = "modes contrasts headlines comparisons ledgers changed_tasks".split()
    assert Template("", text).relations == set(read)


TABLE = re.compile(
    r"((?:^(?:\||\d+\. |   - ).*\n)+)\n(Rows of .*)<!--blade-table-->$", re.MULTILINE
)


def test_printed_commands_give_the_rows_of_their_tables(demo: Path) -> None:
    """Each `blade sql` below a table answers, with at least the rows that the table shows."""
    text = (demo.parent / "report.md").read_text(encoding="utf-8")
    shown: dict[str, int] = {}
    for block, line in TABLE.findall(text):
        (query,) = re.findall(r'`blade sql "(.*)"`', line)
        rows = [each for each in block.splitlines() if not each.startswith("   - ")]
        n_rows = len(rows) - 2 if rows[0].startswith("|") else len(rows)
        shown[query] = max(n_rows, shown.get(query, 0))
    assert text.count("<!--blade-table-->") == len(TABLE.findall(text)) and len(shown) > 50
    # One scan a relation: its rows by each condition that a command asks them with.
    asked: dict[str, list[str]] = {}
    for query in shown:
        asked.setdefault(query.partition(" where ")[0], []).append(query)
    found: dict[str, int] = {}
    with pipeline.open_warehouse(demo) as warehouse:
        for relation, queries in asked.items():
            wheres = [query.partition(" where ")[2] or "true" for query in queries]
            counts = ", ".join(f"count(*) filter (where {where})" for where in wheres)
            (row,) = warehouse.sql(f"select {counts} {relation}").rows()
            found |= zip(queries, row, strict=True)
    assert [query for query in shown if not 1 <= shown[query] <= found[query]] == []
