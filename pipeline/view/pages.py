"""Every page by its path, and its text by its template: what the server and a bundle share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from markupsafe import Markup

from ..report import aliases, templates, wording
from ..text import counted, neutral, plural
from . import compared, home, labels, question, rollouts, tasks, transcript
from .opened import Followed, Opened, Page
from .prose import fields, link, rollout_link

# The template of a page, and what it shows.
Content = tuple[str, Any]
STYLES = ("html/style.css", "html/charts.css", "view/view.css")
SCRIPTS = ("view/view.js",)
SEEN = {True: "passed", False: "failed", None: "unscored"}


PAGES: Mapping[str, tuple[str, Callable[[Opened, Mapping[str, str]], Any]]] = {
    "/": ("matrix", tasks.matrix),
    "/rollouts": ("rollouts", rollouts.listed),
    "/task": ("task", tasks.task),
    "/rollout": ("rollout", transcript.reader),
    "/diff": ("diff", transcript.diff),
    "/event": ("event", transcript.event),
    "/compare": ("compare", compared.comparison),
    "/compare/tasks": ("line", compared.line_tasks),
    "/sql": ("sql", question.question),
    "/labels": ("labels", lambda opened, query: opened.benchmark(query)[1]),
}


def content(path: str, opened: Opened, query: Mapping[str, str]) -> Content:
    """A page; the first is of all benchmarks where there are several and none is named."""
    if path == "/" and not query.get("benchmark") and len(opened.benchmark(query)[1]) > 1:
        return "suite", home.suite(opened)
    template, make = PAGES[path]
    return template, make(opened, query)


def message(error: Exception, hint: str) -> Page:
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
        **{
            name: wording.defined(wording.FORMATS[name])
            for name in ("pct", "points", "num", "count")
        },
        "many": lambda number, noun: (
            f"n/a {plural(noun)}" if number is None else counted(number, noun)
        ),
        "cause": lambda name: wording.cause(name) if name else "",
        "first_line": lambda text: " ".join((text or "")[:240].split()),
    }
    environment.globals |= {
        "link": link,
        "rollout_link": rollout_link,
        "fields": fields,
        "verdict": _verdict,
    }
    environment.globals |= {name: wording.WORDS[name] for name in ("calls", "reasons")}
    return environment


def _inert(value: Any) -> Any:
    if value is None:
        return ""
    return neutral(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _verdict(row: Mapping[str, Any]) -> str:
    """The verdict in one word, which is also its class in the style sheet."""
    return "scored" if row["is_pass"] is None and row.get("is_scored") else SEEN[row["is_pass"]]
