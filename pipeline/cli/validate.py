"""blade validate: a package checked by D1, D2 and D3, and by the readiness checklist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from pipeline.cli.options import PATH, json_option
from pipeline.cli.verify import analyzed_package
from pipeline.errors import BladeError
from pipeline.package import validate as rules
from pipeline.package.layout import Package, existing_package
from pipeline.package.sanitize import policy as policies
from pipeline.package.sanitize import share
from pipeline.package.validate import GOLDEN, PHASES, SHARING
from pipeline.package.validate.subject import FAIL, PASS, SKIP, WARN, Check, Subject, findings
from pipeline.text import json_text, neutral
from pipeline.warehouse import Warehouse, open_warehouse

ALL = "all"
TITLES = {
    "skill": "D1 skill",
    "rollouts": "D2 rollouts",
    "golden": "D3 golden reports",
    "sharing": "Sharing",
}


@click.command()
@click.option(
    "--benchmark-dir",
    type=PATH,
    required=True,
    help="The package: the folder with skill/, rollouts/ and golden_reports/.",
)
@click.option(
    "--phase",
    type=click.Choice([ALL, *PHASES[:3]]),
    default=ALL,
    help="What to check; all ends with the readiness checklist.",
)
@click.option(
    "--min-anchor-facts",
    type=click.IntRange(min=1),
    default=8,
    help="How many distinct anchor facts each golden report needs.",
)
@click.option(
    "--policy",
    type=PATH,
    help="What is private and what is cleared, for the look for private data; sanitize.toml of "
    "the package or of a folder above it.",
)
@json_option
def validate(
    benchmark_dir: Path, phase: str, min_anchor_facts: int, policy: Path | None, as_json: bool
) -> None:
    """Check a benchmark's package, and say what is left to do.

    One line per check. A failure is followed by what it means and how to fix it, and the
    command then ends with 1.

    \b
    Examples:
      blade validate --benchmark-dir data_samples/benchmarks/office_desk
      blade validate --benchmark-dir data_samples/benchmarks/office_desk --phase rollouts
      blade validate --benchmark-dir data_samples/benchmarks/office_desk --json
    """
    phases = PHASES if phase == ALL else (phase,)
    found = existing_package(benchmark_dir)
    with _opened(found) as (warehouse, reason):
        subject = Subject(
            found,
            warehouse,
            reason,
            min_anchor_facts,
            _leaks(found.folder, policy) if SHARING in phases else None,
            findings(found, warehouse) if GOLDEN in phases and warehouse else {},
        )
        checks = rules.validate(subject, phases)
    items = rules.readiness(checks) if phase == ALL else []
    if as_json:
        click.echo(json_text(rules.as_json(checks, items, phase), indent=2))
    else:
        _print(checks)
        if phase == ALL:
            _print_readiness(items)
    if rules.count(checks, FAIL) or any(item["status"] != PASS for item in items):
        raise click.exceptions.Exit(1)


@contextmanager
def _opened(found: Package) -> Iterator[tuple[Warehouse | None, str]]:
    """The warehouse of the package; where there is none, why."""
    with ExitStack() as stack:
        warehouse, reason = None, "no rollout file"
        if found.rollouts:
            try:
                path = stack.enter_context(analyzed_package(found.results))
                warehouse = stack.enter_context(open_warehouse(path))
            except BladeError as error:
                reason = str(error)
        yield warehouse, reason


def _leaks(folder: Path, policy: Path | None) -> list[tuple[str, int, str]] | None:
    """What is private in a folder; a file that cannot be looked into may hold anything."""
    private = share.read_policy(policy or policies.found([folder]))
    try:
        given = share.survey([folder], private)
        leaks = [(*each.places[0], each.kind) for each in share.check(given, private)]
    except BladeError as error:
        click.echo(f"blade: sanitization could not be checked: {neutral(str(error))}", err=True)
        return None
    return [*leaks, *((each.name, 0, "unchecked file") for each in given.unchecked)]


def _print(checks: Sequence[Check]) -> None:
    shown = ""
    for each, following in pairwise([*checks, None]):
        assert each is not None
        if each.phase != shown:
            click.echo(("\n" if shown else "") + TITLES[each.phase])
            shown = each.phase
        click.echo(neutral(f"[{each.status}] {each.check}: {each.message}"))
        # Of several alike the last explains them all.
        if following is None or _advice(following) != _advice(each):
            for title, words in (("means", each.meaning), ("fix", each.fix)):
                if words:
                    click.echo(neutral(f"       {title}: {words}"))
    counts = [f"{rules.count(checks, PASS)} passed", f"{rules.count(checks, FAIL)} failed"]
    for status, word in ((WARN, "to look at"), (SKIP, "not checked")):
        if n_checks := rules.count(checks, status):
            counts.append(f"{n_checks} {word}")
    click.echo(f"\n{', '.join(counts)}")


def _advice(check: Check) -> tuple[str, str, str]:
    return check.status, check.meaning, check.fix


def _print_readiness(items: Sequence[dict[str, Any]]) -> None:
    click.echo("\nReadiness checklist")
    for item in items:
        counts = ((item["n_failed"], "failed"), (item["n_not_checked"], "not checked"))
        why = ", ".join(f"{number} {word}" for number, word in counts if number)
        click.echo(f"[{item['status']}] {item['item']}" + (f" ({why})" if why else ""))
    lacking = sum(item["status"] != PASS for item in items)
    if lacking:
        click.echo(f"\nNot BLADE-ready: {lacking} of {len(items)} items do not hold yet.")
    else:
        n_warnings = sum(item["n_warnings"] for item in items)
        click.echo("\nBLADE-ready." + f" Look at {n_warnings} warnings above." * bool(n_warnings))
