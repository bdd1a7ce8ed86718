"""What a rollout's row shows, worked out in plain Python from the definitions.

Nothing here is taken from `pipeline`: events come from `tests.reference`, everything else from the
standard library. Tests compare `rollout_features` with what this module says, row by row. Which
results report an error is asked of `events`: that rule has cases of its own in test_features.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from tests import reference
from tests.reference import Event, Json, Row

# Of the tools that some task of the demo or the corpus expects, those that only look.
READING = frozenset(
    {"calculate", "get_reservation_details", "get_user_details", "search_direct_flight"}
)
CODES = ("exit_code", "returncode", "return_code", "container_exit_code")


@dataclass(frozen=True)
class Call:
    """A call, and the result that answers it: the nth of its id, where that comes later."""

    seq: int
    tool: str
    arguments: Any
    result_seq: int | None
    is_error: bool

    @property
    def is_done(self) -> bool:
        """Answered, and with no error."""
        return self.result_seq is not None and not self.is_error


def calls(row: Row, errors: Set[int]) -> list[Call]:
    """The calls of a row in their order; ids that no result shares, or no call, pair in order."""
    found = list(enumerate(reference.events(row), start=1))
    kinds: dict[str | None, set[str]] = defaultdict(set)
    for _, event in found:
        kinds[_key(event.call_id)].add(event.kind)

    def pair_key(call_id: Any) -> str | None:
        key = _key(call_id)
        return key if kinds[key] >= {"tool_call", "tool_result"} else None

    results: dict[str | None, list[int]] = defaultdict(list)
    for seq, event in found:
        if event.kind == "tool_result":
            results[pair_key(event.call_id)].append(seq)
    asked: Counter[str | None] = Counter()
    made = []
    for seq, event in found:
        if event.kind == "tool_call":
            key = pair_key(event.call_id)
            answers = results[key][asked[key] :][:1]
            asked[key] += 1
            answer = answers[0] if answers and answers[0] > seq else None
            made.append(
                Call(seq, _text(event.tool) or "", event.arguments, answer, answer in errors)
            )
    return made


def _key(call_id: Any) -> str | None:
    return _text(call_id) or None


def _text(value: Any) -> Any:
    """Text as it is; anything else as the shortest JSON."""
    if isinstance(value, Json):
        return json.dumps(value.value, separators=(",", ":"), ensure_ascii=False)
    return value


def is_malformed(arguments: Any) -> bool:
    """Neither absent nor a JSON object."""
    if isinstance(arguments, Json):
        return arguments.value is not None and not isinstance(arguments.value, dict)
    if arguments is None or not re.search(r"\S", arguments, re.ASCII):
        return False
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return True
    return value is not None and not isinstance(value, dict)


def longest_streak(made: Iterable[Call]) -> int:
    """The most failing calls in a row."""
    longest = current = 0
    for call in made:
        current = current + 1 if call.is_error else 0
        longest = max(longest, current)
    return longest


# What is null of a row whose transcript nobody recorded.
UNSEEN = (
    "calls_by_tool n_tool_calls n_tools n_tool_errors n_repeated_calls n_unanswered_calls "
    "n_malformed_calls n_counted_calls longest_error_streak n_final_errors n_same_final_errors "
    "ends_in_error has_output ends_on_tool n_matched_actions n_unexpected_calls".split()
)


def is_observed(row: Row, *, run_has_items: bool) -> bool:
    """Items are there; or there are none, though others have some, and nothing else happened."""
    if reference.events(row):
        return True
    response = row.get("response")
    if not run_has_items or not isinstance(response, dict) or response.get("output") is None:
        return False
    usage, perf = response.get("usage") or {}, row.get("ng_perf") or {}
    own = reference.verifier(row)
    # What is expected is the task's, and nothing that was found.
    found = [value for name, value in own.items() if name != "expected_actions"]
    tokens = (
        usage.get("output_tokens"),
        usage.get("completion_tokens"),
        perf.get("completion_tokens"),
    )
    times = (own.get("total_run_time"), own.get("agent_run_time"), perf.get("total_latency_ms"))
    since, until = response.get("created_at"), response.get("completed_at")
    took = until - since if isinstance(since, int | float) and isinstance(until, int | float) else 0
    return not any((*tokens, *times, took > 0, *map(_has_list, found)))


def _has_list(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else ()
    return (isinstance(value, list) and bool(value)) or any(map(_has_list, inner))


def features(row: Row, errors: Set[int], consequential: frozenset[str] | None) -> dict[str, Any]:
    """The features of a row's calls; without a list of tools that change something, any may."""
    made = calls(row, errors)
    events = reference.events(row)
    counted = [
        call
        for call in made
        if call.is_done and (consequential is None or call.tool in consequential)
    ]
    last_counted = counted[-1].seq if counted else 0
    final = [call for call in made if call.is_error and call.seq > last_counted]
    end = made[-1] if made else None
    same = [call for call in final if end is not None and not end.is_done and _same_call(call, end)]
    seen: list[Call] = []
    repeated = []
    for call in made:
        if any(_same_call(call, earlier) for earlier in seen):
            repeated.append(call)
        else:
            seen.append(call)
    malformed = [call for call in made if is_malformed(call.arguments)]
    ending = [
        call.seq for call in malformed if call in final or (call is end and call.result_seq is None)
    ]
    messages = [
        seq
        for seq, event in enumerate(events, start=1)
        if event.kind == "message" and event.role in (None, "assistant")
    ]
    response = row.get("response")
    # Without a response nothing is known, which is not none.
    has_output = not isinstance(response, dict) or response.get("output") is not None
    has_output = has_output and response is not None
    return {
        "calls_by_tool": dict(Counter(call.tool for call in made)),
        "n_tool_calls": len(made) if has_output else None,
        "n_tools": len({call.tool for call in made}),
        "n_tool_errors": len(errors) if has_output else None,
        "n_repeated_calls": len(repeated),
        "n_unanswered_calls": sum(call.result_seq is None for call in made),
        "n_malformed_calls": len(malformed),
        "n_counted_calls": len(counted),
        "longest_error_streak": longest_streak(made),
        "n_final_errors": len(final),
        "n_same_final_errors": len(same),
        "ends_in_error": end is not None and end.is_error,
        "final_error_seq": max((call.result_seq or 0 for call in final), default=None),
        "repeated_error_seq": same[1].seq if len(same) > 1 else None,
        "malformed_seq": min(ending, default=None),
        "final_text_seq": messages[-1] if messages else None,
        "exit_code": exit_code(row),
        **endings(row, events, has_output=has_output),
    }


def endings(row: Row, events: list[Event], *, has_output: bool) -> dict[str, Any]:
    """How a row ended: cut off, empty, or on a tool."""
    response = row.get("response")
    response = response if isinstance(response, dict) else {}
    details = response.get("incomplete_details")
    reasons = [details.get("reason") if isinstance(details, dict) else None]
    reasons += [reference.verifier(row).get(name) for name in ("finish_reason", "stop_reason")]
    reason = next((each for each in reasons if reference.is_scalar(each)), None)
    is_cut = response.get("status") == "incomplete"
    is_cut |= reason in ("max_output_tokens", "max_tokens", "length")
    own = [event.role in (None, "assistant") for event in events]
    texts = [
        event.text
        for event, is_own in zip(events, own, strict=True)
        if event.kind == "message" and is_own
    ]
    said = [text for text in texts if isinstance(text, str) and re.search(r"\S", text, re.ASCII)]
    last = texts[-1] if texts else None
    return {
        "is_truncated": is_cut or (False if events or response.get("status") or reason else None),
        "has_output": bool(said) or any(e.kind == "tool_call" for e in events)
        if has_output
        else None,
        "ends_on_tool": bool(events) and events[-1].kind in ("tool_call", "tool_result"),
        "n_final_characters": len(last) if isinstance(last, str) else None,
    }


def _same_call(one: Call, other: Call) -> bool:
    return one.tool == other.tool and _text(one.arguments) == _text(other.arguments)


def exit_code(row: Row) -> int | None:
    """The first whole number among the row's own exit codes."""
    given = [reference.verifier(row).get(name) for name in CODES]
    # Written as text it is a number all the same.
    texts = [
        int(code) if isinstance(code, str) and re.fullmatch(r"-?\d+", code) else code
        for code in given
    ]
    whole = [reference.integer(code) for code in texts if code is not None]
    return next((code for code in whole if code is not None), None)


@dataclass(frozen=True)
class Actions:
    """What a task expects: a list of calls, which may be empty, or nothing known."""

    listed: tuple[tuple[str, str], ...] | None


def expected(rows: Iterable[Row]) -> Actions:
    """The calls that the rows of a task list."""
    for row in rows:
        given = row.get("expected_actions")
        if isinstance(given, list):
            named = [action for action in given if isinstance(action.get("name"), str)]
            return Actions(tuple((a["name"], canonical(a.get("kwargs"))) for a in named))
    return Actions(None)


def canonical(arguments: Any) -> str:
    """Arguments for comparing: keys in order, nothing for null."""
    value = arguments.value if isinstance(arguments, Json) else arguments
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if item is not None}
    return json.dumps({} if value is None else value, sort_keys=True)


def unmatched(row: Row, errors: Set[int], actions: Actions, tools: Iterable[str]) -> list[Call]:
    """The calls of these tools that no expected action accounts for, each action once."""
    left = Counter(actions.listed or ())
    beyond = []
    for call in calls(row, errors):
        if call.tool not in tools or call.is_error:
            continue
        key = (call.tool, canonical(call.arguments))
        if left[key] > 0:
            left[key] -= 1
        else:
            beyond.append(call)
    return beyond


def consequential_tools(
    rows: Mapping[str, list[tuple[Row, Set[int], bool]]],
) -> frozenset[str] | None:
    """Of a benchmark's rows by task, each with its verdict: the tools that change something.

    A tool counts that some task expects, unless its name says that it only looks, or more than
    a quarter of the passes that call it call it where it is not expected.
    """
    tasks = {task: expected(row for row, _, _ in given) for task, given in rows.items()}
    named = {tool for actions in tasks.values() for tool, _ in actions.listed or ()}
    calling: Counter[str] = Counter()
    at_will: Counter[str] = Counter()
    for task, given in rows.items():
        for row, errors in ((row, errors) for row, errors, is_pass in given if is_pass):
            beyond = {call.tool for call in unmatched(row, errors, tasks[task], named)}
            used = {call.tool for call in calls(row, errors) if not call.is_error} & named
            calling.update(used)
            at_will.update(used & beyond)
    counting = {t for t in named - READING if at_will[t] * 4 <= calling[t]}
    return frozenset(counting) or None


def actions(
    row: Row, errors: Set[int], task: Actions, tools: frozenset[str] | None
) -> dict[str, Any]:
    """A row's changes against those its task expects; all null where nothing is known."""
    names = ("n_expected_actions", "n_matched_actions", "n_unexpected_calls", "unexpected_call_seq")
    if task.listed is None:
        return dict.fromkeys(names)
    own = tools or frozenset()
    wanted = [action for action in task.listed if action[0] in own]
    beyond = unmatched(row, errors, task, own)
    n_made = sum(call.tool in own and not call.is_error for call in calls(row, errors))
    seqs = [call.seq for call in beyond]
    values = (len(wanted), n_made - len(beyond), len(beyond), min(seqs, default=None))
    return dict(zip(names, values, strict=True))
