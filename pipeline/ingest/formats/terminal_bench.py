"""Terminal-Bench 1: results.json of a run, and of each of its trials.

The run's file repeats what its trials say. It is read, and of the trials only those that it lacks,
as those of a run that was killed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    OTHER_ROWS,
    Claim,
    Expected,
    Figure,
    Reading,
    Reject,
    Row,
    Setting,
    document,
    fields,
    get,
    head,
    items,
    message,
    number,
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
MOST_EXPECTED = 1_000_000


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Runs by their results, with the trials that they lack; a trial's folder is its own."""
    runs: dict[tuple[str, str], dict[str, Found]] = defaultdict(dict)
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


def _trials(whole: Found) -> set[str]:
    try:
        results = items(get(document(whole.path), "results"))
    except ValueError:
        return set()
    return {name for one in results if (name := text(get(one, "trial_name")))}


def read(artifact: Artifact) -> Iterator[Reading]:
    """Trials, and what a run says of them."""
    found = document(artifact.path)
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _about(found)
        return
    run = _metadata(artifact)
    listed = items(found["results"]) if "results" in found else [found]
    for one in listed:
        if text(get(one, "task_id")) and "is_resolved" in one:
            yield _row(one, run)
        else:
            yield Reject("no trial of Terminal-Bench: no task_id or no is_resolved", str(one)[:200])
    yield from _figures(found)


def _metadata(artifact: Artifact) -> dict[str, Any]:
    for path in artifact.beside:
        try:
            return fields(document(path))
        except ValueError:
            continue  # its own reject says so
    return {}


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
        "response": {"object": "response", "usage": counted} if (counted := told(usage)) else None,
        "parser_results": fields(trial.get("parser_results")),
        "failure_mode": failure,
        "error_type": failure if reward is None else None,
        "total_run_time": next((span for span in spans if span is not None), None),
        "trial_name": text(trial.get("trial_name")),
    }
    return Row({"reward": reward, **told(row)}, benchmark=_dataset(run))


def _dataset(run: dict[str, Any]) -> str | None:
    name, version = text(run.get("dataset_name")), text(run.get("dataset_version"))
    return f"{name}-{version}" if name and version else name


def _about(found: dict[str, Any]) -> Iterator[Reading]:
    """Settings of a run, what it was asked for, and its figures once more."""
    if model := text(found.get("model_name")):
        yield Setting("model_name", model)
    n_attempts = found.get("n_attempts")
    n_attempts = n_attempts if isinstance(n_attempts, int) and n_attempts > 0 else 1
    yield Setting("num_repeats", str(n_attempts))
    tasks = [task for one in items(found.get("task_ids")) if (task := text(one))]
    if len(tasks) * n_attempts <= MOST_EXPECTED:
        for task in tasks:
            for repeat in range(n_attempts):
                yield Expected(task, repeat)
    if n_expected := len(tasks) * n_attempts:
        name, means = "task_ids x n_attempts", "num_rollouts"
        yield Figure(None, None, None, name, number(n_expected), None, means, reason=OTHER_ROWS)
    yield from _figures(found)


def _figures(found: dict[str, Any]) -> Iterator[Figure]:
    """What has no verdict counts as unresolved."""
    if (accuracy := number(found.get("accuracy"))) is not None:
        yield Figure(None, None, None, "accuracy", accuracy, None, "filled_mean/reward")
    for k, value in fields(found.get("pass_at_k")).items():
        name = f"pass_at_k/{k}"
        yield Figure(None, None, None, name, number(value), None, f"pass@{k}/filled_reward", 0.01)
