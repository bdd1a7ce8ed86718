"""tau2-bench: one JSON document per run, or results.json with an index and a file per simulation.

A simulation is one attempt (tau2_simulation.py). Documents made by others may have simulations
only, with the domain and the model beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    OTHER_ROWS,
    Claim,
    Expected,
    Figure,
    Reading,
    Reject,
    Setting,
    document,
    fields,
    get,
    head,
    number,
    packed,
    text,
)
from pipeline.ingest.formats.tau2_simulation import Header, header, simulation

TITLE = "tau2-bench"
FILES = (
    "any `.json` with `simulations`, mostly after `info` and `tasks`; `results.json` with "
    "`simulation_index` and `simulations/<id>.json`; `submission.json` beside or above"
)
SCORE = (
    "`reward_info.reward`; none without it, and none after an `infrastructure_error`, which tau2 "
    "leaves out of its own figures"
)
NOTES = (
    "Benchmark: the domain. Repeats: `trial`. Checks: actions, communicated facts, assertions, "
    "`reward_breakdown`, `db_check`. Tokens and `cost` are the agent's; `user_cost` is a field. "
    "Memory holds one simulation, or the list of tasks: 160 MB of JSON at most."
)
NAMES = re.compile(r"\.json$", re.IGNORECASE)
SUBMISSION = "submission.json"
HEIGHT = 3  # a submission lies so many folders above at most: trajectories/<run>/results.json
ONE_SIMULATION = re.compile(r"(^|/)simulations/[^/]+\.json$", re.IGNORECASE)
MOST_EXPECTED = 1_000_000


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Documents by their first bytes; submissions and single simulations by what lies near them."""
    documents = [file for file in files if _is_document(file)]
    folders = {file.folder: file for file in documents if file.base.lower() == "results.json"}
    submissions = {file.folder: file for file in files if file.base == SUBMISSION}
    used: set[Found] = set()
    for file in documents:
        near = next((submissions[one] for one in _above(file.folder) if one in submissions), None)
        is_folder = file.base.lower() == "results.json"
        stem = _parent(file.folder, file.path) if is_folder else file.base[: -len(".json")]
        beside = (near.path,) if near else ()
        used.update({near} if near else ())
        yield Claim(file, Kind.ROLLOUTS, file.folder, stem, beside=beside)
    for file in files:
        home = folders.get(file.folder.rpartition("/")[0])
        if home and ONE_SIMULATION.search(file.name):
            stem = _parent(home.folder, home.path)
            yield Claim(file, Kind.ROLLOUTS, home.folder, stem, beside=(home.path,))
        elif file in used:
            yield Claim(file, Kind.REPORT, file.folder, file.base)


def _is_document(file: Found) -> bool:
    begun = head(file.path)
    has_sides = b'"agent_info"' in begun or b'"user_info"' in begun
    is_run = b'"num_trials"' in begun and has_sides
    has_rows = all(b'"%s"' % name in begun for name in (b"simulations", b"task_id", b"reward_info"))
    return begun.lstrip()[:1] == b"{" and (is_run or has_rows)


def _above(folder: str) -> Iterator[str]:
    for _ in range(HEIGHT):
        yield folder
        folder = folder.rpartition("/")[0]


def _parent(folder: str, path: Path) -> str:
    return folder.rpartition("/")[2] or path.parent.name


def _header_of(path: Path) -> Header:
    state = path.stat()
    return _kept_header(path, (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=1)
def _kept_header(path: Path, _state: tuple[int, int]) -> Header:
    """Hundreds of files beside a results.json need it; of a damaged one what stands before that."""
    given = {}
    with suppress(ValueError):  # its own reject says so
        for name, value in packed.fields(path, "simulations"):
            if name != "simulations":
                given[name] = value
    return header(given)


def read(artifact: Artifact) -> Iterator[Reading]:
    """The simulations of a document, or of the one file of a simulation."""
    for home in artifact.beside:
        if home.name.lower() == "results.json":
            yield from simulation(document(artifact.path), _header_of(home))
            return
    about: Header | None = None
    given: dict[str, Any] = {}
    for name, value in packed.fields(artifact.path, "simulations"):
        if name != "simulations":
            given[name] = value
            continue
        if about is None:
            is_late = not {"info", "tasks"} <= given.keys()
            about = _header_of(artifact.path) if is_late else header(given)
            yield from _said(about, artifact)
        if value is not None:
            yield from simulation(value, about)
    if about is None:
        yield from _said(header(given), artifact)


def _said(about: Header, artifact: Artifact) -> Iterator[Reading]:
    """Settings, expected attempts and the figures of a submission, which is of all of them."""
    info = about.info
    settings = {
        "model": about.model,
        "temperature": get(info, "agent_info", "llm_args", "temperature"),
        "num_repeats": get(info, "num_trials"),
        "max_steps": get(info, "max_steps"),
    }
    for name, value in settings.items():
        if said := text(value):
            yield Setting(name, said)
    n_trials = get(info, "num_trials")
    n_trials = n_trials if isinstance(n_trials, int) and n_trials > 0 else 0
    n_expected = n_trials * len(about.tasks)
    for task in about.tasks if n_expected <= MOST_EXPECTED else ():
        for trial in range(n_trials):
            yield Expected(task, trial)
    for path in artifact.beside:
        yield from _published(path, about.domain)
        if n_expected:
            counted = "tasks x num_trials"
            means = "num_rollouts"
            yield Figure(
                None, None, None, counted, number(n_expected), None, means, reason=OTHER_ROWS
            )


def _published(path: Path, domain: str) -> Iterator[Reading]:
    """The figures of a submission, in percent of pass^k."""
    try:
        published = get(document(path), "results", domain)
    except ValueError as error:
        yield Reject(f"{SUBMISSION}: {error}")
        return
    for name, value in fields(published).items():
        metric = f"{SUBMISSION} {domain}/{name}"
        k = re.fullmatch(r"pass_(\d+)", name)
        if value is not None and not isinstance(value, (str, list, dict)):
            means = f"pass^{k[1]}/reward" if k else None
            rounding = 0.05 if k else 0.0
            yield Figure(None, None, None, metric, number(value), means=means, rounding=rounding)
