"""Whether two texts say yes or no to the same things, clause by clause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeGuard

from pipeline.package.scoring.vocabulary import (
    NEGATORS,
    PUNCTUATION,
    REVERSING_STEMS,
    WAYS,
    sense,
)

# Words that open a clause of their own.
OPENING = frozenset(
    "and but yet although though while whereas because since so then which that if when "
    "after before until where as".split()
)
# "It is false that ..." denies all that follows in its sentence.
DENYING = frozenset("false untrue wrong incorrect doubt doubtful deny denies myth".split())
LONGEST_DENIAL = 6
# Pairs of which a claim may have one only where all else is the same.
PAIRS = (
    "right wrong, correct incorrect, correctly incorrectly, rightly wrongly, same different, "
    "same other, first last, before after, with without, accepted rejected, accepts rejects, "
    "accepted refused, more fewer, more less, most least, better worse, best worst, always never, "
    "all none, all no, every no, both neither, high low, higher lower, present missing, "
    "present absent, true false, longer shorter, early late, earlier later, up down, open closed, "
    "strong weak, possible impossible, known unknown, declared undeclared, passes fails, "
    "pass fail, passed failed, passing failing, rises falls, rise fall, success failure, "
    "can cannot, includes excludes, inclusive exclusive, above below, "
    "done undone, valid invalid"
)
NEAR = 3
# Senses of two texts that differ in sign: this share of those they have in common, and how many.
CONFLICT_SHARE = 0.2
MIN_CONFLICTS = 2
SINGLE_SHARE = 0.3
# Clauses that have this share of their senses in common are one clause, said twice.
SAME_CLAUSE = 0.75
POSITIVE, NEGATIVE = 1, 2


@dataclass(frozen=True)
class Stance:
    """What a text says yes and no to: by sense, and clause by clause."""

    signs: Mapping[str, int]
    clauses: tuple[tuple[frozenset[str], int], ...]
    # Words that have an opposite, each with the senses around it.
    near: Mapping[str, frozenset[str]]


def stance(text_words: list[str]) -> Stance:
    """Each sense of a text with the sign of its clause, or of its clauses."""
    signs: dict[str, int] = {}
    clauses = []
    is_denied = False
    parts = _clauses(text_words)
    for clause in parts:
        if clause == ["."]:
            is_denied = False
            continue
        if _denies(clause):
            is_denied = not is_denied
            continue
        is_negative = _is_negative(clause) != is_denied
        meant = frozenset(filter(_is_said, map(sense, clause))) - REVERSING_STEMS
        ways = {WAYS[each] for each in meant if each in WAYS}
        # "Never passes" is "fails": what goes a way takes the no of its clause.
        sign = NEGATIVE if is_negative and not ways else POSITIVE
        for each in meant - WAYS.keys():
            signs[each] = signs.get(each, 0) | sign
        for way, is_forward in ways:
            gone = POSITIVE if is_forward != is_negative else NEGATIVE
            signs[f"way {way}"] = signs.get(f"way {way}", 0) | gone
        if meant and not ways:
            clauses.append((meant, sign))
    return Stance(signs, tuple(clauses), _near(parts))


def conflict(left: Stance, right: Stance) -> bool:
    """Whether one text says no where the other says yes."""
    return (
        signs_conflict(left.signs, right.signs)
        or _clauses_conflict(left, right)
        or _opposed(left, right)
    )


def signs_conflict(left: Mapping[str, int], right: Mapping[str, int]) -> bool:
    """Whether too many senses that both have differ in sign."""
    shared = left.keys() & right.keys()
    if any(each.startswith("way ") and not left[each] & right[each] for each in shared):
        return True
    opposed = sum(1 for each in shared if not left[each] & right[each])
    if opposed < MIN_CONFLICTS:
        return opposed > 0 and opposed >= SINGLE_SHARE * len(shared)
    return opposed >= CONFLICT_SHARE * len(shared)


def _clauses_conflict(left: Stance, right: Stance) -> bool:
    """Whether a clause stands on both sides in the same words, and with the other sign only."""
    for meant, sign in left.clauses:
        same = [
            other_sign
            for other, other_sign in right.clauses
            if len(meant & other) >= SAME_CLAUSE * len(meant | other)
        ]
        is_clear = any(not left.signs[each] & right.signs.get(each, sign) for each in meant)
        if same and sign not in same and is_clear:
            return True
    return False


def _opposed(left: Stance, right: Stance) -> bool:
    """Whether one has a word where the other has its opposite, beside the same words."""
    for word, around in left.near.items():
        if around & right.near.get(word, frozenset()):
            continue
        for other in OPPOSITES[word]:
            beside = around & right.near.get(other, frozenset())
            if beside and not beside & left.near.get(other, frozenset()):
                return True
    return False


def _is_said(meant: str | None) -> TypeGuard[str]:
    """Words and names; a citation or a number is neither affirmed nor denied."""
    return meant is not None and "/" not in meant and not meant[0].isdigit()


def _near(clauses: list[list[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for clause in clauses:
        for place, word in enumerate(clause):
            if word in OPPOSITES:
                beside = clause[max(0, place - NEAR) : place + NEAR + 1]
                meant = {each for each in map(sense, beside) if each} - {sense(word)}
                found[word] = found.get(word, frozenset()) | meant
    return found


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in PAIRS.split(", "):
        left, right = pair.split()
        found.setdefault(left, set()).add(right)
        found.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in found.items()}


def _clauses(text_words: list[str]) -> list[list[str]]:
    """The clauses in order; one that "that" follows ends with it, a sentence with a dot."""
    clauses: list[list[str]] = [[]]
    for word in text_words:
        if word == "without":
            clauses.append([word])
        elif word == ".":
            clauses += [["."], []]
        elif word in PUNCTUATION or word in OPENING:
            if word == "that":
                clauses[-1].append(word)
            clauses.append([])
        else:
            clauses[-1].append(word)
    return [clause for clause in clauses if clause]


def _is_negative(clause: list[str]) -> bool:
    turns = sum(1 for word in clause if word in NEGATORS or sense(word) in REVERSING_STEMS)
    # "Fails to call" is "does not call".
    turns += sum(sense(word) == "fail" and after == "to" for word, after in pairwise(clause))
    return turns % 2 == 1


def _denies(clause: list[str]) -> bool:
    """`it is not true that`, `nobody says that`: a clause that only turns what follows."""
    if clause[-1] != "that" or len(clause) > LONGEST_DENIAL + 1:
        return False
    return any(word in NEGATORS or word in DENYING for word in clause)


OPPOSITES = _opposites()
