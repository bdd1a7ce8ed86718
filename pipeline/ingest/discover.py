"""Find the files of results: their kinds, formats and runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from .. import files
from ..artifact import (
    COMPRESSIONS,
    METRIC_KINDS,
    ROW_KINDS,
    SIDECAR_SUFFIXES,
    Artifact,
    Kind,
    ListedFile,
    printable,
)
from ..citation import LONGEST_NAME, bounded_name
from ..errors import InputError, UsageError
from ..settings import MANIFEST_NAME
from . import formats, unread
from .formats import own_table
from .formats.table_rows import sample

LOOKED_FOR = (
    "*_rollouts.jsonl, any .jsonl whose rows have a reward or a response (also .gz, .zst), and the "
    "results of other harnesses (docs/formats.md)"
)

# First match wins. Matched against "<folder>/<file name>", lower case.
NAME_RULES: tuple[tuple[str, Kind], ...] = (
    (r"(^|/)labels\.jsonl$", Kind.LABELS),
    (r"(^|/)blade\.toml$", Kind.PROFILE),
    (r"(^|/)(quality_summary|compare_report)\.json$|(^|/)rollout_verdicts\.jsonl$", Kind.HEALTH),
    (r"(^|/)preprocessed_datasets/", Kind.DATASET),
    (r"(^|/)(train|validation|test|example|dev)[a-z_-]*_metrics\.json$", Kind.DATASET),
    (r"(^|/)golden_reports/|(^|/)skill/|(^|/)skill\.md$", Kind.REPORT),
    (
        r"(^|/)([^/]*[-_.])?(notes|readme)([-_.][^/]*)?\.(md|txt|rst)$|(^|/)(notes|readme)$",
        Kind.NOTES,
    ),
    (r"_resolved_config\.ya?ml$", Kind.RESOLVED_CONFIG),
    # Status files of newer versions of Gym, and files of packages.
    (
        r"_(manifest|run_summary|sources|batch_status|population_status)\.json$|_mlflow_run_id$"
        r"|(^|/)(model_comparison_statistics|failed_task_register|calibration_summary)\.json$",
        Kind.REPORT,
    ),
    (r"(^|/)[^/]*(check_?point|ckpt)[^/]*\.(txt|json|ya?ml|toml)$", Kind.CHECKPOINT),
    (r"(^|/)[^/]*limits?[^/]*\.(txt|json|ya?ml|toml)$", Kind.LIMITS),
    (r"\.(md|html?|pdf)$|(^|/)(metrics|manifest|export)\.json$|(^|/)manifest\.jsonl$", Kind.REPORT),
    (r"\.(log|out|err|stdout|stderr)(\.\d+)?$", Kind.LOG),
    # A limit in it is one of spending.
    (r"(^|/)([^/]*[^/a-z])?(usage|billing|costs?)([^/a-z][^/]*)?\.json$", Kind.OTHER),
    # The output of promptfoo holds its own configuration; a file beside it may be of another.
    (r"(^|/)promptfooconfig[^/]*\.(json|ya?ml)$", Kind.OTHER),
    (r"\.(json|ya?ml|toml)$", Kind.CONFIG),
)

# A table of one's own may have any name: of these kinds the content decides (checkpoint-800.json).
NOT_ROWS = frozenset({Kind.CONFIG, Kind.OTHER, Kind.CHECKPOINT, Kind.LIMITS})
MAYBE_TABLES = NOT_ROWS | {Kind.ROLLOUTS}
SNIFF_BYTES = 1 << 20
SNIFF_ROWS = 50

GENERIC_NAMES = frozenset(
    "rollout rollouts example example_rollout example_rollouts output outputs result results run "
    "runs job jobs data eval evals evaluation eval_results logs out tmp responses generations "
    "train test validation".split()
)
SHARD = re.compile(
    r"^(?P<base>.*?)(?:[-_.]rs(?P<seed>\d+))?(?:[-_.](?:chunk|shard|part)[-_]?(?P<chunk>\d+))?\Z",
    re.DOTALL,  # file names may contain newlines
)
RUN_KINDS = ROW_KINDS | METRIC_KINDS | {Kind.STAGE_JOURNAL}
# When a file was written, as names have it.
TIME = re.compile(
    r"[-_.]?(?<!\d)(?:\d{4}-\d\d-\d\d(?:[T_-]\d\d[-:]\d\d(?:[-:]\d\d)?(?:[-+]\d\d[-:]?\d\d|Z)?)?"
    r"|\d{6}|\d{8}[T_-]?\d{6}|\d{8}|\d{10,14})(?!\d)"
)
UNSAFE_IN_NAME = re.compile(r"[^A-Za-z0-9._-]+")
# A time with seconds, which two runs are unlikely to share.
CLOCK = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\d{8}@\d{6}")
VALID_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Family:
    """The rollout file of one run, its shards and its sidecars, by folder and stem.

    `mark` distinguishes runs that would have the same name, for example by their start time.
    """

    folder: str
    stem: str
    mark: str = ""


def artifacts(
    results: tuple[Path, ...],
    *,
    run_names: tuple[tuple[str, Path], ...] = (),
    out: Path | None = None,
    follow_links: bool = False,
    table_fields: Mapping[str, str] | None = None,
) -> list[Artifact]:
    """All files below the inputs with their kinds and runs, in the order of their paths.

    `table_fields` are the columns of tables of one's own that the user chose, by role.
    """
    inputs = [*results, *(path for _, path in run_names)]
    listed = _walk(inputs, skip=out, follow_links=follow_links)
    named_files = {path.resolve() for path in inputs if path.is_file()}
    claims = formats.claims([file for file in listed if not _is_plainly_gym(file)])
    claims |= _copies(claims)
    owned = formats.folders_owned(claims.values())

    def kind_of(file: ListedFile) -> Kind:
        if file.name in claims:
            return claims[file.name].kind
        if not file.skipped and formats.home(file.name, owned) is not None:
            return Kind.LOG
        return _kind_of(file, is_named=file.path in named_files)

    kinds = {file: kind_of(file) for file in listed}
    steps = _steps(kinds, claims)
    claims |= steps
    kinds |= dict.fromkeys((claim.file for claim in steps.values()), Kind.SKIPPED)
    tables = _own_tables(kinds, claims, table_fields or {}, named_files)
    claims |= tables
    kinds |= {
        claim.file: Kind.SKIPPED if claim.skipped else Kind.ROLLOUTS for claim in tables.values()
    }
    known = {
        file.name: formats.Claim(file, Kind.OTHER, file.folder, file.base, skipped=reason)
        for file, kind in kinds.items()
        if kind in NOT_ROWS and file.name not in claims
        if (reason := unread.reason(file) or _unread_table(file, has_tables=bool(tables)))
    }
    claims |= known
    kinds |= dict.fromkeys((claim.file for claim in known.values()), Kind.SKIPPED)
    listing = list(kinds.items())
    reasons = [str(claim.skipped) for claim in (*steps.values(), *known.values())]
    _refuse_without_rollouts(inputs, listing, reasons)
    return _name_runs(listing, claims, run_names)


def _unread_table(file: ListedFile, *, has_tables: bool) -> str | None:
    if has_tables:
        return own_table.unscored(file)
    return own_table.beside_results(file) if own_table.NAMES.search(file.base) else None


def _steps(
    kinds: Mapping[ListedFile, Kind], claims: Mapping[str, formats.Claim]
) -> dict[str, formats.Claim]:
    """Tables whose rows are the steps of one attempt; one row shows it by files of its name."""
    tables = [
        file
        for file, kind in kinds.items()
        if kind in MAYBE_TABLES and file.name not in claims and own_table.NAMES.search(file.base)
    ]
    steps = {file for file in tables if own_table.are_steps(file.path)}
    bases = {file.base for file in steps}
    return {
        file.name: formats.Claim(file, Kind.OTHER, file.folder, file.base, skipped=own_table.STEPS)
        for file in tables
        if file in steps or (file.base in bases and len(sample(file.path, 2)) == 1)
    }


def _own_tables(
    kinds: Mapping[ListedFile, Kind],
    claims: Mapping[str, formats.Claim],
    chosen: Mapping[str, str],
    named_files: set[Path],
) -> dict[str, formats.Claim]:
    """Tables that no harness wrote: those that are named, or any if nothing else has rows."""
    candidates = [
        file
        for file, kind in kinds.items()
        if kind in MAYBE_TABLES
        and file.name not in claims
        and own_table.NAMES.search(file.base)
        and own_table.is_candidate(file.path)
    ]
    named = [
        file for file in candidates if kinds[file] is Kind.ROLLOUTS or file.path in named_files
    ]
    has_results = any(kind is Kind.ROLLOUTS and file not in named for file, kind in kinds.items())
    unnamed = [file for file in candidates if file not in named]
    read = [] if has_results else unnamed
    # Who names a column says that all are tables of results.
    are_results = [*named, *(read if "score" in chosen else ())]
    wanted = [file for file in named if file.path in named_files]
    tables = list(own_table.claims([*named, *read], chosen, named=are_results, wanted=wanted))
    is_known = any(kinds[file] in NOT_ROWS and unread.reason(file) for file in candidates)
    is_unread = not tables and not has_results and candidates and not is_known
    if is_unread or (tables and own_table.unknown_columns([*named, *read], chosen)):
        raise own_table.refused(candidates, chosen)
    return {
        claim.file.name: replace(claim, format="" if claim.skipped else formats.OWN_TABLE)
        for claim in tables
    }


def _copies(claims: dict[str, formats.Claim]) -> dict[str, formats.Claim]:
    """Duplicate files of other harnesses, which would count attempts twice.

    Some harnesses copy a run into the next one. Files with the same bytes are copies if they
    contain a time or if their folders have the same name; otherwise two runs may just be equal.
    """
    same_size: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name, claim in sorted(claims.items(), key=lambda one: (one[0].count("/"), one[0])):
        path = claim.file.path
        if claim.kind is Kind.ROLLOUTS and not (claim.skipped or claim.file.skipped):
            same_size[path.name, path.stat().st_size].append(name)
    copies = {}
    for names in same_size.values():
        first: dict[tuple[str, str], str] = {}
        for name in names if len(names) > 1 else ():
            path = claims[name].file.path
            content = path.read_bytes()
            has_time = bool(CLOCK.search(content))
            if claims[name].owns is not None and not has_time:
                continue  # its folder may be called by the task
            folder = "" if has_time else path.parent.name
            original = first.setdefault((hashlib.sha256(content).hexdigest(), folder), name)
            if original != name:
                reason = f"is an identical copy of {original}"
                copies[name] = replace(claims[name], kind=Kind.SKIPPED, skipped=reason, format="")
    return copies


def _refuse_without_rollouts(
    inputs: list[Path], kinds: list[tuple[ListedFile, Kind]], unread_reasons: list[str]
) -> None:
    if any(kind is Kind.ROLLOUTS for _, kind in kinds):
        return
    where = ", ".join(str(path) for path in inputs)
    counts = Counter(kind for _, kind in kinds)
    listing = ", ".join(f"{counts[kind]} {kind}" for kind in sorted(counts))
    contents = f"{len(kinds)} file{'s' * (len(kinds) > 1)} ({listing})" if kinds else "no files"
    if all(path.is_file() for path in inputs):
        contents = f"by name and first {SNIFF_ROWS} lines it is: {', '.join(sorted(counts))}"
    else:
        contents = f"it contains {contents}"
    n_links = sum(file.skipped == files.LEADS_OUT for file, _ in kinds)
    followed = f"; --follow-links reads {n_links} more" if n_links else ""
    named = "".join(f"; it {reason}, not read" for reason in sorted(set(unread_reasons)))
    raise InputError(
        f"{where}: no rollouts found; {contents}{named}{followed}.",
        hint=f"Looked for: {LOOKED_FOR}. A file named directly may have any name, "
        f"if one of its first {SNIFF_ROWS} lines is a JSON object.",
    )


def _walk(inputs: list[Path], *, skip: Path | None, follow_links: bool) -> list[ListedFile]:
    for path in inputs:
        _refuse_unusable(path)
    absolute = [Path(os.path.abspath(path)) for path in inputs]
    parent = Path(os.path.commonpath([p if p.is_dir() else p.parent for p in absolute]))
    skipped = skip.resolve() if skip is not None else None
    if skipped in [path.resolve() for path in absolute]:
        raise UsageError(
            f"{skip}: is the results folder itself.", hint="Choose another folder with --out."
        )
    roots = None if follow_links else [(p if p.is_dir() else p.parent).resolve() for p in absolute]
    by_path: dict[Path, ListedFile] = {}
    # Links on the way to a folder are resolved once, not for each of its files.
    folders: dict[str, Path] = {}
    for path in absolute:
        for file in (*_files(path, skipped, roots, folders), *_labels_of_package(path)):
            folder, base = os.path.split(file)
            name = printable(os.path.relpath(file, parent).replace(os.sep, "/"))
            reason = None if file == path else _reason_to_skip(file, roots)
            is_plain = folder in folders and not file.is_symlink()
            place = file if reason else folders[folder] / base if is_plain else file.resolve()
            by_path.setdefault(place, ListedFile(place, name, reason))
    return sorted(by_path.values(), key=lambda file: file.name)


def _refuse_unusable(path: Path) -> None:
    try:
        is_there = path.exists()
        is_open = os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0))
    except OSError:  # no permission for a parent folder
        is_there, is_open = True, False
    if not is_there:
        raise InputError(
            f"{path}: no such file or folder.",
            hint="Name the folder that `gym eval run` wrote, or one rollout file.",
        )
    if not is_open:
        raise InputError(f"{path}: cannot be read.", hint="Check its permissions.")
    if not path.is_dir() and (reason := files.not_plain(path.stat().st_mode)):
        raise InputError(f"{path}: {reason}.", hint="Write its content to a file first.")


def _reason_to_skip(path: Path, roots: list[Path] | None) -> str | None:
    """Why a file in a folder is not opened: a pipe or device, or a link that is not followed."""
    try:
        mode = path.stat().st_mode
    except OSError:  # without permission it becomes a reject when it is opened
        return "is a broken link" if path.is_symlink() else None
    if not stat.S_ISDIR(mode) and (reason := files.not_plain(mode)):
        return reason
    if roots is None or not path.is_symlink():
        return None
    target = path.resolve()
    if any(target.is_relative_to(root) for root in roots):
        return None
    return files.LEADS_OUT


def _files(
    path: Path, skipped: Path | None, roots: list[Path] | None, folders: dict[str, Path]
) -> Iterator[Path]:
    if path.is_file():
        yield from _with_sidecars(path)
        return
    seen: set[Path] = set()
    unreadable: list[OSError] = []
    for folder, subfolders, names in os.walk(path, followlinks=True, onerror=unreadable.append):
        above, _, name = folder.rpartition(os.sep)
        # Resolving the full path of each of thousands of folders takes longer than listing them.
        is_below = above in folders and not Path(folder).is_symlink()
        here = folders[folder] = folders[above] / name if is_below else Path(folder).resolve()
        is_output = MANIFEST_NAME in names and _is_our_output(here)
        # Links may form cycles; an output of blade would change the next analysis.
        if here in seen or here == skipped or is_output:
            subfolders.clear()
            continue
        seen.add(here)
        shown = sorted(name for name in subfolders if not name.startswith("."))
        unfollowed = {name for name in shown if _reason_to_skip(Path(folder, name), roots)}
        subfolders[:] = [name for name in shown if name not in unfollowed]
        names += unfollowed
        yield from (Path(folder, name) for name in sorted(names) if not name.startswith("."))
    # A folder that cannot be listed becomes a reject with its reason.
    yield from (Path(error.filename) for error in unreadable)


def _labels_of_package(path: Path) -> Iterator[Path]:
    labels = path.parent / "labels.jsonl"
    if path.name == "rollouts" and path.is_dir() and labels.is_file():
        yield labels


def _with_sidecars(path: Path) -> Iterator[Path]:
    stem, _ = _split_name(path.name)
    sidecars = {f"{stem}{suffix}" for suffix in SIDECAR_SUFFIXES}
    yield path
    for other in sorted(path.parent.iterdir()):
        if _split_name(other.name)[0] in sidecars and not other.is_dir():
            yield other


def _is_our_output(folder: Path) -> bool:
    try:
        manifest = json.loads(files.content(folder / MANIFEST_NAME))
    except (files.UnreadableError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("tool") == "blade"


def _split_name(name: str) -> tuple[str, str]:
    """`a/run.jsonl.gz` -> `run`, `.jsonl`: the stem, and the extension without compression."""
    base = name.rpartition("/")[2]
    for packed in COMPRESSIONS:
        if base.lower().endswith(packed):
            base = base[: -len(packed)]
    stem, dot, ending = base.rpartition(".")
    return (stem, f".{ending.lower()}") if dot and stem else (base, "")


def _kind_of(file: ListedFile, *, is_named: bool = False) -> Kind:
    """The kind of a file; a file named by the caller is rollouts if it has rows."""
    if file.skipped:
        return Kind.SKIPPED
    stem, ending = _split_name(file.name)
    if ending in (".jsonl", ".json"):
        for suffix, kind in SIDECAR_SUFFIXES.items():
            if stem.endswith(suffix):
                return kind
    lowered = file.name.lower()
    for pattern, kind in NAME_RULES:
        if re.search(pattern, lowered):
            return Kind.ROLLOUTS if is_named and ending == ".jsonl" else kind
    if is_named and _has_rows(file, is_jsonl=ending == ".jsonl"):
        return Kind.ROLLOUTS
    if ending == ".jsonl":
        is_named_rollouts = "rollout" in file.base.lower() or f"/{file.folder.lower()}".endswith(
            "/rollouts"
        )
        return Kind.ROLLOUTS if is_named_rollouts else _sniff(file)
    return Kind.OTHER


def _is_plainly_gym(file: ListedFile) -> bool:
    stem, ending = _split_name(file.name)
    is_rollouts = ending == ".jsonl" and "rollout" in stem.lower()
    return bool(file.skipped) or is_rollouts or stem.endswith(tuple(SIDECAR_SUFFIXES))


def _has_rows(file: ListedFile, *, is_jsonl: bool) -> bool:
    """Whether a file may contain results: a JSON object in its first lines, or nothing yet."""
    head = formats.head(file.path, SNIFF_BYTES)
    first = head.split(b"\n")[:SNIFF_ROWS]
    if len(head) >= SNIFF_BYTES and first[-1].lstrip()[:1] == b"{" and len(first) < SNIFF_ROWS:
        return True  # a row longer than the sniffed part
    objects = (line for line in first if line.lstrip()[:1] == b"{")
    return any(_object(line) for line in objects) or (is_jsonl and not head.strip())


def _sniff(file: ListedFile) -> Kind:
    """Rows with a reward or a response are rollouts; request rows alone are a dataset."""
    seen = Kind.OTHER
    for line in formats.head(file.path, SNIFF_BYTES).split(b"\n")[:SNIFF_ROWS]:
        row = _object(line)
        if "_ng_failure_class" in row:
            return Kind.FAILURES
        if "response" in row or "reward" in row:
            return Kind.ROLLOUTS
        if "responses_create_params" in row:
            seen = Kind.DATASET
    return seen


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        # The row may be longer than the sniffed part: look for its keys.
        keys = re.findall(
            rb'"(reward|response|responses_create_params|_ng_failure_class)"\s*:', line
        )
        return {key.decode(): None for key in keys}
    return row if isinstance(row, dict) else {}


def _name_runs(
    kinds: list[tuple[ListedFile, Kind]],
    claims: dict[str, formats.Claim],
    run_names: tuple[tuple[str, Path], ...],
) -> list[Artifact]:
    """Artifacts in the order of their paths, with the names of their runs and their shards."""
    shards = {
        file.name: _shard(file)
        for file, kind in kinds
        if kind in RUN_KINDS and file.name not in claims
    }
    rollouts = {
        shards[file.name][0]
        for file, kind in kinds
        if kind is Kind.ROLLOUTS and file.name not in claims
    }
    family_of = {name: _joined(family, rollouts) for name, (family, _, _) in shards.items()}
    family_of |= _claimed_families(claims)
    # Metrics alone are no run; inputs or failures are, since all rollouts may have been killed.
    members = {family_of[file.name] for file, kind in kinds if kind in ROW_KINDS}
    root = _root_name(kinds)
    names = _unique_names(members, _names_by_caller(kinds, family_of, run_names), root)
    artifacts = []
    for file, kind in kinds:
        family = family_of.get(file.name) or _family_of_document(file, members)
        _, seed, chunk = shards.get(file.name, (None, None, None))
        claim = claims.get(file.name)
        artifacts.append(
            Artifact(
                path=file.path,
                name=file.name,
                kind=kind,
                run_name=names.get(family) if family else None,
                seed=seed,
                chunk=chunk,
                places=tuple(_informative_folders(file.name, root)),
                home=_home(file) if claim and claim.format == formats.OWN_TABLE else None,
                package=None if claim else _package_name(file),
                skipped=file.skipped or (claim.skipped if claim else None),
                format=claim.format or None if claim else None,
                beside=claim.beside if claim else (),
                fields=claim.fields if claim else (),
            )
        )
    return _pooled(artifacts, family_of)


def _claimed_families(claims: dict[str, formats.Claim]) -> dict[str, Family]:
    """The family of each claimed file; the mark is part of the name only if stems are equal."""
    marks = defaultdict(set)
    for claim in claims.values():
        if not claim.skipped:
            marks[claim.folder, claim.stem].add(claim.mark)
    return {
        name: Family(
            claim.folder,
            claim.stem + f"-{claim.mark}" * (len(marks[claim.folder, claim.stem]) > 1),
            claim.mark,
        )
        for name, claim in claims.items()
    }


def _shard(file: ListedFile) -> tuple[Family, int | None, int | None]:
    stem, _ = _split_name(file.name)
    for suffix in SIDECAR_SUFFIXES:
        stem = stem.removesuffix(suffix)
    match = SHARD.match(stem)
    assert match is not None, "every part of the pattern is optional"
    seed, chunk = match["seed"], match["chunk"]
    family = Family(file.folder, match["base"] or stem)
    return family, int(seed) if seed else None, int(chunk) if chunk else None


def _joined(family: Family, rollouts: set[Family]) -> Family:
    """The family of a sidecar: its rollout file may have `_rollouts` added, or be one folder up."""
    for folder in (family.folder, family.folder.rpartition("/")[0]):
        for stem in (family.stem, f"{family.stem}_rollouts"):
            if Family(folder, stem) in rollouts:
                return Family(folder, stem)
    return family


def _family_of_document(file: ListedFile, members: set[Family]) -> Family | None:
    """The run of a config or note by its name (`S_config.yaml`); the longest match wins."""
    stem, _ = _split_name(file.name)
    own = [
        family
        for family in members
        if family.folder == file.folder
        and re.match(rf"{re.escape(_short(family.stem))}($|[-_.])", stem)
    ]
    return max(own, key=lambda family: (len(family.stem), family.stem), default=None)


def _short(stem: str) -> str:
    return re.sub(r"[-_]rollouts?(?=$|[-_.])", "", stem) or stem


def _unique_names(families: set[Family], fixed: dict[Family, str], root: str) -> dict[Family, str]:
    """Short names, extended by folders only if two would be the same."""
    names = dict(fixed)
    waiting = sorted(families - set(fixed), key=astuple)
    telling = _telling_folders(waiting)
    for depth in range(1, 2 + max((f.folder.count("/") + 1 for f in waiting), default=0)):
        wanted = defaultdict(list)
        for family in waiting:
            if depth > 1 or family.folder not in telling:
                wanted[_name(family, depth, root).casefold()].append(family)
        taken = {name.casefold() for name in names.values()}
        for key, sharing in wanted.items():
            if len(sharing) == 1 and key not in taken:
                names[sharing[0]] = _name(sharing[0], depth, root)
        waiting = [family for family in waiting if family not in names]
    for family in waiting:
        taken = {name.casefold() for name in names.values()}
        name = _name(family, 99, root)
        number = next(n for n in range(2, 10**9) if f"{name}-{n}".casefold() not in taken)
        names[family] = _safe_name(f"{name}-{number}")
    return names


def _telling_folders(families: Sequence[Family]) -> set[str]:
    """The folders that distinguish their runs, since the files differ in their times alone."""
    alike: dict[str, set[str]] = defaultdict(set)
    folders: dict[str, set[str]] = defaultdict(set)
    for family in families:
        stem = _short(family.stem).casefold()
        untimed = TIME.sub("", stem)
        alike[untimed].add(stem)
        folders[untimed].add(family.folder)
    timed = [stem for stem, names in alike.items() if len(names) > 1 < len(folders[stem])]
    return set().union(*(folders[stem] for stem in timed))


def _name(family: Family, depth: int, root: str) -> str:
    """The stem, or the nearest informative folder, with `depth - 1` more folders in front."""
    stem = _short(family.stem)
    is_informative = stem.lower() not in GENERIC_NAMES and UNSAFE_IN_NAME.sub("", stem).strip("-._")
    parts = [stem] if is_informative else []
    folders = _informative_folders(f"{family.folder}/", root)
    wanted = depth - len(parts)
    parts = [*(folders[-wanted:] if wanted > 0 else []), *parts] or [stem]
    return _safe_name("-".join(parts))


def _informative_folders(name: str, root: str) -> list[str]:
    folders = (root, *name.split("/")[:-1])
    return [part for part in folders if part and part.lower() not in GENERIC_NAMES]


def _safe_name(text: str) -> str:
    """A name that is safe as a folder: names come from untrusted files."""
    safe = UNSAFE_IN_NAME.sub("-", text).strip("-").lstrip(".") or "run"
    return UNSAFE_IN_NAME.sub("-", bounded_name(safe))


def _root_name(kinds: list[tuple[ListedFile, Kind]]) -> str:
    """The common parent of the inputs, which names a file called `rollouts.jsonl`."""
    for file, _ in kinds:
        depth = file.name.count("/")
        if len(file.path.parents) > depth:
            return file.path.parents[depth].name
    return ""


def _home(file: ListedFile) -> str:
    """The name of the common parent of the inputs, or if it is generic of the folder above it."""
    above = file.path.parents[file.name.count("/") :][:2]
    names = [folder.name for folder in above if folder.name.lower() not in GENERIC_NAMES]
    return next(filter(None, names), "results")


def _package_name(file: ListedFile) -> str | None:
    """The benchmark in `<benchmark>/rollouts/x.jsonl` or `<benchmark>/data/x_rollouts.jsonl`."""
    parent = file.path.parent
    name = parent.parent.name
    if parent.name.lower() not in ("rollouts", "data") or name.lower() in GENERIC_NAMES:
        return None
    return name if parent.name.lower() == "rollouts" or "rollout" in file.path.name else None


def _names_by_caller(
    kinds: list[tuple[ListedFile, Kind]],
    family_of: dict[str, Family],
    run_names: tuple[tuple[str, Path], ...],
) -> dict[Family, str]:
    """The names set by the caller. Runs that get the same name are pooled into one."""
    names: dict[Family, str] = {}
    for name, path in run_names:
        if not VALID_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
            raise UsageError(
                f"--run {name[:LONGEST_NAME]}={path}: a run's name may contain "
                f"letters, digits, '.', '_' and '-', {LONGEST_NAME} at most."
            )
        below = path.resolve()
        families = {
            family_of[file.name]
            for file, kind in kinds
            if kind is Kind.ROLLOUTS and (file.path == below or below in file.path.parents)
        }
        if named := families & set(names):
            raise UsageError(
                f"--run {name}={path}: the run already has the name {names[named.pop()]}."
            )
        if not families:
            raise UsageError(
                f"--run {name}={path}: no run at this path.",
                hint="Name a rollout file, or a folder with the files of one run.",
            )
        # Folders of runs may not differ in case alone.
        same = (other for other in names.values() if other.casefold() == name.casefold())
        names |= dict.fromkeys(families, next(same, name))
    return names


def _pooled(artifacts: list[Artifact], family_of: Mapping[str, Family]) -> list[Artifact]:
    """The files of runs that are pooled, numbered as if each evaluation were a seed."""
    parts = defaultdict(set)
    for artifact in artifacts:
        if artifact.name in family_of and artifact.run_name:
            parts[artifact.run_name].add(_part(artifact, family_of))
    numbers = {
        name: {part: number for number, part in enumerate(sorted(members))}
        for name, members in parts.items()
        if len({family for family, _ in members}) > 1
    }
    return [
        replace(artifact, is_pooled=True, seed=numbers[run_name][_part(artifact, family_of)])
        if (run_name := artifact.run_name or "") in numbers and artifact.name in family_of
        else artifact
        for artifact in artifacts
    ]


def _part(artifact: Artifact, family_of: Mapping[str, Family]) -> tuple[tuple[str, ...], int]:
    return astuple(family_of[artifact.name]), -1 if artifact.seed is None else artifact.seed
