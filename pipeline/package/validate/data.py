"""What the checks need to know of the rollouts, asked of the warehouse once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.citation import Citation
from pipeline.package.resolving import resolved
from pipeline.package.statements import Statement
from pipeline.package.validate.row_files import RowFile, row_files
from pipeline.report import Source

RUNS = """
select runs.run_id, runs.benchmark, runs.model, runs.n_tasks, runs.n_rollouts, runs.n_scored,
    coalesce(runs.n_repeats, 1) as n_repeats, runs.is_unsafe,
    coalesce(metrics.n_sometimes_tasks, 0) as n_sometimes,
    coalesce(metrics.n_never_tasks, 0) as n_never
from runs left join run_metrics as metrics using (run_id) order by run_id
"""
NAMES = """
select distinct name from (
    select tool as name from events where kind = 'tool_call' and tool is not null
    union all select mode from failure_modes
    union all select slice_key from slice_metrics
) where length(name) > 2 order by name limit 2000
"""
FOUND_TASKS = """
with asked as (select unnest(?::varchar[]) as task_id)
select distinct task_id from tasks inner join asked using (task_id)
"""


@dataclass(frozen=True)
class Run:
    """A run of the rollouts."""

    run_id: str
    benchmark: str
    model: str
    n_tasks: int
    n_rollouts: int
    n_scored: int
    n_repeats: int
    is_unsafe: bool
    n_sometimes: int
    n_never: int

    @property
    def is_scored(self) -> bool:
        """Whether most of its rollouts have a score."""
        return 2 * self.n_scored > self.n_rollouts


@dataclass(frozen=True)
class Data:
    """The rollouts of a package: what its skill and reports are held to."""

    warehouse: Source
    runs: tuple[Run, ...]
    files: tuple[RowFile, ...]
    # Fields of the rows by what they are for, each most common first.
    fields: Mapping[str, tuple[str, ...]]
    # Tools, failure modes and slices.
    names: tuple[str, ...]
    # The metrics of each run as an analysis writes them.
    metrics: Mapping[str, Mapping[str, Any]]
    # And the reports that it drafts.
    drafts: Mapping[str, str]

    def run_called(self, *names: str) -> Run | None:
        """The only run that one of these names fits, by its id, its model or the end of its id."""
        for name in names:
            for fits in (_is_id, _is_model, _ends_id):
                found = [run for run in self.runs if name and fits(run, name)]
                if len(found) == 1:
                    return found[0]
        return None

    def known_tasks(self, task_ids: Iterable[str]) -> set[str]:
        """Those tasks that are there."""
        asked = sorted(set(task_ids))
        rows = self.warehouse.execute(FOUND_TASKS, [asked]).fetchall() if asked else []
        return {task_id for (task_id,) in rows}

    def unknown(self, found: Sequence[Citation]) -> list[Citation]:
        """Citations that lead nowhere: no such rollout, or no such event of it."""
        there = resolved(self.warehouse, found)
        return [each for each in found if each not in there]


def cited(statement: Statement) -> list[Citation]:
    """The rollouts that a statement cites; a command that opens one is no citation."""
    return [each for each in statement.citations if not any(map(str.isspace, each.run_id))]


def written(out: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The metrics and the draft of each run, as an analysis wrote them."""
    metrics, drafts = {}, {}
    for file in sorted((out / "runs").glob("*/metrics.json")):
        read = json.loads(file.read_text(encoding="utf-8"))
        metrics[read["run_id"]] = read
        drafts[read["run_id"]] = file.with_name("report.md").read_text(encoding="utf-8")
    return metrics, drafts


def gather(
    warehouse: Source, metrics: Mapping[str, Mapping[str, Any]], drafts: Mapping[str, str]
) -> Data:
    """Ask the warehouse for runs, files, fields and names."""
    files, fields = row_files(warehouse)
    return Data(
        warehouse,
        tuple(Run(*row) for row in warehouse.execute(RUNS).fetchall()),
        tuple(files),
        fields,
        tuple(name for (name,) in warehouse.execute(NAMES).fetchall()),
        metrics,
        drafts,
    )


def _is_id(run: Run, name: str) -> bool:
    return run.run_id == name


def _is_model(run: Run, name: str) -> bool:
    return run.model.lower() == name.lower()


def _ends_id(run: Run, name: str) -> bool:
    return f"_{_plain(run.run_id)}".endswith(f"_{_plain(name)}")


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
