"""Numbers without a mark: matched to a known quantity by their words and their value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pipeline.package.headings import section_of
from pipeline.package.numbers import Number, Ratio
from pipeline.package.verify import labels, totals
from pipeline.package.verify.citations import cited
from pipeline.package.verify.columns import Judged, agreed
from pipeline.package.verify.evidence import key
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.matching import KINDS, Known, matching
from pipeline.package.verify.passages import Passage, Piece
from pipeline.package.verify.phrases import Phrase, clause_around, concerning
from pipeline.package.verify.printed import number_of, plain
from pipeline.package.verify.quantities import Quantity
from pipeline.package.verify.ratios import is_sound

CHECK = "number"
# A report has some thousands; matching each takes about a millisecond.
MOST_NUMBERS = 10_000
# A sentence with more is none, and each of them would be matched with all the words of it.
MOST_IN_A_SENTENCE = 60
BEYOND = f"beyond {MOST_NUMBERS:,} numbers, or {MOST_IN_A_SENTENCE} of one sentence"
# Columns that say which row it is.
KEY_HEADS = re.compile(
    r"(?:k|attempts|task|task id|#|no\.?|rank|step|index|line|seq|rollout|attempt|event|version|)",
    re.IGNORECASE,
)
SHOWN = re.compile(r"\b(?:the|first|top)\s+\Z", re.IGNORECASE)
LEVEL = re.compile(r",? (?:for |of )?(?:new|same|these|interval|confidence|CI)\b|\)")


@dataclass(frozen=True)
class Shown:
    """What was shown last: the rows of a table, and the parts of a section."""

    table_no: int = -1
    n_rows: int = 0
    n_parts: int = 0

    def after(self, passage: Passage) -> Shown:
        """The same with one more passage."""
        if passage.is_row:
            is_same = passage.table_no == self.table_no
            n_rows = self.n_rows + 1 if is_same else 1
            return Shown(passage.table_no, n_rows, self.n_parts)
        if passage.kind == "heading":
            is_part = len(passage.titles) > 1
            return Shown(self.table_no, self.n_rows, self.n_parts + 1 if is_part else 0)
        return self

    def tells(self, piece: Piece, number: Number) -> bool:
        """Whether a number says how many were shown: "The 12 commonest of 23 modes"."""
        before = piece.block.text[max(piece.start, number.start - 12) : number.start]
        is_shown = SHOWN.search(before) and number.value in (self.n_rows, self.n_parts)
        return bool(is_shown) and not number.unit


def check(found: list[Passage], known: Known, file: str) -> list[Finding]:
    """Every number of the report that no mark speaks for."""
    judged: list[Judged] = []
    beyond: list[Finding] = []
    sums = {
        (finding.line, finding.claim.rpartition(" ")[2])
        for finding in totals.check(found, file)
        if finding.status == VERIFIED
    }
    before, shown = "", Shown()
    for passage in found:
        shown = shown.after(passage)
        for place, piece in enumerate(passage.pieces):
            if is_no_claim(passage, place):
                continue
            sound = {ratio.percent for ratio in piece.ratios if _is_quotient(ratio)}
            for order, number in enumerate(piece.numbers):
                if piece.mark_of(number) is not None or _is_convention(piece, number):
                    continue
                is_told = number in sound or shown.tells(piece, number)
                is_told = is_told or (passage.line, number.text) in sums
                around = "the text around it" if is_told else None
                if len(judged) >= MOST_NUMBERS or order >= MOST_IN_A_SENTENCE:
                    line, told = piece.line_at(number.start), BEYOND
                    more = Finding(line, UNVERIFIABLE, number.text, None, told, CHECK, file)
                    beyond.append(more)
                    continue
                matches = matching(passage, piece, number, known, before)
                finding = _finding(passage, place, number, known, matches, around, file)
                judged.append(Judged(passage, place, order, number, tuple(matches), finding))
        if not passage.is_row:
            before = passage.text
    return [*agreed(judged, known), *beyond]


def _is_convention(piece: Piece, number: Number) -> bool:
    """A level of confidence counts nothing."""
    after = piece.block.text[number.end : number.end + 12]
    return number.text == "95%" and LEVEL.match(after) is not None


def is_no_claim(passage: Passage, place: int) -> bool:
    """Whether a cell says which row it is, or repeats what others said."""
    piece = passage.pieces[place]
    head = piece.head.strip()
    is_key = passage.is_row and place == 0 and KEY_HEADS.fullmatch(head) is not None
    return is_key or (passage.is_row and head.lower() == "version") or piece.is_quoting


def _is_quotient(ratio: Ratio) -> bool:
    percent, whole = ratio.percent, ratio.whole.value
    return percent is not None and whole > 0 and percent.agrees(ratio.part.value / whole)


def _finding(
    passage: Passage,
    place: int,
    number: Number,
    known: Known,
    matches: list[Quantity],
    around: str | None,
    file: str,
) -> Finding:
    piece = passage.pieces[place]
    line = piece.line_at(number.start)
    claim = _claim(passage, piece, number)
    said = concerning(known.phrases.same_but(piece, number), passage, known.scope)
    if said:
        return _by_phrase(said, piece, number, line, claim, file)
    meant = list(_meant(passage, place, number, known))
    agreed = next((source for source, value in meant if number.agrees(value)), None)
    if agreed is not None:
        return Finding(line, VERIFIED, claim, number.text, agreed, CHECK, file)
    # In a sentence a figure of a part may stand beside words that name the whole.
    is_open = not meant or not passage.is_row
    loose = next((each for each in matches if is_open and (not meant or each.names)), None)
    if loose is not None:
        return Finding(line, VERIFIED, claim, number.text, loose.source, CHECK, file)
    if meant:
        source, value = meant[0]
        return Finding(line, CONTRADICTED, claim, plain(number).like(value), source, CHECK, file)
    if around is not None:
        return Finding(line, VERIFIED, claim, number.text, around, CHECK, file)
    return Finding(line, UNVERIFIABLE, claim, None, "no known quantity", CHECK, file)


def _by_phrase(
    said: list[Phrase], piece: Piece, number: Number, line: int, claim: str, file: str
) -> Finding:
    clause = clause_around(piece, number)
    for phrase in said:
        if phrase.text == clause:
            return Finding(line, VERIFIED, claim, number.text, phrase.source, CHECK, file)
    expected = said[0].text
    return Finding(line, CONTRADICTED, claim, expected, said[0].source, CHECK, file)


def _claim(passage: Passage, piece: Piece, number: Number) -> str:
    """The number with the words around it."""
    if passage.is_row:
        return f"{passage.pieces[0].text.strip()} | {piece.head.strip()}: {number.text}"
    text = piece.block.text
    start, end = max(piece.start, number.start - 40), min(piece.end, number.end + 40)
    return " ".join(text[start:end].split())


def _meant(
    passage: Passage, place: int, number: Number, known: Known
) -> Iterator[tuple[str, float]]:
    """The quantities that the words name without doubt, with their places."""
    piece = passage.pieces[place]
    if passage.is_row:
        yield from _of_cell(passage, place, known)
        return
    mode = labels.of_mode(piece, number, known.kinds["mode"])
    if mode is not None and not known.scope.tasks_of(passage):
        runs = known.scope.runs_of(passage)
        for row in known.rows.get(("mode", mode), []):
            if row["run_id"] in (None, *runs):
                yield from _of_mode(row, number)
        return
    ratio = piece.ratio_at.get(number.start)
    tasks = known.scope.tasks_of(passage)
    if ratio is not None and len(tasks) == 1 and is_sound(piece, ratio):
        yield from _of_task_ratio(passage, piece, ratio, number, tasks[0], known)
        return
    amount = labels.amount(piece, number)
    rollouts = {key(each) for each in cited(passage)}
    if amount is not None and len(rollouts) == 1 and not labels.is_hedged(piece, number):
        facts = known.evidence.rollouts.get(next(iter(rollouts)))
        if facts is not None and amount in facts.amounts:
            where = "/".join(map(str, next(iter(rollouts))[:2]))
            yield f"rollouts: {where}:{next(iter(rollouts))[2]} {amount}", facts.amounts[amount]
        return
    if known.scope.own_tasks(passage) or _names_a_part(passage, known):
        return
    column = labels.of_sentence(piece, number)
    if column is not None and not labels.is_hedged(piece, number):
        for run in known.scope.runs_of(passage):
            for row in known.rows.get(("run", run), []):
                value = number_of(row.get(column))
                if value is not None:
                    yield f"run_metrics?run_id={run}#{column}", value


def _of_mode(row: Mapping[str, Any], number: Number) -> Iterator[tuple[str, float]]:
    """A mode's count as primary mode, and as one of several; or its share."""
    columns = ("share_of_failures",) if number.unit else ("n_rollouts", "n_matched")
    for column in columns:
        value = number_of(row.get(column))
        if value is not None:
            run = f"run_id={row['run_id']}&" if row["run_id"] is not None else ""
            relation = "report.modes" if run else "report.mode_totals"
            yield f"{relation}?{run}mode={row['mode']}#{column}", value


def _of_task_ratio(
    passage: Passage, piece: Piece, ratio: Ratio, number: Number, task: str, known: Known
) -> Iterator[tuple[str, float]]:
    is_pass = labels.pass_ratio(piece, ratio)
    if is_pass is None:
        yield from _of_dive(passage, piece, ratio, number, task, known)
        return
    rows = [
        row
        for run in known.scope.runs_of(passage)
        for row in known.rows.get(("task", task), [])
        if row["run_id"] == run
    ]
    column = "n_passed" if is_pass else "n_failed"
    known_rows = [row for row in rows if row["n_scored"] and row[column] is not None]
    pairs = [(row, row[column], row["n_scored"]) for row in known_rows]
    both = [
        (row, part, whole)
        for row, part, whole in pairs
        if ratio.part.agrees(part) and ratio.whole.agrees(whole)
    ]
    for row, part, whole in both or pairs:
        where = f"task_outcomes?run_id={row['run_id']}&task_id={task}#"
        is_part = number is ratio.part or number == ratio.part
        yield (f"{where}{column}", part) if is_part else (f"{where}n_scored", whole)


def _of_dive(
    passage: Passage, piece: Piece, ratio: Ratio, number: Number, task: str, known: Known
) -> Iterator[tuple[str, float]]:
    """`MODE in 4 of 4 attempts` at a task that never passes."""
    text = piece.block.text[piece.start : ratio.part.start]
    if not labels.MODE_IN.search(text) or task not in known.of_tasks:
        return
    column = "n_with_mode" if number == ratio.part else "n_attempts"
    runs = set(known.scope.runs_of(passage))
    for each in known.of_tasks[task].by_column.get(("report.dives", column), []):
        if not runs.isdisjoint(each.runs):
            yield each.source, each.value


def _of_cell(passage: Passage, place: int, known: Known) -> Iterator[tuple[str, float]]:
    label = labels.of_cell(passage, place, known.kinds)
    if label is None or (label.kind != "run" and _compares(passage)):
        return
    runs = known.scope.runs_of(passage, passage.pieces[place].head)
    if label.kind == "run" and not label.name:
        rows = [row for run in runs for row in known.rows.get(("run", run), [])]
    else:
        every = known.rows.get((label.kind, label.name), [])
        rows = [row for row in every if label.kind == "run" or row["run_id"] in (None, *runs)]
    relation, column = KINDS[label.kind]
    for row in rows:
        value = number_of(row.get(label.column))
        if value is not None:
            keys = dict.fromkeys(("run_id", column))
            key = "&".join(f"{name}={row[name]}" for name in keys if row.get(name) is not None)
            yield f"{relation}?{key}#{label.column}", value


def _compares(passage: Passage) -> bool:
    """Whether a table tells of changes: its counts are of those, not of a run."""
    heads = " ".join(piece.head for piece in passage.pieces).casefold()
    is_change = re.search(r"change|delta|effect|base\b|candidate|noise", heads) is not None
    return is_change or section_of(passage.section) == "Cross-Model Comparison"


def _names_a_part(passage: Passage, known: Known) -> bool:
    """Whether a sentence is about a mode, stage or slice, and not about the run as a whole."""
    return _has_name(passage, known.parts)


@lru_cache(maxsize=1_000)
def _has_name(passage: Passage, names: re.Pattern[str]) -> bool:
    return names.search(passage.text) is not None
