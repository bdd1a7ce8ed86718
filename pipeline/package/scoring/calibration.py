"""Golden report, shallow report and look-alikes scored alike, and whether that tells them apart.

Look-alikes are like a golden report and say less or something else; they are built without chance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.blocks import edited, read
from pipeline.package.facts import Fact
from pipeline.package.scoring.passages import FUNCTION, LABELS, TASKS_NAMED, passages
from pipeline.package.scoring.score import DIGITS, Score, score, standard
from pipeline.package.verify.units import SAID, units

GOLDEN_TARGET, SHALLOW_TARGET, MIN_SPREAD = 0.85, 0.40, 0.50
# How far below the golden report a false look-alike must be, and a true one may be.
FALSE_GAP, TRUE_GAP = 0.25, 0.05
GOLDEN, SHALLOW, SPREAD = "golden-vs-self", "shallow-vs-golden", "spread"
# What says less than the golden report, and not something else: no fact should survive it.
BARE = (SHALLOW, "words-shuffled", "vocabulary-list", "keyword-stuffing", "metric-dump")

COMMENT = re.compile(r"[ \t]*<!--.*?(?:-->|\Z)[ \t]*\n?", re.DOTALL)
# Code is one word; what has no letter or digit (a bullet, the line under a head) is none.
TOKEN = re.compile(r"(?=[^\s|]*[\w`])(?:`[^`\n]*`|[^\s|])+")
WORDY = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z`]")
LABEL = re.compile(rf"\b(?:{'|'.join(LABELS)})\b")
A_LINE = 14


@dataclass(frozen=True)
class LookAlike:
    """Its name, what was done to the golden report, the text, and whether it is worth the same."""

    name: str
    what: str
    text: str
    is_equal: bool


def calibrate(
    golden_text: str, shallow_text: str, facts: Sequence[Fact], *, min_spread: float = MIN_SPREAD
) -> tuple[dict[str, Any], dict[str, Score]]:
    """What calibration_summary.json holds, and each score by the name of its folder."""
    by, built = standard(golden_text, facts), look_alikes(golden_text)
    scores = {GOLDEN: score(golden_text, by), SHALLOW: score(shallow_text, by)}
    scores |= {each.name: score(each.text, by) for each in built}
    finals = {name: each.final for name, each in scores.items()}
    golden = finals[GOLDEN]
    spread = round(golden - finals[SHALLOW], DIGITS)
    checks = [
        _check(GOLDEN, golden, GOLDEN_TARGET, is_least=True),
        _check(SHALLOW, finals[SHALLOW], SHALLOW_TARGET, is_least=False),
        _check(SPREAD, spread, min_spread, is_least=True),
    ]
    for each in built:
        limit = max(0.0, round(golden - (TRUE_GAP if each.is_equal else FALSE_GAP), DIGITS))
        checks.append(_check(each.name, finals[each.name], limit, is_least=each.is_equal))
    failed = [each["name"] for each in checks if not each["passed"]]
    weak = list(_weak_facts(scores))
    summary = {
        "passed": not failed,
        "golden_score": golden,
        "shallow_score": finals[SHALLOW],
        "spread": spread,
        "targets": {
            "golden_at_least": GOLDEN_TARGET,
            "shallow_at_most": SHALLOW_TARGET,
            "spread_at_least": min_spread,
            "negatives_below_golden_by": FALSE_GAP,
            "equals_below_golden_by": TRUE_GAP,
        },
        "checks": checks,
        "look_alikes": {
            each.name: {
                "what": each.what,
                "score": finals[each.name],
                "below_golden": round(golden - finals[each.name], DIGITS),
                "facts_met": sum(fact.is_met for fact in scores[each.name].facts),
            }
            for each in built
        },
        # Those that would be the golden report itself: nothing in it could be changed so.
        "not_built": [name for name, *_ in MAKERS if name not in scores],
        "weak_facts": weak,
        "review": list(_review(failed, weak)),
    }
    return summary, scores


def _check(name: str, final: float, limit: float, *, is_least: bool) -> dict[str, Any]:
    """One demand on the scores."""
    demand = f"at {'least' if is_least else 'most'} {limit:g}"
    passed = final >= limit if is_least else final <= limit
    return {"name": name, "score": final, "demand": demand, "passed": passed}


def _weak_facts(scores: Mapping[str, Score]) -> Iterator[dict[str, str]]:
    """Facts that the golden report does not state, or that reports without diagnosis do."""
    for place, each in enumerate(scores[GOLDEN].facts):
        by = [name for name in BARE if name in scores and scores[name].facts[place].is_met]
        if not each.is_met:
            why = f"not in the golden report: {each.lacking}"
            yield {"id": each.asked.fact.id, "why": why}
        elif by:
            yield {"id": each.asked.fact.id, "why": f"met by {', '.join(by)}"}


def _review(failed: Sequence[str], weak: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """What to look at; nothing where all is well."""
    close = [name for name in failed if name not in (GOLDEN, SHALLOW, SPREAD)]
    is_close = SHALLOW in failed or (SPREAD in failed and GOLDEN not in failed)
    if failed and weak:
        told = "; ".join(f"{each['id']} ({each['why']})" for each in weak)
        yield f"Weak facts: {told}."
    if is_close:
        yield "Shallow too close: take diagnosis, citations and task rows out of it."
    if close:
        yield f"Look-alikes: {', '.join(close)}; sharpen the facts, give each a value."
    if failed and not (weak or is_close or close):
        yield "Facts: give each a task, a rollout and a value that only evidence shows."


def look_alikes(golden: str) -> list[LookAlike]:
    """All that differ from the golden report, in a fixed order."""
    seen = COMMENT.sub("", golden)
    made = [LookAlike(name, what, make(seen), equal) for name, what, make, equal in MAKERS]
    return [each for each in made if each.text.split() != seen.split()]


def headings_changed(text: str) -> str:
    """The same text under numbered parts: only headings that name a task keep their words."""
    spans = [block.rows[0][0] for block in read(text).blocks if block.kind == "heading"]
    titles = [(span, text[span.start : span.end]) for span in spans]
    plain = [span for span, title in titles if not TASKS_NAMED.search(title) and "`" not in title]
    return edited(text, ((span.start, span.end, f"Part {n}") for n, span in enumerate(plain, 1)))


def tables_as_items(text: str) -> str:
    """Each row of a table as an item that names its columns."""
    lines = text.split("\n")
    for block in read(text).blocks:
        if block.kind == "table":
            lines[block.line - 1] = lines[block.line] = ""
            for place, row in enumerate(block.rows, start=block.line + 1):
                cells = [(span.head, text[span.start : span.end].strip()) for span in row]
                lines[place] = "- " + "; ".join(f"{name}: {cell}" for name, cell in cells if cell)
    return "\n".join(lines)


def words_shuffled(text: str) -> str:
    """The words of each section in an order of their own, in lines as long as before."""

    def chance(pair: tuple[int, str]) -> bytes:
        return hashlib.sha256(f"{pair[0]} {pair[1]}".encode("utf-8", "backslashreplace")).digest()

    edits, at = [], 0
    for heading, body in _sections(text):
        at += len(heading)
        places = [(at + match.start(), at + match.end()) for match in TOKEN.finditer(body)]
        words = [word for _, word in sorted(enumerate(TOKEN.findall(body)), key=chance)]
        edits += [(*place, word) for place, word in zip(places, words, strict=True)]
        at += len(body)
    return edited(text, edits)


def vocabulary(text: str) -> str:
    """Each section's words once, in alphabetical order."""
    return "".join(head + _rows(sorted(set(TOKEN.findall(body)))) for head, body in _sections(text))


def keywords(text: str) -> str:
    """Below each heading all that its section names and counts, in order."""
    pieces = []
    for heading, body in _sections(text):
        words = {word.lower(): word for word in TOKEN.findall(body)}
        kept = [word for low, word in words.items() if low.strip(".,;:") not in FUNCTION]
        pieces.append(heading + _rows(kept))
    return "".join(pieces)


def numbers_perturbed(text: str) -> str:
    """Every figure a tenth and one more, as likely as before; ids and code stay."""

    def more(digits: re.Match[str]) -> str:
        plain = digits[0].replace(",", "")
        comma, decimals = "," if "," in digits[0] else "", len(plain.partition(".")[2])
        return f"{float(plain) * 1.1 + 1:{comma}.{decimals}f}"

    tokens = [token for block in read(text).blocks for token in block.tokens]
    changed = ((each.start, each.end, re.sub(r"\d[\d,.]*", more, each.text)) for each in tokens)
    return edited(text, changed)


def ids_swapped(text: str) -> str:
    """Each task under the name of the next one."""
    found = (task for each in passages(text).passages for task in sorted(each.tasks))
    tasks = list(dict.fromkeys(found))
    following = dict(zip(tasks, tasks[1:] + tasks[:1], strict=True))
    longest = sorted(map(re.escape, tasks), key=lambda each: (-len(each), each))
    name = re.compile(rf"(?<![\w.:#-])(?:{'|'.join(longest) or '(?!)'})(?![\w.-])")
    # Where a task is named: in code, in a citation, behind the word.
    places = re.compile(rf"`[^`\n]*`|{SAID['bare'].pattern}|{TASKS_NAMED.pattern}", re.IGNORECASE)
    return places.sub(lambda match: name.sub(lambda each: following[each[0]], match[0]), text)


def claims_negated(text: str) -> str:
    """Each sentence of the prose denied; headings, tables and code stay."""
    prose = (each for each in units(read(text)) if each.block.kind in ("paragraph", "list"))
    starts = [each.spans[0].start for each in prose if WORDY.search(each.text)]
    return edited(text, ((start, start, "It is not true that ") for start in starts))


def causes_inverted(text: str) -> str:
    """Every root cause another one."""
    following = dict(zip(LABELS, LABELS[2:] + LABELS[:2], strict=True))
    return LABEL.sub(lambda match: following[match[0]], text)


def tables_only(text: str) -> str:
    """All headings and all tables: what a script could print of it."""
    lines, kept = text.split("\n"), []
    for block in read(text).blocks:
        if block.kind == "heading":
            kept += [lines[block.line - 1], ""]
        elif block.kind == "table":
            kept += [*lines[block.line - 1 : block.line + 1 + len(block.rows)], ""]
    return "\n".join(kept)


def _sections(text: str) -> list[tuple[str, str]]:
    """Headings of the first two levels, each with what stands below it."""
    parts = re.split(r"(?m)^(#{1,2}\s.*\n?)", text)
    return list(zip(["", *parts[1::2]], parts[0::2], strict=True))


def _rows(words: list[str]) -> str:
    """Words on lines of a paragraph."""
    lines = [" ".join(words[place : place + A_LINE]) for place in range(0, len(words), A_LINE)]
    return "\n".join(["", *lines, "", ""])


MAKERS: tuple[tuple[str, str, Callable[[str], str], bool], ...] = (
    ("headings-changed", "the same text under other headings", headings_changed, True),
    ("tables-as-items", "each row of a table as an item", tables_as_items, True),
    ("words-shuffled", "the words of each section shuffled", words_shuffled, False),
    ("vocabulary-list", "each section's words in alphabetical order", vocabulary, False),
    ("numbers-perturbed", "every number another", numbers_perturbed, False),
    ("ids-swapped", "tasks exchanged", ids_swapped, False),
    ("claims-negated", "every sentence denied", claims_negated, False),
    ("causes-inverted", "every root cause another one", causes_inverted, False),
    ("keyword-stuffing", "all names, numbers and words below their headings", keywords, False),
    ("metric-dump", "all headings and tables, no prose", tables_only, False),
)
