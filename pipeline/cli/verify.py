"""blade verify: every figure, citation, quote and sum of a report, checked against the data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import click

from pipeline import files
from pipeline.cli.options import PATH, json_option, rewritten, shown_progress
from pipeline.errors import BladeError, InputError
from pipeline.settings import WAREHOUSE_NAME, Settings
from pipeline.text import neutral
from pipeline.warehouse import open_warehouse


@click.command()
@click.argument("report", type=PATH)
@click.option("--warehouse", type=PATH, help="The file that blade analyze wrote.")
@click.option("--results", type=PATH, help="A folder of rollouts to analyze first.")
@click.option("--metrics", type=PATH, help="A metrics sidecar, and nothing else.")
@click.option("--fix", "is_fixing", is_flag=True, help="Rewrite contradicted figures in place.")
@click.option("--unchecked", "is_listing", is_flag=True, help="List what was not checked too.")
@json_option
def verify(
    report: Path,
    warehouse: Path | None,
    results: Path | None,
    metrics: Path | None,
    is_fixing: bool,
    is_listing: bool,
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
    from pipeline.package.layout import against, golden
    from pipeline.package.sources import fixed
    from pipeline.package.verify import facts as anchor_facts
    from pipeline.package.verify import fix, summary
    from pipeline.package.verify import sidecar as sidecars
    from pipeline.package.verify import verify as verified

    held = against(report, warehouse, results, metrics, warehouse_name=WAREHOUSE_NAME)
    text = report_text(report, is_exact=is_fixing)
    side = None
    if held.metrics is not None:
        side = sidecars.read(report_text(held.metrics), held.metrics.name)
    beside = golden(report).anchor_facts
    has_facts = beside.is_file() and not held.is_metrics_alone
    anchors = anchor_facts.read(beside) if has_facts else None
    with ExitStack() as stack:
        path = held.warehouse
        if held.results is not None:
            path = stack.enter_context(analyzed_package(held.results))
        data = None if path is None else stack.enter_context(open_warehouse(path))
        click.echo(neutral(f"compared with {held.words}"), err=True)
        findings = verified(text, report.as_posix(), data, side, anchors)
        if is_fixing and (corrected := fixed(text, findings)) != text:
            rewritten(report, text, corrected, is_aside=as_json)
            findings = verified(corrected, report.as_posix(), data, side, anchors)
    counts = summary(findings)
    listed = [{k: v for k, v in asdict(each).items() if k != "span"} for each in findings]
    paths = {each.name: str(each) for each in (report, held.metrics, beside) if each}
    print_page(
        "verify",
        json={"findings": listed, "summary": counts} if as_json else None,
        findings=findings,
        counts=counts,
        is_listing=is_listing,
        where=lambda finding: f"{paths.get(finding.file, finding.file)}:{finding.line}",
        fix=fix,
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


@contextmanager
def analyzed_package(results: Path) -> Iterator[Path]:
    """A warehouse of these rollouts: that of a package is kept beside them for the next call."""
    from pipeline.package.layout import CACHE, GOLDEN_REPORTS
    from pipeline.run import part

    cache = results.absolute().parent / CACHE
    path = None
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        # A package may have been laid out with links.
        settings = Settings((results,), cache / results.name, follow_links=True)
        with shown_progress() as progress:
            if (cache.parent / GOLDEN_REPORTS).is_dir():
                try:
                    cache.mkdir(exist_ok=True)
                    # Nothing of it belongs into a repository.
                    (cache / ".gitignore").write_text("*\n", encoding="utf-8")
                    path = part(settings, progress=progress)
                except OSError as error:
                    reason = f"nothing is kept for the next call: {files.reason_of(error)}"
                    click.echo(neutral(f"{cache}: {reason}"), err=True)
                except BladeError:
                    pass  # another call writes there, or the analysis says below what is wrong
            alone = replace(settings, out=Path(folder) / "out", is_kept=False)
            path = path or part(alone, progress=progress)
        yield path
