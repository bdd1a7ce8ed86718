"""Reports of known worth, made from a golden report and its facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.package.blocks import edited, read
from pipeline.package.calibration import (
    COMMENT,
    facts_as_items,
    facts_as_table,
    headings_changed,
    soup_per_fact,
    words_shuffled,
)
from pipeline.package.facts import Fact

OTHERS = {"KG": "BI", "UK": "KG", "BI": "KG", "TI": "BI", "IR": "TI", "DA": "IR", "BI+IR": "KG"}
# Another word for each: what a paraphrase changes, which is nothing that is a name or a figure.
WORDS = {
    "passes": "gets through", "pass": "get through", "attempts": "tries", "attempt": "try",
    "failures": "misses", "failure": "miss", "never": "at no time", "most": "the bulk",
    "the": "each", "and": "as well as", "with": "having", "without": "lacking", "over": "across",
}  # fmt: skip


def false_fact(fact: Fact) -> Fact:
    """The same subject with another value."""
    text = fact.fact
    if fact.predicate == "cause":
        return replace(fact, fact=text.replace(str(fact.value), OTHERS[str(fact.value)]))
    if fact.quotes:
        quote = fact.quotes[0]
        return replace(fact, fact=text.replace(quote, "nothing of the kind was ever said"))
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
        "headings": headings_changed(seen, facts),
        "short": facts_as_items(seen, third),
        "five errors": facts_as_items(seen, [*map(false_fact, twelve[:5]), *twelve[5:]]),
        "soup": words_shuffled(seen, facts),
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
