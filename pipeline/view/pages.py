"""Every page by its path, and its text by its template: what the server and a bundle share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from markupsafe import Markup

from ..report import aliases, templates, wording
from ..text import neutral
from . import compared, home, labels, question, rollouts, tasks, transcript
from .opened import Followed, Opened, Page
from .prose import fields, link

# The template of a page, and what it shows.
Content = tuple[str, Any]
STYLES = ("html/style.css", "html/charts.css", "view/view.css")
SCRIPTS = ("view/view.js",)
SEEN = {True: "passed", False: "failed", None: "unscored"}


def _first(file: labels.LabelFile, opened: Opened, query: Mapping[str, str]) -> Content:
    """A benchmark; where there are several and none is named, all of them."""
    benchmarks = opened.cached("benchmarks", lambda: opened.rows("benchmarks"))
    if len(benchmarks) > 1 and not query.get("benchmark"):
        return "suite", home.suite(opened)
    return "matrix", tasks.matrix(file, opened, query)


def _of(
    template: str, make: Callable[[Opened, Mapping[str, str]], Any]
) -> Callable[[labels.LabelFile, Opened, Mapping[str, str]], Content]:
    """A page that shows no labels."""
    return lambda _file, opened, query: (template, make(opened, query))


PAGES: Mapping[str, Callable[[labels.LabelFile, Opened, Mapping[str, str]], Content]] = {
    "/": _first,
    "/rollouts": _of("rollouts", rollouts.listed),
    "/task": lambda file, opened, query: ("task", tasks.task(file, opened, query)),
    "/rollout": lambda file, opened, query: ("rollout", transcript.reader(file, opened, query)),
    "/diff": _of("diff", transcript.diff),
    "/event": _of("event", transcript.event),
    "/compare": _of("compare", compared.comparison),
    "/compare/tasks": _of("line", compared.line_tasks),
    "/sql": _of("sql", question.question),
    "/labels": _of("labels", lambda opened, _query: opened.rows("benchmarks")),
}


def message(error: Exception, hint: str) -> Page:
    """What the template of an error shows."""
    return {"message": str(error), "hint": hint}


def text(template: str, page: Any, explorer: Any, followed: Followed) -> str:
    """A page by its template, runs by their aliases.

    `explorer` has the labels, and says whether it is a bundle.
    """
    name = f"{template}.html.j2"
    values = {"page": page, "explorer": explorer, "causes": labels.CAUSES}
    rendered: str = _environment().get_template(name).render(values)
    # The answer to a query is shown as it is.
    if template in ("message", "sql"):
        return rendered
    with followed.opened() as opened:
        names = opened.cached("aliases", lambda: aliases.read(opened.warehouse))
    return aliases.in_html(rendered, names)


@cache
def file(names: tuple[str, ...]) -> str:
    """A style sheet or a script, of its parts."""
    return "\n".join((templates.OURS / name).read_text(encoding="utf-8") for name in names)


@cache
def _environment() -> Any:
    """Templates that escape everything, including control and direction characters."""
    environment = templates.environment("view", None, autoescape=True)
    environment.finalize = _inert
    environment.filters |= {
        "pct": lambda rate: "n/a" if rate is None else f"{100 * rate:.1f}%",
        "points": lambda change: "n/a" if change is None else wording.points(change),
        "num": lambda number: "n/a" if number is None else wording.short(f"{number:.4f}"),
        "count": lambda number: "n/a" if number is None else f"{number:,}",
        "cause": lambda name: wording.cause(name) if name else "",
        "first_line": lambda text: " ".join((text or "")[:240].split()),
    }
    environment.globals |= {"link": link, "fields": fields, "verdict": _verdict}
    environment.globals |= {name: wording.WORDS[name] for name in ("calls", "reasons")}
    return environment


def _inert(value: Any) -> Any:
    if value is None:
        return ""
    return neutral(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _verdict(row: Mapping[str, Any]) -> str:
    """The verdict in one word, which is also its class in the style sheet."""
    return "scored" if row["is_pass"] is None and row.get("is_scored") else SEEN[row["is_pass"]]
