"""Which files make one run, and what each run is called."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from pipeline.artifact import METRIC_KINDS, ROW_KINDS, SIDECAR_SUFFIXES, Artifact, Kind
from pipeline.errors import UsageError
from pipeline.ingest.discover.walk import Found, split_name

GENERIC_NAMES = frozenset(
    "rollout rollouts example example_rollout example_rollouts output outputs result results run "
    "runs data eval evals evaluation eval_results logs out tmp responses generations train test "
    "validation".split()
)
SHARD = re.compile(
    r"^(?P<base>.*?)(?:[-_.]rs(?P<seed>\d+))?(?:[-_.](?:chunk|shard|part)[-_]?(?P<chunk>\d+))?\Z",
    re.DOTALL,  # a file's name may hold a line end
)
RUN_KINDS = ROW_KINDS | METRIC_KINDS | {Kind.STAGE_JOURNAL}
UNSAFE_IN_NAME = re.compile(r"[^A-Za-z0-9._-]+")
VALID_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Family:
    """The rollout file of one run, its shards and its sidecars, by folder and stem."""

    folder: str
    stem: str


def name_runs(
    kinds: list[tuple[Found, Kind]], run_names: tuple[tuple[str, Path], ...]
) -> list[Artifact]:
    """Artifacts in path order, each of a run carrying that run's name and its shard."""
    shards = {file.name: _shard(file) for file, kind in kinds if kind in RUN_KINDS}
    rollouts = {shards[file.name][0] for file, kind in kinds if kind is Kind.ROLLOUTS}
    family_of = {name: _joined(family, rollouts) for name, (family, _, _) in shards.items()}
    # Metrics alone make no run; inputs or failures do: all its rollouts may have been killed.
    members = {family_of[file.name] for file, kind in kinds if kind in ROW_KINDS}
    root = _root_name(kinds)
    names = _unique_names(members, _names_given(kinds, family_of, run_names), root)
    made = []
    for file, kind in kinds:
        family = family_of.get(file.name) or _family_of_document(file, members)
        _, seed, chunk = shards.get(file.name, (None, None, None))
        made.append(
            Artifact(
                path=file.path,
                name=file.name,
                kind=kind,
                run_name=names.get(family) if family else None,
                seed=seed,
                chunk=chunk,
                places=tuple(_telling_folders(file.name, root)),
                package=_package_name(file),
            )
        )
    return made


def _shard(file: Found) -> tuple[Family, int | None, int | None]:
    stem, _ = split_name(file.name)
    for suffix in SIDECAR_SUFFIXES:
        stem = stem.removesuffix(suffix)
    match = SHARD.match(stem)
    assert match is not None, "every part of the pattern is optional"
    seed, chunk = match["seed"], match["chunk"]
    family = Family(file.name.rpartition("/")[0], match["base"] or stem)
    return family, int(seed) if seed else None, int(chunk) if chunk else None


def _joined(family: Family, rollouts: set[Family]) -> Family:
    """A sidecar named without `_rollouts` still belongs to the file that has it."""
    if family in rollouts:
        return family
    longer = Family(family.folder, f"{family.stem}_rollouts")
    return longer if longer in rollouts else family


def _family_of_document(file: Found, members: set[Family]) -> Family | None:
    """A config or note named after a run (`S_config.yaml`) is that run's; the longest name wins."""
    folder = file.name.rpartition("/")[0]
    stem, _ = split_name(file.name)
    own = [
        family
        for family in members
        if family.folder == folder and re.match(rf"{re.escape(_short(family.stem))}($|[-_.])", stem)
    ]
    return max(own, key=lambda family: (len(family.stem), family.stem), default=None)


def _short(stem: str) -> str:
    return re.sub(r"[-_]rollouts?(?=$|[-_.])", "", stem) or stem


def _unique_names(families: set[Family], given: dict[Family, str], root: str) -> dict[Family, str]:
    """Short names, made longer by their folders only where two would read the same."""
    names = dict(given)
    waiting = sorted(families - set(given), key=lambda family: (family.folder, family.stem))
    for depth in range(1, 2 + max((f.folder.count("/") + 1 for f in waiting), default=0)):
        wanted = defaultdict(list)
        for family in waiting:
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
        names[family] = f"{name}-{number}"
    return names


def _name(family: Family, depth: int, root: str) -> str:
    """The stem, or the nearest telling folder; `depth - 1` further folders in front."""
    stem = _short(family.stem)
    is_telling = stem.lower() not in GENERIC_NAMES and UNSAFE_IN_NAME.sub("", stem).strip("-._")
    parts = [stem] if is_telling else []
    telling = _telling_folders(f"{family.folder}/", root)
    wanted = depth - len(parts)
    parts = [*(telling[-wanted:] if wanted > 0 else []), *(parts or [])] or [stem]
    return safe_name("-".join(parts))


def _telling_folders(name: str, root: str) -> list[str]:
    folders = (root, *name.split("/")[:-1])
    return [part for part in folders if part and part.lower() not in GENERIC_NAMES]


def safe_name(text: str) -> str:
    """Names come from untrusted files and become folders."""
    return UNSAFE_IN_NAME.sub("-", text).strip("-").lstrip(".") or "run"


def _root_name(kinds: list[tuple[Found, Kind]]) -> str:
    """The inputs' common parent: the last resort for a file called `rollouts.jsonl`."""
    for file, _ in kinds:
        depth = file.name.count("/")
        if len(file.path.parents) > depth:
            return file.path.parents[depth].name
    return ""


def _package_name(file: Found) -> str | None:
    """`<benchmark>/rollouts/x.jsonl` and `<benchmark>/data/x_rollouts.jsonl` name the benchmark."""
    parent = file.path.parent
    name = parent.parent.name
    if parent.name.lower() not in ("rollouts", "data") or name.lower() in GENERIC_NAMES:
        return None
    return name if parent.name.lower() == "rollouts" or "rollout" in file.path.name else None


def _names_given(
    kinds: list[tuple[Found, Kind]],
    family_of: dict[str, Family],
    run_names: tuple[tuple[str, Path], ...],
) -> dict[Family, str]:
    """The names set by the caller: each must fit one run, and no two may be alike."""
    given: dict[Family, str] = {}
    for name, path in run_names:
        if not VALID_NAME.fullmatch(name):
            raise UsageError(
                f"--run {name}={path}: a run's name may hold letters, digits, '.', '_' and '-'."
            )
        if name.casefold() in {other.casefold() for other in given.values()}:
            raise UsageError(f"--run {name}={path}: another run is called {name} already.")
        below = path.resolve()
        families = {
            family_of[file.name]
            for file, kind in kinds
            if kind is Kind.ROLLOUTS and (file.path == below or below in file.path.parents)
        }
        if families & set(given):
            raise UsageError(f"--run {name}={path}: the run has the name {given[families.pop()]}.")
        if len(families) != 1:
            listing = ", ".join(sorted(family.stem for family in families)) or "none"
            raise UsageError(
                f"--run {name}={path}: the path holds {len(families)} runs ({listing}), not one.",
                hint="Name one rollout file, or a folder with the shards of one run.",
            )
        given[families.pop()] = name
    return given
