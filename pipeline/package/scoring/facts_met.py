"""Which facts a report states: the best passage for each, its place, and what speaks against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.package import headings
from pipeline.package.reading import Block
from pipeline.package.scoring import claims
from pipeline.package.scoring.claims import Match
from pipeline.package.scoring.files import Fact
from pipeline.package.scoring.passages import Passage, Report, of_claim
from pipeline.package.scoring.structure import section_name
from pipeline.package.statements import sentences

# What a claim is worth elsewhere than in the golden report: a section of the same kind, any other,
# one that is none of BLADE's.
SAME_KIND, OTHER_KIND, NO_SECTION = 0.45, 0.2, 0.4
KINDS = (
    {"Executive Summary"},
    {"Artifact Inventory", "Reproducibility Notes"},
    {"Aggregate Results", "Workflow Funnel", "Task Outcome Buckets"},
    {"Dominant Failure Modes", "Sometimes-Pass Deep Dives", "Never-Pass Deep Dives"},
    {"Cross-Model Comparison"},
    {"Recommendations"},
)
# A home of a fact in the golden report is where it is met at least this well.
AT_HOME = 0.6
MET = 0.5
# A statement that is this close to a claim and says the opposite takes it back.
CLOSE_WORDS, CLOSE_ENTITIES = 0.8, 0.6
MOST_OF_ONE = 8
TINY = 1e-9
WEIGHTS = {"high": 1.5, "medium": 1.25, "low": 1.0}


@dataclass(frozen=True)
class Claim:
    """One sentence of a fact, and the golden report's sections that state it."""

    passage: Passage
    homes: tuple[str, ...]


# A claim by the numbers of its fact and of itself, and the passages that make it or deny it.
Rated = tuple[int, int, Claim, list[Match]]


@dataclass(frozen=True)
class Asked:
    """A fact as it is looked for."""

    fact: Fact
    claims: tuple[Claim, ...]
    # What the golden report itself says that is close to the fact and against it: no objection.
    tolerated: frozenset[str]


@dataclass(frozen=True)
class Met:
    """How far a report states a fact, and where."""

    fact: Fact
    credit: float
    # Why not in full, in a few words; empty where nothing is lacking.
    lacking: str
    line: int | None
    # The report says the opposite, whether or not it says the fact too.
    is_denied: bool = False

    @property
    def is_met(self) -> bool:
        """Whether it counts as stated."""
        return self.credit >= MET


def asked(facts: Sequence[Fact], golden: Report) -> list[Asked]:
    """Facts with what the golden report knows of them."""
    found = []
    for fact in facts:
        parts = [of_claim(text) for text in _sentences(fact.fact)]
        home = headings.canonical(fact.section) if fact.section else None
        made = [Claim(each, _homes(each, golden, home)) for each in parts]
        opposed = {other.text for each in parts for other in _objections(each, golden)}
        found.append(Asked(fact, tuple(made), frozenset(opposed)))
    return found


def met(wanted: Sequence[Asked], report: Report, *, most_of_one: int) -> list[Met]:
    """Each fact by its best passage; no statement serves more claims than `most_of_one`."""
    chosen = _assigned(_rated(wanted, report), most_of_one)
    return [
        _met(each, [chosen[fact_no, claim_no] for claim_no in range(len(each.claims))], report)
        for fact_no, each in enumerate(wanted)
    ]


def busiest(wanted: Sequence[Asked], golden: Report) -> int:
    """How many claims one statement of the golden report has to make, so that all are made."""
    rated = _rated(wanted, golden)
    whole = _worth(_assigned(rated, MOST_OF_ONE))
    for most in range(1, MOST_OF_ONE):
        if _worth(_assigned(rated, most)) >= whole - TINY:
            return most
    return MOST_OF_ONE


def _rated(wanted: Sequence[Asked], report: Report) -> list[Rated]:
    return [
        (fact_no, claim_no, claim, _candidates(claim.passage, report))
        for fact_no, each in enumerate(wanted)
        for claim_no, claim in enumerate(each.claims)
    ]


def _worth(chosen: Mapping[tuple[int, int], tuple[float, Match]]) -> float:
    return sum(worth for worth, _ in chosen.values())


def agreement(results: Sequence[Met]) -> float:
    """The share of facts that the report does not deny."""
    return 1 - sum(each.is_denied for each in results) / len(results)


def weighted(results: Sequence[Met]) -> float:
    """All facts as one number: what is harder to find weighs more."""
    total = sum(WEIGHTS[each.fact.difficulty] for each in results)
    return sum(WEIGHTS[each.fact.difficulty] * each.credit for each in results) / total


def _sentences(text: str) -> list[str]:
    """The sentences of a fact; code spans keep their backquotes."""
    block = Block("paragraph", 1, text)
    return [text[start:end].strip() for start, end in sentences(block)]


def _candidates(claim: Passage, report: Report) -> list[Match]:
    """The passages that make a claim at least in part, or deny it."""
    found = []
    for place, senses in enumerate(report.reach):
        if not claims.is_worth_a_look(claim, senses):
            continue
        for passage in report.windows(place):
            match = claims.match(claim, passage)
            if match.credit > 0 or match.is_denied:
                found.append(match)
    return found


def _assigned(rated: list[Rated], most_of_one: int) -> dict[tuple[int, int], tuple[float, Match]]:
    """Best first; passages whose statements are spent go to nobody else."""
    chosen: dict[tuple[int, int], tuple[float, Match]] = {}
    offers = sorted(
        (
            (match.credit * _place_factor(claim, match), fact_no, claim_no, match)
            for fact_no, claim_no, claim, matches in rated
            for match in matches
            if match.credit > 0
        ),
        key=lambda offer: (
            -offer[0],
            len(_places(offer[3])),
            offer[1],
            offer[2],
            _places(offer[3]),
        ),
    )
    spent: Counter[int] = Counter()
    for worth, fact_no, claim_no, match in offers:
        places = _places(match)
        if (fact_no, claim_no) in chosen or any(spent[each] >= most_of_one for each in places):
            continue
        chosen[fact_no, claim_no] = (worth, match)
        spent.update(places)
    for fact_no, claim_no, _, matches in rated:
        chosen.setdefault((fact_no, claim_no), (0.0, _nearest(matches)))
    return chosen


def _met(wanted: Asked, chosen: list[tuple[float, Match]], report: Report) -> Met:
    credit = sum(worth for worth, _ in chosen) / len(chosen)
    lines = [match.passage.line for worth, match in chosen if worth and match.passage]
    served = {place for worth, match in chosen if worth for place in _places(match)}
    if credit > 0:
        against = [
            other
            for claim in wanted.claims
            for other in _objections(claim.passage, report)
            if other.text not in wanted.tolerated and not served & set(other.places)
        ]
        if against:
            told = f"taken back at line {against[0].line}"
            return Met(wanted.fact, 0.0, told, lines[0] if lines else None, is_denied=True)
    weakest = min(chosen, key=lambda each: each[0])
    lacking = "" if credit >= 1 else _lacking(weakest)
    is_denied = credit == 0 and weakest[1].is_denied
    return Met(wanted.fact, credit, lacking, lines[0] if lines else None, is_denied)


def _lacking(chosen: tuple[float, Match]) -> str:
    worth, match = chosen
    if match.is_denied:
        return "the opposite is said"
    if match.passage is None:
        return "not found"
    if match.credit and worth < match.credit:
        return "in another section"
    parts = (
        ("what it names", match.entities),
        ("its numbers", match.figures),
        ("its words", match.words),
        ("its word order", match.order),
    )
    return f"in part: {min(parts, key=lambda part: part[1])[0]}"


def _homes(claim: Passage, golden: Report, named: str | None) -> tuple[str, ...]:
    matches = [match for match in _candidates(claim, golden) if match.credit > 0]
    best = max((match.credit for match in matches), default=0.0)
    names = {
        section_name(match.passage)
        for match in matches
        if match.passage and match.credit >= AT_HOME * best
    }
    return tuple(sorted(names | ({named} if named else set())))


def _objections(claim: Passage, report: Report) -> list[Passage]:
    """Statements that are the claim in all but its yes or no, or in all but its numbers."""
    found = []
    for other in report.statements:
        if other.is_row or not claims.is_worth_a_look(claim, other.senses):
            continue
        if claims.word_share(claim, other) < CLOSE_WORDS:
            continue
        if claims.entity_share(claim, other)[0] < CLOSE_ENTITIES or not other.flow.reads():
            continue
        match = claims.match(claim, other)
        has_other_figures = bool(claim.figures) and match.figures == 0 and bool(other.figures)
        if match.is_denied or (has_other_figures and len(other.figures) >= len(claim.figures)):
            found.append(other)
    return found


def _place_factor(claim: Claim, match: Match) -> float:
    """What a claim is worth where it stands."""
    if not claim.homes or match.passage is None:
        return 1.0
    here = section_name(match.passage)
    if here in claim.homes or "" in claim.homes:
        return 1.0
    if match.passage.kind is None:
        return NO_SECTION
    if any(here in kind and kind.intersection(claim.homes) for kind in KINDS):
        return SAME_KIND
    return OTHER_KIND


def _nearest(matches: list[Match]) -> Match:
    return max(
        matches, key=lambda match: match.entities + match.figures + match.words, default=Match()
    )


def _places(match: Match) -> tuple[int, ...]:
    return match.passage.places if match.passage else ()
