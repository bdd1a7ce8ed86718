"""Runs by their short names (`runs.alias`) in values, Markdown and HTML; links keep full names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .figures import BOUND
from .tables import Source

QUERY = "select run_id, alias from main.runs where alias <> run_id"
# A name between backquotes, and how many characters of it a source behind it is of.
CODE = re.compile(rf"(?<!`)`([^`\n]+)`(?!`)(?:{BOUND.pattern})?")
# The whole text of an element, or the run of a citation. Text of rollouts is left alone, and so are
# cells of tables: a name is an element within one, but in the table of full names.
ELEMENT = re.compile(r"(<(?!pre|q|td|/)[^<>]*>)([^<>/]{29,})(?=/|</)")


def read(source: Source) -> dict[str, str]:
    """The alias of each run whose name is long."""
    return dict(source.execute(QUERY).fetchall())


def short(text: str, aliases: Mapping[str, str]) -> str:
    """A run, or something of a run such as a citation, by its alias; any other text as it is."""
    run, slash, rest = text.partition("/")
    return f"{aliases[run]}{slash}{rest}" if run in aliases else text


def in_markdown(text: str, aliases: Mapping[str, str]) -> str:
    """Markdown whose names between backquotes are short."""

    def renamed(match: re.Match[str]) -> str:
        name, source = match[1], match["source"] or ""
        alias = short(name, aliases)
        # Text of a rollout has such a source.
        if alias == name or source.endswith("~"):
            return match[0]
        mark = f"<!--blade-text:{len(alias) + 2}:{source}-->" if source else ""
        return f"`{alias}`{mark}"

    return CODE.sub(renamed, text) if aliases else text


def in_html(text: str, aliases: Mapping[str, str]) -> str:
    """A page whose elements print short names."""

    def renamed(match: re.Match[str]) -> str:
        names = match[2].split(" vs ")
        return match[1] + " vs ".join(aliases.get(name, name) for name in names)

    return ELEMENT.sub(renamed, text) if aliases else text
