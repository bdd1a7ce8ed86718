"""Golden report, shallow report and look-alikes scored alike, and whether scores distinguish them.

Look-alikes say the same in another form, or less, or something else; they are built without chance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.blocks import edited, read
from pipeline.package.evidence import CAUSE_NAME, CAUSES, tasks_in
from pipeline.package.facts import Fact
from pipeline.package.score import DIGITS, Score, score, standard, text_of

GOLDEN_TARGET, SHALLOW_TARGET, MIN_SPREAD = 0.85, 0.40, 0.50
# How far below the golden report a false look-alike must be, and a true one may be.
FALSE_GAP, TRUE_GAP = 0.25, 0.10
GOLDEN, SHALLOW, SPREAD = "golden-vs-self", "shallow-vs-golden", "spread"
# What says less than the golden report, and not something else: no fact should survive it.
BARE = (SHALLOW, "words-shuffled", "soup-per-fact")
COMMENT = re.compile(r"[ \t]*<!--.*?(?:-->|\Z)[ \t]*\n?", re.DOTALL)
# Code is one word; what has no letter or digit (a bullet, the line under a head) is none.
WORD = re.compile(r"(?=[^\s|]*[\w`])(?:`[^`\n]*`|[^\s|])+")
A_LINE = 14


@dataclass(frozen=True)
class LookAlike:
    """Its name, what was done, the text, and whether it is worth the same."""

    name: str
    what: str
    text: str
    is_equal: bool


def calibrate(
    golden_text: str, shallow_text: str, facts: Sequence[Fact], *, min_spread: float = MIN_SPREAD
) -> tuple[dict[str, Any], dict[str, Score]]:
    """What calibration_summary.json holds, and each score by the name of its folder."""
    by, built = standard(golden_text, facts), look_alikes(golden_text, facts)
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
            yield {"id": each.wanted.fact.id, "why": why}
        elif by:
            yield {"id": each.wanted.fact.id, "why": f"met by {', '.join(by)}"}


def _review(failed: Sequence[str], weak: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """What to look at; nothing where all is well."""
    close = [name for name in failed if name not in (GOLDEN, SHALLOW, SPREAD)]
    is_close = SHALLOW in failed or (SPREAD in failed and GOLDEN not in failed)
    if failed and weak:
        listed = "; ".join(f"{each['id']} ({each['why']})" for each in weak)
        yield f"Weak facts: {listed}."
    if is_close:
        yield "Shallow too close: take diagnosis, citations and task rows out of it."
    if close:
        yield f"Look-alikes: {', '.join(close)}; sharpen the facts, give each a value."
    if failed and not (weak or is_close or close):
        yield "Facts: give each a task, a rollout and a value that only evidence shows."


def look_alikes(golden: str, facts: Sequence[Fact]) -> list[LookAlike]:
    """All that differ from the golden report, in a fixed order."""
    seen = COMMENT.sub("", golden)
    candidates = [
        LookAlike(name, what, make(seen, facts), equal) for name, what, make, equal in MAKERS
    ]
    return [each for each in candidates if each.text.split() != seen.split()]


def headings_changed(text: str, _: Sequence[Fact]) -> str:
    """The same text under numbered parts: only headings that name a task keep their words."""
    headings = (block for block in read(text).blocks if block.kind == "heading")
    spans = [span for block in headings for span in block.spans]
    titles = [(span, text[span.start : span.end]) for span in spans[1:]]
    others = [span for span, title in titles if not tasks_in(title) and "`" not in title]
    return edited(text, ((span.start, span.end, f"Part {n}") for n, span in enumerate(others, 1)))


def tables_as_items(text: str, _: Sequence[Fact]) -> str:
    """Each row of a table as an item that names its columns."""
    lines = text.split("\n")
    for block in read(text).blocks:
        if block.kind == "table":
            lines[block.line - 1] = lines[block.line] = ""
            for place, row in enumerate(block.rows, start=block.line + 1):
                cells = [(span.head, text[span.start : span.end].strip()) for span in row]
                lines[place] = "- " + "; ".join(f"{name}: {cell}" for name, cell in cells if cell)
    return "\n".join(lines)


def facts_as_table(text: str, facts: Sequence[Fact]) -> str:
    """Nothing but the facts, a row each: what it is about, and its value."""
    rows = [
        " | ".join(cell.replace("|", "\\|") for cell in (_about(fact), value_text(fact)))
        for fact in facts
    ]
    return "\n".join(
        [
            _title(text),
            "",
            "| about | found |",
            "| --- | --- |",
            *(f"| {row} |" for row in rows),
            "",
        ]
    )


def facts_as_items(text: str, facts: Sequence[Fact]) -> str:
    """Nothing but the facts, an item each."""
    return "\n".join([_title(text), "", *(f"- {fact.fact}" for fact in facts), ""])


def _about(fact: Fact) -> str:
    task = f"task `{fact.subject.task}` " if fact.subject.task else ""
    run = f"`{fact.subject.run}` " if fact.subject.run and not fact.subject.task else ""
    names = re.findall(r"`[^`]+`", fact.fact) if not (task or run) else []
    cited = " ".join(f"`{each}`" for each in fact.citations)
    return f"{run}{task}{' '.join(names)} {cited}".strip()


def value_text(fact: Fact) -> str:
    """A fact's value as a table prints it; of a call or of a fact of text alone its sentence."""
    value = fact.value
    if fact.predicate == "expected_call":
        return fact.fact
    if isinstance(value, bool) or value is None:
        return " ".join(f'"{quote}"' for quote in fact.quotes) or fact.fact
    if isinstance(value, float):
        return f"{100 * value:.1f}%" if abs(value) <= 1 else f"{value:g}"
    if isinstance(value, int):
        of = re.search(rf"\b{value:,}\b (?:out )?of (?:the |all )?[\d,]+", fact.fact)
        return of[0] if of else f"{value:,}"
    return f"`{value}`" if "_" in value else value


def _title(text: str) -> str:
    """The title of a report with its opening, which say what it is about."""
    report = text_of(text)
    return f"# {' '.join(report.title.split())}"


def words_shuffled(text: str, _: Sequence[Fact]) -> str:
    """The words of each section in an order of their own, in lines as long as before."""
    pieces = []
    for heading, body in _sections(text):
        words = sorted(WORD.findall(body), key=_chance)
        lines = [" ".join(words[at : at + A_LINE]) for at in range(0, len(words), A_LINE)]
        pieces.append("\n".join([heading, *lines, "", ""]))
    return "".join(pieces)


def soup_per_fact(text: str, facts: Sequence[Fact]) -> str:
    """For each fact its names, values and words in any order."""
    blocks = [" ".join(sorted(WORD.findall(fact.fact), key=_chance)) for fact in facts]
    return "\n\n".join([_title(text), *blocks, ""])


def _chance(word: str) -> bytes:
    return hashlib.sha256(word.encode("utf-8", "backslashreplace")).digest()


def numbers_perturbed(text: str, _: Sequence[Fact]) -> str:
    """Every figure a tenth and one more, as likely as before; ids and code stay."""

    def more(digits: re.Match[str]) -> str:
        bare = digits[0].replace(",", "")
        comma, decimals = "," if "," in digits[0] else "", len(bare.partition(".")[2])
        return f"{float(bare) * 1.1 + 1:{comma}.{decimals}f}"

    tokens = [token for block in read(text).blocks for token in block.tokens]
    changed = ((each.start, each.end, re.sub(r"\d[\d,.]*", more, each.text)) for each in tokens)
    return edited(text, changed)


def ids_swapped(text: str, _: Sequence[Fact]) -> str:
    """Each task under the name of the next one, wherever it is cited or named."""
    cited = {task for piece in text_of(text).pieces for _, task, _ in piece.rollouts}
    tasks = sorted(cited, key=lambda each: (len(each), each))
    following = dict(zip(tasks, tasks[1:] + tasks[:1], strict=True))
    longest = sorted(map(re.escape, tasks), key=lambda each: (-len(each), each))
    name = re.compile(rf"(?<![\w.:#-])(?:{'|'.join(longest) or '(?!)'})(?![\w.-])")
    places = re.compile(r"`[^`\n]*`|\b[Tt]asks?:? [\w.,` -]+|^\| [^|\n]*", re.MULTILINE)
    return places.sub(lambda match: name.sub(lambda each: following[each[0]], match[0]), text)


def causes_inverted(text: str, _: Sequence[Fact]) -> str:
    """Every root cause another one."""
    following = dict(zip(CAUSES, CAUSES[2:] + CAUSES[:2], strict=True))
    return CAUSE_NAME.sub(lambda match: following[match[0]], text)


def _sections(text: str) -> list[tuple[str, str]]:
    """Headings of the first two levels, each with what is below it."""
    parts = re.split(r"(?m)^(#{1,2}\s.*\n?)", text)
    return list(zip(["", *parts[1::2]], parts[0::2], strict=True))


MAKERS: tuple[tuple[str, str, Callable[[str, Sequence[Fact]], str], bool], ...] = (
    ("headings-changed", "the same text under other headings", headings_changed, True),
    ("tables-as-items", "each row of a table as an item", tables_as_items, True),
    ("facts-as-table", "the facts alone, as one table", facts_as_table, True),
    ("facts-as-items", "the facts alone, as items", facts_as_items, True),
    ("words-shuffled", "the words of each section shuffled", words_shuffled, False),
    ("soup-per-fact", "the words of each fact shuffled", soup_per_fact, False),
    ("numbers-perturbed", "every number another", numbers_perturbed, False),
    ("ids-swapped", "tasks exchanged", ids_swapped, False),
    ("causes-inverted", "every root cause another one", causes_inverted, False),
)
