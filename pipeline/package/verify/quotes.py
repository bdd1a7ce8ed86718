"""Quoted words stand in the event or rollout that is cited beside them.

`"..." (RUN/TASK:ROLLOUT#SEQ)` binds the words to what the bracket cites; elsewhere they may stand
in any rollout that the same sentence or row cites. Cuts and placeholders match whatever was there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.citation import Citation
from pipeline.package.sources import CONTRADICTED, UNCHECKED, VERIFIED, Finding
from pipeline.package.verify.citations import QUERIES, Evidence, Key, asked
from pipeline.package.verify.units import CELLS, SAID, Unit, is_headed, visible
from pipeline.text import REDACTION, neutral

# Also what error signatures put in place of numbers, paths and ids.
CUT = re.compile(r"\u2026|\.\.\.|\[\.\.\.\]|\[\u2026\]|<[a-z]{1,10}(?:>|(?=\u2026))")
STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})
EDGES = " .,;:!?"
SHORTEST, CHUNK = 12, 50


@dataclass(frozen=True)
class Quote:
    """Words that are said to stand somewhere, and where that would be."""

    line: int
    text: str
    cited: tuple[Citation, ...]
    # Whether a citation with an event means just that one, and whether a miss is an error.
    is_exact: bool
    is_bound: bool = True


# A text of a rollout: its event, none where it stands apart from all, and the call it answers.
Said = tuple[int | None, str | None, str]


def check(every: list[Unit], known: Evidence) -> Iterator[Finding]:
    """Every quote that has a place to be looked for."""
    yield from found([quote for unit in every for quote in _quotes(unit, known)], known)


def found(quotes: list[Quote], known: Evidence) -> Iterator[Finding]:
    """Whether each stands where it should."""
    keys = sorted({each.rollout for quote in quotes for each in quote.cited})
    said = _said(known, keys)
    ours = known.source.execute(QUERIES["ours"]).fetchall() if quotes else []
    for quote in quotes:
        yield from _finding(quote, said, [words for (words,) in ours if words])


def _finding(quote: Quote, said: dict[Key, list[Said]], ours: list[str]) -> Iterator[Finding]:
    line, claim, where = quote.line, quote.text, ", ".join(map(str, quote.cited[:3]))
    elsewhere: set[int] = set()
    is_hidden = False
    for each in quote.cited:
        texts = said.get(each.rollout, [])
        is_hidden = is_hidden or any(REDACTION.search(text) for *_, text in texts)
        found = [(seq, call) for seq, call, text in texts if is_within(claim, text)]
        calls = {call for seq, call, _ in texts if seq == each.seq and call is not None}
        # At the event cited, or in the result of the call that it is.
        is_free = not quote.is_exact or each.seq is None
        if any(is_free or seq == each.seq or call in calls for seq, call in found):
            yield Finding(line, VERIFIED, claim, claim, str(each), "quote")
            return
        elsewhere |= {seq for seq, _ in found if seq is not None}
    if any(is_within(claim, words) for words in ours):
        return
    if not quote.is_bound:
        yield Finding(line, UNCHECKED, claim, None, "not bound to a citation", "quote")
    elif elsewhere:
        told = f"it stands at {', '.join(f'#{seq}' for seq in sorted(elsewhere)[:3])}"
        yield Finding(line, CONTRADICTED, claim, told, where, "quote")
    elif is_hidden:
        yield Finding(line, UNCHECKED, claim, None, "what is said there is redacted", "quote")
    elif sum(map(len, _fragments(claim))) >= SHORTEST and len(claim.split()) > 1:
        yield Finding(line, CONTRADICTED, claim, "not said there", where, "quote")
    else:  # a way of speaking: only longer words are said by someone
        yield Finding(line, UNCHECKED, claim, None, "too short to be a quote", "quote")


def _quotes(unit: Unit, known: Evidence) -> Iterator[Quote]:
    there = tuple(each for each in unit.cited if known.exists(each))
    if not there or unit.block.kind == "heading":
        return
    for span in unit.spans:
        text = visible(unit.raw(span)).replace("`", "").strip()
        if is_headed(span, "quote") and not CELLS["nothing"].fullmatch(text.strip(" *")):
            yield Quote(unit.line, text, there, is_exact=False)
    for span, start, end, said in unit.quotes:
        if is_headed(span, "quote"):
            continue
        line, text = unit.report.line_at(start), unit.report.text
        bracket = SAID["bracket"].match(text, end, span.end)
        last = bracket.end() if bracket else end
        bound = [each for *_, at, _, each in unit.cites if end <= at < last]
        for each in bound:
            if known.exists(each):
                yield Quote(line, said, (each,), is_exact=True)
        if not bound:
            # A cell may show anything in quotes, and so may what was expected.
            before = text[max(span.start, start - 20) : start]
            is_bound = not (unit.is_row or SAID["expected"].search(before))
            yield Quote(line, said, there, is_bound and len(set(there)) == 1, is_bound)


def _said(known: Evidence, keys: list[Key]) -> dict[Key, list[Said]]:
    """All texts of these rollouts, some rollouts at a time."""
    found: dict[Key, list[Said]] = {each: [] for each in keys}
    for start in range(0, len(keys), CHUNK):
        rows = asked(known.source, "record", keys[start : start + CHUNK])
        for run, task, index, seq, call, text in rows:
            if text:
                found[run, task, index].append((seq, call, text))
    return found


def is_within(quote: str, text: str) -> bool:
    """Whether a text says what is quoted of it."""
    flat, parts = _plain(text), _fragments(quote)
    whole = _plain(quote).strip(EDGES)
    if (whole and whole in flat) or _in_order(parts, flat):
        return True
    # Quoted without the escapes of JSON, or without backquotes.
    bare = flat.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\").replace("`", "")
    return bare != flat and _in_order(parts, " ".join(bare.split()))


def _plain(text: str) -> str:
    """On one line, without what people change when they quote: case and kinds of marks."""
    return neutral(" ".join(text.split())).translate(STRAIGHT).casefold()


def _fragments(quote: str) -> list[str]:
    """The parts of a quote that must be there: between cuts and placeholders."""
    whole = CUT.sub("\n", REDACTION.sub("\n", quote.replace("\n", " ")))
    parts = [_plain(part).strip() for part in whole.split("\n")]
    return [part for part in parts if part.strip(EDGES)]


def _in_order(parts: list[str], flat: str) -> bool:
    place = 0
    for number, part in enumerate(parts):
        bare = part.strip(EDGES) if number in (0, len(parts) - 1) else part
        at = flat.find(bare, place)
        if at < 0:
            return False
        place = at + len(bare)
    return bool(parts)
