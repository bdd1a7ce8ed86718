"""Whether two texts say yes or no to the same things, clause by clause."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.package.scoring.vocabulary import (
    NEGATORS,
    PUNCTUATION,
    REVERSING_STEMS,
    sense,
)

# Words that open a clause of their own.
OPENING = frozenset(
    "and but yet although though while whereas because since so then which that who if when "
    "after before until where as".split()
)
# "It is not true that ..." denies all that follows.
DENYING = frozenset("true case correct right so fact accurate".split())
# Senses of two texts that differ in sign: this share of those they have in common, and how many.
CONFLICT_SHARE = 0.2
MIN_CONFLICTS = 2
SINGLE_SHARE = 0.3
POSITIVE, NEGATIVE = 1, 2


def signs(text_words: list[str]) -> Mapping[str, int]:
    """Each sense of a text with the sign of its clause, or of its clauses."""
    found: dict[str, int] = {}
    is_denied = False
    for clause in _clauses(text_words):
        if clause == ["."]:
            is_denied = False
            continue
        is_negative = _is_negative(clause) != is_denied
        if _denies(clause):
            is_denied = not is_denied
            continue
        sign = NEGATIVE if is_negative else POSITIVE
        for word in clause:
            meant = sense(word)
            if meant is not None and meant not in REVERSING_STEMS:
                found[meant] = found.get(meant, 0) | sign
    return found


def conflict(left: Mapping[str, int], right: Mapping[str, int]) -> bool:
    """Whether one text says no where the other says yes."""
    shared = left.keys() & right.keys()
    opposed = sum(1 for each in shared if not left[each] & right[each])
    if opposed < MIN_CONFLICTS:
        return opposed > 0 and opposed >= SINGLE_SHARE * len(shared)
    return opposed >= CONFLICT_SHARE * len(shared)


def _clauses(text_words: list[str]) -> list[list[str]]:
    clauses: list[list[str]] = [[]]
    for word in text_words:
        if word == ".":
            clauses += [["."], []]
        elif word in PUNCTUATION or word in OPENING:
            clauses.append([])
        else:
            clauses[-1].append(word)
    return [clause for clause in clauses if clause]


def _is_negative(clause: list[str]) -> bool:
    turns = sum(1 for word in clause if word in NEGATORS or sense(word) in REVERSING_STEMS)
    return turns % 2 == 1


def _denies(clause: list[str]) -> bool:
    """`it is not true`, before "that": a clause that says nothing itself."""
    is_short = len(clause) <= 5
    return is_short and _is_negative(clause) and any(word in DENYING for word in clause)
