"""Templates and what they are given: each name is known, and nothing is given for nobody."""

from __future__ import annotations

import jinja2
import pytest
from jinja2 import nodes

from pipeline.report import filters, markdown, tables, templates
from pipeline.report.html.render import metrics
from tests.conftest import ROOT

FILES = sorted((templates.OURS / "markdown").glob("*.md.j2"))
ENVIRONMENT = markdown.environment()
TREES = {path.name: ENVIRONMENT.parse(path.read_text(encoding="utf-8")) for path in FILES}
METRICS = {name: each for name, each in metrics().items() if name != "account"}
# Read by a page's templates, a table of the account, or a user's own template.
ELSEWHERE = set("cell curate line_name listed literal signed".split())


def used(kind: type[nodes.Filter | nodes.Name]) -> set[str]:
    """The filters or names that templates use."""
    return {node.name for tree in TREES.values() for node in tree.find_all(kind)}


def test_filters_and_functions_are_used() -> None:
    """Each filter, function and limit that templates are given is used by one of them."""
    named = used(nodes.Filter)
    printed = {metric["format"] for metric in METRICS.values()}
    assert set(filters.FILTERS) - named - printed <= ELSEWHERE
    assert named - set(filters.FILTERS) <= set(jinja2.Environment(autoescape=True).filters)
    functions = {**filters.GLOBALS, **filters.MARKS}
    assert (set(functions) | set(markdown.LIMITS)) - used(nodes.Name) <= ELSEWHERE


def test_what_is_unknown_is_an_error() -> None:
    """No name is empty for being unknown."""
    assert ENVIRONMENT.undefined is jinja2.StrictUndefined


@pytest.mark.parametrize("name", TREES)
def test_a_template_says_what_it_needs(name: str) -> None:
    """Its first line is a comment; a page's tables are named by what they hold."""
    text = (templates.OURS / "markdown" / name).read_text(encoding="utf-8")
    assert text.startswith("{# ") or name == "opening.md.j2"


def test_every_metric_is_declared_whole() -> None:
    """Words, a format that can be printed, and a definition; which way is better, if any."""
    for name, metric in METRICS.items():
        assert {"words", "format", "definition"} <= set(metric) and metric["words"], name
        assert metric["format"] in filters.FILTERS and metric["definition"], name
        assert metric.get("better", "") in ("", "higher", "lower"), name


def test_the_document_lists_every_metric() -> None:
    """docs/metrics.md ends with the same table."""
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    listed = [
        f"| `{name}` | {metric['words']} | {metric.get('better', '')} | {metric['definition']} |"
        for name, metric in METRICS.items()
    ]
    assert text.endswith("\n".join(listed) + "\n")


def test_every_table_of_the_account_is_read() -> None:
    """Its columns are those of its relation, and each figure among them is declared."""
    for table in metrics()["account"]:
        assert table["table"] in tables.EVERY and table["title"]
        named = table["columns"].split()
        figures = [each for each in named if each.startswith(("n_", "ci_", "se_", "p_"))]
        assert set(figures) <= set(METRICS), table
