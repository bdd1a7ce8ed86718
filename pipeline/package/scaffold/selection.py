"""Which files of a results folder belong into a benchmark's package, and under which names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.errors import InputError
from pipeline.package.layout import UNSAFE
from pipeline.package.scaffold.skill import asked
from pipeline.report import Source
from pipeline.text import one_line

# Files that belong to a run by their rows or by their names.
OF_RUNS = frozenset(
    "rollouts inputs failures reward_profile aggregate_metrics agent_metrics stage_journal".split()
)
# What tells how runs were made, or what a curator found.
DOCUMENTS = frozenset("config limits checkpoint notes labels".split())
READABLE = re.compile(r"\.jsonl(\.gz|\.zst)?\Z", re.IGNORECASE)
PACKED = re.compile(r"\.(gz|zst)\Z", re.IGNORECASE)
ROLLOUTS = re.compile(r"[-_]rollouts?(?=$|[-_.])")
# What comes before the shard, the kind of sidecar and the ending.
STEM = re.compile(
    r".*?(?=([-_.]rs\d+)?([-_.](chunk|shard|part)[-_]?\d+)?"
    r"(_materialized_inputs|_failures|_reward_profiling|_aggregate_metrics|_agent_metrics"
    r"|_multistage_state)?\.jsonl?(\.gz|\.zst)?\Z)",
    re.DOTALL | re.IGNORECASE,
)
WIDEST = 100
# It stands beside the rollouts, since it is no run.
LABELS = "labels.jsonl"


@dataclass(frozen=True)
class Selection:
    """The files to take by their names in the package, and the profile beside them.

    `notes` is what a person should know of the choice.
    """

    files: Mapping[str, Path]
    profile: Path | None
    notes: tuple[str, ...]


def select(source: Source, folder: Path, benchmark: str, home: str) -> Selection:
    """The runs of the benchmark where the results know its name, else all; below `home`."""
    runs = asked(source, "select run_id, benchmark from main.runs order by run_id")
    found = sorted({row["benchmark"] for row in runs})
    chosen = benchmark if benchmark in found else None
    names = {row["run_id"] for row in runs if chosen is None or row["benchmark"] == chosen}
    files = asked(
        source,
        """
        select artifacts.path, artifacts.kind, artifacts.run_ids, files.run_name, files.folder,
            files.format
        from main.artifacts as artifacts
        inner join raw.files as files using (path)
        order by artifacts.path
        """,
    )
    taken, left = _chosen_files(files, names)
    incoming = _named(folder, taken, home)
    notes = _notes(found, chosen, benchmark, len(names))
    notes += [
        f"{one_line(path, WIDEST)}: speaks of some of the runs and was left out" for path in left
    ]
    notes += [
        f"{one_line(name, WIDEST)}: packed; `blade validate` reads .jsonl only, so unpack it"
        for name in incoming
        if PACKED.search(name)
    ]
    profile = folder / "blade.toml"
    return Selection(incoming, profile if profile.is_file() else None, tuple(notes))


def _chosen_files(
    files: Sequence[Mapping[str, Any]], names: set[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Paths with their new names, and the documents that fit neither all runs nor one."""
    own = [row for row in files if row["kind"] in OF_RUNS and names & set(row["run_ids"] or ())]
    if foreign := next((row for row in own if row["format"]), None):
        raise InputError(
            f"{one_line(foreign['path'], WIDEST)}: is read as {foreign['format']}; "
            "the rollouts of a package are Gym's.",
            hint="`blade analyze` reports on it as it is; a package cannot be made of it yet.",
        )
    homes = {row["run_name"]: row["folder"] for row in own if row["kind"] == "rollouts"}
    taken = [(row["path"], _name(row)) for row in own]
    left = []
    for row in files:
        if row["kind"] not in DOCUMENTS:
            continue
        if row["run_name"] is not None:
            if row["run_name"] in homes:
                taken.append((row["path"], _name(row)))
            continue
        below = [name for name, home in homes.items() if _is_below(home, row["folder"])]
        base = PurePosixPath(row["path"]).name
        if below and len(below) == len(homes):
            taken.append((row["path"], base))
        elif len(below) == 1 and base != LABELS:
            taken.append((row["path"], f"{below[0]}_{base}"))
        elif below:
            left.append(row["path"])
    return sorted(taken), left


def _is_below(folder: str, above: str) -> bool:
    return not above or folder == above or folder.startswith(f"{above}/")


def _name(row: Mapping[str, Any]) -> str:
    """The file's own name where it tells the run's, else one that does: runs keep their names."""
    base, run = PurePosixPath(row["path"]).name, str(row["run_name"])
    if row["kind"] == "rollouts" and not READABLE.search(base):
        base = f"{PurePosixPath(base).stem}.jsonl"
    told = UNSAFE.sub("-", ROLLOUTS.sub("", base)).lstrip("-.")
    # A run's name is made longer by its folders where two would read the same.
    for place in (0, *(match.end() for match in re.finditer("-", run))):
        if told.startswith(run[place:]):
            return run[:place] + base
    if row["kind"] in DOCUMENTS:
        return f"{run}_{base}"
    stem = STEM.match(base)
    return f"{run}_rollouts{base[stem.end() if stem else len(base) :]}"


def _named(folder: Path, taken: Sequence[tuple[str, str]], home: str) -> dict[str, Path]:
    """Each file by its name in the package; no two by one, where case does not count either."""
    files: dict[str, Path] = {}
    for path, base in taken:
        source, name = folder / path, base if base == LABELS else f"{home}/{base}"
        if not source.exists():  # it is told, not named: some of its bytes are no text
            raise InputError(
                f"{source}: the name of this file is not UTF-8.", hint="Rename it first."
            )
        other = next((files[each] for each in files if each.casefold() == name.casefold()), None)
        if other is not None:
            raise InputError(
                f"{source}: would be called {one_line(name, WIDEST)} in the package, "
                f"as {other} is.",
                hint="Rename one of them, or give --results one run at a time.",
            )
        files[name] = source
    return files


def _notes(found: list[str], chosen: str | None, benchmark: str, n_runs: int) -> list[str]:
    """What was left out of results with several benchmarks, or why nothing was."""
    if len(found) == 1:
        return []
    others = ", ".join(one_line(name, WIDEST) for name in found if name != chosen)
    if chosen is not None:
        return [f"left out, as runs of other benchmarks: {others}"]
    told = one_line(benchmark, WIDEST)
    held = f"the results hold {len(found)} benchmarks ({others}), none called {told}"
    return [f"{held}: all {n_runs} runs were taken as it"]
