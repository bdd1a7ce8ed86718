"""A text with one sign in place of each citation: what stands around them is read by patterns."""

from __future__ import annotations

import re
from functools import lru_cache

from pipeline.citation import Citation
from pipeline.package.verify.citations import spans
from pipeline.package.verify.passages import Piece

CITE = "\u0001"
LIST = rf"(?:{CITE}(?:, (?:and |or )?| and | or |; ))*{CITE}"
LISTED = re.compile(LIST)


def masked(piece: Piece, places: list[tuple[int, int, Citation]]) -> tuple[str, list[int]]:
    """The text with one sign in place of each citation, and where those signs stand."""
    text, told, offsets, end = piece.block.text, "", [], piece.start
    for start, stop, _ in places:
        told += text[end:start].replace("\n", " ")
        offsets.append(len(told))
        told += CITE
        end = stop
    return told + text[end : piece.end].replace("\n", " "), offsets


@lru_cache(maxsize=1_000)
def signs(piece: Piece) -> tuple[str, dict[int, tuple[int, Citation]]]:
    """The masked text, and by the place of each sign where its citation stands and what it is."""
    places = spans(piece)
    text, offsets = masked(piece, places)
    found = {at: (start, each) for at, (start, _, each) in zip(offsets, places, strict=True)}
    return text, found
