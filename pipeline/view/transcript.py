"""One attempt: why it failed, then its events by pages; or two attempts side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from markupsafe import Markup

from ..citation import SHAPE, Citation, parse
from ..report.html.evidence import Marked, marked
from ..text import json_text, one_line, parsed
from . import agents, prose
from .opened import AbsentError, Opened, Page, Row, paged

PAGE = 200
# Limits that keep pages of long transcripts readable and small.
SHOWN = 3000
COMPARED = 2000
MOST_COMPARED = 6000
PAIRS = 100
LAID_OUT = 100_000
# Markdown is parsed up to so many characters of a page; what follows is shown as written.
MOST_MARKDOWN = 100_000
# Events of so many characters are open: shorter ones are read in their line.
OPEN = {"tool_call": (90, SHOWN), "tool_result": (90, 400), "reasoning": (90, 1500)}
TURN_LIMITS = ("max_turns", "turn_limit", "max_steps")


@dataclass(frozen=True)
class Step:
    """A call with its result, or a message; of a page that is shown, with its form."""

    seq: int
    kind: str
    role: str
    title: str
    body: str
    key: str
    result: str = ""
    result_seq: int | None = None
    is_error: bool = False
    prose: Markup | None = None


@dataclass(frozen=True)
class Pair:
    """Two steps side by side, or equal steps, which are folded."""

    one: Step | None = None
    other: Step | None = None
    marks: tuple[Marked, Marked] | None = None
    alike: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Mark:
    """What was found at one event."""

    kind: str
    text: str
    # What the mark leads to: the tasks with a mode or sign, or two attempts side by side.
    leads_to: Mapping[str, str] = field(default_factory=dict)


def cited(text: str) -> Citation:
    citation = parse(text)
    if citation is None or max(citation.rollout_index, citation.seq or 0) >= 1 << 62:
        raise AbsentError(f"{one_line(text)}: is not {SHAPE}, such as run_a/17:0.")
    return citation


def reader(opened: Opened, query: Mapping[str, str]) -> Page:
    """A page of a transcript: by number, or the page of the cited event."""
    citation = cited(query.get("at", ""))
    key, rollout = _attempt(opened, citation)
    count = opened.rows("event_count", **key)[0]
    number = str(-(-citation.seq // PAGE)) if citation.seq else query.get("page")
    page, n_pages = paged(count["last"], PAGE, number)
    first = (page - 1) * PAGE + 1
    q = query.get("q", "").strip()
    task = {name: key[name] for name in ("run", "task")}
    fields = rollout["verifier"] or "{}"
    questions = opened.rows("question", **task, sha=rollout["prompt_sha"])
    is_raw = bool(query.get("raw"))
    window = {"first": first, "last": first + PAGE - 1}
    events = opened.rows("events", **key, **window, cut=SHOWN)
    media = _media(opened, rollout["record_id"], **window)
    for event_row in events:
        event_row["media"] += media.get(event_row["seq"], [])
    (observed,) = opened.rows("observed", record=rollout["record_id"])
    started = agents.agents(observed["trajectory"])
    modes = opened.rows("modes", **key)
    notes = opened.rows("notes", **key)
    signs = opened.rows("signs", **key)
    contrasts = opened.rows("contrast", **key)
    limits = parsed(rollout["limits"] or "{}")
    return {
        "citation": citation,
        "rollout": rollout,
        "siblings": opened.rows("siblings", **task),
        "question": questions[0] if questions else None,
        "asked_as": None if is_raw or not questions else prose.question(questions[0]["prompt"]),
        "question_media": prose.media(media.get(0, [])),
        "agents": started,
        "costs": agents.costs_by_turn(started, rollout["n_turns"]),
        "checks": opened.rows("checks", **key),
        "modes": modes,
        "notes": notes,
        "signs": signs,
        "marks": _marks(modes, notes, signs, contrasts),
        "expected_calls": opened.rows("expected_calls", **key),
        "contrasts": [
            {**row, "marks": marked(row["passing_event"], row["failing_event"])}
            for row in contrasts
        ],
        "passes": [] if rollout["is_pass"] else _passes(opened, key, rollout),
        "events": shown(events, is_raw=is_raw, cited_seq=citation.seq),
        "kinds": count["kinds"] or {},
        "errors": count["errors"],
        "limits": limits,
        "most_turns": next((limits[name] for name in TURN_LIMITS if limits.get(name)), None),
        "is_raw": is_raw,
        "hits": opened.rows("hits", **key, q=q.lower()) if q else [],
        "q": q,
        "page": page,
        "n_pages": n_pages,
        "labels": _labels(opened, key),
        "verifier": json_text(parsed(fields), indent=2) if len(fields) < LAID_OUT else fields,
    }


def shown(events: list[Row], *, is_raw: bool, cited_seq: int | None = None) -> list[Row]:
    """Events with the form in which each is shown: prose, fields, or as written."""
    n_parsed = 0
    rows = []
    for row in events:
        kind, body = row["kind"], row["body"]
        role = {"tool_call": "tool", "tool_result": "tool"}.get(kind, row["role"] or "assistant")
        is_prose = kind in ("message", "reasoning") and not body.startswith(("{", "["))
        is_prose = is_prose and not is_raw and not prose.is_laid_out(body)
        n_parsed += len(body) if is_prose else 0
        shortest, longest = OPEN.get(kind, (0, SHOWN))
        rows.append(
            {
                **row,
                "role": role,
                "prose": prose.markdown(body) if is_prose and n_parsed < MOST_MARKDOWN else None,
                "fields": [("", body)] if is_raw or is_prose else prose.fields(body),
                "media": prose.media(row["media"]),
                "is_open": kind == "message"
                or row["is_error"]
                or row["media"]
                or row["seq"] == cited_seq
                or shortest < row["n_characters"] <= longest
                # Code in an argument is hard to read in one line.
                or (kind == "tool_call" and "\\n" in body),
            }
        )
    return rows


def _labels(opened: Opened, key: Row) -> list[Row]:
    """Of the task and of the rollout: those of the file, or of the analysis if there is none."""
    labels = opened.labels
    if not labels.path.is_file():
        return opened.rows("analysis_labels", **key)
    return [*labels.of(key["run"], key["task"]), *labels.of(*key.values())]


def _media(opened: Opened, record: int, *, first: int, last: int) -> dict[int, list[str]]:
    """The images and sounds of messages by event; 0 is the request."""
    rows = opened.rows("media", record=record, first=first, last=last)
    return {row["seq"]: row["media"] for row in rows}


def _marks(
    modes: list[Row], notes: list[Row], signs: list[Row], contrasts: list[Row]
) -> dict[int, list[Mark]]:
    """What was found at each event: every text once, the modes of a failure first."""
    noted = {row["seq"] for row in notes}
    candidates = [
        *((row["evidence_seq"], Mark("mode", row["mode"], {"mode": row["mode"]})) for row in modes),
        *((row["seq"], Mark("note", row["note"])) for row in notes),
        *(
            (row["seq"], Mark("contrast", "first difference from the closest pass"))
            for row in contrasts
        ),
        # That a tool is called is seen at its call; a note says more than the sign of a call.
        *(
            (row["seq"], Mark("sign", row["sign"], {"sign": row["sign"]}))
            for row in signs
            if row["kind"] != "call" and (row["kind"] != "expected" or row["seq"] not in noted)
        ),
    ]
    marks: dict[int, list[Mark]] = {}
    for seq, mark in candidates:
        others = marks.setdefault(seq, []) if seq else [mark]
        if not any(each.text.startswith(mark.text) for each in others):
            others.append(mark)
    return dict(sorted(marks.items()))


def _attempt(opened: Opened, citation: Citation) -> tuple[Row, Row]:
    key = {"run": citation.run_id, "task": citation.task_id, "index": citation.rollout_index}
    record = opened.one("record", str(replace(citation, seq=None)), **key)
    return key, opened.rows("rollout", **key, record=record["record_id"])[0]


def _passes(opened: Opened, key: Row, rollout: Row) -> list[str]:
    """Passes to compare with: the closest of its run, that of a comparison, then others."""
    flips = opened.cached("flipped", lambda: opened.rows("flipped"))
    failing = f"{rollout['run_id']}/{rollout['rollout_id']}"
    named = [row["passing"] for row in flips if row["failing"] == failing and row["passing"]]
    passes = opened.rows("passes", **key, benchmark=rollout["benchmark"])
    own = [row["citation"] for row in passes if not row["place"]]
    return list(dict.fromkeys([*own, *named, *(row["citation"] for row in passes)]))


def event(opened: Opened, query: Mapping[str, str]) -> tuple[Citation, Row, list[prose.Medium]]:
    """One event in full, and the images and sounds in it."""
    citation = cited(query.get("at", ""))
    run, task, index = citation.rollout
    row = opened.one("event", str(citation), run=run, task=task, index=index, seq=citation.seq)
    _, rollout = _attempt(opened, citation)
    own = _media(opened, rollout["record_id"], first=row["seq"], last=row["seq"])
    in_text = prose.MEDIA.findall(row["text"] or "")
    return citation, row, prose.media([*in_text, *own.get(row["seq"], [])])


def diff(opened: Opened, query: Mapping[str, str]) -> Page:
    """Two attempts, aligned by their calls, or by all events if `all` is set."""
    sides = [replace(cited(query.get(name, "")), seq=None) for name in ("at", "with")]
    attempts = [_attempt(opened, each) for each in sides]
    rollouts = [rollout for _, rollout in attempts]
    events = [
        opened.rows("events", **key, first=1, last=MOST_COMPARED, cut=COMPARED)
        for key, _ in attempts
    ]
    has_calls = any(row["kind"] == "tool_call" for rows in events for row in rows)
    is_whole = bool(query.get("all")) or not has_calls
    one, other = (_steps(rows, is_whole=is_whole) for rows in events)
    pairs = list(_aligned(one, other))
    page, n_pages = paged(len(pairs), PAIRS, query.get("page"))
    return {
        "citations": sides,
        "rollouts": rollouts,
        "pairs": _with_prose(pairs[(page - 1) * PAIRS : page * PAIRS]),
        "is_whole": is_whole,
        "n_alike": sum(len(each.alike) for each in pairs),
        "n_steps": (len(one), len(other)),
        "page": page,
        "n_pages": n_pages,
    }


def _with_prose(pairs: list[Pair]) -> list[Pair]:
    """Messages as Markdown, as far as a page parses it."""
    n_parsed = 0

    def parsed_step(step: Step | None) -> Step | None:
        nonlocal n_parsed
        if step is None or step.kind not in ("message", "reasoning"):
            return step
        n_parsed += len(step.body)
        is_prose = n_parsed < MOST_MARKDOWN and not prose.is_laid_out(step.body)
        return replace(step, prose=prose.markdown(step.body)) if is_prose else step

    return [
        replace(pair, one=parsed_step(pair.one), other=parsed_step(pair.other)) for pair in pairs
    ]


def _steps(rows: list[Row], *, is_whole: bool) -> list[Step]:
    """Calls with their results, and the last message; or all events."""
    steps: list[Step] = []
    waiting: dict[str | None, int] = {}
    messages = [row["seq"] for row in rows if row["kind"] == "message" and row["role"] != "user"]
    for row in rows:
        kind, body, call, seq = row["kind"], row["body"], row["call_id"], row["seq"]
        if kind == "tool_call":
            value = parsed(body)
            body = json_text(dict(sorted(value.items()))) if isinstance(value, dict) else body
            waiting[call] = len(steps)
            tool = row["tool"] or "call"
            steps.append(Step(seq, kind, "tool", tool, body, f"{row['tool']} {body}"))
        elif kind == "tool_result" and call in waiting:
            result = {"result": body, "result_seq": seq, "is_error": bool(row["is_error"])}
            place = waiting.pop(call)
            steps[place] = replace(steps[place], **result)
        elif is_whole or seq in messages[-1:]:
            role = "tool" if kind == "tool_result" else row["role"] or "assistant"
            title = role if kind == "message" else kind
            key = f"{kind} {role} {' '.join(body.split())}"
            steps.append(Step(seq, kind, role, title, body, key))
    return steps


def _aligned(one: list[Step], other: list[Step]) -> Iterator[Pair]:
    """Fold equal steps, and put different steps side by side."""
    for is_equal, ones, others in _blocks(one, other, [each.key for each in one + other]):
        if not is_equal:
            titles = [each.title for each in ones + others]
            for is_same, left_steps, right_steps in _blocks(ones, others, titles):
                for step, counterpart in zip_longest(left_steps, right_steps):
                    marks = _telling_marks(step, counterpart) if is_same else None
                    yield Pair(step, counterpart, marks)
            continue
        alike: tuple[Step, ...] = ()
        for step, counterpart in zip(ones, others, strict=True):
            if step.result.split() == counterpart.result.split():
                alike += (step,)
                continue
            if alike:
                yield Pair(alike=alike)
            alike = ()
            yield Pair(step, counterpart, marked(step.result, counterpart.result))
        if alike:
            yield Pair(alike=alike)


def _telling_marks(step: Step, counterpart: Step) -> tuple[Marked, Marked] | None:
    """What differs in two calls; in two messages only if most of their words are the same."""
    marks = marked(step.body, counterpart.body)
    is_call = step.kind == "tool_call"
    is_small = all(len(mark[1]) * 2 < len(mark[0]) + len(mark[2]) for mark in marks)
    return marks if is_call or is_small else None


def _blocks(
    one: list[Step], other: list[Step], keys: list[str]
) -> Iterator[tuple[bool, list[Step], list[Step]]]:
    """Blocks of steps with equal keys, and those between."""
    matcher = SequenceMatcher(None, keys[: len(one)], keys[len(one) :])
    for kind, start, end, to_start, to_end in matcher.get_opcodes():
        yield kind == "equal", one[start:end], other[to_start:to_end]
