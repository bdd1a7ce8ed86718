"""The steps of blade init: choose rollouts, try the package out beside, then write it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.cli.package_source import analyzed, glimpsed
from pipeline.errors import BladeError, InputError
from pipeline.package import scaffold
from pipeline.package.layout import (
    DRAFTS,
    GOLDEN_REPORTS,
    ROLLOUTS,
    SIDECARS,
    SKILLS,
    package,
)
from pipeline.package.scaffold import (
    Existing,
    File,
    Incoming,
    ProfileFacts,
    Selection,
    Standing,
    Step,
)
from pipeline.text import one_line

PROFILE = "blade.toml"
WIDEST = 100
NOTHING = Selection((), None, ())


@dataclass(frozen=True)
class LaidOut:
    """What became of a package. `is_known` where its skill was written from rollouts."""

    folder: Path
    benchmark: str
    skill: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...]
    is_known: bool


@dataclass(frozen=True)
class _Place:
    """Where the parts of a package stand: its folder, and names below it."""

    folder: Path
    home: str
    skill: str

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self.folder.absolute().name or "package"


@dataclass(frozen=True)
class _Chosen:
    """Files of the results, the profile beside them, and what a profile could say of them."""

    selection: Selection = NOTHING
    profile: str | None = None
    facts: ProfileFacts | None = None


def laid_out(
    folder: Path, benchmark: str, *, results: Path | None, link: bool, existing: Existing
) -> LaidOut:
    """The package, whole; nothing is written until all of it is made and fits what is there."""
    there = package(folder)
    is_there = any(_is_rollouts(file.name) for file in _present(there.results))
    place = _Place(
        folder,
        there.results.name if is_there else ROLLOUTS,
        there.skill.relative_to(folder).as_posix() if there.skill else SKILLS[0],
    )
    chosen = _Chosen()
    if results is not None:
        chosen = _chosen(results, benchmark, place, is_alone=not is_there)
    incoming = chosen.selection.files
    files = [File(f"{place.home}/{file.name}", file.source) for file in incoming]
    scaffold.planned(folder, files, existing)
    is_known = bool(incoming) or is_there
    texts = (
        _drafts(place, benchmark, chosen, existing)
        if is_known
        else [_profile_file(benchmark), File(place.skill, scaffold.skeleton_text(benchmark))]
    )
    steps = scaffold.planned(folder, [*files, *texts], existing)
    folders = [str(Path(place.skill).parent), place.home, f"{GOLDEN_REPORTS}/{DRAFTS}"]
    scaffold.written(folder, steps, folders=folders, link=link)
    notes = (*chosen.selection.notes, *_notes(place, benchmark, chosen))
    return LaidOut(folder, benchmark, place.skill, tuple(steps), notes, is_known)


def _chosen(results: Path, benchmark: str, place: _Place, *, is_alone: bool) -> _Chosen:
    """The runs to take; with what a profile can say, where they are all that will be there."""
    with glimpsed(results, ["main.artifacts", *scaffold.RELATIONS]) as warehouse:
        base = results if results.is_dir() else results.parent
        selection = scaffold.select(warehouse, base, benchmark)
        facts = None
        if is_alone and selection.benchmark is not None:
            facts = scaffold.profile_facts(warehouse, selection.benchmark)
    beside = base / PROFILE
    is_own = beside.is_file() and beside.resolve() != (place.folder / PROFILE).resolve()
    return _Chosen(selection, _text(beside) if is_own else None, facts)


def _drafts(place: _Place, benchmark: str, chosen: _Chosen, existing: Existing) -> list[File]:
    """Profile, skill and reports, of an analysis of the package as it will be."""
    present = _present(place.folder / place.home)
    with _staged(place, [*present, *chosen.selection.files]) as staged:
        home = staged / place.home
        profile = _profile_file(benchmark, chosen.profile)
        if chosen.profile is None:
            facts = chosen.facts or _profile_facts(home, benchmark)
            profile = _profile_file(benchmark, scaffold.profile_text(benchmark, facts))
        (step,) = scaffold.planned(place.folder, [profile], existing)
        is_kept = step.standing is Standing.KEPT
        counts = _text(place.folder / PROFILE) if is_kept else str(profile.content)
        (staged / PROFILE).write_text(counts, encoding="utf-8", newline="\n")
        with analyzed(home, is_told=True) as (warehouse, out):
            read = warehouse.execute(
                "select path from raw.files where kind = 'rollouts' order by path"
            )
            tools = scaffold.declared([home / path for (path,) in read.fetchall()])
            facts_ = scaffold.facts(warehouse, benchmark, tools)
            text = scaffold.skill_text(facts_, folder=place.name)
            skeleton = scaffold.skeleton_text(benchmark)
            return [
                profile,
                File(place.skill, text, skeleton),
                *scaffold.draft_files(warehouse, out),
            ]


def _profile_facts(home: Path, benchmark: str) -> ProfileFacts:
    with glimpsed(home, scaffold.RELATIONS, benchmark=benchmark) as warehouse:
        return scaffold.profile_facts(warehouse, benchmark)


def _profile_file(benchmark: str, text: str | None = None) -> File:
    skeleton = scaffold.profile_text(benchmark, None)
    return File(PROFILE, skeleton if text is None else text, skeleton)


def _is_rollouts(name: str) -> bool:
    """By its name, packed or not."""
    plain = re.sub(r"\.(gz|zst)$", "", name)
    return plain.endswith(".jsonl") and not SIDECARS.search(plain)


def _present(home: Path) -> list[Incoming]:
    """What stands in the package's folder of rollouts; hidden files are nobody's."""
    if not home.is_dir():
        return []
    names = [path.relative_to(home) for path in sorted(home.rglob("*")) if path.is_file()]
    return [
        Incoming(home / name, name.as_posix())
        for name in names
        if not any(part.startswith(".") for part in name.parts)
    ]


@contextmanager
def _staged(place: _Place, files: Sequence[Incoming]) -> Iterator[Path]:
    """A folder like the package, of links; messages speak of the package itself."""
    with tempfile.TemporaryDirectory(prefix="blade-") as beside:
        staged = Path(beside).resolve() / place.name
        for file in files:
            link = staged / place.home / file.name
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(file.source.resolve())
        try:
            yield staged
        except BladeError as error:
            told, hint = (
                text.replace(str(staged), str(place.folder)) for text in (str(error), error.hint)
            )
            raise type(error)(told, hint=hint) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{path}: cannot be read as a profile ({error}).", hint="Mend it, or move it away."
        ) from error


def _notes(place: _Place, benchmark: str, chosen: _Chosen) -> list[str]:
    """Where names do not agree, and where the profile came from."""
    notes = []
    if place.name != benchmark:
        notes.append(
            f"the folder is called {one_line(place.name, WIDEST)}, the benchmark "
            f"{one_line(benchmark, WIDEST)}: {PROFILE} says which counts"
        )
    if chosen.profile is not None:
        notes.append(f"{PROFILE}: taken from the results, as it stands")
    return notes
