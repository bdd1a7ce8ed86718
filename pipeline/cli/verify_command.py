"""blade verify: every figure and citation of a report, held against the data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from pipeline.cli.options import json_option
from pipeline.errors import InputError, UsageError
from pipeline.text import json_text, neutral


@click.command()
@click.argument("report", type=click.Path(path_type=Path))
@click.option(
    "--warehouse", type=click.Path(path_type=Path), help="The file that blade analyze wrote."
)
@click.option(
    "--results", type=click.Path(path_type=Path), help="A folder of rollouts to analyze first."
)
@click.option(
    "--metrics", type=click.Path(path_type=Path), help="A metrics sidecar, and nothing else."
)
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
    from pipeline.cli.verify_page import print_findings
    from pipeline.cli.verify_source import evidence
    from pipeline.package.sanitize import log
    from pipeline.package.verify import sidecar as sidecars
    from pipeline.package.verify import verify as verified
    from pipeline.package.verify.summary import summary

    if sum(each is not None for each in (warehouse, results, metrics)) > 1:
        raise UsageError(
            "--warehouse, --results and --metrics exclude one another.",
            hint="Name one of them, or none to use what stands beside the report.",
        )
    text = _text(report, "report")
    with evidence(report, warehouse=warehouse, results=results, metrics=metrics) as found:
        click.echo(neutral(f"held against {found.told}"), err=True)
        side = None
        if found.metrics is not None:
            side = sidecars.read(_text(found.metrics, "sidecar"), found.metrics.name)
        redacted = log.of_report(report)
        findings = verified(text, report.as_posix(), found.warehouse, side, redacted)
    counts = summary(findings)
    if as_json:
        content = {"findings": [asdict(each) for each in findings], "summary": counts}
        click.echo(json_text(content, indent=2))
    else:
        paths = {report.name: str(report)}
        if found.metrics is not None:
            paths[found.metrics.name] = str(found.metrics)
        print_findings(findings, counts, paths)
    if counts["contradicted"]:
        raise click.exceptions.Exit(1)


def _text(path: Path, what: str) -> str:
    """A file's text; bytes that are not UTF-8 are shown as such and change no number."""
    if not path.is_file():
        raise InputError(
            f"{path}: no {what} here.", hint="Name a Markdown file, such as blade_out/report.md."
        )
    raw = path.read_bytes()
    text = raw.decode("utf-8-sig", errors="replace")
    if "\ufffd" in text and "\ufffd".encode() not in raw:
        click.echo(neutral(f"{path}: some bytes are not UTF-8; they are read as \ufffd"), err=True)
    return text
