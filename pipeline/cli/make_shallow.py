"""blade make-shallow: the negative control of a golden report."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.options import PATH
from pipeline.errors import InputError, UsageError
from pipeline.text import neutral


@click.command("make-shallow")
@click.option("--input", "input_", required=True, type=PATH, help="The golden report, Markdown.")
@click.option("--output", required=True, type=PATH, help="The file to write it to.")
def make_shallow(input_: Path, output: Path) -> None:
    """Write a report's negative control: its aggregate and funnel tables below their headings.

    Tables are known by what stands in them: figures of runs, buckets, metrics, stages or slices.
    No diagnosis, no task, no citation, no quote and no sentence of the report is in it.

    \b
    Examples:
      blade make-shallow --input aster-8b_golden_report.md --output aster-8b_shallow.md
    """
    from pipeline.package import files
    from pipeline.package.shallow import shallow

    made = shallow(files.report_text(input_))
    if output.exists() and input_.exists() and output.samefile(input_):
        hint = "Give another name with --output."
        raise UsageError(f"{output}: is the report itself.", hint=hint)
    if not made.n_headings and not made.n_tables:
        message = f"{input_}: neither headings nor tables of metrics."
        raise InputError(message, hint="Give the Markdown of a report.")
    files.write_text(output, made.text)
    click.echo(neutral(f"{output}: {made.n_headings} headings, {made.n_tables} tables."))
    if not made.n_tables:
        weak = "blade: no aggregate or funnel table was found; headings alone are a weak control."
        click.echo(weak, err=True)
