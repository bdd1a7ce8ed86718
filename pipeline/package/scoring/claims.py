"""Whether a passage makes the claim of a fact: entities, figures, words, order, yes or no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipeline.citation import Citation
from pipeline.package.scoring import polarity
from pipeline.package.scoring.fluency import MIN_FUNCTION_SHARE
from pipeline.package.scoring.passages import SAME_TEXT, Passage
from pipeline.package.scoring.polarity import OPPOSITES
from pipeline.package.scoring.vocabulary import NEGATORS, words

# Below the first nothing is granted, from the second on everything.
STRENGTH = (0.45, 0.78)
ORDER = (0.35, 0.55)
MIN_ENTITIES = 0.5
MIN_FIGURES = 0.6
MIN_WORDS = 0.3
# A rewording keeps this share of the words that carry meaning, or needs to keep no more.
ENOUGH_WORDS = 0.65
# A fact with little that can be held against it needs more of its words.
FEW_ANCHORS = 2
WORDS_OF_FEW_ANCHORS = 0.6
LONGER_THAN_CLAIM = 4
SPARE_WORDS = 30
OTHER_EVENT = 0.5
SAME_TASK = 0.3
# A claim with fewer words that hold others together is a row's.
ROW_SHARE = 0.2
ROW_LIKE = re.compile(r"[^:;]+: [^;]*; [^:;]+:")
QUOTED_SHARE = 0.6
# What is left of a claim that is made of other rollouts, tools or modes.
OF_OTHERS = 0.4
# What is left of a claim whose words of the record are not given.
UNQUOTED = 0.6


@dataclass(frozen=True)
class Match:
    """How far one passage makes one claim, each part from 0 to 1."""

    passage: Passage | None = None
    entities: float = 0.0
    figures: float = 0.0
    words: float = 0.0
    order: float = 0.0
    credit: float = 0.0
    # It makes the claim in all but its yes or no.
    is_denied: bool = False


def is_worth_a_look(claim: Passage, senses: frozenset[str]) -> bool:
    """A quick test: whether a passage of these senses has words enough to make the claim."""
    return len(claim.senses & senses) >= MIN_WORDS * len(claim.senses)


def match(claim: Passage, passage: Passage) -> Match:
    """How far a passage makes a claim."""
    shared = word_share(claim, passage)
    figures = figure_share(claim, passage) if shared >= MIN_WORDS else 0.0
    if figures < MIN_FIGURES:
        return Match(passage, figures=figures, words=shared)
    entities, n_entities = entity_share(claim, passage)
    n_anchors = n_entities + len(claim.figures)
    least = WORDS_OF_FEW_ANCHORS if n_anchors < FEW_ANCHORS else MIN_WORDS
    is_close = entities >= MIN_ENTITIES and shared >= least
    if not is_close or not _is_about(claim, passage) or not _is_statement_of(claim, passage):
        return Match(passage, entities, figures, shared)
    if polarity.conflict(claim.stance, passage.stance) or _misquotes(claim, passage):
        return Match(passage, entities, figures, shared, is_denied=True)
    order = order_share(claim, passage)
    strength = _strength(claim, n_entities, entities, figures, shared)
    credit = _ramp(strength, *STRENGTH) * _ramp(order, *ORDER)
    if _cites_others(claim, passage) or _names_others(claim, passage):
        credit *= OF_OTHERS
    if sum(_quoted(quote, passage) for quote in claim.quotes) < MIN_ENTITIES * len(claim.quotes):
        credit *= UNQUOTED
    return Match(passage, entities, figures, shared, order, credit)


def entity_share(claim: Passage, passage: Passage) -> tuple[float, int]:
    """The share of what the claim names that the passage names, and how much that is."""
    shares = [
        *(_cited(each, passage) for each in claim.citations),
        *(_named_task(task, passage) for task in claim.tasks),
        *(_named(name, passage) for name in claim.names),
        *(_quoted(quote, passage) for quote in claim.quotes),
    ]
    return (sum(shares) / len(shares) if shares else 1.0), len(shares)


def figure_share(claim: Passage, passage: Passage) -> float:
    """The share of the claim's figures that the passage states; one where it has none."""
    if not claim.figures:
        return 1.0
    left = list(passage.figures)
    n_found = 0
    for each in claim.figures:
        place = next((at for at, other in enumerate(left) if each.is_like(other)), None)
        if place is not None:
            # One number in a passage is one number: "4 of 5" does not say 4 twice.
            del left[place]
            n_found += 1
    return n_found / len(claim.figures)


def word_share(claim: Passage, passage: Passage) -> float:
    """The share of the claim's words, by their sense, that the passage has."""
    if not claim.senses:
        return 1.0
    return len(claim.senses & passage.senses) / len(claim.senses)


def order_share(claim: Passage, passage: Passage) -> float:
    """How far words that both have follow one another alike: 1 in one order, 0.3 by chance."""
    both = set(claim.content) & set(passage.content)
    left = [each for each in claim.content if each in both]
    right = [each for each in passage.content if each in both]
    if len(both) <= 2:
        return 1.0
    return (_common(left, right) / len(left) + _neighbours(left, right)) / 2


def _is_about(claim: Passage, passage: Passage) -> bool:
    """Whether half of the tasks it speaks of are those of the claim, whatever else they share."""
    found = sum(_named_task(task, passage) for task in claim.tasks)
    return found >= MIN_ENTITIES * len(claim.tasks)


def _cites_others(claim: Passage, passage: Passage) -> bool:
    """Whether both cite, and no rollout is the same."""
    if not claim.citations or not passage.citations:
        return False
    own = {each.rollout for each in claim.citations}
    return own.isdisjoint(each.rollout for each in passage.citations)


def _names_others(claim: Passage, passage: Passage) -> bool:
    """Whether most names of the claim are missing, and others stand there."""
    if not claim.names:
        return False
    found = sum(_named(name, passage) for name in claim.names)
    has_others = any(name not in claim.names for name in passage.names)
    return found < MIN_ENTITIES * len(claim.names) and has_others


def _strength(
    claim: Passage, n_entities: int, entities: float, figures: float, shared: float
) -> float:
    """The mean of the shares of what the claim has."""
    shares = [min(1.0, shared / ENOUGH_WORDS)]
    shares += [entities] if n_entities else []
    shares += [figures] if claim.figures else []
    return sum(shares) / len(shares)


def _is_statement_of(claim: Passage, passage: Passage) -> bool:
    """Rows may make the claim of a row, sentences that are no longer than need be any other."""
    longest = LONGER_THAN_CLAIM * len(claim.words) + SPARE_WORDS
    if len(passage.words) > longest:
        return False
    if passage.is_row:
        return claim.flow.function_share < ROW_SHARE or ROW_LIKE.match(claim.text) is not None
    # As many words that hold others together as half of the claim's, in any language.
    least = min(MIN_FUNCTION_SHARE, claim.flow.function_share / 2)
    return all(part.flow.reads(least) for part in passage.parts or (passage,))


def _cited(cited: Citation, passage: Passage) -> float:
    best = 0.0
    for other in passage.citations:
        if (other.run_id, other.task_id) != (cited.run_id, cited.task_id):
            continue
        if other.rollout_index != cited.rollout_index:
            best = max(best, SAME_TASK)
        elif other.seq == cited.seq:
            return 1.0
        else:
            best = max(best, OTHER_EVENT)
    return max(best, SAME_TASK) if cited.task_id in passage.tasks else best


def _named_task(task: str, passage: Passage) -> float:
    return float(task in passage.tasks or task in passage.names)


def _named(name: str, passage: Passage) -> float:
    if name in passage.names:
        return 1.0
    plain = SAME_TEXT.sub(" ", name).strip().lower()
    return float(bool(plain) and f" {plain} " in passage.plain)


def _quoted(quote: str, passage: Passage) -> float:
    told = [word for word in words(quote) if word.isalnum()]
    if not told:
        return 1.0
    missed = [word for word in told if f" {word} " not in passage.plain]
    if any(word in NEGATORS for word in missed):
        return 0.0
    return float(len(missed) <= (1 - QUOTED_SHARE) * len(told))


def _misquotes(claim: Passage, passage: Passage) -> bool:
    """Whether a quote stands there with a no more or less, or with an opposite."""
    for quote in claim.quotes:
        told = set(words(quote))
        near = [heard for heard in map(words, passage.quotes) if _is_near(told, set(heard))]
        turned = [told ^ set(heard) for heard in near]
        if turned and all(any(w in NEGATORS or w in OPPOSITES for w in each) for each in turned):
            return True
    return False


def _is_near(told: set[str], heard: set[str]) -> bool:
    return len(told & heard) >= QUOTED_SHARE * len(told)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for each in left:
        before = 0
        for place, other in enumerate(right):
            here = row[place + 1]
            row[place + 1] = before + 1 if each == other else max(here, row[place])
            before = here
    return row[-1]


def _neighbours(left: Sequence[str], right: Sequence[str]) -> float:
    """The share of neighbours on the left that are neighbours, at most one apart, on the right."""
    near = {
        frozenset((each, other))
        for place, each in enumerate(right)
        for other in right[place + 1 : place + 3]
    }
    pairs = [frozenset(pair) for pair in pairwise(left) if len(set(pair)) > 1]
    return sum(pair in near for pair in pairs) / len(pairs) if pairs else 1.0


def _ramp(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))
