"""D3: golden reports, each with its sidecar, its facts and its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline.files import UnreadableError
from pipeline.package.files import names_in, text_of
from pipeline.package.layout import DRAFTS, GOLDEN_REPORTS, Golden, Package
from pipeline.package.reading import read
from pipeline.package.statements import statements
from pipeline.package.validate import anchor_facts, metrics, report, shallow
from pipeline.package.validate.check import Check, Rule, counted, listed
from pipeline.package.validate.data import Data
from pipeline.package.verify import CONTRADICTED, Finding, sidecar, verify
from pipeline.report.sources import Opened

MOST_FINDINGS = 10
PRESENT = Rule(
    "golden.present",
    "D3 golden report",
    "No curated report was found: drafts do not count.",
    "Write golden_reports/<model>_golden_report.md; "
    "`blade init` leaves drafts to begin with in golden_reports/drafts.",
    "D3 golden report missing",
)
VERIFIED = Rule(
    "golden.verified",
    "report agrees with the rollouts",
    "A figure, citation or quote of the report is not what the data say.",
    "Correct it; `blade verify REPORT` tells all findings.",
)
ORPHANS = Rule(
    "golden.orphans",
    "every file belongs to a report",
    "The file belongs to no golden report, by its name.",
    "Name it after its report's model, or remove it.",
)
Contradictions = Mapping[Path, Sequence[Finding]]


def checks(
    package: Package,
    known: Data | None,
    contradictions: Contradictions | None,
    *,
    least_facts: int,
) -> list[Check]:
    """All checks of D3, report by report."""
    if not package.goldens:
        return [_absent(package), *_orphans(package)]
    found = [each.report.name for each in package.goldens]
    listing = [PRESENT.passed(f"{counted(len(found), 'report')}: {listed(found)}")]
    for golden in package.goldens:
        listing += _of_report(golden, known, contradictions, least_facts)
    return [*listing, *_orphans(package)]


def findings(package: Package, warehouse: Opened) -> Contradictions:
    """What `blade verify` finds in each golden report that can be read."""
    found = {}
    for golden in package.goldens:
        try:
            text = text_of(golden.report)
        except UnreadableError:
            continue
        try:
            side = sidecar.read(text_of(golden.metrics), golden.metrics.name)
        except UnreadableError:
            side = None
        found[golden.report] = verify(text, golden.report.as_posix(), warehouse, side)
    return found


def _absent(package: Package) -> Check:
    drafts = names_in(package.folder / GOLDEN_REPORTS / DRAFTS)
    told = f"; {counted(len(drafts), 'file')} in drafts" if drafts else ""
    return PRESENT.failed(f"no golden_reports/*_golden_report.md{told}")


def _of_report(
    golden: Golden, known: Data | None, contradictions: Contradictions | None, least_facts: int
) -> list[Check]:
    name = f"{GOLDEN_REPORTS}/{golden.report.name}"
    try:
        text = text_of(golden.report)
    except UnreadableError as error:
        return [PRESENT.failed(f"{name} {error}", file=name)]
    reading = read(text)
    told = statements(reading)
    listing = report.checks(golden, reading, known)
    listing += _verified(golden, contradictions, name)
    if golden.is_comparison:
        return listing
    return [
        *listing,
        *metrics.checks(golden, told, known),
        *anchor_facts.checks(golden, told, known, least=least_facts),
        *shallow.checks(golden, reading),
    ]


def _verified(golden: Golden, contradictions: Contradictions | None, name: str) -> Iterator[Check]:
    findings = None if contradictions is None else contradictions.get(golden.report)
    if findings is None:
        yield VERIFIED.skipped("the report was not held against the rollouts", file=name)
        return
    wrong = [each for each in findings if each.status == CONTRADICTED]
    for each in wrong[:MOST_FINDINGS]:
        expected = f", expected {each.expected}" if each.expected else ""
        told = f"{each.file}:{each.line} {each.claim}{expected}"
        yield VERIFIED.failed(told, file=f"{GOLDEN_REPORTS}/{each.file}", line=each.line)
    if len(wrong) > MOST_FINDINGS:
        yield VERIFIED.failed(f"{name}: {len(wrong) - MOST_FINDINGS} more", file=name)
    if not wrong:
        yield VERIFIED.passed(f"{name}: {counted(len(findings), 'claim')} looked at", file=name)


def _orphans(package: Package) -> Iterator[Check]:
    folder = package.folder / GOLDEN_REPORTS
    owned = {
        path.name
        for each in package.goldens
        for path in (each.report, each.metrics, each.anchor_facts, each.shallow)
    }
    for name in names_in(folder):
        if name not in owned and name.endswith(
            ("_facts.json", "-facts.json", "_metrics.json", "_shallow.md", "-shallow.md")
        ):
            file = f"{GOLDEN_REPORTS}/{name}"
            yield ORPHANS.warned(file, file=file)
