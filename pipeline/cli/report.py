"""Render the report again, or a curated one as a page; refresh its figures."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from ..errors import InputError, UsageError
from ..outputs import replacing
from ..settings import WAREHOUSE_NAME
from ..text import neutral, one_line
from .completion import complete_run
from .options import (
    PATH,
    follow_option,
    json_option,
    opened_data,
    rewritten,
    templates_option,
    warehouse_option,
)
from .terminal import print_page

FORMATS = ("md", "html")
WIDEST = 400


@click.command()
@click.option(
    "--run",
    "runs",
    multiple=True,
    shell_complete=complete_run,
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
@click.option(
    "--html",
    "curated",
    type=PATH,
    metavar="FILE",
    help="The page of a report in Markdown that a person edited, with its evidence.",
)
@click.option("--results", type=PATH, help="With --html: a folder of rollouts to analyze first.")
@follow_option
@json_option
@warehouse_option
@click.pass_context
def report(
    context: click.Context,
    runs: tuple[str, ...],
    sections: str | None,
    format_: str | None,
    out: Path | None,
    templates: Path | None,
    labels: Path | None,
    refresh: Path | None,
    curated: Path | None,
    results: Path | None,
    follow_links: bool,
    as_json: bool,
    warehouse: Path,
) -> None:
    """Render the report again, or a part of it, from what an analysis wrote.

    With --refresh nothing is rendered: the figures of a curated report that carries sources become
    those of this warehouse, a diff is printed, and nothing else in the file is touched. What to
    read again is listed: sentences beside these figures, cards whose task changed its bucket.

    With --html the page of a curated report is written: its citations open the attempts, its
    figures show their queries. Without --warehouse or --results the data are found as by verify.

    \b
    Examples:
      blade report > report.md
      blade report --run office_desk_aster-8b --out aster.html
      blade report --sections executive_summary,recommendations
      blade report --templates my_templates --labels labels.jsonl --out report.html
      blade report --refresh golden_report.md
      blade report --html golden_report.md --results rollouts/ --out golden_report.html
    """
    is_rendering = bool(runs or sections or format_ or templates or labels)
    if refresh is not None and (is_rendering or out or curated or results):
        hint = "Nothing but --warehouse and --json goes with it."
        raise UsageError("--refresh: renders nothing.", hint=hint)
    if curated is not None and is_rendering:
        hint = "Nothing but --out, --warehouse, --results and --follow-links goes with it."
        raise UsageError("--html: the page holds what is in the file.", hint=hint)
    if results is not None and curated is None:
        hint = "Give --html FILE, or analyze the folder first: blade analyze RESULTS"
        raise UsageError("--results: goes with --html only.", hint=hint)
    if as_json and refresh is None:
        hint = "For figures as JSON: blade metrics --json"
        raise UsageError("--json: goes with --refresh only.", hint=hint)
    if refresh is not None:
        _refresh(refresh, warehouse, as_json=as_json)
        return
    if curated is not None:
        is_given = context.get_parameter_source("warehouse") is ParameterSource.COMMANDLINE
        own = warehouse if is_given else None
        _write(_page(curated, own, results, follow_links=follow_links), out)
        return
    named = [] if sections is None else [name.strip() for name in sections.split(",")]
    if sections is not None and not any(named):
        hint = "For example: --sections executive_summary"
        raise UsageError("--sections: no section is named.", hint=hint)
    from ..answers.rerender import render

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
    _write(rendering.text, out)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        # Through a pipe exact, on a terminal inert.
        click.echo(neutral(text) if sys.stdout.isatty() else text, nl=False)
        return
    if out.is_dir():
        raise InputError(f"{out}: is a folder.", hint="Name a file with --out.")
    with replacing(out, hint="Choose another file with --out.") as path:
        # Only a template of the user's can bring along what no file can hold.
        path.write_text(text, encoding="utf-8", newline="\n", errors="backslashreplace")


def _page(report: Path, warehouse: Path | None, results: Path | None, *, follow_links: bool) -> str:
    from ..package.files import report_text
    from ..package.layout import against
    from ..package.page import page
    from ..package.verify import verify

    data_of = against(report, warehouse, results, None, warehouse_name=WAREHOUSE_NAME)
    text = report_text(report)
    with opened_data(data_of, follow_links=follow_links) as data:
        name = data_of.results or data_of.warehouse
        words = "nothing but itself" if name is None else name.name
        if data is None:
            message = (
                f"{report}: no warehouse or rollouts found, so evidence could not be looked up"
            )
            click.echo(f"! {neutral(message)}\n    --warehouse or --results names them", err=True)
        return page(text, data, verify(text, report.as_posix(), data), words)


def _refresh(path: Path, warehouse: Path, *, as_json: bool) -> None:
    """Exit with 1 where a source could not be run: its figures are as they were."""
    from ..package.refresh import refresh
    from ..warehouse import open_warehouse
    from .verify import report_text

    text = report_text(path, is_exact=True)
    with open_warehouse(warehouse) as opened:
        done = refresh(text, opened)
    if done.text != text:
        rewritten(path, text, done.text, is_aside=as_json)
    content = {"path": str(path), **done.as_json()} if as_json else None
    print_page("refresh", json=content, path=str(path), done=done)
    if done.not_rewritten:
        raise click.exceptions.Exit(1)
