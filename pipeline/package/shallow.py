"""A report's negative control: its headings and its tables of metrics and stages, nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.package import headings
from pipeline.package.comments import without_comments
from pipeline.package.reading import Block, Section, Table, read
from pipeline.package.statements import of_text

KEPT_SECTIONS = ("Aggregate Results", "Workflow Funnel")
DIAGNOSIS = (
    "Dominant Failure Modes",
    "Sometimes-Pass Deep Dives",
    "Never-Pass Deep Dives",
    "Recommendations",
)
# Where any metric makes a table one of results; elsewhere its words must leave no doubt.
LOOSE_SECTIONS = (None, "Executive Summary", "Task Outcome Buckets")
STRONG = (
    r"\bpass[@^_]|\bpass(?:ed)? at\b|\bpass[- ]rate|accurac|success rate|solve rate|mean reward"
)
STRONG_METRIC = re.compile(STRONG, re.IGNORECASE)
METRIC = re.compile(rf"{STRONG}|\brewards?\b|\bscores?\b|\bcoverage\b|consistency", re.IGNORECASE)
STAGE = re.compile(r"\b(?:stage|reached|drop[- ]?off|lost here|of the stage)\b", re.IGNORECASE)
# A table with a row a task, a mode or an error is evidence or diagnosis.
DETAIL = re.compile(
    r"^\W*(?:(?:tasks?|problem|question|instance|item)(?:[ _](?:ids?|name|index))?|ids?|rollouts?"
    r"|attempt|mode|failure mode|failures?|error|cause|root cause|sign|missing|base|candidate"
    r"|if it were not for|file|setting|example)\W*$",
    re.IGNORECASE,
)
EVIDENCE_COLUMN = re.compile(
    r"^\W*(?:see|example|evidence|found|a pass|a failure|quote)s?\W*$", re.I
)
CELL = re.compile(r"(?<!\\)\|")
TASK_TITLE = re.compile(r"\btasks?\s+[`'\"]?[\w./-]*\d", re.IGNORECASE)


@dataclass(frozen=True)
class Shallow:
    """The text of the control, and how much of the report it holds."""

    text: str
    n_headings: int
    n_tables: int


def shallow(text: str) -> Shallow:
    """Headings, and the aggregate and funnel tables whatever their headings are called."""
    lines = without_comments(text).split("\n")
    reading = read("\n".join(lines))
    pieces: list[str] = []
    n_headings = n_tables = 0
    for section in reading.sections:
        tables = [table for part in section.parts for table in _kept(section, part, lines)]
        if section.title and _keeps_heading(section, has_tables=bool(tables)):
            pieces.append(f"{'#' * section.level} {_title(section, lines)}")
            n_headings += 1
        pieces += tables
        n_tables += len(tables)
    return Shallow("\n\n".join(pieces) + "\n", n_headings, n_tables)


def _keeps_heading(section: Section, *, has_tables: bool) -> bool:
    """Headings of sections, and those right above a table; none that names a task or a mode."""
    names = of_text(section.title)
    if section.level > 1 and (names.citations or names.tasks or TASK_TITLE.search(section.title)):
        return False
    return section.level <= 2 or has_tables


def _title(section: Section, lines: list[str]) -> str:
    """The heading as it was written, so that what was escaped stays so."""
    written = lines[section.line - 1].strip() if section.line <= len(lines) else ""
    match = re.fullmatch(r"#{1,6}\s+(.*?)\s*#*", written)
    return match[1] if match else " ".join(section.title.split())


def _kept(section: Section, part: Block | Table, lines: list[str]) -> list[str]:
    """A table's source where it is one of metrics or stages, without columns of evidence."""
    if not isinstance(part, Table) or not part.rows or not _is_aggregate(section, part):
        return []
    dropped = {
        place
        for place in range(len(part.header))
        if EVIDENCE_COLUMN.match(part.header[place].text) or _has_evidence(part, place)
    }
    if 0 in dropped or len(dropped) >= len(part.header) - 1:
        return []
    source = _source(part, lines)
    return ["\n".join(_without(line, dropped) if dropped else line for line in source)]


def _source(table: Table, lines: list[str]) -> list[str]:
    """The lines of a table as written: heads, rule, rows."""
    places = [table.line, table.line + 1, *(row.line for row in table.rows)]
    return [lines[place - 1].strip() for place in places]


def _is_aggregate(section: Section, table: Table) -> bool:
    heads = [cell.text for cell in table.header]
    labels = [row.cells[0].text for row in table.rows if row.cells]
    if not heads or DETAIL.match(heads[0]):
        return False
    kind = headings.kind_of(section)
    if kind in KEPT_SECTIONS:
        return True
    if kind in DIAGNOSIS:
        return False
    if any(STAGE.search(head) for head in heads):
        return True
    telling = METRIC if kind in LOOSE_SECTIONS else STRONG_METRIC
    return any(telling.search(each) for each in (*heads, *labels))


def _has_evidence(table: Table, place: int) -> bool:
    cells = [row.cells[place] for row in table.rows if place < len(row.cells)]
    told = [of_text(f"`{cell.text}`" if cell.codes else cell.text) for cell in cells]
    return any(each.citations or each.quotes for each in told)


def _without(line: str, dropped: set[int]) -> str:
    inner = line.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    cells = [cell.strip() for cell in CELL.split(inner)]
    kept = [cell for place, cell in enumerate(cells) if place not in dropped]
    return f"| {' | '.join(kept)} |"


def tables_only(text: str) -> str:
    """All headings and all tables of a report: what a script could print of it."""
    lines = without_comments(text).split("\n")
    pieces = []
    for section in read("\n".join(lines)).sections:
        if section.title:
            pieces.append(f"{'#' * section.level} {_title(section, lines)}")
        for part in section.parts:
            if isinstance(part, Table):
                pieces.append("\n".join(_source(part, lines)))
    return "\n\n".join(pieces) + "\n"
