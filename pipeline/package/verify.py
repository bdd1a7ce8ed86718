"""Report and data -> every figure, name, citation, quotation and sum verified or contradicted.

What has no source, citation or sum of its own is unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..report import aliases, content
from ..report.sidecar import run_object
from . import arithmetic, evidence, facts, sidecar
from .blocks import read
from .compare import compared
from .findings import CONTRADICTED, UNCHECKED, VERIFIED, Finding
from .passages import passages
from .queries import Answers, Opened

STATUSES = (VERIFIED, CONTRADICTED, UNCHECKED)
CITED = "Write what the data say, or cite a rollout or task of which it is true."
# Checks by name: the group that a summary counts them in, and what to do about a contradiction.
CHECKS = {
    "source": ("numbers", "Write what the query gives (--fix does), or correct the query."),
    "length": ("numbers", ""),
    "citation": ("citations", "Cite a rollout that exists; blade show opens it."),
    "task": ("citations", "Name a task or run that exists."),
    "outcome": ("citations", CITED),
    "bucket": ("citations", CITED),
    "mode": ("citations", CITED),
    "cause": ("citations", "Write the cause that the label gives, or correct the label."),
    "quote": ("quotes", "Quote what is there, or cite where it is written."),
    "ratio": ("arithmetic", "Correct the figures: they do not belong together."),
    "total": ("arithmetic", "Correct the total, the rows or the whole that the head names."),
    "repeated": ("arithmetic", "Make both places say the same."),
    "sidecar": ("sidecar", "Make report, sidecar and data agree; blade metrics RUN prints them."),
    "fact": ("facts", "Correct the value of the fact, or the query behind it."),
}
GROUPS = tuple(dict.fromkeys(group for group, _ in CHECKS.values()))
# Relations that are made from text: what was redacted there is not counted.
FROM_TEXT = re.compile(
    r"\b(?:modes|signs|failure_modes|rollout_modes|mode_slices|recommendations|root_causes"
    r"|error_signatures|expected_calls|expected_tools|checks|stuck_checks|near_misses|failure_notes"
    r"|dives|contrasts|check_contrasts|findings|flips|flip_signs|ledgers?|gaps|looked)\b"
    r"|^dominant_failure"
)
REDACTED = "these data are redacted, and what is read from their text may differ"


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
    if source is not None:
        full_names = {alias: run for run, alias in aliases.read(source).items()}
        report = replace(report, full_names=full_names)
        anchors = facts.with_full_names(anchors, full_names) if anchors else None
    answers = Answers(source) if source is not None else None
    usable = metrics if metrics is not None and metrics.fault is None else None
    findings = compared(report, answers or (sidecar.answering(usable) if usable else None))
    known = None
    if source is not None:
        cites = [each for one in passages(report) for *_, each in one.cites]
        known = evidence.evidence(source, [*cites, *(anchors.citations if anchors else ())])
        findings += evidence.check(report, known, name)
    verified_at = sorted(each.span[0] for each in findings if each.span and each.status == VERIFIED)
    findings += arithmetic.check(report, verified_at)
    findings = [replace(each, file=file) for each in findings]
    if anchors is not None:
        checked = facts.check(anchors, known, answers)
        findings += [replace(each, file=anchors.file) for each in checked]
    if metrics is not None:
        if source is not None or metrics.fault is not None:
            runs = content.runs(source) if source is not None else []
            findings += sidecar.check(metrics, {run.run_id: run_object(run) for run in runs})
        findings += sidecar.beside(metrics, report)
    if source is not None:
        findings = _softened(findings, source)
    return sorted(findings, key=lambda each: (each.file, each.line))


def advice(finding: Finding) -> str:
    # A draft with labels of its own has shares that the analysis did not know.
    if "read_shares" in finding.claim and finding.expected == "one row":
        return "Name the file of labels that the share is of: --labels labels.jsonl"
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
        words = each.claim if each.check == "sidecar" else each.source
        return each.status == CONTRADICTED and bool(FROM_TEXT.search(words))

    if not any(map(is_soft, findings)):
        return findings
    is_redacted = bool(source.execute(evidence.QUERIES["redacted"]).fetchall())
    return [
        replace(
            each, status=UNCHECKED, expected=None, source=f"{each.source}: {REDACTED}", edits=()
        )
        if is_redacted and is_soft(each)
        else each
        for each in findings
    ]
