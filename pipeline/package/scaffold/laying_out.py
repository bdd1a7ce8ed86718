"""A package laid out whole: files chosen, drafts made by an analysis, and what is left to do."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import BladeError, InputError
from pipeline.files import UnreadableError, content
from pipeline.package.layout import DRAFTS, GOLDEN_REPORTS, ROLLOUTS, SIDECARS, SKILLS, package
from pipeline.package.scaffold.declared import declared
from pipeline.package.scaffold.drafts import draft_files
from pipeline.package.scaffold.facts import facts
from pipeline.package.scaffold.profile_draft import (
    RELATIONS,
    ProfileFacts,
    profile_facts,
    profile_text,
)
from pipeline.package.scaffold.selection import Incoming, Selection, select
from pipeline.package.scaffold.skill import skeleton_text, skill_text
from pipeline.package.scaffold.writing import Existing, File, Standing, Step, planned, written
from pipeline.report import Source
from pipeline.report.marks import CURATE
from pipeline.text import one_line

WIDEST_NAME = 100
PROFILE = "blade.toml"
NOTHING = Selection((), None, ())


@dataclass(frozen=True)
class Analyses:
    """How results are analyzed, open as long as they are needed, gone afterwards.

    `part` makes some relations, by no profile; `whole` all of them, and the folder of its output.
    """

    part: Callable[[Path, Sequence[str], str | None], AbstractContextManager[Source]]
    whole: Callable[[Path], AbstractContextManager[tuple[Source, Path]]]


@dataclass(frozen=True)
class LaidOut:
    """What became of each file, and what a person should know and do next.

    `is_known` where rollouts are there to draft from; `curate` counts the places of each text.
    """

    is_known: bool
    steps: Sequence[Step]
    notes: Sequence[str]
    curate: Sequence[tuple[str, int]]
    commands: Sequence[str]


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


def lay_out(
    folder: Path,
    benchmark: str,
    results: Path | None,
    existing: Existing,
    analyses: Analyses,
    *,
    link: bool,
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
        chosen = _chosen(results, benchmark, place, analyses, is_alone=not is_there)
    is_known = bool(chosen.selection.files) or is_there
    files = [File(f"{place.home}/{file.name}", file.source) for file in chosen.selection.files]
    planned(folder, files, existing)
    if is_known:
        texts = _drafts(place, benchmark, chosen, existing, analyses)
    else:
        texts = [_profile_file(benchmark), File(place.skill, skeleton_text(benchmark))]
    steps = planned(folder, [*files, *texts], existing)
    folders = [str(Path(place.skill).parent), place.home, f"{GOLDEN_REPORTS}/{DRAFTS}"]
    written(folder, steps, folders=folders, link=link)
    return LaidOut(
        is_known,
        steps,
        notes=[*chosen.selection.notes, *_notes(place, benchmark, chosen)],
        curate=_places(folder, steps),
        commands=list(_next(folder, benchmark, steps, is_known=is_known)),
    )


def _chosen(
    results: Path, benchmark: str, place: _Place, analyses: Analyses, *, is_alone: bool
) -> _Chosen:
    """The runs to take; with what a profile can say, where they are all that will be there."""
    with analyses.part(results, ["main.artifacts", *RELATIONS], None) as warehouse:
        base = results if results.is_dir() else results.parent
        selection = select(warehouse, base, benchmark)
        known = None
        if is_alone and selection.benchmark is not None:
            known = profile_facts(warehouse, selection.benchmark)
    beside = base / PROFILE
    is_own = beside.is_file() and beside.resolve() != (place.folder / PROFILE).resolve()
    return _Chosen(selection, _text(beside) if is_own else None, known)


def _drafts(
    place: _Place, benchmark: str, chosen: _Chosen, existing: Existing, analyses: Analyses
) -> list[File]:
    """Profile, skill and reports, of an analysis of the package as it will be."""
    present = _present(place.folder / place.home)
    with _staged(place, [*present, *chosen.selection.files]) as staged:
        home = staged / place.home
        profile = _profile_file(benchmark, chosen.profile)
        if chosen.profile is None:
            known = chosen.facts
            if known is None:
                with analyses.part(home, RELATIONS, benchmark) as warehouse:
                    known = profile_facts(warehouse, benchmark)
            profile = _profile_file(benchmark, profile_text(benchmark, known))
        (step,) = planned(place.folder, [profile], existing)
        is_kept = step.standing is Standing.KEPT
        counts = _text(place.folder / PROFILE) if is_kept else str(profile.content)
        (staged / PROFILE).write_text(counts, encoding="utf-8", newline="\n")
        with analyses.whole(home) as (warehouse, out):
            read = warehouse.execute(
                "select path from raw.files where kind = 'rollouts' order by path"
            )
            tools = declared([home / path for (path,) in read.fetchall()])
            text = skill_text(facts(warehouse, benchmark, tools), folder=place.name)
            skill = File(place.skill, text, skeleton_text(benchmark))
            return [profile, skill, *draft_files(warehouse, out)]


def _profile_file(benchmark: str, text: str | None = None) -> File:
    skeleton = profile_text(benchmark, None)
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
            message, hint = (
                text.replace(str(staged), str(place.folder)) for text in (str(error), error.hint)
            )
            raise type(error)(message, hint=hint) from error


def _text(path: Path) -> str:
    try:
        return content(path).decode("utf-8")
    except (UnreadableError, UnicodeError) as error:
        raise InputError(
            f"{path}: cannot be read as a profile ({error}).", hint="Mend it, or move it away."
        ) from error


def _notes(place: _Place, benchmark: str, chosen: _Chosen) -> list[str]:
    """Where names do not agree, and where the profile came from."""
    notes = []
    if place.name != benchmark:
        notes.append(
            f"the folder is called {one_line(place.name, WIDEST_NAME)}, the benchmark "
            f"{one_line(benchmark, WIDEST_NAME)}: {PROFILE} says which counts"
        )
    if chosen.profile is not None:
        notes.append(f"{PROFILE}: taken from the results, as it stands")
    return notes


def _places(folder: Path, steps: Sequence[Step]) -> list[tuple[str, int]]:
    """Each text with places that wait for a person, as it stands now."""
    names = [step.file.name for step in steps if step.file.is_draft]
    return [
        (name, len(CURATE.findall(content(folder / name).decode("utf-8", "replace"))))
        for name in names
        if name.endswith(".md")
    ]


def _next(folder: Path, benchmark: str, steps: Sequence[Step], *, is_known: bool) -> Iterator[str]:
    """From a draft to a package that can be shared, in order, for the first of its models."""
    home, name = shlex.quote(str(folder)), shlex.quote(benchmark)
    if not is_known:
        yield f"blade init --benchmark-dir {home} --benchmark {name} --results RESULTS"
        return
    pattern = re.compile(r"(.+)_draft_report\.md")
    matches = (pattern.fullmatch(Path(step.file.name).name) for step in steps)
    model = next((match[1] for match in matches if match), None)
    if model is None:
        return
    golden = f"{home}/{GOLDEN_REPORTS}/{model}"
    drafts = f"{home}/{GOLDEN_REPORTS}/{DRAFTS}/{model}"
    yield f"cp {drafts}_draft_report.md {golden}_golden_report.md   # then curate it"
    yield f"cp {drafts}_draft_report_metrics.json {golden}_golden_report_metrics.json"
    yield f"blade verify {golden}_golden_report.md --results {home}/{ROLLOUTS}"
    yield (
        f"blade extract-anchor-facts --golden {golden}_golden_report.md --benchmark {name} "
        f"--model-name {model} --output {golden}_anchor_facts.json"
    )
    yield f"blade make-shallow --input {golden}_golden_report.md --output {golden}_shallow.md"
    yield (
        f"blade calibrate --golden-report {golden}_golden_report.md "
        f"--anchor-facts {golden}_anchor_facts.json --shallow-report {golden}_shallow.md"
    )
    yield f"blade sanitize {home} --check"
    yield f"blade validate --benchmark-dir {home} --phase all"
