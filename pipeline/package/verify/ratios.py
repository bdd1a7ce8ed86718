"""Parts and wholes beside one another: `14 of 57 (24.6%)` holds by itself, or it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.package.numbers import Number, Ratio
from pipeline.package.verify.finding import CONTRADICTED, VERIFIED, Finding
from pipeline.package.verify.passages import Passage, Piece

CHECK = "ratio"
# The percentage is of something else than the ratio before it.
OTHER = re.compile(
    r"\b(?:of|interval|confidence|pass@|pass\^|reward|rate|up|down|from|against|vs|than)\b",
    re.IGNORECASE,
)
NOT_A_SHARE = re.compile(r"\b(?:best|top|first|last|any|k|choice)\s+\Z", re.IGNORECASE)


def check(found: list[Passage], file: str) -> Iterator[Finding]:
    """Every `N of M`: the part within the whole, the percentage beside it their quotient."""
    for passage in found:
        for piece in passage.pieces:
            for ratio in piece.ratios:
                finding = _finding(piece, ratio, file)
                if finding is not None:
                    yield finding


def is_sound(piece: Piece, ratio: Ratio) -> bool:
    """Whether the two numbers are a part and its whole and not, say, a score or a date."""
    before = piece.block.text[max(piece.start, ratio.part.start - 12) : ratio.part.start]
    return (
        not NOT_A_SHARE.search(before)
        and not ratio.part.is_signed
        and not ratio.part.decimals
        and not ratio.whole.decimals
    )


def _finding(piece: Piece, ratio: Ratio, file: str) -> Finding | None:
    if not is_sound(piece, ratio):
        return None
    line = piece.line_at(ratio.part.start)
    claim = f"{ratio.part.text} of {ratio.whole.text}"
    if ratio.part.value > ratio.whole.value:
        expected = f"at most {ratio.whole.text}"
        return Finding(line, CONTRADICTED, claim, expected, "the text itself", CHECK, file)
    percent = _percent(piece, ratio)
    if percent is None or not ratio.whole.value:
        return None
    share = ratio.part.value / ratio.whole.value
    claim = f"{claim} ({percent.text})"
    expected = f"{100 * share:.{percent.decimals}f}%"
    status = VERIFIED if percent.agrees(share) else CONTRADICTED
    return Finding(
        piece.line_at(percent.start), status, claim, expected, "the text itself", CHECK, file
    )


def _percent(piece: Piece, ratio: Ratio) -> Number | None:
    """The percentage beside a ratio, where nothing says that it is of something else."""
    percent = ratio.percent
    if percent is None or percent.is_signed:
        return None
    text = piece.block.text
    first, last = sorted([(percent.start, percent.end), (ratio.part.start, ratio.whole.end)])
    between = text[first[1] : last[0]]
    # "44.0% (31 of 76 rollouts ...)" may count rollouts under a mean over tasks.
    before = text[max(piece.start, percent.start - 60) : percent.start]
    is_first = percent.start < ratio.part.start
    if OTHER.search(between) or (is_first and re.search(r"pass@|pass\^", before)):
        return None
    after = text[percent.end : percent.end + 12]
    return None if re.match(r"\s*(?:to|\u2013)\s*\d|,? 95%", after) else percent
