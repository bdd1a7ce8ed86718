"""What is said of a cited event holds of it: who speaks, which tool is called, lists in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pipeline.citation import Citation
from pipeline.package.statements import NEGATION
from pipeline.package.verify.citations import cited, exists, heading_tasks, named_tasks
from pipeline.package.verify.evidence import Event, Evidence, key
from pipeline.package.verify.finding import CONTRADICTED, VERIFIED, Finding
from pipeline.package.verify.masking import CITE, LIST, LISTED, signs
from pipeline.package.verify.passages import Passage, Piece

CHECK = "event"
LIST_CHECK = "list"
LISTING = "the list itself"
LEAST_OF_A_LIST = 3
ADVERB = r"(?:then |still |only |also |both |all |now |again |first |instead )?"
# Words of the model: a call without words is none of them, nor is what a tool answers.
SPEAKS = re.compile(
    rf"(?P<cites>{LIST}) {ADVERB}(?:claims?|thinks?|refuses?|admits?|apologi[sz]es?|promises?|"
    r"says?|reports?)\b"
)
CALLED = re.compile(rf"\bcall(?:s|ed|ing)? (?P<tool>[\w.-]+) \((?P<cites>{LIST})\)")
# Verbs and names of tools that only look, and those that change something. Which change is
# made is no matter: people say "removes" of what a tool calls an update.
LOOKS = rf"(?P<cites>{LIST}) {ADVERB}(?:search(?:es)?|looks? (?:(?!{CITE})[^.;,]){{0,30}}?\bup)\b"
WRITES = (
    rf"(?P<cites>{LIST}) {ADVERB}(?:deletes?|removes?|assigns?|reassigns?|updates?|books?|creates?|"
    r"forwards?|sends? (?:the|a|an) (?:mail|email|e-mail|message|invitation))\b"
)
WORDS_HEADS = re.compile(
    r"\s*(?:the )?(?:last|final|closing) (?:words|messages?)\b.*", re.IGNORECASE
)
LOOKING = re.compile(r"search|find|list|lookup|look_up|get|read|fetch|query|view|browse|show")
WRITING = re.compile(
    r"delete|remove|update|create|add|send|forward|assign|book|write|set|edit|insert|post|cancel|"
    r"bulk|move|reply|execute"
)
LISTED_IN_CELL = re.compile(rf"(?P<cites>{LIST})")
VERBS = ((re.compile(LOOKS), LOOKING, WRITING), (re.compile(WRITES), WRITING, LOOKING))


def check(found: list[Passage], evidence: Evidence, file: str) -> Iterator[Finding]:
    """Every verb and list that is bound to citations."""
    for passage in found:
        if not cited(passage):
            continue
        for piece in passage.pieces:
            yield from _spoken(piece, evidence, file)
            if passage.is_row and WORDS_HEADS.fullmatch(passage.pieces[0].head):
                yield from _words(piece, evidence, file)
            yield from _called(piece, evidence, file)
            yield from _lists(passage, piece, evidence, file)


def _events(
    piece: Piece, match: re.Match[str], evidence: Evidence
) -> Iterator[tuple[int, Citation, Event]]:
    """The events that a match cites, with their lines."""
    places = signs(piece)[1]
    if NEGATION.search(match[0]):
        return
    for at in range(*match.span("cites")):
        if at in places:
            start, each = places[at]
            event = evidence.events.get((*key(each), each.seq)) if each.seq is not None else None
            if event is not None:
                yield piece.line_at(start), each, event


def _spoken(piece: Piece, evidence: Evidence, file: str) -> Iterator[Finding]:
    for match in SPEAKS.finditer(signs(piece)[0]):
        for line, each, event in _events(piece, match, evidence):
            is_call = event.kind == "tool_call"
            status = CONTRADICTED if is_call else VERIFIED
            told = f"it calls {event.tool}" if is_call else f"it is a {event.kind}"
            verb = match[0].rpartition(" ")[2]
            yield Finding(line, status, f"{each} {verb}", told, "events", CHECK, file)


def _words(piece: Piece, evidence: Evidence, file: str) -> Iterator[Finding]:
    """In a table of last words calls and what tools answer are none."""
    for match in LISTED_IN_CELL.finditer(signs(piece)[0]):
        for line, each, event in _events(piece, match, evidence):
            is_word = not event.kind.startswith("tool_")
            status = VERIFIED if is_word else CONTRADICTED
            told = f"it is a {event.kind}"
            yield Finding(line, status, f"{each}: last words", told, "events", CHECK, file)


def _called(piece: Piece, evidence: Evidence, file: str) -> Iterator[Finding]:
    text = signs(piece)[0]
    for match in CALLED.finditer(text):
        if match["tool"] in evidence.tools:
            for line, each, event in _events(piece, match, evidence):
                if event.tool is not None:
                    status = VERIFIED if event.tool == match["tool"] else CONTRADICTED
                    claim = f"{each} calls {match['tool']}"
                    yield Finding(line, status, claim, event.tool, "events", CHECK, file)
    for verbs, own, other in VERBS:
        for match in verbs.finditer(text):
            for line, each, event in _events(piece, match, evidence):
                tool = (event.tool or "").lower()
                if bool(own.search(tool)) != bool(other.search(tool)):
                    status = VERIFIED if own.search(tool) else CONTRADICTED
                    claim = f"{each}{match[0][match.end('cites') - match.start() :]}"
                    told = f"it calls {event.tool}"
                    yield Finding(line, status, claim, told, "events", CHECK, file)


def _lists(passage: Passage, piece: Piece, evidence: Evidence, file: str) -> Iterator[Finding]:
    text, places = signs(piece)
    for match in LISTED.finditer(text):
        listed = [places[at] for at in range(*match.span()) if at in places]
        for order, (start, each) in enumerate(listed):
            if each in [other for _, other in listed[:order]]:
                line, told = piece.line_at(start), "each of a list once"
                yield Finding(line, CONTRADICTED, f"{each} twice", told, LISTING, LIST_CHECK, file)
        if len(listed) >= LEAST_OF_A_LIST:
            yield from _counted(passage, piece, listed, evidence, file)


def _counted(
    passage: Passage,
    piece: Piece,
    listed: list[tuple[int, Citation]],
    evidence: Evidence,
    file: str,
) -> Iterator[Finding]:
    """`3 of 4 attempts (a, b, c)` of a task: all are rollouts of it, or the odd one is astray."""
    tasks_here = [*heading_tasks(passage), *(task for _, task in named_tasks(passage, piece))]
    tasks = Counter((each.run_id, each.task_id) for _, each in listed)
    usual, n_usual = max(tasks.items(), key=lambda item: item[1])
    counts = {number.value for ratio in piece.ratios for number in (ratio.part, ratio.whole)}
    is_counted = len(listed) in counts and usual[1] in tasks_here
    odd = [place for place in listed if (place[1].run_id, place[1].task_id) != usual]
    if is_counted and n_usual > 1 and len(odd) == 1 and exists(odd[0][1], evidence):
        line, claim = piece.line_at(odd[0][0]), f"{odd[0][1]} among rollouts of one task"
        told = f"a rollout of {'/'.join(usual)}"
        yield Finding(line, CONTRADICTED, claim, told, LISTING, LIST_CHECK, file)
