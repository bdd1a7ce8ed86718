"""Which facts a report states: what each is about and its value, together in one passage."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pipeline import citation
from pipeline.package.facts import Fact
from pipeline.package.scoring.passages import (
    PATTERNS,
    TOLD,
    WORDS,
    Key,
    Passage,
    Text,
    is_denied,
    of_text,
    stems,
    values,
)
from pipeline.package.verify.units import short_names

NUMERIC, NAMED = ("count", "rate"), ("mode", "check", "expected_call")
# How many of a fact's terms a passage must share: beside a quote, beside the value of a task or
# rollout, beside a value of the whole run, and where nothing else of it can be told.
WITH_QUOTE, WITH_VALUE, OF_RUN, ALONE = 0.2, 0.2, 0.4, 0.6
# The same where a file gives only the fact's text, and the terms are all its words.
TEXT_VALUE, TEXT_RUN = 0.3, 0.45
ENOUGH_FIGURES, ENOUGH_NAMES = 0.75, 0.5
# A passage of the golden report with fewer of a fact's words does not state it.
LEAST_STATED = 0.4
# Sentences that share so much are one sentence, written twice.
SAME = 0.8
SHORTEST_QUOTE = 4
BUCKETS = {name: re.compile(told, re.IGNORECASE) for name, told in TOLD["buckets"].items()}
PART = re.compile(r"\b(\d+) (?:out )?of (?:the |its )?(\d+)\b")
OPPOSITES = [pair.split() for pair in TOLD["words"]["opposites"]]


@dataclass(frozen=True, eq=False)
class Asked:
    """A fact as it is looked for."""

    fact: Fact
    told: Passage
    # Names of the run it is about, and of all others.
    runs: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    # Whether its run is the one that the golden report is about, and need not be named.
    is_main: bool = True
    # Of a fact without a value: the numbers, causes and names of it that the golden report has in
    # one passage, and its words there. Some facts are put together from several.
    figures: Counter[float] = field(default_factory=Counter)
    labels: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    @cached_property
    def rollouts(self) -> frozenset[Key]:
        """The rollouts that it cites."""
        cited = filter(None, map(citation.parse, self.fact.citations))
        return frozenset(each.rollout for each in cited) or self.told.rollouts

    @cached_property
    def tasks(self) -> frozenset[str]:
        """The tasks that it is about."""
        if self.fact.subject.task is not None:
            return frozenset((self.fact.subject.task,))
        return frozenset(task for _, task, _ in self.rollouts) | self.told.own_tasks

    @cached_property
    def quotes(self) -> tuple[str, ...]:
        """Words of the record that it quotes."""
        told = (said for *_, said in self.told.unit.quotes if len(said) >= SHORTEST_QUOTE)
        return self.fact.quotes or tuple(told)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What a report that knows it would name; of a fact of text alone its words."""
        given = self.fact.terms if self.fact.is_structured else ()
        told = frozenset(stem for term in given for stem in stems(term) or (term.lower(),))
        return told or self.words

    @property
    def has_value(self) -> bool:
        """Whether its predicate has a value to look for."""
        return self.fact.predicate != "other" and self.fact.value is not None


@dataclass(frozen=True)
class Met:
    """A fact, and the passage that states it, or what the nearest lacks."""

    asked: Asked
    passage: Passage | None
    lacking: str = ""
    # What decided: claims, prose or judge.
    by: str = "prose"

    @property
    def is_met(self) -> bool:
        """Whether the report states it."""
        return not self.lacking


def asked(facts: Sequence[Fact], golden: Text) -> list[Asked]:
    """Facts as they are looked for, each with the names of its run."""
    cited = Counter(each.run_id for passage in golden.passages for each in passage.unit.cited)
    told = [of_text(fact.fact) for fact in facts]
    known = {*cited, *(fact.subject.run for fact in facts if fact.subject.run)}
    names = {run: frozenset({run, short}) for run, short in short_names(known).items()}
    main = max(sorted(cited), key=cited.__getitem__, default=None)
    found = []
    for fact, passage in zip(facts, told, strict=True):
        given = fact.subject.run
        own = {given} if given else {each.run_id for each in passage.unit.cited}
        own |= {run for run in known if not own and _mentions(names[run], passage)}
        own = {run for run in own if run in names} or {run for run in (main,) if run is not None}
        mine = frozenset(name for run in own for name in names[run])
        others = frozenset(name for run in known - own for name in names[run])
        is_main = main is None or main in own
        found.append(_narrowed(Asked(fact, passage, mine, others - mine, is_main), golden))
    return found


def _narrowed(each: Asked, golden: Text) -> Asked:
    """A fact as the passage of the golden report that has most of it states it."""
    told, best, most = each.told, each.told, 0.0
    for passage in golden.passages if not each.has_value else ():
        shared = len(told.stems & passage.stems) / (len(told.stems) or 1)
        worth = shared + (values(told.figures) & values(passage.all_figures)).total()
        if shared >= LEAST_STATED and worth > most and is_about(each, passage):
            best, most = passage, worth
    return replace(
        each,
        figures=values(told.figures) & values(best.all_figures),
        labels=told.labels[0] & best.labels[0],
        names=told.names & best.names,
        words=told.stems & best.stems,
    )


def met(wanted: Sequence[Asked], text: Text, most_of_one: int | None = None) -> list[Met]:
    """For each fact the first passage that states it; one states only so many."""
    spent: Counter[int] = Counter()
    found = []
    if not text.is_prose:
        return [Met(each, None, "its words stand in no order") for each in wanted]
    for each in wanted:
        best = Met(each, None, "no passage is about it")
        for passage in text.passages:
            lacking = lacks(each, passage, text.causes)
            if not lacking and most_of_one is not None and spent[passage.claim] >= most_of_one:
                lacking = "its passage states too much already"
            if not lacking or (best.passage is None and lacking != SUBJECT):
                best = Met(each, passage, lacking)
            if not lacking:
                spent[passage.claim] += 1
                break
        found.append(best)
    return found


SUBJECT = "not about its subject"


def lacks(each: Asked, passage: Passage, causes: Mapping[str, Set[str]]) -> str:
    """What a passage lacks to state a fact; empty where it states it.

    `causes` are those of the whole report by task: a sentence need not repeat what a table gives.
    """
    if not is_about(each, passage):
        return SUBJECT
    if not passage.reads:
        return "words without sentences"
    if is_altered(each.told, passage):
        return "said otherwise"
    if each.has_value:
        if not has_value(each.fact, passage):
            return f"without its {each.fact.predicate}, {each.fact.value}"
        is_word = each.fact.predicate not in NUMERIC
        least = WITH_VALUE if each.tasks else OF_RUN
        if _shares_source(each, passage) or (each.tasks and is_word):
            least = 0.0
    else:
        given = passage.labels[0] or {
            cause for task in each.tasks for cause in causes.get(task, ())
        }
        if each.labels - given:
            return f"without its cause, {' '.join(sorted(each.labels - given))}"
        if len(each.names & passage.names) < ENOUGH_NAMES * len(each.names):
            return "without its names"
        n_there = (each.figures & values(passage.all_figures)).total()
        if n_there < ENOUGH_FIGURES * each.figures.total():
            return "without its numbers"
        least = ALONE
        if each.figures or each.labels:
            least = TEXT_VALUE if each.tasks else TEXT_RUN
        if any(passage.quotes(quote) for quote in each.quotes):
            least = WITH_QUOTE
        elif each.quotes and each.fact.is_structured:
            least = ALONE
    shared = _share(each.terms, passage)
    return "" if shared >= least else f"{shared:.0%} of its terms, {least:.0%} needed"


def is_about(each: Asked, passage: Passage) -> bool:
    """Whether a passage is about what a fact is about."""
    if each.tasks:
        if passage.rollouts & each.rollouts:
            return True
        # A task that is no number may stand in the text as it is.
        names = frozenset(task for task in each.tasks if len(task) > 3 and not task.isdecimal())
        if not (passage.tasks & each.tasks or _mentions(names, passage)):
            return False
        return not _is_of_other(each, passage)
    if _is_of_other(each, passage):
        return False
    return each.is_main or _mentions(each.runs, passage) or _shares_source(each, passage)


def has_value(fact: Fact, passage: Passage) -> bool:
    """Whether a passage has a fact's value, and does not deny it."""
    value, told = fact.value, str(fact.value)
    if fact.predicate == "cause":
        # What gives a task every cause gives it none.
        wanted, given = set(told.split("+")), passage.labels[0]
        return wanted <= given and len(given) <= len(wanted) + 1
    if fact.predicate == "outcome":
        return is_pass(value) in passage.outcomes
    if fact.predicate == "bucket":
        return told in buckets(passage)
    number = _number(value)
    if fact.predicate == "direction":
        first = told.strip().lower().partition(" ")[0]
        rises = first in WORDS["rises"] if number is None else number > 0
        return rises in directions(passage)
    if fact.predicate in NAMED:
        name = told.partition("(")[0].strip()
        pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        found = [match.span() for match in re.finditer(pattern, passage.seen, re.IGNORECASE)]
        return any(not is_denied(passage.seen, *span) for span in found)
    if number is None:
        return told.lower() in passage.seen.lower()
    return any(
        token.agrees(number) or (token.value is not None and math.isclose(token.value, number))
        for token in passage.all_figures
    )


def is_pass(value: object) -> bool:
    """An outcome as a file of facts gives it."""
    return value is True or str(value).lower() in ("pass", "passes", "passed", "true", "1", "1.0")


def buckets(passage: Passage) -> frozenset[str]:
    """The buckets that a passage speaks of, in words or as a part of all attempts."""
    found = {name for name, pattern in BUCKETS.items() if pattern.search(passage.seen)}
    for part, whole in ((int(one), int(two)) for one, two in PART.findall(passage.seen)):
        if True in passage.outcomes and part <= whole:
            found.add("always" if part == whole else "sometimes" if part else "never")
    return frozenset(found)


def directions(passage: Passage) -> frozenset[bool]:
    """Whether something rises or falls in a passage, in words or by a sign."""
    found = {
        is_up != is_denied(passage.plain, *match.span())
        for is_up, name in ((True, "rising"), (False, "falling"))
        for match in PATTERNS[name].finditer(passage.plain)
    }
    signed = (token for token in passage.figures if token.is_signed and token.value)
    return frozenset(found | {(token.value or 0) > 0 for token in signed})


def is_altered(told: Passage, passage: Passage) -> bool:
    """Whether a sentence of a passage is the told one but for a value, a no, or an opposite."""
    return any(
        difference(mine, theirs)
        for mine in told.sentences
        for theirs in passage.sentences
        if likeness(mine, theirs) >= SAME
    )


def difference(golden: Passage, passage: Passage) -> str:
    """What the first of two sentences in the same words says or has that the other does not."""
    if _opposite(golden, passage):
        return "says the opposite"
    kinds: tuple[tuple[set[Any], set[Any]], ...] = (
        (_surely(golden, passage), _surely(passage, golden)),
        (set(golden.labels[0]), set(passage.labels[0])),
        (set(golden.own_tasks), set(passage.own_tasks)),
        (set(golden.names), set(passage.names)),
    )
    for mine, theirs in kinds:
        if mine - theirs and theirs - mine:
            more = (f"{each:g}" if isinstance(each, float) else each for each in mine - theirs)
            return f"has {', '.join(sorted(more))}"
    return ""


def _surely(one: Passage, two: Passage) -> set[float]:
    """The numbers of one sentence that not even an unsure word of the other could be."""
    return set(values(one.figures)) - set(values(two.all_figures))


def _opposite(mine: Passage, theirs: Passage) -> bool:
    """Whether two sentences of the same words say yes and no."""
    if (mine.n_negations - theirs.n_negations) % 2:
        return True
    left, right = set(mine.words), set(theirs.words)
    own, other = left - right, right - left
    return any(
        (one in own and two in other) or (two in own and one in other) for one, two in OPPOSITES
    )


def likeness(mine: Passage, theirs: Passage) -> float:
    """How many of the words of two sentences are in both."""
    either = mine.said | theirs.said
    return len(mine.said & theirs.said) / len(either) if either else 0.0


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(str(value).replace(",", "").removesuffix("%"))
    except ValueError:
        return None


def _share(terms: frozenset[str], passage: Passage) -> float:
    if not terms:
        return 1.0
    seen = passage.seen.lower()
    there = sum(term in passage.stems or (not term.isalpha() and term in seen) for term in terms)
    return there / len(terms)


def _shares_source(each: Asked, passage: Passage) -> bool:
    """Whether the block's own source asks what the fact's query asks."""
    if each.fact.sql is None:
        return False
    wanted = " ".join(each.fact.sql.lower().partition("from ")[2].split())
    asked_for = (" ".join(source.text.lower().split()) for source in passage.unit.block.sources)
    return bool(wanted) and any(wanted in told for told in asked_for)


def _is_of_other(each: Asked, passage: Passage) -> bool:
    """Whether a passage names other runs and not the fact's."""
    return _mentions(each.others, passage) and not _mentions(each.runs, passage)


def _mentions(names: frozenset[str], passage: Passage) -> bool:
    seen = passage.seen
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", seen) for name in names)
