"""Whether words stand in sentences, or are only listed or shuffled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from pipeline.package.scoring.vocabulary import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    PREPOSITIONS,
    PUNCTUATION,
)

AFTER_DETERMINER = DETERMINERS | AUXILIARIES | PREPOSITIONS | CONJUNCTIONS
AFTER_PREPOSITION = AUXILIARIES | CONJUNCTIONS | frozenset(("of",))
AFTER_CONJUNCTION = CONJUNCTIONS | frozenset(".;:|)")
PAIRED = FUNCTION_WORDS | PUNCTUATION
AUXILIARY_PAIRS = AUXILIARIES - frozenset(("be", "have", "had", "do"))
SHORTEST = 6
# Of English prose 0.25 to 0.4 are function words, of its words in alphabetical order 0.1 to 0.18.
MIN_FUNCTION_SHARE = 0.12
# Of pairs of function words less than 0.02 are broken in prose, over 0.17 of shuffled words.
MAX_BROKEN_SHARE = 0.3


@dataclass(frozen=True)
class Flow:
    """Counts over a text: its words, its function words, pairs of them, and those not possible."""

    n_words: int = 0
    n_function: int = 0
    n_pairs: int = 0
    n_broken: int = 0

    def __add__(self, other: Flow) -> Flow:
        return Flow(
            self.n_words + other.n_words,
            self.n_function + other.n_function,
            self.n_pairs + other.n_pairs,
            self.n_broken + other.n_broken,
        )

    @property
    def function_share(self) -> float:
        """Of its words, how many hold the others together."""
        return self.n_function / self.n_words if self.n_words else 0.0

    @property
    def broken_share(self) -> float:
        """Of its pairs of function words, how many cannot stand together."""
        return self.n_broken / self.n_pairs if self.n_pairs else 0.0

    def reads(self, least: float = MIN_FUNCTION_SHARE, *, shortest: int = SHORTEST) -> bool:
        """Whether it reads like a sentence; what is too short to tell does."""
        if self.n_words < shortest:
            return True
        return self.function_share >= least and self.broken_share < MAX_BROKEN_SHARE


def flow(words: list[str]) -> Flow:
    """The counts of one statement, given its words in order."""
    n_words = n_function = n_pairs = n_broken = 0
    for word, following in pairwise([*words, "."]):
        if word in PUNCTUATION:
            continue
        n_words += 1
        if word in FUNCTION_WORDS:
            n_function += 1
            n_pairs += following in PAIRED
            n_broken += _is_broken(word, following)
    return Flow(n_words, n_function, n_pairs, n_broken)


def total(flows: Iterable[Flow]) -> Flow:
    """The counts of many statements together."""
    return sum(flows, Flow())


def _is_broken(word: str, following: str) -> bool:
    if word in DETERMINERS:
        # "A" may be the name of something.
        return following in AFTER_DETERMINER or (word != "a" and following in PUNCTUATION)
    if word in PREPOSITIONS:
        return following in AFTER_PREPOSITION
    if word in CONJUNCTIONS:
        return following in AFTER_CONJUNCTION
    return word in AUXILIARIES and following in AUXILIARY_PAIRS
