"""Folder, file or several of them -> artifacts by kind, grouped into named runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pipeline.artifact import Artifact, Kind
from pipeline.errors import InputError
from pipeline.ingest.discover.kinds import kind_of
from pipeline.ingest.discover.runs import name_runs
from pipeline.ingest.discover.walk import Found, walk

LOOKED_FOR = "*_rollouts.jsonl, any .jsonl whose rows hold a reward or a response (also .gz, .zst)"


def artifacts(
    results: tuple[Path, ...],
    *,
    run_names: tuple[tuple[str, Path], ...] = (),
    out: Path | None = None,
) -> list[Artifact]:
    """Every file below the inputs, in path order, each with its kind and its run."""
    inputs = [*results, *(path for _, path in run_names)]
    found = walk(inputs, skip=out)
    named_files = {path.resolve() for path in inputs if path.is_file()}
    kinds = [(file, kind_of(file, is_named=file.path in named_files)) for file in found]
    _refuse_without_rollouts(inputs, kinds)
    return name_runs(kinds, run_names)


def _refuse_without_rollouts(inputs: list[Path], kinds: list[tuple[Found, Kind]]) -> None:
    if any(kind is Kind.ROLLOUTS for _, kind in kinds):
        return
    where = ", ".join(str(path) for path in inputs)
    counts = Counter(kind for _, kind in kinds)
    listing = ", ".join(f"{counts[kind]} {kind}" for kind in sorted(counts))
    held = f"{len(kinds)} file{'s' * (len(kinds) > 1)} ({listing})" if kinds else "no files"
    raise InputError(
        f"{where}: no rollouts found; it holds {held}.",
        hint=f"Looked for: {LOOKED_FOR}. A file named directly is read whatever its name.",
    )
