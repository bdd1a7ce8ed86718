"""Report, golden report and facts -> one score: the share of facts stated, times soundness.

A report is read as blocks: a row of a table, an item, a paragraph. A fact is met by a block that
holds its subject and its value. Nothing of the words between them is read.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .. import citation
from ..text import one_line
from .blocks import Block, Report, Token, figures, plain, read
from .evidence import BUCKETS
from .facts import Fact
from .findings import CONTRADICTED, VERIFIED, Finding
from .passages import CAUSE_NAME, Passage, tasks_in
from .queries import aliases
from .sources import sources_of

DIGITS, SHOWN = 4, 160
WEIGHTS = {"high": 3.0, "medium": 2.0, "low": 1.0}
# One false claim in seven halves the score; where few can be checked, each costs a tenth at most.
POWER = math.log(0.5) / math.log(6 / 7)
FEW, A_TENTH = 10, 0.1
NAME = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|`[^`]+`")
ENDS = re.compile(r"[.!?][\"')\]*]*\s+")
CLOSED = re.compile(r"[.!?][\"')\]*\u201d]*\Z")
# Shorter sentences are not taken for the same as another.
FEWEST_WORDS = 6
# A fact of text alone belongs to the block of the golden report that shares so many of its words,
# and this share of it by their rarity; another report's block must have this share of those words.
HOME_WORDS, HOME_SHARE, ENOUGH = 4, 0.2, 0.8
WORD = re.compile(r"[^\W\d_]{4,}")

Judge = Callable[[Sequence["Met"], "Text"], tuple[list["Met"], dict[str, Any]]]


class Piece(Passage):
    """A block of a report with what it names and counts."""

    @cached_property
    def above(self) -> frozenset[str]:
        """Tasks named in its headings."""
        return frozenset(name for title in self.block.path for name in tasks_in(title))

    @property
    def is_row(self) -> bool:
        return self.block.kind == "table"

    @cached_property
    def flat(self) -> str:
        """Its text without quotation marks and case, to compare names and quotations."""
        return re.sub(r"[\"\u201c\u201d\u2018\u2019']", "", self.plain).casefold()

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(WORD.findall(self.flat))

    @cached_property
    def n_sentences(self) -> int:
        """Its number of sentences or cells, which bounds how many facts of text alone it states."""
        return len(self.spans) if self.is_row else len(ENDS.findall(f"{self.plain} "))

    @cached_property
    def tokens(self) -> list[Token]:
        first, last = self.spans[0].start, self.spans[-1].end
        return self.block.tokens_within(first, last)

    @cached_property
    def rollouts(self) -> frozenset[tuple[str, str, int]]:
        return frozenset(each.rollout for *_, each in self.cites)

    @cached_property
    def named(self) -> frozenset[str]:
        """The tasks that it names: behind the word, or below a head that says so."""
        own = self.row_tasks if self.is_row else frozenset()
        return own | tasks_in(self.text)

    @cached_property
    def tasks(self) -> frozenset[str]:
        """The tasks that it names or cites, and what else may be one."""
        cited = {task for _, task, _ in self.rollouts}
        return self.named | cited | {code for *_, code in self.codes}

    @cached_property
    def labels(self) -> frozenset[str]:
        return frozenset(CAUSE_NAME.findall(self.plain))

    @cached_property
    def values(self) -> int:
        """Its number of different values, which bounds how many facts it states."""
        codes = {text for *_, text in self.codes}
        quotes = {text for *_, text in self.quotes}
        printed = {token.printed for token in self.tokens}
        words = BUCKETS & set(re.findall(r"[a-z]+", self.flat)) if self.is_row else set()
        n_values = len(codes) + len(quotes) + len(printed) + len(self.labels) + len(words)
        return max(1, n_values)

    @cached_property
    def is_claim(self) -> bool:
        """Whether it is a row, or text with an end or a colon, and not a bag of words."""
        if self.is_row:
            return len(self.spans) > 1
        # A name may begin a sentence, with a capital or not.
        text = plain(re.sub(r"`[^`]*`", "X", self.text))
        if text == "X" and self.above:  # a note of a card
            return True
        ends = [text[each.end() : each.end() + 1] for each in ENDS.finditer(text)]
        n_broken = sum(after.islower() for after in ends)
        # Behind a sentence it may end with a name, with what is quoted of others, or announce more.
        is_closed = bool(CLOSED.search(text) or (ends and text.endswith((":", ": X", "…")))) or (
            self.block.kind == "item" and bool(re.search(r"[:;] \S", text))
        )
        return is_closed and text.count("(") == text.count(")") and 3 * n_broken <= len(ends)

    @cached_property
    def skeleton(self) -> str:
        """Its subject: the first cell of a row, else its words without figures and causes."""
        if self.is_row:
            first = self.spans[0]
            return f"{plain(first.head)}: {plain(first.text)}".casefold()
        text, last = "", self.spans[0].start
        for token in self.tokens:
            text += f"{self.report.text[last : token.start]}#"
            last = token.end
        text += self.report.text[last : self.spans[-1].end]
        words = CAUSE_NAME.sub("@", plain(text)).casefold()
        return words if len(re.findall(r"[a-z]{2,}", words)) >= FEWEST_WORDS else ""

    @cached_property
    def stated(self) -> dict[str, object]:
        """Its figures, causes and buckets; those of a row by the heads of its cells."""
        stated: dict[str, object] = {}
        for span in self.spans[1:] if self.is_row else self.spans:
            tokens = self.block.tokens_within(span.start, span.end)
            text = plain(span.text)
            words = frozenset(CAUSE_NAME.findall(text)) | (BUCKETS & {text.casefold()})
            if tokens or words:
                printed = sorted(str(token.printed) for token in tokens)
                stated[plain(span.head).casefold()] = (tuple(printed), words)
        return stated


@dataclass(frozen=True, eq=False)
class Text:
    """A report as pieces, with the runs that it is about."""

    report: Report
    pieces: tuple[Piece, ...]
    title: str


def text_of(text: str) -> Text:
    report = read(text)
    every = [Piece(report, block, row) for block in report.blocks for row in block.rows if row]
    openings = [
        next((each.text for each in every if each.block.kind == kind), "")
        for kind in ("heading", "paragraph")
    ]
    pieces = tuple(each for each in every if each.block.kind != "heading")
    return Text(report, pieces, " ".join(openings))


@dataclass(frozen=True)
class Wanted:
    """A fact, and what a block must hold to state it."""

    fact: Fact
    rollouts: frozenset[tuple[str, str, int]]
    # All names of the run.
    runs: tuple[str, ...]
    # The names, figures and quotations of a fact that is text alone.
    marks: tuple[str, ...]
    # The denominator that its text gives, as in `25 of 45`.
    whole: float | None
    # The names in the text of a fact that is about no run or task.
    names: tuple[str, ...] = ()
    # The tasks named in a fact that is text alone.
    tasks: frozenset[str] = frozenset()
    # The words that a fact shares with the golden report, which states it in other words.
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Met:
    """Whether a fact is met, by which block and by whom; else what is lacking."""

    wanted: Wanted
    piece: Piece | None
    lacking: str = ""
    by: str = "block"

    @property
    def is_met(self) -> bool:
        return not self.lacking


@dataclass(frozen=True)
class Standard:
    """A golden report and its facts, read once for any number of reports."""

    golden: Text
    wanted: tuple[Wanted, ...]

    @cached_property
    def known(self) -> dict[str, list[Piece]]:
        """What the report and its facts state, by subject."""
        texts = [self.golden, *(text_of(each.fact.fact) for each in self.wanted)]
        pieces: dict[str, list[Piece]] = defaultdict(list)
        for piece in (piece for text in texts for piece in text.pieces if piece.skeleton):
            pieces[piece.skeleton].append(piece)
        return pieces


@dataclass
class Soundness:
    """Claims of a report that can be checked, by kind, and why some do not hold."""

    checked: Counter[str] = field(default_factory=Counter)
    wrong: dict[tuple[str, int, str], str] = field(default_factory=dict)
    n_unchecked: int = 0

    def add(self, kind: str, line: int, claim: str, why: str) -> None:
        """Count a claim that holds; one with a reason does not."""
        self.checked[kind] += 1
        if why:
            self.wrong[kind, line, claim] = why

    @property
    def contradicted(self) -> list[tuple[int, str]]:
        """Line and reason of each claim that does not hold."""
        return sorted((line, why) for (_, line, _), why in self.wrong.items())

    @property
    def value(self) -> float:
        """The factor of the score, by the worst kind: true tables do not pay for false causes."""
        n_wrong_by_kind = Counter(kind for kind, *_ in self.wrong)
        parts = [1.0]
        for kind, n_wrong in n_wrong_by_kind.items():
            share = max(0.0, 1 - n_wrong / self.checked[kind])
            few = 1 - A_TENTH * n_wrong if self.checked[kind] < FEW else 0.0
            parts.append(max(share**POWER, few))
        return max(0.0, min(parts))


@dataclass(frozen=True)
class Score:
    """What a report is worth by a golden one, and why."""

    facts: tuple[Met, ...]
    soundness: Soundness
    judge: dict[str, Any] | None = None

    @property
    def coverage(self) -> float:
        """The share of the facts that are met, weighted by difficulty."""
        worth = [(WEIGHTS[each.wanted.fact.difficulty], each.is_met) for each in self.facts]
        whole = sum(weight for weight, _ in worth)
        return sum(weight for weight, is_met in worth if is_met) / whole if whole else 0.0

    @property
    def final(self) -> float:
        return round(self.coverage * self.soundness.value, DIGITS)

    def as_json(self) -> dict[str, Any]:
        """What reward.json holds."""
        sound = self.soundness
        return {
            "final_score": self.final,
            "parts": {
                "facts": round(self.coverage, DIGITS),
                "soundness": round(sound.value, DIGITS),
            },
            "n_facts": len(self.facts),
            "n_facts_met": sum(each.is_met for each in self.facts),
            "facts": [_shown(each) for each in self.facts],
            "claims": {
                "checkable": sum(sound.checked.values()),
                "contradicted": len(sound.contradicted),
                "unchecked_figures": sound.n_unchecked,
                "contradictions": [
                    {"line": line, "why": one_line(why, SHOWN)} for line, why in sound.contradicted
                ],
            },
            **({"judge": self.judge} if self.judge else {}),
        }


def standard(golden_text: str, facts: Sequence[Fact]) -> Standard:
    golden = text_of(golden_text)
    runs = {each[0] for piece in golden.pieces for each in piece.rollouts}
    runs |= {fact.subject.run for fact in facts if fact.subject.run}
    short = aliases(dict.fromkeys(runs))
    wanted = tuple(_wanted(fact, short) for fact in facts)
    return Standard(golden, tuple(_at_home(each, golden) for each in wanted))


def _at_home(wanted: Wanted, golden: Text) -> Wanted:
    """A fact of text alone, reduced to what the nearest block of the golden report shares with it.

    Others write facts in words of their own, so only what both have can be asked of a report.
    """
    pieces = [piece for piece in golden.pieces if piece.is_claim]
    is_stated = any(not lacking(wanted, piece, golden) for piece in pieces)
    if not wanted.fact.is_text or is_stated or not pieces:
        return wanted
    uses = Counter(word for piece in pieces for word in piece.words)
    own = set(WORD.findall(plain(wanted.fact.fact).casefold()))
    worth = {word: math.log(1 + len(pieces) / max(uses[word], 0.5)) for word in own}
    home = max(pieces, key=lambda piece: sum(worth[word] for word in own & piece.words))
    shared = own & home.words
    names = [name for name in wanted.names if _holds(name, home.plain)]
    share = sum(worth[word] for word in shared) / (sum(worth.values()) or 1)
    is_near = len(shared) >= HOME_WORDS and share >= HOME_SHARE
    if not is_near or 2 * len(names) < len(wanted.names):
        return wanted
    marks = [mark for mark in wanted.marks if _is_mark(mark, home)]
    tasks = wanted.tasks & (home.tasks | home.above)
    return replace(
        wanted, marks=tuple(marks), names=tuple(names), tasks=tasks, words=frozenset(shared)
    )


def _is_mark(mark: str, piece: Piece) -> bool:
    """Whether a block holds a name, or a figure at the precision of the mark."""
    tokens = [each for each in figures(mark) if each.text == mark and each.value is not None]
    if not tokens:
        return _holds(mark, piece.plain)
    one = tokens[0]
    half = 0.5 * 10.0**-one.decimals + 1e-9
    return any(
        token.value is not None
        and bool(token.unit) == bool(one.unit)
        and abs(token.value - (one.value or 0)) <= half
        for token in piece.tokens
    )


def _wanted(fact: Fact, short: dict[str, frozenset[str]]) -> Wanted:
    run, text = fact.subject.run, fact.fact
    rollouts = {each.rollout for _, each in fact.cited if each}
    if run and fact.subject.task:
        rollouts |= {(run, fact.subject.task, index) for index in fact.subject.rollouts}
    named = [each.strip("`") for each in NAME.findall(text)]
    names = [each for each in named if citation.parse(each) is None]
    marks = [*names, *(each.text for each in figures(text))] if fact.is_text else []
    for pattern in (r"\"([^\"]{3,})\"", r"\b\d{4,}\b") if fact.is_text else ():
        marks += [each for each in re.findall(pattern, text) if citation.parse(each) is None]
    of = re.search(rf"\b{fact.value}\b (?:out )?of (?:the |all )?([\d,]+)", text)
    return Wanted(
        fact,
        frozenset(rollouts),
        runs=(run, *sorted(short.get(run, ()))) if run else (),
        marks=tuple(dict.fromkeys(marks)),
        whole=float(of[1].replace(",", "")) if of and fact.predicate == "count" else None,
        names=tuple(names),
        tasks=frozenset() if fact.is_structured else frozenset(tasks_in(text)),
    )


def score(
    text: str,
    by: Standard,
    *,
    findings: Iterable[Finding] | None = None,
    judge: Judge | None = None,
) -> Score:
    """A report's score; `findings` is what the data say of it, else the golden report says it."""
    report = text_of(text)
    met = matched(by, report)
    sound = _by_data(findings) if findings is not None else Soundness()
    _by_golden(report, by, sound, is_alone=findings is None)
    if judge is None:
        return Score(tuple(met), sound)
    judged, account = judge(met, report)
    return Score(tuple(judged), sound, account)


def matched(by: Standard, report: Text) -> list[Met]:
    """Each fact with a block that states it; a block states as many as it has values."""
    options = [
        [no for no, piece in enumerate(report.pieces) if not lacking(each, piece, report)]
        for each in by.wanted
    ]
    # Facts of values and facts of words are counted apart.
    room = {
        is_text: [max(1, p.n_sentences) if is_text else p.values for p in report.pieces]
        for is_text in (False, True)
    }
    results: dict[int, Met] = {}
    # The fact that the fewest blocks could state goes first; of equals the harder one.
    for no in sorted(
        range(len(options)),
        key=lambda no: (len(options[no]), -WEIGHTS[by.wanted[no].fact.difficulty], no),
    ):
        each = by.wanted[no]
        own = room[each.fact.is_text]
        best = max(options[no], key=own.__getitem__, default=None)
        if best is None:
            reasons = sorted({lacking(each, piece, report) for piece in report.pieces})
            # A block that lacks only the value is nearest.
            nearest = max(reasons, key=lambda why: why.startswith("value"), default="subject")
            results[no] = Met(each, None, nearest)
        elif own[best] > 0:
            own[best] -= 1
            results[no] = Met(each, report.pieces[best])
        else:
            results[no] = Met(each, None, "its blocks state as many facts as they have values")
    return [results[no] for no in range(len(options))]


def lacking(wanted: Wanted, piece: Piece, report: Text) -> str:
    """What a block lacks to state a fact: its subject, its value, or a form; nothing if it does."""
    if not is_about(wanted, piece, report):
        return "subject"
    if why := _value(wanted, piece):
        return why
    return "" if piece.is_claim else "no sentence, label or row"


def is_about(wanted: Wanted, piece: Piece, report: Text) -> bool:
    """Whether a block holds the subject of a fact: a rollout, the task, or the run."""
    task, named = wanted.fact.subject.task, piece.tasks | piece.above
    if not wanted.tasks <= named:
        return False
    if task in named or wanted.rollouts & piece.rollouts:
        return True
    # What a count of a run cites is an example.
    is_example = task is None and isinstance(wanted.fact.value, (int, float))
    if task is not None or (wanted.rollouts and not is_example):
        return False
    if wanted.runs:
        texts = (piece.plain, report.title)
        return any(_holds(name, text) for name in wanted.runs for text in texts)
    return not wanted.names or any(_holds(name, piece.plain) for name in wanted.names)


def _value(each: Wanted, piece: Piece) -> str:
    fact, value = each.fact, each.fact.value
    if fact.predicate == "cause" and value is not None:
        wanted = frozenset(str(value).split("+"))
        return "" if piece.labels == wanted else f"value: {value}, and no other cause"
    if isinstance(value, bool) or (value is None and fact.quotes):
        is_said = all(_has_quote(quote, piece) for quote in fact.quotes)
        return "" if is_said else "value: its quotation"
    if isinstance(value, (int, float)):
        printed = [token for token in piece.tokens if token.agrees(value)]
        if isinstance(value, int):
            printed = [token for token in printed if token.value == value and not token.unit]
        has_whole = each.whole is None or any(t.value == each.whole for t in piece.tokens)
        return "" if printed and has_whole else f"value: {value}"
    if isinstance(value, str):
        if fact.predicate == "bucket":
            words = set(re.findall(r"[a-z]+", piece.flat)) & BUCKETS
            return "" if words == {value} else f"value: {value}, and no other bucket"
        return "" if _holds(value, piece.plain) else f"value: {one_line(value, 60)}"
    if each.words or not each.marks:
        wanted_words = each.words or frozenset(WORD.findall(plain(fact.fact).casefold()))
        if not wanted_words or len(wanted_words & piece.words) < ENOUGH * len(wanted_words):
            return "value: its words"
    absent = [mark for mark in each.marks if not _is_mark(mark, piece)]
    is_enough = 3 * len(absent) <= len(each.marks)
    return "" if is_enough else f"value: {one_line(absent[0], 60)}"


def _has_quote(quote: str, piece: Piece) -> bool:
    wanted = re.sub(r"[\"\u201c\u201d\u2018\u2019'`]", "", plain(quote))
    return " ".join(wanted.split()).casefold() in piece.flat


def _holds(name: str, text: str) -> bool:
    pattern = rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\d)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _shown(each: Met) -> dict[str, Any]:
    fact, piece = each.wanted.fact, each.piece if each.is_met else None
    return {
        "id": fact.id,
        "difficulty": fact.difficulty,
        "met": each.is_met,
        "by": each.by if each.is_met or each.by == "judge" else None,
        "line": piece.line if piece else None,
        "block": one_line(piece.plain, SHOWN) if piece else None,
        "lacking": each.lacking or None,
    }


KINDS = {
    "citation": "citations",
    "task": "citations",
    "outcome": "outcomes",
    "bucket": "outcomes",
    "cause": "causes",
    "mode": "outcomes",
    "quote": "quotations",
}


def _by_data(findings: Iterable[Finding]) -> Soundness:
    """What verify found in a report, each claim once."""
    sound = Soundness()
    seen = set()
    for each in findings:
        kind = KINDS.get(each.check, "figures")
        key = (kind, each.claim) if kind == "citations" else (kind, each.line, each.claim)
        if each.status in (VERIFIED, CONTRADICTED):
            if key not in seen:
                seen.add(key)
                is_right = each.status == VERIFIED
                why = "" if is_right else f"{each.claim}: the data say {each.expected}"
                sound.add(kind, each.line, each.claim, why)
        else:
            sound.n_unchecked += each.check == "source"
    return sound


def _by_golden(report: Text, by: Standard, sound: Soundness, *, is_alone: bool) -> None:
    """A report's claims beside the golden report: those that no data were asked about."""
    causes: dict[str, set[frozenset[str]]] = defaultdict(set)
    for each in by.wanted:
        if each.fact.predicate == "cause" and each.fact.subject.task:
            causes[each.fact.subject.task].add(frozenset(str(each.fact.value).split("+")))
    # A row or an item of one cause says more than a sentence, which may reject it.
    for task, labels, piece in _causes_at(by.golden):
        if piece.block.kind in ("table", "item"):
            causes[task].add(labels)
    for task, labels, piece in _causes_at(report):
        line = piece.line
        if task in causes:
            # Half of a joint cause is not wrong.
            is_right = any(labels <= each for each in causes[task])
            expected = " or ".join(
                "+".join(sorted(each)) for each in sorted(causes[task], key=sorted)
            )
            why = "" if is_right else f"the golden report gives task {task} {expected}"
            sound.add("causes", line, task, why)
    pairs: dict[str, set[str]] = defaultdict(set)
    for _, key, text in _pairs_at(by.golden) if is_alone else ():
        pairs[key].add(text)
    for line, key, text in _pairs_at(report):
        if key in pairs:
            expected = ", ".join(sorted(pairs[key]))
            why = "" if text in pairs[key] else f"the golden report has {expected}"
            sound.add("figures", line, f"{key}{text}", why)
    golden = _outcomes_at(by.golden) if is_alone else ()
    outcomes = {rollout: word for rollout, word, _ in golden}
    for rollout, word, line in _outcomes_at(report):
        if rollout in outcomes:
            is_right = outcomes[rollout] == word
            why = "" if is_right else f"the golden report says {outcomes[rollout]}"
            sound.add("outcomes", line, str(rollout), why)
    for piece in report.pieces:
        if not is_alone and piece.block.sources:
            continue  # the data have been asked
        same = by.known.get(piece.skeleton, [])
        same = [one for one in same if one.is_row == piece.is_row]
        # A report has several tables with rows of one name: take the most similar row.
        n_shared = [len(one.stated.keys() & piece.stated.keys()) for one in same]
        same = [one for one, n in zip(same, n_shared, strict=True) if n and n == max(n_shared)]
        if not same or not piece.stated:
            is_bound = piece.block.sources or not is_alone
            sound.n_unchecked += 0 if is_bound else len(piece.tokens)
            continue
        # Compare the cells that both have.
        is_right = any(
            all(one.stated.get(head, value) == value for head, value in piece.stated.items())
            for one in same
        )
        why = "" if is_right else f"the golden report has other values at line {same[0].line}"
        sound.add("figures", piece.line, "", why)


def _causes_at(text: Text) -> Iterator[tuple[str, frozenset[str], Piece]]:
    """Each task with its causes, in a block that names no other task."""
    for piece in text.pieces:
        if not piece.labels:
            continue
        # What a row cites beside a cause is an example. A row may list several tasks of one cause;
        # prose that names several does not say which of them has it.
        cited = frozenset(task for _, task, _ in piece.rollouts)
        own = piece.row_tasks if piece.is_row else piece.named or cited
        tasks = own or piece.above
        is_clear = len(tasks) == 1 or piece.is_row
        joint = re.search(r"\b[A-Z]{2}\+[A-Z]{2}\b", piece.plain)
        if is_clear and (len(piece.labels) == 1 or joint):
            for task in sorted(tasks):
                yield task, piece.labels, piece


def _pairs_at(text: Text) -> Iterator[tuple[int, str, str]]:
    """Each query and column that a block is bound to, with the text that it printed."""
    blocks: dict[int, Block] = {id(piece.block): piece.block for piece in text.pieces}
    for block in blocks.values():
        for source in sources_of(block):
            for pair in source.pairs:
                if pair.text is not None:
                    yield block.line, f"{source.words}: {pair.expression} ", pair.text


def _outcomes_at(text: Text) -> Iterator[tuple[tuple[str, str, int], str, int]]:
    """Rollouts behind `pass:` or `fail:`."""
    for piece in text.pieces:
        for start, _, each in piece.cites:
            if match := piece.label_before(start):
                yield each.rollout, match["word"].lower(), piece.line
