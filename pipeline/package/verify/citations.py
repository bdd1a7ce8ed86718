"""Citations and tasks exist, and what a form says of them holds: outcome, bucket, mode and cause.

A form is a column head, a label such as `pass:` before a citation, or a heading that names a task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.citation import Citation
from pipeline.package.sources import CONTRADICTED, UNCHECKED, VERIFIED, Finding
from pipeline.package.verify.evidence import Evidence, close
from pipeline.package.verify.units import CELLS, SAID, Unit, is_headed, title_task, visible
from pipeline.text import is_redacted

NAMES = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")


def check(every: list[Unit], known: Evidence, name: str) -> Iterator[Finding]:
    """Every citation, every task named by form, and every word bound to them; `name` is a path."""
    first = next((unit.text for unit in every if unit.block.kind == "heading"), "")
    for unit in every:
        for _, start, end, each in unit.cites:
            # A task's own name may have the shape of a citation.
            told = unit.report.text[start:end].strip("` ")
            if known.exists(each) or told not in known.task_ids:
                yield cited(each, known, unit.report.line_at(start))
        yield from _tasks(unit, known)
        yield from _outcomes(unit, known)
        if unit.is_row:
            yield from _modes(unit, known)
            # Runs that a row may be about: those it names, else its headings, else the report's.
            places = [unit.text, *reversed(unit.block.path), *unit.block.heads, first, name]
            yield from _of_task(unit, known, known.runs_named(places))


def cited(each: Citation, known: Evidence, line: int) -> Finding:
    """Whether a citation is there, and what is there instead."""
    if known.exists(each):
        return Finding(line, VERIFIED, str(each), str(each), "rollouts", "citation")
    if is_redacted(str(each)):
        return Finding(line, UNCHECKED, str(each), None, "redacted", "citation")
    source = "events" if each.rollout in known.rollouts else "rollouts"
    return Finding(line, CONTRADICTED, str(each), known.nearest(each), source, "citation")


def _tasks(unit: Unit, known: Evidence) -> Iterator[Finding]:
    named = [(unit.report.line_at(start), task) for start, task in unit.tasks]
    if unit.block.kind == "heading" and (task := title_task(unit.text)):
        named.append((unit.line, task))
    for line, task in dict.fromkeys(named):
        claim = f"task {task}"
        if task in known.task_ids:
            yield Finding(line, VERIFIED, claim, claim, "task_outcomes", "task")
        elif not is_redacted(task):
            near = f"tasks there are: {close(task, sorted(known.task_ids))}"
            yield Finding(line, CONTRADICTED, claim, near, "task_outcomes", "task")


def _outcomes(unit: Unit, known: Evidence) -> Iterator[Finding]:
    """`pass: RUN/TASK:ROLLOUT`, a column of passes or failures, an outcome beside a rollout."""
    bound: list[tuple[int, Citation, bool]] = []
    for span, start, _, each in unit.cites:
        label = SAID["label"].search(unit.report.text, max(span.start, start - 12), start)
        if label is not None:
            bound.append((start, each, label["word"].lower() == "pass"))
        elif is_headed(span, "pass") or is_headed(span, "fail"):
            bound.append((start, each, is_headed(span, "pass")))
    if unit.is_row and len({each.rollout for *_, each in unit.cites}) == 1:
        _, start, _, each = unit.cites[0]
        cells = [unit.raw(span).strip(" *`") for span in unit.spans if is_headed(span, "outcome")]
        told = [match for cell in cells if (match := CELLS["outcome"].fullmatch(cell))]
        bound += [(start, each, match["pass"] is not None) for match in told]
    for start, each, is_pass in bound:
        if known.exists(each):
            truth = known.rollouts[each.rollout].is_pass
            claim = f"{each} {'passes' if is_pass else 'fails'}"
            told_so = (
                "it is not scored" if truth is None else f"it {'passes' if truth else 'fails'}"
            )
            status = VERIFIED if truth is is_pass else CONTRADICTED
            # To call what is not scored a failure is a matter of counting.
            status = UNCHECKED if truth is None and not is_pass else status
            line = unit.report.line_at(start)
            yield Finding(line, status, claim, told_so, "rollouts", "outcome")


def _modes(unit: Unit, known: Evidence) -> Iterator[Finding]:
    """A column of modes: at least one of the rollouts that a row cites has the mode."""
    there = [each for *_, each in unit.cites if each.rollout in known.rollouts]
    for span in unit.spans:
        names = [name for name in NAMES.findall(unit.raw(span)) if name in known.modes]
        if not is_headed(span, "mode") or len(names) != 1 or not there:
            continue
        (mode,) = names
        found = {name for each in there for name in known.rollouts[each.rollout].modes}
        claim = f"{mode}: {', '.join(map(str, there[:3]))}"
        status = VERIFIED if mode in found else CONTRADICTED
        told = mode if mode in found else ", ".join(sorted(found)) or "no mode"
        yield Finding(unit.line, status, claim, told, "rollout_modes", "mode")


def _of_task(unit: Unit, known: Evidence, runs: list[str]) -> Iterator[Finding]:
    """A row about one task: its bucket, its cause, and rollouts that are of it."""
    named = [task for _, task in unit.tasks if task in known.task_ids]
    listed = [] if named else unit.listed_tasks
    tasks = list(dict.fromkeys(named)) or (listed if known.task_ids.issuperset(listed) else [])
    for span in unit.spans:
        told = visible(unit.raw(span)).strip(" *`")
        bucket = CELLS["bucket"].fullmatch(told) if is_headed(span, "bucket") else None
        cause = CELLS["cause"].fullmatch(told) if is_headed(span, "cause") else None
        for task in tasks if bucket or cause else []:
            if bucket:
                given, relation = bucket["bucket"].lower(), "task_outcomes"
                found = {known.buckets[run].get(task) for run in runs if run in known.buckets}
            else:
                given, relation = told, "labels"
                found = {known.labels.get((run, task)) for run in runs}
            there = sorted(each for each in found if each)
            if there:
                status = VERIFIED if given in there else CONTRADICTED
                claim, check = f"task {task}: {given}", "bucket" if bucket else "cause"
                yield Finding(unit.line, status, claim, ", ".join(there), relation, check)
    if len(tasks) == 1 and any(is_headed(span, "task") for span in unit.spans):
        for _, start, _, each in unit.cites:
            if each.task_id != tasks[0] and known.exists(each):
                line, claim = unit.report.line_at(start), f"{each} at task {tasks[0]}"
                told = f"a rollout of task {tasks[0]}"
                yield Finding(line, CONTRADICTED, claim, told, "the row itself", "outcome")
