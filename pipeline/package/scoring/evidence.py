"""Whether a report's citations exist, and stand with what the golden report says of their tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from pipeline.citation import Citation
from pipeline.package.scoring.passages import Passage, Report

# A word tells tasks apart when at most this share of those cited is spoken of with it.
TELLING_SHARE = 0.34
AGREEING_SHARE = 0.4
FEWEST_TELLING = 3
# Of the golden report's rollouts, so many suffice: others may show the same.
ENOUGH_ROLLOUTS = 0.4
Resolves = Callable[[Sequence[Citation]], Collection[Citation]]


@dataclass(frozen=True)
class Evidence:
    """What a report cites, of what the golden report does."""

    n_cited: int
    n_resolved: int
    # Statements that can be held against the golden report's of their tasks, and those that agree.
    n_compared: int
    n_agreeing: int
    n_tasks: int
    n_golden_tasks: int
    # Rollouts cited in sentences about these tasks.
    n_rollouts: int
    n_golden_rollouts: int

    @property
    def soundness(self) -> float:
        """How far what is cited exists and says so; one where nothing is cited."""
        resolved = self.n_resolved / self.n_cited if self.n_cited else 1.0
        agreeing = self.n_agreeing / self.n_compared if self.n_compared else 1.0
        return resolved * agreeing

    @property
    def coverage(self) -> float:
        """Of the tasks that the golden report speaks of, how many are here, and are cited."""
        if not self.n_golden_tasks:
            return 0.0
        tasks = self.n_tasks / self.n_golden_tasks
        if not self.n_golden_rollouts:
            return tasks
        enough = ENOUGH_ROLLOUTS * self.n_golden_rollouts
        return (tasks + min(1.0, self.n_rollouts / enough)) / 2

    @property
    def score(self) -> float | None:
        """From 0 to 1; none where the golden report itself cites nothing."""
        return self.soundness * self.coverage if self.n_golden_tasks else None


def evidence(
    report: Report, golden: Report, resolves: Resolves | None, *, least: float
) -> Evidence:
    """Citations and named tasks of sentences, against those of the golden report.

    Statements with a smaller share of function words than `least` are lists and cite nothing.
    """
    bags, known = _bags(golden), _citations(golden)
    telling = frozenset(word for bag in bags.values() for word in bag)
    has_sentences = bool(_tasks(golden, least, of_rows=False))
    wanted = _tasks(golden, least, of_rows=not has_sentences)
    own = [each for each in report.statements if each.tasks]
    cited = [citation for each in own for citation in each.citations]
    judged = [
        found for each in own for found in [_agrees(each, bags, telling)] if found is not None
    ]
    if resolves is None:
        sound = [each for each in cited if each.rollout in known]
    else:
        found = frozenset(resolves(cited))
        sound = [each for each in cited if each in found]
    return Evidence(
        n_cited=len(cited),
        n_resolved=len(sound),
        n_compared=len(judged),
        n_agreeing=sum(judged),
        n_tasks=len(_tasks(report, least, of_rows=not has_sentences) & wanted),
        n_golden_tasks=len(wanted),
        n_rollouts=len(_rollouts(report, least) & {each.rollout for each in sound}),
        n_golden_rollouts=len(_rollouts(golden, least)),
    )


def _bags(golden: Report) -> dict[str, frozenset[str]]:
    """What tells a task from others: words of statements that name it, and name few others."""
    content: dict[str, set[str]] = {}
    for each in golden.statements:
        for task in each.tasks:
            content.setdefault(task, set()).update(each.content, each.names)
    frequency = Counter(word for words in content.values() for word in words)
    most = max(1, int(TELLING_SHARE * len(content)))
    return {
        task: frozenset(word for word in words if frequency[word] <= most)
        for task, words in content.items()
    }


def _agrees(
    statement: Passage, bags: Mapping[str, frozenset[str]], telling: frozenset[str]
) -> bool | None:
    """Whether it says of its tasks what the golden report does; none where too little tells."""
    known = [bags[task] for task in statement.tasks if task in bags]
    own = {word for word in (*statement.content, *statement.names) if word in telling}
    own -= set(statement.tasks)
    if not known or len(own) < FEWEST_TELLING:
        return None
    said = sum(any(word in bag for bag in known) for word in own)
    return said >= AGREEING_SHARE * len(own)


def _tasks(report: Report, least: float, *, of_rows: bool) -> set[str]:
    """The tasks that sentences name, or those that rows do."""
    return {
        task
        for each in report.statements
        if each.is_row == of_rows and (of_rows or each.flow.reads(least))
        for task in each.tasks
    }


def _citations(golden: Report) -> set[tuple[str, str, int]]:
    return {cited.rollout for each in golden.statements for cited in each.citations}


def _rollouts(report: Report, least: float) -> set[tuple[str, str, int]]:
    """The rollouts that sentences cite."""
    return {
        cited.rollout
        for each in report.statements
        if not each.is_row and each.flow.reads(least)
        for cited in each.citations
    }
