"""Numbers as people write them in a report: value, unit, precision, and what they are parts of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from pipeline.package.reading import Block, is_within

# Digits within a name, date, time, version, path or id are no figure.
DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
UNIT = r"\s?%|\s?percent\b|\s?(?:percentage\s)?points?\b|\s?pp\b"
BEFORE = r"(?<![\w.,:/#@^=&?~-])"
AFTER = r"(?![\w@^#=/]|[-:.,]\d|\.\.|-[A-Za-z])"
FIGURE = re.compile(rf"{BEFORE}(?P<sign>[+\u2212-])?(?P<digits>{DIGITS})(?P<unit>{UNIT})?{AFTER}")
FRACTION = re.compile(rf"{BEFORE}(?P<part>{DIGITS})/(?P<whole>{DIGITS}){AFTER}")
QUOTED = re.compile(r'"[^"\n]+"|\u201c[^\u201c\u201d]+\u201d')
# "task 10" names a row and counts nothing; so do the others of "tasks 4, 7 and 9".
NAMING = re.compile(
    r"\b(?:tasks?|rollout|attempt|run|event|repeat|stage|step|line|section|index|seed|k =)\s+$",
    re.IGNORECASE,
)
ALSO_NAMING = re.compile(r"(?:,|,? and|,? or)\s+")
CONVENTION = re.compile(r"[ -](?:confidence|credible|interval|CI)\b")
RANGE = re.compile(r"\s*(?:to|\u2013|\u2014)\s*")
PART_OF_NUMBER = re.compile(r"\s+(?:out )?of\s+(?:the |all )?\d")
LEADING_ZERO = re.compile(r"0\d")
LONGEST = 30


@dataclass(frozen=True)
class Number:
    """A number in the text of a block; `unit` is "percent", "points" or empty."""

    start: int
    end: int
    text: str
    value: float
    decimals: int
    unit: str
    is_signed: bool

    def agrees(self, value: float) -> bool:
        """Whether a value, a rate where the unit says so, would be printed like this."""
        told = 100 * value if self.unit else value
        if not self.is_signed:
            told = abs(told)
        # A value on the half may have been rounded either way.
        half = 0.5 * 10.0**-self.decimals
        return abs(told - self.value) <= half + 1e-9 * max(1.0, abs(told))


def numbers(block: Block) -> list[Number]:
    """The figures of a text in order: none of code, quotes, dates, ids and names of rows."""
    quoted = [match.span() for match in QUOTED.finditer(block.text)]
    found = [
        number
        for number in _with_ranges(block.text, sorted(_matched(block.text), key=_start))
        if not block.is_code(number.end - 1) and not is_within(quoted, number.start)
    ]
    return list(_without_names(block.text, found))


def _matched(text: str) -> Iterator[Number]:
    for match in FRACTION.finditer(text):
        for name in ("part", "whole"):
            yield _number(*match.span(name), match[name], "", "")
    for match in FIGURE.finditer(text):
        if CONVENTION.match(text, match.end()):
            continue
        yield _number(*match.span(), match["digits"], match["sign"] or "", match["unit"] or "")


def _number(start: int, end: int, digits: str, sign: str, unit: str) -> Number:
    plain = digits.replace(",", "")
    name = unit.strip()
    return Number(
        start,
        end,
        f"{sign}{digits}{unit}",
        float(plain) * (-1 if sign in ("-", "\u2212") else 1),
        len(plain.partition(".")[2]),
        "" if not name else "percent" if name in ("%", "percent") else "points",
        bool(sign),
    )


def _with_ranges(text: str, found: list[Number]) -> Iterator[Number]:
    """In `+14.0 to +23.9 points` both have the unit."""
    for number, following in pairwise([*found, None]):
        assert number is not None
        is_range = following is not None and RANGE.fullmatch(text, number.end, following.start)
        unit = following.unit if is_range and following and not number.unit else number.unit
        yield replace(number, unit=unit)


def _without_names(text: str, found: list[Number]) -> Iterator[Number]:
    end_of_name = -1
    for number in found:
        before = text[max(0, number.start - LONGEST) : number.start]
        is_plain = not (number.unit or number.is_signed or number.decimals)
        goes_on = end_of_name >= 0 and ALSO_NAMING.fullmatch(text, end_of_name, number.start)
        is_part = PART_OF_NUMBER.match(text, number.end)
        if is_plain and not is_part and (NAMING.search(before) or goes_on):
            end_of_name = number.end
        elif len(number.text) <= LONGEST and not LEADING_ZERO.match(number.text):
            end_of_name = -1
            yield number


def _start(number: Number) -> int:
    return number.start
