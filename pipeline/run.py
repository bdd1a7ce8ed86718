"""The whole flow in one place: results folder in, output folder out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from pipeline import analysis, earlier, engines, outputs, profile, provenance, report, warehouse
from pipeline.artifact import Artifact, Kind
from pipeline.earlier import Inputs
from pipeline.errors import InputError, address_space_limit, memory_error
from pipeline.ingest import discover, load
from pipeline.ingest.load import foreign
from pipeline.ingest.load.records import Read
from pipeline.profile import Profile
from pipeline.relation import Relation
from pipeline.settings import MANIFEST_NAME, SQL_DIR, WAREHOUSE_NAME, Settings
from pipeline.warehouse import Notice

T = TypeVar("T")

SMALL_BYTES = 16 << 20
# Enough for the relations and pages of most results; DuckDB would fill more with cached blocks.
RELATIONS_MEMORY = "512MB"
# Cached blocks are dropped from memory each time that this much has been read.
DROP_AFTER_BYTES = 128 << 20

# The relations that a policy reads, and those that a comparison reads.
DECIDED = ("staging.comparison_tests", "staging.measure_changes")
COMPARED = (
    *(name for table in report.OF_PAIRS for name in table.reads),
    "main.comparison_tasks",
    *DECIDED,
    "main.run_metrics",
    "main.run_health",
    "main.runs",
)
FOLLOWED = ("main.series", "main.series_tasks", "main.series_counts", "main.runs")


@dataclass(frozen=True)
class Pair:
    """A candidate to compare with a base; only named pairs have a verdict."""

    benchmark: str
    base: str
    candidate: str
    is_named: bool
    margin: float


@dataclass(frozen=True)
class Progress:
    """Callbacks of an analysis: each stage as it begins, and the bytes read so far.

    A note stays visible afterwards.
    """

    stage: Callable[[str], None] = lambda _words: None
    read: Read = lambda _read, _all: None
    note: Callable[[str], None] = lambda _words: None


SILENT = Progress()


@dataclass(frozen=True)
class Analysis:
    """The output folder of an analysis, and its warnings."""

    out: Path
    warnings: tuple[Notice, ...]

    @property
    def warehouse(self) -> Path:
        """The warehouse file."""
        return self.out / WAREHOUSE_NAME


def run(settings: Settings, *, progress: Progress = SILENT) -> Analysis:
    """Analyze results and write the output folder."""
    progress.stage("finding files")
    report.check_templates(settings.templates)
    return _analyzed(settings, progress, has_pages=True)


def part(settings: Settings, wanted: Sequence[str] = (), *, progress: Progress = SILENT) -> Path:
    """Build a warehouse with only these relations and those they read; no reports.

    A warehouse with all relations is reused by the next call, unless `use_cache` is off.
    """
    return _analyzed(settings, progress, wanted=wanted, has_pages=False).warehouse


def _analyzed(
    settings: Settings, progress: Progress, *, wanted: Sequence[str] = (), has_pages: bool
) -> Analysis:
    """Build the output; if memory runs out because of very long rows, retry with one thread."""
    artifacts = discover.artifacts(
        settings.results,
        run_names=settings.run_names,
        out=settings.out,
        follow_links=settings.follow_links,
    )
    chosen = _profile(settings)
    outputs.refuse_unusable(settings.out)
    inputs = None
    if settings.use_cache and not wanted:
        inputs = earlier.inputs(artifacts, chosen, settings, has_pages=has_pages)
        if earlier.is_current(settings.out, inputs, by_content=settings.by_content):
            if has_pages:
                progress.note("nothing has changed since the last analysis (--no-cache rebuilds)")
            return Analysis(settings.out, _notices(settings.out / WAREHOUSE_NAME))
    build = partial(_build, artifacts, chosen, inputs, progress, wanted, has_pages=has_pages)
    try:
        return build(settings)
    except duckdb.OutOfMemoryException:
        # Reading a row takes many times its length, which is unknown before.
        single_threaded = replace(settings, threads=1)
    try:
        return build(single_threaded)
    except duckdb.OutOfMemoryException as error:
        if address_space_limit() is not None:
            raise memory_error(is_refused=True) from error
        limit = settings.memory_limit or warehouse.half_of_memory()
        raise InputError(
            f"a row is too long to be read in {limit} of memory.",
            hint="Leave such rows out, for example with: --max-line-bytes 1000000",
        ) from error


def gym_files(results: Path, folder: Path, *, follow_links: bool = False) -> dict[str, Path]:
    """Convert results of other harnesses to rollout files of NeMo Gym, one per run."""
    artifacts = discover.artifacts((results,), follow_links=follow_links)
    written: dict[str, Path] = {}
    for artifact in artifacts:
        if artifact.format is None or artifact.kind is not Kind.ROLLOUTS or not artifact.run_name:
            continue
        name = artifact.run_name
        path = written.setdefault(name, folder / f"{name}_rollouts.jsonl")
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in foreign.rows(artifact))
    return written


def computed_relations(chosen: Profile) -> list[Relation]:
    """The relations that are not files of sql/."""
    return [*analysis.COMPUTED, profile.stage_facts(chosen), profile.rule_matches(chosen)]


def compare(
    path: Path, pairs: Sequence[Pair], *, without: Sequence[str] = ()
) -> warehouse.Warehouse:
    """A warehouse with the comparisons of these pairs instead of those of the analysis.

    If tasks are left out, it has only the relations that a policy reads.
    """
    columns = {name: [getattr(pair, name) for pair in pairs] for name in Pair.__annotations__}
    pair_table = pa.table({**columns, "pair_no": list(range(1, len(pairs) + 1))})
    emptied = ["staging.sometimes_rollouts"]
    tables = {"staging.run_pairs": pair_table}
    if not without:
        return recompute(path, tables, emptied=emptied, wanted=COMPARED)
    with recompute(path, tables, emptied=emptied, wanted=["main.comparison_tasks"]) as every:
        query = "from main.comparison_tasks where not list_contains(?, task_id)"
        tables["main.comparison_tasks"] = every.arrow(query, [list(without)])
    return recompute(path, tables, emptied=emptied, wanted=DECIDED)


def follow(path: Path, names: Sequence[str], *, benchmark: str) -> warehouse.Warehouse:
    """A warehouse with one series: these runs, in this order."""
    series = {
        "series": ["given"] * len(names),
        "benchmark": [benchmark] * len(names),
        "run_id": list(names),
        "place": list(range(1, len(names) + 1)),
        "step": pa.array([None] * len(names), pa.float64()),
    }
    return recompute(path, {"staging.series_runs": pa.table(series)}, wanted=FOLLOWED)


def recompute(path: Path, replaced: Mapping[str, pa.Table], **how: Any) -> warehouse.Warehouse:
    """A warehouse in which these relations are replaced and the wanted ones computed again."""
    return warehouse.recompute(
        path, SQL_DIR, computed_relations(Profile()), replaced=replaced, **how
    )


def _profile(settings: Settings) -> Profile:
    """The profile of the settings or of the results; options of the command line override it."""
    inputs = [*settings.results, *(path for _, path in settings.run_names)]
    path = settings.profile or profile.find(inputs)
    chosen = Profile() if path is None else profile.read(path)
    if chosen.funnel:
        profile.check_predicates(chosen.funnel, profile.ROLLOUT_COLUMNS, name=chosen.name)
    if chosen.failure_modes:
        profile.check_predicates(chosen.failure_modes, profile.MODE_COLUMNS, name=chosen.name)
    options: dict[str, Any] = {
        "benchmark": settings.benchmark,
        "baselines": tuple(dict.fromkeys(settings.baselines)) or None,
        "pass_threshold": settings.pass_threshold,
    }
    return replace(chosen, **{name: value for name, value in options.items() if value is not None})


def _build(
    artifacts: list[Artifact],
    chosen: Profile,
    inputs: Inputs | None,
    progress: Progress,
    wanted: Sequence[str],
    settings: Settings,
    *,
    has_pages: bool,
) -> Analysis:
    """Load rows, build relations, check them, render reports; then move the output into place."""
    with outputs.replaced(settings.out, note=progress.note) as new_folder:
        with _building(new_folder / WAREHOUSE_NAME, artifacts, settings) as db:
            spool = new_folder.with_name("spool")
            _fill(db, artifacts, chosen, settings, progress, wanted=wanted, spool=spool)
            if has_pages:
                progress.stage("checking them")
            warnings = [] if wanted else warehouse.run_checks(db)
            provenance.write_notices(db, warnings)
            if has_pages:
                progress.stage("writing the report")
                outputs.write(new_folder, _texts(db, chosen, settings))
            warehouse.order_views(db, SQL_DIR)
            hashes = db.execute("select sha256 from raw.files order by file_no").fetchall()
        if inputs and not has_pages:
            warehouse.store_views(new_folder / WAREHOUSE_NAME)
        new_files = earlier.written(new_folder)
    if inputs:
        earlier.remember(settings.out, inputs, new_files, [sha256 for (sha256,) in hashes])
    return Analysis(settings.out, tuple(warnings))


def _texts(db: duckdb.DuckDBPyConnection, chosen: Profile, settings: Settings) -> dict[str, str]:
    """All reports and sidecars, and the manifest that lists them."""
    with _without_garbage_collection():
        texts = _with_memory(
            db, settings, lambda: report.texts(db, report.collect(db), folder=settings.templates)
        )
    own = report.replaced(settings.templates)
    return {**texts, MANIFEST_NAME: provenance.manifest(db, chosen, settings, texts, templates=own)}


def _notices(path: Path) -> tuple[Notice, ...]:
    """The notices of an earlier analysis."""
    query = "select check_name, subject, message, hint from raw.notices order by no"
    with warehouse.open_warehouse(path) as opened:
        return tuple(Notice(*row) for row in opened.execute(query).fetchall())


def _building(
    path: Path, artifacts: list[Artifact], settings: Settings
) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    is_small = _n_bytes(artifacts) < SMALL_BYTES
    # For small files, passing rows between threads takes longer than processing them.
    threads = settings.threads or (1 if is_small else None)
    return warehouse.build(
        path,
        memory_limit=settings.memory_limit,
        threads=threads,
        is_small=is_small,
    )


def _fill(
    db: duckdb.DuckDBPyConnection,
    artifacts: list[Artifact],
    chosen: Profile,
    settings: Settings,
    progress: Progress,
    *,
    wanted: Sequence[str] = (),
    spool: Path,
) -> None:
    """Load rows into raw.*, then create the wanted relations, or all."""
    warehouse.create_macros(db, SQL_DIR)
    n_files = f"{len(artifacts)} file{'' if len(artifacts) == 1 else 's'}"
    progress.stage(f"reading {n_files}, {_size(_n_bytes(artifacts))}")
    read = _dropping_blocks(db, settings, progress.read)
    engine = engines.engine(settings.engine, jobs=settings.threads, address=settings.address)
    load.artifacts(db, artifacts, settings, read=read, spool=spool, engine=engine)
    if chosen.name:
        progress.stage(f"checking {Path(chosen.name).name}")
    profile.check_fields(db, chosen)
    profile.write(db, chosen, is_growing=settings.is_growing)
    provenance.write(db, chosen, settings)

    def make() -> None:
        try:
            warehouse.create_relations(
                db,
                SQL_DIR,
                computed_relations(chosen),
                wanted=wanted,
                begin=lambda n: progress.stage(f"creating {n} relations"),
            )
        except duckdb.OutOfMemoryException:
            db.execute("rollback")
            raise

    if settings.memory_limit is None:
        db.execute(f"set memory_limit = '{RELATIONS_MEMORY}'")
    _with_memory(db, settings, make)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Rows and pages have no reference cycles; looking for them takes a tenth of the time."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def _with_memory(db: duckdb.DuckDBPyConnection, settings: Settings, work: Callable[[], T]) -> T:
    """Run `work`; if memory runs out, allow half of the machine's memory and retry."""
    try:
        return work()
    except duckdb.OutOfMemoryException:
        if settings.memory_limit is not None:
            raise
        db.execute(f"set memory_limit = '{warehouse.half_of_memory()}'")
        return work()


def _dropping_blocks(db: duckdb.DuckDBPyConnection, settings: Settings, read: Read) -> Read:
    """Wrap `read` so that cached blocks are dropped from memory from time to time."""
    cursor = db.cursor()
    n_undropped = 0

    def count(n_bytes: int, n_all: int) -> None:
        nonlocal n_undropped
        read(n_bytes, n_all)
        n_undropped += n_bytes
        if n_undropped > DROP_AFTER_BYTES:
            n_undropped = 0
            warehouse.drop_cached_blocks(cursor, settings.memory_limit)

    return count


def _n_bytes(artifacts: list[Artifact]) -> int:
    return sum(artifact.n_bytes for artifact in artifacts)


def _size(n_bytes: int) -> str:
    """A size such as `1.5 MB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
