"""Placeholders of a sanitized report: each is one that the redaction log lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.package.sanitize.log import RedactionLog
from pipeline.package.sanitize.values import PLACEHOLDER
from pipeline.package.verify.data import Source
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.passages import Passage

CHECK = "redaction"
SOURCE = "redactions.json"


def check(found: list[Passage], log: RedactionLog, file: str) -> Iterator[Finding]:
    """Every placeholder that stands in the report's text."""
    listed = {redaction.placeholder for redaction in log.redactions}
    for passage in found:
        for piece in passage.pieces:
            text = piece.block.text
            for match in PLACEHOLDER.finditer(text, piece.start, piece.end):
                line = piece.line_at(match.start())
                if match[0] in listed or f"[{match[0]}]" in listed:
                    yield Finding(line, VERIFIED, match[0], match[0], SOURCE, CHECK, file)
                else:
                    told = f"{SOURCE} does not list it"
                    yield Finding(line, UNVERIFIABLE, match[0], None, told, CHECK, file)


# What rules read out of text: an address that was taken out is an address no rule can follow.
READ_FROM_TEXT = (
    *("report.modes", "report.mode_totals", "failure_modes", "rollout_modes", "mode_tests"),
    *("recommendations", "associations", "ablation", "root_causes", "report.causes"),
    *("suspicions", "error_signatures", "report.separators", "separators"),
    *("report.dives", "report.contrasts", "contrasts", "report.never_counts", "report.findings"),
    *("flips", "report.ledgers", "report.gaps"),
)
SIDECAR_KEYS = (
    *("dominant_failure", "unexplained", "failure_modes", "root_causes", "recommendations"),
)
REDACTED = "these data are redacted, and what is read from their text may differ"


def softened(findings: list[Finding], source: Source) -> list[Finding]:
    """What redaction may have changed in the data contradicts nobody."""
    if not any(_is_soft(finding) for finding in findings) or not _has_placeholders(source):
        return findings
    return [
        replace(finding, status=UNVERIFIABLE, expected=None, source=f"{finding.source}: {REDACTED}")
        if _is_soft(finding)
        else finding
        for finding in findings
    ]


def _is_soft(finding: Finding) -> bool:
    if finding.status != CONTRADICTED:
        return False
    if finding.check == "sidecar":
        return finding.claim.startswith(SIDECAR_KEYS)
    relation = finding.source.partition("?")[0].partition("#")[0]
    return relation in READ_FROM_TEXT or finding.check == "mode"


def _has_placeholders(source: Source) -> bool:
    rows = source.execute(
        "select 1 from main.events where contains(text, 'redacted') "
        "or contains(arguments, 'redacted') limit 1"
    )
    return bool(rows.fetchall())
