"""Read suite.toml: which runs are one entrant, and which benchmarks make up the suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .. import toml
from ..errors import UsageError
from ..toml import Contract, Entry, Table

SUITE_NAME = "suite.toml"
RUNS_EXAMPLE = 'runs = ["*_aster-8b"]'
BENCHMARKS_EXAMPLE = 'benchmarks = ["airline", "retail"]'


@dataclass(frozen=True)
class Entrant:
    """What is compared: a name, and the runs that are its own as names or patterns with `*`."""

    name: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """A suite.toml; without entrants they are the recorded models, without benchmarks all count."""

    entrants: tuple[Entrant, ...] = ()
    benchmarks: tuple[str, ...] = ()

    @property
    def patterns(self) -> list[tuple[int, str, str]]:
        """One row per pattern: the entrant's place, its name, the pattern."""
        return [
            (place, each.name, pattern)
            for place, each in enumerate(self.entrants, start=1)
            for pattern in each.runs
        ]


NO_SUITE = Suite()


def _texts(entry: Entry, expected: str, example: str) -> tuple[str, ...]:
    if not isinstance(entry.value, list) or not entry.value:
        raise entry.wrong(f"a list of {expected}", example=example)
    return tuple(toml.text(item, f"one of the {expected}", example) for item in entry.items())


CONTRACT = Contract(
    noun="suite",
    file_name=SUITE_NAME,
    keys={
        "benchmarks": (_texts, "benchmarks", BENCHMARKS_EXAMPLE),
        "entrant.name": (toml.text, "a name", 'name = "aster-8b"'),
        "entrant.runs": (_texts, "names of runs", RUNS_EXAMPLE),
    },
    tables={
        "entrant": Table(
            each="entrant",
            called="this [[entrant]]",
            required=("name", "runs"),
            once=(("name",), 'entrant "{}" is listed twice.', "List all of its runs once."),
        )
    },
)


def read(path: Path, *, name: str | None = None) -> Suite:
    """The suite in a file; `name` is what messages call it, by default the path."""
    name = str(path) if name is None else name
    values = toml.read(path, name, CONTRACT)
    entrants = tuple(Entrant(**each) for each in values["entrant"])
    suite = Suite(entrants, values["benchmarks"] or ())
    if not suite.entrants and not suite.benchmarks:
        hint = f"Add: [[entrant]], and below it a name and {RUNS_EXAMPLE}"
        raise UsageError(f"{name}: neither entrants nor benchmarks are listed.", hint=hint)
    return suite
