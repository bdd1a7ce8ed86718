"""What is said of a cited rollout holds of it: that it passes or fails, its mode, its tool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.citation import Citation
from pipeline.package.statements import CAPITALS, NEGATION
from pipeline.package.verify.citations import (
    TASK_HEADS,
    cited,
    exists,
    heading_tasks,
    named_tasks,
    spans,
)
from pipeline.package.verify.evidence import Evidence, key
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.masking import LIST, masked
from pipeline.package.verify.passages import Passage, Piece

CHECK, MODE_CHECK, TOOL_CHECK = "outcome", "mode", "tool"
NOUN = r"(?:rollouts?|attempts?|repeats?|runs?|trajector(?:y|ies)|ones?|tries|try|examples?|cases?)"
# Only where the word is bound to the citation: "passes an empty string" is no outcome.
AFTER = re.compile(
    rf"(?P<cites>{LIST})\)? (?:also |still |only |both |all |each |alone |then )?"
    r"(?P<word>passes|passed|pass|succeeds|succeeded|fails|failed|fail)\b(?![@^-])"
    r"(?=\s*(?:[.,;:)|\u2014-]|$|(?:because|with|since|after|at the|by|while|but|and|although|"
    r"although|though|despite|on)\b))"
)
BEFORE = re.compile(
    rf"\b(?P<word>passing|failing|failed|successful|unsuccessful) {NOUN}"
    rf"(?: (?:is|are|was|were|such as|like|of))?\W{{0,3}}(?P<cites>{LIST})"
)
NOUNS = re.compile(
    rf"\b(?:the|a|an|one|its|only|each) (?:only |closest |best |other )?(?P<word>pass|failure|"
    rf"success)"
    rf"(?: is| was|,)?\W{{0,3}}(?P<cites>{LIST})"
)
VERBS = re.compile(
    rf"\b(?P<word>passes|passed|fails|failed|succeeds)(?: in| at|,? as in|,? e\.g\.|:)?"
    rf"\W{{1,3}}(?P<cites>{LIST})"
)
# "the only failure is a refusal (`a`)", "in passes it is a second lookup (`a`)"; nothing between
# speaks of the other outcome.
BETWEEN = r"(?:(?!\bpass|\bfail|\bsucce|[;:.\u0001]).){0,80}?"
ONLY = re.compile(
    rf"\b(?:the (?:one|only|single) (?:scored )?|[Ii]n (?:the )?)"
    rf"(?P<word>failures?|pass(?:es)?)\b{BETWEEN}\((?P<cites>{LIST})\)"
)
EVERY = re.compile(
    rf"\b(?:every one|each|all)(?: of (?:them|these|those))? (?P<word>fails?|pass(?:es)?) "
    rf"{BETWEEN}\((?P<cites>{LIST})\)"
)
WHICH = re.compile(
    rf"\b(?P<word>failures|passes) (?:that|which|of|with)\b{BETWEEN}"
    rf"\b(?:are|is|were) (?:exactly |only |just )?(?P<cites>{LIST})"
)
# What is counted: all that such a sentence cites is among it, unless it also tells of others.
COUNTED = re.compile(
    r"(?:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten))\s+(?:scored |of these |other )?"
    r"failures\b"
)
COMPARING = re.compile(
    r"\bpass|\bsucceed|\bunlike\b|\bwhereas\b|\bwhile\b|\bbut\b|\bbeside\b|\belsewhere\b|"
    r"\bcompare|\bthough\b|\bagainst\b|\binstead\b|\balso in\b|\bright\b",
    re.IGNORECASE,
)
FAILURE_HEADS = re.compile(r"(?:(?!pass).)*\bfail(?:ures|ing|ed)\b(?:(?!pass).)*", re.IGNORECASE)
EXAMPLE_HEADS = re.compile(
    r"\s*(?:see|such as|examples?|e\.g\.?|for example|for instance|rollouts?|which|evidence|"
    r"cited|where)\s*",
    re.IGNORECASE,
)
ROW_START = re.compile(r"\s*(?P<word>fail(?:s|ed|ing|ure)?|pass(?:es|ed|ing)?)\b(?![@^])", re.I)
PASS_HEADS = re.compile(
    r"\s*(?:a |the |closest )?pass(?:es|ing|ed)?(?: (?:rollout|attempt)s?)?\s*", re.I
)
FAIL_HEADS = re.compile(
    r"\s*(?:a |the )?fail(?:ure|ures|ing|ed|s)?(?: (?:rollout|attempt)s?)?\s*", re.I
)
CAUSE_START = re.compile(r"\s*(?:Suggested|Curated) cause\b")
TASK_START = re.compile(r"\W*(?:(?:In|On|At|For) task|Task) \S", re.IGNORECASE)
OTHER_TASKS = re.compile(
    r"\b(?:same|other|others|another|elsewhere|also|unlike|as|like|both|again|beside|too|than|"
    r"similar\w*|compare\w*|where|whereas|while|but|next)\b",
    re.IGNORECASE,
)
CALLS = re.compile(r"\b(?:calls?|called|calling)\s+\Z", re.IGNORECASE)
CLAUSE = re.compile(r"[;]|\b(?:but|while|whereas|unlike|instead|although)\b")


def check(found: list[Passage], evidence: Evidence, file: str) -> Iterator[Finding]:
    """Every outcome, mode and tool that is bound to a citation."""
    for passage in found:
        if not cited(passage):
            continue
        for piece, offset, is_pass, each in _outcomes(passage):
            if exists(each, evidence):
                yield _outcome(each, is_pass, evidence, piece.line_at(offset), file)
        yield from _own_task(passage, evidence, file)
        yield from _modes(passage, evidence, file)
        yield from _tools(passage, evidence, file)


def _own_task(passage: Passage, evidence: Evidence, file: str) -> Iterator[Finding]:
    """A row about a task, or a pair under its heading, cites rollouts of that task."""
    tasks = _task_of_row(passage)
    if len(tasks) != 1 or tasks[0] not in evidence.task_ids:
        return
    for piece in passage.pieces:
        for start, _, each in spans(piece):
            if each.task_id != tasks[0] and exists(each, evidence):
                line, claim = piece.line_at(start), f"{each} at task {tasks[0]}"
                told = f"a rollout of task {tasks[0]}"
                yield Finding(line, CONTRADICTED, claim, told, "the row itself", CHECK, file)


def _task_of_row(passage: Passage) -> list[str]:
    if passage.is_row:
        heads = [piece.head.strip().lower() for piece in passage.pieces]
        if heads[0] in TASK_HEADS:
            return [passage.pieces[0].text.strip()]
        first = ROW_START.match(passage.pieces[0].text)
        return heading_tasks(passage) if first else []
    if CAUSE_START.match(passage.text):
        return heading_tasks(passage)
    # "In task 11 two report success (`a`, `b`)": nothing in it speaks of other tasks.
    if TASK_START.match(passage.text) and not OTHER_TASKS.search(passage.text):
        named = {task for piece in passage.pieces for _, task in named_tasks(passage, piece)}
        return list(named) if len(named) == 1 else []
    return []


def _outcomes(passage: Passage) -> Iterator[tuple[Piece, int, bool, Citation]]:
    if passage.is_row:
        yield from _of_row(passage)
    for piece in passage.pieces:
        yield from _of_text(piece)


def _of_row(passage: Passage) -> Iterator[tuple[Piece, int, bool, Citation]]:
    is_own = bool(passage.pieces) and not passage.pieces[0].is_quoting
    first = ROW_START.match(passage.pieces[0].text) if is_own else None
    outcome = next(
        (
            ROW_START.fullmatch(piece.text.strip())
            for piece in passage.pieces
            if piece.head.strip().lower() in ("outcome", "result", "verdict")
        ),
        None,
    )
    first = first or outcome
    n_cited = len({key(each) for each in cited(passage)})
    heads = passage.pieces[0].head if passage.pieces else ""
    for piece in passage.pieces:
        for start, _, each in spans(piece):
            if PASS_HEADS.fullmatch(piece.head):
                yield piece, start, True, each
            elif FAIL_HEADS.fullmatch(piece.head):
                yield piece, start, False, each
            elif first is not None and n_cited == 1:
                yield piece, start, _is_pass(first["word"]), each
            elif EXAMPLE_HEADS.fullmatch(piece.head) and FAILURE_HEADS.fullmatch(heads):
                yield piece, start, False, each


def _of_text(piece: Piece) -> Iterator[tuple[Piece, int, bool, Citation]]:
    places = spans(piece)
    if not places:
        return
    if COUNTED.search(piece.text) and not COMPARING.search(piece.text):
        yield from ((piece, start, False, each) for start, _, each in places)
        return
    text, offsets = masked(piece, places)
    by_offset = {at: (start, each) for at, (start, _, each) in zip(offsets, places, strict=True)}
    for pattern in (AFTER, BEFORE, NOUNS, VERBS, ONLY, EVERY, WHICH):
        for match in pattern.finditer(text):
            if NEGATION.search(match[0]) or _is_negated(text, match.start("word")):
                continue
            for at in range(*match.span("cites")):
                if at in by_offset:
                    start, each = by_offset[at]
                    yield piece, start, _is_pass(match["word"]), each


def _is_negated(text: str, offset: int) -> bool:
    return (
        re.search(
            r"\b(?:not|never|no|neither|nor|n't|would|could|should|if)\b[^.,;]{0,20}\Z",
            text[max(0, offset - 30) : offset],
        )
        is not None
    )


def _is_pass(word: str) -> bool:
    return word.lower().startswith(("pass", "succ"))


def _outcome(each: Citation, is_pass: bool, evidence: Evidence, line: int, file: str) -> Finding:
    claim = f"{each} {'passes' if is_pass else 'fails'}"
    truth = evidence.rollouts[key(each)].is_pass
    if truth is None:
        # Unscored is not passed: to call it a failure is a matter of counting.
        status = CONTRADICTED if is_pass else UNVERIFIABLE
        return Finding(line, status, claim, "it is not scored", "rollouts", CHECK, file)
    told = f"it {'passes' if truth else 'fails'}"
    status = VERIFIED if truth == is_pass else CONTRADICTED
    return Finding(line, status, claim, told, "rollouts", CHECK, file)


def _modes(passage: Passage, evidence: Evidence, file: str) -> Iterator[Finding]:
    """A mode named beside citations: at least one of the rollouts has it."""
    for piece, start, names, there in _stretches(passage, evidence.modes):
        there = [each for each in there if key(each) in evidence.rollouts]
        if len(names) != 1 or not there:
            continue
        (mode,) = names
        found = [each for each in there if mode in evidence.rollouts[key(each)].modes]
        told = sorted({name for each in there for name in evidence.rollouts[key(each)].modes})
        claim = f"{mode}: {', '.join(map(str, there[:3]))}"
        line = piece.line_at(start)
        if found:
            yield Finding(line, VERIFIED, claim, mode, "rollout_modes", MODE_CHECK, file)
        else:
            expected = ", ".join(told) or "none of these rollouts has a failure mode"
            yield Finding(line, CONTRADICTED, claim, expected, "rollout_modes", MODE_CHECK, file)


def _stretches(
    passage: Passage, known: frozenset[str]
) -> Iterator[tuple[Piece, int, set[str], list[Citation]]]:
    """Rows and clauses with the known names and the citations in them, where there are both."""
    if passage.is_row:
        # The words of a task may have a mode's name in capitals.
        own = [piece for piece in passage.pieces if not piece.is_quoting]
        names = {name for piece in own for _, name in _names(piece, known)}
        places = [(piece, *span) for piece in passage.pieces for span in spans(piece)]
        rollouts = {key(each) for *_, each in places}
        if len(rollouts) == 1 and names:
            yield places[0][0], places[0][1], names, [places[0][3]]
        elif len({name for _, name in _names(passage.pieces[0], known)}) == 1:
            # The row is about one mode: whatever it gives as examples has it.
            for piece, start, _, each in places:
                if EXAMPLE_HEADS.fullmatch(piece.head):
                    yield piece, start, names, [each]
        return
    for piece in passage.pieces:
        bounds = [piece.start]
        bounds += [
            match.start() for match in CLAUSE.finditer(piece.block.text, piece.start, piece.end)
        ]
        for start, end in zip(bounds, [*bounds[1:], piece.end], strict=True):
            if NEGATION.search(piece.block.text, start, end):
                continue
            names = {name for at, name in _names(piece, known) if start <= at < end}
            there = [(at, each) for at, _, each in spans(piece) if start <= at < end]
            if names and there:
                yield piece, there[0][0], names, [each for _, each in there]


def _names(piece: Piece, known: frozenset[str]) -> list[tuple[int, str]]:
    text = piece.block.text
    found = [(start, text[start:end]) for start, end in piece.codes]
    found += [
        (match.start(), match[0])
        for match in CAPITALS.finditer(text, piece.start, piece.end)
        if not piece.block.is_code(match.start())
    ]
    return [(start, name) for start, name in found if name in known]


def _tools(passage: Passage, evidence: Evidence, file: str) -> Iterator[Finding]:
    """A tool that a cited rollout is said to call is called by one of them."""
    for piece, start, names, there in _stretches(passage, evidence.tools | evidence.checks):
        known = [each for each in there if exists(each, evidence)]
        for name in sorted(names):
            at = (
                next(at for at, each in _names(piece, frozenset([name])) if each == name)
                if any(each == name for _, each in _names(piece, frozenset([name])))
                else start
            )
            is_called = CALLS.search(piece.block.text[max(0, at - 12) : at])
            is_check = name in evidence.checks and name not in evidence.tools
            if not known or not (is_called or is_check):
                continue
            bearing = [each for each in known if _has(each, name, evidence)]
            status = VERIFIED if bearing else CONTRADICTED
            source = "health_findings" if is_check else "events"
            claim = f"{name}: {', '.join(map(str, known[:3]))}"
            told = name if bearing else f"{name} is not found there"
            yield Finding(piece.line_at(start), status, claim, told, source, TOOL_CHECK, file)


def _has(each: Citation, name: str, evidence: Evidence) -> bool:
    facts = evidence.rollouts[key(each)]
    return name in facts.tools or name in facts.checks
