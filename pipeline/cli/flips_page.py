"""Tasks that one run passes and the other fails, as a page for people: where the two part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from pipeline.cli.lookup import Row, bounded
from pipeline.cli.paragraphs import flat, heading, labelled, row
from pipeline.report.wording import PARTINGS
from pipeline.text import one_line

MOST_FLIPS = 3
LONGEST_NAME = 200
LONGEST_TEXT = 400
EVENT_CHARACTERS = 300

SIDES = {
    "lost": "that the base passes at least half the time and the candidate does not",
    "gained": "that the candidate passes at least half the time and the base does not",
}


def print_flips(rows: Sequence[Row], *, limit: int = MOST_FLIPS) -> None:
    """The first flips of each side; rows of `flips` of one comparison, the most changed first."""
    for side in SIDES:
        found = [flip for flip in rows if flip["side"] == side]
        for line in _section(side, found, limit):
            click.echo(line)


def _section(side: str, found: Sequence[Row], limit: int) -> Iterator[str]:
    if not found:
        return
    n_flips, shown = found[0]["n_flips"], found[:limit]
    tasks = "1 task" if n_flips == 1 else f"{n_flips:,} tasks"
    cut = f"; the {len(shown)} most changed" if n_flips > len(shown) else ""
    yield heading(f"{side}: {tasks}") + f" {SIDES[side]}{cut}"
    for flip in shown:
        yield from _flip(flip)


def _flip(flip: Row) -> Iterator[str]:
    """The closest two attempts of a task, one of each run, and where they part."""
    rates = f"pass rate {100 * flip['base_pass_rate']:.1f}% to "
    rates += f"{100 * flip['candidate_pass_rate']:.1f}%"
    mode = f", fails with {one_line(flip['failing_mode'], LONGEST_NAME)}"
    name = one_line(flip["task_id"], LONGEST_NAME)
    yield labelled(f"task {name}", rates + (mode if flip["failing_mode"] else ""))
    if flip["n_common"]:
        common = "1 call" if flip["n_common"] == 1 else f"{flip['n_common']:,} calls"
        yield row("in common", f"{common}, {flip['n_common_first']:,} before they part")
    yield row("then", PARTINGS[flip["difference"]])
    for side in ("failing", "passing"):
        yield row(side, one_line(flip[side], LONGEST_NAME))
        event, n_characters = flip[f"{side}_event"], flip[f"{side}_chars"]
        if text := flat(bounded(event, EVENT_CHARACTERS, n_characters=n_characters)):
            yield row("", text)
    yield from _tools(flip)


def _tools(flip: Row) -> Iterator[str]:
    """What all attempts of a side call says more than what one of them does."""
    said = {
        "all passes, no failure": flip["tools_of_passes"],
        "all failures, no pass": flip["tools_of_failures"],
    }
    if not any(said.values()):
        said = {f"only {side}": flip[f"tools_only_{side}"] for side in ("failing", "passing")}
    for who, tools in said.items():
        if tools:
            yield row("tools", f"{who}: {one_line(', '.join(tools), LONGEST_TEXT)}")
