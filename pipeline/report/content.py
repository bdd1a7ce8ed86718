"""Relations -> the values a report is made of: for each run, each benchmark, and all of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from . import aliases
from .cited import Sources
from .comparisons import Comparison, compared
from .declared import EVERY, OF_RUNS
from .figures import Row, grouped
from .filters import unused
from .sentences import Benchmark
from .tables import Source, read

UNPLAIN = re.compile(r"[^A-Za-z0-9._-]")
# Content about single runs, and the runs that it is about; of notices what they are about.
NAMED: Mapping[str, Callable[[Any], Iterable[str]]] = {
    "runs": lambda run: [run.run_id],
    "findings": lambda row: [row.run_id],
    "comparisons": lambda comparison: [comparison.candidate, comparison.base],
    "inputs": lambda row: row.values["run_ids"] or [],
    "notices": lambda row: [row.subject],
}
# Rows with their places in a table, by what they are about.
Places = dict[Any, list[tuple[int, Any]]]
BESIDE_FINDINGS = ("modes", "mode_parts", "concentrations")


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
        return str(self.headline.values["run_id"])

    @property
    def benchmark(self) -> str:
        return str(self.headline.values["benchmark"])


@dataclass(frozen=True)
class Content:
    """Everything a report says, sorted. Templates read a table by its name."""

    runs: list[RunContent]
    comparisons: list[Comparison]
    # Of the tables that are about no single run, the rows that belong here.
    own: Mapping[str, list[Row]]
    # The runs asked for, by name; none where all are shown.
    chosen: list[str]
    # Every table whole, in its order.
    tables: Mapping[str, list[Row]]
    sources: Sources
    # The short name of each run whose name is long.
    aliases: Mapping[str, str] = field(default_factory=dict)
    # What only pages need, by benchmark: read for the first of them, whichever it is of.
    strips: dict[str, list[Row]] = field(default_factory=dict)
    # Whole tables by what their rows are about, for the reports on a part of the runs: each would
    # look at every row otherwise, which takes 6% of the time of the pages of 400 runs.
    by_subject: dict[tuple[str, ...], Places] = field(default_factory=dict)

    def __getattr__(self, name: str) -> list[Row]:
        # The rows of these runs together, in the order of their table.
        if name.startswith("__") or name not in EVERY:
            raise AttributeError(f"a report has no table {name}")
        if EVERY[name].of != "run":
            return self.own[name]
        if len(self.runs) == 1:
            return self.runs[0].tables[name]
        return _in_order(self._by(name, "run_id"), [(run.run_id,) for run in self.runs])

    def _by(self, name: str, *columns: str) -> Places:
        """The rows of a whole table by the values of some columns."""
        subject = (name, *columns)
        if subject not in self.by_subject:
            self.by_subject[subject] = _placed(
                self.tables[name], lambda row: [tuple(row.values[column] for column in columns)]
            )
        return self.by_subject[subject]

    def name(self, run_id: str) -> str:
        """What a chart calls a run."""
        return self.aliases.get(run_id, run_id)

    @property
    def settings(self) -> dict[str, str]:
        return {row.name: row.values["value"] for row in self.tables["settings"]}

    @property
    def versions(self) -> dict[str, str]:
        return {row.name: row.values["version"] for row in self.tables["versions"]}

    @cached_property
    def benchmarks(self) -> list[str]:
        """The benchmarks the runs were tried at, each once."""
        return sorted({run.benchmark for run in self.runs})

    @cached_property
    def folders(self) -> dict[str, str]:
        """A folder's name for each benchmark: plain characters, no two alike in any case."""
        folders: dict[str, str] = {}
        taken: set[str] = set()
        for name in self.benchmarks:
            plain = UNPLAIN.sub("_", name).strip(".") or "benchmark"
            folders[name] = plain + unused(plain.lower(), taken)[len(plain) :]
            taken.add(folders[name].lower())
        return folders

    @cached_property
    def by_run_id(self) -> dict[str, RunContent]:
        return {run.run_id: run for run in self.runs}

    @property
    def n_benchmark_runs(self) -> int:
        """The runs of these benchmarks in the analysis, also those that are not shown."""
        placed = self._by("headlines", "benchmark")
        return sum(len(placed.get((name,), ())) for name in self.benchmarks)

    @property
    def files(self) -> list[Row]:
        """The files these runs were read from, by kind: of all, of a benchmark, or of a run."""
        wanted = ("", "")
        if self.chosen and len(self.benchmarks) == 1:
            is_one = len(self.runs) == 1
            wanted = (self.benchmarks[0], self.runs[0].run_id if is_one else "")
        return _in_order(self._by("inventory", "benchmark", "run_id"), [wanted])

    @property
    def gaps(self) -> list[tuple[int, list[Row]]]:
        """What is missing by number, each with a row for every run that lacks it."""
        return sorted(grouped((row for run in self.runs for row in run.gaps), "gap_no").items())

    def of_benchmark(self, benchmark: str) -> Content:
        return self.only(sorted(self._run_ids[benchmark]))

    def only(self, run_ids: Sequence[str]) -> Content:
        """These runs, what is about them alone, the files they were read from and notices."""
        names = set(run_ids)
        is_one = len(names) == 1
        if not is_one and names >= self._named["runs"].keys():
            return self
        runs, inputs, findings, comparisons = (
            _in_order(self._named[kind], names)
            for kind in ("runs", "inputs", "findings", "comparisons")
        )
        subjects = {*names, *(run.benchmark for run in runs)}
        subjects |= {row.values["path"] for row in inputs}
        if not is_one:
            comparisons = [each for each in comparisons if {each.base, each.candidate} <= names]
        # A statement across several runs holds where all of them are here.
        series, totals = ([], []) if is_one else (self.series, self.totals)
        apart = {row.series for row in series if row.run_id not in names}
        others = {name for name, own in self._run_ids.items() if not own <= names} if totals else ()
        own = {
            "findings": [row for row in findings if row.values["base"] in (None, *names)],
            "series": [row for row in series if row.series not in apart],
            "totals": [row for row in totals if row.benchmark not in others],
            "inputs": inputs,
            "notices": _in_order(self._named["notices"], subjects),
            **self._of_benchmarks(names, {run.benchmark for run in runs}),
        }
        return replace(
            self,
            runs=runs,
            comparisons=comparisons,
            own={**self.own, **own},
            chosen=[run.run_id for run in runs],
        )

    def _of_benchmarks(self, names: Set[str], benchmarks: Set[str]) -> dict[str, list[Row]]:
        """What is about all runs of a benchmark, where all of them are here."""
        whole = [name for name in benchmarks if self._run_ids[name] <= names]
        return {name: _in_order(placed, whole) for name, placed in self._of_benchmark.items()}

    @cached_property
    def _of_benchmark(self) -> dict[str, Places]:
        """The rows of each table on benchmarks, by benchmark."""
        return {
            table.name: _placed(self.own[table.name], lambda row: [row.values["benchmark"]])
            for table in EVERY.values()
            if table.of == "benchmark"
        }

    @cached_property
    def _run_ids(self) -> dict[str, set[str]]:
        run_ids: dict[str, set[str]] = defaultdict(set)
        for run in self.runs:
            run_ids[run.benchmark].add(run.run_id)
        return run_ids

    @cached_property
    def _named(self) -> dict[str, Places]:
        """What is about single runs, by the names of what it is about."""
        return {kind: _placed(getattr(self, kind), named) for kind, named in NAMED.items()}


def _placed(rows: Iterable[Any], keys_of: Callable[[Any], Iterable[Any]]) -> Places:
    """Rows with their places, by their keys.

    So every row is looked at once, however many runs have a report of their own.
    """
    placed: Places = {}
    for place, row in enumerate(rows):
        for key in keys_of(row):
            placed.setdefault(key, []).append((place, row))
    return placed


def _in_order(placed: Places, wanted: Iterable[Any]) -> list[Any]:
    """The rows with one of these keys, each once, in the order of their places."""
    by_place = dict(pair for key in wanted for pair in placed.get(key, ()))
    return [by_place[place] for place in sorted(by_place)]


def collect(source: Source, noticed: list[Row] | None = None) -> Content:
    """Read every table once; each is ordered down to its key. `noticed` goes before its notices."""
    tables = read(source, EVERY.values())
    if noticed is not None:
        tables["notices"] = noticed
    totals = [row for row in tables["totals"] if row.values["n_runs"] > 1]
    return Content(
        runs=_runs(tables),
        comparisons=compared(tables),
        own={**tables, "totals": totals},
        chosen=[],
        tables=tables,
        sources=Sources(tables),
        aliases=aliases.read(source),
    )


def benchmarks(source: Source) -> dict[str, Benchmark]:
    """Every benchmark by name, where only findings are shown."""
    tables = read(source, [EVERY["headlines"], *(EVERY[name] for name in BESIDE_FINDINGS)])
    heads = grouped(tables["headlines"], "benchmark")
    beside = {name: grouped(tables[name], "benchmark") for name in BESIDE_FINDINGS}
    return {
        name: Benchmark(runs, **{table: rows[name] for table, rows in beside.items()})
        for name, runs in heads.items()
    }


def notices(values: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Notices that are in no warehouse yet, as those of one."""
    return [EVERY["notices"].row({"no": no, **each}) for no, each in enumerate(values, start=1)]


def runs(source: Source) -> list[RunContent]:
    return _runs(read(source, (EVERY["headlines"], *OF_RUNS)))


def _runs(tables: Mapping[str, list[Row]]) -> list[RunContent]:
    own = {table.name: grouped(tables[table.name], "run_id") for table in OF_RUNS}
    return [
        RunContent(head, {name: rows[head.run_id] for name, rows in own.items()})
        for head in tables["headlines"]
    ]
