"""Quoted words stand in the event or rollout that is cited beside them.

`"..." (RUN/TASK:ROLLOUT#SEQ)` binds the words to what the bracket cites; elsewhere they may stand
in any rollout that the same sentence or row cites. Cuts and placeholders match whatever was there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.citation import Citation
from pipeline.package.verify.evidence import ASKED, Evidence, Key, asked
from pipeline.package.verify.units import CELLS, SAID, Unit, is_headed, visible
from pipeline.report.sources import CONTRADICTED, UNCHECKED, VERIFIED, Finding
from pipeline.text import REDACTION, neutral

# Also what error signatures put in place of numbers, paths and ids.
CUT = re.compile(r"\u2026|\.\.\.|\[\.\.\.\]|\[\u2026\]|<[a-z]{1,10}(?:>|(?=\u2026))")
STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})
EDGES = " .,;:!?"
SHORTEST, LONGEST_WINDOW, CHUNK = 12, 400, 50
EVENTS = "select {key}, seq, call_id, coalesce(tool || ' ', '') || arguments, text from"
# Everything else that is on record of a rollout, its question included.
APART = {
    "rollouts": "final_text, answer, verifier::varchar",
    "failures": "message, verifier::varchar",
    "rollout_modes": "snippet",
    "health_findings": "message",
}
# Words of ours that a report may set in quotes.
OURS = "select stage from main.funnel union select title from main.failure_modes"


@dataclass(frozen=True)
class Quote:
    """Words that are said to stand somewhere, and where that would be."""

    line: int
    text: str
    cited: tuple[Citation, ...]
    # Whether a citation with an event means just that one, and whether a miss is an error.
    is_exact: bool
    is_bound: bool = True


@dataclass(frozen=True)
class Said:
    """A text of a rollout: in an event, or apart from all; a result also answers its call."""

    text: str
    seq: int | None = None
    call: str | None = None


def check(every: list[Unit], known: Evidence) -> Iterator[Finding]:
    """Every quote that has a place to be looked for."""
    yield from found([quote for unit in every for quote in _quotes(unit, known)], known)


def found(quotes: list[Quote], known: Evidence) -> Iterator[Finding]:
    """Whether each stands where it should."""
    keys = sorted({each.rollout for quote in quotes for each in quote.cited})
    said = dict(_said(known, keys))
    ours = known.source.execute(OURS).fetchall() if quotes else []
    for quote in quotes:
        yield from _finding(quote, said, [words for (words,) in ours if words])


def _finding(quote: Quote, said: dict[Key, list[Said]], ours: list[str]) -> Iterator[Finding]:
    line, claim, where = quote.line, quote.text, ", ".join(map(str, quote.cited[:3]))
    elsewhere: list[str] = []
    for each in quote.cited:
        texts = said.get(each.rollout, [])
        found = [one for one in texts if is_within(claim, one.text)]
        calls = {one.call for one in texts if one.seq == each.seq and one.call is not None}
        if any(not quote.is_exact or _is_at(each, one, calls) for one in found):
            yield Finding(line, VERIFIED, claim, claim, str(each), "quote")
            return
        elsewhere += [f"#{one.seq}" for one in found if one.seq is not None]
    if any(is_within(claim, words) for words in ours):
        return
    if not quote.is_bound:
        yield Finding(line, UNCHECKED, claim, None, "not bound to a citation", "quote")
    elif elsewhere:
        told = f"it stands at {', '.join(dict.fromkeys(elsewhere[:3]))}"
        yield Finding(line, CONTRADICTED, claim, told, where, "quote")
    elif _is_said(claim):
        yield Finding(line, CONTRADICTED, claim, "not said there", where, "quote")
    else:
        yield Finding(line, UNCHECKED, claim, None, "too short to be a quote", "quote")


def _is_at(each: Citation, found: Said, calls: set[str]) -> bool:
    """At the event cited, or in the result of the call that it is."""
    return each.seq is None or found.seq == each.seq or found.call in calls


def _is_said(text: str) -> bool:
    """Words in quotes may be a way of speaking: only longer ones are said by someone."""
    return sum(map(len, _fragments(text))) >= SHORTEST and len(text.split()) > 1


def _quotes(unit: Unit, known: Evidence) -> Iterator[Quote]:
    there = tuple(each for *_, each in unit.cites if known.exists(each))
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


def _said(known: Evidence, keys: list[Key]) -> Iterator[tuple[Key, list[Said]]]:
    """All texts of these rollouts, some rollouts at a time."""
    key = "run_id, task_id, rollout_index"
    for start in range(0, len(keys), CHUNK):
        some = keys[start : start + CHUNK]
        found: dict[Key, list[Said]] = {each: [] for each in some}
        joined = f"asked inner join main.%s using ({key})"
        query = ASKED + EVENTS.format(key=key) + " " + joined % "events"
        for run, task, index, seq, call, arguments, text in asked(known.source, query, some):
            told = [Said(arguments or "", seq)] if arguments else []
            # A call has an id too, but only its result is what was said to it.
            told.append(Said(text or "", seq, call))
            found[run, task, index] += told
        for relation, columns in APART.items():
            query = f"{ASKED} select {key}, {columns} from {joined % relation}"
            for run, task, index, *texts in asked(known.source, query, some):
                found[run, task, index] += [Said(text) for text in texts if text]
        query = (
            f"{ASKED} select {key}, prompt, system_prompt from asked "
            "inner join main.task_prompts using (run_id, task_id)"
        )
        for run, task, index, *texts in asked(known.source, query, some):
            found[run, task, index] += [Said(text) for text in texts if text]
        yield from found.items()


def is_within(quote: str, text: str) -> bool:
    """Whether a text says what is quoted of it."""
    flat, parts = _plain(text), _fragments(quote)
    whole = _plain(quote).strip(EDGES)
    if (whole and whole in flat) or _in_order(parts, flat):
        return True
    # Quoted without the escapes of JSON, or without backquotes.
    bare = flat.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\").replace("`", "")
    if bare != flat and _in_order(parts, " ".join(bare.split())):
        return True
    return REDACTION.search(text) is not None and _by_words(parts, text)


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


def _by_words(parts: list[str], text: str) -> bool:
    """Word by word, where a placeholder of the text stands for any one word of the quote."""
    words = _plain(REDACTION.sub("\u0002", text)).replace("\\x02", "\u0002").split()
    return bool(parts) and all(_has_run(part.split(), words) for part in parts)


def _has_run(part: list[str], words: list[str]) -> bool:
    if not part or len(part) > LONGEST_WINDOW:
        return False
    starts = range(len(words) - len(part) + 1)
    return any(all(map(_is_alike, part, words[at : at + len(part)])) for at in starts)


def _is_alike(quoted: str, word: str) -> bool:
    if "\u0002" not in word:
        return quoted.strip(EDGES) == word.strip(EDGES)
    before, _, after = word.partition("\u0002")
    return quoted.startswith(before) and quoted.endswith(after.rpartition("\u0002")[2].strip(EDGES))
