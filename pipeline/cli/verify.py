"""blade verify: every figure and citation of a report, checked against the data."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline import files
from pipeline.cli.options import PATH, json_option, shown_progress
from pipeline.errors import InputError
from pipeline.settings import WAREHOUSE_NAME, Settings
from pipeline.text import json_text, neutral, one_line
from pipeline.warehouse import open_warehouse

if TYPE_CHECKING:
    from pipeline.package.verify.finding import Finding

MOST_UNVERIFIABLE = 20


@click.command()
@click.argument("report", type=PATH)
@click.option("--warehouse", type=PATH, help="The file that blade analyze wrote.")
@click.option("--results", type=PATH, help="A folder of rollouts to analyze first.")
@click.option("--metrics", type=PATH, help="A metrics sidecar, and nothing else.")
@json_option
def verify(
    report: Path, warehouse: Path | None, results: Path | None, metrics: Path | None, as_json: bool
) -> None:
    """Hold every figure and citation of REPORT against the data; exit 1 on a contradiction.

    Without an option the data are found: a warehouse beside the report or that of its analysis,
    else the rollouts of its package, and the metrics sidecar beside it. Without any data the
    report is still held against itself.

    \b
    Examples:
      blade verify blade_out/report.md
      blade verify golden_reports/aster-8b_golden_report.md
      blade verify report.md --results results/ --json
    """
    from pipeline.package.sanitize import log
    from pipeline.package.verify import sidecar as sidecars
    from pipeline.package.verify import verify as verified
    from pipeline.package.verify.source import against
    from pipeline.package.verify.summary import summary, summary_line
    from pipeline.run import part

    held = against(report, warehouse, results, metrics, warehouse_name=WAREHOUSE_NAME)
    text = _text(report)
    with ExitStack() as stack:
        path = held.warehouse
        if held.results is not None:
            # All relations, but no pages.
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="blade-"))
            with shown_progress() as progress:
                out = Path(folder) / "out"
                # A package may have been laid out with links.
                settings = Settings(results=(held.results,), out=out, follow_links=True)
                path = part(settings, progress=progress)
        data = None if path is None else stack.enter_context(open_warehouse(path))
        click.echo(neutral(f"held against {held.words}"), err=True)
        side = None
        if held.metrics is not None:
            side = sidecars.read(_text(held.metrics), held.metrics.name)
        findings = verified(text, report.as_posix(), data, side, log.of_report(report))
    counts = summary(findings)
    if as_json:
        content = {"findings": [asdict(each) for each in findings], "summary": counts}
        click.echo(json_text(content, indent=2))
    else:
        _print(findings, {path.name: str(path) for path in (report, held.metrics) if path})
        click.echo(summary_line(counts))
    if counts["contradicted"]:
        raise click.exceptions.Exit(1)


def _text(path: Path) -> str:
    """A file's text; bytes that are not UTF-8 are shown as such and change no number."""
    try:
        raw = files.content(path)
    except files.UnreadableError as error:
        raise InputError(f"{path}: {error}.", hint="Check the path.") from error
    text = raw.decode("utf-8-sig", errors="replace")
    if "\ufffd" in text and "\ufffd".encode() not in raw:
        click.echo(neutral(f"{path}: some bytes are not UTF-8; they are read as \ufffd"), err=True)
    return text


def _print(findings: list[Finding], paths: Mapping[str, str]) -> None:
    """Everything a person has to act on: contradictions first, then what nothing speaks for."""

    def where(finding: Finding) -> str:
        return f"{one_line(paths.get(finding.file, finding.file))}:{finding.line}"

    wrong = [finding for finding in findings if finding.status == "contradicted"]
    for finding in wrong:
        click.echo(f"{where(finding)}: contradicted ({finding.check})")
        click.echo(f"  says      {one_line(finding.claim)}")
        click.echo(f"  expected  {one_line(finding.expected or 'something else')}")
        click.echo(f"  source    {one_line(finding.source)}")
        click.echo(f"  fix       {finding.fix}")
    unknown = [finding for finding in findings if finding.status == "unverifiable"]
    if unknown:
        click.echo("Unverifiable:")
    for finding in unknown[:MOST_UNVERIFIABLE]:
        source = f"({one_line(finding.source)})"
        click.echo(f"  {where(finding)}  {one_line(finding.claim)}  {source}")
    if len(unknown) > MOST_UNVERIFIABLE:
        click.echo(f"  and {len(unknown) - MOST_UNVERIFIABLE:,} more; --json lists all")
    if wrong or unknown:
        click.echo()
