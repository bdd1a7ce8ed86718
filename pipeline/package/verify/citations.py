"""Citations and tasks exist, and what a form says of them holds: outcome, bucket, mode and cause.

A form is a column head, a label such as `pass:` before a citation, or a heading that names a task.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.citation import Citation
from pipeline.package.sources import CONTRADICTED, JUDGED, UNCHECKED, VERIFIED, Finding, Opened
from pipeline.package.verify.units import (
    CELLS,
    FORMS,
    Unit,
    is_headed,
    names_in,
    title_task,
    visible,
)
from pipeline.text import is_redacted

OUTCOMES = {True: "passes", False: "fails", None: "is not scored"}
LARGEST = 2**31 - 1
MOST_NAMES, MOST_KNOWN = 3, 10_000
QUERIES: dict[str, str] = FORMS["queries"]

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Rollout:
    """A rollout that is cited: how it went, none where it is not scored, and its modes."""

    is_pass: bool | None
    n_events: int
    modes: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """Everything that is cited and there, and the names of all that could be."""

    source: Opened
    rollouts: Mapping[Key, Rollout]
    # Models by run; buckets, and curated causes, by run and task.
    models: Mapping[str, str | None]
    buckets: Mapping[tuple[str, str], str]
    labels: Mapping[tuple[str, str], str]
    modes: frozenset[str]
    task_ids: frozenset[str]

    def exists(self, each: Citation) -> bool:
        """Whether a rollout, and the event of it that is meant, is there."""
        found = self.rollouts.get(each.rollout)
        return found is not None and (each.seq is None or 1 <= each.seq <= found.n_events)

    def nearest(self, each: Citation) -> str:
        """What there is instead of a citation that cites nothing."""
        if each.run_id not in self.models:
            return f"runs: {close(each.run_id, self.models)}"
        if (each.run_id, each.task_id) not in self.buckets:
            tasks = (task for run, task in self.buckets if run == each.run_id)
            return f"tasks of this run: {close(each.task_id, tasks)}"
        if each.rollout in self.rollouts:
            n_events = self.rollouts[each.rollout].n_events
            return f"events of this rollout: 1 to {n_events}" if n_events else "it has no events"
        rows = self.source.execute(QUERIES["indexes"], [each.run_id, each.task_id])
        there = ", ".join(str(index) for (index,) in rows.fetchall())
        return f"rollouts of this task: {there or 'none'}"

    def runs_named(self, texts: Iterable[str]) -> list[str]:
        """The runs that the first of these texts to name any names, by id or model; else all."""
        for text in texts:
            named = [run for run in self.models if run in text]
            named = named or [run for run, model in self.models.items() if model and model in text]
            if named:
                return named
        return [*self.models]


def evidence(source: Opened, cited: Iterable[Citation]) -> Evidence:
    """All that the checks of citations ask for, read once."""
    keys = list(dict.fromkeys(each.rollout for each in cited if each.rollout_index <= LARGEST))
    rollouts = {
        (run, task, index): Rollout(is_pass, n_events, frozenset(modes))
        for run, task, index, is_pass, n_events, modes in asked(source, "rollouts", keys)
    }
    models, buckets, labels, modes = (
        source.execute(QUERIES[name]).fetchall()
        for name in ("models", "buckets", "labels", "modes")
    )
    return Evidence(
        source,
        rollouts,
        dict(models),
        {(run, task): bucket for run, task, bucket in buckets},
        {(run, task): cause for run, task, cause in labels},
        frozenset(mode for (mode,) in modes),
        frozenset(task for _, task, _ in buckets),
    )


def asked(source: Opened, name: str, keys: Sequence[Key]) -> list[Any]:
    """What a query by its name says of these rollouts."""
    if not keys:
        return []
    bound = [list(column) for column in zip(*keys, strict=True)]
    query = f"with asked as ({QUERIES['asked']}) {QUERIES[name]}"
    rows: list[Any] = source.execute(query, bound).fetchall()
    return rows


def close(name: str, known: Iterable[str]) -> str:
    """The most alike of the names there are: by number where both are numbers."""
    every = list(known)[:MOST_KNOWN]
    if name.isdecimal() and len(name) < 10 and all(each.isdecimal() for each in every):
        order = sorted(every, key=lambda each: (abs(int(each) - int(name)), int(each)))
        return ", ".join(order[:MOST_NAMES])
    return ", ".join(difflib.get_close_matches(name, every, MOST_NAMES, 0.0)) or "none"


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
        if label := unit.label(span, start):
            bound.append((start, each, label == "pass"))
        elif is_headed(span, "pass") or is_headed(span, "fail"):
            bound.append((start, each, is_headed(span, "pass")))
    if unit.is_row and len({each.rollout for each in unit.cited}) == 1:
        _, start, _, each = unit.cites[0]
        cells = [unit.raw(span).strip(" *`") for span in unit.spans if is_headed(span, "outcome")]
        told = [match for cell in cells if (match := CELLS["outcome"].fullmatch(cell))]
        bound += [(start, each, match["pass"] is not None) for match in told]
    for start, each, is_pass in bound:
        if known.exists(each):
            truth = known.rollouts[each.rollout].is_pass
            # To call what is not scored a failure is a matter of counting.
            is_unknown = truth is None and not is_pass
            status = UNCHECKED if is_unknown else JUDGED[truth is is_pass]
            line, claim = unit.report.line_at(start), f"{each} {OUTCOMES[is_pass]}"
            yield Finding(line, status, claim, f"it {OUTCOMES[truth]}", "rollouts", "outcome")


def _modes(unit: Unit, known: Evidence) -> Iterator[Finding]:
    """A column of modes: at least one of the rollouts that a row cites has the mode."""
    there = [each for each in unit.cited if each.rollout in known.rollouts]
    for span in unit.spans:
        if not is_headed(span, "mode") or not there:
            continue
        names = names_in(visible(unit.raw(span)), known.modes)
        if len(names) != 1:
            continue
        (mode,) = names
        found = {name for each in there for name in known.rollouts[each.rollout].modes}
        claim = f"{mode}: {', '.join(map(str, there[:3]))}"
        told = mode if mode in found else ", ".join(sorted(found)) or "no mode"
        yield Finding(unit.line, JUDGED[mode in found], claim, told, "rollout_modes", "mode")


def _of_task(unit: Unit, known: Evidence, runs: list[str]) -> Iterator[Finding]:
    """A row about one task: its bucket, its cause, and rollouts that are of it."""
    named = [task for _, task in unit.tasks if task in known.task_ids]
    listed = [] if named else unit.listed_tasks
    tasks = list(dict.fromkeys(named)) or (listed if known.task_ids.issuperset(listed) else [])
    kinds = ("bucket", "task_outcomes", known.buckets), ("cause", "labels", known.labels)
    for span in unit.spans:
        told = visible(unit.raw(span)).strip(" *`")
        for check, relation, said in kinds:
            match = CELLS[check].fullmatch(told) if is_headed(span, check) else None
            given = match["bucket"].lower() if match and check == "bucket" else told
            for task in tasks if match else ():
                found = {said.get((run, task)) for run in runs}
                if there := sorted(each for each in found if each):
                    claim, status = f"task {task}: {given}", JUDGED[given in there]
                    yield Finding(unit.line, status, claim, ", ".join(there), relation, check)
    if len(tasks) == 1 and any(is_headed(span, "task") for span in unit.spans):
        for _, start, _, each in unit.cites:
            if each.task_id != tasks[0] and known.exists(each):
                line, claim = unit.report.line_at(start), f"{each} at task {tasks[0]}"
                told = f"a rollout of task {tasks[0]}"
                yield Finding(line, CONTRADICTED, claim, told, "the row itself", "outcome")
