"""What the rules of a package are, what they look at, and how they answer."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pipeline.files import UnreadableError
from pipeline.package.files import text_of
from pipeline.package.layout import Package
from pipeline.package.verify import Finding, facts, sidecar, verify
from pipeline.report.sources import Opened
from pipeline.text import one_line

PASS, FAIL, WARN, SKIP = "PASS", "FAIL", "WARN", "SKIP"
LONGEST_NAME, MOST_LISTED, MOST_FAILURES = 120, 5, 10
T = TypeVar("T")


@dataclass(frozen=True)
class Rule:
    """What is asked: its phase, what it means where it does not hold, and how to fix it."""

    id: str
    phase: str
    title: str
    meaning: str
    fix: str
    # Of rollouts: what gives status, message and file of each finding.
    query: str = ""


TABLE = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
RULES = tuple(Rule(**row) for row in TABLE["rule"])
RELATIONS = ", ".join(f"{name} as ({query})" for name, query in TABLE["relations"].items())


@dataclass(frozen=True)
class Subject:
    """A package, its rollouts as an analysis read them, and what others found."""

    package: Package
    # None where nothing is known of its rollouts; then `reason` says why.
    warehouse: Opened | None
    reason: str = ""
    least_facts: int = 8
    # What a look for private data found, by place; none where nobody looked.
    leaks: Sequence[tuple[str, int, str]] | None = None
    # What verify found in each report.
    findings: Mapping[Path, Sequence[Finding]] = field(default_factory=dict)

    def asked(self, query: str) -> list[Any]:
        """The rows of a query over the relations of the rules."""
        assert self.warehouse is not None
        rows: list[Any] = self.warehouse.execute(f"with {RELATIONS} {query}").fetchall()
        return rows


@dataclass(frozen=True)
class Outcome:
    """How a rule stands; `fix` where this case has one of its own."""

    status: str
    message: str
    file: str = ""
    line: int | None = None
    fix: str = ""


Outcomes = Iterator[Outcome]
# What a check says of one rule after the other.
Told = Iterator[tuple[str, Outcome]]


def findings(package: Package, warehouse: Opened | None) -> dict[Path, list[Finding]]:
    """What `blade verify` finds in each golden report that can be read, its sidecar and facts."""
    found = {}
    for golden in package.goldens:
        text, metrics = read(golden.report, text_of), read(golden.metrics, text_of)
        if isinstance(text, str):
            side = sidecar.read(metrics, golden.metrics.name) if isinstance(metrics, str) else None
            told = facts.read(golden.anchor_facts)
            found[golden.report] = verify(text, golden.report.as_posix(), warehouse, side, told)
    return found


def read(path: Path, how: Callable[[Path], T]) -> T | UnreadableError:
    """What is in a file, or why nothing is."""
    try:
        return how(path)
    except UnreadableError as error:
        return error


def held(is_met: bool, told: str, file: str = "", line: int | None = None) -> Outcome:
    """It holds or it does not, in the same words."""
    return Outcome(PASS if is_met else FAIL, f"{file}: {told}" if file else told, file, line)


def each(faults: Sequence[str], file: str, well: str) -> Outcomes:
    """A failure for each of the first faults, and how many more; else all is `well`."""
    for fault in faults[:MOST_FAILURES]:
        yield held(False, fault, file)
    if len(faults) > MOST_FAILURES:
        yield held(False, f"{len(faults) - MOST_FAILURES} more", file)
    if not faults:
        yield held(True, well, file)


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """The first of many, and how many more there are."""
    shown = ", ".join(one_line(each, LONGEST_NAME) for each in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
