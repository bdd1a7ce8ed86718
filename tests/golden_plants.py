"""Errors planted into a report that a person wrote: one at a time, each with its line."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from functools import partial

from tests.plants import CITATION, MARK, Plant, at, other_number

# Outcome and number of events of every recorded rollout, by run, task and index.
Rollouts = Mapping[tuple[str, str, int], tuple[bool | None, int]]
Planter = Callable[[str, random.Random, Rollouts], Plant]

NUMBER = r"\d[\d,]*+(?:\.\d+)?+"
GAP = r"(?:<!--blade:[^>]*-->)?"
RATIO = re.compile(rf"(?<![\w.#:/@-])(?P<part>{NUMBER}){GAP} of (?P<whole>{NUMBER}){GAP}(?![\w%-])")
SHARE = re.compile(rf"{RATIO.pattern}[^|.\n]{{0,60}}?\((?P<share>{NUMBER})%")
TASK = re.compile(r"(?<!#)\b[Tt]asks? (?P<task>\d+)\b")
HEADING = re.compile(r"^#+ Tasks? (?P<task>\d+)\b", re.MULTILINE)
QUOTE = re.compile(r'"[^"\n]+"')
MODE = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b|\bTHRASH\b|\bREFUSAL\b|\bTIMEOUT\b")
CELL = re.compile(rf"\| (?P<number>{NUMBER})(?P<unit>%?)(?= \|)")


def _prose(text: str, start: int) -> bool:
    line = text.rfind("\n", 0, start) + 1
    return not text.startswith(("|", "#", "- Check", "- Make", "- Read"), line)


def _changed(text: str, chance: random.Random, places: list[tuple[int, int]]) -> Plant:
    start, end = chance.choice(places)
    return at(text, start, end, other_number(text[start:end], chance))


def _summed_rows(text: str) -> list[tuple[int, int, bool]]:
    """Rows of tables that end with a total: where each stands, and whether it is the total."""
    found: list[tuple[int, int, bool]] = []
    for table in re.finditer(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = list(re.finditer(r"^\|.*\n", table[0], re.MULTILINE))
        if lines[-1][0].startswith("| total"):
            found += [
                (table.start() + line.start(), table.start() + line.end(), line is lines[-1])
                for line in lines[2:]
            ]
    return found


def summed(text: str, chance: random.Random, _: Rollouts, *, is_total: bool, bare: bool) -> Plant:
    """A count of a table with a total: that of the total row, or that of another."""
    text = MARK.sub("", text) if bare else text
    cell = re.compile(rf"\| (?P<number>\d[\d,]*)(?={GAP} (?:\||of ))")
    places = [
        match.span("number")
        for start, end, total in _summed_rows(text)
        if total == is_total
        for match in cell.finditer(text, start, end)
    ]
    return _changed(text, chance, places)


def share(text: str, chance: random.Random, _: Rollouts, *, bare: bool) -> Plant:
    """The percentage beside `N of M`."""
    text = MARK.sub("", text) if bare else text
    return _changed(text, chance, [match.span("share") for match in SHARE.finditer(text)])


def share_cell(text: str, chance: random.Random, _: Rollouts) -> Plant:
    """A percentage in a column of a table without marks."""
    text = MARK.sub("", text)
    rows = re.compile(rf"^\|.*\| (?P<share>{NUMBER})%(?= \|)", re.MULTILINE)
    return _changed(text, chance, [match.span("share") for match in rows.finditer(text)])


def ratio(text: str, chance: random.Random, _: Rollouts, *, name: str, bare: bool) -> Plant:
    """A part or a whole in prose."""
    text = MARK.sub("", text) if bare else text
    places = [match.span(name) for match in RATIO.finditer(text) if _prose(text, match.start())]
    return _changed(text, chance, places)


def figure(text: str, chance: random.Random, _: Rollouts) -> Plant:
    """Any marked number of the prose, in a report from which all marks are gone."""
    found = re.finditer(r"(?P<number>[+-]?\d[\d,]*(?:\.\d+)?)(?=%?<!--blade:)", text)
    match = chance.choice([match for match in found if _prose(text, match.start())])
    start = len(MARK.sub("", text[: match.start()]))
    bare = MARK.sub("", text)
    return at(bare, start, start + len(match[0]), other_number(match[0], chance))


def absent_task(
    text: str, chance: random.Random, _: Rollouts, *, pattern: re.Pattern[str]
) -> Plant:
    """A task that does not exist, in words, in a heading or in a citation."""
    match = chance.choice(list(pattern.finditer(text)))
    return at(text, *match.span("task"), match["task"] + "99")


def swapped(text: str, chance: random.Random, rollouts: Rollouts, *, other: str) -> Plant:
    """Another rollout of the task, one of the other outcome, or one of another task."""
    found = [match for match in CITATION.finditer(text) if _cites(match, rollouts)]
    while True:
        match = chance.choice(found)
        mine = _key(match)
        others = [
            each
            for each in rollouts
            if each[0] == mine[0]
            and each != mine
            and (each[1] == mine[1]) == (other != "task")
            and (other != "outcome" or rollouts[each][0] not in (None, rollouts[mine][0]))
            and rollouts[each][1] >= int((match["seq"] or "#0")[1:])
        ]
        if others:
            run, task, index = chance.choice(others)
            return at(text, *match.span(), f"`{run}/{task}:{index}{match['seq'] or ''}`")


def changed_event(text: str, chance: random.Random, rollouts: Rollouts) -> Plant:
    """Another event of the same rollout."""
    found = [match for match in CITATION.finditer(text) if match["seq"] and _cites(match, rollouts)]
    match = chance.choice(found)
    n_events = rollouts[_key(match)][1]
    others = [f"#{seq}" for seq in range(1, n_events + 1) if f"#{seq}" != match["seq"]]
    return at(text, *match.span("seq"), chance.choice(others or ["#999"]))


def changed_quote(text: str, chance: random.Random, _: Rollouts) -> Plant:
    """A word of what is quoted beside a citation."""
    words = [
        (quote.start() + word.start(), quote.start() + word.end())
        for quote in QUOTE.finditer(text)
        if len(quote[0]) > 12
        and CITATION.search(text, quote.end(), quote.end() + 80)
        and _prose(text, quote.start())
        for word in re.finditer(r"\b[a-z]{4,}\b", quote[0])
    ]
    return at(text, *chance.choice(words), "entirely")


def changed_mode(text: str, chance: random.Random, _: Rollouts) -> Plant:
    """Another mode in place of one that is named."""
    found = list(MODE.finditer(MARK.sub(_blank, text)))
    match = chance.choice(found)
    names = sorted({each[0] for each in found} - {match[0]})
    return at(text, *match.span(), chance.choice(names))


def flipped_bucket(text: str, chance: random.Random, _: Rollouts) -> Plant:
    """What is said of a task that it always, sometimes or never does."""
    found = list(re.finditer(r"^\| `\d+`[^|]*\| (?P<word>always|sometimes|never)\b", text, re.M))
    match = chance.choice(found)
    words = [word for word in ("always", "sometimes", "never") if word != match["word"]]
    return at(text, *match.span("word"), chance.choice(words))


def sidecar_figure(text: str, chance: random.Random) -> Plant:
    """Any number of a sidecar."""
    found = re.finditer(r'": (?P<number>-?\d+(?:\.\d+)?)(?=,?$)', text, re.MULTILINE)
    match = chance.choice(list(found))
    # Sidecars hold twelve decimals: a change of the last is none.
    value = float(match["number"])
    other = f"{value + 0.01:.12f}" if "." in match["number"] else f"{value + 1:.0f}"
    return at(text, *match.span("number"), other)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _key(match: re.Match[str]) -> tuple[str, str, int]:
    return match["run"], match["task"], int(match["index"])


def _cites(match: re.Match[str], rollouts: Rollouts) -> bool:
    return _key(match) in rollouts


GOLDEN: dict[str, Planter] = {
    "total": partial(summed, is_total=True, bare=False),
    "total, no marks": partial(summed, is_total=True, bare=True),
    "row of a total": partial(summed, is_total=False, bare=False),
    "row of a total, no marks": partial(summed, is_total=False, bare=True),
    "percentage": partial(share, bare=False),
    "percentage, no marks": partial(share, bare=True),
    "percentage of a column": share_cell,
    "part": partial(ratio, name="part", bare=False),
    "part, no marks": partial(ratio, name="part", bare=True),
    "whole": partial(ratio, name="whole", bare=False),
    "whole, no marks": partial(ratio, name="whole", bare=True),
    "figure, no marks": figure,
    "absent task": partial(absent_task, pattern=TASK),
    "absent task in a heading": partial(absent_task, pattern=HEADING),
    "absent task in a citation": partial(absent_task, pattern=CITATION),
    "swapped for another outcome": partial(swapped, other="outcome"),
    "swapped within a task": partial(swapped, other="rollout"),
    "swapped for another task": partial(swapped, other="task"),
    "changed event": changed_event,
    "changed quote": changed_quote,
    "changed mode": changed_mode,
    "changed bucket": flipped_bucket,
}
