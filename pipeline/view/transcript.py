"""One attempt to be read: why it failed first, then its events by pages; or beside another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from pipeline.citation import SHAPE, Citation, parse
from pipeline.report.html.evidence import Marked, marked
from pipeline.text import json_text, one_line, parsed
from pipeline.view.labels import LabelFile
from pipeline.view.opened import AbsentError, Opened, Page, Row, page_no

PAGE = 200
# A page of the longest transcript stays readable and small; the whole text is one press away.
SHOWN, COMPARED, MOST_COMPARED, PAIRS, LAID_OUT = 3000, 2000, 6000, 100, 100_000


@dataclass(frozen=True)
class Step:
    """A call with what came of it, or something said."""

    seq: int
    title: str
    body: str
    key: str
    result: str = ""
    result_seq: int | None = None
    is_error: bool = False


@dataclass(frozen=True)
class Pair:
    """Two steps beside each other; or how many are alike on both sides, from which to which."""

    one: Step | None = None
    other: Step | None = None
    marks: tuple[Marked, Marked] | None = None
    n_alike: int = 0


def cited(text: str) -> Citation:
    """The citation of an address."""
    found = parse(text)
    if found is None or max(found.rollout_index, found.seq or 0) >= 1 << 62:
        raise AbsentError(f"{one_line(text)}: is not {SHAPE}, such as run_a/17:0.")
    return found


def reader(labels: LabelFile, opened: Opened, query: Mapping[str, str]) -> Page:
    """The page of a transcript that an address asks for: by number, or where an event stands."""
    asked = cited(query.get("at", ""))
    key, rollout = _found(opened, asked)
    count = opened.rows("event_count", **key)[0]
    n_pages = max(1, -(-count["last"] // PAGE))
    page = min(-(-asked.seq // PAGE) if asked.seq else page_no(query.get("page")), n_pages)
    first = (page - 1) * PAGE + 1
    q = query.get("q", "").strip()
    task = {name: key[name] for name in ("run", "task")}
    fields = rollout["verifier"] or "{}"
    asks = opened.rows("question", **task, sha=rollout["prompt_sha"])
    return {
        "citation": asked,
        "rollout": rollout,
        "siblings": opened.rows("siblings", **task),
        "question": asks[0] if asks else None,
        "checks": opened.rows("checks", **key),
        "modes": opened.rows("modes", **key),
        "notes": opened.rows("notes", **key),
        "signs": opened.rows("signs", **key),
        "expected_calls": opened.rows("expected_calls", **key),
        "contrasts": [
            {**row, "marks": marked(row["passing_event"], row["failing_event"])}
            for row in opened.rows("contrast", **key)
        ],
        "passes": [] if rollout["is_pass"] else _passes(opened, key, rollout),
        "events": opened.rows("events", **key, first=first, last=first + PAGE - 1, cut=SHOWN),
        "errors": count["errors"],
        "hits": opened.rows("hits", **key, q=q.lower()) if q else [],
        **{"q": q, "page": page, "n_pages": n_pages},
        "label": labels.of(*asked.rollout[:2]),
        "verifier": json_text(parsed(fields), indent=2) if len(fields) < LAID_OUT else fields,
    }


def _found(opened: Opened, asked: Citation) -> tuple[Row, Row]:
    """The attempt of a citation: its key, and what is recorded of it."""
    key = {"run": asked.run_id, "task": asked.task_id, "index": asked.rollout_index}
    found = opened.one("record", str(replace(asked, seq=None)), **key)
    return key, opened.rows("rollout", **key, record=found["record_id"])[0]


def _passes(opened: Opened, key: Row, rollout: Row) -> list[str]:
    """The closest pass of its run, the one that a comparison sets beside it, then any others."""
    flips = opened.keep("flipped", lambda: opened.rows("flipped"))
    failing = f"{rollout['run_id']}/{rollout['rollout_id']}"
    named = [row["passing"] for row in flips if row["failing"] == failing and row["passing"]]
    found = opened.rows("passes", **key, benchmark=rollout["benchmark"])
    own = [row["citation"] for row in found if not row["place"]]
    return list(dict.fromkeys([*own, *named, *(row["citation"] for row in found)]))


def event(opened: Opened, query: Mapping[str, str]) -> tuple[Citation, Row]:
    """One event whole."""
    asked = cited(query.get("at", ""))
    run, task, index = asked.rollout
    found = opened.one("event", str(asked), run=run, task=task, index=index, seq=asked.seq)
    return asked, found


def diff(opened: Opened, query: Mapping[str, str]) -> Page:
    """Two attempts aligned by what they did: calls, unless everything is asked for."""
    sides = [replace(cited(query.get(name, "")), seq=None) for name in ("at", "with")]
    found = [_found(opened, each) for each in sides]
    rollouts = [rollout for _, rollout in found]
    told = [
        opened.rows("events", **key, first=1, last=MOST_COMPARED, cut=COMPARED) for key, _ in found
    ]
    has_calls = any(row["kind"] == "tool_call" for rows in told for row in rows)
    is_whole = bool(query.get("all")) or not has_calls
    one, other = (_steps(rows, is_whole=is_whole) for rows in told)
    pairs = list(_aligned(one, other))
    n_pages = max(1, -(-len(pairs) // PAIRS))
    page = min(page_no(query.get("page")), n_pages)
    shown = pairs[(page - 1) * PAIRS : page * PAIRS]
    return {
        **{"citations": sides, "rollouts": rollouts, "pairs": shown, "is_whole": is_whole},
        **{"n_alike": sum(each.n_alike for each in pairs), "n_steps": (len(one), len(other))},
        **{"page": page, "n_pages": n_pages},
    }


def _steps(rows: list[Row], *, is_whole: bool) -> list[Step]:
    """Calls, each with the result that follows, and the last words; or everything."""
    found: list[Step] = []
    waiting: dict[str | None, int] = {}
    spoken = [row["seq"] for row in rows if row["kind"] == "message" and row["role"] != "user"]
    for row in rows:
        kind, body, call = row["kind"], row["body"], row["call_id"]
        if kind == "tool_call":
            value = parsed(body)
            body = json_text(dict(sorted(value.items()))) if isinstance(value, dict) else body
            waiting[call] = len(found)
            found.append(Step(row["seq"], row["tool"] or "call", body, f"{row['tool']} {body}"))
        elif kind == "tool_result" and call in waiting:
            result = {"result": body, "result_seq": row["seq"], "is_error": bool(row["is_error"])}
            place = waiting.pop(call)
            found[place] = replace(found[place], **result)
        elif is_whole or row["seq"] in spoken[-1:]:
            title = " ".join(filter(None, (kind, row["role"])))
            found.append(Step(row["seq"], title, body, f"{kind} {' '.join(body.split())}"))
    return found


def _aligned(one: list[Step], other: list[Step]) -> Iterator[Pair]:
    """What both do folded to one line, what differs beside each other."""
    for is_equal, ones, others in _blocks(one, other, [each.key for each in one + other]):
        if not is_equal:
            for is_same, left, right in _blocks(ones, others, [x.title for x in ones + others]):
                for step, to in zip_longest(left, right):
                    marks = marked(step.body, to.body) if is_same else None
                    yield Pair(step, to, marks)
            continue
        n_alike = 0
        for step, to in zip(ones, others, strict=True):
            if step.result.split() == to.result.split():
                n_alike += 1
                continue
            if n_alike:
                yield Pair(n_alike=n_alike)
            n_alike = 0
            yield Pair(step, to, marked(step.result, to.result))
        if n_alike:
            yield Pair(n_alike=n_alike)


def _blocks(
    one: list[Step], other: list[Step], keys: list[str]
) -> Iterator[tuple[bool, list[Step], list[Step]]]:
    """Stretches of both that are equal by their keys, and those between."""
    matcher = SequenceMatcher(None, keys[: len(one)], keys[len(one) :])
    for kind, start, end, to_start, to_end in matcher.get_opcodes():
        yield kind == "equal", one[start:end], other[to_start:to_end]
