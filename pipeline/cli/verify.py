"""blade verify: every figure, citation, quote and sum of a report, checked against the data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

import click

from pipeline import files, user_cache
from pipeline.cli.options import PATH, follow_option, json_option, rewritten, shown_progress
from pipeline.errors import BladeError, InputError, listed
from pipeline.settings import WAREHOUSE_NAME, Settings
from pipeline.text import neutral
from pipeline.warehouse import Warehouse, open_warehouse


@click.command()
@click.argument("report", type=PATH)
@click.option("--warehouse", type=PATH, help="The file that blade analyze wrote.")
@click.option("--results", type=PATH, help="A folder of rollouts to analyze first.")
@click.option("--metrics", type=PATH, help="A metrics sidecar, and nothing else.")
@click.option("--fix", "is_fixing", is_flag=True, help="Rewrite contradicted figures in place.")
@click.option("--unchecked", "is_listing", is_flag=True, help="List what was not checked too.")
@follow_option
@json_option
def verify(
    report: Path,
    warehouse: Path | None,
    results: Path | None,
    metrics: Path | None,
    is_fixing: bool,
    is_listing: bool,
    follow_links: bool,
    as_json: bool,
) -> None:
    """Compare every figure, citation, quote and sum of REPORT with the data.

    Exits with 1 on a contradiction. Without an option the data are found: a warehouse beside the
    report or that of its analysis, else the rollouts of its package, and the metrics sidecar
    beside it. Without any data the report is still compared with itself. The anchor facts beside a
    golden report are checked too: the query of each, its citations and its quotes.

    \b
    Examples:
      blade verify blade_out/report.md
      blade verify golden_reports/aster-8b_golden_report.md --fix
      blade verify report.md --results results/ --json
    """
    from pipeline.cli.terminal import print_page
    from pipeline.package import sidecar as sidecars
    from pipeline.package.facts import facts_file
    from pipeline.package.findings import fixed
    from pipeline.package.layout import against, golden
    from pipeline.package.verify import advice, summary
    from pipeline.package.verify import verify as verified

    data_of = against(report, warehouse, results, metrics, warehouse_name=WAREHOUSE_NAME)
    text = report_text(report, is_exact=is_fixing)
    side = None
    if data_of.metrics is not None:
        side = sidecars.read(report_text(data_of.metrics), data_of.metrics.name)
    beside = golden(report).anchor_facts
    has_facts = beside.is_file() and not data_of.is_metrics_alone
    anchors = facts_file(beside) if has_facts else None
    with ExitStack() as stack:
        path = data_of.warehouse
        if data_of.results is not None:
            analyzed = analyzed_package(data_of.results, follow_links=follow_links)
            path = stack.enter_context(analyzed)
        data = None if path is None else stack.enter_context(open_warehouse(path))
        click.echo(neutral(f"compared with {data_of.words}"), err=True)
        if data is not None and data_of.results is not None:
            print_unread_links(data)
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
    if counts["contradicted"]:
        raise click.exceptions.Exit(1)


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


def print_unread_links(warehouse: Warehouse) -> None:
    """Name the links that lead out of the rollouts, of which an analysis reads nothing."""
    query = "select source_file from rejects where reason = ? order by all"
    if names := warehouse.column(query, files.LEADS_OUT):
        unread = f"! links that lead out of the rollouts are not read: {listed(names)}"
        click.echo(f"{neutral(unread)}\n    --follow-links reads them", err=True)


@contextmanager
def analyzed_package(results: Path, *, follow_links: bool) -> Iterator[Path]:
    """A warehouse of these rollouts; that of a package is cached for the next call.

    It is used again only where every input has the bytes that it was made from. Nothing inside the
    package is believed: it was written by the author of the package.
    """
    from pipeline.package.layout import GOLDEN_REPORTS
    from pipeline.run import part

    package = results.absolute().parent
    is_package = (package / GOLDEN_REPORTS).is_dir()
    cache = user_cache.entry(user_cache.PACKAGES, package) if is_package else None
    path = None
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        settings = Settings(
            (results,),
            Path(folder) / "out",
            follow_links=follow_links,
            use_cache=False,
            by_content=True,
        )
        with shown_progress() as progress:
            if cache is not None:
                # Another call writes there, it is full, or the analysis says below what is wrong.
                with suppress(OSError, BladeError):
                    cached = replace(settings, out=cache, use_cache=True)
                    path = part(cached, progress=progress)
                    os.utime(cache)
                user_cache.prune(user_cache.PACKAGES)
            path = path or part(settings, progress=progress)
        yield path
