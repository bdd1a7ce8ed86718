"""One attempt to be read: why it failed first, then its events by pages; or beside another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from pipeline.citation import SHAPE, Citation, parse
from pipeline.report.html.evidence import Beside, Marked, differences, marked
from pipeline.text import json_text, one_line, parsed
from pipeline.view.labels import LabelFile
from pipeline.view.opened import AbsentError, Opened, Row, page_no

PAGE = 200
# A page of the longest transcript stays readable and small; the whole text is one press away.
SHOWN_CHARACTERS, COMPARED_CHARACTERS, MOST_COMPARED, MOST_PAIRS = 3000, 4000, 6000, 400


@dataclass(frozen=True)
class Reader:
    """An attempt: verdict, checks, what was expected, its events, and the label of its task."""

    citation: Citation
    rollout: Row
    siblings: list[Row]
    question: Row
    checks: list[Row]
    modes: list[Row]
    differences: list[Beside]
    passes: list[str]
    events: list[Row]
    errors: list[int]
    hits: list[Row]
    q: str
    n_events: int
    page: int
    n_pages: int
    label: Row | None
    verifier: str


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


@dataclass(frozen=True)
class Diff:
    """Two attempts, step by step."""

    citations: list[Citation]
    rollouts: list[Row]
    pairs: list[Pair]
    n_left_out: int
    n_alike: int
    n_steps: tuple[int, int]
    is_whole: bool


def cited(text: str) -> Citation:
    """The citation of an address."""
    found = parse(text)
    if found is None:
        raise AbsentError(f"{one_line(text)}: is not {SHAPE}, such as run_a/17:0.")
    return found


def reader(labels: LabelFile, opened: Opened, query: Mapping[str, str]) -> Reader:
    """The page of a transcript that an address asks for: by number, or where an event stands."""
    asked = cited(query.get("at", ""))
    key = _key(asked)
    rollout = opened.one("rollout", str(replace(asked, seq=None)), **key)
    count = opened.rows("event_count", **key)[0]
    n_pages = max(1, -(-count["last"] // PAGE))
    page = min(-(-asked.seq // PAGE) if asked.seq else page_no(query.get("page")), n_pages)
    first = (page - 1) * PAGE + 1
    q = query.get("q", "").strip()
    task = {name: key[name] for name in ("run", "task")}
    asks = opened.rows("question", **task, sha=rollout["prompt_sha"])
    passes = (
        [] if rollout["is_pass"] else opened.rows("passes", **key, benchmark=rollout["benchmark"])
    )
    has_differences = opened.rows("has_differences", **key)[0]["is_any"]
    return Reader(
        citation=asked,
        rollout=rollout,
        siblings=opened.rows("siblings", **task),
        question=asks[0] if asks else {"prompt": "", "system_prompt": ""},
        checks=opened.rows("checks", **key),
        modes=opened.rows("modes", **key),
        differences=differences(opened.warehouse, asked.rollout) if has_differences else [],
        passes=[row["citation"] for row in passes],
        events=opened.rows(
            *("events",), **key, first=first, last=first + PAGE - 1, cut=SHOWN_CHARACTERS
        ),
        errors=count["errors"],
        hits=opened.rows("hits", **key, q=q.lower()) if q else [],
        q=q,
        n_events=count["n"],
        page=page,
        n_pages=n_pages,
        label=labels.of(*asked.rollout[:2]),
        verifier=json_text(parsed(rollout.pop("verifier") or "{}"), indent=2),
    )


def _key(asked: Citation) -> dict[str, Any]:
    return {"run": asked.run_id, "task": asked.task_id, "index": asked.rollout_index}


def event(opened: Opened, query: Mapping[str, str]) -> tuple[Citation, Row]:
    """One event whole."""
    asked = cited(query.get("at", ""))
    return asked, opened.one("event", str(asked), **_key(asked), seq=asked.seq)


def diff(opened: Opened, query: Mapping[str, str]) -> Diff:
    """Two attempts aligned by what they did: calls, unless everything is asked for."""
    sides = [replace(cited(query.get(name, "")), seq=None) for name in ("at", "with")]
    rollouts = [opened.one("rollout", str(each), **_key(each)) for each in sides]
    told = [
        opened.rows("events", **_key(each), first=1, last=MOST_COMPARED, cut=COMPARED_CHARACTERS)
        for each in sides
    ]
    has_calls = any(row["kind"] == "tool_call" for rows in told for row in rows)
    is_whole = bool(query.get("all")) or not has_calls
    one, other = (_steps(rows, is_whole=is_whole) for rows in told)
    pairs = _aligned(one, other)
    n_alike = sum(each.n_alike for each in pairs)
    n_left_out = max(0, len(pairs) - MOST_PAIRS)
    n_steps = (len(one), len(other))
    return Diff(sides, rollouts, pairs[:MOST_PAIRS], n_left_out, n_alike, n_steps, is_whole)


def _steps(rows: list[Row], *, is_whole: bool) -> list[Step]:
    """Calls, each with its result, and the last words; or everything."""
    results = {
        row["call_id"]: row for row in rows if row["kind"] == "tool_result" and row["call_id"]
    }
    last = max((row["seq"] for row in rows if row["kind"] == "message"), default=None)
    found = []
    for row in rows:
        kind, body = row["kind"], row["body"]
        if kind == "tool_call":
            value = parsed(body)
            plain = json_text(dict(sorted(value.items()))) if isinstance(value, dict) else body
            result = results.get(row["call_id"]) or {"body": "", "seq": None, "is_error": False}
            found.append(
                Step(
                    *(row["seq"], row["tool"] or "call", plain, f"{row['tool']} {plain}"),
                    *(result["body"], result["seq"], bool(result["is_error"])),
                )
            )
        elif kind == "tool_result" and row["call_id"] in results and not is_whole:
            continue
        elif (is_whole and kind != "tool_result") or row["seq"] == last:
            title = " ".join(filter(None, (kind, row["role"])))
            key = f"{kind} {' '.join(body.split())}"
            found.append(Step(row["seq"], title, body, key))
    return found


def _aligned(one: list[Step], other: list[Step]) -> list[Pair]:
    """What both do folded to one line, what differs beside each other."""
    found = []
    matcher = SequenceMatcher(None, [each.key for each in one], [each.key for each in other])
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            run = 0
            for left, right in zip(one[i:i_end], other[j:j_end], strict=True):
                if " ".join(left.result.split()) == " ".join(right.result.split()):
                    run += 1
                    continue
                found += [Pair(n_alike=run)] if run else []
                run = 0
                found.append(Pair(left, right, marked(left.result, right.result)))
            found += [Pair(n_alike=run)] if run else []
            continue
        for left_, right_ in zip_longest(one[i:i_end], other[j:j_end]):
            is_pair = left_ and right_ and left_.title == right_.title
            marks = marked(left_.body, right_.body) if is_pair and left_ and right_ else None
            found.append(Pair(left_, right_, marks))
    return found
