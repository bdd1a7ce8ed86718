"""Quoted words stand in the event, rollout or prompt that is cited beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pipeline import citation
from pipeline.citation import Citation
from pipeline.package.numbers import QUOTED
from pipeline.package.verify.citations import cited, exists, heading_tasks, named_tasks
from pipeline.package.verify.data import Data
from pipeline.package.verify.evidence import Evidence, Key, joined, key
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.passages import ASKED, ASKED_START, QUOTING, Passage, Piece
from pipeline.package.verify.speakers import is_value, listed_after, speaker, values
from pipeline.package.verify.wording import fragments, is_within, told

CHECK = "quote"
# Of a call only the argument that differs may be shown: `tool name: value`.
ARGUMENT = re.compile(r"^\s*[\w.-]+ [\w.-]+: ")
CALL = re.compile(r"\w+\s*[({]")
NOTHING = ("", "nothing", "n/a", "none", "-", "\u2013", "\u2014")
SHORTEST = 12
CHUNK = 50


@dataclass(frozen=True)
class Quote:
    """Words that are said to stand somewhere, and where that would be."""

    line: int
    text: str
    cited: tuple[Citation, ...]
    # Run, where one is known, and task whose prompt is quoted.
    asked: tuple[tuple[str | None, str], ...]
    # Whether the words are bound to the event cited, and whether a miss is an error.
    is_exact: bool
    is_bound: bool
    # A whole cell, an id or what is "set" is a quote however short it is.
    is_cell: bool = False


def check(found: list[Passage], data: Data, evidence: Evidence, file: str) -> Iterator[Finding]:
    """Every quote that has a place to be looked for."""
    quotes = [quote for passage in found for quote in _quotes(passage, evidence)]
    places = _places(quotes, data)
    prompts = _prompts(quotes, data)
    vocabulary = _vocabulary(data) if any(quote.cited for quote in quotes) else []
    for number, quote in enumerate(quotes):
        if quote.asked and not quote.cited:
            yield _of_prompt(quote, prompts, file)
        else:
            yield from _of_events(quote, places.get(number, {}), evidence, vocabulary, file)


def _of_prompt(
    quote: Quote, prompts: dict[tuple[str | None, str], list[str]], file: str
) -> Finding:
    texts = [text for where in quote.asked for text in prompts.get(where, [])]
    line, claim = quote.line, quote.text
    if not texts:
        return Finding(line, UNVERIFIABLE, claim, None, "no prompt is recorded", CHECK, file)
    if any(is_within(claim, text) for text in texts):
        return Finding(line, VERIFIED, claim, claim, "task_prompts", CHECK, file)
    return Finding(line, CONTRADICTED, claim, told(texts[0])[:200], "task_prompts", CHECK, file)


def _of_events(
    quote: Quote,
    places: dict[Key, set[Place]],
    evidence: Evidence,
    vocabulary: list[str],
    file: str,
) -> Iterator[Finding]:
    line, claim = quote.line, quote.text
    where = ", ".join(map(str, quote.cited[:3]))
    exact = [
        each
        for each in quote.cited
        if key(each) in places and (not quote.is_exact or _is_at(each, places[key(each)], evidence))
    ]
    if exact:
        yield Finding(line, VERIFIED, claim, claim, str(exact[0]), CHECK, file)
        return
    is_ours = any(is_within(claim, text) for text in vocabulary)
    if is_ours and not (quote.is_exact and quote.is_cell):
        return
    elsewhere = [
        f"#{seq}"
        for each in quote.cited
        for seq in sorted(place for place in places.get(key(each), ()) if isinstance(place, int))
    ]
    if elsewhere:
        expected = f"it stands at {', '.join(elsewhere[:3])}"
        yield Finding(line, CONTRADICTED, claim, expected, where, CHECK, file)
    elif quote.is_bound and (quote.is_cell or _is_telling(claim)):
        yield Finding(line, CONTRADICTED, claim, "not said there", where, CHECK, file)
    elif _is_telling(claim):
        yield Finding(line, UNVERIFIABLE, claim, None, where, CHECK, file)


def _is_at(each: Citation, places: set[Place], evidence: Evidence) -> bool:
    """At the event cited, or in the result of the call that it is."""
    if each.seq is None:
        return True
    call = evidence.events[*key(each), each.seq].call
    return each.seq in places or (call is not None and call in places)


def _is_telling(text: str) -> bool:
    """Words in quotes may be a way of speaking: only longer ones are said by someone."""
    return sum(map(len, fragments(text))) >= SHORTEST and len(text.split()) > 1


def _quotes(passage: Passage, evidence: Evidence) -> Iterator[Quote]:
    there = tuple(each for each in cited(passage) if exists(each, evidence))
    for piece in passage.pieces:
        if passage.is_row and piece.text.strip():
            yield from _of_cell(passage, piece, there, evidence)
        if not passage.is_row and piece.is_quoting:
            tasks, asked = heading_tasks(passage), ASKED_START.match(piece.text)
            where = tuple((run, task) for task in tasks for run in _runs(passage, evidence))
            text = piece.text[asked.end() :] if asked else piece.text
            if where:
                yield Quote(passage.line, text, (), where, is_exact=False, is_bound=True)
            continue
        if there:
            yield from _in_text(piece, there, evidence)


def _runs(passage: Passage, evidence: Evidence) -> list[str | None]:
    """The runs a passage may be about: those its headings name, else all."""
    named = [run for run in evidence.runs if any(run in title for title in passage.titles)]
    return [*named] or [*evidence.runs]


def _of_cell(
    passage: Passage, piece: Piece, there: tuple[Citation, ...], evidence: Evidence
) -> Iterator[Quote]:
    head, text, line = piece.head.strip(), piece.text, passage.line
    if text.strip().casefold() in NOTHING:
        return
    if QUOTING.fullmatch(head) and there:
        is_exact = any(each.seq is not None for each in there)
        text = ARGUMENT.sub("", text)
        yield Quote(line, text, there, (), is_exact=is_exact, is_bound=True, is_cell=True)
    elif ASKED.fullmatch(head):
        tasks = [task for each in passage.pieces for _, task in named_tasks(passage, each)]
        tasks = tasks or [each.task_id for each in there]
        runs: list[str | None] = [each.run_id for each in there] or _runs(passage, evidence)
        where = tuple((run, task) for run in dict.fromkeys(runs) for task in dict.fromkeys(tasks))
        if where:
            yield Quote(line, text, (), where, is_exact=False, is_bound=True)


def _in_text(piece: Piece, there: tuple[Citation, ...], evidence: Evidence) -> Iterator[Quote]:
    text = piece.block.text
    for match in QUOTED.finditer(text, piece.start, piece.end):
        if piece.block.is_code(match.start()):
            continue
        line, said = piece.line_at(match.start()), match[0][1:-1]
        beside = [each for each in listed_after(piece, match.end()) if exists(each, evidence)]
        for each in beside:
            # Of a list each says it, where it is cited.
            is_exact = each.seq is not None
            yield Quote(line, said, (each,), (), is_exact, is_bound=True, is_cell=is_value(said))
        if not beside:
            by, is_exact, is_short = speaker(piece, match.start())
            if by is None or not exists(by, evidence):
                yield Quote(line, said, there, (), is_exact=False, is_bound=True)
            else:
                is_exact = is_exact and by.seq is not None
                is_cell = is_exact and is_short
                yield Quote(line, said, (by,), (), is_exact, is_bound=True, is_cell=is_cell)
    for start, value in values(piece):
        by, *_ = speaker(piece, start)
        own = (by,) if by is not None and exists(by, evidence) else there
        line = piece.line_at(start)
        yield Quote(line, value, own, (), is_exact=False, is_bound=True, is_cell=True)
    for start, end in piece.codes:
        span = text[start:end]
        if citation.parse(span) is None and " " in span.strip() and CALL.match(span):
            is_call = CALL.split(span)[0] == "" and span.split("{")[0].strip() in evidence.tools
            yield Quote(piece.line_at(start), span, there, (), is_exact=False, is_bound=is_call)


# The number of an event, the id of its call, or nothing for what stands apart from events.
Place = int | str | None


def _places(quotes: list[Quote], data: Data) -> dict[int, dict[Key, set[Place]]]:
    """For each quote the rollouts that say it, and where."""
    wanted: dict[Key, list[int]] = {}
    for number, quote in enumerate(quotes):
        for each in quote.cited:
            wanted.setdefault(key(each), []).append(number)
    found: dict[int, dict[Key, set[Place]]] = {}
    keys = sorted(wanted)
    for start in range(0, len(keys), CHUNK):
        for where, places, text in _texts(data, keys[start : start + CHUNK]):
            for number in wanted[where]:
                if is_within(quotes[number].text, text):
                    found.setdefault(number, {}).setdefault(where, set()).update(places)
    return found


def _texts(data: Data, keys: list[Key]) -> Iterator[tuple[Key, tuple[Place, ...], str]]:
    """Everything that is on record of these rollouts: events one by one, then what is apart."""
    columns = "found.seq, found.call_id, found.tool, found.arguments, found.text"
    for run, task, index, seq, call, tool, *said in _fetched(
        data, *joined(keys, "events", columns)
    ):
        arguments, text = said
        if arguments is not None:
            yield (run, task, index), (seq,), f"{tool or ''} {arguments}"
        if text is not None:
            yield (run, task, index), (seq, call), text
    apart = {
        "rollouts": "found.final_text, found.answer, found.verifier::varchar",
        "failures": "found.message, found.verifier::varchar",
        "rollout_modes": "found.snippet",
        "health_findings": "found.message",
    }
    for relation, columns in apart.items():
        if relation in data.columns:
            for run, task, index, *texts in _fetched(data, *joined(keys, relation, columns)):
                for text in texts:
                    if text is not None:
                        yield (run, task, index), (None,), text
    yield from _asked(data, keys)


def _asked(data: Data, keys: list[Key]) -> Iterator[tuple[Key, tuple[Place, ...], str]]:
    pairs = {(run, task) for run, task, _ in keys}
    rows = data.looked_up("task_prompts", ("run_id", "task_id"), sorted(pairs), PROMPTS)
    for where in keys:
        for row in rows.get(where[:2], []):
            yield from ((where, (None,), text) for text in row.values() if text is not None)


PROMPTS = ("prompt", "system_prompt")


def _prompts(quotes: list[Quote], data: Data) -> dict[tuple[str | None, str], list[str]]:
    pairs = sorted({(run, task) for quote in quotes for run, task in quote.asked if run})
    rows = data.looked_up("task_prompts", ("run_id", "task_id"), pairs, PROMPTS)
    return {
        (run, task): [row["prompt"] for row in found if row["prompt"] is not None]
        for (run, task), found in rows.items()
    }


def _vocabulary(data: Data) -> list[str]:
    """Words of ours that a report may set in quotes: stages, modes, notes."""
    named = {
        "funnel": "stage",
        "failure_modes": "title",
        "root_causes": "note",
        "suspicions": "note",
        "recommendations": "note",
    }
    return [
        text
        for relation, column in named.items()
        if column in data.columns.get(relation, {})
        for (text,) in data.source.execute(
            f"select distinct {column} from main.{relation}"
        ).fetchall()
        if text
    ]


def _fetched(data: Data, query: str, bound: list[Any]) -> Iterable[Any]:
    result = data.source.execute(query, bound)
    while rows := result.fetchmany(1000):
        yield from rows
