"""A package laid out whole: files chosen, drafts made by an analysis, and what is left to do.

What a person wrote is never replaced: rollouts, labels, profile, golden reports, and the skill but
for its generated parts. Drafts and these parts are made again where that is asked for.
"""

from __future__ import annotations

import difflib
import filecmp
import os
import re
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pipeline.errors import BladeError, InputError
from pipeline.files import UnreadableError, content
from pipeline.package.files import write_text
from pipeline.package.layout import (
    DRAFTS,
    GOLDEN_REPORTS,
    ROLLOUTS,
    SKILLS,
    UNSAFE,
    package,
)
from pipeline.package.scaffold.selection import LABELS, Selection, select
from pipeline.package.scaffold.skill import TOLD, asked, profile_text, refreshed, skill_text
from pipeline.report import Source
from pipeline.report.marks import CURATE
from pipeline.text import one_line

PROFILE = "blade.toml"
MOST_LISTED, LONGEST_NAME = 10, 100


class Standing(StrEnum):
    """What becomes of a file."""

    NEW = "written"
    REFRESHED = "refreshed"
    SAME = "as it was"
    KEPT = "kept"


# How results are analyzed, open as long as they are needed, gone afterwards: some relations, by no
# profile; all of them, with the folder of the output.
Part = Callable[[Path, Sequence[str]], AbstractContextManager[Source]]
Whole = Callable[[Path], AbstractContextManager[tuple[Source, Path]]]


@dataclass(frozen=True)
class Step:
    """A file by its name in the package: what is to stand there, and what becomes of it."""

    name: str
    content: str | Path
    standing: Standing
    # What a refresh changes, as lines of a unified diff.
    diff: tuple[str, ...] = ()


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


def lay_out(
    folder: Path,
    benchmark: str,
    results: Path | None,
    part: Part,
    whole: Whole,
    *,
    link: bool,
    refresh: bool,
) -> LaidOut:
    """The package, whole; nothing is written until all of it is made and fits what is there."""
    there = package(folder)
    present = _present(folder, there.results.name)
    is_there = bool(there.rollouts)
    home = there.results.name if is_there else ROLLOUTS
    skill = there.skill.relative_to(folder).as_posix() if there.skill else SKILLS[0]
    chosen = Selection({}, None, ())
    if results is not None:
        with part(results, ["main.artifacts", "main.runs"]) as warehouse:
            base = results if results.is_dir() else results.parent
            chosen = select(warehouse, base, benchmark, home)
    _refuse_obstacles(folder, [*chosen.files, PROFILE, skill])
    incoming = [_copied(folder, name, path) for name, path in chosen.files.items()]
    is_known, notes = bool(chosen.files) or is_there, list(chosen.notes)
    skeletons = {
        PROFILE: profile_text(None, benchmark),
        skill: skill_text(None, benchmark, folder=_name(folder), home=folder),
    }
    texts: Mapping[str, str] = skeletons
    if is_known:
        linked = {**{name: folder / name for name in present}, **chosen.files}
        own = folder / PROFILE
        is_own = own.is_file() and _text(own) != skeletons[PROFILE]
        profile = own if is_own else chosen.profile
        texts = _drafts(folder, linked, home, skill, benchmark, profile, whole)
    steps = [*incoming]
    for name, text in texts.items():
        step, lacking = _drafted(folder, name, text, skeletons.get(name), refresh=refresh)
        steps.append(step)
        notes += lacking
    notes += _notes(folder, benchmark, chosen, steps, refresh=refresh)
    folders = [str(Path(skill).parent), home, f"{GOLDEN_REPORTS}/{DRAFTS}"]
    _write(folder, steps, folders, link=link)
    return LaidOut(
        is_known,
        steps,
        notes,
        curate=[
            (name, len(CURATE.findall(_text(folder / name))))
            for name in texts
            if name.endswith(".md")
        ],
        commands=list(_next(folder, benchmark, texts, is_known=is_known)),
    )


def _drafts(
    folder: Path,
    linked: Mapping[str, Path],
    home: str,
    skill: str,
    benchmark: str,
    profile: Path | None,
    whole: Whole,
) -> dict[str, str]:
    """Profile, skill and reports, of an analysis of the package as it will be."""
    with _staged(folder, linked) as staged:
        given = profile_text(None, benchmark) if profile is None else _text(profile)
        (staged / PROFILE).write_text(given, encoding="utf-8", newline="\n")
        with whole(staged / home) as (warehouse, out):
            made = {
                PROFILE: given if profile else profile_text(warehouse, benchmark),
                skill: skill_text(warehouse, benchmark, folder=_name(folder), home=staged / home),
            }
            for run_id, model in _draft_names(warehouse).items():
                stem = f"{GOLDEN_REPORTS}/{DRAFTS}/{model}_draft_report"
                for end, file in ((".md", "report.md"), ("_metrics.json", "metrics.json")):
                    made[stem + end] = (out / "runs" / run_id / file).read_text(encoding="utf-8")
            return made


def _name(folder: Path) -> str:
    return folder.absolute().name or "package"


def _draft_names(source: Source) -> dict[str, str]:
    """The name of each run's draft: its model's, its own where two would be alike."""
    runs = asked(source, "select run_id, model from main.runs order by run_id")
    # `_vs_` would make it a comparison.
    wanted = {
        row["run_id"]: UNSAFE.sub("-", row["model"])
        .strip("-.")[:LONGEST_NAME]
        .replace("_vs_", "-vs-")
        for row in runs
    }
    uses = Counter(name.casefold() for name in wanted.values())
    return {
        run: name if name and uses[name.casefold()] == 1 else run for run, name in wanted.items()
    }


def _copied(folder: Path, name: str, source: Path) -> Step:
    """A file of the results: of what is there, labels stay, and rollouts must be the same."""
    path = folder / name
    if not os.path.lexists(path):
        return Step(name, source, Standing.NEW)
    with suppress(OSError):
        if path.samefile(source) or filecmp.cmp(path, source, shallow=False):
            return Step(name, source, Standing.SAME)
    if name == LABELS:
        return Step(name, source, Standing.KEPT)
    raise InputError(
        f"{folder}: {name} is there and differs; nothing was written.",
        hint="Rollouts are never replaced: rename the new file, or move the old one away first.",
    )


def _drafted(
    folder: Path, name: str, text: str, skeleton: str | None, *, refresh: bool
) -> tuple[Step, list[str]]:
    """A text of ours: new, or in place of one that nobody has written in."""
    path = folder / name
    if not os.path.lexists(path):
        return Step(name, text, Standing.NEW), []
    old = _text(path)
    if old in (text, skeleton):
        return Step(name, text, Standing.SAME if old == text else Standing.REFRESHED), []
    lacking: list[str] = []
    if not refresh or name == PROFILE:
        return Step(name, old, Standing.KEPT), []
    if name.endswith("SKILL.md"):
        text, unplaced = refreshed(old, text)
        lacking = [
            f"{name}: no place for the generated part `{part}`; mark one with "
            f"<!-- generated: {part} --> and <!-- end -->"
            for part in unplaced
        ]
    lines = difflib.unified_diff(
        old.splitlines(), text.splitlines(), str(path), str(path), lineterm="", n=1
    )
    standing = Standing.KEPT if text == old else Standing.REFRESHED
    return Step(name, text, standing, tuple(lines)), lacking


def _present(folder: Path, home: str) -> list[str]:
    """Rollouts, their sidecars and labels that stand in the package; hidden files are nobody's."""
    found = [path for path in sorted((folder / home).rglob("*")) if path.is_file()]
    found += [path for path in [folder / LABELS] if path.is_file()]
    names = [path.relative_to(folder) for path in found]
    return [
        name.as_posix() for name in names if not any(part.startswith(".") for part in name.parts)
    ]


@contextmanager
def _staged(folder: Path, linked: Mapping[str, Path]) -> Iterator[Path]:
    """A folder like the package, of links; messages speak of the package itself."""
    with tempfile.TemporaryDirectory(prefix="blade-") as beside:
        staged = Path(beside).resolve() / _name(folder)
        for name, path in linked.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).symlink_to(path.resolve())
        try:
            yield staged
        except BladeError as error:
            message, hint = (
                text.replace(str(staged), str(folder)) for text in (str(error), error.hint)
            )
            raise type(error)(message, hint=hint) from error


def _text(path: Path) -> str:
    try:
        return content(path).decode("utf-8")
    except (UnreadableError, UnicodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}).", hint="Move it away.") from error


def _refuse_obstacles(folder: Path, names: Sequence[str]) -> None:
    """Nothing is written over a folder or below a file."""
    for path in (folder, *(folder / name for name in names)):
        wrong = next((each for each in path.parents if each.exists() and not each.is_dir()), None)
        if wrong is None and path.is_dir() != (path == folder) and path.exists():
            wrong = path
        if wrong is not None:
            raise InputError(
                f"{wrong}: is in the way of the package.",
                hint="Move it, or choose another folder with --benchmark-dir.",
            )


def _write(folder: Path, steps: Sequence[Step], folders: Sequence[str], *, link: bool) -> None:
    """Make the folders, then write what is new; each file beside and moved into place."""
    path = folder
    try:
        for path in (folder / name for name in folders):
            path.mkdir(parents=True, exist_ok=True)
        for step in steps:
            path = folder / step.name
            if step.standing in (Standing.SAME, Standing.KEPT):
                continue
            if isinstance(step.content, str):
                write_text(path, step.content)
                continue
            beside = path.with_name(f".{path.name}.writing")
            beside.unlink(missing_ok=True)
            try:
                if link:
                    target = step.content.resolve()
                    beside.symlink_to(os.path.relpath(target, path.parent.resolve()))
                else:
                    shutil.copyfile(step.content, beside)
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
    except OSError as error:
        # The error of a copy may name what is copied.
        raise InputError(
            f"{path}: cannot be written ({error.strerror}).",
            hint="What was written before it is whole; make room, and run it again.",
        ) from error


def _notes(
    folder: Path, benchmark: str, chosen: Selection, steps: Sequence[Step], *, refresh: bool
) -> Iterator[str]:
    """Where names do not agree, where the profile came from, and what was left as it is."""
    name = _name(folder)
    if name != benchmark:
        told, wanted = one_line(name, LONGEST_NAME), one_line(benchmark, LONGEST_NAME)
        yield f"the folder is called {told}, the benchmark {wanted}: {PROFILE} says which counts"
    written = {step.name for step in steps if step.standing is Standing.NEW}
    if chosen.profile is not None and PROFILE in written:
        yield f"{PROFILE}: taken from the results, as it stands"
    kept = [step.name for step in steps if step.standing is Standing.KEPT]
    if kept and not refresh and any(each != PROFILE for each in kept):
        yield (
            f"kept as they are: {', '.join(kept[:MOST_LISTED])}; --refresh makes drafts and the "
            "generated parts of the skill again"
        )


def _next(
    folder: Path, benchmark: str, names: Mapping[str, str], *, is_known: bool
) -> Iterator[str]:
    """From a draft to a package that can be shared, in order, for the first of its models."""
    home, name = shlex.quote(str(folder)), shlex.quote(benchmark)
    if not is_known:
        yield f"blade init --benchmark-dir {home} --benchmark {name} --results RESULTS"
        return
    matches = (re.fullmatch(r"(.+)_draft_report\.md", Path(each).name) for each in names)
    model = next((match[1] for match in matches if match), None)
    if model is None:
        return
    places = {
        "home": home,
        "name": name,
        "model": model,
        "golden": f"{home}/{GOLDEN_REPORTS}/{model}",
        "draft": f"{home}/{GOLDEN_REPORTS}/{DRAFTS}/{model}_draft_report",
    }
    is_begun = (folder / GOLDEN_REPORTS / f"{model}_golden_report.md").exists()
    commands = [*([] if is_begun else TOLD["next"]["copy"]), *TOLD["next"]["then"]]
    yield from (command.format(**places) for command in commands)
