"""Terminal-Bench 1: results.json of a run, and of each of its trials.

The run's file repeats what its trials say. It is read, and of the trials only those that it lacks,
as those of a run that was killed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pipeline.artifact import Artifact, Kind, ListedFile
from pipeline.ingest.formats import (
    Claim,
    Reading,
    Reject,
    Row,
    counted,
    document,
    documents,
    expected,
    fields,
    figure,
    get,
    head,
    items,
    message,
    number,
    settings,
    text,
    told,
)
from pipeline.ingest.formats.atif import seconds

TITLE = "Terminal-Bench 1"
FILES = "`<run>/results.json`, `run_metadata.json`, `<task>/<trial>/results.json`"
SCORE = "`is_resolved` as 1 or 0; null is unscored. Each of `parser_results` is a check"
NOTES = (
    "No transcripts. `failure_mode` is a field of the outcome. Its own accuracy and pass@k count "
    "what has no verdict as unresolved."
)
NAMES = re.compile(r"(^|/)(results|run_metadata)\.json$")
NTH = re.compile(r"\.(\d{1,9})-of-\d+(\.|$)")
MARKS = (b'"is_resolved"', b'"trial_name"', b'"n_resolved"')
NO_FAILURE = ("none", "unset")
# What ended the agent was a cap on its time, its context or its output.
CAPS = frozenset({"agent_timeout", "context_length_exceeded", "output_length_exceeded"})


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Runs by their results, with the trials that they lack; a trial's folder is its own."""
    runs: dict[tuple[str, str], dict[str, ListedFile]] = defaultdict(dict)
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
        run = "/".join(file.folder.split("/")[:-2])
        stem = file.path.parents[2].name if len(file.path.parents) > 2 else "trials"
        runs[run, stem][file.folder] = file
    for (run, stem), held in runs.items():
        whole = held.pop("results.json", None)
        known = _trials(whole) if whole else set()
        about = metadata.get(run)
        beside = (about.path,) if about else ()
        place = run.rpartition("/")[0]
        for folder, file in held.items():
            kind = Kind.OTHER if file.path.parent.name in known else Kind.ROLLOUTS
            yield Claim(file, kind, place, stem, beside=beside, owns=folder)
        if whole:
            yield Claim(whole, Kind.ROLLOUTS, place, stem, beside=beside)
        if about:
            yield Claim(about, Kind.AGGREGATE_METRICS, place, stem)


def _trials(whole: ListedFile) -> set[str]:
    found = next(documents([whole.path]), None)
    return {name for one in items(get(found, "results")) if (name := text(get(one, "trial_name")))}


def read(artifact: Artifact) -> Iterator[Reading]:
    """Trials, and what a run says of them."""
    found = document(artifact.path)
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _about(found)
        return
    run = fields(next(documents(artifact.beside), None))
    listed = items(found["results"]) if "results" in found else [found]
    for one in listed:
        if text(get(one, "task_id")) and "is_resolved" in one:
            yield _row(one, run)
        else:
            yield Reject("no trial of Terminal-Bench: no task_id or no is_resolved", str(one)[:200])
    yield from _figures(found)


def _row(trial: dict[str, Any], run: dict[str, Any]) -> Row:
    model, agent = text(run.get("model_name")), text(run.get("agent_name"))
    nth = NTH.search(text(trial.get("trial_name")) or "")
    verdict = trial.get("is_resolved")
    failure = text(trial.get("failure_mode"))
    failure = None if failure in NO_FAILURE else failure
    reward = number(verdict) if isinstance(verdict, bool) else None
    usage = {
        "input_tokens": number(trial.get("total_input_tokens")),
        "output_tokens": number(trial.get("total_output_tokens")),
    }
    spans = [
        seconds(trial.get(f"{name}_started_at"), trial.get(f"{name}_ended_at"))
        for name in ("agent", "trial")
    ]
    row = {
        "_ng_task_index": text(trial.get("task_id")),
        "_ng_rollout_index": max(0, int(nth[1]) - 1) if nth else None,
        "agent_ref": told({"name": agent}),
        "responses_create_params": told(
            {"input": [message(text(trial.get("instruction")) or "", "user")], "model": model}
        ),
        # Nothing says what was done: a response with no items would say that nothing was.
        "response": {"object": "response", "usage": spent} if (spent := told(usage)) else None,
        "parser_results": fields(trial.get("parser_results")),
        "failure_mode": failure,
        "error_type": failure if reward is None else None,
        "total_run_time": next((span for span in spans if span is not None), None),
        "trial_name": text(trial.get("trial_name")),
    }
    cap = failure if failure in CAPS else None
    value = {"reward": reward, **told(row)}
    # An attempt that was never graded says so.
    if "parser_results" in trial and trial["parser_results"] is None:
        value["parser_results"] = None
    return Row(value, benchmark=_dataset(run), limit_reached=cap)


def _dataset(run: dict[str, Any]) -> str | None:
    name, version = text(run.get("dataset_name")), text(run.get("dataset_version"))
    return f"{name}-{version}" if name and version else name


def _about(found: dict[str, Any]) -> Iterator[Reading]:
    """Settings of a run, what it was asked for, and its figures once more."""
    n_attempts = found.get("n_attempts")
    n_attempts = n_attempts if isinstance(n_attempts, int) and n_attempts > 0 else 1
    yield from settings({"model_name": found.get("model_name"), "num_repeats": n_attempts})
    tasks = [task for one in items(found.get("task_ids")) if (task := text(one))]
    yield from expected(tasks, n_attempts)
    if tasks:
        yield counted("task_ids x n_attempts", len(tasks) * n_attempts, "num_rollouts")
    yield from _figures(found)


def _figures(found: dict[str, Any]) -> Iterator[Reading]:
    """What has no verdict counts as unresolved."""
    if number(found.get("accuracy")) is not None:
        yield figure("accuracy", found["accuracy"], "filled_mean/reward")
    for k, value in fields(found.get("pass_at_k")).items():
        yield figure(f"pass_at_k/{k}", value, f"pass@{k}/filled_reward", scale=0.01)
