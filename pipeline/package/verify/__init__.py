"""Report and data -> every figure, citation, quote and sum verified, contradicted or unchecked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pipeline.package import sources
from pipeline.package.blocks import read
from pipeline.package.sources import CONTRADICTED, UNCHECKED, VERIFIED, Finding, Opened
from pipeline.package.verify import arithmetic, citations, facts, quotes, sidecar
from pipeline.package.verify.units import FORMS, units
from pipeline.report import content
from pipeline.report.sidecar import run_object

STATUSES = (VERIFIED, CONTRADICTED, UNCHECKED)
CHECKS: dict[str, list[str]] = FORMS["checks"]
GROUPS = tuple(dict.fromkeys(group for group, _ in CHECKS.values()))
READ_FROM_TEXT = re.compile(FORMS["redacted"]["from_text"])
REDACTED = "these data are redacted, and what is read from their text may differ"

__all__ = ["CONTRADICTED", "UNCHECKED", "VERIFIED", "Finding", "fix", "summary", "verify"]


def verify(
    text: str,
    name: str,
    source: Opened | None = None,
    metrics: sidecar.Sidecar | None = None,
    anchors: facts.FactsFile | None = None,
) -> list[Finding]:
    """All findings on a report, its sidecar and its facts, in the order of their lines.

    `name` is the report's path: its last part names the file, all of it may name the run.
    """
    report, file = read(text), name.rpartition("/")[2]
    answers = sources.Answers(source) if source is not None else None
    instead = sidecar.answering(metrics) if metrics and metrics.fault is None else None
    findings, known = sources.compared(report, answers or instead), None
    if source is not None:
        every = units(report)
        told = [each for unit in every for each in unit.cited]
        known = citations.evidence(source, [*told, *(anchors.citations if anchors else ())])
        findings += citations.check(every, known, name)
        findings += quotes.check(every, known)
    settled = sorted(each.span[0] for each in findings if each.span and each.status == VERIFIED)
    findings += arithmetic.check(report, settled)
    findings = [replace(each, file=file) for each in findings]
    if anchors is not None:
        checked = facts.check(anchors, known, answers)
        findings += [replace(each, file=anchors.file) for each in checked]
    if metrics is not None and (source is not None or metrics.fault is not None):
        runs = content.runs(source) if source is not None else []
        findings += sidecar.check(metrics, {run.run_id: run_object(run) for run in runs})
    if source is not None:
        findings = _softened(findings, source)
    return sorted(findings, key=lambda each: (each.file, each.line))


def fix(finding: Finding) -> str:
    """What to do about a contradiction."""
    return CHECKS[finding.check][1]


def summary(findings: Iterable[Finding]) -> dict[str, Any]:
    """How many of each group hold, do not hold, and were not checked."""
    counts = {name: dict.fromkeys(STATUSES, 0) for name in GROUPS}
    for finding in findings:
        counts[CHECKS[finding.check][0]][finding.status] += 1
    return {**counts, **{each: sum(group[each] for group in counts.values()) for each in STATUSES}}


def _softened(findings: list[Finding], source: Opened) -> list[Finding]:
    """What redaction may have changed in the data contradicts nobody."""

    def is_soft(each: Finding) -> bool:
        told = each.claim if each.check == "sidecar" else each.source
        return each.status == CONTRADICTED and bool(READ_FROM_TEXT.search(told))

    if not any(map(is_soft, findings)):
        return findings
    is_redacted = bool(source.execute(citations.QUERIES["redacted"]).fetchall())
    return [
        replace(each, status=UNCHECKED, expected=None, source=f"{each.source}: {REDACTED}")
        if is_redacted and is_soft(each)
        else each
        for each in findings
    ]
