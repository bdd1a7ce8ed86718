"""Which statements of a golden report could be facts, and why the others could not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.package import headings
from pipeline.package.comments import without_comments
from pipeline.package.reading import Section, Table, read
from pipeline.package.rows import row_text, source
from pipeline.package.statements import Statement, of_text, sentences

SHORTEST, LONGEST = 20, 420
WORDS_OF_QUOTE = 3
CAUSAL = re.compile(
    r"\b(?:because|since|so that|therefore|thus|hence|causes?|caused|due to|leads? to|led to"
    r"|results? in|after|before|instead|although|though|yet|despite|rather than|without|until"
    r"|which (?:is|was) why|explains?|means that|only when|fails? (?:at|on|with|by|to))\b",
    re.IGNORECASE,
)
# What a sentence needs the one before it for.
DANGLING = re.compile(
    r"^(?:it|its|this|that|these|those|they|their|them|he|she|both|such|here|there|the same"
    r"|(?:none|all|most|each|one|two|three) of (?:its|their|them|these|those)"
    r"|the other|the latter|the former|of these|of them|so|but|and|or|then|however|instead|also)\b",
    re.IGNORECASE,
)
BOILERPLATE = re.compile(
    r"^(?:rows of\b|asked:|all (?:of them )?are in\b|at most \w+ (?:tasks|rows)|a draft made by"
    r"|the files are listed|to know when reading|what to do:|it worked if|check first:|see also"
    r"|render this|make everything|ask for one figure|the \d+ commonest|read task|no rule suggests"
    r"|causes are suggestions"
    r"|a (?:rollout|task) (?:reaches|always passes|passes whose|is unhealthy))|^none\.?$",
    re.IGNORECASE,
)
POINTING = re.compile(
    r"\b(?:are|is) (?:all )?(?:in|a row of|rows of|listed in) `[a-z_.]+`", re.IGNORECASE
)
COMMAND = re.compile(
    r"^(?:blade|uv|python3?|pip|git|make|cd|cp|mkdir|gym)\s|\bselect\b.*\bfrom\b", re.I
)
TASK_HEADING = re.compile(
    r"\btask\s+(?:`(?P<code>[^`]+)`|(?P<task>[^`:]+?)\s*(?::|$|\u2014| - ))", re.IGNORECASE
)
UNTOLD_SECTIONS = ("Reproducibility Notes", "Artifact Inventory")
# Why a statement is no fact.
VAGUE = "says nothing concrete"
AGGREGATE = "restates an aggregate"
MAKING = "is how the report was made or is to be read"
DEPENDENT = "needs the sentence before it"
ODD_LENGTH = "is too short or too long for one claim"


@dataclass(frozen=True)
class Candidate:
    """A statement that could be a fact."""

    text: str
    claim: Statement
    # The heading of its section as written, and which of BLADE's that is.
    section: str
    kind: str | None
    line: int
    is_row: bool

    @property
    def is_causal(self) -> bool:
        """Whether it says why or how, not only what."""
        return CAUSAL.search(self.text) is not None

    @property
    def has_quote(self) -> bool:
        """Whether it quotes words of the record; one or two may be a name."""
        return any(len(quote.split()) >= WORDS_OF_QUOTE for quote in self.claim.quotes)


def candidates(text: str) -> tuple[list[Candidate], list[str]]:
    """The statements that could be facts in their order, and a reason for each other one."""
    found: list[Candidate] = []
    reasons: list[str] = []
    seen = without_comments(text)
    runs = _own_names(seen)
    for section in read(seen).sections:
        for each in _statements(section, _prefix(section)):
            reason = _reason_against(each, runs)
            if reason is None:
                found.append(each)
            else:
                reasons.append(reason)
    return found, reasons


def _own_names(text: str) -> frozenset[str]:
    """The runs that the report is about: to name one is to say nothing yet."""
    return frozenset(re.findall(r"`([\w.-]+)/[^`\s]*:\d+(?:#\d+)?`", text))


def _statements(section: Section, prefix: str) -> Iterator[Candidate]:
    kind = headings.kind_of(section)
    title = section.path[0] if section.path else section.title
    for part in section.parts:
        if isinstance(part, Table):
            for row in part.rows:
                yield _candidate(row_text(part, row), title, kind, row.line, prefix, is_row=True)
        elif part.kind not in ("fence", "heading"):
            for start, end in sentences(part):
                told = "Asked:" if part.text.startswith("Asked:") else source(part.cut(start, end))
                yield _candidate(told, title, kind, part.line_at(start), prefix, is_row=False)


def _candidate(
    text: str, title: str, kind: str | None, line: int, prefix: str, *, is_row: bool
) -> Candidate:
    told = " ".join(text.split())
    claim = of_text(told)
    if prefix and not claim.tasks and not BOILERPLATE.match(told):
        told = f"{prefix}: {told}"
        claim = of_text(told)
    return Candidate(told, claim, title, kind, line, is_row)


def _prefix(section: Section) -> str:
    """The task that the heading is about, as written: what stands below it needs its name."""
    match = TASK_HEADING.search(source(section.heading)) if section.heading else None
    if match is None:
        return ""
    return f"Task `{match['code']}`" if match["code"] else f"Task {match['task'].strip()}"


def _reason_against(fact: Candidate, runs: frozenset[str]) -> str | None:
    """Why a statement is no fact; none where it could be one."""
    claim = fact.claim
    if fact.kind in UNTOLD_SECTIONS or BOILERPLATE.match(fact.text) or POINTING.search(fact.text):
        return MAKING
    if any(COMMAND.search(name) for name in claim.names) or fact.text.endswith("?"):
        return MAKING
    names = [name for name in claim.names if name not in runs and "." not in name]
    if not (claim.citations or claim.tasks or names or fact.has_quote):
        return AGGREGATE if claim.numbers else VAGUE
    is_evident = claim.citations or claim.tasks or claim.quotes
    if not is_evident and fact.kind in ("Aggregate Results", "Task Outcome Buckets"):
        return AGGREGATE
    if DANGLING.match(fact.text):
        return DEPENDENT
    if not SHORTEST <= len(fact.text) <= LONGEST or len(claim.words) < 3:
        return ODD_LENGTH
    return DEPENDENT if fact.text.endswith(":") else None
