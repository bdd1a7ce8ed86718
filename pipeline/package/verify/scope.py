"""Which runs and tasks a passage speaks of: by its words, its headings, or the report's subject."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pipeline.package.verify.citations import cited, heading_tasks, named_tasks
from pipeline.package.verify.evidence import Evidence
from pipeline.package.verify.passages import Passage

OTHERS = re.compile(
    r"\b(?:both|either|each) (?:runs?|models?)\b|\b(?:other|another|reference|second) (?:run|"
    r"model)\b"
    r"|\bbaseline\b|\bacross (?:runs|models)\b|\ball runs\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Scope:
    """The runs of the data, by what a report may call them, and those it is about."""

    runs: tuple[str, ...]
    # A pattern a run: its name, or its model's where no other run of the report has it.
    names: tuple[tuple[str, re.Pattern[str]], ...]
    subjects: tuple[str, ...]
    task_ids: frozenset[str]

    def named(self, text: str) -> list[str]:
        """The runs that a text names."""
        return [run for run, pattern in self.names if pattern.search(text)]

    @lru_cache(maxsize=1_000)  # noqa: B019 - a scope lives as long as its call
    def runs_of(self, passage: Passage, head: str = "") -> list[str]:
        """The runs that a passage is about."""
        for text in (passage.text, head):
            found = self.named(text)
            if found:
                return found
        if OTHERS.search(passage.text):
            return list(self.runs)
        for title in reversed(passage.titles):
            found = self.named(title)
            if found:
                return found
        return list(self.subjects)

    @lru_cache(maxsize=1_000)  # noqa: B019
    def tasks_of(self, passage: Passage) -> list[str]:
        """The tasks that a passage names or cites, else those of the heading above it."""
        return self.own_tasks(passage) or [
            task for task in heading_tasks(passage) if task in self.task_ids
        ]

    @lru_cache(maxsize=1_000)  # noqa: B019
    def own_tasks(self, passage: Passage) -> list[str]:
        """The tasks that a passage itself names or cites."""
        own = [task for piece in passage.pieces for _, task in named_tasks(passage, piece)]
        own += [each.task_id for each in cited(passage)]
        return [task for task in dict.fromkeys(own) if task in self.task_ids]


def scope(found: list[Passage], evidence: Evidence, name: str, run: str | None) -> Scope:
    """What a report is about: the run its sidecar names, its own name or its title does."""
    names = tuple((each, _pattern(each, evidence)) for each in evidence.runs)
    every = Scope(evidence.runs, names, evidence.runs, evidence.task_ids)
    title = " ".join(passage.text for passage in found[:1] if passage.kind == "heading")
    cited_runs = sorted({each.run_id for passage in found for each in cited(passage)})
    guesses: list[Iterable[str]] = [
        [run] if run is not None else [],
        [each for each in evidence.runs if f"/{each}/" in f"/{name}"],
        every.named(title),
        every.named(name.rpartition("/")[2]),
        [each for each in cited_runs if each in evidence.runs],
    ]
    for guess in guesses:
        subjects = tuple(each for each in guess if each in evidence.runs)
        if subjects:
            return Scope(every.runs, names, subjects, every.task_ids)
    return every


def _pattern(run: str, evidence: Evidence) -> re.Pattern[str]:
    model = evidence.models.get(run)
    same = [each for each, other in evidence.models.items() if other == model]
    benchmarks = {evidence.benchmarks.get(each) for each in same}
    words = [run]
    if model and (len(same) == 1 or len(benchmarks) == len(same)):
        words.append(model.rpartition("/")[2])
    told = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<![\w-])(?:{told})(?![\w-])", re.IGNORECASE)
