"""SWE-bench: predictions, what the harness evaluation of them, and the trajectories of agents.

They are in several files, which are joined by the instance. The rows of a run are its predictions,
else what its report lists, else single instances. What no report lists is not graded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
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
    number,
    objects,
    packed,
    text,
    without_empty,
)
from .swe_transcripts import openhands, trajectory

TITLE = "SWE-bench"
FILES = (
    "predictions (`all_preds.jsonl`, `preds.json`: `model_patch`), the report of a run "
    "(`<model>.<run>.json`), `results/results.json`, `<instance>/report.json`, `*.traj` of "
    "SWE-agent, `*.traj.json` of mini-swe-agent, `output.jsonl` of OpenHands with its `report.json`"
)
GIVES = "checks transcript tokens durations"
SCORE = (
    "`resolved` of the instance's report, else the list of the run's report: `resolved_ids` 1, "
    "`unresolved_ids` and `empty_patch_ids` 0; unscored if the evaluation broke down (`error_ids`) "
    "or no report names the instance. Tests of `FAIL_TO_PASS` and `PASS_TO_PASS` are checks"
)
NOTES = (
    "One run per file of predictions, with the only evaluation beside it or the only one named "
    "after its model; else one per evaluation. An empty patch is a field, `patch_is_empty`. A "
    "`results.json` that lists the resolved instances alone is read only with its predictions."
)
NAMES = re.compile(r"\.(jsonl(\.gz|\.zst)?|json|traj)$", re.IGNORECASE)
EVALUATED = re.compile(r"^(?:(.*?)/)??(?:logs/)?run_evaluation/([^/]+)/([^/]+)/[^/]+$")
# Folders of a run that say what is in them.
INNER = {"logs", "trajs", "results", "eval_outputs"}
SPLIT = re.compile(r"/evaluation/([\w-]+)/[^/]+/")
ENDING = re.compile(r"\.traj(\.json)?$", re.IGNORECASE)
FEW_BYTES = 400
INSTANCE = re.compile(rb'^\s*\{\s*"([^"\\]+)"\s*:\s*\{')
MODEL = re.compile(rb'"model_name_or_path"\s*:\s*"([^"\\]+)"')
Verdict = tuple[float | None, str]
# The lists of reports and what they say of an instance; the first that names it counts. An
# evaluation that broke down says nothing of the patch.
VERDICTS: tuple[Verdict, ...] = (
    (1.0, "resolved_ids resolved"),
    (0.0, "unresolved_ids empty_patch_ids"),
    (None, "error_ids pending_ids failed_ids no_logs"),
    (None, "install_fail reset_failed test_errored test_timeout"),
    (0.0, "no_apply no_generation with_logs"),
)
LISTS = {name: reward for reward, names in VERDICTS for name in names.split()}
RESOLVED_ALONE = "lists resolved instances alone; the predictions that it grades are not beside it"
GROUPS = ("FAIL_TO_PASS", "PASS_TO_PASS")
MOST_TESTS = 500
LONGEST_PATCH = 20_000


@dataclass
class Home:
    """The files of one folder of runs; evaluations by `<model>.<run>`, empty if they name none."""

    sources: list[ListedFile] = field(default_factory=list)
    evaluations: dict[str, list[ListedFile]] = field(default_factory=lambda: defaultdict(list))
    trajectories: list[ListedFile] = field(default_factory=list)

    @property
    def predictions(self) -> list[ListedFile]:
        """Beside the output of OpenHands, other files repeat what it has."""
        return [one for one in self.sources if one.base == "output.jsonl"] or self.sources


def _role(path: Path) -> str | None:
    """What a file is, by its name and its first keys."""
    name = path.name.lower()
    if name.endswith((".traj", ".traj.json")):
        return "trajectory"
    begun = head(path)

    def has(*keys: str) -> bool:
        return all(f'"{key}"'.encode() in begun for key in keys)

    if has("responses_create_params"):
        return None
    if ".jsonl" in name:
        is_output = has("instance_id", "test_result")
        is_prediction = has("instance_id", "model_patch")
        return "output" if is_output else "predictions" if is_prediction else None
    if has("patch_successfully_applied"):
        return "graded"
    if has("resolved_instances") or has("empty_patch_ids") or has("completed_ids", "resolved_ids"):
        return "report"
    if name == "results.json" and has("resolved", "no_generation"):
        return "results"
    return "predictions" if "pred" in name and has("instance_id", "model_patch") else None


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """The files of runs, by the folders that they belong to."""
    homes: dict[str, Home] = defaultdict(Home)
    roles = {file.name: role for file in files if (role := _role(file.path))}
    for file in files:
        if role := roles.get(file.name):
            _sort(file, role, homes)
    graders = _graders(homes)
    for place, home in homes.items():
        for file in home.sources:
            if file not in home.predictions:
                yield Claim(file, Kind.OTHER, place, file.base)
        runs: list[tuple[ListedFile | None, str, list[ListedFile]]] = [
            (file, file.base.partition(".")[0], graders.get(file.name, []))
            for file in home.predictions
        ]
        for key, evaluation in home.evaluations.items():
            if evaluation not in graders.values():
                listing = (one for one in evaluation if _listed(one.path, roles[one.name]))
                runs.append((next(listing, None), key, evaluation))
        if len(runs) == 1:
            # Trajectories belong to the only run of their folder.
            runs = [
                (rows, key, [*evaluation, *home.trajectories]) for rows, key, evaluation in runs
            ]
        elif home.trajectories:
            runs.append((None, "trajectories", home.trajectories))
        for rows, key, others in runs:
            first = rows or others[0]
            above = first.name.count("/") - (place.count("/") + 1 if place else 0)
            run = (place.rpartition("/")[0], first.path.parents[above].name or "runs", key)
            yield from _claims(rows, [one for one in others if one != rows], roles, run)


def _sort(file: ListedFile, role: str, homes: dict[str, Home]) -> None:
    """Put a file into the folder of its run."""
    folders = file.folder.split("/") if file.folder else []
    instance, stem = _instance(file.path, role), file.base.rpartition(".")[0]
    if role in ("predictions", "output"):
        homes[file.folder].sources.append(file)
    elif role == "graded" and (run := EVALUATED.match(file.folder)):
        homes[run[1] or ""].evaluations[f"{run[3]}.{run[2]}"].append(file)
    else:
        folders = folders[: folders.index(instance)] if instance in folders else folders
        home = homes["/".join(folders[:-1] if INNER.intersection(folders[-1:]) else folders)]
        is_named = role == "report" and stem != "report" and not stem.startswith("output.")
        is_step = role == "trajectory"
        (home.trajectories if is_step else home.evaluations[stem * is_named]).append(file)


def _instance(path: Path, role: str | None) -> str:
    """The instance that a file is of; empty if it is of many."""
    if role == "trajectory":
        return ENDING.sub("", path.name)
    begun = INSTANCE.match(head(path, FEW_BYTES)) if role == "graded" else None
    return begun[1].decode("utf-8", "replace") if begun else ""


def _graders(homes: dict[str, Home]) -> dict[str, list[ListedFile]]:
    """The evaluation of each file of predictions: the only one near it, or that of its model."""
    everywhere = [
        (key, evaluation) for home in homes.values() for key, evaluation in home.evaluations.items()
    ]
    graders: dict[str, list[ListedFile]] = {}
    for home in homes.values():
        for file in home.predictions:
            near = list(home.evaluations.values()) if len(home.predictions) == 1 else []
            if len(near) != 1:
                model = MODEL.search(head(file.path))
                begun = model[1].decode("utf-8", "replace").replace("/", "__") if model else "/"
                near = [evaluation for key, evaluation in everywhere if key.startswith(f"{begun}.")]
            if len(near) == 1:
                graders[file.name] = near[0]
    # If several files of predictions name the model, it tells of none which was evaluated.
    used = list(graders.values())
    return {name: evaluation for name, evaluation in graders.items() if used.count(evaluation) == 1}


def _claims(
    rows: ListedFile | None,
    others: list[ListedFile],
    roles: Mapping[str, str],
    run: tuple[str, str, str],
) -> Iterator[Claim]:
    """The files of one run: files of instances are rows only if the file of rows lacks them."""
    known: set[str] | None = set()
    if rows:
        yield Claim(rows, Kind.ROLLOUTS, *run, tuple(one.path for one in others))
        known = _instances(rows.path, roles[rows.name])
    steps = {ENDING.sub("", one.base): one.path for one in others if ENDING.search(one.base)}
    for file in others:
        role = roles[file.name]
        instance = _instance(file.path, role)
        if role in ("report", "results"):
            skipped = None if rows or role == "report" else RESOLVED_ALONE
            yield Claim(file, Kind.AGGREGATE_METRICS, *run, skipped=skipped)
            continue
        is_row = known is not None and instance not in known
        beside = (steps[instance],) if instance in steps else ()
        owns = file.folder if file.path.parent.name == instance else None
        yield Claim(file, Kind.ROLLOUTS if is_row else Kind.OTHER, *run, beside, owns=owns)
        if known is not None and beside:
            known.add(instance)


def _instances(path: Path, role: str) -> set[str] | None:
    """The instances of a file of rows; None for one that may be too long to read it twice."""
    if role == "output":
        return None
    try:
        rows = _predictions(path) if role == "predictions" else ()
        return {*_listed(path, role), *(str(get(row, "instance_id")) for row in rows)}
    except (OSError, ValueError):
        return set()


def _listed(path: Path, role: str | None) -> list[str]:
    """The instances of a report in order, each once; none if it lists resolved ones alone."""
    report = fields(next(documents([path]), None)) if role in ("report", "results") else {}
    if "resolved" in report and "generated" not in report:
        return []
    names = ("submitted_ids", "generated", *LISTS)
    return list(dict.fromkeys(one for name in names for one in _texts(report.get(name))))


def _texts(value: Any) -> list[str]:
    return [one for one in items(value) if isinstance(one, str) and one]


def _predictions(path: Path) -> Iterator[Any]:
    """The predictions of a file: lines, the elements of a list, or an object of them."""
    if ".jsonl" in path.name.lower():
        yield from objects(path)
    elif head(path).lstrip()[:1] == b"[":
        yield from packed.elements(path)
    else:
        for name, value in packed.fields(path, ""):
            yield {"instance_id": name, **value} if isinstance(value, dict) else value


def read(artifact: Artifact) -> Iterator[Reading]:
    """The attempts of a file, and the figures of a report."""
    role = _role(artifact.path)
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _figures(artifact.path)
        return
    known = Known([*artifact.beside, artifact.path])
    split = SPLIT.search(artifact.path.as_posix())
    benchmark = f"SWE-bench_{split[1].capitalize()}" if split else "SWE-bench"
    if role in ("predictions", "output"):
        for row in _predictions(artifact.path):
            if not isinstance(row, dict):
                is_read = isinstance(row, Reading)
                yield row if is_read else Reject("not a JSON object", str(row)[:200])
            elif instance := text(row.get("instance_id")):
                yield known.attempt(instance, row, benchmark)
            else:
                yield Reject("no prediction of SWE-bench: no instance_id", str(row)[:200])
    elif role in ("report", "results"):
        for instance in _listed(artifact.path, role):
            yield known.attempt(instance, {}, benchmark)
        yield from _figures(artifact.path)
    elif instance := _instance(artifact.path, role):
        yield known.attempt(instance, {}, benchmark)
    else:
        raise ValueError("no file of SWE-bench")
    # After the rows, so that these have the numbers of their lines.
    yield from known.faults


def _figures(path: Path) -> Iterator[Reading]:
    """What a report counts; an instance without a verdict counts as unresolved."""
    report = fields(document(path))
    yield from expected(_texts(report.get("submitted_ids")), 1)
    n_submitted = number(report.get("submitted_instances"))
    n_resolved = number(report.get("resolved_instances"))
    if n_submitted and n_resolved is not None:
        yield counted("submitted_instances", n_submitted, "num_rollouts")
        share = n_resolved / n_submitted
        yield figure("resolved_instances / submitted_instances", share, "filled_mean/reward")


class Known:
    """What the files of a run say of its instances."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.verdicts: dict[str, Verdict] = {}
        self.reasons: dict[str, Any] = {}
        self.pieces: dict[tuple[str | None, str], Path] = {}
        self.unlisted: Verdict = (None, "not in a report")
        self.faults: list[Reject] = []
        for path in paths:
            role = _role(path)
            self.pieces[role, _instance(path, role)] = path
            if role not in ("report", "results"):
                continue
            report = fields(next(documents([path]), None))
            for name, reward in LISTS.items():
                status = "unresolved" if name == "with_logs" else name.removesuffix("_ids")
                for instance in _texts(report.get(name)):
                    self.verdicts.setdefault(instance, (reward, status))
            self.reasons |= fields(report.get("failure_reasons"))
            # It lists what was resolved and what was not graded.
            if "resolved" in report and "with_logs" not in report:
                self.unlisted = (0.0, "unresolved")

    def attempt(self, instance: str, prediction: dict[str, Any], benchmark: str) -> Row:
        """The row of an instance; a trajectory that cannot be read is a fault."""
        transcript = None
        if "history" in prediction:
            transcript = openhands(prediction)
        elif path := self.pieces.get(("trajectory", instance)):
            try:
                transcript = trajectory(document(path))
            except ValueError as error:
                self.faults.append(Reject(f"{path.name}: {error}"))
        graded_in = self.pieces.get(("graded", instance))
        graded = fields(get(next(documents([graded_in] if graded_in else []), None), instance))
        listed = self.verdicts.get(instance)
        reward, status = _verdict(graded) or listed or _own_verdict(prediction) or self.unlisted
        patch = prediction.get("model_patch", get(prediction, "test_result", "git_patch"))
        has_patch = "model_patch" in prediction or "test_result" in prediction
        row = {
            "_ng_task_index": instance,
            "evaluation": status,
            "failure_reason": text(self.reasons.get(instance)),
            "patch_is_empty": not (text(patch) or "").strip() if has_patch else None,
            "model_patch": (text(patch) or "")[:LONGEST_PATCH] or None,
            "patch_successfully_applied": graded.get("patch_successfully_applied"),
            "exit_status": text(prediction.get("exit_status")),
            **{name: _tests(get(graded, "tests_status", name)) for name in GROUPS},
        }
        request: dict[str, Any] = {"model": text(prediction.get("model_name_or_path"))}
        if transcript:
            request |= {"input": transcript.question, **without_empty({"model": transcript.model})}
            row |= transcript.row
        row["responses_create_params"] = without_empty(request)
        dataset = (text(get(prediction, "metadata", "dataset")) or "").rpartition("/")[2]
        return Row(
            {"reward": reward, **without_empty(row)},
            benchmark=dataset or benchmark,
            limit_reached=transcript.cap if transcript else None,
        )


def _verdict(report: dict[str, Any]) -> Verdict | None:
    resolved = report.get("resolved")
    if not isinstance(resolved, bool):
        return None
    return (1.0, "resolved") if resolved else (0.0, "unresolved")


def _own_verdict(row: dict[str, Any]) -> Verdict | None:
    """The verdict that OpenHands, or a table of predictions, has in the row itself."""
    report = fields(get(row, "test_result", "report")) or fields(row.get("report")) or row
    for fault in ("error_eval", "test_timeout"):
        if report.get(fault) is True and report.get("resolved") is not True:
            return None, fault
    return _verdict(report)


def _tests(status: Any) -> list[dict[str, str]]:
    """The tests of a group, those that failed first."""
    tests = [
        {"name": name, "status": word}
        for key, word in (("failure", "failed"), ("success", "passed"))
        for name in _texts(get(status, key))
    ]
    return tests[:MOST_TESTS]
