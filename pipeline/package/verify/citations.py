"""Cited runs, tasks, rollouts and events exist, and so do the tasks that are named in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pipeline import citation
from pipeline.citation import Citation
from pipeline.package.statements import BARE_CITATION, TASK_NAMED
from pipeline.package.verify.evidence import Evidence, key
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.passages import Passage, Piece
from pipeline.text import is_redacted

CHECK = "citation"
TASK_CHECK = "task"
# A path, an address or a piece of code has the shape of a citation too.
NO_RUN = re.compile(r"[\s:\"'{}()<>=|\\]")
# So have a day and an hour: 07/17/2024 11:00.
DAY = re.compile(r"(?<!\d)\d{1,2}/\d{1,2}/\d{2,4}(?!\d)")
FILE_NAME = re.compile(r"\.[A-Za-z]{1,5}\Z")
TASK_BEFORE = re.compile(r"\btasks?\s+(?:(?:`?[\w.-]+`?)(?:,| and|, and| or)\s+)*\Z", re.IGNORECASE)
MORE_TASKS = re.compile(r"\d[\w-]*")
DIGIT, LETTERS = re.compile(r"\d+"), re.compile(r"[A-Za-z]+")
TASK_HEADS = ("task", "task id", "task_id")


@lru_cache(maxsize=1_000)
def spans(piece: Piece) -> list[tuple[int, int, Citation]]:
    """Where each citation stands in the block."""
    text = piece.block.text
    places = list(piece.codes)
    places += [
        match.span()
        for match in BARE_CITATION.finditer(text, piece.start, piece.end)
        if not piece.is_quoting and not piece.block.is_code(match.start())
    ]
    found = ((start, end, citation.parse(text[start:end])) for start, end in sorted(places))
    return [(start, end, cited) for start, end, cited in found if cited and _is_one(cited)]


@lru_cache(maxsize=1_000)
def cited(passage: Passage) -> list[Citation]:
    """What a passage cites, without paths and addresses."""
    return [each for each in passage.citations if _is_one(each)]


def exists(each: Citation, evidence: Evidence) -> bool:
    """Whether a rollout, and the event of it, is there."""
    if key(each) not in evidence.rollouts:
        return False
    return each.seq is None or (*key(each), each.seq) in evidence.events


def check(found: list[Passage], evidence: Evidence, file: str) -> Iterator[Finding]:
    """Every citation: it is there, or what is there instead."""
    for passage in found:
        for piece in passage.pieces:
            for start, end, each in spans(piece):
                # A task's own name may have the shape of a citation.
                if exists(each, evidence) or piece.block.text[start:end] not in evidence.task_ids:
                    yield _finding(each, evidence, piece.line_at(start), file)
            yield from _named_tasks(passage, piece, evidence, file)


def _finding(each: Citation, evidence: Evidence, line: int, file: str) -> Finding:
    if exists(each, evidence):
        return Finding(line, VERIFIED, str(each), str(each), "rollouts", CHECK, file)
    if is_redacted(str(each)):
        return Finding(line, UNVERIFIABLE, str(each), None, "redacted", CHECK, file)
    source = "events" if key(each) in evidence.rollouts else "rollouts"
    return Finding(line, CONTRADICTED, str(each), evidence.nearest(each), source, CHECK, file)


def _named_tasks(
    passage: Passage, piece: Piece, evidence: Evidence, file: str
) -> Iterator[Finding]:
    shapes = _shapes(evidence.task_ids)
    for start, task in named_tasks(passage, piece):
        line, claim = piece.line_at(start), f"task {task}"
        if task in evidence.task_ids:
            yield Finding(line, VERIFIED, claim, claim, "task_outcomes", TASK_CHECK, file)
        elif _shape(task) in shapes:
            near = f"tasks there are: {evidence.nearest_task(task)}"
            yield Finding(line, CONTRADICTED, claim, near, "task_outcomes", TASK_CHECK, file)


@lru_cache(maxsize=1_000)
def named_tasks(passage: Passage, piece: Piece) -> list[tuple[int, str]]:
    """Tasks that are named in words, in code after the word, or in a column of tasks."""
    text = piece.block.text
    found: dict[int, str] = {}
    for match in TASK_NAMED.finditer(text, piece.start, piece.end):
        if not piece.is_quoting and not piece.block.is_code(match.start()):
            found[match.start("first")] = match["first"].rstrip(".-")
            for more in MORE_TASKS.finditer(text, *match.span("rest")):
                found[more.start()] = more[0]
    for start, end in piece.codes:
        after = text[end : end + 1]
        is_head = passage.is_row and piece.head.strip().lower() in TASK_HEADS
        before = text[max(0, start - 60) : start]
        if is_head or TASK_BEFORE.search(before):
            found = {at: name for at, name in found.items() if not start <= at < end}
            if citation.parse(text[start:end]) is None and after != "/":
                found[start] = text[start:end]
    return sorted(found.items())


def tasks_of(passage: Passage) -> list[str]:
    """The tasks that a passage is about: named or cited in it, else in the heading above."""
    own = [task for piece in passage.pieces for _, task in named_tasks(passage, piece)]
    own += [each.task_id for each in cited(passage)]
    return list(dict.fromkeys(own)) or heading_tasks(passage)


def heading_tasks(passage: Passage) -> list[str]:
    """The tasks that the nearest heading names."""
    titles = passage.titles[-1:]
    named = [
        match["first"].rstrip(".-:") for title in titles for match in TASK_NAMED.finditer(title)
    ]
    return list(dict.fromkeys(named))


def _is_one(each: Citation) -> bool:
    return not (
        NO_RUN.search(each.run_id)
        or FILE_NAME.search(each.task_id)
        or DAY.search(f"{each.run_id}/{each.task_id}")
    )


@lru_cache(maxsize=4)
def _shapes(tasks: frozenset[str]) -> frozenset[str]:
    return frozenset(map(_shape, tasks))


def _shape(task: str) -> str:
    return LETTERS.sub("a", DIGIT.sub("9", task))
