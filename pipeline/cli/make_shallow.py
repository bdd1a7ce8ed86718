"""Write a negative control of a report: headings and tables, no diagnosis."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError, UsageError
from ..text import neutral
from .options import PATH


@click.command("make-shallow")
@click.option("--input", "input_", required=True, type=PATH, help="Golden report, in Markdown.")
@click.option("--output", required=True, type=PATH, help="File to write.")
def make_shallow(input_: Path, output: Path) -> None:
    """Write a negative control of a report: its headings, aggregate tables and funnel tables.

    Only tables of runs, buckets, metrics, stages or slices are copied, recognised by their content.
    Diagnoses, tasks, citations, quotes and sentences are left out.

    \b
    Examples:
      blade make-shallow --input aster-8b_golden_report.md --output aster-8b_shallow.md
    """
    from ..package import files
    from ..package.shallow import shallow

    control = shallow(files.report_text(input_))
    if output.exists() and input_.exists() and output.samefile(input_):
        hint = "Give another name with --output."
        raise UsageError(f"{output}: is the report itself.", hint=hint)
    if not control.n_headings and not control.n_tables:
        message = f"{input_}: neither headings nor tables of metrics."
        raise InputError(message, hint="Give the Markdown of a report.")
    files.write_text(output, control.text)
    click.echo(neutral(f"{output}: {control.n_headings} headings, {control.n_tables} tables."))
    if not control.n_tables:
        weak = "blade: no aggregate or funnel table was found; headings alone are a weak control."
        click.echo(weak, err=True)
