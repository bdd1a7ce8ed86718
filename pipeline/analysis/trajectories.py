"""What the trajectory beside a response shows of its rollout: which checks apply, and findings.

A collector writes it as one JSON document: invocations of agents, their turns, calls of models and
of tools, and gaps, which say what it could not record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import pyarrow as pa

Document = dict[str, Any]
Finding = dict[str, str | None]

LISTS = ("invocations", "turns", "model_calls", "tool_calls", "gaps")
# The fields that hold words for a reader, reasoning included.
WORD_FIELDS = (
    "text",
    "content",
    "output_text",
    "refusal",
    "summary",
    "thinking",
    "reasoning",
    "reasoning_content",
    "encrypted_content",
)
LENGTH_LIMITS = ("length", "max_output_tokens", "max_tokens")
LACKS_CALLS = re.compile(
    r"model_calls_unavailable|model_call_capture_incomplete|model_calls?_.*unreadable"
)
LACKS_TOOLS = re.compile(r"tool_calls?_.*(unavailable|incomplete|unreadable)")
LOST_REFERENCE = re.compile(r"model_call_reference_(unmatched|ambiguous|conflict)")
SPACE = re.compile(r"[\t\n\f\r ]+")
LONGEST_SUBJECT = 100
SCHEMA = pa.schema(
    {
        "record_id": pa.int64(),
        **dict.fromkeys(("has_turns", "has_calls"), pa.bool_()),
        **dict.fromkeys(("n_owned", "n_successful"), pa.int64()),
        **dict.fromkeys(("is_bound", "has_references", "has_cut_responses"), pa.bool_()),
        **dict.fromkeys(("has_order", "has_sums", "has_answers"), pa.bool_()),
        "findings": pa.list_(
            pa.struct(dict.fromkeys(("check_id", "subject", "message", "evidence"), pa.string()))
        ),
    }
)


def trajectories(records: pa.Table) -> pa.Table:
    """One row per record: which checks its trajectory allows, and what they find."""
    rows = [{"record_id": row["record_id"], **_checked(row)} for row in records.to_pylist()]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


class Turn(NamedTuple):
    """A turn of an agent: what it says, and whether it does anything."""

    invocation: str | None
    answer: list[str]
    is_acting: bool
    has_reference: bool


class Reference(NamedTuple):
    """What refers to a call of a model: its id, or its model and response together."""

    id: str
    model: str
    response: str

    @property
    def order(self) -> tuple[tuple[bool, str], ...]:
        """By its parts; what has none comes last."""
        return tuple((part == "", part) for part in self)

    @property
    def name(self) -> str:
        """The id, else both others."""
        return self.id or f"{self.model} {self.response}"


@dataclass(slots=True)
class Call:
    """A recorded call of a model; what is not recorded is empty or None."""

    place: int
    id: str
    model: str
    response: str
    started_at: Any
    status_code: int | None
    status: str | None
    error: str
    prompt_tokens: int | None
    completion_tokens: int | None
    is_cut: bool
    # Of a call that was cut: whether it has words; None where its response is not recorded.
    has_words: bool | None

    def answers_to(self, reference: Reference) -> bool:
        """Whether a reference names it. An id is enough, unless the rest is another call's."""
        _, model, response = reference
        if not reference.id:
            return (self.model, self.response) == (model, response)
        return (
            self.id == reference.id
            and (self.model == model or not self.model or not model)
            and (self.response == response or not self.response or not response)
        )

    @property
    def subject(self) -> str:
        """By its id where that can be shown, else by its place in the list."""
        is_shown = self.id and len(self.id) <= LONGEST_SUBJECT
        return self.id if is_shown else f"model_calls[{self.place}]"

    @property
    def is_failed(self) -> bool:
        """Whether its status or its error say so."""
        return (
            (self.status_code is not None and self.status_code >= 400)
            or (self.error != "" and self.error.lower() != "none")
            or self.status in ("failed", "error", "cancelled")
        )

    @property
    def is_successful(self) -> bool:
        """Whether nothing says that it failed or was turned elsewhere."""
        is_ok = self.status_code is None or 200 <= self.status_code <= 399
        return is_ok and not self.is_failed

    @property
    def outcome(self) -> str:
        """How it ended, as it is recorded."""
        code = None if self.status_code is None else f"HTTP status {self.status_code}"
        parts = (code, self.error or None, self.status)
        return ", ".join(part for part in parts if part is not None)

    @property
    def time(self) -> tuple[float, str, int]:
        """By what calls of one model are ordered: by numbers, by texts, by their places."""
        if isinstance(self.started_at, str):
            return -inf, self.started_at, self.place
        is_number = isinstance(self.started_at, (int, float)) and abs(self.started_at) <= 1e50
        return self.started_at if is_number else -inf, "", self.place


def _checked(row: Document) -> Document:
    """The checks of one record."""
    trajectory = json.loads(row["trajectory"])
    if not _is_readable(trajectory):
        message = "the trajectory is not an object of lists of objects"
        return {
            **dict.fromkeys(("has_turns", "has_calls", "is_bound", "has_references"), False),
            **dict.fromkeys(("has_sums", "has_answers"), False),
            "findings": [_finding("record_unreadable", "ng_trajectory", message)],
        }
    codes = [_text(gap.get("code")) or "" for gap in trajectory.get("gaps") or ()]
    # What the collector says it lost is no finding.
    is_observed = "trajectory_projection_failed" not in codes
    has_calls = is_observed and not any(map(LACKS_CALLS.fullmatch, codes))
    tool_calls = trajectory.get("tool_calls") or []
    invocations = trajectory.get("invocations") or []
    # What agents do that another one started, the row's own response does not show.
    subagents = {
        _text(each.get("invocation_id"))
        for each in invocations
        if each.get("parent_invocation_id") is not None
    } - {None}
    turns = None
    if is_observed and trajectory.get("turns") is not None and "turns_unavailable" not in codes:
        turns = [_turn(turn, tool_calls) for turn in trajectory["turns"]]
    calls, references = None, []
    if has_calls and trajectory.get("model_calls") is not None:
        calls = [_call(*each) for each in enumerate(trajectory["model_calls"])]
        users = (*(trajectory.get("turns") or ()), *invocations)
        references = sorted(
            {each for user in users for each in _references(user)}, key=lambda each: each.order
        )
    places = _places(references, calls or [])
    is_bound = bool(references) and all(len(own) == 1 for own in places.values())
    # The policy model's own calls: a turn or an invocation names just this one.
    own_places = {own[0] for own in places.values() if len(own) == 1}
    owned = None if calls is None else [call for call in calls if call.place in own_places]
    lost = [code for code in codes if has_calls and LOST_REFERENCE.fullmatch(code)]
    ends = _ends(owned or [])
    usage = _Usage(
        row["input_tokens"],
        row["output_tokens"],
        _total([call.prompt_tokens for call in owned or ()]) if is_bound else None,
        _total([call.completion_tokens for call in owned or ()]) if is_bound else None,
    )
    final_text = _one_line(row["final_text"] or "")
    own_turns = [turn for turn in turns or () if turn.invocation not in subagents]
    answer = _one_line(" ".join(own_turns[-1].answer)) if own_turns else ""
    tools = [
        _text(call.get("tool_name"))
        for call in tool_calls
        if _text(call.get("invocation_id")) not in subagents
    ]
    outline, response_tools = row["outline"], row["response_tools"]
    has_tools = is_observed and not any(map(LACKS_TOOLS.fullmatch, codes))
    # Items of other kinds may be calls; a list without a call may not have been recorded.
    can_compare_calls = (
        has_tools
        and outline is not None
        and "o" not in outline
        and bool(tools or not response_tools)
    )
    can_compare_answer = turns is not None and bool(
        answer or not final_text or (outline is not None and not outline.endswith("m"))
    )
    findings = [each for call in owned or () for each in _of_call(call)]
    findings += [
        _finding(
            "rollout_ended_on_failed_model_call",
            last.subject,
            "the last call of the model failed",
            last.outcome,
        )
        for last in ends
        if last is not None and last.is_failed
    ]
    findings += [
        _finding(
            "trajectory_capture_mismatch",
            each.name[:LONGEST_SUBJECT],
            f"{len(own)} recorded model calls answer to the reference, not one",
        )
        for each, own in places.items()
        if len(own) != 1
    ]
    message = "the collector could not resolve a reference to a model call"
    findings += [_finding("trajectory_capture_mismatch", c, message, f"gap {c}") for c in lost]
    if turns is not None:
        findings += _of_turns(turns)
    if usage.disagrees:
        message = "usage and the sums of the model calls disagree"
        findings.append(_finding("rollout_token_count_mismatch", "", message, str(usage)))
    if can_compare_calls and _differ(tools, response_tools):
        findings.append(
            _finding(
                "trajectory_response_mismatch",
                "tool calls",
                "the tool calls of the trajectory are not those of the response",
                f"{len(tools)} in the trajectory, {len(response_tools)} in the response",
            )
        )
    is_other = not final_text or (answer not in final_text and final_text not in answer)
    if can_compare_answer and answer and outline is not None and is_other:
        message = "the last answer of the trajectory is not the final text of the response"
        findings.append(_finding("trajectory_response_mismatch", "answer", message, answer[:80]))
    return {
        "has_turns": turns is not None,
        "has_calls": bool(owned),
        "n_owned": None if owned is None else len(owned),
        "n_successful": None if owned is None else sum(call.is_successful for call in owned),
        "is_bound": is_bound,
        "has_references": bool(references or lost),
        # Whether each call that was cut has an answer.
        "has_cut_responses": None
        if owned is None
        else bool(owned) and not any(call.is_cut and call.has_words is None for call in owned),
        "has_order": None not in ends if ends else None,
        "has_sums": usage.is_counted and usage.is_whole,
        "has_answers": can_compare_calls and can_compare_answer,
        "findings": findings,
    }


def _is_readable(trajectory: Any) -> bool:
    """Whether it is an object whose lists are lists of objects, or not there."""
    if not isinstance(trajectory, dict):
        return False
    lists = [trajectory[name] for name in LISTS if trajectory.get(name) is not None]
    return all(
        isinstance(each, list) and all(isinstance(entry, dict) for entry in each) for each in lists
    )


def _turn(turn: Document, tool_calls: list[Document]) -> Turn:
    invocation, number = _text(turn.get("invocation_id")), _text(turn.get("turn_no"))
    answer, *reasoning = (
        _words(turn.get(name)) for name in ("answer", "reasoning_content", "reasoning")
    )
    own_calls = turn.get("tool_calls")
    # Its list of calls holds one, or its answer does, or a call of a tool is of this turn: such a
    # call names its invocation, seldom its turn.
    has_call = (
        (isinstance(own_calls, list) and len(own_calls) > 0)
        or _holds_call(turn.get("answer"))
        or any(
            _may_equal(_text(call.get("invocation_id")), invocation)
            and _may_equal(_text(call.get("turn_no")), number)
            for call in tool_calls
        )
    )
    return Turn(
        invocation,
        answer,
        is_acting=bool(answer or any(reasoning) or has_call),
        has_reference=next(_references(turn), None) is not None,
    )


def _holds_call(answer: Any) -> bool:
    """Whether an item of an answer is a call of a tool."""
    if not isinstance(answer, (dict, list)):
        return False
    fields = _below(answer, ("type", "tool_calls"))
    kinds = fields["type"]
    kinds += [each[0] for each in fields["tool_calls"] if isinstance(each, list) and each]
    return any(
        isinstance(kind, dict)
        or (
            isinstance(kind, str)
            and (kind.endswith("_call") or kind == "tool_use" or kind.startswith("mcp_"))
        )
        for kind in kinds
    )


def _references(user: Document) -> Iterator[Reference]:
    """The calls that a turn or an invocation refers to; what names no call refers to none."""
    entries = user.get("model_calls")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            reference = Reference(
                _text(entry.get("model_call_id")) or "",
                _model(entry.get("model_ref")),
                _text(entry.get("response_id")) or "",
            )
            if reference.id or (reference.model and reference.response):
                yield reference


def _call(place: int, call: Document) -> Call:
    metadata, tokens = (
        part if isinstance(part, dict) else {}
        for part in (call.get("response_metadata"), call.get("token_stats"))
    )
    response_id = _text(metadata.get("response_id"))
    status = _text(metadata.get("response_status"))
    is_cut = (_text(metadata.get("finish_reason")) or "").lower() in LENGTH_LIMITS
    model_ref = metadata.get("model_ref")
    return Call(
        place,
        _text(call.get("model_call_id")) or "",
        _model(call.get("model_ref") if model_ref is None else model_ref),
        (_text(call.get("response_id")) if response_id is None else response_id) or "",
        call.get("started_at"),
        _integer(metadata.get("status_code")),
        None if status is None else status.lower(),
        _text(metadata.get("error_category")) or "",
        _count(tokens.get("prompt_tokens")),
        _count(tokens.get("completion_tokens")),
        is_cut,
        # Payloads are long: only those of calls that were cut are read.
        _has_words(call.get("response")) if is_cut else None,
    )


def _places(references: list[Reference], calls: list[Call]) -> dict[Reference, list[int]]:
    """Where the calls are that answer to each reference."""
    by_id: dict[str, list[Call]] = {}
    for call in calls:
        by_id.setdefault(call.id, []).append(call)
    return {
        each: [
            call.place
            for call in (by_id.get(each.id, ()) if each.id else calls)
            if call.answers_to(each)
        ]
        for each in references
    }


def _has_words(response: Any) -> bool | None:
    """Whether a response has words; its settings hold texts too."""
    if response is None:
        return None
    parts = [response]
    if isinstance(response, dict):
        parts = [response.get(name) for name in ("output", "output_text", "choices", "content")]
    return any(map(_words, parts))


def _ends(calls: list[Call]) -> list[Call | None]:
    """The last call of each model; None where that is unknown.

    Which is the last is unknown where one has no time, and does not matter where all failed.
    """
    ends: list[Call | None] = []
    for model in sorted({call.model for call in calls}):
        own = [call for call in calls if call.model == model]
        is_known = len({call.is_failed for call in own}) == 1 or all(
            call.started_at is not None for call in own
        )
        ends.append(max(own, key=lambda call: call.time) if is_known else None)
    return ends


@dataclass(frozen=True)
class _Usage:
    """Tokens as the row counts them, and as its calls add up; None is unknown."""

    input: int | None
    output: int | None
    prompt: int | None
    completion: int | None

    @property
    def is_counted(self) -> bool:
        """Usage that is all zero was not counted."""
        return (self.input or 0) + (self.output or 0) > 0

    @property
    def is_whole(self) -> bool:
        return None not in (self.input, self.output, self.prompt, self.completion)

    @property
    def disagrees(self) -> bool:
        pairs = ((self.input, self.prompt), (self.output, self.completion))
        return self.is_counted and any(None not in pair and len({*pair}) == 2 for pair in pairs)

    def __str__(self) -> str:
        numbers = (self.input, self.prompt, self.output, self.completion)
        shown = ("?" if number is None else number for number in numbers)
        return "prompt {} and {}, completion {} and {}".format(*shown)


def _of_call(call: Call) -> Iterator[Finding]:
    """What is wrong with a call of a model."""
    if call.is_failed:
        yield _finding("model_call_failed", call.subject, "the model call failed", call.outcome)
    if call.completion_tokens == 0:
        message = "the model call reports zero completion tokens"
        yield _finding("model_call_zero_completion_tokens", call.subject, message)
    counts = {"prompt": call.prompt_tokens, "completion": call.completion_tokens}
    lacking = " and ".join(name for name, count in counts.items() if count is None)
    if lacking:
        message = f"the model call has no count of its {lacking} tokens"
        yield _finding("model_call_missing_token_counts", call.subject, message)
    if call.has_words is False:
        message = "the model call ended at its length limit with neither text nor reasoning"
        yield _finding("model_call_runaway_generation", call.subject, message)


def _of_turns(turns: list[Turn]) -> Iterator[Finding]:
    """Turns in which nothing happens."""
    for place, turn in enumerate(turns):
        if not turn.is_acting:
            message = "the turn has no answer, no reasoning and no tool call"
            yield _finding("agent_turn_hollow", f"turns[{place}]", message)
    if not any(turn.is_acting or turn.has_reference for turn in turns):
        message = "no turn has text, reasoning, a tool call or a model call"
        yield _finding("rollout_missing_agent_turns", "", message, f"turns: {len(turns)}")


def _differ(tools: list[str | None], response_tools: list[str | None]) -> bool:
    """Whether other tools were called, as far as they have names, or more or fewer."""
    if len(tools) != len(response_tools):
        return True
    names = [tool for tool in tools if tool is not None]
    return len(names) == len(tools) and sorted(names) != response_tools


def _finding(check: str, subject: str, message: str, evidence: str | None = None) -> Finding:
    """What a check found: on what, in words, and the evidence."""
    values = {"check_id": check, "subject": subject, "message": message, "evidence": evidence}
    # Half a surrogate pair cannot be written.
    return {
        name: value and value.encode("utf-8", "replace").decode() for name, value in values.items()
    }


def _words(value: Any) -> list[str]:
    """The strings below a JSON value that are words for a reader."""
    if isinstance(value, str):
        return [value] if _has_text(value) else []
    if not isinstance(value, (dict, list)):
        return []
    entries = list(value) if isinstance(value, list) else []
    fields = _below(value, WORD_FIELDS)
    entries += [each for name in WORD_FIELDS for each in fields[name]]
    return [each for each in entries if isinstance(each, str) and _has_text(each)]


def _has_text(text: str) -> bool:
    return text.strip("\t\n\f\r ") != ""


def _below(value: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """All values of these fields, however deep, the upper ones first."""
    fields: dict[str, list[Any]] = {name: [] for name in names}
    level = [value]
    for each in level:
        if isinstance(each, dict):
            for name, below in each.items():
                if name in fields:
                    fields[name].append(below)
                if isinstance(below, (dict, list)):
                    level.append(below)
        elif isinstance(each, list):
            level += [below for below in each if isinstance(below, (dict, list))]
    return fields


def _model(reference: Any) -> str:
    """A model as a trajectory refers to it: by type and name, or by one text."""
    if isinstance(reference, dict):
        parts = (_text(reference.get(name)) for name in ("type", "name"))
        return "/".join(part for part in parts if part is not None)
    return _text(reference) or ""


def _text(value: Any) -> str | None:
    """A string as it is, anything else as its JSON; None for null."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _one_line(text: str) -> str:
    return SPACE.sub(" ", text.strip(" "))


def _may_equal(value: str | None, other: str | None) -> bool:
    return value is None or other is None or value == other


def _integer(value: Any) -> int | None:
    """A number without a fraction, of at most 15 digits."""
    if type(value) not in (int, float) or not abs(value) < 1e15:
        return None
    return int(value) if value == int(value) else None


def _count(value: Any) -> int | None:
    number = _integer(value)
    return number if number is None or number >= 0 else None


def _total(numbers: list[int | None]) -> int | None:
    """A sum is known when each of its parts is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
