"""Which of several citations a quote or an id in a sentence belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.citation import Citation
from pipeline.package.statements import NEGATION
from pipeline.package.verify.citations import spans
from pipeline.package.verify.masking import CITE, LIST, signs
from pipeline.package.verify.passages import Piece

# `"..." (a, b)`, and `"..." in 5 of 5 calls (a, b)`.
BEHIND = re.compile(
    rf"[.,]?\s(?:in (?:\d+ of \d+|all(?: \w+)?|both|each)(?: \w+)? )?\((?P<cites>{LIST})\)"
)
# A citation that does something, and nothing that leads away from it up to the words.
SUBJECT = re.compile(rf"(?P<cite>{CITE}) (?P<does>[a-z](?:(?!\bwhile\b)[^.;:{CITE}]){{0,110}})\Z")
SAYS = re.compile(
    r"(?:still |only |then |again )?(?P<verb>says|sets|writes|reports|answers|replies|claims)"
    r"(?: that)? \Z"
)
SHORT = ("says", "sets", "writes")
# Numbers of records, addresses: what no two tasks share by chance.
VALUES = re.compile(r"(?<![\w.@/#-])(?:0\d{4,}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)(?![\w@/#-])")
# What is expected, guessed or compared may stand anywhere but in what is cited.
ASIDE = re.compile(
    r"\b(?:expected|instead|should|other run|guessed|same|another|also|elsewhere|both runs)\b", re.I
)


def listed_after(piece: Piece, offset: int) -> list[Citation]:
    """The citations of the bracket behind a quote that ends at a place of the block."""
    text, places = signs(piece)
    match = BEHIND.match(text, _masked_place(piece, offset))
    found = (places.get(at) for at in range(*match.span("cites"))) if match else ()
    return [each[1] for each in found if each is not None]


def speaker(piece: Piece, offset: int) -> tuple[Citation | None, bool, bool]:
    """The citation that is subject of what a place belongs to.

    And whether it says or sets just that, and whether even a single word would be its own.
    """
    text, places = signs(piece)
    place = _masked_place(piece, offset)
    match = SUBJECT.search(text, max(0, place - 150), place)
    if match is None or match.start("cite") not in places:
        return None, False, False
    # "`a` and `b` write": each of several is meant.
    if re.search(rf"{CITE}(?:,| and| or)\s+\Z", text[: match.start("cite")]):
        return None, False, False
    says = SAYS.fullmatch(match["does"])
    return places[match.start("cite")][1], says is not None, bool(says and says["verb"] in SHORT)


def values(piece: Piece) -> Iterator[tuple[int, str]]:
    """Ids and addresses of a sentence that are said of what it cites, with their places."""
    text = piece.block.text
    if NEGATION.search(piece.text) or ASIDE.search(piece.text):
        return
    for match in VALUES.finditer(text, piece.start, piece.end):
        if not piece.block.is_code(match.start()):
            yield match.start(), match[0].rstrip(".")


def is_value(text: str) -> bool:
    """Whether quoted words are an id or an address."""
    return VALUES.fullmatch(text) is not None


def _masked_place(piece: Piece, offset: int) -> int:
    """Where a place of the block stands in the masked text."""
    shorter = sum(end - start - 1 for start, end, _ in spans(piece) if end <= offset)
    return offset - piece.start - shorter
