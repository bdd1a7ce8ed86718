"""Reports that are like a golden one and say less or something else, built without chance."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipeline import citation
from pipeline.package.scoring.passages import (
    FUNCTION,
    LABELS,
    SPELLED,
    TASKS_NAMED,
    UNSURE,
    passages,
)
from pipeline.package.verify.units import BARE
from pipeline.report.blocks import FENCE, FIGURE, FRACTION, HEADING, NAMING, read

COMMENT = re.compile(r"[ \t]*<!--.*?(?:-->|\Z)[ \t]*\n?", re.DOTALL)
CODE = re.compile(r"(`[^`\n]*`)")
TOKEN = re.compile(r"(?:`[^`\n]*`|[^\s|])+")
UNDER_HEAD = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*")
SENTENCE = re.compile(r"(?<=[.!?;:])\s+")
LEAD = re.compile(r"\s*(?:[-*+]|\d+[.)])?\s*(?:\*\*[^*]+\*\*:?\s*)?")
WORDY = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z`]")
LABEL = re.compile(rf"\b(?:{'|'.join(LABELS)})\b")
NUMBER_WORDS = [word for word in SPELLED if word not in UNSURE and word != "twice"]
NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
A_LINE = 14
# The first that a sentence has turns it: a no, else a verb, else a word with an opposite.
TURNS = tuple(
    (re.compile(pattern, re.IGNORECASE), other)
    for pattern, other in (
        (r"\b(does|do|did|is|are|was|were|has|have|can|will)\s+not\b", r"\1"),
        (r"\bcannot\b", "can"),
        (r"\bnever\b", "always"),
        (r"\bwithout\b", "with"),
        (r"\bnothing\b", "everything"),
        (r"\bnone\b", "all"),
        (r"\bno\b", "every"),
        (r"\bnot\s+", ""),
        (r"\b(is|are|was|were|has|have|had|can|could|does|do|did|will|would|must)\b", r"\1 not"),
        (r"\bfail(s|ed|ing)?\b", "pass"),
        (r"\bpass(es|ed|ing)\b", "fail"),
        (r"\b(rises|rose|rise)\b", "falls"),
        (r"\b(falls|fell|fall)\b", "rises"),
    )
)  # fmt: skip


@dataclass(frozen=True)
class LookAlike:
    """Its name, what was done to the golden report, the text, and whether it is worth the same."""

    name: str
    what: str
    text: str
    is_equal: bool


def look_alikes(golden: str) -> list[LookAlike]:
    """All that differ from the golden report, in a fixed order."""
    seen = COMMENT.sub("", golden)
    made = [LookAlike(name, what, make(seen), equal) for name, what, make, equal in MAKERS]
    return [each for each in made if each.text.split() != seen.split()]


def words_shuffled(text: str) -> str:
    """The words of each section in an order of their own, in lines as long as before."""
    return "\n".join(line for body in _sections(text) for line in _shuffled(body))


def vocabulary(text: str) -> str:
    """Each section's words once, in alphabetical order."""
    return "\n".join(line for body in _sections(text) for line in _listed(body, sorted))


def numbers_perturbed(text: str) -> str:
    """Every figure one more, in its last digit or of its count; ids and code stay."""
    return _by_line(text, lambda line: _outside_code(line, _perturbed))


def ids_swapped(text: str) -> str:
    """Each task under the name of the next one; with one task only, the next rollout of it."""
    tasks = list(
        dict.fromkeys(task for each in passages(text).passages for task in sorted(each.tasks))
    )
    if len(tasks) < 2:
        shift = re.compile(r"(`[^`\n/]+/[^`\n]*:)(\d{1,9})((?:#\d+)?`)")
        return shift.sub(lambda match: f"{match[1]}{int(match[2]) + 1}{match[3]}", text)
    following = dict(zip(tasks, tasks[1:] + tasks[:1], strict=True))
    lines = (line if is_code else _swapped(line, following) for line, is_code in _lines(text))
    return "\n".join(lines)


def claims_negated(text: str) -> str:
    """Each sentence of the prose turned once; headings, tables and code stay."""
    return _by_line(text, lambda line: line if line.lstrip().startswith("|") else _negated(line))


def causes_inverted(text: str) -> str:
    """Every root cause another one."""
    following = dict(zip(LABELS, LABELS[2:] + LABELS[:2], strict=True))
    return _by_line(text, lambda line: LABEL.sub(lambda match: following[match[0]], line))


def keywords(text: str) -> str:
    """Headings and tables, and below each heading all that its section names and counts."""
    pieces = []
    for body in _sections(text):
        words = {word.lower(): word for word in _tokens(body)}
        kept = [word for low, word in words.items() if low.strip(".,;:") not in FUNCTION]
        pieces += [*body[:1], "", *_rows(kept), ""]
    return "\n".join(pieces)


def tables_only(text: str) -> str:
    """All headings and all tables: what a script could print of it."""
    report = read(text)
    lines, kept = text.split("\n"), []
    for block in report.blocks:
        if block.kind == "heading":
            kept += [lines[block.line - 1], ""]
        elif block.kind == "table":
            kept += [*lines[block.line - 1 : block.line + 1 + len(block.rows)], ""]
    return "\n".join(kept)


def headings_changed(text: str) -> str:
    """The same text under numbered parts: only headings that name a task keep their words."""
    count = iter(range(1, len(text) + 2))

    def changed(line: str) -> str:
        is_task = TASKS_NAMED.search(line) or "`" in line or not HEADING.match(line)
        return line if is_task else f"{line.split()[0]} Part {next(count)}"

    return "\n".join(line if is_code else changed(line) for line, is_code in _lines(text))


def tables_as_items(text: str) -> str:
    """Each row of a table as an item that names its columns."""
    report = read(text)
    lines = text.split("\n")
    for block in report.blocks:
        if block.kind == "table":
            lines[block.line - 1] = lines[block.line] = ""
            for place, row in enumerate(block.rows, start=block.line + 1):
                cells = [(span.head, text[span.start : span.end].strip()) for span in row]
                lines[place] = "- " + "; ".join(f"{name}: {cell}" for name, cell in cells if cell)
    return "\n".join(lines)


def negated(sentence: str) -> str:
    """The opposite of one sentence."""
    pieces = CODE.split(sentence)
    for pattern, other in TURNS:
        for place in range(0, len(pieces), 2):
            pieces[place], n_turned = pattern.subn(other, pieces[place], count=1)
            if n_turned:
                return "".join(pieces)
    return f"It is not true that {sentence}"


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each is fenced code."""
    fence = ""
    for line in text.split("\n"):
        match = FENCE.match(line)
        is_edge = match is not None and (not fence or match["fence"].startswith(fence))
        yield line, bool(fence) or is_edge
        if match and is_edge:
            fence = "" if fence else match["fence"]


def _by_line(text: str, change: Callable[[str], str]) -> str:
    kept = (
        line if is_code or HEADING.match(line) else change(line) for line, is_code in _lines(text)
    )
    return "\n".join(kept)


def _outside_code(line: str, change: Callable[[str], str]) -> str:
    pieces = CODE.split(line)
    return "".join(piece if place % 2 else change(piece) for place, piece in enumerate(pieces))


def _sections(text: str) -> list[list[str]]:
    """Lines by section; the heading is the first of each."""
    found: list[list[str]] = [[]]
    for line, is_code in _lines(text):
        if re.match(r"#{1,2}\s", line) and not is_code:
            found.append([])
        found[-1].append(line)
    return [body for body in found if body]


def _tokens(body: list[str]) -> list[str]:
    lines = (line for line in body[1:] if not UNDER_HEAD.fullmatch(line))
    return [token for line in lines for token in TOKEN.findall(line)]


def _shuffled(body: list[str]) -> list[str]:
    def chance(pair: tuple[int, str]) -> bytes:
        return hashlib.sha256(f"{pair[0]} {pair[1]}".encode("utf-8", "backslashreplace")).digest()

    words = iter([word for _, word in sorted(enumerate(_tokens(body)), key=chance)])
    return body[:1] + [
        line if UNDER_HEAD.fullmatch(line) else TOKEN.sub(lambda _: next(words), line)
        for line in body[1:]
    ]


def _listed(body: list[str], order: Callable[[set[str]], list[str]]) -> list[str]:
    return [*body[:1], "", *_rows(order(set(_tokens(body)))), ""]


def _rows(words: list[str]) -> list[str]:
    return [" ".join(words[place : place + A_LINE]) for place in range(0, len(words), A_LINE)]


def _perturbed(piece: str) -> str:
    def figure(match: re.Match[str]) -> str:
        if match["none"] or NAMING.search(match.string[max(0, match.start() - 30) : match.start()]):
            return match[0]
        return f"{match['sign'] or ''}{_more(match['digits'])}{match['unit'] or ''}"

    def spelled(match: re.Match[str]) -> str:
        place = NUMBER_WORDS.index(match[0].lower())
        return NUMBER_WORDS[(place + 3) % len(NUMBER_WORDS)]

    told = FRACTION.sub(lambda match: f"{_more(match['part'])}/{_more(match['whole'])}", piece)
    return NUMBER_WORD.sub(spelled, FIGURE.sub(figure, told))


def _more(digits: str) -> str:
    """A number that is wrong and as likely: a tenth and one more."""
    plain = digits.replace(",", "")
    comma, decimals = "," if "," in digits else "", len(plain.partition(".")[2])
    return f"{float(plain) * 1.1 + 1:{comma}.{decimals}f}"


def _swapped(line: str, following: dict[str, str]) -> str:
    def renamed(told: str) -> str:
        cited = citation.parse(told)
        if cited is None or cited.task_id not in following:
            return following.get(told, told)
        start = len(cited.run_id) + 1
        return f"{told[:start]}{following[cited.task_id]}{told[start + len(cited.task_id) :]}"

    pieces = CODE.split(line)
    for place, piece in enumerate(pieces):
        if place % 2:
            pieces[place] = f"`{renamed(piece[1:-1])}`"
        else:
            piece = BARE.sub(lambda match: renamed(match[0]), piece)
            pieces[place] = TASKS_NAMED.sub(
                lambda match: re.sub(
                    r"[\w-]*\d[\w-]*", lambda name: following.get(name[0], name[0]), match[0]
                ),
                piece,
            )
    return "".join(pieces)


def _negated(line: str) -> str:
    lead = LEAD.match(line)
    start = lead.end() if lead else 0
    told = [negated(each) if WORDY.search(each) else each for each in SENTENCE.split(line[start:])]
    return line[:start] + " ".join(told)


MAKERS: tuple[tuple[str, str, Callable[[str], str], bool], ...] = (
    ("headings-changed", "the same text under other headings", headings_changed, True),
    ("tables-as-items", "each row of a table as an item", tables_as_items, True),
    ("words-shuffled", "the words of each section shuffled", words_shuffled, False),
    ("vocabulary-list", "each section's words in alphabetical order", vocabulary, False),
    ("numbers-perturbed", "every number another", numbers_perturbed, False),
    ("ids-swapped", "tasks and rollouts exchanged", ids_swapped, False),
    ("claims-negated", "every sentence says the opposite", claims_negated, False),
    ("causes-inverted", "every root cause another one", causes_inverted, False),
    ("keyword-stuffing", "all names, numbers and words below their headings", keywords, False),
    ("metric-dump", "all headings and tables, no prose", tables_only, False),
)
