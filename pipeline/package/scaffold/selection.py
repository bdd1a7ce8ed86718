"""Which files of a results folder belong into a benchmark's package, and under which names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import InputError
from ...files import read_queries
from ...report import Source
from ...report.tables import dicts
from ...text import one_line
from ..layout import UNSAFE
from .skill import lines

QUERIES = read_queries("package/scaffold/selection")
# Files that belong to a run by their rows or by their names.
OF_RUNS = frozenset(
    "rollouts inputs failures reward_profile aggregate_metrics agent_metrics stage_journal".split()
)
# How runs were made, or what a curator found.
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
SIDECARS, BESIDE = "sidecars", ("inputs", "failures", "reward_profile", "stage_journal")
# Results of other harnesses as files of Gym's rows, by run.
Convert = Callable[[], Mapping[str, Path]]
# It is beside the rollouts, since it is no run.
LABELS = "labels.jsonl"


@dataclass(frozen=True)
class Selection:
    """The files to take by their names in the package, and the profile beside them.

    `notes` is what a person should know of the choice.
    """

    files: Mapping[str, Path]
    profile: Path | None
    notes: tuple[str, ...]


def select(source: Source, folder: Path, benchmark: str, home: str, convert: Convert) -> Selection:
    """The runs of the benchmark where the results know its name, else all; below `home`."""
    runs = dicts(source, QUERIES["runs"])
    benchmarks = sorted({row["benchmark"] for row in runs})
    chosen = benchmark if benchmark in benchmarks else None
    names = {row["run_id"] for row in runs if chosen is None or row["benchmark"] == chosen}
    rows = dicts(source, QUERIES["files"])
    own = [row for row in rows if row["kind"] in OF_RUNS and names & set(row["run_ids"] or ())]
    foreign = {row["run_name"] for row in own if row["format"]}
    converted = convert() if foreign else {}
    own = [row for row in own if not row["format"]]
    homes = {row["run_name"]: row["folder"] for row in own if row["kind"] == "rollouts"}
    files = {
        f"{home}/{run}_rollouts.jsonl": converted[run] for run in sorted(foreign & set(converted))
    }
    partly = []
    paths = {row["path"] for row in own}
    for row in (row for row in rows if row["path"] in paths or row["kind"] in DOCUMENTS):
        is_shared = row["kind"] in DOCUMENTS and row["run_name"] is None
        base = _shared_name(row, homes) if is_shared else _name(row)
        if base is None:
            partly.append(one_line(row["path"], WIDEST))
        elif base and (row["path"] in paths or is_shared or row["run_name"] in homes):
            # A validator takes every JSONL file of the folder itself for rollouts.
            below = f"{SIDECARS}/" if row["kind"] in BESIDE and READABLE.search(base) else ""
            name = base if base == LABELS else f"{home}/{below}{base}"
            _refuse_twins(files, name, folder / row["path"])
            files[name] = folder / row["path"]
    profile = folder / "blade.toml"
    notes = lines(
        "selection.txt.j2",
        others=[one_line(name, WIDEST) for name in benchmarks if name != chosen],
        is_known=chosen is not None,
        benchmark=one_line(benchmark, WIDEST),
        n_runs=len(names),
        partly=partly,
        packed=[one_line(name, WIDEST) for name in files if PACKED.search(name)],
    )
    return Selection(files, profile if profile.is_file() else None, tuple(notes))


def _shared_name(row: Mapping[str, Any], homes: Mapping[str, str]) -> str | None:
    """A document of no run: its own name if it is above all runs, the run's if above one.

    Nothing where it is above none; none where it fits neither all runs nor one.
    """
    base, above = PurePosixPath(row["path"]).name, row["folder"]
    below = [
        name for name, home in homes.items() if not above or f"{home}/".startswith(f"{above}/")
    ]
    if not below or len(below) == len(homes):
        return base if below else ""
    return f"{below[0]}_{base}" if len(below) == 1 and base != LABELS else None


def _name(row: Mapping[str, Any]) -> str:
    """The file's own name where it has the run's, else one that does: runs keep their names."""
    base, run = PurePosixPath(row["path"]).name, str(row["run_name"])
    if row["kind"] == "rollouts" and not READABLE.search(base):
        base = f"{PurePosixPath(base).stem}.jsonl"
    shown = UNSAFE.sub("-", ROLLOUTS.sub("", base)).lstrip("-.")
    # A run's name is made longer by its folders where two would read the same.
    for place in (0, *(match.end() for match in re.finditer("-", run))):
        if shown.startswith(run[place:]):
            return run[:place] + base
    if row["kind"] in DOCUMENTS:
        return f"{run}_{base}"
    stem = STEM.match(base)
    return f"{run}_rollouts{base[stem.end() if stem else len(base) :]}"


def _refuse_twins(files: Mapping[str, Path], name: str, source: Path) -> None:
    """No two files by one name, where case does not count either."""
    if not source.exists():  # an escaped name: some of its bytes are no text
        raise InputError(f"{source}: the name of this file is not UTF-8.", hint="Rename it first.")
    other = next((files[each] for each in files if each.casefold() == name.casefold()), None)
    if other is not None:
        message = (
            f"{source}: would be called {one_line(name, WIDEST)} in the package, as {other} is."
        )
        raise InputError(message, hint="Rename one of them, or give --results one run at a time.")
