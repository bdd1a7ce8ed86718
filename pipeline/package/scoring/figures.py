"""Whether a report's numbers are those of the golden report, or of the data, for equal things."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.package.scoring.passages import Figure, Passage, Report
from pipeline.report.sources import CONTRADICTED, VERIFIED, Finding

# Statements speak of the same thing when they share this much of what both say.
ALIKE = 0.5
# A sentence may take numbers from a few statements near that one.
NEARLY_ALIKE, MOST_TWINS = 0.25, 3
RAREST = 6
LONGEST_POSTING = 64
# Beyond these, more of the golden report's numbers earn nothing.
ENOUGH = 20
SHARE_OF_GOLDEN = 0.25
FEWEST_TO_JUDGE = 4
# Checks of a report that are about evidence, which is scored for itself.
NO_FIGURES = ("citation", "quote")


@dataclass(frozen=True)
class Figures:
    """Numbers that could be held against something, and those that agreed."""

    n_compared: int
    n_agreeing: int
    n_wanted: int
    source: str

    @property
    def accuracy(self) -> float:
        """Of the numbers that could be checked, those that are right; too few tell nothing."""
        return self.n_agreeing / self.n_compared if self.n_compared >= FEWEST_TO_JUDGE else 1.0

    @property
    def score(self) -> float | None:
        """Right numbers, as far as there are enough of them; none where none are wanted."""
        if not self.n_wanted:
            return None
        return self.accuracy * min(1.0, self.n_agreeing / self.n_wanted)


def figures(report: Report, golden: Report, findings: Sequence[Finding] | None) -> Figures:
    """By what the data say where findings are given, else by the golden report."""
    n_golden = sum(len(each.figures) for each in golden.statements)
    wanted = min(ENOUGH, int(SHARE_OF_GOLDEN * n_golden) + (n_golden > 0))
    if findings is not None:
        judged = [
            each
            for each in findings
            if each.status in (VERIFIED, CONTRADICTED) and each.check not in NO_FIGURES
        ]
        n_right = sum(each.status == VERIFIED for each in judged)
        return Figures(len(judged), n_right, wanted, "warehouse")
    index = _Index(golden)
    n_compared = n_agreeing = 0
    for each in report.statements:
        if not each.figures:
            continue
        twins = index.like(each)
        if twins:
            n_compared += len(each.figures)
            n_agreeing += _n_agreeing(each.figures, [own for twin in twins for own in twin.figures])
    return Figures(n_compared, n_agreeing, wanted, "golden report")


class _Index:
    """The golden report's statements by their rarest words."""

    def __init__(self, golden: Report) -> None:
        self._statements = [each for each in golden.statements if each.figures]
        self._labels = [_label(each) for each in self._statements]
        self._postings: dict[str, list[int]] = defaultdict(list)
        for place, label in enumerate(self._labels):
            for word in label:
                self._postings[word].append(place)

    def like(self, statement: Passage) -> list[Passage]:
        """Those that speak of the same thing most, where any is close enough."""
        label = _label(statement)
        known = sorted((word for word in label if word in self._postings), key=self._rarity)
        places = {
            place for word in known[:RAREST] for place in self._postings[word][:LONGEST_POSTING]
        }
        likeness = {place: self._likeness(label, place) for place in sorted(places)}
        order = sorted(likeness, key=lambda place: (-likeness[place], place))
        if not order or likeness[order[0]] < ALIKE:
            return []
        near = [place for place in order[:MOST_TWINS] if likeness[place] >= NEARLY_ALIKE]
        return [self._statements[place] for place in near]

    def _rarity(self, word: str) -> tuple[int, str]:
        return len(self._postings[word]), word

    def _likeness(self, label: frozenset[str], place: int) -> float:
        other = self._labels[place]
        return len(label & other) / max(1, len(label | other))


def _label(statement: Passage) -> frozenset[str]:
    """What a statement's numbers are of: its words, names and tasks, and its section if a row."""
    words = {each for each in statement.content if each[0].isalpha()}
    place = (f"in {statement.kind}",) if statement.is_row else ()
    return frozenset((*words, *statement.tasks, *statement.names, *place))


def _n_agreeing(own: Sequence[Figure], other: Sequence[Figure]) -> int:
    return sum(any(each.is_like(twin) for twin in other) for each in own)
