"""Report and data -> every figure and citation verified, contradicted or unverifiable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline.package.reading import LONGEST_BLOCK, MOST_LINES, read
from pipeline.package.sanitize.log import RedactionLog
from pipeline.package.verify import (
    bound,
    buckets,
    citations,
    marked,
    outcomes,
    quotes,
    ratios,
    redactions,
    repeated,
    sidecar,
    totals,
    unmarked,
)
from pipeline.package.verify.data import Relations, Source, opened
from pipeline.package.verify.evidence import Evidence, evidence
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.known import known
from pipeline.package.verify.passages import Passage, passages
from pipeline.package.verify.scope import scope
from pipeline.package.verify.sidecar import Sidecar
from pipeline.report import content
from pipeline.report.sidecar import run_object

NOTHING = "no data to hold it against"
TOO_LONG = f"beyond {LONGEST_BLOCK:,} characters of one text or {MOST_LINES:,} lines: not read"


def verify(
    text: str,
    name: str,
    source: Source | None = None,
    metrics: Sidecar | None = None,
    log: RedactionLog | None = None,
) -> list[Finding]:
    """All findings on a report and its sidecar, in the order of their lines.

    `name` is the report's path: its last part names the file, its folders may name the run.
    """
    reading = read(text)
    found = passages(reading)
    file = name.rpartition("/")[2]
    told: list[Finding] = []
    if source is not None:
        told = redactions.softened(_against_data(found, name, source, metrics), source)
    elif metrics is not None and metrics.fault is None:
        told = _against_metrics(found, name, metrics)
    else:
        told = _against_nothing(found, file)
    findings = [*ratios.check(found, file), *_blamed(list(totals.check(found, file)), told)]
    findings += told
    findings += [
        Finding(line, UNVERIFIABLE, f"a text of {n:,} characters", None, TOO_LONG, "length", file)
        for line, n in reading.unread
    ]
    findings += redactions.check(found, log, file) if log is not None else []
    findings += repeated.check(found, told, file)
    if metrics is not None and (source is not None or metrics.fault is not None):
        findings += _of_sidecar(found, name, source, metrics)
    return sorted(findings, key=_place)


def _blamed(sums: list[Finding], told: list[Finding]) -> list[Finding]:
    """Totals without those that the data bear out: there a row is wrong, and is told itself.

    By its words alone a number may be borne out by chance: then a row must be known to be wrong.
    """
    right = {(each.line, each.expected): each.check for each in told if each.status == VERIFIED}
    wrong = [each.line for each in told if each.status == CONTRADICTED]

    def is_right(total: Finding) -> bool:
        check = right.get((total.line, total.claim.rpartition(" ")[2]))
        first, last = totals.lines(total)
        return check == marked.CHECK or (
            check is not None and any(first <= line <= last for line in wrong)
        )

    return [each for each in sums if each.status != CONTRADICTED or not is_right(each)]


def _against_data(
    found: list[Passage], name: str, source: Source, metrics: Sidecar | None
) -> list[Finding]:
    file, data = name.rpartition("/")[2], opened(source)
    there = evidence(data, [each for passage in found for each in passage.citations])
    run = metrics.run if metrics is not None else None
    about = scope(found, there, name, str(run["run_id"]) if run and "run_id" in run else None)
    tasks = {task for passage in found for task in about.tasks_of(passage)}
    return [
        *marked.check(marked.marked(found), data, file),
        *unmarked.check(found, known(data, there, about, tasks), file),
        *citations.check(found, there, file),
        *outcomes.check(found, there, file),
        *bound.check(found, there, file),
        *buckets.check(found, data, about, file),
        *quotes.check(found, data, there, file),
    ]


def _against_metrics(found: list[Passage], name: str, metrics: Sidecar) -> list[Finding]:
    """Without rollouts: what a sidecar holds, and nothing of what is cited."""
    file = name.rpartition("/")[2]
    runs = _runs(metrics)
    return _against_held(found, name, sidecar.held(runs), runs, file)


def _against_held(
    found: list[Passage],
    name: str,
    data: Relations,
    runs: Mapping[str, Mapping[str, Any]],
    file: str,
) -> list[Finding]:
    there = _without_rollouts(runs)
    about = scope(found, there, name, next(iter(runs)) if len(runs) == 1 else None)
    return [
        *marked.check(marked.marked(found), data, file),
        *unmarked.check(found, known(data, there, about, ()), file),
    ]


def _against_nothing(found: list[Passage], file: str) -> list[Finding]:
    """Every number is unverifiable but for what the report says itself."""
    return [
        Finding(
            piece.line_at(number.start), UNVERIFIABLE, number.text, None, NOTHING, "number", file
        )
        for passage in found
        for place, piece in enumerate(passage.pieces)
        if not unmarked.is_no_claim(passage, place)
        for number in piece.numbers
    ]


def _of_sidecar(
    found: list[Passage], name: str, source: Source | None, metrics: Sidecar
) -> list[Finding]:
    """The sidecar against the data, and the report's figures against the sidecar."""
    known_runs = {run.run_id: run_object(run) for run in content.runs(source)} if source else {}
    findings = list(sidecar.check(metrics, known_runs))
    findings = redactions.softened(findings, source) if source is not None else findings
    runs = {
        run: given
        for _, given in metrics.runs
        for run in [sidecar.run_of(given, known_runs)]
        if run is not None
    }
    if not runs:
        return findings
    file = name.rpartition("/")[2]
    for each in _against_held(found, name, sidecar.held(runs), runs, file):
        # What the sidecar does not hold says nothing about the report.
        if each.status != UNVERIFIABLE:
            told = f"{metrics.file}: {each.source}"
            findings.append(replace(each, check=sidecar.CHECK, source=told))
    return findings


def _runs(metrics: Sidecar) -> dict[str, Mapping[str, Any]]:
    named = (
        (given.get("run_id") or given.get("model_name") or given.get("model") or "run", given)
        for _, given in metrics.runs
    )
    return {str(run): given for run, given in named}


def _without_rollouts(runs: Mapping[str, Mapping[str, Any]]) -> Evidence:
    told = {run: sidecar.canonical(given) for run, given in runs.items()}
    return Evidence(
        rollouts={},
        events={},
        runs=tuple(sorted(runs)),
        indexes={},
        tasks={},
        models={
            run: str(each["model_name"]) for run, each in told.items() if each.get("model_name")
        },
        benchmarks={
            run: str(each["benchmark"]) for run, each in told.items() if each.get("benchmark")
        },
        modes=frozenset(),
        tools=frozenset(),
        checks=frozenset(),
    )


def _place(finding: Finding) -> tuple[str, int]:
    return finding.file, finding.line
