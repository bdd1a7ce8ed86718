"""Relations -> the values a report is made of: for each run, each benchmark, and all of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import Any, TypeVar

from pipeline.report.cited import Sources
from pipeline.report.comparisons import Comparison, compared
from pipeline.report.figures import Row
from pipeline.report.tables import EVERY, HEADLINES, OF_RUNS, Source, rows

T = TypeVar("T")
UNPLAIN = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class RunContent:
    """One run: its headline, and the rows of each table about it."""

    headline: Row
    tables: Mapping[str, list[Row]]

    def __getattr__(self, name: str) -> list[Row]:
        # Templates read a table by its name.
        try:
            return self.tables[name]
        except KeyError:
            raise AttributeError(f"a run has no table {name}") from None

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
    totals: list[Row]
    inventory: list[Row]
    inputs: list[Row]
    notices: list[Row]
    settings: Mapping[str, str]
    versions: Mapping[str, str]
    # The runs asked for, by name; none where all are told.
    chosen: list[str]
    # Every table whole, in its order.
    tables: Mapping[str, list[Row]]
    sources: Sources

    @property
    def benchmarks(self) -> list[str]:
        """The benchmarks the runs were tried at, each once."""
        return sorted({run.benchmark for run in self.runs})

    @property
    def folders(self) -> dict[str, str]:
        """A folder's name for each benchmark: plain characters, no two alike in any case."""
        found: dict[str, str] = {}
        for name in self.benchmarks:
            plain = UNPLAIN.sub("_", name).strip(".") or "benchmark"
            taken = {folder.lower() for folder in found.values()}
            numbers = (f"{plain}_{number}" for number in count(2))
            found[name] = next(
                each for each in chain([plain], numbers) if each.lower() not in taken
            )
        return found

    def __getattr__(self, name: str) -> list[Row]:
        # The rows of these runs together, in the order of their table.
        if name.startswith("__") or name not in EVERY or EVERY[name].of != "run":
            raise AttributeError(f"a report has no table {name}")
        if len(self.runs) == 1:
            return self.runs[0].tables[name]
        names = {run.run_id for run in self.runs}
        return [row for row in self.tables[name] if row.values["run_id"] in names]

    @property
    def files(self) -> list[Row]:
        """The files these runs were read from, by kind: of all, of a benchmark, or of a run."""
        wanted = ("", "")
        if self.chosen and len(self.benchmarks) == 1:
            is_one = len(self.runs) == 1
            wanted = (self.benchmarks[0], self.runs[0].run_id if is_one else "")
        return [
            row
            for row in self.inventory
            if (row.values["benchmark"], row.values["run_id"]) == wanted
        ]

    @property
    def gaps(self) -> list[Gap]:
        """What is missing, each thing once with the runs that lack it."""
        found: dict[int, list[Row]] = {}
        for run in self.runs:
            for row in run.gaps:
                found.setdefault(row.values["gap_no"], []).append(row)
        return [Gap(found[number]) for number in sorted(found)]

    def each(self) -> Iterator[Content]:
        """The same for each run alone."""
        return (self.only([run.run_id]) for run in self.runs)

    def of_benchmark(self, benchmark: str) -> Content:
        """The runs of one benchmark."""
        return self.only([run.run_id for run in self.runs if run.benchmark == benchmark])

    def only(self, run_ids: Sequence[str]) -> Content:
        """These runs, what is said of them alone, the files they were read from and notices."""
        names = set(run_ids)
        is_one = len(names) == 1
        if not is_one and names >= set(self._placed["runs"]):
            return self
        runs = self._of("runs", names)
        inputs = self._of("inputs", names)
        subjects = {*names, *(run.benchmark for run in runs)}
        subjects |= {row.values["path"] for row in inputs}
        findings = self._of("findings", names)
        comparisons = self._of("comparisons", names)
        if is_one:
            findings.sort(key=lambda row: row.values["run_rank"])
        else:
            findings = [row for row in findings if row.values["base"] in (None, *names)]
            comparisons = [each for each in comparisons if each.base in names]
        # What is said across several runs holds where all of them are here.
        series, across = ([], []) if is_one else (self.series, self.totals)
        apart = {row.series for row in series if row.run_id not in names}
        others = {run.benchmark for run in self.runs if run.run_id not in names} if across else ()
        return replace(
            self,
            runs=runs,
            findings=findings,
            comparisons=comparisons,
            series=[row for row in series if row.series not in apart],
            totals=[row for row in across if row.benchmark not in others],
            inputs=inputs,
            notices=self._of("notices", subjects),
            chosen=[run.run_id for run in runs],
        )

    @cached_property
    def _placed(self) -> dict[str, dict[str, list[tuple[int, Any]]]]:
        """What is said of each run with its place, by name; notices by what they are about.

        So every row is looked at once, however many runs have a report of their own.
        """
        return {
            "runs": _by_name(enumerate(self.runs), lambda each: [each[1].run_id]),
            "findings": _by_name(enumerate(self.findings), lambda each: [each[1].run_id]),
            "comparisons": _by_name(enumerate(self.comparisons), lambda each: [each[1].candidate]),
            "inputs": _by_name(
                enumerate(self.inputs), lambda each: each[1].values["run_ids"] or []
            ),
            "notices": _by_name(enumerate(self.notices), lambda each: [each[1].subject]),
        }

    def _of(self, kind: str, names: Set[str]) -> list[Any]:
        found = dict(pair for name in names for pair in self._placed[kind].get(name, []))
        return [found[place] for place in sorted(found)]


def _by_name(found: Iterable[T], names: Callable[[T], Iterable[str]]) -> dict[str, list[T]]:
    """Each under every name it has, in its order."""
    grouped: dict[str, list[T]] = defaultdict(list)
    for one in found:
        for name in names(one):
            grouped[name].append(one)
    return grouped


def collect(source: Source, noticed: list[Row] | None = None) -> Content:
    """Read every table once; each is ordered down to its key. `noticed` goes before its notices."""
    tables = {name: rows(source, table) for name, table in EVERY.items()}
    if noticed is not None:
        tables["notices"] = noticed
    return Content(
        runs=_runs(tables),
        findings=tables["findings"],
        comparisons=compared(tables),
        series=tables["series"],
        totals=[row for row in tables["totals"] if row.values["n_runs"] > 1],
        inventory=tables["inventory"],
        inputs=tables["inputs"],
        notices=tables["notices"],
        settings={row.name: row.value for row in tables["settings"]},
        versions={row.name: row.version for row in tables["versions"]},
        chosen=[],
        tables=tables,
        sources=Sources(tables),
    )


def notices(found: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Notices that stand in no warehouse yet, as those of one."""
    table = EVERY["notices"]
    return [
        Row(table.relation, table.key, {"no": no, **values})
        for no, values in enumerate(found, start=1)
    ]


def runs(source: Source) -> list[RunContent]:
    """All runs, by benchmark and name."""
    return _runs({table.name: rows(source, table) for table in (HEADLINES, *OF_RUNS)})


def _runs(tables: Mapping[str, list[Row]]) -> list[RunContent]:
    own = {
        table.name: _by_name(tables[table.name], lambda row: [row.values["run_id"]])
        for table in OF_RUNS
    }
    return [
        RunContent(head, {name: found[head.run_id] for name, found in own.items()})
        for head in tables["headlines"]
    ]
