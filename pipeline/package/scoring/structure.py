"""Whether a report has the golden report's sections, each with content that belongs there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from pipeline.package.scoring.passages import Passage, Report

PRESENT, SUBSTANTIVE, BELONGS = 0.2, 0.3, 0.5
FEWEST_WORDS = 25
# A section of the golden report itself that says less is thin.
THIN_WORDS = 15
# Short statements may do without words that hold others together.
SHORTEST = 13
SHARE_OF_GOLDEN = 0.2
# Its own section's likeness may fall behind the likest section's by this factor.
NEAR_BEST = 0.7
Vector = Mapping[str, float]


@dataclass(frozen=True)
class SectionScore:
    """One section of the golden report, looked for in another."""

    section: str
    is_present: bool
    is_substantive: bool
    belongs: bool

    @property
    def score(self) -> float:
        """From 0, absent, to 1."""
        return (
            PRESENT * self.is_present
            + SUBSTANTIVE * self.is_substantive
            + BELONGS * (self.is_substantive and self.belongs)
        )


def structure(report: Report, golden: Report, *, least: float) -> list[SectionScore]:
    """Each section of the golden report that says something, in its order.

    Statements with a smaller share of function words than `least` are lists of words.
    """
    wanted, given = _by_section(golden), _by_section(report)
    vectors = _weighted({name: _counts(group) for name, group in wanted.items()})
    names = _section_names(report)
    scores = []
    for name, group in wanted.items():
        found = given.get(name, [])
        enough = min(FEWEST_WORDS, SHARE_OF_GOLDEN * _n_words(group, least))
        is_substantive = _n_words(found, least) >= enough
        scores.append(
            SectionScore(
                name,
                name in names,
                bool(found) and is_substantive,
                _belongs(name, _counts(found), vectors),
            )
        )
    return scores


def thin(golden: Report) -> list[str]:
    """The sections that say next to nothing, or only what stands before them."""
    given, seen, found = _by_section(golden), set[str](), []
    for name in dict.fromkeys([*given, *sorted(golden.kinds)]):
        new = {" ".join(each.words): len(each.words) for each in given.get(name, [])}
        if sum(n for text, n in new.items() if text not in seen) < THIN_WORDS:
            found.append(name)
        seen |= new.keys()
    return found


def section_name(passage: Passage) -> str:
    """BLADE's name of a passage's section, else its heading in lower case."""
    return passage.kind or passage.title.strip().lower()


def mean(scores: list[SectionScore]) -> float:
    """The whole structure as one number; a report without sections asks for none."""
    return sum(each.score for each in scores) / len(scores) if scores else 1.0


def _by_section(report: Report) -> dict[str, list[Passage]]:
    found: dict[str, list[Passage]] = {}
    for each in report.statements:
        if section_name(each):
            found.setdefault(section_name(each), []).append(each)
    return found


def _section_names(report: Report) -> set[str]:
    titles = {
        section.path[0].strip().lower() for section in report.reading.sections if section.path
    }
    return titles | report.kinds


def _n_words(group: list[Passage], least: float) -> int:
    """Words of sentences and of tables; a list of words is neither."""
    return sum(each.flow.n_words for each in group if _is_told(each, least))


def _is_told(statement: Passage, least: float) -> bool:
    return statement.is_row or statement.flow.reads(least, shortest=SHORTEST)


def _counts(group: list[Passage]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in group:
        counts.update(set(each.content))
        counts.update(set(each.tasks))
    return counts


def _weighted(counts: Mapping[str, Counter[str]]) -> dict[str, Vector]:
    """What a section says more than others do."""
    totals: Counter[str] = Counter()
    for each in counts.values():
        totals.update(each)
    return {
        name: {word: sqrt(count) * count / totals[word] for word, count in each.items()}
        for name, each in counts.items()
    }


def _belongs(name: str, counts: Counter[str], vectors: Mapping[str, Vector]) -> bool:
    likeness = {other: _likeness(counts, vector) for other, vector in vectors.items()}
    best = max(likeness.values(), default=0.0)
    return best > 0 and likeness[name] >= NEAR_BEST * best


def _likeness(counts: Counter[str], vector: Vector) -> float:
    length = sqrt(sum(weight * weight for weight in vector.values()))
    return sum(weight * sqrt(counts[word]) for word, weight in vector.items()) / (length or 1.0)
