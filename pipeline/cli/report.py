"""blade report: a report rendered again from a warehouse."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pipeline.cli.options import PATH, rewritten, templates_option, warehouse_option
from pipeline.errors import InputError, UsageError
from pipeline.outputs import replacing
from pipeline.text import neutral, one_line

FORMATS = ("md", "html")
WIDEST = 400


@click.command()
@click.option(
    "--run",
    "runs",
    multiple=True,
    help="A run to tell of; may be given several times.  [default: all]",
)
@click.option(
    "--sections",
    help="Names of sections, apart by commas, such as executive_summary.  [default: all]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Markdown, or one HTML page.  [default: by the ending of --out, else md]",
)
@click.option("--out", type=PATH, help="File to write to, whole or not at all.")
@templates_option
@click.option(
    "--labels", type=PATH, help="A labels.jsonl to go by instead of those of the analysis."
)
@click.option(
    "--refresh",
    type=PATH,
    metavar="FILE",
    help="Recompute the sources of a curated report and write its figures in place.",
)
@warehouse_option
def report(
    runs: tuple[str, ...],
    sections: str | None,
    format_: str | None,
    out: Path | None,
    templates: Path | None,
    labels: Path | None,
    refresh: Path | None,
    warehouse: Path,
) -> None:
    """Render the report again, or a part of it, from what an analysis wrote.

    With --refresh nothing is rendered: the figures of a curated report that carries sources become
    those of this warehouse, a diff is printed, and nothing else in the file is touched.

    \b
    Examples:
      blade report > report.md
      blade report --run office_desk_aster-8b --out aster.html
      blade report --sections executive_summary,recommendations
      blade report --templates my_templates --labels labels.jsonl --out report.html
      blade report --refresh golden_report.md
    """
    if refresh is not None:
        if runs or sections or format_ or out or templates or labels:
            hint = "Nothing but --warehouse goes with it."
            raise UsageError("--refresh: renders nothing.", hint=hint)
        _refresh(refresh, warehouse)
        return
    named = [] if sections is None else [name.strip() for name in sections.split(",")]
    if sections is not None and not any(named):
        hint = "For example: --sections executive_summary"
        raise UsageError("--sections: no section is named.", hint=hint)
    from pipeline.answers.rerender import render

    is_page = out is not None and out.suffix.lower() in (".html", ".htm")
    rendering = render(
        warehouse,
        runs=runs,
        sections=[name for name in named if name],
        as_html=is_page if format_ is None else format_ == "html",
        templates=templates,
        labels=labels,
    )
    for warning in rendering.warnings:
        click.echo(f"! {one_line(f'{warning.subject}: {warning.message}', WIDEST)}", err=True)
    if out is None:
        # Through a pipe exact, on a terminal inert.
        text = neutral(rendering.text) if sys.stdout.isatty() else rendering.text
        click.echo(text, nl=False)
        return
    if out.is_dir():
        raise InputError(f"{out}: is a folder.", hint="Name a file with --out.")
    with replacing(out, hint="Choose another file with --out.") as path:
        # Only a template of the user's can bring along what no file can hold.
        path.write_text(rendering.text, encoding="utf-8", newline="\n", errors="backslashreplace")


def _refresh(path: Path, warehouse: Path) -> None:
    """Exit with 1 where a source could not be run: its figures are as they were."""
    from pipeline.cli.verify import report_text
    from pipeline.package.sources import CONTRADICTED, VERIFIED, refreshed
    from pipeline.warehouse import open_warehouse

    text = report_text(path, is_exact=True)
    with open_warehouse(warehouse) as opened:
        new, findings = refreshed(text, opened)
    if new != text:
        rewritten(path, text, new)
    wrong = [each for each in findings if each.status == CONTRADICTED]
    changed = [each for each in wrong if each.edits]
    n_same = sum(each.status == VERIFIED for each in findings)
    summary = f"{len(changed):,} texts changed, {n_same:,} as they were"
    click.echo(neutral(f"{path}: {summary}"), err=True)
    lines = text.split("\n")
    for line in sorted({each.line for each in changed}):
        click.echo(
            neutral(f"  read again {path}:{line}: {one_line(lines[line - 1], 120)}"), err=True
        )
    for each in wrong:
        if not each.edits:
            told = f"{each.claim}, expected {each.expected}: {each.source}"
            click.echo(
                neutral(f"! {path}:{each.line}: not rewritten: {one_line(told, WIDEST)}"), err=True
            )
    if len(changed) < len(wrong):
        raise click.exceptions.Exit(1)
