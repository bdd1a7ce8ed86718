"""Harbor: a folder per job with a folder per trial.

A run is what one agent with one model did of one dataset in a job. A trial without a result was
killed or goes on still: it is an attempt without a score.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Kind, ListedFile
from pipeline.ingest.formats import (
    MOST_EXPECTED,
    OTHER_ROWS,
    Claim,
    Reading,
    Reject,
    Row,
    Setting,
    atif,
    document,
    documents,
    expected,
    fields,
    figure,
    get,
    head,
    home,
    items,
    number,
    scores_of,
    text,
    told,
    total,
)

TITLE = "Harbor"
FILES = (
    "`<job>/<trial>/result.json` with `agent/trajectory.json` and `verifier/ctrf.json`; the job's "
    "`result.json`, `config.json`, `lock.json`"
)
SCORE = (
    "the only reward of the trial, else the one called `reward`; all of them, and those of steps, "
    "are checks, as are tests"
)
NOTES = (
    "One run per job, agent, model and dataset; attempts at a task in the order they began. Tasks "
    "are the same where their checksums are. A trial without a result is unscored. Harbor's own "
    "mean and pass@k count an unscored trial as 0. A folder called `tasks` names no benchmark."
)
NAMES = re.compile(r"\.json$|/verifier/test-stdout\.txt$")
OF_A_TRIAL = re.compile(
    r"(^|/)(agent/trajectory(\.cont-\d{1,9})?\.json|verifier/([^/]+\.json|test-stdout\.txt))$"
)
TRIAL_FILES = ("result.json", "config.json")
FEW_BYTES = 4096
# Where trials have several rewards, means have the names of these.
MEANS = {"mean": "filled_mean/reward", "reward": "filled_mean/reward"}
OF_SEVERAL = "how it counts trials without that reward is not recorded"
ONGOING = ("n_running_trials", "n_pending_trials", "n_cancelled_trials")
# Folders of tasks that say nothing of the benchmark: the one above may.
PLAIN_FOLDERS = frozenset("task tasks dataset datasets harbor harbor_tasks harbor-tasks".split())
# What ended the agent was a cap on its time; other timeouts are those of its setting up or judging.
CAPS = frozenset({"AgentTimeoutError"})
MOST_TESTS = 500
# Documents of the verifier that Harbor itself reads; any other is its task's own.
OWN_FILES = frozenset({"ctrf.json", "reward.json"})
MOST_DOCUMENT = 256 << 10
LOG_BYTES = 4000
USAGE = {
    "input_tokens": "n_input_tokens",
    "output_tokens": "n_output_tokens",
    "cached_tokens": "n_cache_tokens",
    "cost": "cost_usd",
}


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Trials by what stands in their results or configs, jobs by their trials."""
    by_folder: dict[str, dict[str, ListedFile]] = defaultdict(dict)
    for file in files:
        by_folder[file.folder][file.base] = file
    trials = {folder: one for folder, held in by_folder.items() if (one := _trial_file(held))}
    inside: dict[str | None, list[ListedFile]] = defaultdict(list)
    for file in files:
        if OF_A_TRIAL.search(file.name):
            inside[home(file.name, trials)].append(file)
    jobs = defaultdict(list)
    for folder, file in trials.items():
        job, stem = _up(folder), file.path.parent.parent.name
        jobs[job, stem].append(file)
        beside = tuple(other.path for other in sorted(inside[folder], key=atif.part))
        yield Claim(file, Kind.ROLLOUTS, _up(job), stem, beside=beside, owns=folder)
    for (job, stem), held in jobs.items():
        for name in TRIAL_FILES if job not in trials else ():
            if name in by_folder[job]:
                lock = [one for base, one in by_folder[job].items() if base == "lock.json"]
                beside = tuple(other.path for other in (*held, *lock))
                own = by_folder[job][name]
                yield Claim(own, Kind.AGGREGATE_METRICS, _up(job), stem, beside=beside)


def _trial_file(held: dict[str, ListedFile]) -> ListedFile | None:
    """The result of a trial, or the config of one that has none."""
    # A job's own result may list its trials in full.
    begun = [head(held[name].path, FEW_BYTES) for name in TRIAL_FILES if name in held]
    if any(b'"trial_name"' in one and b'"n_total_trials"' not in one for one in begun):
        return held.get("result.json") or held["config.json"]
    return None


def _up(folder: str) -> str:
    return folder.rpartition("/")[0]


def read(artifact: Artifact) -> Iterator[Reading]:
    """A trial, or what a job says of its trials."""
    if artifact.kind is Kind.ROLLOUTS:
        yield from _trial(artifact)
    elif artifact.path.name == "result.json":
        yield from _published(artifact)
    else:
        yield from _asked(artifact)


def _asked(artifact: Artifact) -> Iterator[Reading]:
    """What a job was asked for: each trial of its lock, else so many attempts at each task seen."""
    config = fields(document(artifact.path))
    n_attempts = config.get("n_attempts")
    n_attempts = n_attempts if isinstance(n_attempts, int) and n_attempts > 0 else 1
    yield Setting("num_repeats", str(n_attempts))
    locks = [path for path in artifact.beside if path.name == "lock.json"]
    locked = _counted(trial for lock in documents(locks) for trial in items(get(lock, "trials")))
    seen = _counted(documents(path for path in artifact.beside if path not in locks))
    # Names that the lock does not have are names of another kind.
    wanted = locked if locked and seen.keys() <= locked.keys() else dict.fromkeys(seen, n_attempts)
    if sum(wanted.values()) <= MOST_EXPECTED:
        for (variant, task), n_repeats in sorted(wanted.items()):
            yield from expected([task], n_repeats, variant)


def _counted(trials: Iterable[Any]) -> Counter[tuple[str, str]]:
    """How many trials there are of each variant and task."""
    named = [_task_and_variant(fields(trial)) for trial in trials]
    return Counter((variant, task) for task, variant, _ in named if task)


def _published(artifact: Artifact) -> Iterator[Reading]:
    """Statistics of a job by the names that Harbor gives to its groups of trials."""
    stats = fields(get(document(artifact.path), "stats"))
    groups = fields(stats.get("evals"))
    variants = _variants(artifact, groups.keys())
    is_partial = any(number(stats.get(name)) for name in ONGOING)
    here = {path.parent.name for path in artifact.beside}
    for key, group in groups.items():
        reason = "defined otherwise: of the trials that had ended" if is_partial else None
        if _of_group(group) - here:
            reason = OTHER_ROWS
        figures = [
            (name, value, MEANS.get(name), 1.0)
            for metric in items(get(group, "metrics"))
            for name, value in fields(metric).items()
        ]
        figures += [
            (f"pass_at_k/{k}", value, f"pass@{k}/filled_reward", 0.01)
            for k, value in fields(get(group, "pass_at_k")).items()
        ]
        for name, value, means, scale in figures:
            shown = name if len(groups) == 1 else f"{key}/{name}"
            why = reason or (OF_SEVERAL if name == "reward" else None)
            of = variants.get(key)
            yield figure(shown, value, means, variant=of, scale=scale, reason=why)


def _of_group(group: Any) -> set[str]:
    """The trials that a group's figures are of, as far as it names them."""
    rewards = fields(get(group, "reward_stats")).values()
    lists = [names for by_value in rewards for names in fields(by_value).values()]
    lists += fields(get(group, "exception_stats")).values()
    return {name for names in lists for name in items(names) if isinstance(name, str)}


def _variants(artifact: Artifact, keys: Collection[str]) -> dict[str, str]:
    """What each group is called here, by a trial of it; trials are asked until all are known."""
    found: dict[str, str] = {}
    for one in map(fields, documents(artifact.beside)):
        info = fields(one.get("agent_info"))
        names = (info.get("name"), get(info, "model_info", "name"), one.get("source") or "adhoc")
        key = "__".join(name for name in names if isinstance(name, str))
        if key in keys:
            found[key] = _task_and_variant(one)[1]
        if len(found) == len(keys):
            break
    return found


def _task_and_variant(found: dict[str, Any]) -> tuple[str | None, str, str | None]:
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


def _trial(artifact: Artifact) -> Iterator[Reading]:
    """The row of a trial, and what of its files cannot be read."""
    found = document(artifact.path)
    task, variant, source = _task_and_variant(fields(found))
    if not task:
        raise ValueError("no trial of Harbor: it names no task")
    steps = [step for step in items(found.get("step_results")) if isinstance(step, dict)]
    told_in, rejects = _transcripts(artifact, [text(step.get("step_name")) for step in steps])
    usage = _usage([fields(one.get("agent_result")) for one in (found, *steps)])
    usage = usage or (told_in[0].usage if len(told_in) == 1 else {})
    model = _model(found)
    checksum = text(found.get("task_checksum"))
    request = {"input": told_in[0].asked, "tools": told_in[0].tools} if told_in else {}
    ran = fields(found.get("agent_execution")) or found
    is_ended = artifact.path.name == "result.json"
    ended = _exception([found, *steps])
    response = atif.response(told_in, usage, model)
    # ApiError and its kinds: the call of the model failed.
    if (ended.get("exception_type") or "").startswith("Api"):
        response |= {"object": "response", "error": {"message": ended["error_message"]}}
    row = {
        "_ng_task_index": task,
        "agent_ref": told({"name": text(get(found, "agent_info", "name"))}),
        "responses_create_params": told({**request, "model": model}),
        "response": response,
        **_scores(found, steps),
        **_tests(artifact),
        **_verifier_documents(artifact),
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
        limit_reached=kind if (kind := ended.get("exception_type")) in CAPS else None,
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


def _verifier_documents(artifact: Artifact) -> dict[str, Any]:
    """What else a task's own verifier wrote as JSON, each document under its file's name."""
    own = [
        path
        for path in artifact.beside
        if path.parent.name == "verifier" and path.suffix == ".json" and path.name not in OWN_FILES
    ]
    small = [path for path in own if path.stat().st_size <= MOST_DOCUMENT]
    return {path.stem: one for path, one in zip(small, documents(small), strict=True) if one}


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
    found: dict[str, float | None] = {}
    for name, theirs in USAGE.items():
        own, *of_steps = [number(one.get(theirs)) for one in results]
        found[name] = total(of_steps) if own is None else own
    return atif.usage(found)


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
