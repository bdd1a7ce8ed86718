"""The whole flow in one place: results folder in, output folder out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from . import analysis, engines, outputs, profile, provenance, report, resources, warehouse
from .artifact import Artifact
from .ingest import discover, load
from .ingest.formats import OWN_TABLE, own_table
from .profile import Profile
from .relation import Compute, Relation
from .settings import EVENTS_FOLDER, MANIFEST_NAME, SQL_DIR, WAREHOUSE_NAME, Settings
from .text import counted
from .warehouse import Notice


@dataclass(frozen=True)
class Progress:
    """Callbacks of an analysis: each stage as it begins, and the bytes read so far.

    A note stays visible afterwards.
    """

    stage: Callable[[str], None] = lambda _words: None
    read: Callable[[int, int], None] = lambda _read, _all: None
    note: Callable[[str], None] = lambda _words: None


SILENT = Progress()


@dataclass(frozen=True)
class Analysis:
    """The output folder of an analysis, and its warnings."""

    out: Path
    warnings: tuple[Notice, ...]

    @property
    def warehouse(self) -> Path:
        return self.out / WAREHOUSE_NAME


def run(
    settings: Settings,
    *,
    progress: Progress = SILENT,
    wanted: Sequence[str] = (),
    has_pages: bool = True,
) -> Analysis:
    """Analyze results and write the output folder.

    If relations are wanted, the warehouse has only these and those that they read.
    """
    if has_pages:
        progress.stage("finding files")
        report.check_templates(settings.templates)
    chosen = _profile(settings)
    artifacts = discover.artifacts(
        settings.results,
        run_names=settings.run_names,
        out=settings.out,
        follow_links=settings.follow_links,
        table_fields=profile.table_fields(chosen),
    )
    chosen = _for_tables(chosen, artifacts, progress)
    outputs.refuse_unusable(settings.out)
    inputs = resources.inputs(artifacts, chosen, settings, wanted=wanted, has_pages=has_pages)
    if resources.is_current(inputs, settings):
        if has_pages:
            progress.note("nothing has changed since the last analysis (--no-cache rebuilds)")
        return Analysis(settings.out, provenance.notices(settings.out / WAREHOUSE_NAME))

    def build(settings: Settings) -> Analysis:
        with resources.new_output(artifacts, inputs, settings, progress.note) as (folder, db):
            progress.stage(f"reading {counted(len(artifacts), 'file')}, {_size(artifacts)}")
            warehouse.create_macros(db, SQL_DIR)
            load.artifacts(
                db,
                artifacts,
                settings,
                spool=folder.with_name("spool"),
                read=resources.dropping_blocks(db, settings, progress.read),
                engine=engines.engine(
                    settings.engine, jobs=settings.threads, address=settings.address
                ),
                parts=resources.parts(settings),
                # A warehouse without pages may be cached as a file of its own.
                events_folder=None
                if settings.is_whole or not has_pages
                else folder / EVENTS_FOLDER,
            )
            if chosen.name:
                progress.stage(f"checking {Path(chosen.name).name}")
            profile.check_fields(db, chosen)
            profile.write(db, chosen, is_growing=settings.is_growing)
            provenance.write(db, chosen, settings)
            resources.lower_memory_limit(db, settings)
            warehouse.create_relations(
                db,
                SQL_DIR,
                computed_relations(chosen),
                wanted=wanted,
                at_once=resources.relations_at_once(artifacts, settings),
                begin=lambda n: progress.stage(f"creating {n} relations"),
                attempt=lambda make: resources.with_more_memory(db, settings, make),
            )
            if has_pages:
                progress.stage("checking them")
            warnings = [] if wanted else warehouse.run_checks(db)
            provenance.write_notices(db, warnings)
            if has_pages:
                progress.stage("writing the report")
                outputs.write(folder, _texts(db, chosen, settings))
            warehouse.order_views(db, SQL_DIR)
        return Analysis(settings.out, tuple(warnings))

    return resources.without_spilling(
        settings, lambda each: resources.with_fewer_threads(each, build)
    )


def part(settings: Settings, wanted: Sequence[str] = (), *, progress: Progress = SILENT) -> Path:
    """Build a warehouse alone; one with all relations is reused by the next call."""
    return run(settings, progress=progress, wanted=wanted, has_pages=False).warehouse


def _texts(db: duckdb.DuckDBPyConnection, chosen: Profile, settings: Settings) -> dict[str, str]:
    """All reports and sidecars, and the manifest that lists them."""
    with resources.without_garbage_collection():
        texts = resources.with_more_memory(
            db,
            settings,
            lambda: report.texts(db, report.collect(db), folder=settings.templates),
        )
    own = report.replaced(settings.templates)
    hashes = outputs.sha256s(texts)
    return {
        **texts,
        MANIFEST_NAME: provenance.manifest(db, chosen, settings, hashes, templates=own),
    }


def computed_relations(chosen: Profile) -> list[Relation | Compute]:
    """The functions that headers of sql/ name, and the relations that are not files of sql/."""
    return [*analysis.FUNCTIONS, profile.stage_facts(chosen), profile.rule_matches(chosen)]


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
    suite = settings.suite or profile.find(inputs, profile.SUITE_NAME)
    if suite is not None:
        chosen = replace(chosen, suite=profile.read_suite(suite))
    known = {name: value for name, value in options.items() if value is not None}
    return profile.with_fields(replace(chosen, **known), dict(settings.fields))


def _for_tables(chosen: Profile, artifacts: Sequence[Artifact], progress: Progress) -> Profile:
    """Show how tables of one's own are read. Their rows have the chosen task and score already."""
    tables = [artifact for artifact in artifacts if artifact.format == OWN_TABLE]
    for columns, names in own_table.readings(tables).items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        progress.note(f"{names[0]}{more}: read as {columns}")
    return replace(chosen, task_id=None, reward=None) if tables else chosen


def _size(artifacts: Sequence[Artifact]) -> str:
    """The size of all files, such as `1.5 MB`."""
    n_bytes = sum(artifact.n_bytes for artifact in artifacts)
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
