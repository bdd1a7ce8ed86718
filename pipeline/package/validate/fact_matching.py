"""Whether two facts say the same, and whether a report makes the claim of a fact."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pipeline.package.statements import Statement, of_text

SAME = 0.8
CLAIMED = 0.6
# A fact may draw on a few sentences that follow one another.
WINDOW = 3


def copies_of(facts: Sequence[Statement]) -> list[int | None]:
    """For each fact the place of an earlier one that says the same; none where it is new."""
    found: list[int | None] = []
    for place, fact in enumerate(facts):
        earlier = (at for at in range(place) if found[at] is None and _is_same(fact, facts[at]))
        found.append(next(earlier, None))
    return found


def is_in_report(fact: Statement, told: Sequence[Statement]) -> bool:
    """Whether sentences that stand together have its words, its numbers and its tasks."""
    for _, together in groupby(told, key=lambda statement: statement.section.line):
        near = list(together)
        headed = of_text(near[0].section.title).tasks
        for start in range(len(near)):
            if _claims(near[start : start + WINDOW], fact, headed):
                return True
    return False


def _is_same(one: Statement, other: Statement) -> bool:
    if _figures(one) != _figures(other) or set(one.tasks) != set(other.tasks):
        return False
    both, either = one.words & other.words, one.words | other.words
    return not either or len(both) >= SAME * len(either)


def _claims(near: Sequence[Statement], fact: Statement, headed: Sequence[str]) -> bool:
    """The tasks of the heading are those of what stands below it."""
    tasks = {*headed, *(task for statement in near for task in statement.tasks)}
    values = {value for statement in near for value in _figures(statement)}
    if not set(fact.tasks) <= tasks or not _figures(fact) <= values:
        return False
    words = frozenset().union(*(statement.words for statement in near))
    return len(fact.words & words) >= CLAIMED * len(fact.words)


def _figures(statement: Statement) -> frozenset[tuple[float, str]]:
    return frozenset((number.value, number.unit) for number in statement.numbers)
