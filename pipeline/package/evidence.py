"""Citations, quotations and labels of a report beside the rollouts that they are about.

`- fail: RUN/TASK:ROLLOUT` below `### Task TASK` says of what task and how it ended; backquoted text
behind a citation, and quoted words before one in brackets, are written there.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..citation import Citation
from ..files import read_queries
from ..text import REDACTION, is_redacted, neutral, one_line
from .blocks import Report, plain
from .findings import CONTRADICTED, JUDGED, UNCHECKED, VERIFIED, Finding
from .passages import (
    BRACKET,
    CAUSE,
    CAUSE_NAME,
    PASSING,
    TASK_HEADS,
    Passage,
    cited,
    passages,
    tasks_in,
)
from .queries import Opened

OUTCOMES = {True: "passes", False: "fails", None: "is not scored"}
BUCKETS = frozenset(("always", "sometimes", "never", "missing"))
LARGEST = 2**31 - 1
MOST_NAMES, MOST_KNOWN, CHUNK = 3, 10_000, 50
NAMED_TASK = re.compile(
    r"\btasks?\s+(?:`[^`\n]{1,200}`(?:,| and|, and| or)\s+){0,50}\Z", re.IGNORECASE
)
SIDE = re.compile(r"(?:a |the |closest )?(?P<word>pass|fail)(?:es|ed|ing|s|ure|ures)?")
PROMPT_LABEL = re.compile(r"\bAsked:\s+\Z")
BESIDE = re.compile(r"[\s:;,]*(?:\(redacted\))?[\s:;,]*")
# Also what error signatures put in place of numbers, paths and ids.
CUT = re.compile(r"\u2026|\.\.\.|\[\.\.\.\]|\[\u2026\]|<[a-z]{1,10}(?:>|(?=\u2026))")
STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})
EDGES = " .,;:!?"
SHORTEST = 12

Key = tuple[str, str, int]
QUERIES = read_queries("package/evidence")


@dataclass(frozen=True)
class Rollout:
    """A rollout that is cited: how it went, none where it is not scored, and its modes."""

    is_pass: bool | None
    n_events: int
    modes: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """Everything that is cited and exists, and the names of all that could be."""

    source: Opened
    rollouts: Mapping[Key, Rollout]
    runs: tuple[str, ...]
    # Passed and scored attempts and the bucket, and causes, by run and task.
    tasks: Mapping[tuple[str, str], tuple[int, int, str]]
    causes: Mapping[tuple[str, str], tuple[str, str]]
    modes: frozenset[str]

    @cached_property
    def task_ids(self) -> frozenset[str]:
        return frozenset(task for _, task in self.tasks)

    def outcomes(self, task: str, runs: Iterable[str]) -> list[tuple[int, int, str]]:
        """What `tasks` has of a task in each of these runs."""
        return [self.tasks[run, task] for run in runs if (run, task) in self.tasks]

    def exists(self, each: Citation) -> bool:
        """Whether a rollout, and the event of it that is meant, is there."""
        rollout = self.rollouts.get(each.rollout)
        return rollout is not None and (each.seq is None or 1 <= each.seq <= rollout.n_events)

    def nearest(self, each: Citation) -> str:
        """What exists instead of a citation that does not."""
        if each.run_id not in self.runs:
            return f"runs: {close(each.run_id, self.runs)}"
        if (each.run_id, each.task_id) not in self.tasks:
            tasks = (task for run, task in self.tasks if run == each.run_id)
            return f"tasks of this run: {close(each.task_id, tasks)}"
        if each.rollout in self.rollouts:
            n_events = self.rollouts[each.rollout].n_events
            return f"events of this rollout: 1 to {n_events}" if n_events else "it has no events"
        rows = self.source.execute(QUERIES["indexes"], [each.run_id, each.task_id])
        there = ", ".join(str(index) for (index,) in rows.fetchall())
        return f"rollouts of this task: {there or 'none'}"


def evidence(source: Opened, wanted: Iterable[Citation]) -> Evidence:
    """All that the checks of citations ask for, read once."""
    keys = list(dict.fromkeys(each.rollout for each in wanted if each.rollout_index <= LARGEST))
    rollouts = {
        (run, task, index): Rollout(is_pass, n_events, frozenset(modes))
        for run, task, index, is_pass, n_events, modes in _rows(source, "rollouts", keys)
    }
    rows = {
        name: source.execute(QUERIES[name]).fetchall()
        for name in ("runs", "tasks", "causes", "modes")
    }
    return Evidence(
        source,
        rollouts,
        tuple(run for (run,) in rows["runs"]),
        {(run, task): tuple(outcome) for run, task, *outcome in rows["tasks"]},
        {(run, task): (cause, source) for run, task, cause, source in rows["causes"]},
        frozenset(mode for (mode,) in rows["modes"]),
    )


def _rows(source: Opened, name: str, keys: Sequence[Key]) -> list[Any]:
    if not keys:
        return []
    bound = [list(column) for column in zip(*keys, strict=True)]
    query = f"with asked as ({QUERIES['asked']}) {QUERIES[name]}"
    rows: list[Any] = source.execute(query, bound).fetchall()
    return rows


def close(name: str, known: Iterable[str]) -> str:
    """The most similar names that exist; the nearest numbers, if all are numbers."""
    every = list(known)[:MOST_KNOWN]
    if name.isdecimal() and len(name) < 10 and all(each.isdecimal() for each in every):
        order = sorted(every, key=lambda each: (abs(int(each) - int(name)), int(each)))
        return ", ".join(order[:MOST_NAMES])
    return ", ".join(difflib.get_close_matches(name, every, MOST_NAMES, 0.0)) or "none"


def check(report: Report, known: Evidence, name: str) -> Iterator[Finding]:
    """Every citation, every task, outcome, cause and quotation; `name` is the report's path."""
    quotes: list[Quote] = []
    notes: dict[tuple[str, ...], Citation] = {}
    every = passages(report)
    title = next((each.text for each in every if each.block.kind == "heading"), "")
    for each in every:
        yield from _citations(each, known)
        yield from _task(each, known, [title, name])
        quotes += _quotes(each, known, notes)
    yield from quote_findings(quotes, known)


def _citations(passage: Passage, known: Evidence) -> Iterator[Finding]:
    owner = passage.title_task()
    for start, end, each in passage.cites:
        line = passage.report.line_at(start)
        # A task's own name may have the shape of a citation.
        written = passage.report.text[start:end].strip("` ")
        if not known.exists(each) and written in known.task_ids:
            continue
        yield citation_finding(each, known, line)
        if not known.exists(each):
            continue
        head = plain(passage.span_at(start).head).casefold()
        label = passage.label_before(start) or SIDE.fullmatch(head)
        if label:
            is_pass = label["word"].lower() == "pass"
            yield _outcome(each, known, line, is_pass=is_pass)
        if label and owner and owner[0] in known.task_ids and each.task_id != owner[0]:
            claim, expected = f"{each} below task {owner[0]}", f"a rollout of task {owner[0]}"
            yield Finding(line, CONTRADICTED, claim, expected, "its heading", "outcome")
    for start, _, code in passage.codes:
        before = passage.report.text[max(0, start - 400) : start]
        if cited(code) is None and NAMED_TASK.search(before):
            yield _exists(code, known, passage.report.line_at(start))
    if passage.block.kind == "table" and len({each.rollout for *_, each in passage.cites}) == 1:
        each = passage.cites[0][2]
        for cell in passage.cells("outcome", "result", "passed", "verdict"):
            word = SIDE.fullmatch(cell.casefold())
            if word and known.exists(each):
                yield _outcome(each, known, passage.line, is_pass=word["word"] == "pass")


def _exists(task: str, known: Evidence, line: int) -> Finding:
    claim = f"task {task}"
    if task in known.task_ids:
        return Finding(line, VERIFIED, claim, claim, "task_outcomes", "task")
    if is_redacted(task):
        return Finding(line, UNCHECKED, claim, None, "redacted", "task")
    near = f"tasks there are: {close(task, sorted(known.task_ids))}"
    return Finding(line, CONTRADICTED, claim, near, "task_outcomes", "task")


def citation_finding(each: Citation, known: Evidence, line: int) -> Finding:
    """Whether a citation exists, and what exists instead."""
    if known.exists(each):
        return Finding(line, VERIFIED, str(each), str(each), "rollouts", "citation")
    if is_redacted(str(each)):
        return Finding(line, UNCHECKED, str(each), None, "redacted", "citation")
    source = "events" if each.rollout in known.rollouts else "rollouts"
    return Finding(line, CONTRADICTED, str(each), known.nearest(each), source, "citation")


def _outcome(each: Citation, known: Evidence, line: int, *, is_pass: bool) -> Finding:
    truth = known.rollouts[each.rollout].is_pass
    # Whether an unscored rollout is a failure is a matter of counting.
    status = UNCHECKED if truth is None and not is_pass else JUDGED[truth is is_pass]
    claim = f"{each} {OUTCOMES[is_pass]}"
    return Finding(line, status, claim, f"it {OUTCOMES[truth]}", "rollouts", "outcome")


def _task(passage: Passage, known: Evidence, names: Sequence[str]) -> Iterator[Finding]:
    """What a heading, an item or a row says of a task: that it exists, passes, its cause."""
    if passage.block.kind == "heading":
        yield from _title(passage, known, names)
        return
    texts = [passage.text, *passage.block.path[::-1], *names]
    runs = _runs(known, texts, passage.report.full_names)
    owner, line = passage.title_task(), passage.line
    if owner and passage.block.kind == "item" and CAUSE.match(passage.plain):
        yield from _cause(passage.plain, owner[0], runs, known, line)
    if passage.block.kind != "table":
        return
    causes = [*passage.cells("cause", "root cause", "causes")]
    for task in sorted(passage.row_tasks & known.task_ids) if causes else ():
        yield from _cause(causes[0], task, runs, known, line)
    for task in [cell.split()[0] for cell in passage.cells(*TASK_HEADS) if cell]:
        buckets = {bucket for *_, bucket in known.outcomes(task, runs)}
        for cell in passage.cells("bucket") if buckets else ():
            word = cell.casefold().removesuffix("-pass").removesuffix(" pass")
            if word in BUCKETS:
                claim, expected = f"task {task}: {word}", ", ".join(sorted(buckets))
                status = JUDGED[word in buckets]
                yield Finding(line, status, claim, expected, "task_outcomes", "bucket")


def _title(passage: Passage, known: Evidence, names: Sequence[str]) -> Iterator[Finding]:
    """What a heading says of the tasks that it names, and a run that is none."""
    line, owner = passage.line, passage.title_task()
    if passage.text.lower().startswith("tasks "):
        for task in sorted(tasks_in(passage.text)):
            if any(map(str.isdigit, task)):
                yield _exists(task, known, line)
    if owner is None:
        return
    task, rest = owner[0].rstrip(":"), owner[1]
    is_id = bool(re.search(r"\d|[_-]", task)) or "`" in passage.text
    if is_id or task in known.task_ids:
        yield _exists(task, known, line)
    if match := PASSING.search(rest):
        runs = _runs(known, [rest, *names], passage.report.full_names)
        there = {(part, whole) for part, whole, _ in known.outcomes(task, runs)}
        printed = (int(match["part"]), int(match["whole"]))
        expected = " or ".join(f"{part} of {whole}" for part, whole in sorted(there))
        if there:
            claim, status = f"{printed[0]} of {printed[1]}", JUDGED[printed in there]
            yield Finding(line, status, claim, expected, "task_outcomes", "bucket")
    for _, _, code in passage.codes[1:]:
        is_run = code in known.runs or code in passage.report.full_names
        if not is_run and difflib.get_close_matches(code, known.runs, 1, 0.75):
            expected = f"runs: {close(code, known.runs)}"
            yield Finding(line, CONTRADICTED, code, expected, "runs", "task")


def _cause(
    text: str, task: str, runs: Sequence[str], known: Evidence, line: int
) -> Iterator[Finding]:
    """A cause beside the label of its task; one that nobody has labelled is not checked."""
    causes = frozenset(CAUSE_NAME.findall(text.partition(" not ")[0]))
    labelled = [known.causes[run, task] for run in runs if (run, task) in known.causes]
    there = {cause for cause, source in labelled if source == "label"}
    if not causes:
        return
    claim = f"task {task}: {'+'.join(sorted(causes))}"
    is_right = any(causes == frozenset(cause.split("+")) for cause, _ in labelled)
    # A person may overrule what the profile or the record suggests.
    if there or is_right:
        expected = ", ".join(sorted(there or {cause for cause, _ in labelled}))
        yield Finding(line, JUDGED[is_right], claim, expected, "root_causes", "cause")
    else:
        run = runs[0] if len(runs) == 1 else "RUN"
        label = f'{{"run": "{run}", "task": "{task}", "cause": "{"+".join(sorted(causes))}"}}'
        why = f"no label gives it; write into labels.jsonl: {label}"
        yield Finding(line, UNCHECKED, claim, None, why, "cause")


def _runs(known: Evidence, texts: Sequence[str], full_names: Mapping[str, str]) -> list[str]:
    """The runs that the first of these texts to name any names; else all."""
    for text in texts:
        named = [run for run in known.runs if run in text]
        named += [run for alias, run in full_names.items() if f"`{alias}" in text]
        if named:
            return [max(named, key=len)] if len(named) == 1 else named
    short = {run: run.rsplit("_", 1)[-1] for run in known.runs}
    for text in texts:
        if named := [run for run, name in short.items() if name in text]:
            return named
    return list(known.runs)


@dataclass(frozen=True)
class Quote:
    """A quotation, and the place that it is quoted from."""

    line: int
    text: str
    cites: tuple[Citation, ...]
    # Whether it must be at the event that is cited.
    is_exact: bool
    # Set for a quotation of the question of a task.
    task: str = ""
    # The name of a mode beside the citation, not words of the rollout.
    is_mode: bool = False


def _quotes(
    passage: Passage, known: Evidence, notes: dict[tuple[str, ...], Citation]
) -> Iterator[Quote]:
    if passage.block.kind == "heading":
        return
    text, path = passage.report.text, passage.block.path
    cites = [each for each in passage.cites if known.exists(each[2])]
    owner = passage.title_task()
    if passage.block.kind == "item" and cites and re.match(r"fails?:\s", passage.text):
        notes[path] = cites[0][2]
    is_note = (
        passage.block.kind == "item"
        and not passage.cites
        and len(passage.codes) == 1
        and passage.text.strip().startswith("`")
        and passage.text.strip().endswith("`")
    )
    is_cause = CAUSE.match(passage.plain)
    last = -1
    about: Citation | None = None
    for start, end, code in passage.codes:
        line = passage.report.line_at(start)
        here = next((each for at, _, each in cites if at == start), None)
        if here:
            about, last = here, end
        elif is_note and path in notes:
            yield Quote(line, code, (notes[path],), is_exact=False)
        elif owner and PROMPT_LABEL.search(text, max(0, start - 12), start):
            yield Quote(line, code, (), is_exact=False, task=owner[0])
        elif about and not is_cause and last >= 0 and BESIDE.fullmatch(text, last, start):
            last = end
            if code not in known.modes and not code.startswith("blade "):
                yield Quote(line, code, (about,), is_exact=about.seq is not None)
            elif code in known.modes and passage.block.kind == "item":
                yield Quote(line, code, (about,), is_exact=False, is_mode=True)
    for start, end, words in passage.quotes:
        bracket = BRACKET.match(text, end)
        for at, _, each in cites if bracket else ():
            if bracket and end <= at < bracket.end():
                yield Quote(passage.report.line_at(start), words, (each,), is_exact=True)


def quote_findings(quotes: list[Quote], known: Evidence) -> Iterator[Finding]:
    """Whether each quotation is in the place that it cites."""
    keys = sorted({each.rollout for quote in quotes for each in quote.cites})
    texts: dict[Key, list[tuple[int | None, str | None, str]]] = {each: [] for each in keys}
    for start in range(0, len(keys), CHUNK):
        for run, task, index, seq, call, text in _rows(
            known.source, "record", keys[start : start + CHUNK]
        ):
            if text:
                texts[run, task, index].append((seq, call, text))
    ours = [words for (words,) in known.source.execute(QUERIES["ours"]).fetchall() if words]
    for quote in quotes:
        if quote.is_mode:
            yield _mode(quote, known)
        elif quote.task:
            rows = known.source.execute(QUERIES["prompts"], [quote.task]).fetchall()
            is_right = any(is_within(quote.text, text) for (text,) in rows if text)
            is_hidden = not rows or any(REDACTION.search(text or "") for (text,) in rows)
            status = UNCHECKED if is_hidden and not is_right else JUDGED[is_right]
            expected = quote.text if is_right else "what the task asks"
            where = f"the question of task {quote.task}"
            yield Finding(quote.line, status, quote.text, expected, where, "quote")
        else:
            yield from _quote_finding(quote, texts, ours)


def _mode(quote: Quote, known: Evidence) -> Finding:
    each = quote.cites[0]
    there = known.rollouts[each.rollout].modes
    expected = ", ".join(sorted(there)) or "no mode"
    is_right = quote.text in there or (not there and quote.text == "no shared sign")
    return Finding(quote.line, JUDGED[is_right], quote.text, expected, str(each), "mode")


def _quote_finding(
    quote: Quote, texts: Mapping[Key, list[tuple[int | None, str | None, str]]], ours: list[str]
) -> Iterator[Finding]:
    line, claim, where = quote.line, quote.text, ", ".join(map(str, quote.cites[:3]))
    elsewhere: set[int] = set()
    is_hidden = False
    for each in quote.cites:
        there = texts.get(each.rollout, [])
        is_hidden = is_hidden or any(REDACTION.search(text) for *_, text in there)
        places = [(seq, call) for seq, call, text in there if is_within(claim, text)]
        calls = {call for seq, call, _ in there if seq == each.seq and call is not None}
        # At the event cited, or in the result of the call that it is; or in no event at all.
        is_free = not quote.is_exact or each.seq is None or all(seq is None for seq, _ in places)
        if any(is_free or seq == each.seq or call in calls for seq, call in places):
            yield Finding(line, VERIFIED, claim, claim, str(each), "quote")
            return
        elsewhere |= {seq for seq, _ in places if seq is not None}
    if any(is_within(claim, words) for words in ours):
        return
    if elsewhere:
        expected = f"it is at {', '.join(f'#{seq}' for seq in sorted(elsewhere)[:3])}"
        yield Finding(line, CONTRADICTED, claim, expected, where, "quote")
    elif is_hidden:
        yield Finding(line, UNCHECKED, claim, None, "the cited text is redacted", "quote")
    elif sum(map(len, _fragments(claim))) >= SHORTEST and len(claim.split()) > 1:
        yield Finding(line, CONTRADICTED, one_line(claim), "not in the cited text", where, "quote")
    else:  # a name or a figure of speech: only longer texts are quotations
        yield Finding(line, UNCHECKED, claim, None, "too short to be a quotation", "quote")


def is_within(quote: str, text: str) -> bool:
    """Whether a text contains what is quoted from it."""
    flat, parts = _flat(text), _fragments(quote)
    whole = _flat(quote).strip(EDGES)
    if (whole and whole in flat) or _in_order(parts, flat):
        return True
    # Quoted without the escapes of JSON, or without backquotes.
    bare = flat.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\").replace("`", "")
    return bare != flat and _in_order(parts, " ".join(bare.split()))


def _flat(text: str) -> str:
    """A text on one line, without what people change in quotations: case and kinds of quotes."""
    return neutral(" ".join(text.split())).translate(STRAIGHT).casefold()


def _fragments(quote: str) -> list[str]:
    """The parts of a quotation between cuts and placeholders, all of which must be there."""
    whole = CUT.sub("\n", REDACTION.sub("\n", quote.replace("\n", " ")))
    parts = [_flat(part).strip() for part in whole.split("\n")]
    return [part for part in parts if part.strip(EDGES)]


def _in_order(parts: list[str], flat: str) -> bool:
    place = 0
    for number, part in enumerate(parts):
        bare = part.strip(EDGES) if number in (0, len(parts) - 1) else part
        at = flat.find(bare, place)
        if at < 0:
            return False
        place = at + len(bare)
    return bool(parts)
