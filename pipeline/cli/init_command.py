"""blade init: the folder of a package, its skill, profile and reports drafted from rollouts."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.options import json_option
from pipeline.errors import UsageError
from pipeline.text import ACTIVE, one_line

LONGEST_NAME = 200


@click.command()
@click.option(
    "--benchmark-dir",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of the package; made where it is not there, completed where it is.",
)
@click.option("--benchmark", required=True, help="Name of the benchmark.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="Folder or file of NeMo Gym rollouts.  [default: those in the package already]",
)
@click.option("--link", is_flag=True, help="Link to the rollouts instead of copying them.")
@click.option("--keep", is_flag=True, help="Leave drafts that are there and differ as they are.")
@click.option("--force", is_flag=True, help="Replace drafts that are there and differ.")
@json_option
def init(
    folder: Path,
    benchmark: str,
    results: Path | None,
    link: bool,
    keep: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Lay out a benchmark's package, and draft its skill and reports from the data.

    Rollouts and golden reports that are there are never changed.

    \b
    Examples:
      blade init --benchmark-dir benchmarks/office_desk --benchmark office_desk --results results/
      blade init --benchmark-dir benchmarks/office_desk --benchmark office_desk
      blade init --benchmark-dir benchmarks/evalplus --benchmark evalplus --results runs/ --link
    """
    _check(benchmark, keep=keep, force=force)
    from pipeline.cli.init_page import page, summary
    from pipeline.cli.init_steps import laid_out
    from pipeline.package.scaffold import Existing
    from pipeline.text import json_text

    made = laid_out(
        folder, benchmark, results=results, link=link, existing=Existing(keep=keep, force=force)
    )
    for note in made.notes:
        click.echo(f"! {note}", err=True)
    click.echo(json_text(summary(made), indent=2) if as_json else page(made))


def _check(benchmark: str, *, keep: bool, force: bool) -> None:
    if not benchmark.strip():
        raise UsageError("--benchmark: the name is empty.")
    if ACTIVE.search(benchmark) or set("\n\t") & set(benchmark) or len(benchmark) > LONGEST_NAME:
        raise UsageError(
            f"--benchmark {one_line(benchmark, 60)}: not a name.",
            hint="A name is one line of visible characters, 200 at most.",
        )
    if keep and force:
        raise UsageError("--keep and --force: one of them at most.")
