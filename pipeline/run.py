"""The whole flow in one place: results folder in, output folder out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa

from pipeline import analysis, outputs, profile, provenance, report, warehouse
from pipeline.artifact import Artifact
from pipeline.errors import InputError
from pipeline.ingest import discover, load
from pipeline.ingest.load.records import Read
from pipeline.profile import Profile
from pipeline.relation import Relation
from pipeline.settings import MANIFEST_NAME, SQL_DIR, WAREHOUSE_NAME, Settings
from pipeline.warehouse import Notice

SMALL_BYTES = 16 << 20
# Enough for the relations of any file; more would only be filled with blocks that lie on disk.
RELATIONS_MEMORY = "1GB"
# As much is read before blocks that were written are dropped from memory.
LET_GO_BYTES = 128 << 20
T = TypeVar("T")


# What a comparison is told from.
COMPARED = (
    *(name for table in report.OF_PAIRS for name in table.reads),
    *("main.comparison_tasks", "staging.comparison_values", "staging.measure_pairs"),
    "main.run_metrics",
    "main.run_health",
    "main.runs",
)


@dataclass(frozen=True)
class Pair:
    """A candidate to be held against a base; named pairs have a verdict, by the margin."""

    benchmark: str
    base: str
    candidate: str
    is_named: bool
    margin: float


@dataclass(frozen=True)
class Progress:
    """Whom an analysis tells how far it is: each stage as it begins, and the bytes as it reads.

    A note is to be read afterwards too.
    """

    stage: Callable[[str], None] = lambda _words: None
    read: Read = lambda _read, _all: None
    note: Callable[[str], None] = lambda _words: None


SILENT = Progress()


@dataclass(frozen=True)
class Analysis:
    """What an analysis wrote, and what a reader should know of it."""

    out: Path
    warnings: tuple[Notice, ...]

    @property
    def warehouse(self) -> Path:
        """The warehouse file."""
        return self.out / WAREHOUSE_NAME


def run(settings: Settings, *, progress: Progress = SILENT) -> Analysis:
    """Results in, output out; once more on one thread where rows turn out to be very long."""
    progress.stage("finding files")
    report.check_templates(settings.templates)
    found = discover.artifacts(settings.results, run_names=settings.run_names, out=settings.out)
    chosen = _profile(settings)
    return _with_memory(settings, lambda fitting: _build(found, chosen, fitting, progress))


def part(settings: Settings, wanted: Sequence[str] = (), *, progress: Progress = SILENT) -> Path:
    """A warehouse of these relations and of what they read, or of all; no pages."""
    found = discover.artifacts(settings.results, run_names=settings.run_names, out=settings.out)
    chosen = _profile(settings)
    return _with_memory(
        settings, lambda fitting: _build_part(found, chosen, fitting, wanted, progress)
    )


def _with_memory(settings: Settings, built: Callable[[Settings], T]) -> T:
    try:
        return built(settings)
    except duckdb.OutOfMemoryException:
        # Reading a row takes many times its length, and only reading it shows how long it is.
        alone = replace(settings, threads=1)
    try:
        return built(alone)
    except duckdb.OutOfMemoryException as error:
        limit = settings.memory_limit or warehouse.half_of_memory()
        raise InputError(
            f"a row is too long to be read in {limit} of memory.",
            hint="Leave such rows out, for example with: --max-line-bytes 1000000",
        ) from error


def made_relations(chosen: Profile) -> list[Relation]:
    """The relations that are not files of sql/."""
    return [*analysis.COMPUTED, profile.stage_facts(chosen), profile.rule_matches(chosen)]


def compare(path: Path, pairs: Sequence[Pair]) -> warehouse.Warehouse:
    """A warehouse with the comparisons of these pairs, whatever it was built with."""
    columns = {name: [getattr(pair, name) for pair in pairs] for name in Pair.__annotations__}
    return warehouse.ask_again(
        path,
        SQL_DIR,
        made_relations(Profile()),
        given={
            "staging.run_pairs": pa.table({**columns, "pair_no": list(range(1, len(pairs) + 1))})
        },
        emptied=["staging.sometimes_rollouts"],
        wanted=COMPARED,
    )


def follow(path: Path, names: Sequence[str], *, benchmark: str) -> warehouse.Warehouse:
    """A warehouse with one series: these runs, in this order."""
    series = {
        "series": ["given"] * len(names),
        "benchmark": [benchmark] * len(names),
        "run_id": list(names),
        "place": list(range(1, len(names) + 1)),
        "step": pa.array([None] * len(names), pa.float64()),
    }
    return warehouse.ask_again(
        path,
        SQL_DIR,
        made_relations(Profile()),
        given={"staging.series_runs": pa.table(series)},
        wanted=("main.series", "main.series_tasks", "main.series_counts", "main.runs"),
    )


def _profile(settings: Settings) -> Profile:
    """The profile given or found beside the results; the command line has the last word."""
    inputs = [*settings.results, *(path for _, path in settings.run_names)]
    path = settings.profile or profile.beside(inputs)
    chosen = Profile() if path is None else profile.read(path)
    if chosen.funnel:
        profile.check_predicates(chosen.funnel, profile.ROLLOUT_COLUMNS, name=chosen.name)
    if chosen.failure_modes:
        profile.check_predicates(chosen.failure_modes, profile.ASKABLE, name=chosen.name)
    return replace(
        chosen,
        benchmark=chosen.benchmark if settings.benchmark is None else settings.benchmark,
        baselines=tuple(dict.fromkeys(settings.baselines)) or chosen.baselines,
        pass_threshold=(
            chosen.pass_threshold if settings.pass_threshold is None else settings.pass_threshold
        ),
    )


def _build_part(
    found: list[Artifact],
    chosen: Profile,
    settings: Settings,
    wanted: Sequence[str],
    progress: Progress,
) -> Path:
    path = settings.out / WAREHOUSE_NAME
    with _building(path, found, settings) as db:
        _fill(db, found, chosen, settings, progress, wanted=wanted)
        if not wanted:
            provenance.write_notices(db, warehouse.run_checks(db))
    return path


def _build(
    found: list[Artifact], chosen: Profile, settings: Settings, progress: Progress
) -> Analysis:
    """Load, build the relations, check them, render; then put the new output in place."""
    path = settings.out / WAREHOUSE_NAME
    left = [*warehouse.leftovers(path), *outputs.leftovers(settings.out)]
    with ExitStack() as stack:
        with _building(path, found, settings) as db:
            # Only now is it sure that nobody else is writing here.
            beside = stack.enter_context(outputs.prepared(settings.out))
            if left:
                progress.note(f"removed what a killed analysis left: {', '.join(left)}")
            _fill(db, found, chosen, settings, progress)
            progress.stage("checking them")
            warnings = warehouse.run_checks(db)
            progress.stage("writing the report")
            provenance.write_notices(db, warnings)
            texts = report.texts(db, report.collect(db), folder=settings.templates)
            texts[MANIFEST_NAME] = provenance.manifest(
                db, chosen, settings, texts, templates=report.replaced(settings.templates)
            )
            outputs.write(beside, settings.out, texts)
        outputs.put_in_place(beside, settings.out, texts)
    return Analysis(settings.out, tuple(warnings))


def _building(
    path: Path, found: list[Artifact], settings: Settings
) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    is_small = _n_bytes(found) < SMALL_BYTES
    # Of small files handing rows around takes longer than working on them.
    threads = settings.threads or (1 if is_small else None)
    return warehouse.build(
        path, memory_limit=settings.memory_limit, threads=threads, is_small=is_small
    )


def _fill(
    db: duckdb.DuckDBPyConnection,
    found: list[Artifact],
    chosen: Profile,
    settings: Settings,
    progress: Progress,
    *,
    wanted: Sequence[str] = (),
) -> None:
    """Rows into raw.*, then the relations: those wanted, or all."""
    warehouse.create_macros(db, SQL_DIR)
    n_files = f"{len(found)} file{'' if len(found) == 1 else 's'}"
    progress.stage(f"reading {n_files}, {_size(_n_bytes(found))}")
    load.artifacts(db, found, settings, read=_letting_go(db, settings, progress.read))
    if chosen.name:
        progress.stage(f"checking {Path(chosen.name).name}")
    profile.check_fields(db, chosen)
    profile.write(db, chosen)
    provenance.write(db, chosen, settings)

    def make() -> None:
        warehouse.create_relations(
            db,
            SQL_DIR,
            made_relations(chosen),
            wanted=wanted,
            begin=lambda n: progress.stage(f"making {n} relations"),
        )

    if settings.memory_limit is not None:
        make()
        return
    db.execute(f"set memory_limit = '{RELATIONS_MEMORY}'")
    try:
        make()
    except duckdb.OutOfMemoryException:
        db.execute(f"rollback; set memory_limit = '{warehouse.half_of_memory()}'")
        make()


def _letting_go(db: duckdb.DuckDBPyConnection, settings: Settings, read: Read) -> Read:
    """To be called while rows are read: drops what was written of them from memory now and then."""
    aside = db.cursor()
    n_since = 0

    def count(n_bytes: int, n_all: int) -> None:
        nonlocal n_since
        read(n_bytes, n_all)
        n_since += n_bytes
        if n_since > LET_GO_BYTES:
            n_since = 0
            warehouse.let_go(aside, settings.memory_limit)

    return count


def _n_bytes(found: list[Artifact]) -> int:
    return sum(artifact.path.stat().st_size for artifact in found if artifact.path.exists())


def _size(n_bytes: int) -> str:
    """`1.5 MB`: to one digit, in the largest unit that leaves one before the point."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
