"""Harbor: a folder per job with a folder per trial.

A run is one agent with one model on one dataset of a job. A trial without a result was killed or is
still running: it is an attempt without a score.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import dropwhile
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    MOST_EXPECTED,
    OTHER_ROWS,
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    Setting,
    as_json,
    atif,
    document,
    documents,
    expected,
    fields,
    figure,
    get,
    gym_row,
    head,
    home,
    items,
    number,
    parent,
    paths_of,
    picked,
    readable,
    recorded,
    scores_of,
    settings,
    text,
    total,
    without_empty,
)

TITLE = "Harbor"
FILES = (
    "`<job>/<trial>/result.json` with `agent/trajectory.json` and `verifier/ctrf.json`; the job's "
    "`result.json`, `config.json`, `lock.json`"
)
GIVES = "checks transcript tokens durations"
SCORE = (
    "the only reward of the trial, else the one called `reward`; all of them, and those of steps, "
    "are checks, as are tests"
)
NOTES = (
    "One run per job, agent, model and dataset; jobs of one task whose names differ only in the "
    "task, or in the time where most jobs beside them are such, are one run, as are folders of one "
    "job's trials. Of a job that did not finish what was planned is the number in its result: the "
    "tasks that it names and any run has, the others as `unseen-1`. Attempts at a task in the "
    "order they began. Tasks are the same where their checksums are. A trial without a result is "
    "unscored. Harbor's own mean and pass@k count an unscored trial as 0. A folder called `tasks` "
    "names no benchmark. Of a trial without a result, `exception.txt` is the error."
)
NAMES = re.compile(r"\.json$|/verifier/test-stdout\.txt$|/exception\.txt$")
# The lines in which pytest explains a failure.
ASSERTION = re.compile(r"^E {3}\s*(\S.{0,200})", re.MULTILINE)
OF_A_TRIAL = re.compile(
    r"(^|/)(agent/trajectory(\.cont-\d{1,9})?\.json|verifier/([^/]+\.json|test-stdout\.txt))$"
)
# What a trial writes when it fails, before its result: the traceback.
EXCEPTION = "exception.txt"
# The last lines of a traceback: the class of the exception, its message.
RAISED = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)(?::\s*(.*))?", re.DOTALL)
# The task of a result, or of the config of a trial that has none.
TASK_NAME = re.compile(rb'"task_name"\s*:\s*"([^"\\]+)"')
TASK_PATH = re.compile(rb'"task"\s*:\s*\{\s*"path"\s*:\s*"([^"\\]+)"')
# The name that Harbor gives a job.
CLOCK_NAME = re.compile(r"\d{4}-\d\d-\d\d__\d\d-\d\d-\d\d")
SEPARATORS = "-_.@"
TRIAL_FILES = ("result.json", "config.json")
# What a person who sorts trials into folders of their own may call the result of one.
RESULT_NAME = re.compile(r"result\.json$")
FEW_BYTES = 4096
# If trials have several rewards, means have their names.
MEANS = {"mean": "filled_mean/reward", "reward": "filled_mean/reward"}
OF_SEVERAL = "how it counts trials without that reward is not recorded"
ONGOING = ("n_running_trials", "n_pending_trials", "n_cancelled_trials")
OF_JOBS = (
    "n_concurrent_trials",
    "timeout_multiplier",
    "agent_timeout_multiplier",
    "verifier_timeout_multiplier",
    "agent_setup_timeout_multiplier",
    "environment_build_timeout_multiplier",
)
# Names of task folders that do not identify the benchmark; the folder above may.
PLAIN_FOLDERS = frozenset("task tasks dataset datasets harbor harbor_tasks harbor-tasks".split())
# A time limit of the agent; other timeouts are those of the setup or the verifier.
CAPS = frozenset({"AgentTimeoutError"})
MOST_TESTS = 500
LONGEST_MESSAGE = 2000
# Documents of the verifier that Harbor itself reads; others belong to the task.
OWN_FILES = frozenset({"ctrf.json", "reward.json"})
MOST_DOCUMENT = 256 << 10
# Of a log its end, and before it the lines in which pytest explains failures.
LOG_BYTES = 4000
MOST_LOG_BYTES = 1 << 20
MOST_EARLIER = 20
USAGE = {
    "input_tokens": "n_input_tokens",
    "output_tokens": "n_output_tokens",
    "cached_tokens": "n_cache_tokens",
    "cost": "cost_usd",
}


def _assertion(test: Any) -> str | None:
    """What pytest found at the failing line, from its trace; the message says only that it did."""
    lines = ASSERTION.findall(text(test, "trace") or "")
    return "; ".join(lines[:2]) or None


def claims(files: Files) -> Claims:
    by_folder: dict[str, dict[str, ListedFile]] = defaultdict(dict)
    for file in files:
        by_folder[file.folder][file.base] = file
    trials = {
        folder: one for folder, files_here in by_folder.items() if (one := _trial_file(files_here))
    }
    inside: dict[str | None, list[ListedFile]] = defaultdict(list)
    for file in files:
        if OF_A_TRIAL.search(file.name):
            inside[home(file.name, trials)].append(file)
    for folder, one in trials.items():
        # Without Harbor's folders, what is beside a result is of the trial.
        if folder not in inside:
            inside[folder] = [
                file
                for base, file in by_folder[folder].items()
                if base.endswith(".json") and file is not one and base not in TRIAL_FILES
            ]
    jobs = defaultdict(list)
    for folder, file in trials.items():
        jobs[parent(folder), file.path.parent.parent.name].append(file)
    of_jobs = _ids_of_jobs(jobs, by_folder)
    pooled = _jobs_of_one_task(jobs, by_folder) | _parts_of_jobs(jobs, of_jobs)
    for (job, name), files_here in jobs.items():
        folder, stem = pooled.get(job, (parent(job), name))
        for file in files_here:
            beside = paths_of(sorted(inside[file.folder], key=atif.part))
            if not RESULT_NAME.search(file.base) and EXCEPTION in by_folder[file.folder]:
                beside += (by_folder[file.folder][EXCEPTION].path,)
            yield Claim(file, Kind.ROLLOUTS, folder, stem, beside=beside, owns=file.folder)
        for base in TRIAL_FILES if job not in trials else ():
            if base in by_folder[job]:
                others = ("lock.json",) if base == "result.json" else ("lock.json", "result.json")
                of_job = [by_folder[job][other] for other in others if other in by_folder[job]]
                beside = tuple(other.path for other in (*files_here, *of_job))
                # What one of several pooled jobs published is not of the run.
                kind = Kind.CONFIG if job in pooled else Kind.AGGREGATE_METRICS
                yield Claim(by_folder[job][base], kind, folder, stem, beside=beside)
    yield from _results_of_parts(files, jobs, of_jobs, pooled)


def _ids_of_jobs(
    jobs: Mapping[tuple[str, str], list[ListedFile]],
    by_folder: Mapping[str, Mapping[str, ListedFile]],
) -> dict[str, str]:
    """By folder, the id of the job that its trials name, if no file of a job is beside them."""
    alone = {
        job: files
        for (job, _), files in jobs.items()
        if by_folder.get(job, {}).keys().isdisjoint(TRIAL_FILES)
    }
    of_jobs = {}
    # One alone is read as it is.
    for job, files in alone.items() if len(alone) > 1 else ():
        ids = {text(_config(readable(file.path)), "job_id") for file in files}
        if len(ids) == 1 and (job_id := ids.pop()):
            of_jobs[job] = job_id
    return of_jobs


def _config(trial: Any) -> Object:
    """The configuration of a trial: in its result, or a document of its own."""
    return fields(trial, "config") or fields(trial)


def _parts_of_jobs(
    jobs: Iterable[tuple[str, str]], of_jobs: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """The folder and the name of jobs whose trials somebody has sorted into several folders."""
    parts: dict[str, list[str]] = defaultdict(list)
    for job, _ in jobs:
        if job in of_jobs:
            parts[of_jobs[job]].append(job)
    pooled: dict[str, tuple[str, str]] = {}
    for folders in parts.values():
        above = {parent(folder) for folder in folders}
        if len(folders) > 1 and len(above) == 1:
            folder = above.pop()
            pooled |= dict.fromkeys(folders, (parent(folder), folder.rpartition("/")[2] or "jobs"))
    return pooled


def _results_of_parts(
    files: Files,
    jobs: Mapping[tuple[str, str], list[ListedFile]],
    of_jobs: Mapping[str, str],
    pooled: Mapping[str, tuple[str, str]],
) -> Claims:
    """The result of a job, under any name, above the folders into which its trials are sorted."""
    inside: dict[tuple[str, str], list[ListedFile]] = defaultdict(list)
    runs = {}
    for (job, _), files_here in jobs.items():
        if job in of_jobs and job in pooled:
            at = parent(job), of_jobs[job]
            inside[at] += files_here
            runs[at] = pooled[job]
    above = {folder for folder, _ in inside}
    for file in files:
        if file.folder in above and b'"n_total_trials"' in head(file.path, FEW_BYTES):
            at = file.folder, str(get(readable(file.path), "id"))
            if at in inside:
                beside = paths_of(inside[at])
                yield Claim(file, Kind.AGGREGATE_METRICS, *runs[at], beside=beside)


def _jobs_of_one_task(
    jobs: Mapping[tuple[str, str], list[ListedFile]],
    by_folder: Mapping[str, Mapping[str, ListedFile]],
) -> dict[str, tuple[str, str]]:
    """The folder and the new name of jobs that were started once per task.

    They differ from each other only in the task's name, or only in the time that Harbor names jobs
    by, or have one name, or such times, in folders called after their tasks. Together they are one
    run: what is left of the name, else the folder that they are in, if most jobs in it are such.
    """
    groups: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    n_others: Counter[str] = Counter()
    for (job, name), files_here in jobs.items():
        tasks = {_task_of_head(file.path) for file in files_here}
        task = tasks.pop()
        if task is None or tasks or _plans_several_tasks(by_folder.get(job, {})):
            n_others[parent(job)] += 1
            continue
        rest = CLOCK_NAME.sub("", _without_task(name, task))
        above = parent(job).split("/")
        is_below_task = task in above
        folder = "/".join(above[: above.index(task)]) if is_below_task else parent(job)
        is_named = rest != name and len(files_here) == 1
        if is_named or is_below_task:
            trial = readable(files_here[0].path)
            # How the agent was set up.
            agent = "" if trial is None else as_json(fields(_config(trial), "agent"))
            groups[folder, rest.strip(SEPARATORS) if is_named else name, agent][job] = task
    named = Counter((folder, rest) for folder, rest, _ in groups)
    return {
        job: (folder, rest or "jobs")
        for (folder, rest, _), by_job in groups.items()
        # Agents that are set up differently are no repeats of each other.
        if len(set(by_job.values())) > 1
        and named[folder, rest] == 1
        and (rest or len(by_job) > n_others[folder])
        for job in by_job
    }


def _plans_several_tasks(of_job: Mapping[str, ListedFile]) -> bool:
    """Whether a job planned more than one task, of which others may not have begun."""
    config, result = (
        fields(readable(of_job[name].path)) if name in of_job else {}
        for name in ("config.json", "result.json")
    )
    n_planned = number(result, "n_total_trials")
    if n_planned is not None:
        return n_planned > _n_attempts(config) * max(1, len(items(config, "agents")))
    # A dataset without names is all of its tasks.
    n_named = [len(items(one, "task_names")) or 2 for one in items(config, "datasets")]
    return sum(n_named) + len(items(config, "tasks")) > 1


def _n_attempts(config: Mapping[str, Any]) -> int:
    n_attempts = config.get("n_attempts")
    return n_attempts if isinstance(n_attempts, int) and n_attempts > 0 else 1


def _without_task(name: str, task: str) -> str:
    words = [re.escape(word) for word in re.split(r"[-_.]", task) if word]
    around = r"[-_.@]*(?<![A-Za-z0-9])" + "[-_.]".join(words) + r"(?![A-Za-z0-9])"
    return re.sub(around, "", name, count=1, flags=re.IGNORECASE) if words else name


def _task_of_head(path: Path) -> str | None:
    start = head(path, FEW_BYTES)
    match = TASK_NAME.search(start) or TASK_PATH.search(start)
    name = match[1].decode("utf-8", "replace").rstrip("/") if match else ""
    return name.rpartition("/")[2] or None


def _trial_file(files: dict[str, ListedFile]) -> ListedFile | None:
    results = sorted(filter(RESULT_NAME.search, files), key=lambda name: (len(name), name))
    for name in (*results, "config.json"):
        begun = head(files[name].path, FEW_BYTES) if name in files else b""
        # The result of a job may contain its trials.
        if b'"trial_name"' in begun and b'"n_total_trials"' not in begun:
            return files.get("result.json") or files[name]
    return None


def read(artifact: Artifact) -> Readings:
    if artifact.kind is Kind.ROLLOUTS:
        yield from _trial(artifact)
    elif artifact.path.name == "config.json":
        yield from _requested(artifact)
    else:
        yield from _published(artifact)


def _requested(artifact: Artifact) -> Readings:
    """The settings of a job, and the attempts it was to make.

    These are the trials of its lock, else `n_attempts` per task that its config names, else per
    task that is seen. Which others a job meant that did not end is not known.
    """
    config = fields(document(artifact.path))
    n_attempts = config.get("n_attempts")
    n_attempts = n_attempts if isinstance(n_attempts, int) and n_attempts > 0 else 1
    yield Setting("num_repeats", str(n_attempts))
    yield from settings(picked(config, *OF_JOBS))
    agents = items(config, "agents")
    if len(agents) == 1:
        kwargs = recorded(get(agents, 0, "kwargs"), "agent.kwargs.")
        yield from (Setting(*each) for each in kwargs)
    of_job = {path.name: path for path in artifact.beside if path.parent == artifact.path.parent}
    lock, result = (
        fields(readable(of_job[name])) if name in of_job else {}
        for name in ("lock.json", "result.json")
    )
    locked = _counted(items(lock, "trials"))
    seen = _counted(documents(path for path in artifact.beside if path not in of_job.values()))
    named = dict.fromkeys(_named(config, seen), n_attempts)
    n_planned = result.get("n_total_trials")
    # If tasks are not in the lock, it uses other names.
    if locked and seen.keys() <= locked.keys():
        wanted = locked
    elif named and n_planned in (None, sum(named.values())):
        wanted = Counter(named)
    else:
        wanted = Counter(dict.fromkeys(seen, n_attempts))
    if _is_unfinished(result) and n_planned not in (None, wanted.total()):
        if len({variant for variant, _ in seen}) == 1:
            yield from settings(log_planned_attempts=n_planned, log_planned_tasks=_patterns(config))
        return
    if wanted.total() <= MOST_EXPECTED:
        for (variant, task), n_repeats in sorted(wanted.items()):
            yield from expected([task], n_repeats, variant)


def _patterns(config: Mapping[str, Any]) -> str | None:
    """The names of tasks in a config, as patterns; none if it also says how many, or not which."""
    datasets = items(config, "datasets")
    if len(datasets) != 1 or get(datasets, 0, "n_tasks") or get(datasets, 0, "exclude_task_names"):
        return None
    return as_json(items(datasets, 0, "task_names") or ["*"])


def _is_unfinished(result: Mapping[str, Any]) -> bool:
    return "finished_at" in result and result["finished_at"] is None


def _named(config: Mapping[str, Any], seen: Counter[tuple[str, str]]) -> set[tuple[str, str]]:
    """The tasks that a config of one dataset names, for each variant, if all that are seen are."""
    datasets = items(config, "datasets")
    names = {name for name in items(datasets, 0, "task_names") if isinstance(name, str)}
    is_whole = len(datasets) == 1 and not items(config, "tasks")
    if not is_whole or {task for _, task in seen} - names:
        return set()
    return {(variant, name) for variant, _ in seen for name in names}


def _counted(trials: Iterable[Any]) -> Counter[tuple[str, str]]:
    named = [_task_and_variant(fields(trial)) for trial in trials]
    return Counter((variant, task) for task, variant, _ in named if task)


def _published(artifact: Artifact) -> Readings:
    result = fields(document(artifact.path))
    stats = fields(result, "stats")
    if _is_unfinished(result):
        yield Setting("log_status", "not finished")
    groups = fields(stats, "evals")
    variants = _variants(artifact, groups.keys())
    is_partial = _is_unfinished(result) or any(number(stats, name) for name in ONGOING)
    here = {path.parent.name for path in artifact.beside}
    for key, group in groups.items():
        reason = "defined otherwise: of the trials that had ended" if is_partial else None
        if _of_group(group) - here:
            reason = OTHER_ROWS
        figures = [
            (name, value, MEANS.get(name), 1.0)
            for metric in items(group, "metrics")
            for name, value in fields(metric).items()
        ]
        figures += [
            (f"pass_at_k/{k}", value, f"pass@{k}/filled_reward", 0.01)
            for k, value in fields(group, "pass_at_k").items()
        ]
        for name, value, means, scale in figures:
            shown = name if len(groups) == 1 else f"{key}/{name}"
            why = reason or (OF_SEVERAL if name == "reward" else None)
            of = variants.get(key)
            yield figure(shown, value, means, variant=of, scale=scale, reason=why)


def _of_group(group: Any) -> set[str]:
    rewards = fields(group, "reward_stats").values()
    lists = [names for by_value in rewards for names in fields(by_value).values()]
    lists += fields(group, "exception_stats").values()
    return {name for names in lists for name in items(names) if isinstance(name, str)}


def _variants(artifact: Artifact, keys: Collection[str]) -> dict[str, str]:
    """The variant of each group, from one of its trials."""
    variants: dict[str, str] = {}
    for one in map(fields, documents(artifact.beside)):
        info = fields(one, "agent_info")
        names = (info.get("name"), get(info, "model_info", "name"), one.get("source") or "adhoc")
        key = "__".join(name for name in names if isinstance(name, str))
        if key in keys:
            variants[key] = _task_and_variant(one)[1]
        if len(variants) == len(keys):
            break
    return variants


def _task_and_variant(trial: Object) -> tuple[str | None, str, str | None]:
    """Task, variant and dataset of a result or a config.

    Agent and model are the requested ones: a trial without a result has no others.
    """
    config = _config(trial)
    task = text(trial, "task_name") or text(config, "task", "name")
    task = task or (text(config, "task", "path") or "").rstrip("/").rpartition("/")[2]
    source = text(trial, "source") or text(config, "task", "source")
    agent = text(config, "agent", "name") or text(config, "agent", "import_path")
    model = text(config, "agent", "model_name")
    parts = (
        agent or text(trial, "agent_info", "name"),
        model or text(trial, "agent_info", "model_info", "name"),
        source or "adhoc",
    )
    return task or None, "-".join(part for part in parts if part), source


def _trial(artifact: Artifact) -> Readings:
    trial = document(artifact.path)
    task, variant, source = _task_and_variant(fields(trial))
    if not task:
        raise ValueError("no trial of Harbor: it names no task")
    steps = [step for step in items(trial, "step_results") if isinstance(step, dict)]
    transcripts, rejects = _transcripts(artifact, [text(step, "step_name") for step in steps])
    usage = _usage([fields(one, "agent_result") for one in (trial, *steps)])
    usage = usage or (transcripts[0].usage if len(transcripts) == 1 else {})
    model = _model(trial)
    checksum = text(trial, "task_checksum")
    ran = fields(trial, "agent_execution") or trial
    is_ended = RESULT_NAME.search(artifact.path.name) is not None
    ended = _exception([trial, *steps]) or _traced(artifact)
    kind = ended.get("exception_type")
    response = atif.response(transcripts, usage, model)
    # ApiError and similar: the call of the model failed.
    if (kind or "").startswith("Api"):
        response = {**(response or {}), "error": {"message": ended["error_message"]}}
    row = {
        **gym_row(
            task,
            None,
            agent=text(trial, "agent_info", "name"),
            request={
                "input": transcripts[0].question if transcripts else None,
                "tools": transcripts[0].tools if transcripts else None,
                "model": model,
            },
            response=response,
        ),
        **_scores(trial, steps),
        **_tests(artifact),
        **_verifier_documents(artifact),
        **ended,
        "trial_state": None if is_ended or ended else "no result: killed, or still running",
        "total_run_time": atif.seconds(ran.get("started_at"), ran.get("finished_at")),
        "trial_name": text(trial, "trial_name"),
        "task_checksum": checksum,
        "agent_version": text(trial, "agent_info", "version"),
    }
    yield Row(
        {"reward": None, **without_empty(row)},
        variant=variant,
        benchmark=_benchmark(trial, source),
        order=text(trial, "started_at") or "~",
        question=checksum,
        limit_reached=kind if kind in CAPS else None,
    )
    yield from rejects


def _benchmark(trial: Object, source: str | None) -> str | None:
    """The dataset; for local tasks Harbor uses the name of their folder."""
    if source is None or source.lower() not in PLAIN_FOLDERS:
        return source
    folders = (text(_config(trial), "task", "path") or "").split("/")
    informative = [
        name for name in folders[:-1] if name.strip(".") and name.lower() not in PLAIN_FOLDERS
    ]
    return informative[-1] if informative else None


def _model(trial: Object) -> str | None:
    info = fields(trial, "agent_info", "model_info")
    named = [name for key in ("provider", "name") if (name := text(info, key))]
    requested = get(_config(trial), "agent", "model_name")
    return "/".join(named) or text(requested)


def _scores(trial: Object, steps: list[Object]) -> Object:
    """The reward that Harbor uses for its mean, and all rewards of the trial and its steps."""
    rewards = fields(trial, "verifier_result", "rewards")
    chosen = next(iter(rewards)) if len(rewards) == 1 else "reward"
    named = dict(rewards)
    for step in steps:
        for name, value in fields(step, "verifier_result", "rewards").items():
            named[f"{text(step, 'step_name') or 'step'}.{name}"] = value
    return {"reward": number(rewards, chosen), **scores_of(named, chosen)}


def _verifier_documents(artifact: Artifact) -> Object:
    own = [
        path
        for path in artifact.beside
        if path.parent in (artifact.path.parent, artifact.path.parent / "verifier")
        and path.suffix == ".json"
        and "trajectory" not in path.name
        and path.name not in OWN_FILES
    ]
    small = [path for path in own if path.stat().st_size <= MOST_DOCUMENT]
    return {path.stem: one for path, one in zip(small, documents(small), strict=True) if one}


def _exception(ended: list[Object]) -> Object:
    for one in ended:
        if info := fields(one, "exception_info"):
            return _error(text(info, "exception_type"), text(info, "exception_message"))
    return {}


def _error(kind: str | None, message: str | None) -> Object:
    parts = filter(None, (kind, message))
    return {"exception_type": kind, "error_message": ": ".join(parts) or None}


def _traced(artifact: Artifact) -> Object:
    """The exception of a trial without a result, from the traceback that Harbor wrote before it."""
    for path in artifact.beside:
        if path.name == EXCEPTION:
            lines = _end_of(path).splitlines()
            # Below the frames of the last traceback, which are indented, its message begins.
            frames = [place for place, line in enumerate(lines) if line.startswith('  File "')]
            below = lines[frames[-1] + 1 :] if frames else lines[-1:]
            raised = "\n".join(dropwhile(lambda line: line[:1].isspace(), below)).strip()
            if match := RAISED.fullmatch(raised):
                return _error(match[1].rpartition(".")[2], match[2])
            return _error(None, raised) if raised else {}
    return {}


def _end_of(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MOST_LOG_BYTES))
        return file.read().decode("utf-8", "replace").strip()
    return ""


def _transcripts(
    artifact: Artifact, steps: list[str | None]
) -> tuple[list[atif.Transcript], list[Reject]]:
    by_place: dict[Path, list[Any]] = defaultdict(list)
    rejects = []
    for path in artifact.beside:
        if path.name.startswith("trajectory"):
            try:
                content = atif.trajectory(path)
            except ValueError as error:
                rejects.append(Reject(f"{'/'.join(path.parts[-2:])}: {error}"))
            else:
                by_place[path.parent].append(content)
    rank = {name: place for place, name in enumerate(steps)}
    places = sorted(by_place, key=lambda place: (rank.get(place.parent.name, -1), str(place)))
    return [atif.transcript(by_place[place]) for place in places], rejects


def _usage(results: list[Object]) -> Object:
    counts: dict[str, float | None] = {}
    for name, theirs in USAGE.items():
        own, *of_steps = [number(one, theirs) for one in results]
        counts[name] = total(of_steps) if own is None else own
    return atif.usage(counts)


def _test(test: Any) -> Object:
    """The name of a test, its verdict and its message, of a long one what it comes to: its end."""
    message = _assertion(test) or text(test, "message") or ""
    named = {key: text(test, key) for key in ("name", "status")}
    return without_empty(named, message=message[-LONGEST_MESSAGE:])


def _tests(artifact: Artifact) -> Object:
    tests: list[Object] = []
    printed = None
    for path in artifact.beside:
        if path.name == "ctrf.json":
            tests += map(_test, items(readable(path), "results", "tests"))
        elif path.name == "test-stdout.txt":
            with suppress(OSError), path.open("rb") as file:  # the verdict does not depend on it
                file.seek(max(0, path.stat().st_size - MOST_LOG_BYTES))
                log = file.read()
                earlier = [line for line in log[:-LOG_BYTES].splitlines() if line[:4] == b"E   "]
                excerpt = b"\n".join([*earlier[:MOST_EARLIER], log[-LOG_BYTES:]])
                printed = excerpt.decode("utf-8", "replace").strip() or None
    counts = {}
    if len(tests) > MOST_TESTS:
        n_of = Counter(test.get("status") for test in tests)
        counts = {"tests_passed": n_of["passed"], "tests_total": n_of["passed"] + n_of["failed"]}
        tests.sort(key=lambda test: test.get("status") != "failed")
    return {"tests": tests[:MOST_TESTS], **counts, "test_stdout": None if tests else printed}
