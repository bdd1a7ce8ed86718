"""How often a rule would fire if nothing had changed, as a page for people."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pipeline.cli.lookup import Row
from pipeline.cli.paragraphs import heading, labelled
from pipeline.text import one_line

LONGEST_NAME = 200


def print_false_alarms(found: Sequence[Row]) -> None:
    """A sentence a candidate: the rule of the verdict, and of the policy."""
    if not found:
        return
    click.echo(heading("false alarms") + ", if nothing had changed")
    for alarm in found:
        click.echo(labelled("", _told(alarm), indent=2))


def _told(alarm: Row) -> str:
    name = one_line(alarm["candidate"], LONGEST_NAME)
    rates = alarm["rates"]
    if rates is None:
        return f"{name}: n/a, the runs have no task in common"
    how = (
        f"both runs simulated {alarm['n_simulations']:,} times from shrunken pass rates"
        if alarm["rerun"] is None
        else f"rollouts of {one_line(alarm['rerun'], LONGEST_NAME)} and the base dealt out anew "
        f"{alarm['n_simulations']:,} times"
    )
    told = (
        f"{name}: the rule would say improved in {_percent(rates['improved'])} and regressed in "
        f"{_percent(rates['regressed'])} of comparisons ({how}, {alarm['n_tasks']:,} tasks)"
    )
    for limit in alarm["policy"]:
        told += (
            f"; the policy's rule at {100 * limit['threshold']:+.1f} points of pass@1 would fail "
            f"{_percent(limit['fail'])} and pass {_percent(limit['pass'])}"
        )
    return told


def _percent(rate: float) -> str:
    return "n/a" if rate != rate else f"{100 * rate:.1f}%"
