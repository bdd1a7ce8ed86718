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
# Enough for relations and pages of most files; more would be filled with blocks that lie on disk.
RELATIONS_MEMORY = "512MB"
# As much is read before blocks that were written are dropped from memory.
LET_GO_BYTES = 128 << 20

# What a policy decides by, and what a comparison is told from.
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
    """Results in, output out."""
    progress.stage("finding files")
    report.check_templates(settings.templates)
    return _analyzed(settings, progress, has_pages=True)


def part(settings: Settings, wanted: Sequence[str] = (), *, progress: Progress = SILENT) -> Path:
    """A warehouse of these relations and of what they read; no pages.

    One of all relations is kept for the next call, unless the settings say otherwise.
    """
    return _analyzed(settings, progress, wanted=wanted, has_pages=False).warehouse


def _analyzed(
    settings: Settings, progress: Progress, *, wanted: Sequence[str] = (), has_pages: bool
) -> Analysis:
    """Once more on one thread where rows turn out to be very long."""
    found = discover.artifacts(
        settings.results,
        run_names=settings.run_names,
        out=settings.out,
        follow_links=settings.follow_links,
    )
    chosen = _profile(settings)
    outputs.refuse_unusable(settings.out)
    inputs = None
    if settings.use_cache and not wanted:
        inputs = earlier.inputs(found, chosen, settings, has_pages=has_pages)
        if earlier.is_current(settings.out, inputs, by_content=settings.by_content):
            if has_pages:
                progress.note("nothing has changed since the last analysis (--no-cache rebuilds)")
            return Analysis(settings.out, _notices(settings.out / WAREHOUSE_NAME))
    build = partial(_build, found, chosen, inputs, progress, wanted, has_pages=has_pages)
    try:
        return build(settings)
    except duckdb.OutOfMemoryException:
        # Reading a row takes many times its length, and only reading it shows how long it is.
        alone = replace(settings, threads=1)
    try:
        return build(alone)
    except duckdb.OutOfMemoryException as error:
        if address_space_limit() is not None:
            raise memory_error(is_refused=True) from error
        limit = settings.memory_limit or warehouse.half_of_memory()
        raise InputError(
            f"a row is too long to be read in {limit} of memory.",
            hint="Leave such rows out, for example with: --max-line-bytes 1000000",
        ) from error


def gym_files(results: Path, folder: Path, *, follow_links: bool = False) -> dict[str, Path]:
    """Results of other harnesses as files of Gym's rows in a folder, one per run, by its name."""
    found = discover.artifacts((results,), follow_links=follow_links)
    written: dict[str, Path] = {}
    for artifact in found:
        if artifact.format is None or artifact.kind is not Kind.ROLLOUTS or not artifact.run_name:
            continue
        name = artifact.run_name
        path = written.setdefault(name, folder / f"{name}_rollouts.jsonl")
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in foreign.rows(artifact))
    return written


def made_relations(chosen: Profile) -> list[Relation]:
    """The relations that are not files of sql/."""
    return [*analysis.COMPUTED, profile.stage_facts(chosen), profile.rule_matches(chosen)]


def compare(
    path: Path, pairs: Sequence[Pair], *, without: Sequence[str] = ()
) -> warehouse.Warehouse:
    """A warehouse with the comparisons of these pairs, whatever it was built with.

    Without some tasks it holds what decides, and no more.
    """
    columns = {name: [getattr(pair, name) for pair in pairs] for name in Pair.__annotations__}
    given = pa.table({**columns, "pair_no": list(range(1, len(pairs) + 1))})
    emptied = ["staging.sometimes_rollouts"]
    tables = {"staging.run_pairs": given}
    if not without:
        return ask_again(path, tables, emptied=emptied, wanted=COMPARED)
    with ask_again(path, tables, emptied=emptied, wanted=["main.comparison_tasks"]) as every:
        query = "from main.comparison_tasks where not list_contains(?, task_id)"
        tables["main.comparison_tasks"] = every.arrow(query, [list(without)])
    return ask_again(path, tables, emptied=emptied, wanted=DECIDED)


def follow(path: Path, names: Sequence[str], *, benchmark: str) -> warehouse.Warehouse:
    """A warehouse with one series: these runs, in this order."""
    series = {
        "series": ["given"] * len(names),
        "benchmark": [benchmark] * len(names),
        "run_id": list(names),
        "place": list(range(1, len(names) + 1)),
        "step": pa.array([None] * len(names), pa.float64()),
    }
    return ask_again(path, {"staging.series_runs": pa.table(series)}, wanted=FOLLOWED)


def ask_again(path: Path, given: Mapping[str, pa.Table], **how: Any) -> warehouse.Warehouse:
    """A warehouse as if these relations had stood in it, with what is wanted of the others."""
    return warehouse.ask_again(path, SQL_DIR, made_relations(Profile()), given=given, **how)


def _profile(settings: Settings) -> Profile:
    """The profile given or found beside the results; the command line has the last word."""
    inputs = [*settings.results, *(path for _, path in settings.run_names)]
    path = settings.profile or profile.beside(inputs)
    chosen = Profile() if path is None else profile.read(path)
    if chosen.funnel:
        profile.check_predicates(chosen.funnel, profile.ROLLOUT_COLUMNS, name=chosen.name)
    if chosen.failure_modes:
        profile.check_predicates(chosen.failure_modes, profile.ASKABLE, name=chosen.name)
    said: dict[str, Any] = {
        "benchmark": settings.benchmark,
        "baselines": tuple(dict.fromkeys(settings.baselines)) or None,
        "pass_threshold": settings.pass_threshold,
    }
    return replace(chosen, **{name: value for name, value in said.items() if value is not None})


def _build(
    found: list[Artifact],
    chosen: Profile,
    inputs: Inputs | None,
    progress: Progress,
    wanted: Sequence[str],
    settings: Settings,
    *,
    has_pages: bool,
) -> Analysis:
    """Load, build the relations, check them, render; then put the new output in place."""
    with outputs.replaced(settings.out, note=progress.note) as beside:
        with _building(beside / WAREHOUSE_NAME, found, settings) as db:
            spool = beside.with_name("spool")
            _fill(db, found, chosen, settings, progress, wanted=wanted, spool=spool)
            if has_pages:
                progress.stage("checking them")
            warnings = [] if wanted else warehouse.run_checks(db)
            provenance.write_notices(db, warnings)
            if has_pages:
                progress.stage("writing the report")
                outputs.write(beside, _texts(db, chosen, settings))
            warehouse.order_views(db, SQL_DIR)
            hashes = db.execute("select sha256 from raw.files order by file_no").fetchall()
        if inputs and not has_pages:
            warehouse.store_views(beside / WAREHOUSE_NAME)
        new_files = earlier.written(beside)
    if inputs:
        earlier.remember(settings.out, inputs, new_files, [sha256 for (sha256,) in hashes])
    return Analysis(settings.out, tuple(warnings))


def _texts(db: duckdb.DuckDBPyConnection, chosen: Profile, settings: Settings) -> dict[str, str]:
    """All pages and sidecars, and the manifest that lists them."""
    with _uncollected():
        texts = _with_room(
            db, settings, lambda: report.texts(db, report.collect(db), folder=settings.templates)
        )
    own = report.replaced(settings.templates)
    return {**texts, MANIFEST_NAME: provenance.manifest(db, chosen, settings, texts, templates=own)}


def _notices(path: Path) -> tuple[Notice, ...]:
    """What an earlier analysis said."""
    query = "select check_name, subject, message, hint from raw.notices order by no"
    with warehouse.open_warehouse(path) as opened:
        return tuple(Notice(*row) for row in opened.execute(query).fetchall())


def _building(
    path: Path, found: list[Artifact], settings: Settings
) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    is_small = _n_bytes(found) < SMALL_BYTES
    # Of small files handing rows around takes longer than working on them.
    threads = settings.threads or (1 if is_small else None)
    return warehouse.build(
        path,
        memory_limit=settings.memory_limit,
        threads=threads,
        is_small=is_small,
    )


def _fill(
    db: duckdb.DuckDBPyConnection,
    found: list[Artifact],
    chosen: Profile,
    settings: Settings,
    progress: Progress,
    *,
    wanted: Sequence[str] = (),
    spool: Path,
) -> None:
    """Rows into raw.*, then the relations: those wanted, or all."""
    warehouse.create_macros(db, SQL_DIR)
    n_files = f"{len(found)} file{'' if len(found) == 1 else 's'}"
    progress.stage(f"reading {n_files}, {_size(_n_bytes(found))}")
    read = _letting_go(db, settings, progress.read)
    engine = engines.engine(settings.engine, jobs=settings.threads, address=settings.address)
    load.artifacts(db, found, settings, read=read, spool=spool, engine=engine)
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
                made_relations(chosen),
                wanted=wanted,
                begin=lambda n: progress.stage(f"making {n} relations"),
            )
        except duckdb.OutOfMemoryException:
            db.execute("rollback")
            raise

    if settings.memory_limit is None:
        db.execute(f"set memory_limit = '{RELATIONS_MEMORY}'")
    _with_room(db, settings, make)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Rows and pages hold no circles: looking for some takes a tenth of the time of writing."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def _with_room(db: duckdb.DuckDBPyConnection, settings: Settings, work: Callable[[], T]) -> T:
    """Some work in the memory that is enough for most; else in half of what there is."""
    try:
        return work()
    except duckdb.OutOfMemoryException:
        if settings.memory_limit is not None:
            raise
        db.execute(f"set memory_limit = '{warehouse.half_of_memory()}'")
        return work()


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
    return sum(artifact.n_bytes for artifact in found)


def _size(n_bytes: int) -> str:
    """`1.5 MB`: to one digit, in the largest unit that leaves one before the point."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
