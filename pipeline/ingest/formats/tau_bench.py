"""tau-bench, the predecessor of tau2: a JSON list of attempts, each with its chat messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...artifact import Artifact, Kind
from . import (
    HEAD_BYTES,
    Claim,
    Claims,
    Figure,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    expected_call,
    fields,
    figure,
    get,
    gym_row,
    head,
    items,
    message,
    names_of,
    number,
    packed,
    parsed,
    settings,
    text,
    without_empty,
)
from .chat import chat
from .tau2 import WRITE_TOOLS

TITLE = "tau-bench"
FILES = (
    "any `.json` that is a list of `task_id`, `reward`, `info`, `traj`, `trial`, or has it in "
    "`results` beside `metrics`"
)
GIVES = "checks transcript"
SCORE = (
    "`reward`; none where `info.error` says that the attempt broke down before it was scored, "
    "though the harness writes 0"
)
NOTES = (
    "Repeats: `trial`. Benchmark: the domain of the policy. Agent strategy, model and temperature "
    "are those in the file's name. Checks: `r_actions`, and each output that was expected. No "
    "tokens or times are recorded. Memory holds one attempt, 160 MB of JSON at most."
)
NAMES = re.compile(r"\.json$", re.IGNORECASE)
REQUIRED = (b'"task_id"', b'"reward"', b'"info"')
# Some versions write their figures before the list.
RESULTS = re.compile(rb'\s*\{\s*"metrics"\s*:\s*\{.*?"results"\s*:\s*\[', re.DOTALL)
# <strategy>-<model>-<temperature>_range_<from>-<to>_user-<model>-<strategy>_<time>
# Without a model the name has `none`, after any strategy.
RUN = re.compile(
    r"^(?:(?P<own_strategy>.+)-none|(?P<strategy>tool-calling|react|act|few-shot)-(?P<model>.+))"
    r"-(?P<temperature>\d+\.\d+)_range_-?\d+-"
)
# How the act and react agents write a call, and how its answer begins.
ACTION = re.compile(r"Action:\s*(\{(?:(?!Action:).)*\})\s*$", re.DOTALL)
ANSWER = "API output"
ERRORS_AS_0 = "it counts attempts that broke down before they were scored as 0"
POLICY = re.compile(r"\s*#\s*(\w+) agent policy", re.IGNORECASE)


def claims(files: Files) -> Claims:
    for file in files:
        begun = head(file.path)
        is_list = begun.lstrip()[:1] == b"[" or bool(RESULTS.match(begun))
        has_attempts = is_list and all(name in begun for name in REQUIRED)
        if has_attempts and (b'"traj"' in begun or len(begun) >= HEAD_BYTES):
            yield Claim(file, Kind.ROLLOUTS, file.folder, file.base[: -len(".json")])


def read(artifact: Artifact) -> Readings:
    named = RUN.match(artifact.path.name)
    if named:
        strategy = named["own_strategy"] or named["strategy"]
        yield from settings(
            agent_strategy=strategy, model=named["model"], temperature=named["temperature"]
        )
    domains = set()
    for attempt in _attempts(artifact):
        if isinstance(attempt, Figure):
            yield attempt
            continue
        task, trial = text(attempt, "task_id"), get(attempt, "trial")
        if task is None or not isinstance(trial, (int, type(None))):
            reason = "not an attempt: no task_id, or a trial that is no number"
            yield Reject(reason, str(attempt)[:200])
        else:
            domain = _domain(attempt)
            domains.add(domain)
            yield Row(_row(attempt, task, trial or 0), benchmark=domain)
    # The tools of a domain are those of tau2.
    tools = [tool for domain in domains for tool in WRITE_TOOLS.get(domain or "", ())]
    yield from settings(write_tools=names_of(tools))


def _attempts(artifact: Artifact) -> Iterator[Any]:
    if head(artifact.path).lstrip()[:1] == b"[":
        yield from packed.elements(artifact.path)
        return
    for name, value in packed.fields(artifact.path, "results"):
        if name == "results":
            yield value
        elif name == "metrics":
            yield figure("avg_reward", get(value, "avg_reward"), "mean/reward", reason=ERRORS_AS_0)
            for k, share in fields(value, "pass_hat_ks").items():
                metric, means = f"pass_hat_ks/{k}", f"pass^{k}/reward"
                yield figure(metric, share, means, scale=0.01, reason=ERRORS_AS_0)


def _domain(attempt: Any) -> str | None:
    match = POLICY.match(text(attempt, "traj", 0, "content") or "")
    return match[1].lower() if match else None


def _row(attempt: Any, task: str, trial: int) -> Object:
    info = fields(attempt, "info")
    scored = fields(info, "reward_info", "info")
    error = None if get(info, "reward_info") else _raised(info)
    system, messages = _parts(items(attempt, "traj"))
    instruction = text(info, "task", "instruction")
    question = [
        message(one, role) for role, one in (("system", system), ("user", instruction)) if one
    ]
    # An attempt that failed has no transcript: its empty list does not mean silence.
    output = list(chat(list(_with_calls(messages)))) if items(attempt, "traj") else None
    row = gym_row(
        task,
        None if error else number(attempt, "reward"),
        repeat=trial,
        request={"input": question if instruction else None},
        response={"output": output},
        reward_info=without_empty(
            r_actions=number(scored, "r_actions"),
            r_outputs=number(scored, "r_outputs"),
            gt_data_hash=text(scored, "gt_data_hash"),
        ),
        output_checks=[
            {"name": name, "met": bool(met)} for name, met in fields(scored, "outputs").items()
        ],
        error_message=error,
        user_cost=number(info, "user_cost"),
    )
    # An attempt that was never graded has a reward of 0 without a verdict.
    if "reward_info" in info and info["reward_info"] is None and not error:
        row["reward_info"] = None
    if isinstance(actions := get(info, "task", "actions"), list):
        row["expected_calls"] = [
            expected_call(get(one, "name"), get(one, "kwargs")) for one in actions
        ]
    return row


def _raised(info: Object) -> str | None:
    """What broke an attempt down: its traceback ends with the class and the words of the error."""
    words = text(info, "error")
    lines = (text(info, "traceback") or words or "").rstrip().split("\n")
    frame = max((n for n, line in enumerate(lines) if line.startswith('  File "')), default=-1)
    # The words may have lines of their own, some of them indented.
    own = (n for n, line in enumerate(lines) if n > frame and line and not line.startswith(" "))
    return "\n".join(lines[next(own, 0) :]).strip() or words


def _with_calls(messages: list[Any]) -> Iterator[Any]:
    """The messages, with the calls that act and react agents write as text.

    Their messages end with `Action:` and a JSON object; `respond` is a message to the user, any
    other name is a tool, and its result follows as a user message.
    """
    is_waiting = False
    for number_, one in enumerate(messages):
        content = text(one, "content") or ""
        role = get(one, "role")
        if is_waiting and role == "user" and content.startswith(ANSWER):
            is_waiting = False
            yield {"role": "tool", "content": content.removeprefix(ANSWER).lstrip(": ")}
            continue
        written = ACTION.search(content) if role == "assistant" else None
        action = _action(written[1]) if written and not get(one, "tool_calls") else None
        if action is None or written is None:
            yield one
            continue
        words = content[: written.start()].strip()
        if action["name"] == "respond":
            answer = text(action, "arguments", "content")
            yield {**one, "content": "\n\n".join(part for part in (words, answer) if part)}
            continue
        is_waiting = True
        yield {**one, "content": words, "tool_calls": [{"id": f"action-{number_}", **action}]}


def _action(written: str) -> Object | None:
    try:
        action = fields(parsed(written))
    except ValueError:
        return None
    name = text(action, "name")
    return {"name": name, "arguments": action.get("arguments")} if name else None


def _parts(messages: list[Any]) -> tuple[str | None, list[Any]]:
    is_system = get(messages, 0, "role") == "system"
    return text(messages, 0, "content") if is_system else None, messages[is_system:]
