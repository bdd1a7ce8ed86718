"""Terminal-Bench 1: results.json of a run, and of each of its trials.

The run's file repeats what its trials say. It is read, and of the trials only those that it lacks,
as those of a run that was killed. Runs that were started once per task are one.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

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
    counted,
    document,
    expected,
    fields,
    figure,
    gym_row,
    head,
    items,
    message,
    number,
    readable,
    result,
    settings,
    text,
    without_empty,
)
from .atif import seconds

TITLE = "Terminal-Bench 1"
FILES = (
    "`<run>/results.json`, `run_metadata.json`, `<task>/<trial>/results.json` and "
    "`<task>/<trial>/panes/post-agent.txt`"
)
GIVES = "checks tokens durations"
SCORE = "`is_resolved` as 1 or 0; null is unscored. Each of `parser_results` is a check"
NOTES = (
    "No transcripts: of the agent's terminal the last 4,000 characters are an event, and the last "
    "line is `terminal_last_line`. `failure_mode` is a field of the outcome. Its own accuracy and "
    "pass@k count what has no verdict as unresolved. Runs of one task each whose "
    "`run_metadata.json` differ in nothing but task, time, place and figures are one run, unless "
    "two are of the same task; their own figures are not those of the run. A dataset without a "
    "name is named by its folder."
)
NAMES = re.compile(r"(\.json|(^|/)panes/post-agent\.txt)$")
# The results and the metadata of a run that somebody gave other names.
OTHER_NAME = re.compile(r"(?P<name>.+?)([-_.](run[-_.]?)?meta(data)?)?\.json")
# How these begin, and the names that follow.
FIRST_OF_RUN = {
    "results": (
        re.compile(rb'\s*\{\s*"id"\s*:\s*"[^"]*",\s*"results"\s*:\s*\[\s*\{'),
        ("trial_name",),
    ),
    "metadata": (re.compile(rb'\s*\{\s*"run_id"\s*:'), ("dataset_name", "agent_name")),
}
NTH = re.compile(r"\.(\d{1,9})-of-\d+(\.|$)")
MARKS = (b'"is_resolved"', b'"trial_name"', b'"n_resolved"')
# What is of one start of the harness, not of its settings.
OF_ONE_START = frozenset(
    "run_id uuid output_path task_ids n_tasks dataset_size accuracy pass_at_k start_time end_time "
    "resumed_at".split()
)
# Names of folders of tasks that do not say which tasks these are; the folder above may.
PLAIN_FOLDERS = frozenset({"tasks", "original-tasks"})
NO_FAILURE = ("none", "unset")
# What ended the agent was a cap on its time, its context or its output.
CAPS = frozenset({"agent_timeout", "context_length_exceeded", "output_length_exceeded"})
# Of the end of an agent's terminal so many bytes are read, and so many characters used.
END_BYTES = 16_000
MOST_CHARACTERS = 4_000
LONGEST_LINE = 200
CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
PROMPT = re.compile(r"(\([^\s()]+\) )?\S*[$#]")


def claims(files: Files) -> Claims:
    runs: dict[tuple[str, str], dict[str, ListedFile]] = defaultdict(dict)
    panes = {
        file.folder.removesuffix("/panes"): file.path
        for file in files
        if file.base == "post-agent.txt" and not file.skipped
    }
    trials = []
    metadata = {
        file.folder: file
        for file in files
        if file.base == "run_metadata.json" and b'"agent_name"' in head(file.path)
    }
    for file in files:
        if file.base != "results.json":
            continue
        begun = head(file.path)
        is_ours = any(mark in begun for mark in MARKS)
        if file.folder in metadata or (is_ours and b'"results"' in begun):
            runs[file.folder, file.path.parent.name]["results.json"] = file
        elif is_ours:
            trials.append(file)
    for file in trials:
        run = _run(file.folder)
        stem = file.path.parents[2].name if len(file.path.parents) > 2 else "trials"
        runs[run, stem][file.folder] = file
    yield from _renamed(files)
    parts = _runs_of_one_task(metadata)
    for (run, stem), files_of_run in runs.items():
        whole = files_of_run.pop("results.json", None)
        known = _trials(whole)
        about = metadata.get(run)
        # Its own metadata first, then those of the other parts.
        beside = [about.path] if about else []
        name = (run.rpartition("/")[0], stem, "")
        if run in parts:
            beside += [metadata[one].path for one in parts[run] if one != run]
            name = _name_of_parts(parts[run])
        for folder, file in files_of_run.items():
            kind = Kind.OTHER if file.path.parent.name in known else Kind.ROLLOUTS
            pane = (panes[folder],) if folder in panes else ()
            yield Claim(file, kind, *name, beside=(*beside, *pane), owns=folder)
        if whole:
            own = [path for trial, path in panes.items() if _run(trial) == run]
            yield Claim(whole, Kind.ROLLOUTS, *name, beside=(*beside, *own))
        if about:
            yield Claim(about, Kind.AGGREGATE_METRICS, *name, beside=tuple(beside))


def _renamed(files: Files) -> Claims:
    """Runs whose results, and metadata beside them, have names of their own."""
    runs: dict[tuple[str, str], dict[str, ListedFile]] = defaultdict(dict)
    for file in files:
        named = OTHER_NAME.fullmatch(file.base)
        if named is None or file.base in ("results.json", "run_metadata.json"):
            continue
        begun = head(file.path)
        for what, (first, names) in FIRST_OF_RUN.items():
            if first.match(begun) and all(f'"{name}"'.encode() in begun for name in names):
                runs[file.folder, named["name"]].setdefault(what, file)
    for (folder, name), of_run in runs.items():
        if "results" in of_run:
            beside = tuple(file.path for what, file in of_run.items() if what == "metadata")
            for what, file in of_run.items():
                kind = Kind.ROLLOUTS if what == "results" else Kind.AGGREGATE_METRICS
                yield Claim(file, kind, folder, name, beside=beside)


def _runs_of_one_task(metadata: Mapping[str, ListedFile]) -> dict[str, list[str]]:
    """By folder, the folders of all runs that one was started in parts with, a task each."""
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for folder, file in sorted(metadata.items()):
        run = fields(readable(file.path))
        tasks = items(run, "task_ids")
        if len(tasks) == 1 and (task := text(tasks[0])):
            same = {name: value for name, value in run.items() if name not in OF_ONE_START}
            groups[as_json(sorted(same.items()))][task].append(folder)
    return {
        folder: folders
        for of_task in groups.values()
        # Of one task twice nothing says which repeat belongs with which.
        if len(folders := [one for runs in of_task.values() for one in runs]) == len(of_task) > 1
        for folder in folders
    }


def _name_of_parts(folders: Sequence[str]) -> tuple[str, str, str]:
    """The common folder of the parts of a run, their common name or the folder's, and a mark."""
    above = os.path.commonpath(folders)
    names = {PurePath(folder).name.strip() for folder in folders}
    name = names.pop() if len(names) == 1 else PurePath(above).name or "runs"
    return above, name, min(folders).removeprefix(f"{above}/")


def _run(trial: str) -> str:
    return "/".join(trial.split("/")[:-2])


def _trials(whole: ListedFile | None) -> set[str | None]:
    listed = items(readable(whole.path), "results") if whole else ()
    return {text(one, "trial_name") for one in listed} - {None}


def read(artifact: Artifact) -> Readings:
    results = document(artifact.path)
    if not isinstance(results, dict):
        raise ValueError("not a JSON object")
    # What one of several parts published is not of the run.
    metadata = [path for path in artifact.beside if path.suffix == ".json"]
    is_whole = len(metadata) < 2
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _about(results, is_whole=is_whole)
        return
    run = fields(readable(*metadata))
    panes = {path.parents[1].name: path for path in artifact.beside if path.suffix == ".txt"}
    listed = items(results["results"]) if "results" in results else [results]
    for one in listed:
        if text(one, "task_id") and "is_resolved" in one:
            pane = panes.get(text(one, "trial_name") or "")
            yield _row(one, run, _shown_last(pane) if pane else "")
        else:
            yield Reject("no trial of Terminal-Bench: no task_id or no is_resolved", str(one)[:200])
    if is_whole:
        yield from _figures(results)


def _shown_last(pane: Path) -> str:
    """The last output in a terminal, without control codes; empty if it cannot be read."""
    try:
        with pane.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - END_BYTES))
            shown = CONTROL.sub("", file.read(END_BYTES).decode("utf-8", "replace"))
    except OSError:
        return ""
    lines = [line.rstrip() for line in shown.splitlines()]
    while lines and (not lines[-1] or PROMPT.fullmatch(lines[-1].strip())):
        lines.pop()
    return "\n".join(lines)[-MOST_CHARACTERS:]


def _row(trial: Object, run: Object, shown: str) -> Row:
    model = text(run, "model_name")
    nth = NTH.search(text(trial, "trial_name") or "")
    verdict = trial.get("is_resolved")
    failure = text(trial, "failure_mode")
    failure = None if failure in NO_FAILURE else failure
    reward = number(verdict) if isinstance(verdict, bool) else None
    spans = [
        seconds(trial.get(f"{name}_started_at"), trial.get(f"{name}_ended_at"))
        for name in ("agent", "trial")
    ]
    # There is no transcript: an empty output would mean that nothing was done.
    response = without_empty(
        usage=without_empty(
            input_tokens=number(trial, "total_input_tokens"),
            output_tokens=number(trial, "total_output_tokens"),
        ),
        output=[result(shown, None)] if shown else None,
    )
    row = gym_row(
        text(trial, "task_id"),
        reward,
        repeat=max(0, int(nth[1]) - 1) if nth else None,
        agent=text(run, "agent_name"),
        request={
            "input": [message(text(trial, "instruction") or "", "user")],
            "model": model,
        },
        response=response or None,
        parser_results=fields(trial, "parser_results"),
        failure_mode=failure,
        error_type=failure if reward is None else None,
        total_run_time=next((span for span in spans if span is not None), None),
        terminal_last_line=shown.rpartition("\n")[2].strip()[:LONGEST_LINE] or None,
        trial_name=text(trial, "trial_name"),
    )
    # An attempt that was never graded has null here.
    if "parser_results" in trial and trial["parser_results"] is None:
        row["parser_results"] = None
    return Row(row, benchmark=_dataset(run), limit_reached=failure if failure in CAPS else None)


def _dataset(run: Object) -> str | None:
    name, version = text(run, "dataset_name"), text(run, "dataset_version")
    folders = re.split(r"[/\\]", text(run, "dataset_path") or "")
    of_path = next((one for one in reversed(folders) if one and one not in PLAIN_FOLDERS), None)
    return f"{name}-{version}" if name and version else name or of_path


def _about(metadata: Object, *, is_whole: bool) -> Readings:
    n_attempts = metadata.get("n_attempts")
    n_attempts = n_attempts if isinstance(n_attempts, int) and n_attempts > 0 else 1
    known = {
        "model_name": metadata.get("model_name"),
        "num_repeats": n_attempts,
        "commit": metadata.get("commit_hash"),
        "n_concurrent_trials": metadata.get("n_concurrent_trials"),
    }
    yield from settings(without_empty(known))
    tasks = [task for one in items(metadata, "task_ids") if (task := text(one))]
    yield from expected(tasks, n_attempts)
    if not is_whole:
        return
    if tasks:
        yield counted("task_ids x n_attempts", len(tasks) * n_attempts, "num_rollouts")
    yield from _figures(metadata)


def _figures(results: Object) -> Readings:
    """Figures that count a trial without a verdict as unresolved."""
    if number(results, "accuracy") is not None:
        yield figure("accuracy", results["accuracy"], "filled_mean/reward")
    for k, value in fields(results, "pass_at_k").items():
        yield figure(f"pass_at_k/{k}", value, f"pass@{k}/filled_reward", scale=0.01)
