"""Harbor: a folder per job with a folder per trial.

A run is what one agent with one model did of one dataset in a job. A trial without a result was
killed or goes on still: it is an attempt without a score.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    OTHER_ROWS,
    Claim,
    Expected,
    Figure,
    Reading,
    Setting,
    atif,
    document,
    fields,
    get,
    head,
    items,
    number,
)
from pipeline.ingest.formats.harbor_trial import task_and_variant, trial

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
    r"(^|/)(agent/trajectory(\.cont-\d{1,9})?\.json|verifier/(ctrf\.json|test-stdout\.txt))$"
)
TRIAL_FILES = ("result.json", "config.json")
FEW_BYTES = 4096
MOST_EXPECTED = 1_000_000
# Where trials have several rewards, means have the names of these.
MEANS = {"mean": "filled_mean/reward", "reward": "filled_mean/reward"}
OF_SEVERAL = "how it counts trials without that reward is not recorded"
ONGOING = ("n_running_trials", "n_pending_trials", "n_cancelled_trials")


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Trials by what stands in their results or configs, jobs by their trials."""
    by_folder: dict[str, dict[str, Found]] = defaultdict(dict)
    for file in files:
        by_folder[file.folder][file.base] = file
    trials = {folder: one for folder, held in by_folder.items() if (one := _trial_file(held))}
    inside: dict[str, list[Found]] = defaultdict(list)
    for file in files:
        if OF_A_TRIAL.search(file.name):
            inside[_above(file.folder, trials)].append(file)
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


def _trial_file(held: dict[str, Found]) -> Found | None:
    """The result of a trial, or the config of one that has none."""
    # A job's own result may list its trials in full.
    begun = [head(held[name].path, FEW_BYTES) for name in TRIAL_FILES if name in held]
    if any(b'"trial_name"' in one and b'"n_total_trials"' not in one for one in begun):
        return held.get("result.json") or held["config.json"]
    return None


def _up(folder: str) -> str:
    return folder.rpartition("/")[0]


def _above(folder: str, trials: dict[str, Found]) -> str:
    while folder and folder not in trials:
        folder = _up(folder)
    return folder


def read(artifact: Artifact) -> Iterator[Reading]:
    """A trial, or what a job says of its trials."""
    if artifact.kind is Kind.ROLLOUTS:
        yield from trial(artifact)
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
    seen: Counter[tuple[str, str]] = Counter()
    locked: Counter[tuple[str, str]] = Counter()
    for path in artifact.beside:
        try:
            found = fields(document(path))
        except ValueError:
            continue  # its own reject says so
        is_lock = path.name == "lock.json"
        for one in items(found.get("trials")) if is_lock else [found]:
            task, variant, _ = task_and_variant(fields(one))
            if task:
                (locked if is_lock else seen)[variant, task] += 1
    # Names that the lock does not have are names of another kind.
    wanted = locked if locked and seen.keys() <= locked.keys() else dict.fromkeys(seen, n_attempts)
    if sum(wanted.values()) <= MOST_EXPECTED:
        for (variant, task), n_repeats in sorted(wanted.items()):
            for repeat in range(n_repeats):
                yield Expected(task, repeat, variant)


def _published(artifact: Artifact) -> Iterator[Reading]:
    """Statistics of a job by the names that Harbor gives to its groups of trials."""
    stats = fields(get(document(artifact.path), "stats"))
    groups = fields(stats.get("evals"))
    variants = _variants(artifact, groups.keys())
    is_partial = any(number(stats.get(name)) for name in ONGOING)
    here = {path.parent.name for path in artifact.beside}
    for key, group in groups.items():
        reason = "defined otherwise: of the trials that had ended" if is_partial else None
        if _counted(group) - here:
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
            yield Figure(
                None, None, None, shown, number(value), variants.get(key), means, scale, why
            )


def _counted(group: Any) -> set[str]:
    """The trials that a group's figures are of, as far as it names them."""
    rewards = fields(get(group, "reward_stats")).values()
    lists = [names for by_value in rewards for names in fields(by_value).values()]
    lists += fields(get(group, "exception_stats")).values()
    return {name for names in lists for name in items(names) if isinstance(name, str)}


def _variants(artifact: Artifact, keys: Collection[str]) -> dict[str, str]:
    """What each group is called here, by a trial of it; trials are asked until all are known."""
    found: dict[str, str] = {}
    for path in artifact.beside:
        if len(found) >= len(keys):
            break
        try:
            one = fields(document(path))
        except ValueError:
            continue  # its own reject says so
        info = fields(one.get("agent_info"))
        names = (info.get("name"), get(info, "model_info", "name"), one.get("source") or "adhoc")
        key = "__".join(name for name in names if isinstance(name, str))
        if key in keys:
            found[key] = task_and_variant(one)[1]
    return found
