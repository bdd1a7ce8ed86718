"""Run the queries of sources on a warehouse, and look up the names that it has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ..errors import BladeError, MemoryLimitError, TimeLimitError
from ..query_worker import MOST_BYTES, Bounds, ask
from ..report import tables
from ..report.aliases import read as read_aliases
from ..report.aliases import short
from ..text import one_line
from .sources import Source

# Limits for one source, and for all sources of a report.
MOST_ROWS, MOST_SECONDS, MOST_SECONDS_IN_ALL = 20_000, 10.0, 60.0
# Relations that name things, each with its column of names.
NAMES = (
    ("runs", "run_id"),
    ("tasks", "task_id"),
    ("failure_modes", "mode"),
    ("funnel", "stage"),
    ("checks", "check_name"),
    ("expected_tools", "tool"),
)


class Opened(tables.Source, Protocol):
    """A warehouse that is open for reading, as `pipeline.warehouse.open_warehouse` gives it."""

    # Its file, and the memory that a query may take.
    path: Path | None
    memory_limit: str | None


@dataclass(frozen=True)
class Answer:
    """The rows of a source, or why there are none."""

    rows: tuple[tuple[Any, ...], ...] = ()
    fault: str = ""
    # Whether the source is wrong, rather than too much for the limits.
    is_wrong: bool = False


# A function that gives the rows of a source, or why there are none.
Answering = Callable[[Source], Answer]


class Answers:
    """Runs each query once, within limits of time and rows."""

    def __init__(self, warehouse: Opened) -> None:
        self._warehouse = warehouse
        self._known: dict[str, Answer] = {}
        self._left = MOST_SECONDS_IN_ALL

    def __call__(self, source: Source) -> Answer:
        if source.fault:
            return Answer(fault=source.fault, is_wrong=True)
        if source.query not in self._known:
            self._known[source.query] = self._ask(source.query)
        return self._known[source.query]

    @cached_property
    def aliases(self) -> dict[str, frozenset[str]]:
        """Other names of each run: its alias, its name without the common prefix, its model."""
        query = "select benchmark, run_id, model from main.runs order by all"
        models: dict[str, dict[str, str | None]] = {}
        for benchmark, run, model in self._warehouse.execute(query).fetchall():
            models.setdefault(benchmark, {})[run] = model
        own_names = {run: own for each in models.values() for run, own in aliases(each).items()}
        return {run: own | {self.short(run)} for run, own in own_names.items()}

    @cached_property
    def _short_names(self) -> dict[str, str]:
        return read_aliases(self._warehouse)

    def short(self, name: str) -> str:
        """A run or a citation as a draft prints it."""
        return short(name, self._short_names)

    @cached_property
    def names(self) -> frozenset[str]:
        """What runs, tasks, modes, stages, checks and tools are called."""
        query = " union ".join(f"select {column} from {relation}" for relation, column in NAMES)
        return self._texts(query)

    def values(self, expression: str, relation: str) -> frozenset[str]:
        """All texts that an expression gives in a relation."""
        if not relation or not re.fullmatch(r"\w+(?:\[\d+\])?", expression):
            return frozenset()
        return self._texts(f"select distinct {expression} from {relation}")

    def _texts(self, query: str) -> frozenset[str]:
        answer = self(Source(0, "", query))
        return frozenset(value for (value,) in answer.rows if isinstance(value, str))

    def _ask(self, query: str) -> Answer:
        if self._left <= 0:
            return Answer(fault="the sources before it took all the time there is")
        limit = min(MOST_SECONDS, self._left)
        path, memory = self._warehouse.path, self._warehouse.memory_limit
        assert path is not None
        bounds = Bounds(most_rows=MOST_ROWS, most_bytes=MOST_BYTES)
        try:
            with ask(path, query, seconds=limit, memory_limit=memory, bounds=bounds) as answer:
                rows = tuple(answer)
                is_cut = answer.is_cut
        except TimeLimitError:
            # Only queries that are stopped count, so that findings do not depend on the clock.
            self._left -= limit
            return Answer(fault=f"the query takes longer than {limit:.0f} s")
        except BladeError as error:
            is_wrong = not isinstance(error, MemoryLimitError)
            return Answer(fault=one_line(" ".join(str(error).split()), 300), is_wrong=is_wrong)
        return Answer(rows, f"the query gives more than {MOST_ROWS:,} rows" if is_cut else "")


def aliases(models: dict[str, str | None]) -> dict[str, frozenset[str]]:
    """Each run with its other names that no other run has."""
    names = sorted(models)
    shared = ""
    if len(names) > 1:
        n_same = next(
            (no for no, signs in enumerate(zip(*names, strict=False)) if len({*signs}) > 1), 0
        )
        shared = names[0][: names[0][:n_same].rfind("_") + 1]
    candidates = {run: {run.removeprefix(shared), model or run} for run, model in models.items()}
    uses = Counter(name for own in candidates.values() for name in own)
    return {
        run: frozenset(name for name in own if uses[name] == 1) for run, own in candidates.items()
    }
