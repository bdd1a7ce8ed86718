"""The answer of a benchmark: what matters most, what changed, and the health of its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup, escape

from ..citation import parse
from ..report import TABLES, benchmarks
from ..report.sentences import Voice, foremost
from ..report.tables import rows
from ..text import one_line
from .opened import Opened, Page
from .prose import rollout_link

MOST_FINDINGS = 5


def answer(opened: Opened, benchmark: str) -> Page:
    """What the first page says of a benchmark before its tasks."""
    return opened.cached(
        ("answer", benchmark),
        lambda: {
            "findings": _findings(opened, benchmark),
            **{
                name: opened.rows(name, benchmark=benchmark)
                for name in ("changes", "health", "health_checks")
            },
        },
    )


def suite(opened: Opened) -> Page:
    """The runs of all benchmarks, and what matters most in them."""
    return opened.cached(
        "suite", lambda: {"runs": opened.rows("suite"), "findings": _findings(opened)}
    )


def _findings(opened: Opened, benchmark: str | None = None) -> list[dict[str, Any]]:
    """What matters most, in one benchmark or in all."""
    ranked, observations = (
        [
            row
            for row in rows(opened.warehouse, TABLES[table])
            if benchmark in (None, row.values["benchmark"])
        ]
        for table in ("findings", "observations")
    )
    beside = benchmarks(opened.warehouse)
    return [
        {
            "sentence": Markup(
                VOICE.finding(row, beside[row.benchmark], is_of_several=benchmark is None)
            ),
            "leads_to": _leads_to(row.values),
        }
        for row in foremost(ranked, observations, MOST_FINDINGS)
    ]


def _leads_to(finding: Mapping[str, Any]) -> tuple[str, dict[str, str]] | None:
    """The page behind a finding, and its parameters."""
    of = {"benchmark": finding["benchmark"]}
    match finding["kind"]:
        case "change":
            return "/compare", {**of, "pair": f"{finding['base']}/{finding['run_id']}"}
        case "mode" if finding["citation"] is None:
            # Attempts that left no record are seen at their tasks alone.
            return "/", {**of, "mode": finding["mode"], "fragment": "tasks"}
        case "mode":
            return "/rollouts", {**of, "mode": finding["mode"]}
        case "never":
            return "/", {**of, "bucket": "never", "fragment": "tasks"}
        case "runs":
            return "/rollouts", {**of, "run": finding["run_id"], "sign": finding["mode"]}
    return None


def _shown(format_value: Callable[[Any], str]) -> Callable[[Any], str]:
    """A format of figures, whose undefined values print as n/a."""
    return lambda figure: "n/a" if figure.value is None else str(escape(format_value(figure.value)))


def _name(text: str) -> str:
    """A name from a file, escaped; a citation is a link to its transcript."""
    words = Markup("<code>{}</code>").format(one_line(text))
    if parse(text) is None:
        return str(words)
    return str(Markup('<a class="cite" href="{}">{}</a>').format(rollout_link(text), words))


VOICE = Voice(
    _shown,
    name=_name,
    text=lambda text: str(escape(one_line(text))),
    excerpt=lambda text, limit: str(Markup("<code>{}</code>").format(one_line(text, limit))),
)
