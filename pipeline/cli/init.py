"""Create a benchmark's package with drafts of its skill and reports."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from ..errors import UsageError
from ..settings import Settings
from ..text import ACTIVE, neutral, one_line
from ..warehouse import Warehouse, open_warehouse
from .options import PATH, analyzed, json_option
from .terminal import print_page

LONGEST_NAME = 200


@click.command()
@click.option(
    "--benchmark-dir",
    "folder",
    type=PATH,
    required=True,
    help="Folder of the package; made where it is not there, completed where it is.",
)
@click.option("--benchmark", required=True, help="Name of the benchmark.")
@click.option(
    "--results",
    type=PATH,
    help="Folder or file of results; those of other harnesses become rows of Gym's.  "
    "[default: the rollouts in the package already]",
)
@click.option("--refresh", is_flag=True, help="Make drafts and the skill's generated parts again.")
@json_option
def init(
    folder: Path,
    benchmark: str,
    results: Path | None,
    refresh: bool,
    as_json: bool,
) -> None:
    """Lay out a benchmark's package, and draft its skill and reports from the data.

    What is there is never overwritten: rollouts, labels, blade.toml, golden reports and what a
    person wrote in the skill. With --refresh the drafts and the text between the marks
    `generated` and `end` of the skill are made again, and the difference is printed.

    \b
    Examples:
      blade init --benchmark-dir benchmarks/office_desk --benchmark office_desk --results results/
      blade init --benchmark-dir benchmarks/office_desk --benchmark office_desk --refresh
      blade init --benchmark-dir benchmarks/evalplus --benchmark evalplus --results runs/
    """
    if not benchmark.strip():
        raise UsageError("--benchmark: the name is empty.", hint="For example: office_desk")
    if ACTIVE.search(benchmark) or set("\n\t") & set(benchmark) or len(benchmark) > LONGEST_NAME:
        raise UsageError(
            f"--benchmark {one_line(benchmark, 60)}: not a name.",
            hint="A name is one line of visible characters, 200 at most.",
        )
    from ..package.scaffold import lay_out

    with tempfile.TemporaryDirectory(prefix="blade-") as spare:
        convert = partial(_converted, results, Path(spare))
        layout = lay_out(
            folder, benchmark, results, _part, _whole, convert=convert, refresh=refresh
        )
    for note in layout.notes:
        click.echo(f"! {note}", err=True)
    for step in layout.steps:
        if step.diff:
            click.echo("\n".join(map(neutral, step.diff)), err=as_json)
    content = {
        "benchmark_dir": str(folder),
        "benchmark": benchmark,
        "is_drafted_from_data": layout.is_known,
        "files": [{"path": each.name, "status": str(each.standing)} for each in layout.steps],
        "curate": [{"path": name, "places": n} for name, n in layout.curate],
        "notes": layout.notes,
        "next": layout.commands,
    }
    print_page("init", json=content if as_json else None, folder=str(folder), made=layout)


def _converted(results: Path | None, spare: Path) -> dict[str, Path]:
    """Results of other harnesses as rollout files of NeMo Gym, one per run."""
    if results is None:
        return {}
    from ..artifact import Kind
    from ..ingest import discover
    from ..ingest.load import foreign

    written: dict[str, Path] = {}
    for artifact in discover.artifacts((results,), follow_links=True):
        if artifact.format is None or artifact.kind is not Kind.ROLLOUTS or not artifact.run_name:
            continue
        name = artifact.run_name
        path = written.setdefault(name, spare / f"{name}_rollouts.jsonl")
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in foreign.rows(artifact))
    return written


@contextmanager
def _part(results: Path, relations: Sequence[str]) -> Iterator[Warehouse]:
    from ..run import part

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        # An empty profile: the one beside the results is not for this.
        nothing = Path(folder) / "blade.toml"
        nothing.touch()
        out = Path(folder) / "out"
        settings = Settings((results,), out, profile=nothing, follow_links=True)
        with open_warehouse(part(settings, relations)) as opened:
            yield opened


@contextmanager
def _whole(results: Path) -> Iterator[tuple[Warehouse, Path]]:
    with (
        analyzed(results, follow_links=True) as analysis,
        open_warehouse(analysis.warehouse) as opened,
    ):
        yield opened, analysis.out
