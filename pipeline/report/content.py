"""Relations -> the values a report is made of: one for each run, and one for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from pipeline.report.comparisons import Comparison, comparisons
from pipeline.report.figures import Row
from pipeline.report.tables import (
    FINDINGS,
    HEADLINES,
    INPUTS,
    INVENTORY,
    NOTICES,
    OF_RUNS,
    SERIES,
    SETTINGS,
    TOTALS,
    VERSIONS,
    Source,
    rows,
)

T = TypeVar("T")


@dataclass(frozen=True)
class RunContent:
    """One run: its headline, and the rows of each table about it."""

    headline: Row
    curves: list[Row]
    bands: list[Row]
    uncertainties: list[Row]
    policies: list[Row]
    components: list[Row]
    resources: list[Row]
    slices: list[Row]
    reported: list[Row]
    funnels: list[Row]
    buckets: list[Row]
    bucket_tasks: list[Row]
    modes: list[Row]
    signatures: list[Row]
    explained: list[Row]
    causes: list[Row]
    separators: list[Row]
    contrasts: list[Row]
    dives: list[Row]
    never_counts: list[Row]
    recommendations: list[Row]
    selections: list[Row]
    run_inventory: list[Row]
    health: list[Row]
    health_checks: list[Row]
    gaps: list[Row]

    @property
    def run_id(self) -> str:
        """The run's name."""
        return str(self.headline.values["run_id"])

    @property
    def benchmark(self) -> str:
        """What the run was tried at."""
        return str(self.headline.values["benchmark"])


@dataclass(frozen=True)
class Gap:
    """Something that a record lacks, with a row for each run that lacks it."""

    rows: list[Row]

    @property
    def first(self) -> Row:
        """A row that says what is missing: all say the same."""
        return self.rows[0]


@dataclass(frozen=True)
class Content:
    """Everything a report says, sorted; `settings` and `versions` are what it was made with."""

    runs: list[RunContent]
    findings: list[Row]
    comparisons: list[Comparison]
    series: list[Row]
    task_totals: list[Row]
    mode_totals: list[Row]
    inventory: list[Row]
    inputs: list[Row]
    notices: list[Mapping[str, str]]
    settings: Mapping[str, str]
    versions: Mapping[str, str]
    # The runs asked for, by name; none where all are told.
    chosen: list[str]

    @property
    def benchmarks(self) -> list[str]:
        """The benchmarks the runs were tried at, each once."""
        return sorted({run.benchmark for run in self.runs})

    @property
    def gaps(self) -> list[Gap]:
        """What is missing, each thing once with the runs that lack it."""
        found: dict[int, list[Row]] = {}
        for run in self.runs:
            for row in run.gaps:
                found.setdefault(row.values["gap_no"], []).append(row)
        return [Gap(found[number]) for number in sorted(found)]

    @property
    def inventory_totals(self) -> list[Row]:
        """A row that holds the totals: of all files, or of those of each run chosen."""
        if len(self.chosen) < 2:
            return self.inventory[:1]
        return [run.run_inventory[0] for run in self.runs if run.run_inventory]

    def each(self) -> Iterator[Content]:
        """The same for each run alone; every row is looked at once, however many runs there are."""
        findings, inputs, notices = (
            _by_name(self.findings, lambda row: [row.values["run_id"]]),
            _by_name(self.inputs, lambda row: row.values["run_ids"] or []),
            _by_name(self.notices, lambda notice: [notice["subject"]]),
        )
        series = _by_name(self.series, lambda row: [row.values["run_id"]])
        for rows_of in _by_name(self.series, lambda row: [row.values["series"]]).values():
            if len({row.values["run_id"] for row in rows_of}) > 1:
                series.update((row.values["run_id"], []) for row in rows_of)
        places = {id(notice): place for place, notice in enumerate(self.notices)}
        compared = _by_name(self.comparisons, lambda each: [each.base, each.candidate])
        for run in self.runs:
            name, own = run.run_id, inputs[run.run_id]
            subjects = dict.fromkeys((name, run.benchmark, *(row.values["path"] for row in own)))
            told = [notice for subject in subjects for notice in notices[subject]]
            narrow = replace(
                self,
                runs=[run],
                findings=findings[name],
                comparisons=compared[name],
                series=series[name],
                inputs=own,
                notices=sorted(told, key=lambda notice: places[id(notice)]),
            )
            yield narrow.only([name])

    def only(self, run_ids: Sequence[str]) -> Content:
        """These runs, what is said of them alone, the files they were read from and notices."""
        chosen = [run for run in self.runs if run.run_id in run_ids]
        if len(chosen) == len(self.runs) > 1:
            return self
        names = {run.run_id for run in chosen}
        inputs = [row for row in self.inputs if not names.isdisjoint(row.values["run_ids"] or [])]
        subjects = names | {run.benchmark for run in chosen}
        subjects |= {row.values["path"] for row in inputs}
        whole = self._whole_benchmarks(names)
        return replace(
            self,
            runs=chosen,
            findings=_own_findings(self.findings, names),
            comparisons=_own_comparisons(self.comparisons, names),
            series=_whole(self.series, "series", names),
            task_totals=[row for row in self.task_totals if row.values["benchmark"] in whole],
            # These are of all runs together.
            mode_totals=[],
            inventory=[row for run in chosen for row in run.run_inventory],
            inputs=inputs,
            notices=[notice for notice in self.notices if notice["subject"] in subjects],
            chosen=[run.run_id for run in chosen],
        )

    def _whole_benchmarks(self, names: Set[str]) -> set[str]:
        """Those of several runs that are all among these: what is said across them still holds."""
        runs: dict[str, set[str]] = {}
        for run in self.runs:
            runs.setdefault(run.benchmark, set()).add(run.run_id)
        return {name for name, own in runs.items() if len(own) > 1 and own <= names}


def _by_name(found: Iterable[T], names: Callable[[T], Iterable[str]]) -> dict[str, list[T]]:
    """Each under every name it has, in its order."""
    grouped: dict[str, list[T]] = defaultdict(list)
    for one in found:
        for name in names(one):
            grouped[name].append(one)
    return grouped


def _own_findings(found: list[Row], names: Set[str]) -> list[Row]:
    """Those of these runs: of one run in its own order, of several in that of all.

    What changed against a run that is not among them is not told.
    """
    own = [
        row
        for row in found
        if row.values["run_id"] in names and row.values["base"] in (None, *names)
    ]
    return own if len(names) > 1 else sorted(own, key=lambda row: int(row.values["run_rank"]))


def collect(source: Source) -> Content:
    """Read every table once; each is ordered down to its key by its relation."""
    every = runs(source)
    return Content(
        runs=every,
        findings=ranked_findings(source),
        comparisons=comparisons(source),
        series=rows(source, SERIES),
        **{table.name: rows(source, table) if len(every) > 1 else [] for table in TOTALS},
        inventory=rows(source, INVENTORY),
        inputs=rows(source, INPUTS),
        notices=[dict(row.values) for row in rows(source, NOTICES)],
        settings={row.name: row.value for row in rows(source, SETTINGS)},
        versions={row.name: row.version for row in rows(source, VERSIONS)},
        chosen=[],
    )


def headlines(source: Source) -> list[Row]:
    """The headline row of every run, by benchmark and name."""
    return rows(source, HEADLINES)


def ranked_findings(source: Source) -> list[Row]:
    """What matters most in the whole analysis, ranked."""
    return rows(source, FINDINGS)


def runs(source: Source) -> list[RunContent]:
    """All runs, by benchmark and name."""
    tables = {table.name: _by_run(rows(source, table)) for table in OF_RUNS}
    return [
        RunContent(
            headline, **{name: found.get(headline.run_id, []) for name, found in tables.items()}
        )
        for headline in headlines(source)
    ]


def _by_run(found: list[Row]) -> dict[str, list[Row]]:
    lists: dict[str, list[Row]] = {}
    for row in found:
        lists.setdefault(row.values["run_id"], []).append(row)
    return lists


def _own_comparisons(found: list[Comparison], names: Set[str]) -> list[Comparison]:
    """Among several runs; of one all that it is part of, those it is the candidate of first."""
    if len(names) > 1:
        return [each for each in found if {each.base, each.candidate} <= names]
    own = [each for each in found if not names.isdisjoint((each.base, each.candidate))]
    return sorted(own, key=lambda each: each.candidate not in names)


def _whole(found: list[Row], group: str, names: Set[str]) -> list[Row]:
    """The rows of groups whose runs are all among these: each says how it differs from others."""
    broken = {row.values[group] for row in found if row.values["run_id"] not in names}
    return [row for row in found if row.values[group] not in broken]
