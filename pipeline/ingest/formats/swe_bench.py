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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Claims,
    Files,
    Object,
    Reading,
    Readings,
    Reject,
    Row,
    counted,
    document,
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
    paths_of,
    readable,
    settings,
    text,
    without_empty,
)
from .swe_transcripts import CAP, openhands, trajectory

TITLE = "SWE-bench"
FILES = (
    "predictions (`all_preds.jsonl`, `preds.json`, or a document per instance), reports of runs "
    "(`<model>.<run>.json`, `results/results.json`, `final_report.json`) and instances "
    "(`<instance>/report.json`), `*.traj` of SWE-agent, `*.traj.json` of mini-swe-agent, "
    "and its `exit_statuses_*.yaml`, `output.jsonl` of OpenHands, and JSONL with `instance_id` and "
    "tokens, cost or time"
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
    "`results.json` of resolved instances alone is read only with predictions. The model of a "
    "report or an evaluation alone is in its name (`<model>.<run>.json`) or folder."
)
NAMES = re.compile(
    r"(\.(jsonl(\.gz|\.zst)?|json|traj)|(^|/)(run_instance\.log|exit_statuses_[\d.]+\.yaml))$",
    re.IGNORECASE,
)
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
ROLES = (*PREDICTED, *LISTING, "graded", "trajectory", "measures", "endings", "log")
# Files that are of a run that others are.
ADDED = ("measures", "endings", "log")
# How mini-swe-agent ended at the instances of one start of it: its name has the time.
ENDINGS = re.compile(r"exit_statuses_([\d.]+)\.yaml", re.IGNORECASE)
# It handed in a patch; any other word but that of a cap is the class of an exception.
HANDED_IN = "Submitted"
CLOCK = re.compile(r"\d{1,15}(\.\d+)?")
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


At = tuple[str, str]
ENDING = re.compile(r"\.traj(\.json)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Piece:
    """A file of a run: what it is, and the instance that it is of; empty if it is of many."""

    file: ListedFile
    role: str
    instance: str

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def ids(self) -> set[str]:
        """The instances that it names; none if they are not known."""
        return {self.instance} if self.instance else _instances(self.path, self.role) or set()


# The files of a run, by its folder and what names it there.
Groups = dict[At, list[Piece]]


def _role(path: Path) -> str:
    """What a file is, by its name and its first keys; empty if it is of another format."""
    name = path.name.lower()
    if name == LOG:
        return "log"
    if ENDINGS.fullmatch(name):
        return "endings"
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
    # Of AutoCodeRover: counts, and what was resolved.
    if name == "final_report.json" and has("stats", "resolved"):
        return "results"
    if ONE.search(begun):
        return "prediction" * (_prediction(path) is not None)
    return "predictions" * (is_prediction and "pred" in name)


def _instance(path: Path, role: str) -> str:
    """The instance that a file is of; empty if it is of many."""
    match role:
        case "trajectory":
            return ENDING.sub("", path.name)
        case "prediction":
            return str(get(_prediction(path), "instance_id") or "")
        case "log":
            return path.parent.name
        case "graded":
            begun = INSTANCE.match(head(path, FEW_BYTES))
            # A report without the name of its instance is in a folder that has it.
            is_named = begun is not None and begun[1] != TESTS_OF_REPORT.encode()
            named = begun[1].decode("utf-8", "replace") if begun and is_named else path.parent.name
            return _only_listed(path) or named
    return ""


def _pieces(files: Files) -> list[Piece]:
    """The files of the format; reports of one instance beside those of instances are such, too."""
    pieces = [
        Piece(file, role, _instance(file.path, role))
        for file in files
        if (role := _role(file.path))
    ]

    def layout(file: ListedFile, instance: str) -> tuple[str, int, str]:
        """The folder of all instances, how far below it the file of one is, and its name."""
        above, _, below = f"/{file.folder}/".partition(f"/{instance}/")
        return above, below.count("/"), file.base

    layouts = {layout(piece.file, piece.instance) for piece in pieces if piece.role == "graded"}
    return [
        Piece(piece.file, "graded", instance)
        if layouts
        and piece.role == "report"
        and (instance := _only_listed(piece.path))
        and layout(piece.file, instance) in layouts
        else piece
        for piece in pieces
    ]


def _prediction(path: Path) -> Object | None:
    """The one prediction that a document is."""
    one = fields(readable(path))
    is_one = text(one, "instance_id") and {"model_name_or_path", "model_patch"} <= one.keys()
    return one if is_one else None


def _only_listed(path: Path) -> str:
    """The instance of a report of a run whose folder, or one above it, is named after the only one.

    Who evaluates instances one by one may have such a report in place of that of the instance.
    """
    if b'"submitted_ids"' not in head(path):
        return ""
    listed = _listed(path, "report")
    return listed[0] if len(listed) == 1 and listed[0] in path.parts[:-1] else ""


def claims(files: Files) -> Claims:
    """The files of runs; the first file of a run that lists instances has its rows."""
    pieces = _pieces(files)
    groups: Groups = defaultdict(list)
    predicted = {piece.file.folder: _place(piece)[0] for piece in pieces if piece.role in PREDICTED}
    for piece in pieces:
        if piece.role not in ADDED:
            place, key = _place(piece)
            # Trajectories beside predictions are of their run.
            if piece.role == "trajectory":
                place = predicted.get(home(piece.file.name, predicted.keys()) or "", place)
            groups[place, key].append(piece)
    _join_by_name(groups)
    _join_by_patch(groups)
    _join(groups)
    _join_below(groups)
    _join_only(groups)
    _join_by_verdict(groups)
    _join_by_instances(groups)
    for piece in pieces if groups else ():
        if piece.role in ("measures", "endings"):
            folder = piece.file.folder
            is_measured = piece.role == "measures"
            ids = set((_measures if is_measured else _endings)(piece.path))
            runs = [
                inside
                for inside in groups.values()
                if any(
                    not folder or f"{one.file.folder}/".startswith(f"{folder}/") for one in inside
                )
                and (is_measured or _roles(inside).intersection((*PREDICTED, "trajectory")))
                and ids <= _ids(inside)
            ]
            if len(runs) == 1:
                runs[0].append(piece)
            elif is_measured:
                yield Claim(piece.file, Kind.OTHER, folder, piece.file.base, skipped=OF_NO_RUN)
    _join_logs(groups, [piece for piece in pieces if piece.role == "log"])
    for (place, key), inside in groups.items():
        inside.sort(key=lambda piece: (ROLES.index(piece.role), piece.file.base != "output.jsonl"))
        first = inside[0]
        above = first.file.name.count("/") - (place.count("/") + 1 if place else 0)
        run = (place.rpartition("/")[0], first.path.parents[above].name or "runs", key)
        known = _instances(first.path, first.role)
        is_row = known != set()
        if is_row:
            yield Claim(first.file, Kind.ROLLOUTS, *run, paths_of(one.file for one in inside[1:]))
        yield from _others(inside[is_row:], run, known)


def _ids(pieces: Iterable[Piece]) -> set[str]:
    """The instances that files name; none if they are not known."""
    return {instance for piece in pieces for instance in piece.ids}


def _roles(pieces: Iterable[Piece]) -> set[str]:
    return {piece.role for piece in pieces}


def _paths(pieces: Iterable[Piece], *roles: str) -> list[Path]:
    return [piece.path for piece in pieces if piece.role in roles]


def _add(groups: Groups, at: At, runs: Sequence[At]) -> None:
    """Add the files of a group to the run that they belong to, if only one may be it."""
    if len(runs) == 1:
        groups[runs[0]] += groups.pop(at)


def _join(groups: Groups) -> None:
    """Add to predictions what is of their instances: evaluations, trajectories and copies.

    The evaluation is the only one in their folder, or the only one of their model; one of other
    instances is a run of its own.
    """
    for place in dict.fromkeys(place for place, _ in groups):
        _join_copies(groups, place)
        ids = {key: _ids(groups[at, key]) for at, key in groups if at == place}
        here = {key: _roles(groups[place, key]) for key in ids}
        predicted = [key for key in here if here[key].intersection(PREDICTED)]
        if len(predicted) == 1 and not ids[predicted[0]].isdisjoint(ids.get("", ())):
            _part_strays(groups, place, ids[predicted[0]])
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
        if (place, "") in groups:
            _add(groups, (place, ""), [(place, key) for key in runs])


def _join_by_name(groups: Groups) -> None:
    """Add evaluations of instances to the one report that is named as their folders are.

    The harness sums up `RUN/MODEL/INSTANCE/report.json` in `MODEL.RUN.json`. Without it, to the one
    file of predictions of this model, if these are the only evaluations of it.
    """
    evaluated: dict[At, tuple[str, ...]] = {}
    reports: dict[str, list[At]] = defaultdict(list)
    predictions: dict[str, list[At]] = defaultdict(list)
    for at, pieces in groups.items():
        here = _roles(pieces)
        folders = {tuple(piece.file.folder.split("/")[-3:-1]) for piece in pieces}
        if here == {"graded"} and len(folders) == 1 and len(*folders) == 2:
            evaluated[at] = folders.pop()
        elif "report" in here:
            reports[at[1]].append(at)
        elif "predictions" in here:
            predictions[_model(_paths(pieces, "predictions")[0])].append(at)
    n_runs_of = Counter(model for _, model in evaluated.values())
    for at, (run, model) in evaluated.items():
        named = reports[f"{model}.{run}"]
        if not named and n_runs_of[model] == 1:
            named = predictions[model]
        if len(named) == 1 and _ids(groups[at]) <= _ids(groups[named[0]]):
            _add(groups, at, named)


def _join_by_patch(groups: Groups) -> None:
    """Add evaluations to the only predictions, in any folder, whose patches they applied.

    Some drop files of a patch before it is evaluated, tests for example: the rest is the same.
    """
    graded = [
        at
        for at, pieces in groups.items()
        if "graded" in (here := _roles(pieces)) and here.isdisjoint((*PREDICTED, "trajectory"))
    ]
    if not graded:
        return
    predicted = {
        at: {name: _by_file(str(patch)) for name, patch in _patches(pieces)}
        for at, pieces in groups.items()
    }
    runs: dict[At, list[At]] = defaultdict(list)
    for at in graded:
        applied = dict(_applied(groups[at]))
        n_least = MOSTLY_APPLIED * len(applied)
        same = [
            one
            for one, patches in predicted.items()
            if applied
            and sum(
                patch <= patches.get(name, frozenset()) for name, patch in applied.items() if patch
            )
            >= n_least
        ]
        if len(same) == 1:
            runs[same[0]].append(at)
    for run, evaluations in runs.items():
        # Of several, which may be repeats, each is a run of its own.
        if len(evaluations) == 1:
            _add(groups, evaluations[0], [run])


def _patches(pieces: Iterable[Piece]) -> Iterator[tuple[str, Any]]:
    """The instances of predictions with their patches."""
    for path in _paths(pieces, "predictions", "prediction"):
        with contextlib.suppress(OSError, ValueError):  # reading it makes the reject
            for row in _predictions(path):
                yield str(get(row, "instance_id")), get(row, "model_patch")


def _applied(pieces: Iterable[Piece]) -> Iterator[tuple[str, frozenset[str]]]:
    """The patch that the harness wrote beside the report of an instance."""
    for piece in pieces:
        path = piece.path.parent / "patch.diff"
        instance = _instance(piece.path, "graded")
        if instance and path.is_file() and path.stat().st_size <= LARGEST_PATCH:
            yield instance, _by_file(path.read_text(encoding="utf-8", errors="replace"))


def _join_below(groups: Groups) -> None:
    """Add files of single instances to the only run of these instances in a folder above theirs."""
    listing = {
        at: ids
        for at, pieces in groups.items()
        if _roles(pieces).intersection((*PREDICTED, *LISTING)) and (ids := _ids(pieces))
    }
    for at in [at for at in groups if at not in listing]:
        ids = _ids(groups[at])
        folder = at[0]
        while folder and ids:
            folder = folder.rpartition("/")[0]
            if above := [one for one in listing if one[0] == folder]:
                if all(_agree(ids, listing[one]) for one in above):
                    _add(groups, at, above)
                break


def _join_only(groups: Groups) -> None:
    """Add to the only predictions the only report and evaluation, if of their instances."""
    here = {at: _roles(pieces) for at, pieces in groups.items()}
    predicted = [at for at, has in here.items() if has.intersection(PREDICTED)]
    if len(predicted) != 1:
        return
    ids = _ids(groups[predicted[0]])
    for role in ("report", "graded"):
        others = [at for at, has in here.items() if role in has and at in groups]
        if len(others) != 1 or others == predicted:
            continue
        # Of a damaged one it is not known which instances it is of.
        theirs = _ids(groups[others[0]])
        if theirs and theirs <= ids:
            _add(groups, others[0], predicted)


def _join_logs(groups: Groups, logs: Sequence[Piece]) -> None:
    """Add the logs of instances that were evaluated beside those of a run and have no report."""
    runs: dict[str, set[At]] = defaultdict(set)
    for at, pieces in groups.items() if logs else ():
        for piece in pieces:
            if piece.role == "graded" and piece.path.parent.name == piece.instance:
                runs[piece.file.folder.rpartition("/")[0]].add(at)
    known = {at: _ids(groups[at]) for own in runs.values() for at in own}
    for log in logs:
        own = runs.get(log.file.folder.rpartition("/")[0], set())
        if len(own) == 1 and log.instance not in known[min(own)]:
            groups[min(own)].append(log)


def _join_by_verdict(groups: Groups) -> None:
    """Add a report of a run, whose name agrees with nothing, to the only run of its verdicts."""
    resolved: dict[At, dict[str, bool]] = {}
    reports: dict[At, dict[str, bool]] = {}
    for at, pieces in groups.items():
        here = _roles(pieces)
        with contextlib.suppress(OSError, ValueError):  # reading it makes the reject
            if here == {"report"} and len(pieces) == 1:
                reports[at] = dict(_resolved_of(fields(document(pieces[0].path))))
            elif "graded" in here and here.isdisjoint(LISTING):
                graded = _paths(pieces, "graded")
                resolved[at] = dict(pair for path in graded for pair in _resolved_in(path))
    _join_equal(groups, reports, resolved)


def _join_by_instances(groups: Groups) -> None:
    """Add a report to the only predictions beside it that have patches of just what it tested."""
    patched: dict[At, set[str]] = {}
    tested: dict[At, set[str]] = {}
    for at, pieces in groups.items():
        here = _roles(pieces)
        with contextlib.suppress(OSError, ValueError):  # reading it makes the reject
            if here == {"report"} and len(pieces) == 1:
                report = document(pieces[0].path)
                submitted = _texts(report, "submitted_ids")
                tested[at] = set(submitted).difference(_texts(report, "empty_patch_ids"))
            elif here.intersection(PREDICTED) and here.isdisjoint({*LISTING, "graded"}):
                patched[at] = {name for name, patch in _patches(pieces) if patch}
    _join_equal(groups, tested, patched, is_beside=True)


def _join_equal(
    groups: Groups, reports: Mapping[At, Any], runs: Mapping[At, Any], *, is_beside: bool = False
) -> None:
    """Add each report to the only run that says the same, if no other report does."""
    for at, own in reports.items():
        same = [
            run
            for run, theirs in runs.items()
            if theirs == own
            and (not is_beside or groups[run][0].file.folder == groups[at][0].file.folder)
        ]
        is_single = sum(other == own for other in reports.values()) == 1
        if len(own) >= FEWEST_VERDICTS and is_single:
            _add(groups, at, same)


def _resolved_of(report: Any) -> Iterator[tuple[str, bool]]:
    """Whether each instance that a report of a run lists as evaluated is resolved."""
    for name, is_resolved in (("unresolved_ids", False), ("resolved_ids", True)):
        yield from ((instance, is_resolved) for instance in _texts(report, name))


def _resolved_in(path: Path) -> Iterator[tuple[str, bool]]:
    """The instances of a document of verdicts, and whether each is resolved."""
    report = fields(document(path))
    if "submitted_ids" in report:
        yield from _resolved_of(report)
    if isinstance(report.get("resolved"), bool):
        report = {path.parent.name: report}
    for instance, graded in report.items():
        if isinstance(is_resolved := get(graded, "resolved"), bool):
            yield instance, is_resolved


def _join_copies(groups: Groups, place: str) -> None:
    """Join two files of the same predictions, one of lines and one that is a document.

    Two of one form may be repeats.
    """
    firsts: dict[Any, tuple[str, bool]] = {}
    for key in [key for at, key in groups if at == place]:
        path = next(iter(_paths(groups[place, key], "predictions")), None)
        if path is None:
            continue
        try:
            patches = frozenset(
                (str(get(row, "instance_id")), str(get(row, "model_patch")))
                for row in _predictions(path)
            )
        except (OSError, ValueError):
            continue
        is_lines = ".jsonl" in path.name.lower()
        first, is_first_lines = firsts.setdefault(patches, (key, is_lines))
        if first != key and is_lines != is_first_lines:
            groups[place, first] += groups.pop((place, key))


def _part_strays(groups: Groups, place: str, known: set[str]) -> None:
    """Take reports that name none of the instances out of the files without a name of a run."""
    inside = groups[place, ""]
    for piece in [one for one in inside if one.role in LISTING]:
        listed = set(_listed(piece.path, piece.role))
        if listed and listed.isdisjoint(known):
            inside.remove(piece)
            groups[place, piece.file.base.partition(".json")[0]].append(piece)


def _place(piece: Piece) -> At:
    """The folder of the run that a file is of, and what names the run in it."""
    file, role, instance = piece.file, piece.role, piece.instance
    folders = file.folder.split("/") if file.folder else []
    stem = file.base.partition(".json")[0]
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


def _others(pieces: list[Piece], run: tuple[str, str, str], known: set[str] | None) -> Claims:
    """The other files of a run: those of an instance are rows only if the first file lacks it."""
    steps = {ENDING.sub("", path.name): path for path in _paths(pieces, "trajectory")}
    listings = _paths(pieces, *LISTING, "endings")
    graded = {piece.instance: piece.path for piece in pieces if piece.role == "graded"}
    predicted = frozenset(known or ())
    for piece in pieces:
        role, instance = piece.role, piece.instance
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
            piece.file,
            Kind.ROLLOUTS if is_row else kind,
            *run,
            beside,
            skipped=RESOLVED_ALONE if is_alone else None,
            owns=piece.file.folder if piece.path.parent.name == instance else None,
        )
        if known is not None and (beside or role == "prediction"):
            known.add(instance)


def _model(path: Path) -> str:
    """The model of predictions as the harness writes it in names, from the first of them."""
    named = MODEL.search(head(path))
    return named[1].decode("utf-8", "replace").replace("/", "__") if named else ""


def _by_file(patch: str) -> frozenset[str]:
    """The parts of a patch, one per file that it changes."""
    return frozenset(part.strip() for part in EACH_FILE.split(patch) if part.strip())


def _agree(ids: set[str], others: set[str]) -> bool:
    """Whether half of the fewer instances are the same; of unknown ones nothing says no."""
    return not ids or not others or 2 * len(ids & others) >= min(len(ids), len(others))


def _instances(path: Path, role: str) -> set[str] | None:
    """The instances of a file of rows; None for one that is damaged, or an output: long."""
    if role == "output":
        return None
    try:
        rows = _predictions(path) if role == "predictions" else ()
        return {*_listed(path, role), *(str(get(row, "instance_id")) for row in rows)}
    except (OSError, ValueError):
        return None


def _measures(path: Path, most: int | None = None) -> dict[str, Object]:
    """What instances took, of those that a file names once: of repeats it is not known which."""
    rows: list[Object] = []
    with contextlib.suppress(OSError, ValueError):
        rows += (row for row in itertools.islice(objects(path), most) if isinstance(row, dict))
    ids = [text(row, "instance_id") or text(row, "instanceId") for row in rows]
    n_rows = Counter(ids)
    return {
        instance: spent
        for instance, row in zip(ids, rows, strict=True)
        if instance and n_rows[instance] == 1
        if (spent := own_table.measures(row))
    }


def _endings(path: Path) -> dict[str, str]:
    """How the attempts at instances ended, by the report that mini-swe-agent writes of a start."""
    import yaml  # rarely needed

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        report = yaml.load(head(path, LARGEST_PATCH), Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return {
        instance: status
        for status, instances in fields(report, "instances_by_exit_status").items()
        if isinstance(status, str) and status
        for instance in items(instances)
        if isinstance(instance, str)
    }


def _model_of(path: Path, role: str) -> str | None:
    """The model that the harness evaluated, from the names that it gives to what it writes.

    A report is `MODEL.RUN.json`, both of which may have dots; none is within a version (`3.1`).
    """
    if role in ("graded", "log") and (run := EVALUATED.match(path.parent.as_posix())):
        return run[3].replace("__", "/")
    if role != "report":
        return None
    parts = re.split(r"(?<!\d)\.|\.(?!\d)", path.name.removesuffix(".json"))
    splits = [(".".join(parts[:place]), ".".join(parts[place:])) for place in range(1, len(parts))]
    # A name without a maker may be anything, unless the folder is called as the rest is.
    known = [model for model, run in splits if run in path.parts[:-1]]
    known = known or [model for model, _ in splits if "__" in model.strip("_")]
    return known[0].replace("__", "/") if len(known) == 1 else None


def _listed(path: Path, role: str) -> list[str]:
    """The instances of a report in order, each once; none if it lists resolved ones alone."""
    report = fields(readable(path)) if role in LISTING else {}
    if "resolved" in report and "generated" not in report:
        return []
    names = ("submitted_ids", "generated", *LISTS)
    return list(dict.fromkeys(one for name in names for one in _texts(report, name)))


def _texts(report: Any, name: str) -> list[str]:
    return [one for one in items(report, name) if isinstance(one, str) and one]


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


def read(artifact: Artifact) -> Readings:
    role = _role(artifact.path)
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _figures(artifact.path)
        return
    known = Known([*artifact.beside, artifact.path])
    if role not in PREDICTED and len(known.models) == 1:
        yield from settings(model=min(known.models))
    split = SPLIT.search(artifact.path.as_posix())
    benchmark = f"SWE-bench_{split[1].capitalize()}" if split else "SWE-bench"
    if role in PREDICTED:
        if known.measures:
            n_rows = Counter(text(row, "instance_id") for row in _predictions(artifact.path))
            known.measures = {one: has for one, has in known.measures.items() if n_rows[one] == 1}
        for row in _predictions(artifact.path):
            if not isinstance(row, dict):
                is_read = isinstance(row, Reading)
                yield row if is_read else Reject("not a JSON object", str(row)[:200])
            elif instance := text(row, "instance_id"):
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


def _figures(path: Path) -> Readings:
    """What a report counts; an instance without a verdict counts as unresolved.

    Instances without a prediction are expected, too. Of more than were predicted, the dataset is
    listed whole, and a part of it was chosen.
    """
    report = fields(document(path))
    submitted, incomplete = (
        list(dict.fromkeys(_texts(report, name))) for name in ("submitted_ids", "incomplete_ids")
    )
    yield from expected(submitted, 1)
    if len(incomplete) < len(submitted):
        yield from expected([one for one in incomplete if one not in submitted], 1)
    n_submitted = number(report, "submitted_instances")
    n_resolved = number(report, "resolved_instances")
    if n_submitted and n_resolved is not None:
        yield counted("submitted_instances", n_submitted, "num_rollouts")
        share = n_resolved / n_submitted
        yield figure("resolved_instances / submitted_instances", share, "filled_mean/reward")


def _verdict(report: Object) -> Verdict | None:
    resolved = report.get("resolved")
    if not isinstance(resolved, bool):
        return None
    return (1.0, "resolved") if resolved else (0.0, "unresolved")


class Known:
    """What the files of a run say of its instances."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.verdicts: dict[str, Verdict] = {}
        self.reasons: Object = {}
        self.pieces: dict[tuple[str, str], Path] = {}
        self.graded: Object = {}
        self.measures: dict[str, Object] = {}
        # By instance, and whose report is the later one.
        self.endings: dict[str, tuple[float, str]] = {}
        self.models: set[str] = set()
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
                self.graded |= fields(readable(path))
            elif role in ("graded", "log") and path.parents[1] not in self.folders:
                self.folders.append(path.parents[1])
            self.is_evaluated |= role in ("graded", "log")
            if role == "measures":
                self.measures |= _measures(path)
            if role == "endings":
                self.note_endings(path)
            if model := _model_of(path, role):
                self.models.add(model)
            if role not in LISTING:
                continue
            report = fields(readable(path))
            self.is_evaluated |= bool(report)
            for name, reward in LISTS.items():
                status = "unresolved" if name == "with_logs" else name.removesuffix("_ids")
                for instance in _texts(report, name):
                    self.verdicts.setdefault(instance, (reward, status))
            # Instances of the dataset that were not run, whether or not there is a prediction.
            for instance in _texts(report, "incomplete_ids"):
                self.verdicts.setdefault(instance, (None, "incomplete"))
            self.reasons |= fields(report, "failure_reasons")
            # It lists what was resolved and what was not graded.
            if "resolved" in report and "with_logs" not in report:
                self.unlisted = (0.0, "unresolved")

    def note_endings(self, path: Path) -> None:
        """Of an instance that was started again the last ending counts."""
        named = ENDINGS.fullmatch(path.name)
        time = float(named[1]) if named and CLOCK.fullmatch(named[1]) else 0.0
        for instance, status in _endings(path).items():
            noted = self.endings.get(instance, (time, status))
            self.endings[instance] = max(noted, (time, status))

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
        logs = [folder / instance / LOG for folder in self.folders]
        return any(
            not log.is_symlink() and log.is_file() and NOT_APPLIED in _end(log) for log in logs
        )

    def attempt(self, instance: str, prediction: Object, benchmark: str) -> Row:
        """The row of an instance; a trajectory that cannot be read is a fault."""
        transcript = None
        if "history" in prediction:
            transcript = openhands(prediction)
        elif path := self.pieces.get(("trajectory", instance)):
            try:
                transcript = trajectory(document(path))
            except ValueError as error:
                self.faults.append(Reject(f"{path.name}: {error}"))
        graded = fields(self.graded, instance)
        if not graded and (graded_in := self.pieces.get(("graded", instance))):
            report = fields(readable(graded_in))
            graded = fields(report, instance) or report
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
        ending = text(prediction, "exit_status") or self.endings.get(instance, (0.0, None))[1]
        cap = CAP.search(ending or "")
        # Without a transcript the agent may not have begun, and no patch is not its fault.
        is_broken = is_empty and not transcript and not cap and ending not in (None, HANDED_IN)
        # A second prediction of an instance may have what the report's one lacks.
        lacks_none = has_patch and not is_empty and status in ("empty_patch", "no_generation")
        row = {
            "_ng_task_index": instance,
            "evaluation": status,
            "resolved": None if reward is None else reward == 1.0,
            "patch_error": None if lacks_none or is_broken else UNTESTED.get(status),
            "error_message": f"the attempt ended with {ending}"
            if is_broken
            else BROKEN_DOWN.get(status),
            "failure_reason": text(self.reasons, instance),
            "patch_is_empty": is_empty if has_patch else None,
            "model_patch": (text(patch) or "")[:LONGEST_PATCH] or None,
            "patch_successfully_applied": graded.get("patch_successfully_applied"),
            "exit_status": ending,
            **{name: _tests(get(graded, TESTS_OF_REPORT, name)) for name in TESTS},
        }
        request: Object = {"model": text(prediction, "model_name_or_path")}
        if transcript:
            question = {"input": transcript.question} if transcript.question else {}
            request |= {**question, **without_empty(model=transcript.model)}
            row |= transcript.row
            row["exit_status"] = text(transcript.row, "exit_status") or ending
        elif measured := self.measures.get(instance):
            row |= {"response": {"object": "response", "usage": measured.get("usage", {})}}
            row["total_run_time"] = measured.get("total_run_time")
        row["responses_create_params"] = without_empty(request)
        dataset = (text(prediction, "metadata", "dataset") or "").rpartition("/")[2]
        return Row(
            {"reward": reward, **without_empty(row)},
            benchmark=dataset or benchmark,
            limit_reached=transcript.cap if transcript else cap and cap[0],
        )


def _end(log: Path) -> bytes:
    """The end of a log, which says how it ended."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - LARGEST_PATCH))
            return file.read()
    except OSError:
        return b""


def _own_verdict(row: Object) -> Verdict | None:
    """The verdict that OpenHands, or a table of predictions, has in the row itself."""
    report = fields(row, "test_result", "report") or fields(row, "report") or row
    for fault in ("error_eval", "test_timeout"):
        if report.get(fault) is True and report.get("resolved") is not True:
            return None, fault
    return _verdict(report)


def _tests(status: Any) -> list[dict[str, str]]:
    tests = [
        {"name": name, "status": word}
        for key, word in (("failure", "failed"), ("success", "passed"))
        for name in _texts(status, key)
    ]
    return tests[:MOST_TESTS]
