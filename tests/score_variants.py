"""Reports of known worth, made from a golden report and its facts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.package.blocks import edited, read
from pipeline.package.evidence import tasks_in
from pipeline.package.facts import Fact
from pipeline.package.score import text_of

OTHERS = {"KG": "BI", "UK": "KG", "BI": "KG", "TI": "BI", "IR": "TI", "DA": "IR", "BI+IR": "KG"}
# Another word for each: what a paraphrase changes, which is nothing that is a name or a figure.
WORDS = {
    "passes": "gets through", "pass": "get through", "attempts": "tries", "attempt": "try",
    "failures": "misses", "failure": "miss", "never": "at no time", "most": "the bulk",
    "the": "each", "and": "as well as", "with": "having", "without": "lacking", "over": "across",
}  # fmt: skip
COMMENT = re.compile(r"[ \t]*<!--.*?(?:-->|\Z)[ \t]*\n?", re.DOTALL)
# Code is one word; what has no letter or digit (a bullet, the line under a head) is none.
WORD = re.compile(r"(?=[^\s|]*[\w`])(?:`[^`\n]*`|[^\s|])+")
A_LINE = 14


def false_fact(fact: Fact) -> Fact:
    """The same subject with another value."""
    text = fact.fact
    if fact.predicate == "cause":
        return replace(fact, fact=text.replace(str(fact.value), OTHERS[str(fact.value)]))
    if fact.quotes:
        quote = fact.quotes[0]
        return replace(fact, fact=text.replace(quote, "nothing of the kind was ever written"))
    if isinstance(fact.value, str):
        return replace(fact, fact=text.replace(fact.value, "no_such_thing"))
    return replace(fact, fact=re.sub(r"(?<![\w/:#.`-])\d[\d.,]*(?!\w)", _more, text))


def _more(match: re.Match[str]) -> str:
    bare = match[0].rstrip(".,").replace(",", "")
    return (
        f"{float(bare) + 7:.{len(bare.partition('.')[2])}f}"
        + match[0][len(match[0].rstrip(".,")) :]
    )


def variants(golden: str, facts: Sequence[Fact], run: str) -> dict[str, str]:
    """Reports by name; what each may score is in tests/test_score.py."""
    seen = COMMENT.sub("", golden)
    twelve = list(facts)[:12]
    third = sorted(facts, key=lambda each: each.id)[::3]
    return {
        "golden": golden,
        "paraphrase": paraphrase(seen),
        "table": facts_as_table(seen, facts),
        "bullets": facts_as_items(seen, facts),
        "headings": headings_changed(seen),
        "short": facts_as_items(seen, third),
        "five errors": facts_as_items(seen, [*map(false_fact, twelve[:5]), *twelve[5:]]),
        "rows as items": tables_as_items(seen),
        "tasks exchanged": ids_swapped(seen),
        "numbers changed": numbers_perturbed(seen),
        "soup": words_shuffled(seen),
        "soup per fact": soup_per_fact(seen, facts),
        "thirteen false": thirteen_false(seen),
        "fabricated": fabricated(golden, run),
    }


def paraphrase(text: str) -> str:
    """Other words around the same names and figures, paragraphs in another order."""
    pieces = re.split(r"(`[^`]*`|\"[^\"]*\"|\|.*|#.*)", text)
    changed = [
        piece if no % 2 else re.sub(r"\b[a-z]+\b", lambda word: WORDS.get(word[0], word[0]), piece)
        for no, piece in enumerate(pieces)
    ]
    return "".join(changed)


def thirteen_false(text: str) -> str:
    """Every third figure of the text another: many claims, the same words."""
    tokens = [token for block in read(text).blocks for token in block.tokens if token.value]
    return edited(
        text,
        (
            (token.start, token.end, re.sub(r"\d[\d,.]*", _more, token.text))
            for no, token in enumerate(tokens)
            if no % 3 == 0
        ),
    )


def fabricated(golden: str, run: str) -> str:
    """The golden report with thirty claims about rollouts that do not exist."""
    lines = [f"- `{run}/{9000 + n}:0#3` deletes record {n}, and nobody notices." for n in range(30)]
    return golden + "\n## More findings\n\n" + "\n".join(lines) + "\n"


def headings_changed(text: str) -> str:
    """The same text under numbered parts: only headings that name a task keep their words."""
    headings = (block for block in read(text).blocks if block.kind == "heading")
    spans = [span for block in headings for span in block.spans]
    titles = [(span, text[span.start : span.end]) for span in spans[1:]]
    others = [span for span, title in titles if not tasks_in(title) and "`" not in title]
    return edited(text, ((span.start, span.end, f"Part {n}") for n, span in enumerate(others, 1)))


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


def words_shuffled(text: str) -> str:
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


def numbers_perturbed(text: str) -> str:
    """Every figure a tenth and one more, as likely as before; ids and code stay."""

    def more(digits: re.Match[str]) -> str:
        bare = digits[0].replace(",", "")
        comma, decimals = "," if "," in digits[0] else "", len(bare.partition(".")[2])
        return f"{float(bare) * 1.1 + 1:{comma}.{decimals}f}"

    tokens = [token for block in read(text).blocks for token in block.tokens]
    changed = ((each.start, each.end, re.sub(r"\d[\d,.]*", more, each.text)) for each in tokens)
    return edited(text, changed)


def ids_swapped(text: str) -> str:
    """Each task under the name of the next one, wherever it is cited or named."""
    cited = {task for piece in text_of(text).pieces for _, task, _ in piece.rollouts}
    tasks = sorted(cited, key=lambda each: (len(each), each))
    following = dict(zip(tasks, tasks[1:] + tasks[:1], strict=True))
    longest = sorted(map(re.escape, tasks), key=lambda each: (-len(each), each))
    name = re.compile(rf"(?<![\w.:#-])(?:{'|'.join(longest) or '(?!)'})(?![\w.-])")
    places = re.compile(r"`[^`\n]*`|\b[Tt]asks?:? [\w.,` -]+|^\| [^|\n]*", re.MULTILINE)
    return places.sub(lambda match: name.sub(lambda each: following[each[0]], match[0]), text)


def _sections(text: str) -> list[tuple[str, str]]:
    """Headings of the first two levels, each with what is below it."""
    parts = re.split(r"(?m)^(#{1,2}\s.*\n?)", text)
    return list(zip(["", *parts[1::2]], parts[0::2], strict=True))
