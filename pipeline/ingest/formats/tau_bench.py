"""tau-bench, the predecessor of tau2: a JSON list of attempts, each with its chat messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    HEAD_BYTES,
    Claim,
    Reading,
    Reject,
    Row,
    fields,
    get,
    head,
    items,
    message,
    number,
    packed,
    settings,
    text,
    told,
)
from pipeline.ingest.formats.chat import chat

TITLE = "tau-bench"
FILES = "any `.json` that is a list of `task_id`, `reward`, `info`, `traj`, `trial`"
SCORE = (
    "`reward`; none where `info.error` says that the attempt broke down before it was scored, "
    "though the harness writes 0"
)
NOTES = (
    "Repeats: `trial`. Benchmark: the domain of the policy. Model and temperature are those in the "
    "file's name. Checks: `r_actions`, and each output that was to be said. No tokens or times are "
    "recorded. Memory holds one attempt, 160 MB of JSON at most."
)
NAMES = re.compile(r"\.json$", re.IGNORECASE)
REQUIRED = (b'"task_id"', b'"reward"', b'"info"')
# <strategy>-<model>-<temperature>_range_<from>-<to>_user-<model>-<strategy>_<time>
RUN = re.compile(
    r"^(?:tool-calling|react|act|few-shot)-(?P<model>.+)-(?P<temperature>\d+\.\d+)_range_-?\d+-"
)
POLICY = re.compile(r"\s*#\s*(\w+) agent policy", re.IGNORECASE)


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Lists whose first element has the fields of an attempt."""
    for file in files:
        begun = head(file.path)
        is_list = begun.lstrip()[:1] == b"[" and all(name in begun for name in REQUIRED)
        if is_list and (b'"traj"' in begun or len(begun) >= HEAD_BYTES):
            yield Claim(file, Kind.ROLLOUTS, file.folder, file.base[: -len(".json")])


def read(artifact: Artifact) -> Iterator[Reading]:
    """One attempt after the other."""
    named = RUN.match(artifact.path.name)
    yield from settings(named.groupdict() if named else {})
    for said in packed.elements(artifact.path):
        task, trial = text(get(said, "task_id")), get(said, "trial")
        if task is None or not isinstance(trial, (int, type(None))):
            reason = "not an attempt: no task_id, or a trial that is no number"
            yield Reject(reason, str(said)[:200])
        else:
            yield Row(_row(said, task, trial or 0), benchmark=_domain(said))


def _domain(said: Any) -> str | None:
    """What the policy calls itself, which the agent is told first."""
    found = POLICY.match(text(get(said, "traj", 0, "content")) or "")
    return found[1].lower() if found else None


def _row(said: Any, task: str, trial: int) -> dict[str, Any]:
    info = fields(get(said, "info"))
    scored = fields(get(info, "reward_info", "info"))
    error = text(info.get("error")) if not get(info, "reward_info") else None
    system, spoken = _parts(items(get(said, "traj")))
    instruction = text(get(info, "task", "instruction"))
    asked = [message(one, role) for role, one in (("system", system), ("user", instruction)) if one]
    outputs = [
        {"name": name, "met": bool(met)} for name, met in fields(scored.get("outputs")).items()
    ]
    actions = number(scored.get("r_actions"))
    value = {
        "_ng_task_index": task,
        "_ng_rollout_index": trial,
        "responses_create_params": {"input": asked} if instruction else None,
        # Of an attempt that broke down nothing is kept: an empty list is no silence.
        "response": {"output": list(chat(spoken))}
        if items(get(said, "traj"))
        else {"object": "response"},
        "reward_breakdown": told({"actions": actions, "outputs": number(scored.get("r_outputs"))}),
        "output_checks": outputs,
        "expected_actions": items(get(info, "task", "actions")),
        "error_message": error,
        "user_cost": number(info.get("user_cost")),
    }
    return {**told(value), "reward": None if error else number(get(said, "reward"))}


def _parts(messages: list[Any]) -> tuple[str | None, list[Any]]:
    """The system's words, and what follows."""
    is_system = get(messages, 0, "role") == "system"
    return text(get(messages, 0, "content")) if is_system else None, messages[is_system:]
