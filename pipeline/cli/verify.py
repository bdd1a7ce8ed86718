"""blade verify: every figure and citation of a report, checked against the data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pipeline.cli.options import PATH, json_option
from pipeline.cli.progress import shown_progress
from pipeline.errors import InputError, UsageError
from pipeline.package import layout
from pipeline.package.sanitize import log
from pipeline.package.verify import sidecar as sidecars
from pipeline.package.verify import verify as verified
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.summary import summary
from pipeline.run import part
from pipeline.settings import WAREHOUSE_NAME, Settings
from pipeline.text import json_text, neutral, one_line
from pipeline.warehouse import Warehouse, open_warehouse

LONGEST = 200
MOST_UNVERIFIABLE = 20
HINTS = {
    "marked": "Write the figure that the data give, or correct the mark behind it.",
    "number": "Write the figure that the data give, or say more exactly what it counts.",
    "ratio": "Correct the part, the whole or the percentage: they do not belong together.",
    "total": "Correct the total, the rows or the whole that the head names.",
    "repeated": "Make both places say the same.",
    "citation": "Cite a rollout that exists; blade show opens it.",
    "task": "Name a task that exists.",
    "outcome": "Cite a rollout of that outcome, or correct what is said of it.",
    "mode": "Cite a rollout that has the mode, or name its own.",
    "tool": "Cite a rollout that shows it, or correct what is said of it.",
    "quote": "Quote what is there, or cite where it was said.",
    "sidecar": "Make report, sidecar and data agree; blade metrics RUN prints the figures.",
}


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
    if sum(each is not None for each in (warehouse, results, metrics)) > 1:
        raise UsageError(
            "--warehouse, --results and --metrics exclude one another.",
            hint="Name one of them, or none to use what stands beside the report.",
        )
    text = _text(report, "report")
    if metrics is not None and not metrics.is_file():
        raise InputError(f"{metrics}: no metrics here.", hint="Name the sidecar of the report.")
    beside = metrics or _sidecar(report)
    if (warehouse or results or metrics) is None:
        warehouse, results = _found(report)
    with _opened(warehouse, results) as data:
        click.echo(
            neutral(f"held against {_evidence(warehouse, results, metrics, beside)}"), err=True
        )
        side = None if beside is None else sidecars.read(_text(beside, "sidecar"), beside.name)
        redacted = log.of_report(report)
        findings = verified(text, report.as_posix(), data, side, redacted)
    counts = summary(findings)
    if as_json:
        content = {"findings": [asdict(each) for each in findings], "summary": counts}
        click.echo(json_text(content, indent=2))
    else:
        _print(findings, {path.name: str(path) for path in (report, beside) if path})
        click.echo(_summary(counts))
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


@contextmanager
def _opened(warehouse: Path | None, results: Path | None) -> Iterator[Warehouse | None]:
    """The data, open as long as they are needed; of results all relations, but no pages."""
    if results is not None:
        if not results.exists():
            raise InputError(f"{results}: not found.", hint="Name the folder of the rollouts.")
        with tempfile.TemporaryDirectory(prefix="blade-") as folder:
            settings = Settings(results=(results,), out=Path(folder) / "out")
            with shown_progress() as progress:
                path = part(settings, progress=progress)
            with open_warehouse(path) as opened:
                yield opened
    elif warehouse is not None:
        with open_warehouse(warehouse) as opened:
            yield opened
    else:
        yield None


def _evidence(
    warehouse: Path | None, results: Path | None, metrics: Path | None, beside: Path | None
) -> str:
    """What the report is compared with, in words."""
    if metrics is not None:
        return f"the figures of {metrics} alone"
    if results is not None:
        return f"{results}, analyzed for this"
    if warehouse is not None:
        return str(warehouse)
    if beside is not None:
        return f"the figures of {beside} alone: no warehouse or rollouts found"
    return "nothing but the report itself: no warehouse, rollouts or metrics"


def _sidecar(report: Path) -> Path | None:
    """The metrics beside a report, by its name, or those that blade writes beside report.md."""
    candidates = [layout.golden(report).metrics]
    if report.name == "report.md":
        candidates.append(report.with_name("metrics.json"))
    return next((path for path in candidates if path.is_file()), None)


def _found(report: Path) -> tuple[Path | None, Path | None]:
    """A warehouse beside the report or two folders up, else the rollouts of its package."""
    folder = report.absolute().parent
    for place in (folder, *folder.parents[1:2]):
        path = place / WAREHOUSE_NAME
        if path.is_file():
            return _as_given(path, report), None
    for golden in (folder, *folder.parents[:1]):
        if golden.name == layout.GOLDEN_REPORTS:
            package = layout.package(golden.parent)
            if package.rollouts:
                return None, _as_given(package.results, report)
    return None, None


def _as_given(path: Path, report: Path) -> Path:
    """A path as the caller would write it."""
    try:
        return path if report.is_absolute() else path.relative_to(Path.cwd())
    except ValueError:
        return path


def _print(findings: list[Finding], paths: Mapping[str, str]) -> None:
    """Everything a person has to act on: contradictions first, then what nothing speaks for."""
    wrong = [finding for finding in findings if finding.status == CONTRADICTED]
    for finding in wrong:
        click.echo(f"{_where(finding, paths)}: contradicted ({finding.check})")
        click.echo(f"  says      {_line(finding.claim)}")
        click.echo(f"  expected  {_line(finding.expected or 'something else')}")
        click.echo(f"  source    {_line(finding.source)}")
        click.echo(f"  fix       {HINTS.get(finding.check, 'Correct it.')}")
    unknown = [finding for finding in findings if finding.status == UNVERIFIABLE]
    if unknown:
        click.echo("Unverifiable:")
    for finding in unknown[:MOST_UNVERIFIABLE]:
        where = _where(finding, paths)
        click.echo(f"  {where}  {_line(finding.claim)}  ({_line(finding.source)})")
    if len(unknown) > MOST_UNVERIFIABLE:
        click.echo(f"  and {len(unknown) - MOST_UNVERIFIABLE:,} more; --json lists all")
    if wrong or unknown:
        click.echo()


def _where(finding: Finding, paths: Mapping[str, str]) -> str:
    return f"{_line(paths.get(finding.file, finding.file))}:{finding.line}"


def _line(text: str) -> str:
    return neutral(one_line(text, LONGEST))


def _summary(counts: Mapping[str, Any]) -> str:
    """What was found, in numbers."""
    parts = []
    for name in ("numbers", "citations", "claims", "consistency", "sidecar", "redactions"):
        found = counts[name]
        if name == "numbers" and sum(found.values()):
            parts.append(f"{name} {found[VERIFIED]:,} verified")
            wrong = [status for status in (CONTRADICTED, UNVERIFIABLE) if found[status]]
            parts += [f"{found[status]:,} {status}" for status in wrong]
        elif sum(found.values()):
            parts.append(f"{name} {found[VERIFIED]:,} of {sum(found.values()):,}")
    share = counts["share_unverifiable"]
    unknown = "" if share is None else f"; {100 * share:.1f}% of numbers unverifiable"
    verdict = "contradicted" if counts[CONTRADICTED] else "no contradiction"
    return f"{verdict}: {', '.join(parts) or 'nothing to verify'}{unknown}"
