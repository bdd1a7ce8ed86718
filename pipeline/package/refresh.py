"""A curated report with the figures of another warehouse, and what a person should read again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..text import one_line
from .blocks import Block, Report, plain, read
from .compare import compared
from .evidence import QUERIES
from .findings import CONTRADICTED, VERIFIED, Finding, fixed
from .passages import PASSING, TASK_TITLE, Passage, passages
from .queries import Answers, Opened

BUCKET = re.compile(r"\b(?P<name>always|sometimes|never)[ -]pass", re.IGNORECASE)
LONGEST, MOST_SHOWN = 300, 6


@dataclass(frozen=True)
class ChangedSentence:
    """A sentence beside figures that changed: its line, its words, and what they were and are."""

    line: int
    text: str
    changes: tuple[tuple[str, str], ...]

    @property
    def summary(self) -> str:
        first = "; ".join(f"{old} is now {new}" for old, new in self.changes[:MOST_SHOWN])
        rest = len(self.changes) - MOST_SHOWN
        return f"{first}; and {rest} more" if rest > 0 else first


@dataclass(frozen=True)
class MovedCard:
    """A card of a task that is in another bucket now than the report has it in."""

    line: int
    run_id: str
    task_id: str
    was: str
    now: str


@dataclass(frozen=True)
class Refreshed:
    """The new text, how many texts are as they were, and what is left to a person."""

    text: str
    n_changed: int
    n_same: int
    sentences: tuple[ChangedSentence, ...]
    cards: tuple[MovedCard, ...]
    # What the data contradict and could not be rewritten.
    not_rewritten: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        """All but the text."""
        return {
            "n_changed": self.n_changed,
            "n_same": self.n_same,
            "sentences": [
                asdict(each) | {"changes": [{"old": old, "new": new} for old, new in each.changes]}
                for each in self.sentences
            ],
            "cards": [asdict(each) for each in self.cards],
            "not_rewritten": [
                {key: getattr(each, key) for key in ("line", "claim", "expected", "source")}
                for each in self.not_rewritten
            ],
        }


def refresh(text: str, warehouse: Opened) -> Refreshed:
    """Every source asked again; nothing but its texts is touched."""
    findings = compared(read(text), Answers(warehouse))
    new = fixed(text, findings)
    wrong = [each for each in findings if each.status == CONTRADICTED]
    changed = [each for each in wrong if each.edits]
    return Refreshed(
        new,
        len(changed),
        sum(each.status == VERIFIED for each in findings),
        tuple(_sentences(read(text), read(new), changed)),
        tuple(_cards(read(new), warehouse)),
        tuple(each for each in wrong if not each.edits),
    )


def _sentences(old: Report, new: Report, changed: Sequence[Finding]) -> Iterator[ChangedSentence]:
    """The block of each figure that changed; of a table the words right before and behind it."""
    changes: dict[int, list[tuple[str, str]]] = {}
    for finding in changed:
        place = min(start for start, *_ in finding.edits)
        for no in _beside(old, place):
            pair = (finding.claim, str(finding.expected))
            if pair not in changes.setdefault(no, []):
                changes[no].append(pair)
    # Texts are replaced within their blocks: both reports have the same ones.
    for no in sorted(changes):
        block = new.blocks[no]
        words = " ".join(span.text for span in block.spans)
        # What only announces a table says nothing of it.
        if words.rstrip().endswith(":"):
            continue
        yield ChangedSentence(block.line, one_line(plain(words), LONGEST), tuple(changes[no]))


def _beside(report: Report, place: int) -> list[int]:
    own = next((no for no, each in enumerate(report.blocks) if _holds(each, place)), None)
    if own is None:
        return []
    block = report.blocks[own]
    if block.kind != "table":
        return [own]
    near = (no for no in (own - 1, own + 1) if 0 <= no < len(report.blocks))
    return [
        no
        for no in near
        if report.blocks[no].kind in ("paragraph", "item") and report.blocks[no].path == block.path
    ]


def _holds(block: Block, place: int) -> bool:
    return any(span.start <= place <= span.end for span in block.spans) or any(
        each.start <= place <= each.start + len(each.text) for each in block.sources
    )


def _cards(report: Report, warehouse: Opened) -> Iterator[MovedCard]:
    """Tasks by the headings that name them; their run is the first that is cited below."""
    rows = warehouse.execute(QUERIES["tasks"]).fetchall()
    now = {(run, task): bucket for run, task, *_, bucket in rows}
    every = passages(report)
    for no, passage in enumerate(every):
        match = TASK_TITLE.match(passage.text) if passage.block.kind == "heading" else None
        was = _bucket(passage) if match else None
        if match is None or was is None:
            continue
        task = match["name"].strip("`")
        run = _run(every[no + 1 :], task) or next(
            (name for *_, name in passage.codes if (name, task) in now), None
        )
        bucket = now.get((run or "", task))
        if run and bucket and bucket != was:
            yield MovedCard(passage.line, run, task, was, bucket)


def _bucket(heading: Passage) -> str | None:
    """What the counts of a heading say, else the section that it is in."""
    if counts := PASSING.search(heading.plain):
        part, whole = int(counts["part"]), int(counts["whole"])
        return "always" if part == whole else "sometimes" if part else "never"
    titles = (BUCKET.search(title) for title in reversed(heading.block.path))
    return next((match["name"].lower() for match in titles if match), None)


def _run(below: Sequence[Passage], task: str) -> str | None:
    for passage in below:
        if passage.block.kind == "heading":
            return None
        for *_, each in passage.cites:
            if each.task_id == task:
                return each.run_id
    return None
