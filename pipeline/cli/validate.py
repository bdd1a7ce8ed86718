"""Check a package: skill, rollouts, golden reports."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from ..errors import BladeError
from ..package import validate as rules
from ..package.layout import existing_package
from ..package.sanitize import policy as policies
from ..package.sanitize import share
from ..package.validate import FAIL, GOLDEN, PASS, PHASES, SHARING, Subject, findings
from ..text import neutral
from .options import (
    PATH,
    count_option,
    follow_option,
    json_option,
    opened_package,
)
from .terminal import print_page

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
@count_option("--min-anchor-facts", 8, "How many distinct anchor facts each golden report needs.")
@click.option(
    "--policy",
    type=PATH,
    help="What is private and what is cleared, for the look for private data; sanitize.toml of "
    "the package or of a folder above it.",
)
@follow_option
@json_option
def validate(
    benchmark_dir: Path,
    phase: str,
    min_anchor_facts: int,
    policy: Path | None,
    follow_links: bool,
    as_json: bool,
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
    package = existing_package(benchmark_dir)
    with ExitStack() as stack:
        warehouse, reason = None, "no rollout file"
        if package.rollouts:
            try:
                opened = opened_package(package.results, follow_links=follow_links)
                warehouse = stack.enter_context(opened)
            except BladeError as error:
                reason = str(error)
        subject = Subject(
            package,
            warehouse,
            reason,
            min_anchor_facts,
            _leaks(package.folder, policy) if SHARING in phases else None,
            findings(package, warehouse) if GOLDEN in phases else {},
        )
        checks = rules.validate(subject, phases)
    items = rules.readiness(checks) if phase == ALL else []
    content = rules.as_json(checks, items, phase)
    shown = {"checks": checks, "titles": TITLES, "counts": content["summary"], "items": items}
    print_page("validate", json=content if as_json else None, **shown)
    if rules.count(checks, FAIL) or any(item["status"] != PASS for item in items):
        raise click.exceptions.Exit(1)


def _leaks(folder: Path, policy: Path | None) -> list[tuple[str, int, str]] | None:
    """What is private in a folder; a file that cannot be looked into may hold anything."""
    private = share.read_policy(policy or policies.nearest([folder]))
    try:
        survey = share.survey([folder], private)
        leaks = [(*each.places[0], each.kind) for each in share.check(survey, private)]
    except BladeError as error:
        click.echo(f"blade: sanitization could not be checked: {neutral(str(error))}", err=True)
        return None
    return [*leaks, *((each.name, 0, "unchecked file") for each in survey.unchecked)]
