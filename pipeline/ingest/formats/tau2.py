"""tau2-bench: one JSON document per run, or results.json with an index and a file per simulation.

A simulation is one attempt of an agent at the task of a simulated user. Documents of other tools
may have only simulations, domain and model. A `task_id` is not trusted if the checked criteria are
those of another task, since public files were renumbered: the question is then the scenario of that
task, and `criteria_of_task` names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    as_json,
    call,
    counted,
    document,
    expected,
    expected_call,
    fields,
    figure,
    get,
    head,
    items,
    message,
    names_of,
    number,
    packed,
    parent,
    recorded,
    result,
    settings,
    text,
    without_empty,
)

TITLE = "tau2-bench"
FILES = (
    "any `.json` with `simulations`, mostly after `info` and `tasks`; `results.json` with "
    "`simulation_index` and `simulations/<id>.json`; `submission.json` beside or above"
)
GIVES = "checks transcript tokens durations"
SCORE = (
    "`reward_info.reward`; none without it, and none after an `infrastructure_error`, which tau2 "
    "leaves out of its own figures"
)
NOTES = (
    "Benchmark: the domain. Repeats: `trial`. Checks: actions, communicated facts, assertions, "
    "`reward_breakdown`, `db_check`. `expected_calls`: the actions that were checked, else the "
    "task's. Settings: the values of `info`, without possible secrets. Tokens and `cost` are the "
    "agent's; `user_cost` is a field. "
    "Memory holds one simulation, or the list of tasks: 160 MB of JSON at most."
)
NAMES = re.compile(r"\.json$", re.IGNORECASE)
SUBMISSION = "submission.json"
HEIGHT = 3  # how many folders up a submission may be: trajectories/<run>/results.json
ONE_SIMULATION = re.compile(r"(^|/)simulations/[^/]+\.json$", re.IGNORECASE)
# Checks of a task, in the order of its criteria.
OWN = {
    "action_checks": ("action", "action_id"),
    "communicate_checks": ("info",),
    "nl_assertions": ("nl_assertion",),
}
SCENARIO_FIELDS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
# The checks behind each part of a reward.
BEHIND = {
    "DB": "db_check",
    "ACTION": "action_checks",
    "COMMUNICATE": "communicate_checks",
    "ENV_ASSERTION": "env_assertions",
    "NL_ASSERTION": "nl_assertions",
}
CHECKS = {
    "action_checks": ("action", "name"),
    "communicate_checks": ("info",),
    "env_assertions": ("env_assertion", "func_name"),
    "nl_assertions": ("nl_assertion",),
}
# Values of `info` that are read as benchmark, model, sampling, repeats, limits and prompt.
READ_OTHERWISE = frozenset(
    "num_trials max_steps agent_info.llm agent_info.llm_args.temperature "
    "environment_info.domain_name environment_info.policy".split()
)
CAPS = frozenset({"max_steps", "timeout", "too_many_errors", "context_window_exceeded"})
# Tools that tau2 declares to change state (`ToolType.WRITE`, or `mutates_state`).
TELECOM_TOOLS = (
    "disable_roaming",
    "enable_roaming",
    "refuel_data",
    "resume_line",
    "send_payment_request",
    "suspend_line",
    "user:connect_vpn",
    "user:disconnect_vpn",
    "user:grant_app_permission",
    "user:make_payment",
    "user:reboot_device",
    "user:reseat_sim_card",
    "user:reset_apn_settings",
    "user:set_apn_settings",
    "user:set_network_mode_preference",
    "user:toggle_airplane_mode",
    "user:toggle_data",
    "user:toggle_data_saver_mode",
    "user:toggle_roaming",
    "user:toggle_wifi",
    "user:toggle_wifi_calling",
)
WRITE_TOOLS = {
    "airline": (
        "book_reservation",
        "cancel_reservation",
        "send_certificate",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
    ),
    "banking_knowledge": (
        "call_discoverable_agent_tool",
        "change_user_email",
        "give_discoverable_user_tool",
        "log_verification",
        "unlock_discoverable_agent_tool",
        "user:apply_for_credit_card",
        "user:call_discoverable_user_tool",
        "user:request_human_agent_transfer",
        "user:submit_referral",
        "user:submit_transaction",
    ),
    "mock": ("create_task", "update_task_status", "user:dismiss_notification"),
    "retail": (
        "cancel_pending_order",
        "exchange_delivered_order_items",
        "modify_pending_order_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "modify_user_address",
        "return_delivered_order_items",
    ),
    "telecom": TELECOM_TOOLS,
    "telecom-workflow": TELECOM_TOOLS,
}


@dataclass(frozen=True)
class Header:
    """The fields of a document besides simulations; `by_criteria` maps unique criteria to tasks."""

    info: Any
    domain: str
    model: str | None
    tasks: Object
    by_criteria: dict[str, str | None]


def claims(files: Files) -> Claims:
    documents = [file for file in files if _is_document(file)]
    folders = {file.folder: file for file in documents if file.base.lower() == "results.json"}
    submissions = {file.folder: file for file in files if file.base == SUBMISSION}
    used: set[ListedFile] = set()

    def above(file: ListedFile) -> str:
        return file.folder.rpartition("/")[2] or file.path.parent.name

    for file in documents:
        folder, near = file.folder, None
        for _ in range(HEIGHT):
            near = near or submissions.get(folder)
            folder = parent(folder)
        is_folder = file.base.lower() == "results.json"
        stem = above(file) if is_folder else file.base[: -len(".json")]
        used |= {near} if near else set()
        beside = (near.path,) if near else ()
        yield Claim(file, Kind.ROLLOUTS, file.folder, stem, beside=beside)
    for file in files:
        home = folders.get(parent(file.folder))
        if home and ONE_SIMULATION.search(file.name):
            yield Claim(file, Kind.ROLLOUTS, home.folder, above(home), beside=(home.path,))
        elif file in used:
            yield Claim(file, Kind.REPORT, file.folder, file.base)


def _header_of(path: Path) -> Header:
    state = path.stat()
    return _cached_header(path, (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=1)
def _cached_header(path: Path, _state: tuple[int, int]) -> Header:
    """The header, cached: hundreds of simulation files need it. Damage after it is ignored."""
    document_fields = {}
    with suppress(ValueError):  # reported as its own reject
        for name, value in packed.fields(path, "simulations"):
            if name != "simulations":
                document_fields[name] = value
    return _header(document_fields)


def _is_document(file: ListedFile) -> bool:
    begun = head(file.path)
    has_sides = b'"agent_info"' in begun or b'"user_info"' in begun
    is_run = b'"num_trials"' in begun and has_sides
    has_rows = all(b'"%s"' % name in begun for name in (b"simulations", b"task_id", b"reward_info"))
    return begun.lstrip()[:1] == b"{" and (is_run or has_rows)


def read(artifact: Artifact) -> Readings:
    for home in artifact.beside:
        if home.name.lower() == "results.json":
            yield from _simulation(document(artifact.path), _header_of(home))
            return
    about: Header | None = None
    document_fields: Object = {}
    for name, value in packed.fields(artifact.path, "simulations"):
        if name != "simulations":
            document_fields[name] = value
            continue
        if about is None:
            is_late = not {"info", "tasks"} <= document_fields.keys()
            about = _header_of(artifact.path) if is_late else _header(document_fields)
            yield from _about_run(about, artifact)
        if value is not None:
            yield from _simulation(value, about)
    if about is None:
        yield from _about_run(_header(document_fields), artifact)


def _about_run(about: Header, artifact: Artifact) -> Readings:
    n_trials = get(about.info, "num_trials")
    yield from settings(
        model=about.model,
        temperature=get(about.info, "agent_info", "llm_args", "temperature"),
        num_repeats=n_trials,
        max_steps=get(about.info, "max_steps"),
        write_tools=names_of(WRITE_TOOLS.get(about.domain, ())),
    )
    yield from settings(
        {name: value for name, value in recorded(about.info) if name not in READ_OTHERWISE}
    )
    n_trials = n_trials if isinstance(n_trials, int) and n_trials > 0 else 0
    yield from expected(about.tasks, n_trials)
    for path in artifact.beside:
        yield from _published(path, about.domain)
        if n_expected := n_trials * len(about.tasks):
            yield counted("tasks x num_trials", n_expected, "num_rollouts")


def _published(path: Path, domain: str) -> Readings:
    """The figures of a submission, in percent of pass^k."""
    try:
        published = fields(document(path), "results", domain)
    except ValueError as error:
        yield Reject(f"{SUBMISSION}: {error}")
        return
    for name, value in published.items():
        if value is not None and not isinstance(value, (str, list, dict)):
            k = re.fullmatch(r"pass_(\d+)", name)
            means = f"pass^{k[1]}/reward" if k else None
            metric = f"{SUBMISSION} {domain}/{name}"
            yield figure(metric, value, means, rounding=0.05 if k else 0.0)


def _header(document_fields: Object) -> Header:
    """The header of a document; files of other tools have domain and model at the top."""
    tasks = {task: one for one in items(document_fields, "tasks") if (task := text(one, "id"))}
    by_criteria: dict[str, str | None] = {}
    for task, one in tasks.items():
        key = as_json(_criteria(one))
        by_criteria[key] = None if key in by_criteria else task
    info = document_fields.get("info")
    named = text(info, "environment_info", "domain_name") or text(document_fields, "domain")
    model = text(info, "agent_info", "llm") or text(document_fields, "model")
    return Header(info, named or "tau2", model, tasks, by_criteria)


def _criteria(task: Any) -> list[list[Any]]:
    """Action ids, facts to communicate and assertions, which identify a task."""
    criteria = fields(task, "evaluation_criteria")
    actions = [get(one, "action_id") for one in items(criteria, "actions")]
    return [actions, items(criteria, "communicate_info"), items(criteria, "nl_assertions")]


def _simulation(simulation: Any, header: Header) -> Readings:
    task, trial = text(simulation, "task_id"), get(simulation, "trial")
    if task is None or not isinstance(trial, (int, type(None))):
        yield Reject(
            "not a simulation: no task_id, or a trial that is no number", str(simulation)[:200]
        )
        return
    info, rewards = header.info, fields(simulation, "reward_info")
    checks = {name: _checks(rewards.get(name), path) for name, path in CHECKS.items()}
    checked_task = _task_of(rewards, task, header)
    ended = text(simulation, "termination_reason")
    is_scored = ended != "infrastructure_error"
    value = {
        "_ng_task_index": task,
        "_ng_rollout_index": trial,
        "responses_create_params": without_empty(
            input=_question(info, header.tasks.get(checked_task)),
            model=header.model,
            temperature=number(info, "agent_info", "llm_args", "temperature"),
        ),
        "response": _response(simulation, header.model),
        # A part without checks means nothing.
        "reward_breakdown": {
            part: value
            for part, value in fields(rewards, "reward_breakdown").items()
            if rewards.get(BEHIND.get(part, ""), True)
        },
        "db_check": without_empty(db_match=get(rewards, "db_check", "db_match")),
        "reward_basis": rewards.get("reward_basis"),
        **checks,
        "finish_reason": _stop_reason(simulation),
        "termination_reason": ended,
        "error_message": text(rewards, "info", "note"),
        "review_agent_error": get(simulation, "review", "agent_error"),
        "review_user_error": get(simulation, "review", "user_error"),
        "user_cost": number(simulation, "user_cost"),
        "total_run_time": number(simulation, "duration"),
        "simulation_id": text(simulation, "id"),
        "criteria_of_task": checked_task if checked_task != task else None,
    }
    reward = number(rewards, "reward") if is_scored else None
    # A simulation that was cut off has a reward of 0 without a verdict.
    is_ungraded = rewards.get("reward_basis", ()) is None and not rewards.get("reward_breakdown")
    unknown = {"reward_breakdown": None} if is_ungraded else {}
    order = text(simulation, "start_time") or text(simulation, "timestamp")
    calls = _expected_calls(rewards, header.tasks.get(checked_task))
    yield Row(
        {
            **without_empty(value),
            **unknown,
            **({} if calls is None else {"expected_calls": calls}),
            "reward": reward,
        },
        benchmark=header.domain,
        order=order,
        limit_reached=ended if ended in CAPS else None,
    )


def _stop_reason(simulation: Any) -> str | None:
    answers = [one for one in items(simulation, "messages") if get(one, "role") == "assistant"]
    raw = get(answers, -1, "raw_data")
    paths = (("choices", 0, "finish_reason"), ("finish_reason",), ("stop_reason",))
    return next((reason for path in paths if (reason := text(raw, *path))), None)


def _response(simulation: Any, model: str | None) -> Object:
    messages = get(simulation, "messages")
    agent_messages = [one for one in items(messages) if get(one, "role") == "assistant"]
    usage = {
        "input_tokens": _sum(agent_messages, "prompt_tokens"),
        "output_tokens": _sum(agent_messages, "completion_tokens"),
        "cost": number(simulation, "agent_cost"),
    }
    response = without_empty(model=model, usage=without_empty(usage))
    if not isinstance(messages, list):
        return response | {"object": "response"}  # voice: ticks instead of messages
    return {**response, "output": [item for one in messages for item in _items(one)]}


def _sum(messages: list[Any], name: str) -> int | None:
    counts = [get(one, "usage", name) for one in messages]
    known = [one for one in counts if isinstance(one, int) and 0 <= one < 1 << 53]
    return sum(known) if known else None


def _expected_calls(rewards: Object, task: Any) -> list[Object] | None:
    """The checked actions, else those of the criteria; None if there are neither.

    If the evaluator notes that there was nothing to check, none is expected.
    """
    checks = rewards.get("action_checks")
    actions = get(task, "evaluation_criteria", "actions")
    if isinstance(checks, list):
        # An action that the evaluator accepted counts as made.
        other = {"same_state": True} if get(rewards, "db_check", "db_match") is True else {}
        return [
            _expected_call(fields(one, "action"))
            | ({"met": True} if get(one, "action_match") is True else other)
            for one in checks
        ]
    if get(rewards, "info", "action", "note") is not None:
        actions = []
    if not isinstance(actions, list):
        return None
    return [_expected_call(fields(action)) for action in actions]


def _expected_call(action: Object) -> Object:
    """An action with its relevant arguments; those of the simulated user have a prefix."""
    name = text(action, "name") or ""
    arguments, compared = fields(action, "arguments"), action.get("compare_args")
    if isinstance(compared, list):
        arguments = {key: value for key, value in arguments.items() if key in compared}
    by_user = action.get("requestor") == "user"
    return expected_call(f"user:{name}" if by_user else name, arguments)


def _task_of(rewards: Object, task: str, header: Header) -> str:
    """The task whose criteria were checked: the named one, unless they contradict it."""
    checked = [[get(one, *path) for one in items(rewards, name)] for name, path in OWN.items()]
    pairs = zip(OWN, checked, _criteria(header.tasks.get(task)), strict=True)
    if all(actual == wanted for name, actual, wanted in pairs if rewards.get(name) is not None):
        return task
    return header.by_criteria.get(as_json(checked)) or task


def _checks(listed: Any, path: tuple[str, ...]) -> list[Object]:
    """Checks with name, verdict and reason; actions with their expected arguments."""
    checks = []
    for one in items(listed):
        verdicts = (get(one, key) for key in ("action_match", "met") if key in fields(one))
        arguments = get(one, "action", "arguments")
        reason = text(one, "justification") or text(one, "reasoning")
        checks.append(
            without_empty(
                name=text(one, *path),
                met=next(verdicts, None),
                explanation=reason or (as_json(arguments) if arguments else None),
            )
        )
    return [entry for entry in checks if "name" in entry]


def _question(info: Any, task: Any) -> list[Object]:
    policy = text(info, "environment_info", "policy")
    instructions = get(task, "user_scenario", "instructions")
    parts = (
        [instructions]
        if isinstance(instructions, str)
        else [fields(instructions).get(name) for name in SCENARIO_FIELDS]
    )
    scenario = "\n\n".join(one for one in [*parts, get(task, "ticket")] if isinstance(one, str))
    messages = [("system", policy), ("user", scenario)]
    return [message(one, role) for role, one in messages if one] if scenario else []


def _items(turn: Any) -> Iterator[Object]:
    """Items of one message; tools of the simulated user have a prefix."""
    role, content = text(turn, "role") or "assistant", get(turn, "content")
    if role == "tool":
        answer = content if isinstance(content, str) else as_json(content)
        if get(turn, "error") is True:
            answer = as_json({"error": answer})
        yield result(answer, get(turn, "id"))
        return
    calls = items(turn, "tool_calls")
    if isinstance(content, str) and (content or (not calls and role == "assistant")):
        yield message(content, role)
    for one in calls:
        name = text(one, "name") or ""
        by_user = role == "user" or get(one, "requestor") == "user"
        yield call(f"user:{name}" if by_user else name, get(one, "arguments"), get(one, "id"))
