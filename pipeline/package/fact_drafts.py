"""Draft facts of a golden report, from what is bound: pairs, keyed rows, labels and cards.

A person edits the drafts. What a sentence says without a source, a citation or a label is no fact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..report.filters import literal
from .blocks import Block, Token, figures, heads_of, plain, read
from .facts import HIGH, LOW, MEDIUM, SHORTEST, Fact, Subject, Value
from .layout import UNSAFE
from .passages import (
    BRACKET,
    CAUSE,
    CAUSE_NAME,
    TASK_HEADS,
    Passage,
    passages,
)
from .score import lacking, standard
from .sources import Pair, Source, sources_of
from .values import token_of

LONGEST = 420
# Parts of a report that are about files and settings.
APART = re.compile(r"(?i)inventory|artifact|reproducib")
LITERAL = re.compile(r"\b(?P<column>\w+) = '(?P<value>(?:[^']|'')*)'")
# Denominators and p-values are not findings.
WHOLES = frozenset(
    "n_tasks n_common_tasks n_scored_tasks n_scored n_attempts n_rollouts n_expected k "
    "p_mean p_any p_holm".split()
)
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[^\sa-z])")
# The worth of each kind; what a person found by reading is worth more than a figure.
WORTH = {"cause": 4.0, "other": 3.0, "count": 2.0, "rate": 1.5}
SPENT = {"section": 0.6, "task": 1.0, "predicate": 0.3}
UNBOUND = "has no source, label or citation with words beside it"
REPEATED = "says of its subject what another fact says"
SURPASSED = "says less than those chosen"

# The worth of a fact, its line, its block and the fact.
Candidate = tuple[float, int, Block, Fact]


@dataclass(frozen=True)
class Drafted:
    """The facts in the order of the report, and how many other blocks are none, and why."""

    facts: tuple[Fact, ...]
    left_out: tuple[tuple[str, int], ...]


def draft(text: str, *, model: str, most: int) -> Drafted:
    """At most so many facts of a golden report, spread over sections, tasks and kinds."""
    every = passages(read(text))
    runs = Counter(each.run_id for one in every for *_, each in one.cites)
    run = max(sorted(runs), key=runs.__getitem__) if runs else None
    candidates: dict[object, Candidate] = {}
    reasons: Counter[str] = Counter()
    failing: dict[tuple[str, ...], Subject] = {}
    for passage in every:
        path = passage.block.path
        if passage.block.kind == "heading" or APART.search("".join(path[:1])):
            continue
        drafts = list(_drafts(passage, run, failing))
        reasons[UNBOUND] += not drafts
        for fact in drafts:
            key = (fact.subject, fact.predicate, fact.value, fact.quotes)
            worth = WORTH[fact.predicate] + (fact.difficulty == HIGH) - (fact.difficulty == LOW)
            reasons[REPEATED] += key in candidates
            if key not in candidates or worth > candidates[key][0]:
                candidates[key] = (worth, passage.line, passage.block, fact)
    known = [fact for *_, fact in candidates.values()]
    by = standard(text, known)
    stated = {
        each.fact
        for each in by.wanted
        if any(not lacking(each, piece, by.golden) for piece in by.golden.pieces)
    }
    chosen = _spread([each for each in candidates.values() if each[3] in stated], most)
    reasons[SURPASSED] += len(candidates) - len(chosen)
    name = UNSAFE.sub("-", model).strip("-") or "fact"
    facts = tuple(replace(fact, id=f"{name}-{n:02d}") for n, fact in enumerate(chosen, 1))
    return Drafted(facts, tuple((why, n) for why, n in sorted(reasons.items()) if n))


def _spread(candidates: list[Candidate], most: int) -> list[Fact]:
    """The best, each time counting what its section, task and kind have; a third of one table."""
    used: Counter[tuple[str, object]] = Counter()
    blocks: Counter[int] = Counter()
    chosen: list[Candidate] = []

    def marks(fact: Fact) -> list[tuple[str, object]]:
        task = fact.subject.task or fact.fact
        return [("section", fact.section), ("task", task), ("predicate", fact.predicate)]

    def worth(each: Candidate) -> tuple[float, int, str]:
        value, line, _, fact = each
        return value - sum(SPENT[mark[0]] * used[mark] for mark in marks(fact)), -line, fact.fact

    while candidates and len(chosen) < most:
        best = max(candidates, key=worth)
        chosen.append(best)
        used.update(marks(best[3]))
        blocks[id(best[2])] += 1
        full = {block for block, n in blocks.items() if 3 * (n + 1) > most}
        candidates = [
            each for each in candidates if each[3].fact != best[3].fact and id(each[2]) not in full
        ]
    return [fact for *_, fact in sorted(chosen, key=lambda each: (each[1], each[3].fact))]


def _drafts(
    passage: Passage, run: str | None, failing: dict[tuple[str, ...], Subject]
) -> Iterator[Fact]:
    facts = [*_labelled(passage, run, failing), *_quoted(passage), *_bound(passage, run)]
    section = passage.block.path[0] if passage.block.path else None
    for fact in facts:
        text = " ".join(fact.fact.split())
        if SHORTEST <= len(text) <= LONGEST:
            yield replace(fact, fact=text, section=section)


def _labelled(
    passage: Passage, run: str | None, failing: dict[tuple[str, ...], Subject]
) -> Iterator[Fact]:
    """Causes, and of a card the failure with its mode, its words and the calls expected of it."""
    owner, text, path = passage.title_task(), passage.plain, passage.block.path
    if passage.block.kind == "table":
        yield from _caused(passage, run)
        return
    if passage.block.kind != "item" or owner is None:
        return
    about = failing.get(path, Subject(run, owner[0]))
    if CAUSE.match(text) and (labels := CAUSE_NAME.findall(text)):
        yield _cause(Subject(about.run, owner[0]), "+".join(dict.fromkeys(labels)), text, HIGH)
    first = passage.cites[0] if passage.cites else None
    label = passage.label_before(first[0]) if first else None
    codes = [code for start, _, code in passage.codes if not first or start > first[0]]
    if first and label:
        each = first[2]
        subject = Subject(each.run_id, each.task_id, (each.rollout_index,))
        if label["word"].lower() == "fail":
            failing[path] = Subject(each.run_id, each.task_id)
        # A mode may be before the words.
        words = [code for code in codes[-1:] if len(code) >= SHORTEST and " " in code]
        if words:
            sentence = f"Task `{owner[0]}`, {label['word'].lower()} `{each}`: `{words[-1]}`"
            yield Fact(
                "",
                sentence,
                HIGH if each.seq else MEDIUM,
                subject=subject,
                citations=passage.cited,
                quotes=(words[-1].rstrip("…"),),
            )


def _quoted(passage: Passage) -> Iterator[Fact]:
    """Words in quotes with the event that says them in brackets behind."""
    text = passage.report.text
    sentences = SENTENCE.split(passage.text)
    for _, end, words in passage.quotes:
        bracket = BRACKET.match(text, end)
        cited = [each for at, _, each in passage.cites if bracket and end <= at < bracket.end()]
        if cited and len(words.split()) > 2:
            sentence = next((each for each in sentences if words in plain(each)), "")
            subject = Subject(cited[0].run_id, cited[0].task_id, (cited[0].rollout_index,))
            own = tuple(dict.fromkeys(map(str, cited)))
            yield Fact("", sentence.strip(), HIGH, subject=subject, citations=own, quotes=(words,))


def _caused(passage: Passage, run: str | None) -> Iterator[Fact]:
    """A row with a cause, of the task that it names or of those that it lists."""
    cells = [*passage.cells("cause", "root cause")]
    labels = CAUSE_NAME.findall(cells[0]) if len(cells) == 1 else []
    if not labels or not re.fullmatch(r"[A-Z]{2}(?:\+[A-Z]{2})?", cells[0]):
        return
    named = [cell.split()[0] for cell in passage.cells(*TASK_HEADS) if cell]
    for task in named or sorted(passage.row_tasks):
        rest = _row(passage)
        sentence = rest if named else f"Task `{task}` has the cause {cells[0]}."
        yield _cause(Subject(run, task), cells[0], sentence, MEDIUM)


def _cause(subject: Subject, value: str, text: str, level: str) -> Fact:
    sql = (
        f"select cause from root_causes where run_id = {literal(subject.run)} "
        f"and task_id = {literal(subject.task)}"
    )
    sentence = text if subject.task and subject.task in text else f"Task `{subject.task}`: {text}"
    return Fact("", sentence, level, subject=subject, predicate="cause", value=value, sql=sql)


def _bound(passage: Passage, run: str | None) -> Iterator[Fact]:
    for source in sources_of(passage.block):
        if source.fault:
            continue
        if passage.block.kind == "table" and source.columns:
            yield from _of_row(passage, source, run)
        elif passage.block.kind != "table":
            yield from _of_pairs(passage, source, run)


def _of_pairs(passage: Passage, source: Source, run: str | None) -> Iterator[Fact]:
    sentences = SENTENCE.split(passage.text)
    # What follows the first figure of a query is what it is of, or how sure.
    for pair in [each for each in source.pairs if _is_finding(each, passage)][:1]:
        token = token_of(pair.text)
        assert token is not None
        # Only the block says that a figure is in points.
        same = [each for each in passage.block.tokens if each.printed == token.printed]
        value = _value(same[0] if same else token)
        subject, names = _subject(source, run)
        if value in (0, 1) and not (subject.task and f"{pair.text} of " in passage.plain):
            continue  # anybody would guess it
        sentence = next((each for each in sentences if _prints(each, pair.text)), "")
        own = [each for each in passage.cited if each in sentence]
        level = HIGH if any("#" in each for each in own) else MEDIUM if own or subject.task else LOW
        named = f"`{names[0]}`: " if names and names[0] not in sentence else ""
        task = f"Task `{subject.task}`: " if subject.task and subject.task not in sentence else ""
        yield Fact(
            "",
            f"{task or named}{sentence.strip()}",
            level,
            subject=subject,
            predicate="count" if isinstance(value, int) else "rate",
            value=value,
            sql=f"select {pair.expression} {source.behind}",
            citations=tuple(own),
        )


def _is_finding(pair: Pair, passage: Passage) -> bool:
    """Whether a pair is a figure that says something: not what others are counted of."""
    if not pair.expression or pair.expression in WHOLES or token_of(pair.text) is None:
        return False
    return not re.search(rf"\bof (?:the |all )?{re.escape(pair.text or '')}\b", passage.plain, re.I)


def _prints(sentence: str, text: str | None) -> bool:
    """Whether a sentence prints a figure, other than in a name or a citation."""
    return any(each.text == text for each in figures(re.sub(r"`[^`]*`", "", sentence)))


def _of_row(passage: Passage, source: Source, run: str | None) -> Iterator[Fact]:
    heads = heads_of(passage.block)
    cells = {head: plain(span.text) for head, span in zip(heads, passage.spans, strict=False)}
    keys = [(expression, cells.get(plain(head), "")) for expression, head in source.keys]
    is_whole = all(
        cell and not cell.endswith("…") and expression[0] != "'" for expression, cell in keys
    )
    if not keys or not is_whole:
        return
    also = "and" if re.search(r"\bwhere\b", source.behind) else "where"
    conditions = " and ".join(f"{expression} = {literal(cell)}" for expression, cell in keys)
    subject, _ = _subject(source, run)
    for expression, cell in keys:
        if expression == "run_id":
            subject = replace(subject, run=cell)
        elif expression == "task_id":
            subject = replace(subject, task=cell.split()[0])
            conditions = conditions.replace(literal(cell), literal(cell.split()[0]))
    columns = [each for each in source.columns if each[0] not in WHOLES]
    for expression, head in columns[:1]:
        tokens = [each for each in figures(cells.get(plain(head), "")) if each.value is not None]
        if not tokens:
            continue
        value = _value(tokens[0])
        yield Fact(
            "",
            _row(passage),
            MEDIUM if passage.cited or subject.task else LOW,
            subject=subject,
            predicate="count" if isinstance(value, int) else "rate",
            value=value,
            sql=f"select {expression} {source.behind} {also} {conditions}",
            citations=passage.cited,
        )


def _row(passage: Passage) -> str:
    """A row as a sentence: each head with its cell."""
    cells = [(plain(span.head), span.text.strip()) for span in passage.spans]
    sentence = "; ".join(f"{head}: {cell}".lstrip(": ") for head, cell in cells if cell)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _subject(source: Source, run: str | None) -> tuple[Subject, list[str]]:
    """What a query is about, by its keys, and what else it names."""
    named = {
        match["column"]: match["value"].replace("''", "'")
        for match in LITERAL.finditer(source.words)
    }
    others = [
        value
        for column, value in named.items()
        if column in ("mode", "slice_value", "stage", "tool", "parent")
    ]
    about = named.get("run_id") or named.get("candidate")
    return Subject(about or (run if named.get("task_id") else None), named.get("task_id")), others


def _value(token: Token) -> Value:
    """A figure as a query gives it: rates of 0..1, counts whole."""
    assert token.value is not None
    if token.unit:
        return round(token.value / 100, token.decimals + 2)
    return token.value if token.decimals else int(token.value)
