"""A golden report whose every sentence says the opposite."""

from __future__ import annotations

import re

from pipeline.package.scoring.markdown import CODE, HEADING, fenced

SENTENCE = re.compile(r"(?<=[.!?;:])\s+")
LEAD = re.compile(r"^(\s*(?:[-*+]|\d+[.)])?\s*(?:\*\*[^*]+\*\*:?\s*)?)")
# The first that a sentence has turns it: a no, else a verb, else a word with an opposite.
NEGATIONS = (
    (re.compile(r"\b(does|do|did|is|are|was|were|has|have|can|will)\s+not\b", re.I), r"\1"),
    (re.compile(r"\bcannot\b", re.I), "can"),
    (re.compile(r"\bnever\b", re.I), "always"),
    (re.compile(r"\bwithout\b", re.I), "with"),
    (re.compile(r"\bnothing\b", re.I), "everything"),
    (re.compile(r"\bnone\b", re.I), "all"),
    (re.compile(r"\bno\b", re.I), "every"),
    (re.compile(r"\bnot\s+", re.I), ""),
)
AUXILIARIES = (
    (
        re.compile(
            r"\b(is|are|was|were|has|have|had|can|could|does|do|did|will|would|should|must)\b"
            r"(?!\s+not\b)",
            re.I,
        ),
        r"\1 not",
    ),
)
OPPOSITES = (
    (re.compile(r"\bfail(s|ed|ing)?\b", re.I), r"pass"),
    (re.compile(r"\bpass(es|ed|ing)\b", re.I), r"fail"),
    (re.compile(r"\b(rises|rose|rise)\b", re.I), "falls"),
    (re.compile(r"\b(falls|fell|fall)\b", re.I), "rises"),
)
WORDY = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z`]")


def claims_negated(text: str) -> str:
    """Each sentence of the prose turned once; headings, tables and code stay."""
    lines = []
    for line, is_fenced in fenced(text):
        is_kept = is_fenced or HEADING.match(line) or line.lstrip().startswith(("|", "<"))
        lines.append(line if is_kept else _negated_line(line))
    return "\n".join(lines)


def negated(sentence: str) -> str:
    """The opposite of one sentence."""
    pieces = CODE.split(sentence)
    for turns in (NEGATIONS, AUXILIARIES, OPPOSITES):
        for place in range(0, len(pieces), 2):
            for pattern, other in turns:
                pieces[place], n_turned = pattern.subn(other, pieces[place], count=1)
                if n_turned:
                    return "".join(pieces)
    return f"It is not true that {sentence}"


def _negated_line(line: str) -> str:
    lead = LEAD.match(line)
    start = lead.end() if lead else 0
    told = [negated(each) if WORDY.search(each) else each for each in SENTENCE.split(line[start:])]
    return line[:start] + " ".join(told)
