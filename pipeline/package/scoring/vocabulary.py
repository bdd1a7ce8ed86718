"""The words of a text in order, by their sense: stems, synonyms, spelled numbers.

Synonyms are those of the talk about evaluations; what is not English keeps its own words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pipeline.package.statements import stems

# An id such as `run/7:0#3` is one word; a mark at its end is none of it.
WORD = re.compile(r"\w+(?:[.@/#:'^-]+\w+)*|[,;:.!?()|\u2014]")
PUNCTUATION = frozenset(",;:.!?()|\u2014")
SPELLED = {
    name: float(value)
    for value, name in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
# "One" is too often no number.
SPELLED_WORD = re.compile(rf"\b(?:{'|'.join(name for name in SPELLED if name != 'one')})\b", re.I)
# Each line is one sense in the talk of evaluations; its first word stands for it.
SYNONYMS = """
attempt rollout try trial repeat retry
call invoke use issue
tool function
lookup search find query locate resolve
verifier grader judge checker scorer
answer reply response
task problem question item
error exception
book create schedule add
delete remove clear erase
change write update edit modify alter
assign reassign transfer
argument parameter
filter condition
stop end quit finish halt
claim say state report assert declare
limit cap budget
cut truncate
timeout timed
prompt instruction
model agent policy
guess invent fabricate hallucinate
exist available declared
same identical equal
every all each
record row
read see look inspect
repeat again
mend fix repair correct
wrong incorrect bad mistaken
pass succeed solve success
fail failure
share fraction proportion percentage
most majority largest biggest
cause reason
rise increase grow climb improve gain
fall decrease shrink worsen
decline refuse deny reject
make perform do
empty blank
loop circle
"""
# What turns a clause into its opposite.
NEGATORS = frozenset(
    "no not none never neither nor nothing nobody nowhere without cannot can't don't doesn't "
    "didn't isn't aren't wasn't weren't won't hasn't haven't hadn't couldn't wouldn't shouldn't "
    "untrue false hardly".split()
)
REVERSING = """
skip omit ignore lack miss decline forget neglect leave prevent avoid disprove refute contradict
impossible unlikely
"""
# What can go one way or the other: said of a clause instead of yes and no.
WAYS = {
    "pass": ("pass", True),
    "fail": ("pass", False),
    "ris": ("rise", True),
    "fall": ("rise", False),
}
DETERMINERS = frozenset("the a an its their his her every my our your".split())
AUXILIARIES = frozenset(
    "is are was were am be has have had does do did can could will would".split()
)
PREPOSITIONS = frozenset("of with from at for by into onto between among".split())
CONJUNCTIONS = frozenset("and or but nor because although whereas".split())
FUNCTION_WORDS = (
    DETERMINERS
    | AUXILIARIES
    | PREPOSITIONS
    | CONJUNCTIONS
    | frozenset(
        "in on to as than then that this these those it they them he she we you which who what "
        "when where while if so not no been being there after before all both only".split()
    )
)


def words(text: str) -> list[str]:
    """Words, ids and numbers in order and lower case, with the marks that end a clause."""
    return WORD.findall(text.lower())


@lru_cache(maxsize=65536)
def sense(word: str) -> str | None:
    """What a word stands for; none for marks and for words that say nothing."""
    if word in SPELLED or word in NEGATORS:
        return None
    if word[0].isdigit() or "_" in word or "/" in word:
        return word
    # Of a name such as `metrics.json` one part, the same one always.
    stem = min(stems(word), default=None)
    return None if stem is None else _SENSES.get(stem, stem)


def _senses() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in SYNONYMS.split("\n"):
        members = [min(stems(word), default=word) for word in line.split()]
        for member in members:
            found.setdefault(member, members[0])
    return found


def _stemmed(listed: str) -> frozenset[str]:
    return frozenset(stem for word in listed.split() for stem in stems(word))


_SENSES = _senses()
REVERSING_STEMS = frozenset(_SENSES.get(stem, stem) for stem in _stemmed(REVERSING))
