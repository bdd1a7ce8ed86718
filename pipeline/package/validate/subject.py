"""What the rules of a package are, what they look at, and how they answer."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pipeline.files import UnreadableError, read_queries
from pipeline.package import sidecar
from pipeline.package.answers import Opened
from pipeline.package.facts import facts_file
from pipeline.package.files import text_of
from pipeline.package.findings import Finding
from pipeline.package.layout import Package
from pipeline.package.verify import verify
from pipeline.text import one_line

PASS, FAIL, WARN, SKIP = "PASS", "FAIL", "WARN", "SKIP"
LONGEST, MOST_FAILURES = 400, 10
T = TypeVar("T")
# The phase of a rule, by how its id begins.
PHASE_OF = {
    "skill": "skill",
    "rollouts": "rollouts",
    **dict.fromkeys(("golden", "metrics", "facts", "shallow"), "golden"),
    "sanitized": "sharing",
}


@dataclass(frozen=True)
class Rule:
    """What is asked, what it means where it does not hold, and how to fix it."""

    id: str
    title: str
    meaning: str
    fix: str

    @property
    def phase(self) -> str:
        """The phase that asks it."""
        return PHASE_OF[self.id.partition(".")[0]]

    @property
    def query(self) -> str | None:
        """Of a rule on rollouts: what gives status, message and file of each finding."""
        return QUERIES.get(self.id.replace(".", "_"))


TABLE = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
RULES = {
    f"{part}.{name}": Rule(f"{part}.{name}", **row)
    for part, rules in TABLE["rules"].items()
    for name, row in rules.items()
}
QUERIES = read_queries(Path(__file__).with_name("rules.sql"))
# What the queries of rules read, each after those before it.
RELATIONS = ", ".join(
    f"{name} as ({QUERIES[name]})" for name in ("files", "scored", "copies", "pairs")
)


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

    def rows(self, query: str) -> list[Any]:
        """The rows of a query over the relations of the rules."""
        assert self.warehouse is not None
        result: list[Any] = self.warehouse.execute(f"with {RELATIONS} {query}").fetchall()
        return result


@dataclass(frozen=True)
class Check:
    """A line of the answer; `meaning` and `fix` are set only where it does not pass."""

    id: str
    phase: str
    status: str
    check: str
    message: str
    meaning: str = ""
    fix: str = ""
    file: str = ""
    line: int | None = None


Checks = Iterator[Check]


def findings(package: Package, warehouse: Opened | None) -> dict[Path, list[Finding]]:
    """What `blade verify` finds in each golden report that can be read, its sidecar and facts."""
    by_report = {}
    for golden in package.goldens:
        text, metrics = read(golden.report, text_of), read(golden.metrics, text_of)
        if isinstance(text, str):
            side = sidecar.read(metrics, golden.metrics.name) if isinstance(metrics, str) else None
            anchors = facts_file(golden.anchor_facts)
            by_report[golden.report] = verify(
                text, golden.report.as_posix(), warehouse, side, anchors
            )
    return by_report


def read(path: Path, how: Callable[[Path], T]) -> T | UnreadableError:
    """What is in a file, or why nothing is."""
    try:
        return how(path)
    except UnreadableError as error:
        return error


def outcome(
    id_: str, status: str, message: str, file: str = "", line: int | None = None, fix: str = ""
) -> Check:
    """The check of a rule; `fix` where this case has one of its own."""
    rule = RULES[id_]
    shown = one_line(f"not checked: {message}" if status == SKIP else message, LONGEST)
    advice = (rule.meaning, fix or rule.fix) if status in (FAIL, WARN) else ("", "")
    return Check(id_, rule.phase, status, rule.title, shown, *advice, one_line(file, LONGEST), line)


def verdict(id_: str, is_met: bool, message: str, file: str = "", line: int | None = None) -> Check:
    """It holds or it does not, in the same words."""
    placed = f"{file}: {message}" if file else message
    return outcome(id_, PASS if is_met else FAIL, placed, file, line)


def every(
    id_: str, faults: Sequence[str], file: str, well: str, lines: Sequence[int] = ()
) -> Checks:
    """A failure for each of the first faults, and how many more; else all is `well`."""
    for place, fault in enumerate(faults[:MOST_FAILURES]):
        yield verdict(id_, False, fault, file, lines[place] if lines else None)
    if len(faults) > MOST_FAILURES:
        yield verdict(id_, False, f"{len(faults) - MOST_FAILURES} more", file)
    if not faults:
        yield verdict(id_, True, well, file)
