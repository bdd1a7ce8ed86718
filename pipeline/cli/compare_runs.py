"""Which runs are to be compared, and where they are: names, a warehouse, or results to analyze."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from pipeline import report, run
from pipeline.cli.lookup import known_run, listed, rows, run_names
from pipeline.cli.options import DEFAULT_WAREHOUSE
from pipeline.cli.progress import analyzed
from pipeline.errors import UsageError
from pipeline.report import Comparison
from pipeline.text import one_line
from pipeline.warehouse import Warehouse, open_warehouse

LONGEST_NAME = 60
FEWEST_CHECKPOINTS = 3
OTHERS = "select run_id from staging.run_order where benchmark = ? and run_id <> ? order by place"


def located(
    stack: ExitStack, words: Sequence[str], warehouse: Path | None
) -> tuple[Path, list[str]]:
    """The warehouse, and the runs named; results given last are analyzed for the occasion."""
    path = warehouse or DEFAULT_WAREHOUSE
    if not words or not _is_results(words[-1], path):
        return path, list(words)
    *names, results = words
    if warehouse is not None:
        raise UsageError(
            f"{one_line(results, LONGEST_NAME)} and --warehouse: one or the other.",
            hint="Name the runs and the results, or the runs and --warehouse.",
        )
    return stack.enter_context(analyzed(Path(results))).warehouse, names


def _is_results(word: str, warehouse: Path) -> bool:
    """Is it a path that is there? A run of that name goes first: folders are named after runs."""
    try:
        if not Path(word).exists():
            return False
    except OSError:  # longer than any path
        return False
    if Path(word).name != word or not warehouse.is_file():
        return True
    with open_warehouse(warehouse) as opened:
        return word not in run_names(opened)


@contextmanager
def compared(
    path: Path, names: Sequence[str], *, margin: float, rerun: str | None
) -> Iterator[tuple[Warehouse, list[Comparison]]]:
    """The comparisons asked for: of the runs named, or all that the analysis made."""
    with open_warehouse(path) as opened:
        made = [] if names else report.comparisons(opened)
        named = [(each.benchmark, each.base, each.candidate) for each in made if each.is_named]
        pairs = [
            run.Pair(*pair, is_named=True, margin=margin)
            for pair in (_asked(opened, names) if names else named)
        ]
        if not pairs:
            yield opened, made
            return
        again = [] if rerun is None else _again(opened, pairs, rerun)
    with run.compare(path, [*pairs, *again]) as overlaid:
        wanted = {(pair.base, pair.candidate) for pair in pairs}
        found = report.comparisons(overlaid)
        chosen = [each for each in found if (each.base, each.candidate) in wanted]
        yield overlaid, [*chosen, *(each for each in made if not each.is_named)]


def _asked(opened: Warehouse, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Benchmark, base and candidate of each pair that the runs named make."""
    base, *candidates = names
    benchmark = known_run(opened, base)["benchmark"]
    if not candidates:
        candidates = [row["run_id"] for row in rows(opened, OTHERS, benchmark, base)]
        if not candidates:
            raise UsageError(
                f"{one_line(base, LONGEST_NAME)} is the only run of its benchmark.",
                hint=f"Name a candidate. Runs: {listed(run_names(opened))}",
            )
    _check_once(names)
    for candidate in candidates:
        known_run(opened, candidate)
    return [(benchmark, base, candidate) for candidate in candidates]


def _again(opened: Warehouse, pairs: Sequence[run.Pair], rerun: str) -> list[run.Pair]:
    """The base and its rerun, unless they are compared anyway; no candidate, so no verdict."""
    known_run(opened, rerun)
    base, *others = dict.fromkeys(pair.base for pair in pairs)
    if others:
        raise UsageError(
            f"--rerun: of which base? There are {listed([base, *others])}.",
            hint="Name the base: blade compare BASE --false-alarms --rerun RUN",
        )
    if rerun == base:
        raise UsageError(
            f"--rerun {one_line(rerun, LONGEST_NAME)}: that is the base itself.",
            hint="Name another run of the same model on the same tasks.",
        )
    if rerun in {pair.candidate for pair in pairs}:
        return []
    return [replace(pairs[0], candidate=rerun, is_named=False)]


def benchmark_of_series(opened: Warehouse, names: Sequence[str]) -> str:
    """What these runs, named as checkpoints in their order, were all tried at."""
    if len(names) < FEWEST_CHECKPOINTS:
        raise UsageError(
            "a series is three runs or more.", hint="Name them in the order of training."
        )
    _check_once(names)
    found = {str(known_run(opened, name)["benchmark"]) for name in names}
    if len(found) > 1:
        raise UsageError(
            f"these are runs of several benchmarks: {listed(sorted(found))}.",
            hint="A series follows tasks of one benchmark.",
        )
    return found.pop()


def _check_once(names: Sequence[str]) -> None:
    twice = {name for name in names if list(names).count(name) > 1}
    if twice:
        raise UsageError(
            f"{listed(sorted(twice))}: named twice.", hint="A run is not compared with itself."
        )
