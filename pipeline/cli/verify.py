"""blade verify: every figure, citation, quote and sum of a report, checked against the data."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline import files
from pipeline.cli.options import PATH, json_option, rewritten, shown_progress
from pipeline.errors import InputError
from pipeline.settings import SQL_DIR, WAREHOUSE_NAME, Settings
from pipeline.text import json_text, neutral
from pipeline.warehouse import open_warehouse, store_views

if TYPE_CHECKING:
    from pipeline.report.sources import Finding


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
    from pipeline.package.layout import against, golden
    from pipeline.package.verify import facts as anchor_facts
    from pipeline.package.verify import sidecar as sidecars
    from pipeline.package.verify import summary
    from pipeline.package.verify import verify as verified
    from pipeline.report.sources import fixed

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
    if as_json:
        listed = [{k: v for k, v in asdict(each).items() if k != "span"} for each in findings]
        click.echo(json_text({"findings": listed, "summary": counts}, indent=2))
    else:
        paths = {each.name: str(each) for each in (report, held.metrics, beside) if each}
        _print(findings, counts, paths, is_listing=is_listing)
    if counts["contradicted"]:
        raise click.exceptions.Exit(1)


def report_text(path: Path, *, is_exact: bool = False) -> str:
    """A file's text; bytes that are not UTF-8 are replaced, or refused where it is rewritten."""
    try:
        raw = files.content(path)
    except files.UnreadableError as error:
        raise InputError(f"{path}: {error}.", hint="Check the path.") from error
    try:
        return raw.decode("utf-8")
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

    cache = results.absolute().parent / CACHE
    kept = cache / _key(results) / WAREHOUSE_NAME
    is_package = (cache.parent / GOLDEN_REPORTS).is_dir()
    if is_package and kept.is_file():
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        path = _built(results, Path(folder) / "out")
        if is_package:
            store_views(path)
            try:
                _keep(path, kept)
            except OSError as error:
                reason = error.strerror or "the system refuses it"
                click.echo(
                    neutral(f"{cache}: nothing is kept for the next call: {reason}"), err=True
                )
        yield path


def _built(results: Path, out: Path) -> Path:
    """All relations, but no pages; a package may have been laid out with links."""
    from pipeline.run import part

    with shown_progress() as progress:
        settings = Settings(results=(results,), out=out, follow_links=True)
        return part(settings, progress=progress)


def _keep(path: Path, kept: Path) -> None:
    """Put a warehouse where the next call looks, whole or not at all, and drop the one before."""
    cache = kept.parent.parent
    old = [each for each in cache.glob("*") if each.is_dir()] if cache.is_dir() else []
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Nothing of it belongs into a repository.
    (cache / ".gitignore").write_text("*\n", encoding="utf-8")
    beside = kept.with_name(f".{os.getpid()}.duckdb")
    try:
        shutil.copyfile(path, beside)
        beside.replace(kept)
    finally:
        beside.unlink(missing_ok=True)
    for each in old:
        if each != kept.parent:
            shutil.rmtree(each, ignore_errors=True)


def _key(results: Path) -> str:
    """What a warehouse was made of: the bytes of rollouts and profile, and blade itself."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for folder, ending in ((package, "*.py"), (package, "*.toml"), (SQL_DIR, "*.sql")):
        for path in sorted(folder.rglob(ending)):
            status = path.stat()
            digest.update(f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    try:
        below = sorted(path for path in results.rglob("*") if path.is_file()) or [results]
        package = results.absolute().parent
        beside = [*package.glob("*.toml"), *package.glob("labels.jsonl")]
        for path in [*below, *sorted(beside)]:
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode(errors="replace"))
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError:
        # The analysis says what is wrong here.
        return "unreadable"
    return digest.hexdigest()[:32]


def _print(
    findings: list[Finding],
    counts: Mapping[str, Any],
    paths: Mapping[str, str],
    *,
    is_listing: bool,
) -> None:
    """What a person has to act on; what was not checked is counted, and listed where asked for."""
    from pipeline.cli.terminal import print_page
    from pipeline.package.verify import fix

    by_status = {
        status: [finding for finding in findings if finding.status == status]
        for status in ("contradicted", "unchecked")
    }
    print_page(
        "verify",
        wrong=by_status["contradicted"],
        unknown=by_status["unchecked"] if is_listing else [],
        counts=counts,
        where=lambda finding: f"{paths.get(finding.file, finding.file)}:{finding.line}",
        fix=fix,
    )
