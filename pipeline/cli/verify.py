"""Check every figure and citation of a report against the data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import files
from ..errors import InputError, UsageError
from ..settings import WAREHOUSE_NAME
from ..text import neutral
from .options import PATH, follow_option, json_option, opened_data, rewritten

if TYPE_CHECKING:
    from ..warehouse import Warehouse


@click.command()
@click.argument("report", type=PATH)
@click.option("--warehouse", type=PATH, help="The file that blade analyze wrote.")
@click.option("--results", type=PATH, help="A folder of rollouts to analyze first.")
@click.option("--metrics", type=PATH, help="A metrics sidecar, and nothing else.")
@click.option(
    "--labels", type=PATH, help="A labels.jsonl to go by instead of those of the analysis."
)
@click.option("--fix", "is_fixing", is_flag=True, help="Rewrite contradicted figures in place.")
@click.option("--unchecked", "is_listing", is_flag=True, help="List what was not checked too.")
@click.option("--strict", "is_strict", is_flag=True, help="Exit with 1 on the unchecked too.")
@follow_option
@json_option
def verify(
    report: Path,
    warehouse: Path | None,
    results: Path | None,
    metrics: Path | None,
    labels: Path | None,
    is_fixing: bool,
    is_listing: bool,
    is_strict: bool,
    follow_links: bool,
    as_json: bool,
) -> None:
    """Compare every figure, citation, quote and sum of REPORT with the data.

    Exits with 1 on a contradiction, and with --strict on what could not be checked. Without an
    option the data are found: a warehouse beside the report or that of its analysis, else the
    rollouts of its package, and the metrics sidecar beside it. Without any data the report is still
    compared with itself. The anchor facts beside a golden report are checked too: the query of
    each, its citations and its quotes.

    \b
    Examples:
      blade verify blade_out/report.md
      blade verify golden_reports/aster-8b_golden_report.md --fix
      blade verify report.md --results results/ --json
      blade verify report.md --labels labels.jsonl
    """
    from ..package import sidecar as sidecars
    from ..package.facts import facts_file
    from ..package.findings import fixed
    from ..package.layout import against, golden
    from ..package.verify import advice, summary
    from ..package.verify import verify as verified
    from .terminal import print_page

    data_of = against(report, warehouse, results, metrics, warehouse_name=WAREHOUSE_NAME)
    text = report_text(report, is_exact=is_fixing)
    side = None
    if data_of.metrics is not None:
        side = sidecars.read(report_text(data_of.metrics), data_of.metrics.name)
    beside = golden(report).anchor_facts
    has_facts = beside.is_file() and not data_of.is_metrics_alone
    anchors = facts_file(beside) if has_facts else None
    with (
        opened_data(data_of, follow_links=follow_links) as unlabelled,
        _with_labels(unlabelled, labels) as data,
    ):
        and_labels = f" and {labels}" if labels else ""
        click.echo(neutral(f"compared with {data_of.words}{and_labels}"), err=True)
        findings = verified(text, report.as_posix(), data, side, anchors)
        if is_fixing and (corrected := fixed(text, findings)) != text:
            rewritten(report, text, corrected, is_aside=as_json)
            findings = verified(corrected, report.as_posix(), data, side, anchors)
    counts = summary(findings)
    objects = [
        {k: v for k, v in asdict(each).items() if k not in ("span", "edits")} for each in findings
    ]
    paths = {each.name: str(each) for each in (report, data_of.metrics, beside) if each}
    print_page(
        "verify",
        json={"findings": objects, "summary": counts} if as_json else None,
        findings=findings,
        counts=counts,
        is_listing=is_listing,
        where=lambda finding: f"{paths.get(finding.file, finding.file)}:{finding.line}",
        fix=advice,
    )
    if counts["contradicted"] or (is_strict and counts["unchecked"]):
        raise click.exceptions.Exit(1)


@contextmanager
def _with_labels(data: Warehouse | None, labels: Path | None) -> Iterator[Warehouse | None]:
    """The data with these labels in place of those that the analysis read."""
    if labels is None:
        yield data
        return
    if data is None or data.path is None:
        hint = "Name a warehouse or results: --warehouse FILE, --results DIR"
        raise UsageError("--labels: there are no rollouts that they could be of.", hint=hint)
    from ..answers import labelled
    from ..warehouse import open_warehouse

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        copy = Path(folder) / WAREHOUSE_NAME
        labelled.write(data.path, labels, copy)
        with open_warehouse(copy) as opened:
            yield opened


def report_text(path: Path, *, is_exact: bool = False) -> str:
    """A file's text; bytes that are not UTF-8 are replaced, or refused where it is rewritten."""
    try:
        raw = files.content(path)
        return raw.decode("utf-8")
    except files.UnreadableError as error:
        raise InputError(f"{path}: {error}.", hint="Check the path.") from error
    except UnicodeDecodeError as error:
        if is_exact:
            message = f"{path}: is not UTF-8 at byte {error.start}, and cannot be rewritten."
            raise InputError(message, hint="Save it as UTF-8.") from error
    click.echo(neutral(f"{path}: some bytes are not UTF-8; they are read as \ufffd"), err=True)
    return raw.decode("utf-8", errors="replace")
