"""Errors planted into a true report: one at a time, with the line where it stands."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

MARKED = re.compile(r"(?P<number>[+-]?\d[\d,]*(?:\.\d+)?)(?P<unit>%?)(?P<mark><!--blade:[^>]+-->)")
CITATION = re.compile(r"`(?P<run>[\w.-]+)/(?P<task>[\w.-]+):(?P<index>\d+)(?P<seq>#\d+)?`")
MARK = re.compile(r"<!--blade:[^>]*-->")


@dataclass(frozen=True)
class Plant:
    """A report with one error, which stands on `line`."""

    text: str
    line: int
    what: str


def at(text: str, start: int, end: int, new: str) -> Plant:
    """A text with something else at one place."""
    line = text.count("\n", 0, start) + 1
    return Plant(text[:start] + new + text[end:], line, f"{text[start:end]} -> {new}")


def other_number(number: str, chance: random.Random) -> str:
    """A number of the same form that is not the same."""
    plain = number.replace(",", "").lstrip("+-")
    decimals = len(plain.partition(".")[2])
    step = (
        chance.choice([1, 2, 3, 7]) * 10.0**-decimals * (chance.choice([1, 10]) if decimals else 1)
    )
    value = float(plain)
    changed = value + step if value - step < 0 or chance.random() < 0.5 else value - step
    sign = number[0] if number[0] in "+-" else ""
    return f"{sign}{changed:,.{decimals}f}"


def marked_figure(text: str, chance: random.Random) -> Plant:
    """The number before a mark is changed."""
    match = chance.choice(list(MARKED.finditer(text)))
    return at(text, *match.span("number"), other_number(match["number"], chance))


def mark_key(text: str, chance: random.Random) -> Plant:
    """A mark names a run or task that does not exist."""
    found = list(re.finditer(r"<!--blade:[^>]*?(?:run_id|task_id|base)=(?P<value>[^&#]+)", text))
    match = chance.choice(found)
    return at(text, *match.span("value"), match["value"] + "7")


def absent_task(text: str, chance: random.Random) -> Plant:
    """A heading or a table names a task that does not exist."""
    found = list(re.finditer(r"^(?:#+ Task |\| )`(?P<task>\d+)`(?:[: ]| \|)", text, re.MULTILINE))
    return at(text, *chance.choice(found).span("task"), str(chance.randrange(500, 900)))


def absent_rollout(text: str, chance: random.Random) -> Plant:
    """A citation of a rollout that does not exist."""
    match = chance.choice(list(CITATION.finditer(text)))
    return at(text, *match.span("index"), str(chance.randrange(50, 90)))


def swapped_rollout(text: str, chance: random.Random) -> Plant:
    """Another rollout that the report cites, in place of one."""
    every = list(CITATION.finditer(text))
    match = chance.choice(every)
    others = [each[0] for each in every if each.groups()[:3] != match.groups()[:3]]
    return at(text, *match.span(), chance.choice(others))


def swapped_where_said(text: str, chance: random.Random) -> Plant:
    """The same in a row that says of the rollout that it passes or fails."""
    rows = list(re.finditer(r"^\| (?:fails|passes)[^|]*\| (?P<cited>`[^`]+`)", text, re.MULTILINE))
    match = chance.choice(rows)
    every = [each[0] for each in CITATION.finditer(text)]
    old = CITATION.fullmatch(match["cited"])
    assert old is not None
    others = [each for each in every if not each.startswith(old[0].split("#")[0].rstrip("`"))]
    return at(text, *match.span("cited"), chance.choice(others))


def flipped_outcome(text: str, chance: random.Random) -> Plant:
    """What failed is said to pass, and the other way round."""
    found = list(re.finditer(r"^\| (?P<word>fails|passes)(?=[ (])", text, re.MULTILINE))
    match = chance.choice(found)
    return at(text, *match.span("word"), "passes" if match["word"] == "fails" else "fails")


def changed_quote(text: str, chance: random.Random) -> Plant:
    """A word of what a rollout said is another; what was expected of it, nobody said."""
    rows = re.finditer(
        r"^\| (?:fails|passes)[^|]*\| `[^`]+` \| (?P<said>[^|]+?) \| [\d,]+<!--",
        text,
        re.MULTILINE,
    )
    words = [
        (row.start("said") + word.start(), row.start("said") + word.end())
        for row in rows
        for word in re.finditer(r"(?<![\\&;\w])[a-z]{4,}(?![\\\w;])", row["said"])
    ]
    return at(text, *chance.choice(words), "entirely")


def unmarked_figure(text: str, chance: random.Random) -> Plant:
    """A number that has no mark, in a report from which all marks are gone."""
    bare = MARK.sub("", text)
    match = chance.choice(list(MARKED.finditer(text)))
    start = len(MARK.sub("", text[: match.start()]))
    return at(bare, start, start + len(match["number"]), other_number(match["number"], chance))


KINDS: dict[str, Callable[[str, random.Random], Plant]] = {
    "marked figure": marked_figure,
    "mark key": mark_key,
    "absent task": absent_task,
    "absent rollout": absent_rollout,
    "swapped rollout": swapped_rollout,
    "swapped where said": swapped_where_said,
    "flipped outcome": flipped_outcome,
    "changed quote": changed_quote,
    "unmarked figure": unmarked_figure,
}
