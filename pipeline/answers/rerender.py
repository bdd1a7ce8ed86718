"""Render the report of a warehouse again, with other runs, sections, templates or labels."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from .. import report, warehouse
from ..artifact import Artifact, Kind, printable
from ..errors import InputError, resolved
from ..ingest import load
from ..ingest.formats.labels import Label
from ..ingest.formats.labels import read as read_label
from ..profile import Profile
from ..run import computed_relations
from ..settings import DEFAULT_MAX_LINE_BYTES, SQL_DIR
from ..warehouse import Notice, Warehouse
from ..warehouse.relations import relations
from .names import full_name
from .recomputed import recompute

__all__ = ["Label", "Rendering", "read_label", "relabel", "render"]

# Without files of labels: the new ones replace them.
FILES = "from raw.files where kind <> 'labels' order by file_no"
REJECTS = f"""
    from raw.rejects
    where record_id >> 40 in (select file_no from ({FILES}))
    order by all
"""
# They read rejects of the files of runs, and labels do not belong to a run.
UNCHANGED = ("main.reported_checks", "main.run_health")


@dataclass(frozen=True)
class Rendering:
    text: str
    warnings: tuple[Notice, ...] = ()


def render(
    path: Path,
    *,
    runs: Sequence[str] = (),
    sections: Sequence[str] = (),
    as_html: bool = False,
    templates: Path | None = None,
    labels: Path | None = None,
) -> Rendering:
    """Render the report of an analysis; the warehouse is only read.

    Without names, all runs and sections are rendered.
    """
    chosen = _chosen(sections)
    report.check_templates(templates)
    opened = warehouse.open_warehouse(path) if labels is None else relabel(path, labels)
    with opened as source, warehouse.of_this_version(path):
        notices: list[Notice] = []
        if labels is None:
            content = report.collect(source)
        else:
            checked = warehouse.run_checks(source)
            warnings = ({**vars(each), "check_name": each.check} for each in checked)
            content = report.collect(source, report.notices(warnings))
            # Only those about the file of labels or its lines.
            name = f"{printable(labels.name)}:"
            notices = [each for each in checked if f"{each.subject}:".startswith(name)]
        known = [run.run_id for run in content.runs]
        named = [resolved("run", full_name(source, name), known) for name in runs]
        text = report.page(
            source,
            content.only(named) if named else content,
            as_html=as_html,
            sections=chosen,
            folder=templates,
        )
    return Rendering(text, tuple(notices))


def _chosen(names: Sequence[str]) -> list[report.Section]:
    """Sections by title or name, in the order of a report; all without names."""
    plain = (re.sub(r"[ -]", "_", name.strip().lower()) for name in names)
    wanted = {resolved("section", name, list(report.SECTIONS)) for name in plain}
    return [each for name, each in report.SECTIONS.items() if name in wanted or not names]


def relabel(
    path: Path,
    labels: Path | None,
    *,
    wanted: Sequence[str] = (),
    seed: int | None = None,
) -> Warehouse:
    """The warehouse with this file as the only file of labels, and with this seed of plans.

    Without `wanted`, it has all relations that a page may read.
    """
    replaced: dict[str, pa.Table] = {}
    amended: dict[str, pa.Table] = {}
    if labels is not None:
        replaced, amended = _labels(path, labels)
    if seed is not None:
        with warehouse.open_warehouse(path) as opened, warehouse.of_this_version(path):
            benchmarks = "select distinct benchmark, cast(? as bigint) as seed from runs order by 1"
            replaced["staging.reading_seeds"] = opened.arrow(benchmarks, [seed])
    if not wanted:
        every = [relation.name for relation in relations(SQL_DIR, computed_relations(Profile()))]
        shown = [name for name in every if name.startswith(("main.", "report.", "assertions."))]
        wanted = [*shown, *(name for table in report.EVERY.values() for name in table.reads)]
    return recompute(path, replaced, amended=amended, unchanged=UNCHANGED, wanted=wanted)


def _labels(path: Path, labels: Path) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """Tables of `raw` with this file of labels: those it replaces, and those it is added to."""
    if not (labels.is_file() and os.access(labels, os.R_OK)):
        raise InputError(
            f"{labels}: no readable file of labels.",
            hint="docs/cli.md#labelsjsonl describes the format.",
        )
    with warehouse.open_warehouse(path) as opened, warehouse.of_this_version(path):
        files, rejects = opened.arrow(FILES), opened.arrow(REJECTS)
    numbers, names = (files.column(name).to_pylist() for name in ("file_no", "path"))
    name = printable(labels.name)
    if name in names:
        raise InputError(
            f"{labels}: the results contain another kind of file with this name.",
            hint="Give it another name, such as labels.jsonl.",
        )
    artifact = Artifact(labels, name, Kind.LABELS)
    read = load.labels_alone(
        artifact, max(numbers, default=0) + 1, max_line_bytes=DEFAULT_MAX_LINE_BYTES
    )
    return {name: read[name] for name in ("raw.labels", "raw.label_mentions")}, {
        "raw.files": pa.concat_tables([files, read["raw.files"]]),
        "raw.rejects": pa.concat_tables([rejects, read["raw.rejects"]]),
    }
