"""blade analyze: results in, warehouse, report and headline out."""

from __future__ import annotations

import math
import re
from pathlib import Path

import click

from pipeline.cli.options import DEFAULT_OUT, PATH, json_option, templates_option
from pipeline.errors import UsageError
from pipeline.settings import DEFAULT_MAX_LINE_BYTES, Settings

LARGEST_LINE_LIMIT = 1 << 30


class RunName(click.ParamType[tuple[str, Path]]):
    """NAME=PATH."""

    name = "NAME=PATH"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """Split at the first `=`."""
        name, equals, path = value.partition("=")
        if not (name and equals and path):
            self.fail(f"{value!r} is not NAME=PATH", param, ctx)
        return name, Path(path)


class MemorySize(click.ParamType[str]):
    """A number and a unit, as the engine reads them."""

    name = "SIZE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse what the engine would not take as a size."""
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)? ?([KMGT]i?B)", value, re.IGNORECASE):
            self.fail(f"{value!r} is not a size such as 4GB", param, ctx)
        return value


@click.command()
@click.argument("results", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option(
    "--out", type=PATH, default=DEFAULT_OUT, show_default=True, help="Folder for the output."
)
@click.option(
    "--run",
    "run_names",
    type=RunName(),
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
    type=float,
    help="Reward from which a rollout passes.  [default: 1.0, unless rewards leave 0..1]",
)
@click.option(
    "--max-line-bytes",
    type=click.IntRange(1, LARGEST_LINE_LIMIT),
    default=DEFAULT_MAX_LINE_BYTES,
    show_default=True,
    help="A longer line is a reject; memory grows with this limit.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="Worker threads.  [default: one a core, one in all for small results]",
)
@click.option(
    "--memory-limit",
    type=MemorySize(),
    help="Memory for the engine, such as 4GB; beyond it spills.  [default: half of the machine's]",
)
@templates_option
@json_option
def analyze(
    results: tuple[Path, ...],
    out: Path,
    run_names: tuple[tuple[str, Path], ...],
    profile: Path | None,
    benchmark: str | None,
    baselines: tuple[str, ...],
    pass_threshold: float | None,
    max_line_bytes: int,
    threads: int | None,
    memory_limit: str | None,
    templates: Path | None,
    as_json: bool,
) -> None:
    """Read RESULTS (folders or rollout files) into OUT: warehouse, draft report and metrics.

    \b
    Examples:
      blade analyze results/
      blade analyze results/ --profile blade.toml
      blade analyze a_rollouts.jsonl b_rollouts.jsonl.gz --out compared
      blade analyze --run base=runs/1 --run candidate=runs/2 --benchmark evalplus
    """
    if not results and not run_names:
        raise UsageError(
            "no results given.", hint="For example: blade analyze results/ --out blade_out"
        )
    if pass_threshold is not None and not math.isfinite(pass_threshold):
        raise UsageError(f"--pass-threshold {pass_threshold}: no reward can be compared with it.")
    if benchmark is not None and not benchmark.strip():
        raise UsageError("--benchmark: the name is empty.")
    if not all(name.strip() for name in baselines):
        raise UsageError("--baseline: the name is empty.")
    settings = Settings(
        results=results,
        out=out,
        run_names=run_names,
        profile=profile,
        benchmark=benchmark,
        baselines=baselines,
        pass_threshold=pass_threshold,
        max_line_bytes=max_line_bytes,
        threads=threads,
        memory_limit=memory_limit,
        templates=templates,
    )
    from pipeline.cli.progress import shown_progress
    from pipeline.cli.summary import print_json, print_summary
    from pipeline.run import run

    with shown_progress() as progress:
        analysis = run(settings, progress=progress)
    print_json(analysis) if as_json else print_summary(analysis)
