"""One trial of a Harbor job -> one row: its reward, its transcript, its tests, how it ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact
from pipeline.ingest.formats import (
    Reading,
    Reject,
    Row,
    atif,
    document,
    fields,
    get,
    items,
    number,
    scores_of,
    text,
    told,
)

# Folders of tasks that say nothing of the benchmark: the one above may.
PLAIN_FOLDERS = frozenset("task tasks dataset datasets harbor harbor_tasks harbor-tasks".split())
MOST_TESTS = 500
LOG_BYTES = 4000
USAGE = {
    "input_tokens": "n_input_tokens",
    "output_tokens": "n_output_tokens",
    "cached_tokens": "n_cache_tokens",
    "cost": "cost_usd",
}


def task_and_variant(found: dict[str, Any]) -> tuple[str | None, str, str | None]:
    """Task, what tells the run from others of its job, and dataset, of a result or a config.

    Agent and model are those asked for: a trial without a result knows no others.
    """
    config = fields(found.get("config")) or found
    agent, info = fields(config.get("agent")), fields(found.get("agent_info"))
    task = text(found.get("task_name")) or text(get(config, "task", "name"))
    task = task or (text(get(config, "task", "path")) or "").rstrip("/").rpartition("/")[2]
    source = text(found.get("source")) or text(get(config, "task", "source"))
    parts = (
        text(agent.get("name")) or text(agent.get("import_path")) or text(info.get("name")),
        text(agent.get("model_name")) or text(get(info, "model_info", "name")),
        source or "adhoc",
    )
    return task or None, "-".join(part for part in parts if part), source


def trial(artifact: Artifact) -> Iterator[Reading]:
    """The row of a trial, and what of its files cannot be read."""
    found = document(artifact.path)
    task, variant, source = task_and_variant(fields(found))
    if not task:
        raise ValueError("no trial of Harbor: it names no task")
    steps = [step for step in items(found.get("step_results")) if isinstance(step, dict)]
    told_in, rejects = _transcripts(artifact, [text(step.get("step_name")) for step in steps])
    usage = _usage([fields(one.get("agent_result")) for one in (found, *steps)])
    model = _model(found)
    checksum = text(found.get("task_checksum"))
    asked = told_in[0].asked if told_in else None
    ran = fields(found.get("agent_execution")) or found
    is_ended = artifact.path.name == "result.json"
    ended = _exception([found, *steps])
    response = atif.response(told_in, usage or _usage_of(told_in), model)
    # ApiError and its kinds: the call of the model failed.
    if (ended.get("exception_type") or "").startswith("Api"):
        response |= {"object": "response", "error": {"message": ended["error_message"]}}
    row = {
        "_ng_task_index": task,
        "agent_ref": told({"name": text(get(found, "agent_info", "name"))}),
        "responses_create_params": told({"input": asked, "model": model}),
        "response": response,
        **_scores(found, steps),
        **_tests(artifact),
        **ended,
        "trial_state": None if is_ended else "no result: killed, or still running",
        "total_run_time": atif.seconds(ran.get("started_at"), ran.get("finished_at")),
        "trial_name": text(found.get("trial_name")),
        "task_checksum": checksum,
        "agent_version": text(get(found, "agent_info", "version")),
    }
    yield Row(
        {"reward": None, **told(row)},
        variant=variant,
        benchmark=_benchmark(found, source),
        order=text(found.get("started_at")) or "~",
        question=checksum,
    )
    yield from rejects


def _benchmark(found: dict[str, Any], source: str | None) -> str | None:
    """The dataset; of tasks in a folder of ours Harbor gives that folder's name for it."""
    if source is None or source.lower() not in PLAIN_FOLDERS:
        return source
    folders = (text(get(fields(found.get("config")) or found, "task", "path")) or "").split("/")
    telling = [
        name for name in folders[:-1] if name.strip(".") and name.lower() not in PLAIN_FOLDERS
    ]
    return telling[-1] if telling else None


def _model(found: dict[str, Any]) -> str | None:
    info = fields(get(found, "agent_info", "model_info"))
    named = [name for key in ("provider", "name") if (name := text(info.get(key)))]
    asked_for = get(fields(found.get("config")) or found, "agent", "model_name")
    return "/".join(named) or text(asked_for)


def _scores(found: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The reward as Harbor takes it for its mean; all rewards, of the trial and of its steps."""
    rewards = fields(get(found, "verifier_result", "rewards"))
    chosen = next(iter(rewards)) if len(rewards) == 1 else "reward"
    named = dict(rewards)
    for step in steps:
        for name, value in fields(get(step, "verifier_result", "rewards")).items():
            named[f"{text(step.get('step_name')) or 'step'}.{name}"] = value
    scores = [{"name": name, "score": number(value)} for name, value in named.items()]
    return {"reward": number(rewards.get(chosen)), **scores_of(scores, chosen)}


def _exception(ended: list[dict[str, Any]]) -> dict[str, Any]:
    """What ended the trial, or the first of its steps that one did."""
    for one in ended:
        if info := fields(one.get("exception_info")):
            kind = text(info.get("exception_type"))
            said = [part for part in (kind, text(info.get("exception_message"))) if part]
            return {"exception_type": kind, "error_message": ": ".join(said) or None}
    return {}


def _transcripts(
    artifact: Artifact, steps: list[str | None]
) -> tuple[list[atif.Transcript], list[Reject]]:
    """The trajectory of a trial, or one for each of its steps, in their order; and what is none."""
    by_place: dict[Path, list[Any]] = defaultdict(list)
    rejects = []
    for path in artifact.beside:
        if path.name.startswith("trajectory"):
            try:
                found = atif.trajectory(path)
            except ValueError as error:
                rejects.append(Reject(f"{'/'.join(path.parts[-2:])}: {error}"))
            else:
                by_place[path.parent].append(found)
    rank = {name: place for place, name in enumerate(steps)}
    places = sorted(by_place, key=lambda place: (rank.get(place.parent.name, -1), str(place)))
    return [atif.transcript(by_place[place]) for place in places], rejects


def _usage(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Tokens and cost of the trial; where it gives none, the sums over its steps."""
    found: dict[str, Any] = {}
    for name, theirs in USAGE.items():
        own, *of_steps = [number(one.get(theirs)) for one in results]
        known = [value for value in of_steps if value is not None]
        value = sum(known) if own is None and known else own
        found[name] = int(value) if value is not None and name != "cost" else value
    return told(found)


def _usage_of(told_in: list[atif.Transcript]) -> dict[str, Any]:
    return told_in[0].usage if len(told_in) == 1 else {}


def _tests(artifact: Artifact) -> dict[str, Any]:
    """Tests by name where a report lists them, else the end of what they printed."""
    found: list[dict[str, Any]] = []
    printed = None
    for path in artifact.beside:
        try:
            if path.name == "ctrf.json":
                found += [
                    told({key: text(get(test, key)) for key in ("name", "status", "message")})
                    for test in items(get(document(path), "results", "tests"))[:MOST_TESTS]
                ]
            elif path.suffix == ".txt":
                with path.open("rb") as file:
                    file.seek(max(0, path.stat().st_size - LOG_BYTES))
                    printed = file.read().decode("utf-8", "replace").strip() or None
        except (OSError, ValueError):
            continue  # the verdict stands without them
    return {"tests": found, "test_stdout": None if found else printed}
