"""A paragraph, item or heading compared with what its sources give."""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

from ..report.cited import VERSUS, quoted
from ..text import one_line
from .blocks import Block, Report, Span, Token, code_spans, edited, masked, plain
from .findings import CONTRADICTED, JUDGED, UNCHECKED, VERIFIED, Edit, Finding
from .queries import Answer, Answers
from .sources import Pair, Source
from .values import contains_phrase, is_number, measured, number, token_of

TWICE = ": it is there twice"
# Sets of possible answers: if one is bound, another one in its place is wrong.
ANSWERS = (
    ("significant", "not significant", "insignificant", "undecided"),
    ("highest", "lowest"),
    ("higher", "lower"),
    ("improved", "regressed", "no change", "inconclusive", "not comparable"),
    ("always", "sometimes", "never", "missing"),
)
# The similarity from which a name is taken for another, and the most words to search for.
ALIKE, FEW = 0.75, 50
CITATION = re.compile(r"[^\s/]+/.+:\d+(?:#\d+)?")


@dataclass
class _Bound:
    """A pair of a sentence with its value, and the places of the text that print it."""

    source: Source
    pair: Pair
    value: Any
    place: tuple[int, int] | None = None
    token: Token | None = None
    # The place of its words, if they are not a name between backquotes.
    cover: tuple[int, int] | None = None
    # The text that should be there.
    expected: str = ""
    is_stale: bool = False

    @cached_property
    def printed(self) -> Token | None:
        """The figure, if its text is one and nothing else."""
        return token_of(self.pair.text)

    @property
    def is_figure(self) -> bool:
        if self.value is None:
            return self.pair.text in ("n/a", None)
        return is_number(self.value)

    @property
    def is_word(self) -> bool:
        """Whether it is one of a few possible answers, which may occur more than once."""
        return any(self.expected in group for group in ANSWERS)

    @property
    def words(self) -> str:
        column = self.pair.expression
        return f"{column} {self.source.words}" if column else self.source.words


@dataclass
class Sentence:
    """A paragraph, item or heading beside what its sources give."""

    report: Report
    block: Block
    answered: list[tuple[Source, Answer]]
    answers: Answers | None
    bound: list[_Bound] = field(default_factory=list)

    def findings(self) -> Iterator[Finding]:
        """A finding for each pair; a figure without a pair may have replaced one that is gone."""
        is_whole = True
        for source, answer in self.answered:
            if source.keys or source.columns:
                why = "a source of a table, and this is none"
                yield Finding(source.line, UNCHECKED, source.words, None, why)
            elif answer.fault:
                is_whole = False
            elif len(answer.rows) != 1:
                n_rows = len(answer.rows)
                yield self._fault(source, f"the query gives {n_rows or 'no'} rows")
                is_whole = False
            elif len(answer.rows[0]) != len(source.pairs):
                n_values = len(answer.rows[0])
                yield self._fault(source, f"{len(source.pairs)} texts for {n_values} values")
                is_whole = False
            else:
                values = zip(source.pairs, answer.rows[0], strict=True)
                self.bound += [_Bound(source, pair, value) for pair, value in values]
        if not self.bound:
            return
        span = next(self.block.spans, None)
        if span is None:
            return
        checked = [*self._figures(is_whole), *self._names(span)]
        # A name and its figure are edited together or not at all, and a sentence that has a figure
        # twice is not edited: one half would be of other data than the rest.
        is_twice = any(each.source.endswith(TWICE) for _, each in checked)
        stuck = {
            id(source) for source, each in checked if each.status == CONTRADICTED and not each.edits
        }
        for source, each in checked:
            yield replace(each, edits=()) if is_twice or id(source) in stuck else each
        yield from self._crossed()

    def _fault(self, source: Source, why: str) -> Finding:
        return Finding(source.line, CONTRADICTED, source.words, "one row", why)

    def _figures(self, is_whole: bool) -> Iterator[tuple[Source, Finding]]:
        wanted = [each for each in self.bound if each.is_figure]
        free = list(self.block.tokens)
        n_printed = Counter(token.printed for token in free)
        for is_of in (_is_printed, _agrees):
            for each in (one for one in wanted if one.token is None):
                each.token = next((token for token in free if is_of(token, each)), None)
                if each.token:
                    free.remove(each.token)
        # If two pairs are printed alike, it is not known which is which.
        texts: dict[Any, set[str]] = {}
        for each in wanted:
            if each.token:
                each.expected = _like(each.token, each)
                texts.setdefault(each.token.printed, set()).add(each.expected)
        uses = Counter(each.token.printed for each in wanted if each.token)
        for each in wanted:
            if token := each.token:
                is_right = _agrees(token, each)
                is_known = len(texts[token.printed]) == 1 and (
                    uses[token.printed] == n_printed[token.printed]
                )
                edits = self._edits(each, token.start, token.end) if is_known else ()
                finding = Finding(
                    token.line,
                    JUDGED[is_right],
                    token.text,
                    token.text if is_right else each.expected,
                    each.words if is_right or edits else f"{each.words}{TWICE}",
                    edits=() if is_right else edits,
                    span=(token.start, token.end),
                )
                yield each.source, finding
        gone = [each for each in wanted if each.token is None]
        free = [token for token in free if token.value is not None]
        for each in gone:
            shape = _shape(each)
            others = [token for token in free if token.shape[:2] == shape] if is_whole else []
            rivals = [other for other in gone if _shape(other) == shape]
            if not others:
                yield each.source, self._note(each)
            for token in others:
                expected = _like(token, each)
                is_sure = len(others) == len(rivals) == 1
                finding = Finding(
                    token.line,
                    CONTRADICTED,
                    token.text,
                    expected,
                    each.words,
                    edits=self._edits(replace(each, expected=expected), token.start, token.end)
                    if is_sure
                    else (),
                    span=(token.start, token.end),
                )
                yield each.source, finding

    def _edits(self, bound: _Bound, start: int, end: int) -> tuple[Edit, ...]:
        pair = bound.pair
        if pair.text is None:
            return ((start, end, bound.expected),)
        bare = re.sub(r"\s(?:percentage )?points?\Z", "", bound.expected)
        new_text = bare if bound.printed else bound.expected
        return ((start, end, bound.expected), (pair.start, pair.end, quoted(new_text)))

    def _note(self, bound: _Bound) -> Finding:
        text = bound.pair.text or one_line(str(bound.value), 100)
        why = f"{bound.words}: the block does not say it any more"
        return Finding(self.block.line, UNCHECKED, text, None, why)

    def _names(self, span: Span) -> Iterator[tuple[Source, Finding]]:
        wanted = [each for each in self.bound if not each.is_figure and each.value is not None]
        text = span.text
        codes = {
            (span.start + start, span.start + end): plain(text[start:end])
            for start, end in code_spans(text)
        }
        seen, free = plain(text), dict(codes)
        for each in wanted:
            each.expected = self._expected(each)
            each.is_stale = bool(each.pair.text) and each.expected != each.pair.text
        # First comparisons, since their two sides account for both names.
        for each in sorted(wanted, key=lambda one: VERSUS not in one.expected):
            for form in [each.pair.text] if each.is_stale else self._forms(each):
                place = next((place for place, code in free.items() if code == form), None)
                if place:
                    each.place = place
                    del free[place]
                    break
                taken = [place for place in codes if place not in free]
                taken += [one.cover for one in wanted if one.cover and one.is_word]
                rest = edited(text, ((a - span.start, b - span.start, "") for a, b in set(taken)))
                if form and contains_phrase(form, _without_longer_answers(plain(rest), form)):
                    each.place = (span.start, span.start)
                    each.cover = _cover(form, text, span.start)
                    for name in form.split(VERSUS) if VERSUS in form else ():
                        used = next((one for one, code in free.items() if code == name), None)
                        free.pop(used or (0, 0), None)
                    break
        for each in wanted:
            line = self.report.line_at(each.place[0] if each.place else span.start)
            shown = each.pair.text or each.expected
            if each.place and not each.is_stale:
                place = each.place if each.place[1] > each.place[0] else each.cover
                finding = Finding(line, VERIFIED, shown, shown, each.words, span=place)
            elif each.is_stale:
                finding = self._stale(each, line)
            else:
                finding = self._gone(each, seen, free)
            yield each.source, finding

    def _stale(self, bound: _Bound, line: int) -> Finding:
        """A name that the query no longer gives; words are left to a person."""
        edits: tuple[Edit, ...] = ()
        if bound.place and bound.place[1] > bound.place[0]:
            new = f"`{bound.expected}`"
            edits = (
                (*bound.place, new),
                (bound.pair.start, bound.pair.end, quoted(bound.expected)),
            )
        shown = bound.pair.text or ""
        return Finding(line, CONTRADICTED, shown, bound.expected, bound.words, edits=edits)

    def _gone(self, bound: _Bound, seen: str, free: dict[tuple[int, int], str]) -> Finding:
        """A name that is not in the block: wrong if another is in its place."""
        if VERSUS in bound.expected:
            return self._gone_sides(bound, seen)
        if bound.is_word:
            return self._gone_word(bound, seen)
        expected, known = bound.expected, self._known(bound)
        taken = {other.expected for other in self.bound if other.place}
        rivals = [
            (place, rival)
            for place, rival in free.items()
            if rival not in taken and self._is_rival(rival, expected, known)
        ]
        if not rivals:
            # One of a few words that are printed without backquotes.
            outside = plain(masked(next(self.block.spans).text))
            for word in sorted(known) if len(known) <= FEW else ():
                if word not in taken and contains_phrase(word, outside):
                    return Finding(self.block.line, CONTRADICTED, word, expected, bound.words)
            return self._note(bound)
        place, rival = rivals[0]
        gone = [one for one in self.bound if not one.is_figure and one.place is None]
        edits: tuple[Edit, ...] = ()
        if len(rivals) == len(gone) == 1:
            edits = ((*place, f"`{expected}`"),)
        line = self.report.line_at(place[0])
        return Finding(line, CONTRADICTED, rival, expected, bound.words, edits=edits, span=place)

    def _gone_sides(self, bound: _Bound, seen: str) -> Finding:
        """The two sides of a comparison: exchanged, apart in the block, or gone."""
        line, expected = self.block.line, bound.expected
        names = [self._short(side) for side in expected.split(VERSUS, 1)]
        for one, other in product(*names):
            exchanged = f"{other}{VERSUS}{one}"
            if exchanged in seen:
                return Finding(line, CONTRADICTED, exchanged, expected, bound.words)
        if all(any(contains_phrase(name, seen) for name in own) for own in names):
            return Finding(line, VERIFIED, expected, expected, bound.words)
        return self._note(bound)

    def _gone_word(self, bound: _Bound, seen: str) -> Finding:
        """One of a few answers: wrong if another of them is in the block."""
        others = next(group for group in ANSWERS if bound.expected in group)
        for word in sorted(others, key=len, reverse=True):
            is_there = contains_phrase(word, _without_longer_answers(seen, word))
            if word != bound.expected and is_there:
                return Finding(self.block.line, CONTRADICTED, word, bound.expected, bound.words)
        return self._note(bound)

    def _known(self, bound: _Bound) -> frozenset[str]:
        """The names that could be in place of one: those of its column, or of runs."""
        if self.answers is None:
            return frozenset()
        if not bound.source.relation and bound.value in self.answers.aliases:
            return frozenset(self.answers.aliases)
        return self.answers.values(bound.pair.expression, bound.source.relation)

    def _is_rival(self, name: str, expected: str, known: Collection[str]) -> bool:
        """Whether a name that no pair accounts for may have replaced one that is gone."""
        if CITATION.fullmatch(expected):
            return CITATION.fullmatch(name) is not None
        every = self.answers.names if self.answers else frozenset()
        return (
            name in known
            or name in every
            or any(name in self._short(one) for one in known)
            or difflib.SequenceMatcher(None, name, expected).ratio() >= ALIKE
        )

    def _forms(self, bound: _Bound) -> list[str]:
        value = bound.expected
        forms = [value, plain(value), one_line(value), value.replace("_", " ")]
        forms += [one_line(value, 140), *self._short(str(bound.value))]
        return list(dict.fromkeys(forms))

    def _short(self, name: str) -> list[str]:
        if not self.answers:
            return [name]
        return [name, self.answers.short(name), *sorted(self.answers.aliases.get(name, ()))]

    def _expected(self, bound: _Bound) -> str:
        """The value as its text would have it: by an alias if the text is one."""
        value = bound.value
        current = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        printed = bound.pair.text
        if printed is None or printed == current:
            return current
        if printed in (
            plain(current),
            one_line(current),
            current.replace("_", " "),
            *self._short(current),
        ):
            return printed
        # A name of a run that is written short stays short.
        runs = self.answers.aliases if self.answers else {}
        if any(printed in own for own in runs.values()) and runs.get(current):
            return min(runs[current], key=lambda name: (len(name), name))
        return current

    def _crossed(self) -> Iterator[Finding]:
        """Two rows of one query whose names are in another order than their figures."""
        groups: dict[tuple[object, ...], list[dict[str, _Bound]]] = defaultdict(list)
        for source, _ in self.answered:
            own = {each.pair.expression: each for each in self.bound if each.source is source}
            groups[source.relation, *sorted(own)].append(own)
        pairs = (pair for own in groups.values() for pair in combinations(own, 2))
        for one, two in pairs:
            for name, column in product(one, repeat=2):
                place, other_place = _place(one[name]), _place(two[name])
                figure, other = one[column].token, two[column].token
                if not (place and other_place and figure and other):
                    continue
                if one[name].expected == two[name].expected or figure.printed == other.printed:
                    continue
                if (place < other_place) != (figure.start < other.start):
                    claim = f"{one[name].expected} beside {other.text}"
                    expected = f"{one[name].expected} beside {figure.text}"
                    line = self.report.line_at(place[0])
                    yield Finding(line, CONTRADICTED, claim, expected, one[column].words)
                    return


def _without_longer_answers(seen: str, word: str) -> str:
    """A text without the answers that hold another: "not significant" is not "significant"."""
    for answer in (answer for answers in ANSWERS if word in answers for answer in answers):
        if answer != word and contains_phrase(word, answer):
            seen = re.sub(re.escape(answer), " ", seen, flags=re.IGNORECASE)
    return seen


def _cover(text: str, within: str, start: int) -> tuple[int, int] | None:
    """The place of a text in Markdown that may escape its characters."""
    match = re.search(r"\\?".join(re.escape(sign) for sign in text), within, re.IGNORECASE)
    return (start + match.start(), start + match.end()) if match else None


def _place(bound: _Bound) -> tuple[int, int] | None:
    """Where a name is between backquotes."""
    is_code = bound.place is not None and bound.place[1] > bound.place[0]
    return bound.place if is_code and not bound.is_figure else None


def _sign(bound: _Bound) -> float | None:
    """The value, without its sign if its text has none."""
    value, printed = number(bound.value), bound.printed
    is_bare = printed is not None and printed.value is not None and not printed.is_signed
    return abs(value) if value is not None and is_bare else value


def _is_printed(token: Token, bound: _Bound) -> bool:
    return bound.printed is not None and token.printed == bound.printed.printed


def _agrees(token: Token, bound: _Bound) -> bool:
    return _in_unit(token, bound).agrees(_sign(bound))


def _like(token: Token, bound: _Bound) -> str:
    return token.text if _agrees(token, bound) else _in_unit(token, bound).like(_sign(bound))


def _in_unit(token: Token, bound: _Bound) -> Token:
    """A figure without a unit, with that of its pair: points if it was printed as such."""
    printed, value = bound.printed, _sign(bound)
    if printed and printed.value is not None and value is not None:
        is_rate = isinstance(value, float) and abs(value) <= 1 < abs(printed.value)
        if printed.unit or printed.is_signed or is_rate:
            return token
    return measured(token, bound.pair.expression)


def _shape(bound: _Bound) -> tuple[str, bool]:
    """The kind of figure of a pair, by its text, else by its value."""
    if bound.printed is not None:
        return bound.printed.shape[:2]
    return ("", not isinstance(bound.value, int))
