"""OSWorld: a folder per task, with the steps of its attempt and the result of its evaluation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Claims,
    Files,
    Line,
    Object,
    Readings,
    Reject,
    Row,
    as_json,
    attempt,
    call,
    document,
    documents,
    fields,
    get,
    head,
    message,
    number,
    objects,
    picked,
    result,
    settings,
    text,
)
from .chat import words

TITLE = "OSWorld"
FILES = (
    "`<action_space>/<observation_type>/<model>/<domain>/<example_id>/` with `traj.jsonl` and "
    "`result.txt`; the model's `args.json`"
)
GIVES = "transcript durations"
SCORE = "the number in `result.txt`, which may be a part of 1; without one an attempt is unscored"
NOTES = (
    "One run per folder of a model. The domain is a slice. The instructions are not recorded: "
    "tasks are compared by their ids. Each action is a call; a response logged as `none` or `null` "
    "is no message. Screenshots are not read."
)
NAMES = re.compile(r"(^|/)(traj\.jsonl|result\.txt|args\.json)$")
TRAJECTORY, RESULT, ARGUMENTS = "traj.jsonl", "result.txt", "args.json"
# The first line of a trajectory: a step, or the error of an attempt without any.
BEGUN = re.compile(rb'\s*\{\s*("Error"\s*:|"step_num"\s*:\s*\d)')
OBSERVATIONS = frozenset("screenshot a11y_tree screenshot_a11y_tree som".split())
SETTINGS = (
    "model action_space observation_type max_steps max_trajectory_length temperature top_p "
    "max_tokens"
).split()
# Code names what it calls, as `pyautogui.click(1, 2)`; other actions are one word.
CALLED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+(?=\s*\()")
WORD = re.compile(r"\w+")
ENDINGS = ("DONE", "FAIL")
NO_RESPONSE = frozenset({"", "none", "null"})
CAP = "Time limit exceeded"
LONGEST_RESULT = 200


def claims(files: Files) -> Claims:
    by_folder: dict[str, dict[str, ListedFile]] = defaultdict(dict)
    for file in files:
        by_folder[file.folder][file.base] = file
    runs = {
        _run(file)
        for file in files
        if file.base == TRAJECTORY and BEGUN.match(head(file.path))
        if len(file.path.parents) > 2
    }
    for folder, here in by_folder.items():
        known = [here[name] for name in (TRAJECTORY, RESULT) if name in here]
        if not known or (path := _run(known[0])) not in runs:
            continue
        run = _named(path, folder.split("/")[:-3])
        arguments = [path / ARGUMENTS] if (path / ARGUMENTS).is_file() else []
        beside = (*(one.path for one in known[1:]), *arguments)
        yield Claim(known[0], Kind.ROLLOUTS, *run, beside=beside, owns=folder)
        for one in known[1:]:
            yield Claim(one, Kind.OTHER, *run, owns=folder)
    for folder, here in by_folder.items():
        if ARGUMENTS in here and (path := here[ARGUMENTS].path.parent) in runs:
            run = _named(path, folder.split("/")[:-1])
            yield Claim(here[ARGUMENTS], Kind.AGGREGATE_METRICS, *run)


def _run(file: ListedFile) -> Path:
    return file.path.parent.parent.parent


def _named(model: Path, folders: list[str]) -> tuple[str, str, str]:
    """The folder and name of a run; its spaces distinguish it only from others of its model."""
    last = len(folders) - 1
    place = next((n for n in (last, last - 1) if n >= 0 and folders[n] in OBSERVATIONS), None)
    if place is not None:
        folders = [*folders[: max(place - 1, 0)], *folders[place + 1 :]]
    return "/".join(folders), model.name, "-".join(_spaces(model).values())


def _spaces(model: Path) -> dict[str, str]:
    """What the folders above the model are named by, some of which have its organization below."""
    observation = next((one for one in model.parents[:2] if one.name in OBSERVATIONS), None)
    if observation is None:
        return {}
    return {"action_space": observation.parent.name, "observation_type": observation.name}


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        arguments = document(artifact.path)
        yield from settings(picked(arguments, *SETTINGS))
        return
    if not artifact.beside or artifact.beside[-1].name != ARGUMENTS:
        yield from settings(_spaces(artifact.path.parents[2]))
    if artifact.path.name == TRAJECTORY:
        lines = list(objects(artifact.path))
        # The attempt has the number of its first step; the others belong to it.
        first = next((n for n, one in enumerate(lines) if isinstance(one, dict)), None)
        for place, one in enumerate(lines):
            if place == first:
                yield _row(artifact, [each for each in lines if isinstance(each, dict)])
            else:
                yield Line() if isinstance(one, dict) else one
        if first is None:
            yield _row(artifact, [])
    else:
        yield _row(artifact, None)
    if (written := _result(artifact)) and number(written) is None:
        yield Reject(f"{RESULT} has no number", written)


def _result(artifact: Artifact) -> str:
    path = next((path for path in (artifact.path, *artifact.beside) if path.name == RESULT), None)
    return head(path, LONGEST_RESULT).decode("utf-8", "replace").strip() if path else ""


def _row(artifact: Artifact, recorded: list[Object] | None) -> Row:
    folder = artifact.path.parent
    arguments = fields(next(documents(p for p in artifact.beside if p.name == ARGUMENTS), None))
    steps = [one for one in recorded or [] if "step_num" in one]
    written = [text(one, "Error") for one in recorded or []]
    errors = [_error(error, folder) for error in written if error]
    last = steps[-1] if steps else {}
    final_action = _name(last.get("action"))
    row = attempt(
        folder.name,
        None,
        None if recorded is None else list(_items(steps)),
        {"result": number(_result(artifact))},
        "result",
        model=folder.parent.parent.name,
        error_message="\n".join(errors) or None,
        n_steps=len({text(one["step_num"]) for one in steps}) if steps else None,
        finish_reason=final_action if final_action in ENDINGS else None,
        total_run_time=_seconds(steps),
        metadata={"domain": folder.parent.name},
    )
    cap = CAP if any(error.startswith(CAP) for error in errors) else None
    most, n_last = number(arguments, "max_steps"), number(last, "step_num")
    is_ended = bool(errors) or last.get("done") is True or final_action in ENDINGS
    if most and n_last and n_last >= most and not is_ended:
        cap = "max_steps"
    return Row(row, benchmark="osworld", question=folder.name, limit_reached=cap)


def _error(written: str, folder: Path) -> str:
    """An error without the attempt's own folders before it; of a missing key the key alone."""
    error = written.removeprefix(f"{folder.parent.name}/{folder.name} - ")
    key = re.fullmatch(r"'(\w+)'", error)
    return key[1] if key else error


def _items(steps: Iterable[Object]) -> Iterator[Object]:
    """What the model wrote in each step, its actions, and what the environment gave back.

    A response may have several actions: it is repeated with each.
    """
    last: tuple[str | None, str] = (None, "")
    for place, step in enumerate(steps):
        response = step.get("response")
        written = words(response) or ("" if response in (None, "", [], {}) else as_json(response))
        # Agents log a response that they could not read as this.
        written = "" if written.strip().lower() in NO_RESPONSE else written
        current = (text(step["step_num"]), written)
        if written and current != last:
            yield message(written)
        last = current
        action = step.get("action")
        if action not in (None, "", {}, []):
            yield call(_name(action), _arguments(action), f"step-{place}")
            returned = {name: step.get(name) for name in ("done", "info") if step.get(name)}
            yield result(as_json(returned) if returned else "", f"step-{place}")


def _name(action: Any) -> str:
    """What an action is called: by its code, or in the fields of an object."""
    if isinstance(action, str):
        named = CALLED.search(action) or WORD.search(action)
        return named[0] if named else "action"
    named_by = (text(action, name) for name in ("action_type", "name", "action"))
    return next(filter(None, named_by), "action")


def _arguments(action: Any) -> Any:
    parameters = get(action, "parameters") or get(action, "input")
    return parameters if isinstance(parameters, dict) else {"action": action}


def _seconds(steps: Sequence[Object]) -> float | None:
    times = [time for one in steps if (time := _time(text(one, "action_timestamp") or ""))]
    return (times[-1] - times[0]).total_seconds() if len(times) > 1 else None


def _time(written: str) -> datetime | None:
    """A time as `20250902@130158`, in newer versions with fractions of the second."""
    is_whole = len(written) == len("20250902@130158")
    try:
        return datetime.strptime(written, "%Y%m%d@%H%M%S" if is_whole else "%Y%m%d@%H%M%S%f")
    except ValueError:
        return None
