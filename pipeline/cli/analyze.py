"""blade analyze: results in, warehouse, report and headline out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pipeline.cli.options import (
    DEFAULT_OUT,
    PATH,
    Number,
    json_option,
    memory_option,
    shown_progress,
    templates_option,
)
from pipeline.errors import UsageError
from pipeline.settings import DEFAULT_MAX_LINE_BYTES, Settings

LARGEST_LINE_LIMIT = 1 << 30
MOST_THREADS = 256


def _named(
    _context: click.Context, _parameter: click.Parameter, values: Sequence[str]
) -> tuple[tuple[str, Path], ...]:
    for value in values:
        if not all(value.partition("=")):
            raise click.BadParameter(f"{value!r} is not NAME=PATH")
    return tuple((name, Path(path)) for name, _, path in (each.partition("=") for each in values))


@click.command()
@click.argument("results", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option("--out", type=PATH, default=DEFAULT_OUT, help="Folder for the output.")
@click.option(
    "--run",
    "run_names",
    callback=_named,
    metavar="NAME=PATH",
    multiple=True,
    help="Name the run of a file or folder; may be given several times.",
)
@click.option(
    "--profile",
    type=PATH,
    help="What the benchmark calls things and expects.  [default: RESULTS/blade.toml, if there]",
)
@click.option("--benchmark", help="Name of the benchmark all runs belong to.")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    help="Run that the others of its benchmark are held against; may be given several times.",
)
@click.option(
    "--pass-threshold",
    type=Number(),
    help="Reward from which a rollout passes.  [default: 1.0, unless rewards leave 0..1]",
)
@click.option(
    "--follow-links", is_flag=True, help="Read what links lead to outside the results too."
)
@click.option(
    "--max-line-bytes",
    type=click.IntRange(1, LARGEST_LINE_LIMIT),
    default=DEFAULT_MAX_LINE_BYTES,
    help="A longer line is a reject; memory grows with this limit.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, MOST_THREADS),
    help="Worker threads.  [default: one a core, one in all for small results]",
)
@memory_option
@templates_option
@json_option
def analyze(results: tuple[Path, ...], as_json: bool, **chosen: Any) -> None:
    """Read RESULTS (folders or rollout files) into OUT: warehouse, draft report and metrics.

    \b
    Examples:
      blade analyze results/
      blade analyze results/ --profile blade.toml
      blade analyze a_rollouts.jsonl b_rollouts.jsonl.gz --out compared
      blade analyze --run base=runs/1 --run candidate=runs/2 --benchmark evalplus
    """
    settings = Settings(results=results, **chosen)
    threshold, benchmark = settings.pass_threshold, settings.benchmark
    if not results and not settings.run_names:
        hint = "For example: blade analyze results/ --out blade_out"
        raise UsageError("no results given.", hint=hint)
    if threshold is not None and not math.isfinite(threshold):
        raise UsageError(f"--pass-threshold {threshold}: no reward can be compared with it.")
    if benchmark is not None and not benchmark.strip():
        raise UsageError("--benchmark: the name is empty.")
    if not all(name.strip() for name in settings.baselines):
        raise UsageError("--baseline: the name is empty.")
    from pipeline.cli.summary import print_json, print_summary
    from pipeline.run import run

    with shown_progress() as progress:
        analysis = run(settings, progress=progress)
    print_json(analysis) if as_json else print_summary(analysis)
