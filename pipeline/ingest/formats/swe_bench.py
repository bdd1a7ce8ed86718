"""SWE-bench: predictions, what the harness found of them, and the trajectories of agents.

They are in several files, which are joined by the instance. The rows of a run are its predictions,
else what its report lists, else single instances.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    home,
    items,
    number,
    objects,
    own_table,
    packed,
    text,
    without_empty,
)
from .swe_transcripts import openhands, trajectory

TITLE = "SWE-bench"
FILES = (
    "predictions (`all_preds.jsonl`, `preds.json`, or a document per instance), reports of runs "
    "(`<model>.<run>.json`, `results/results.json`) and instances (`<instance>/report.json`), "
    "`*.traj` of SWE-agent, `*.traj.json` of mini-swe-agent, `output.jsonl` of OpenHands, and "
    "JSONL with `instance_id` and tokens, cost or time"
)
GIVES = "checks transcript tokens durations"
SCORE = (
    "`resolved` of the instance's report, else the list of the run's report: `resolved_ids` 1, "
    "`unresolved_ids` and `empty_patch_ids` 0. Without either, 0 if the patch is empty, which the "
    "harness does not run. 0, too, if its log says that the patch does not apply; else unscored if "
    "the evaluation broke down (`error_ids`) or nothing says how it ended. Tests are checks"
)
NOTES = (
    "One run per file of predictions, with the evaluation of its instances beside it, the only one "
    "or the only one named after its model; else one per evaluation. Reports of instances in a "
    "folder below belong to the only run of these instances; a report of a run, whose name agrees "
    "with nothing, to the only run of its verdicts. Its `incomplete_ids` are expected, if they are "
    "fewer than its `submitted_ids`. A report of one instance in its folder, beside reports of "
    "instances, is one of them; `run_instance.log` there without a report is an attempt. An empty "
    "patch is a field, `patch_is_empty`, and why a patch was not tested is `patch_error`. Tokens, "
    "cost and time of instances in JSONL beside their "
    "only run are read for attempts without a transcript whose instance is there once. A "
    "`results.json` of resolved instances alone is read only with predictions."
)
NAMES = re.compile(r"(\.(jsonl(\.gz|\.zst)?|json|traj)|(^|/)run_instance\.log)$", re.IGNORECASE)
ENDING = re.compile(r"\.traj(\.json)?$", re.IGNORECASE)
EVALUATED = re.compile(r"^(?:(.*?)/)??(?:logs/)?run_evaluation/([^/]+)/([^/]+)/[^/]+$")
# Folders of a run that say what is in them.
TRAJECTORIES = {"trajs", "trajectories"}
INNER = {
    *TRAJECTORIES,
    *("logs", "results", "eval_outputs", "evaluation", "evaluations", "reports"),
}
INNER_PREDICTED = {"predictions", "preds"}
SPLIT = re.compile(r"/evaluation/([\w-]+)/[^/]+/")
FEW_BYTES = 400
INSTANCE = re.compile(rb'^\s*\{\s*"([^"\\]+)"\s*:\s*\{')
# A document of one prediction begins with one of its own fields, one of many with an instance.
ONE = re.compile(rb'^\s*\{\s*"(instance_id|model_name_or_path|model_patch)"\s*:\s*("|null)')
MODEL = re.compile(rb'"model_name_or_path"\s*:\s*"([^"\\]+)"')
PREDICTED = ("output", "predictions", "prediction")
LISTING = ("report", "results")
LISTINGS = ("results.json", "report.json")
ROLES = (*PREDICTED, *LISTING, "graded", "trajectory", "measures", "log")
# Files that are of a run that others are.
ADDED = ("measures", "log")
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
# Why a patch was not tested, and failed.
# What an evaluation that broke down is called by; the patch has no verdict then.
BROKEN_DOWN = {
    "error": "the evaluation ended with an error",
    "error_eval": "the evaluation ended with an error",
    "no_logs": "the evaluation left no log",
    "install_fail": "the evaluation could not install the repository",
    "reset_failed": "the evaluation could not reset the repository",
    "test_errored": "the tests broke down",
    "test_timeout": "the tests took too long",
}
UNTESTED = {
    "empty_patch": "the patch is empty",
    "no_generation": "no patch was generated",
    "no_apply": "the patch does not apply",
}
OF_NO_RUN = "measures instances of no run beside it, or of several"
RESOLVED_ALONE = "lists resolved instances alone; the predictions that it grades are not beside it"
# The log that the harness leaves of an instance, and its words for a patch that does not apply.
LOG = "run_instance.log"
NOT_APPLIED = b">>>>> Patch Apply Failed"
TESTS_OF_REPORT = "tests_status"
TESTS = ("FAIL_TO_PASS", "PASS_TO_PASS")
MOST_TESTS = 500
LONGEST_PATCH = 20_000
LARGEST_PATCH = 1 << 20
MOSTLY_APPLIED = 0.9
# Verdicts on fewer instances may be the same by chance.
FEWEST_VERDICTS = 5
EACH_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)


def _role(path: Path) -> str:
    """What a file is, by its name and its first keys; empty if it is of another format."""
    name = path.name.lower()
    if name == LOG:
        return "log"
    begun = head(path)

    def has(*keys: str) -> bool:
        return all(f'"{key}"'.encode() in begun for key in keys)

    is_prediction = has("instance_id", "model_patch")
    if ENDING.search(name):
        return "trajectory"
    if has("responses_create_params"):
        return ""
    if ".jsonl" in name:
        if has("instance_id", "test_result"):
            return "output"
        is_named = has("instance_id") or has("instanceId")
        is_measured = is_named and not is_prediction and bool(_measures(path, 1))
        return "predictions" if is_prediction else "measures" * is_measured
    if has("patch_successfully_applied"):
        return "graded"
    if has("resolved_instances") or has("completed_ids", "resolved_ids"):
        return "report"
    # The lists are long: what was resolved may come after what is looked at here.
    if name in LISTINGS and has("no_generation") and (has("resolved") or has("generated")):
        return "results"
    if ONE.search(begun):
        return "prediction" * (_prediction(path) is not None)
    return "predictions" * (is_prediction and "pred" in name)


def _prediction(path: Path) -> dict[str, Any] | None:
    """The one prediction that a document is."""
    one = fields(next(documents([path]), None))
    is_one = text(one.get("instance_id")) and {"model_name_or_path", "model_patch"} <= one.keys()
    return one if is_one else None


def _instance(path: Path, role: str) -> str:
    """The instance that a file is of; empty if it is of many."""
    if role == "trajectory":
        return ENDING.sub("", path.name)
    if role == "prediction":
        return str(get(_prediction(path), "instance_id") or "")
    if role == "log":
        return path.parent.name
    if role != "graded":
        return ""
    if instance := _only_listed(path):
        return instance
    begun = INSTANCE.match(head(path, FEW_BYTES))
    # A report without the name of its instance is in a folder that has it.
    is_named = begun is not None and begun[1] != TESTS_OF_REPORT.encode()
    return begun[1].decode("utf-8", "replace") if begun and is_named else path.parent.name


def _only_listed(path: Path) -> str:
    """The instance of a report of a run whose folder, or one above it, is named after the only one.

    Who evaluates instances one by one may have such a report in place of that of the instance.
    """
    if b'"submitted_ids"' not in head(path):
        return ""
    listed = _listed(path, "report")
    return listed[0] if len(listed) == 1 and listed[0] in path.parts[:-1] else ""


def _layout(file: ListedFile, instance: str) -> tuple[str, int, str]:
    """The folder of all instances, how far below it the file of one is, and its name."""
    above, _, below = f"/{file.folder}/".partition(f"/{instance}/")
    return above, below.count("/"), file.base


def _with_reports_of_one(files: Sequence[ListedFile], roles: dict[str, str]) -> dict[str, str]:
    """The roles, where reports of one instance that are beside those of instances are such, too."""
    layouts = {
        _layout(file, _instance(file.path, "graded"))
        for file in files
        if roles.get(file.name) == "graded"
    }
    alike = {
        file.name
        for file in files
        if layouts and roles.get(file.name) == "report" and (instance := _only_listed(file.path))
        if _layout(file, instance) in layouts
    }
    return {name: "graded" if name in alike else role for name, role in roles.items()}


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """The files of runs; the first file of a run that lists instances has its rows."""
    roles = {file.name: role for file in files if (role := _role(file.path))}
    roles = _with_reports_of_one(files, roles)
    groups: dict[tuple[str, str], list[ListedFile]] = defaultdict(list)
    predicted = {
        file.folder: _place(file, roles[file.name])[0]
        for file in files
        if roles.get(file.name) in PREDICTED
    }
    for file in files:
        if roles.get(file.name, "measures") not in ADDED:
            place, key = _place(file, roles[file.name])
            # Trajectories beside predictions are of their run.
            if roles[file.name] == "trajectory":
                place = predicted.get(home(file.name, predicted.keys()) or "", place)
            groups[place, key].append(file)
    _join_by_name(groups, roles)
    _join_by_patch(groups, roles)
    _join(groups, roles)
    _join_below(groups, roles)
    _join_only(groups, roles)
    _join_by_verdict(groups, roles)
    _join_by_instances(groups, roles)
    measured = [file for file in files if roles.get(file.name) == "measures"]
    for file in measured if groups else ():
        ids = set(_measures(file.path))
        runs = [
            inside
            for inside in groups.values()
            if any(_is_at_or_below(one.folder, file.folder) for one in inside)
            and ids <= _ids(inside, roles)
        ]
        if len(runs) == 1:
            runs[0].append(file)
        else:
            yield Claim(file, Kind.OTHER, file.folder, file.base, skipped=OF_NO_RUN)
    _join_logs(groups, roles, [file for file in files if roles.get(file.name) == "log"])
    for (place, key), inside in groups.items():
        inside.sort(key=lambda file: (ROLES.index(roles[file.name]), file.base != "output.jsonl"))
        first = inside[0]
        above = first.name.count("/") - (place.count("/") + 1 if place else 0)
        run = (place.rpartition("/")[0], first.path.parents[above].name or "runs", key)
        known = _instances(first.path, roles[first.name])
        is_row = known != set()
        if is_row:
            yield Claim(first, Kind.ROLLOUTS, *run, tuple(file.path for file in inside[1:]))
        yield from _others(inside[is_row:], roles, run, known)


def _is_at_or_below(folder: str, above: str) -> bool:
    return not above or f"{folder}/".startswith(f"{above}/")


def _join(groups: dict[tuple[str, str], list[ListedFile]], roles: Mapping[str, str]) -> None:
    """Add to predictions what is of their instances: evaluations, trajectories and copies.

    The evaluation is the only one in their folder, or the only one of their model; one of other
    instances is a run of its own.
    """
    for place in dict.fromkeys(place for place, _ in groups):
        _join_copies(groups, place, roles)
        ids = {key: _ids(groups[at, key], roles) for at, key in groups if at == place}
        here = {key: {roles[file.name] for file in groups[place, key]} for key in ids}
        predicted = [key for key in here if here[key].intersection(PREDICTED)]
        if len(predicted) == 1 and not ids[predicted[0]].isdisjoint(ids.get("", ())):
            _part_strays(groups, place, roles, ids[predicted[0]])
        graded = [key for key in here if here[key] - {*PREDICTED, "trajectory"}]
        for key in predicted:
            begun = _model(groups[place, key][0].path) or "/"
            same = [one for one in graded if _agree(ids[one], ids[key])]
            is_only = len(predicted) == len(same) == 1
            near = [one for one in same if is_only or one.startswith(f"{begun}.")]
            if len(near) == 1 and near != [key] and (place, near[0]) in groups:
                groups[place, key] += groups.pop((place, near[0]))
        # Trajectories belong to the only run of their instances, if there are predictions to these.
        runs = [
            key
            for at, key in groups
            if at == place and key and _agree(ids.get(key, set()), ids.get("", set()))
        ]
        runs = [key for key in runs if key in predicted] or runs
        if len(runs) == 1 and (place, "") in groups:
            groups[place, runs[0]] += groups.pop((place, ""))


def _join_by_name(
    groups: dict[tuple[str, str], list[ListedFile]], roles: Mapping[str, str]
) -> None:
    """Add evaluations of instances to the one report that is named as their folders are.

    The harness sums up `RUN/MODEL/INSTANCE/report.json` in `MODEL.RUN.json`. Without it, to the one
    file of predictions of this model, if these are the only evaluations of it.
    """
    evaluated: dict[tuple[str, str], tuple[str, str]] = {}
    reports: dict[str, list[tuple[str, str]]] = defaultdict(list)
    predictions: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for at, files in groups.items():
        here = {roles[file.name] for file in files}
        folders = {tuple(file.folder.split("/")[-3:-1]) for file in files}
        if here == {"graded"} and len(folders) == 1 and len(*folders) == 2:
            ((run, model),) = folders
            evaluated[at] = (run, model)
        elif "report" in here:
            reports[at[1]].append(at)
        elif "predictions" in here:
            listed = next(file for file in files if roles[file.name] == "predictions")
            predictions[_model(listed.path)].append(at)
    n_runs_of = Counter(model for _, model in evaluated.values())
    for at, (run, model) in evaluated.items():
        named = reports[f"{model}.{run}"]
        if not named and n_runs_of[model] == 1:
            named = predictions[model]
        if len(named) == 1 and _ids(groups[at], roles) <= _ids(groups[named[0]], roles):
            groups[named[0]] += groups.pop(at)


def _model(path: Path) -> str:
    """The model of predictions as the harness writes it in names, from the first of them."""
    named = MODEL.search(head(path))
    return named[1].decode("utf-8", "replace").replace("/", "__") if named else ""


def _join_by_patch(
    groups: dict[tuple[str, str], list[ListedFile]], roles: Mapping[str, str]
) -> None:
    """Add evaluations to the only predictions, in any folder, whose patches they applied.

    Some drop files of a patch before it is evaluated, tests for example: the rest is the same.
    """
    graded = [
        at
        for at, files in groups.items()
        if "graded" in (here := {roles[file.name] for file in files})
        and here.isdisjoint((*PREDICTED, "trajectory"))
    ]
    if not graded:
        return
    predicted = {
        at: {
            str(get(row, "instance_id")): _by_file(str(get(row, "model_patch")))
            for row in _predictions_of(files, roles)
        }
        for at, files in groups.items()
    }
    runs: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for at in graded:
        applied = dict(_applied(groups[at]))
        same = [
            one
            for one, patches in predicted.items()
            if applied
            and sum(
                patch <= patches.get(name, frozenset()) for name, patch in applied.items() if patch
            )
            >= MOSTLY_APPLIED * len(applied)
        ]
        if len(same) == 1:
            runs[same[0]].append(at)
    for run, evaluations in runs.items():
        # Of several, which may be repeats, each is a run of its own.
        if len(evaluations) == 1:
            groups[run] += groups.pop(evaluations[0])


def _predictions_of(files: Iterable[ListedFile], roles: Mapping[str, str]) -> list[Any]:
    rows: list[Any] = []
    for file in files:
        if roles[file.name] in ("predictions", "prediction"):
            with contextlib.suppress(OSError, ValueError):  # reading it makes the reject
                rows += _predictions(file.path)
    return rows


def _by_file(patch: str) -> frozenset[str]:
    """The parts of a patch, one per file that it changes."""
    return frozenset(part.strip() for part in EACH_FILE.split(patch) if part.strip())


def _applied(files: Iterable[ListedFile]) -> Iterator[tuple[str, frozenset[str]]]:
    """The patch that the harness wrote beside the report of an instance."""
    for file in files:
        path = file.path.parent / "patch.diff"
        if (
            _instance(file.path, "graded")
            and path.is_file()
            and path.stat().st_size <= LARGEST_PATCH
        ):
            written = path.read_text(encoding="utf-8", errors="replace")
            yield _instance(file.path, "graded"), _by_file(written)


def _join_below(groups: dict[tuple[str, str], list[ListedFile]], roles: Mapping[str, str]) -> None:
    """Add files of single instances to the only run of these instances in a folder above theirs."""
    listing = {
        at: ids
        for at, files in groups.items()
        if not {roles[file.name] for file in files}.isdisjoint((*PREDICTED, *LISTING))
        and (ids := _ids(files, roles))
    }
    for at in [at for at in groups if at not in listing]:
        ids = _ids(groups[at], roles)
        folder = at[0]
        while folder and ids:
            folder = folder.rpartition("/")[0]
            above = [one for one in listing if one[0] == folder]
            if above:
                same = [one for one in above if _agree(ids, listing[one])]
                if len(above) == len(same) == 1:
                    groups[same[0]] += groups.pop(at)
                break


def _join_only(groups: dict[tuple[str, str], list[ListedFile]], roles: Mapping[str, str]) -> None:
    """Add to the only predictions the only report and evaluation, if of their instances."""
    here = {at: {roles[file.name] for file in files} for at, files in groups.items()}
    predicted = [at for at, has in here.items() if has.intersection(PREDICTED)]
    if len(predicted) != 1:
        return
    ids = _ids(groups[predicted[0]], roles)
    for role in ("report", "graded"):
        others = [at for at, has in here.items() if role in has and at in groups]
        if len(others) != 1 or others == predicted:
            continue
        # Of a damaged one it is not known which instances it is of.
        theirs = _ids(groups[others[0]], roles)
        if theirs and theirs <= ids:
            groups[predicted[0]] += groups.pop(others[0])


def _join_logs(
    groups: dict[tuple[str, str], list[ListedFile]],
    roles: Mapping[str, str],
    logs: Sequence[ListedFile],
) -> None:
    """Add the logs of instances that were evaluated beside those of a run and have no report."""
    runs: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for at, files in groups.items() if logs else ():
        for file in files:
            if roles[file.name] == "graded" and file.path.parent.name == _instance(
                file.path, "graded"
            ):
                runs[file.folder.rpartition("/")[0]].add(at)
    known = {at: _ids(groups[at], roles) for own in runs.values() for at in own}
    for log in logs:
        own = runs.get(log.folder.rpartition("/")[0], set())
        if len(own) == 1 and _instance(log.path, "log") not in known[min(own)]:
            groups[min(own)].append(log)


def _join_by_verdict(
    groups: dict[tuple[str, str], list[ListedFile]], roles: Mapping[str, str]
) -> None:
    """Add a report of a run, whose name agrees with nothing, to the only run of its verdicts."""
    resolved: dict[tuple[str, str], dict[str, bool]] = {}
    reports: dict[tuple[str, str], dict[str, bool]] = {}
    for at, files in groups.items():
        here = {roles[file.name] for file in files}
        with contextlib.suppress(OSError, ValueError):  # reading it makes the reject
            if here == {"report"} and len(files) == 1:
                reports[at] = _resolved_of(files[0].path)
            elif "graded" in here and here.isdisjoint(LISTING):
                resolved[at] = dict(
                    pair
                    for file in files
                    if roles[file.name] == "graded"
                    for pair in _resolved_in(file.path)
                )
    for at, verdicts in reports.items():
        same = [run for run, theirs in resolved.items() if theirs == verdicts]
        n_reports = sum(others == verdicts for others in reports.values())
        if len(verdicts) >= FEWEST_VERDICTS and len(same) == n_reports == 1:
            groups[same[0]] += groups.pop(at)


def _join_by_instances(
    groups: dict[tuple[str, str], list[ListedFile]], roles: Mapping[str, str]
) -> None:
    """Add a report to the only predictions beside it that have patches of just what it tested."""
    patched: dict[tuple[str, str], set[str]] = {}
    tested: dict[tuple[str, str], set[str]] = {}
    for at, files in groups.items():
        here = {roles[file.name] for file in files}
        with contextlib.suppress(OSError, ValueError):  # reading it makes the reject
            if here == {"report"} and len(files) == 1:
                report = fields(document(files[0].path))
                empty = _texts(report.get("empty_patch_ids"))
                tested[at] = set(_texts(report.get("submitted_ids"))).difference(empty)
            elif here.intersection(PREDICTED) and here.isdisjoint({*LISTING, "graded"}):
                patched[at] = {
                    str(get(row, "instance_id"))
                    for row in _predictions_of(files, roles)
                    if get(row, "model_patch")
                }
    for at, ids in tested.items():
        folder = groups[at][0].folder
        same = [
            run
            for run, theirs in patched.items()
            if theirs == ids and groups[run][0].folder == folder
        ]
        n_reports = sum(others == ids for others in tested.values())
        if len(ids) >= FEWEST_VERDICTS and len(same) == n_reports == 1:
            groups[same[0]] += groups.pop(at)


def _resolved_of(path: Path) -> dict[str, bool]:
    """Whether each instance that a report of a run lists as evaluated is resolved."""
    report = fields(document(path))
    return {
        instance: is_resolved
        for name, is_resolved in (("unresolved_ids", False), ("resolved_ids", True))
        for instance in _texts(report.get(name))
    }


def _resolved_in(path: Path) -> Iterator[tuple[str, bool]]:
    """The instances of a document of verdicts, and whether each is resolved."""
    report = fields(document(path))
    if "submitted_ids" in report:
        yield from _resolved_of(path).items()
    if isinstance(report.get("resolved"), bool):
        report = {path.parent.name: report}
    for instance, graded in report.items():
        if isinstance(is_resolved := get(graded, "resolved"), bool):
            yield instance, is_resolved


def _join_copies(
    groups: dict[tuple[str, str], list[ListedFile]], place: str, roles: Mapping[str, str]
) -> None:
    """Join two files of the same predictions, one of lines and one that is a document.

    Two of one form may be repeats.
    """
    firsts: dict[Any, tuple[str, bool]] = {}
    for key in [key for at, key in groups if at == place]:
        file = next((one for one in groups[place, key] if roles[one.name] == "predictions"), None)
        if file is None:
            continue
        try:
            patches = frozenset(
                (str(get(row, "instance_id")), str(get(row, "model_patch")))
                for row in _predictions(file.path)
            )
        except (OSError, ValueError):
            continue
        is_lines = ".jsonl" in file.base.lower()
        first, is_first_lines = firsts.setdefault(patches, (key, is_lines))
        if first != key and is_lines != is_first_lines:
            groups[place, first] += groups.pop((place, key))


def _part_strays(
    groups: dict[tuple[str, str], list[ListedFile]],
    place: str,
    roles: Mapping[str, str],
    known: set[str],
) -> None:
    """Take reports that name none of the instances out of the files without a name of a run."""
    inside = groups[place, ""]
    for file in [one for one in inside if roles[one.name] in LISTING]:
        listed = set(_listed(file.path, roles[file.name]))
        if listed and listed.isdisjoint(known):
            inside.remove(file)
            groups[place, file.base.partition(".json")[0]].append(file)


def _ids(files: Iterable[ListedFile], roles: Mapping[str, str]) -> set[str]:
    """The instances that files name; none if they are not known."""
    known: set[str] = set()
    for file in files:
        one = _instance(file.path, roles[file.name])
        known |= {one} if one else _instances(file.path, roles[file.name]) or set()
    return known


def _agree(ids: set[str], others: set[str]) -> bool:
    """Whether half of the fewer instances are the same; of unknown ones nothing says no."""
    return not ids or not others or 2 * len(ids & others) >= min(len(ids), len(others))


def _place(file: ListedFile, role: str) -> tuple[str, str]:
    """The folder of the run that a file is of, and what names the run in it."""
    folders = file.folder.split("/") if file.folder else []
    instance, stem = _instance(file.path, role), file.base.partition(".json")[0]
    is_plain = stem == "report" or stem.startswith("output") or role not in (*PREDICTED, "report")
    if role in PREDICTED and not instance:
        inner = TRAJECTORIES | INNER_PREDICTED
        outer = folders[:-1] if inner.intersection(folders[-1:]) else folders
        return "/".join(outer), stem * (not is_plain)
    if role == "graded" and (run := EVALUATED.match(file.folder)):
        return run[1] or "", f"{run[3]}.{run[2]}"
    folders = folders[: folders.index(instance)] if instance in folders else folders
    folders = folders[:-1] if (INNER | INNER_PREDICTED).intersection(folders[-1:]) else folders
    return "/".join(folders), stem * (not is_plain and not instance)


def _others(
    files: list[ListedFile],
    roles: Mapping[str, str],
    run: tuple[str, str, str],
    known: set[str] | None,
) -> Iterator[Claim]:
    """The other files of a run: those of an instance are rows only if the first file lacks it."""
    steps = {ENDING.sub("", file.base): file.path for file in files if ENDING.search(file.base)}
    listings = [file.path for file in files if roles[file.name] in LISTING]
    graded = {
        _instance(file.path, "graded"): file.path for file in files if roles[file.name] == "graded"
    }
    predicted = frozenset(known or ())
    for file in files:
        role = roles[file.name]
        instance = _instance(file.path, role)
        beside = (steps[instance],) if instance in steps else ()
        is_row = bool(instance) and known is not None and instance not in known
        if role == "prediction":
            is_row = known is not None and instance not in predicted
            # Any report says that the run was evaluated, and where the logs of its instances are.
            own = graded.get(instance) or next(iter(graded.values()), None)
            beside = (*beside, *listings, *([own] if own else []))
        kind = Kind.AGGREGATE_METRICS if role in LISTING else Kind.OTHER
        is_alone = role == "results" and not known and known is not None
        yield Claim(
            file,
            Kind.ROLLOUTS if is_row else kind,
            *run,
            beside,
            skipped=RESOLVED_ALONE if is_alone else None,
            owns=file.folder if file.path.parent.name == instance else None,
        )
        if known is not None and (beside or role == "prediction"):
            known.add(instance)


def _instances(path: Path, role: str) -> set[str] | None:
    """The instances of a file of rows; None for one that is damaged, or an output: long."""
    if role == "output":
        return None
    try:
        rows = _predictions(path) if role == "predictions" else ()
        return {*_listed(path, role), *(str(get(row, "instance_id")) for row in rows)}
    except (OSError, ValueError):
        return None


def _measures(path: Path, most: int | None = None) -> dict[str, dict[str, Any]]:
    """What instances took, of those that a file names once: of repeats it is not known which."""
    rows: list[dict[str, Any]] = []
    with contextlib.suppress(OSError, ValueError):
        rows += (row for row in itertools.islice(objects(path), most) if isinstance(row, dict))
    ids = [text(row.get("instance_id")) or text(row.get("instanceId")) for row in rows]
    n_rows = Counter(ids)
    return {
        instance: spent
        for instance, row in zip(ids, rows, strict=True)
        if instance and n_rows[instance] == 1
        if (spent := own_table.measures(row))
    }


def _listed(path: Path, role: str) -> list[str]:
    """The instances of a report in order, each once; none if it lists resolved ones alone."""
    report = fields(next(documents([path]), None)) if role in LISTING else {}
    if "resolved" in report and "generated" not in report:
        return []
    names = ("submitted_ids", "generated", *LISTS)
    return list(dict.fromkeys(one for name in names for one in _texts(report.get(name))))


def _texts(value: Any) -> list[str]:
    return [one for one in items(value) if isinstance(one, str) and one]


def _predictions(path: Path) -> Iterator[Any]:
    """The predictions of a file: lines, the elements of a list, an object of them, or one."""
    if ".jsonl" in path.name.lower():
        yield from objects(path)
    elif one := _prediction(path) if ONE.search(head(path)) else None:
        yield one
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
    if role in PREDICTED:
        if known.measures:
            n_rows = Counter(text(get(row, "instance_id")) for row in _predictions(artifact.path))
            known.measures = {one: has for one, has in known.measures.items() if n_rows[one] == 1}
        for row in _predictions(artifact.path):
            if not isinstance(row, dict):
                is_read = isinstance(row, Reading)
                yield row if is_read else Reject("not a JSON object", str(row)[:200])
            elif instance := text(row.get("instance_id")):
                yield known.attempt(instance, row, benchmark)
            else:
                yield Reject("no prediction of SWE-bench: no instance_id", str(row)[:200])
    elif role in LISTING:
        for instance in _listed(artifact.path, role):
            yield known.attempt(instance, {}, benchmark)
        # What the report of one instance counts is not all of a run.
        if artifact.beside or not _only_listed(artifact.path):
            yield from _figures(artifact.path)
    elif instance := _instance(artifact.path, role):
        yield known.attempt(instance, {}, benchmark)
    else:
        raise ValueError("no file of SWE-bench")
    # After the rows, so that these have the numbers of their lines.
    yield from known.faults


def _figures(path: Path) -> Iterator[Reading]:
    """What a report counts; an instance without a verdict counts as unresolved.

    Instances without a prediction are expected, too. Of more than were predicted, the dataset is
    listed whole, and a part of it was chosen.
    """
    report = fields(document(path))
    submitted, incomplete = (
        list(dict.fromkeys(_texts(report.get(name))))
        for name in ("submitted_ids", "incomplete_ids")
    )
    yield from expected(submitted, 1)
    if len(incomplete) < len(submitted):
        yield from expected([one for one in incomplete if one not in submitted], 1)
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
        self.pieces: dict[tuple[str, str], Path] = {}
        self.graded: dict[str, Any] = {}
        self.measures: dict[str, dict[str, Any]] = {}
        self.is_evaluated = False
        # The folders with a folder per evaluated instance.
        self.folders: list[Path] = []
        self.unlisted: Verdict = (None, "not in a report")
        self.faults: list[Reject] = []
        for path in paths:
            role = _role(path)
            instance = _instance(path, role)
            self.pieces[role, instance] = path
            # Outside the folder of an instance a report may be of many.
            if role == "graded" and path.parent.name != instance:
                self.graded |= fields(next(documents([path]), None))
            elif role in ("graded", "log") and path.parents[1] not in self.folders:
                self.folders.append(path.parents[1])
            self.is_evaluated |= role in ("graded", "log", *LISTING)
            if role == "measures":
                self.measures |= _measures(path)
            if role not in LISTING:
                continue
            report = fields(next(documents([path]), None))
            for name, reward in LISTS.items():
                status = "unresolved" if name == "with_logs" else name.removesuffix("_ids")
                for instance in _texts(report.get(name)):
                    self.verdicts.setdefault(instance, (reward, status))
            # Instances of the dataset that were not run, whether or not there is a prediction.
            for instance in _texts(report.get("incomplete_ids")):
                self.verdicts.setdefault(instance, (None, "incomplete"))
            self.reasons |= fields(report.get("failure_reasons"))
            # It lists what was resolved and what was not graded.
            if "resolved" in report and "with_logs" not in report:
                self.unlisted = (0.0, "unresolved")

    def ended(self, instance: str, *, is_empty: bool) -> Verdict | None:
        """The verdict on a patch that was evaluated without a report: unresolved in SWE-bench."""
        if is_empty and self.is_evaluated:
            return 0.0, "empty_patch"
        return (0.0, "no_apply") if self.is_not_applied(instance) else None

    def listed(self, instance: str) -> Verdict | None:
        """The verdict of the run's report. What its log says of an error is the patch's fault."""
        verdict = self.verdicts.get(instance)
        is_error = verdict is not None and verdict[1] == "error"
        return (0.0, "no_apply") if is_error and self.is_not_applied(instance) else verdict

    def is_not_applied(self, instance: str) -> bool:
        """Whether the log of the instance says that its patch does not apply."""
        logs = [folder / instance / LOG for folder in self.folders]
        return any(
            not log.is_symlink() and log.is_file() and NOT_APPLIED in _end(log) for log in logs
        )

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
        graded = fields(self.graded.get(instance))
        if not graded and (graded_in := self.pieces.get(("graded", instance))):
            report = fields(next(documents([graded_in]), None))
            graded = fields(report.get(instance)) or report
        patch = prediction.get("model_patch", get(prediction, "test_result", "git_patch"))
        has_patch = "model_patch" in prediction or "test_result" in prediction
        is_empty = has_patch and not (text(patch) or "").strip()
        reward, status = (
            _verdict(graded)
            or self.listed(instance)
            or _own_verdict(prediction)
            or self.ended(instance, is_empty=is_empty)
            or self.unlisted
        )
        row = {
            "_ng_task_index": instance,
            "evaluation": status,
            "resolved": None if reward is None else reward == 1.0,
            "patch_error": UNTESTED.get(status),
            "error_message": BROKEN_DOWN.get(status),
            "failure_reason": text(self.reasons.get(instance)),
            "patch_is_empty": is_empty if has_patch else None,
            "model_patch": (text(patch) or "")[:LONGEST_PATCH] or None,
            "patch_successfully_applied": graded.get("patch_successfully_applied"),
            "exit_status": text(prediction.get("exit_status")),
            **{name: _tests(get(graded, TESTS_OF_REPORT, name)) for name in TESTS},
        }
        request: dict[str, Any] = {"model": text(prediction.get("model_name_or_path"))}
        if transcript:
            question = {"input": transcript.question} if transcript.question else {}
            request |= {**question, **without_empty({"model": transcript.model})}
            row |= transcript.row
        elif measured := self.measures.get(instance):
            row |= {"response": {"object": "response", "usage": measured.get("usage", {})}}
            row["total_run_time"] = measured.get("total_run_time")
        row["responses_create_params"] = without_empty(request)
        dataset = (text(get(prediction, "metadata", "dataset")) or "").rpartition("/")[2]
        return Row(
            {"reward": reward, **without_empty(row)},
            benchmark=dataset or benchmark,
            limit_reached=transcript.cap if transcript else None,
        )


def _end(log: Path) -> bytes:
    """The end of a log, which says how it ended."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - LARGEST_PATCH))
            return file.read()
    except OSError:
        return b""


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
