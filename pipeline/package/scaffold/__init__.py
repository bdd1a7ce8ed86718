"""A package's folder laid out: rollouts chosen, skill, profile and reports drafted from them.

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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pipeline.errors import InputError
from pipeline.files import UnreadableError, content
from pipeline.outputs import explained
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
from pipeline.report.filters import CURATE
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
    """A file by its name in the package, and what becomes of it."""

    name: str
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
    """The package, whole: first its rollouts, if they fit what is there, then drafts of them."""
    there = package(folder)
    home = there.results.name if there.rollouts else ROLLOUTS
    skill = there.skill.relative_to(folder).as_posix() if there.skill else SKILLS[0]
    chosen = Selection({}, None, ())
    if results is not None:
        with part(results, ["main.artifacts", "main.runs"]) as warehouse:
            base = results if results.is_dir() else results.parent
            chosen = select(warehouse, base, benchmark, home)
    _refuse_obstacles(folder, [*chosen.files, PROFILE, skill])
    steps = [_incoming(folder, name, path) for name, path in chosen.files.items()]
    for name in (str(Path(skill).parent), home, f"{GOLDEN_REPORTS}/{DRAFTS}"):
        with explained(folder / name):
            (folder / name).mkdir(parents=True, exist_ok=True)
    named = folder.absolute().name or "package"
    texts = {
        PROFILE: profile_text(None, benchmark),
        skill: skill_text(None, benchmark, folder=named, home=folder),
    }
    skeletons, before = dict(texts), _text(folder / PROFILE)
    is_known, notes = bool(chosen.files or there.rollouts), list(chosen.notes)
    # Rollouts, and the profile by which they are analyzed, go again where that fails.
    with ExitStack() as undo:
        for step in steps:
            if step.standing is Standing.NEW:
                _copy(chosen.files[step.name], folder / step.name, link=link)
                undo.callback((folder / step.name).unlink)
        if is_known:
            # A person's profile, that of the results, else what is known of it.
            if before in (None, skeletons[PROFILE]):
                given = _text(chosen.profile) if chosen.profile else None
                texts[PROFILE] = given or skeletons[PROFILE]
                write_text(folder / PROFILE, texts[PROFILE])
                undo.callback(_restore, folder / PROFILE, before)
            with whole(folder / home) as (warehouse, out):
                if not chosen.profile:
                    texts[PROFILE] = profile_text(warehouse, benchmark)
                texts[skill] = skill_text(warehouse, benchmark, folder=named, home=folder / home)
                for run_id, model in _draft_names(warehouse).items():
                    stem = f"{GOLDEN_REPORTS}/{DRAFTS}/{model}_draft_report"
                    for end, file in ((".md", "report.md"), ("_metrics.json", "metrics.json")):
                        made = out / "runs" / run_id / file
                        texts[stem + end] = made.read_text(encoding="utf-8")
        undo.pop_all()
    for name, text in texts.items():
        old = before if name == PROFILE else _text(folder / name)
        text, step, lacking = _drafted(name, old, text, skeletons.get(name), refresh=refresh)
        if step.standing in (Standing.NEW, Standing.REFRESHED):
            write_text(folder / name, text)
        steps.append(step)
        notes += lacking
    return LaidOut(
        is_known,
        steps,
        [*notes, *_notes(named, benchmark, chosen, steps, refresh=refresh)],
        curate=[
            (name, len(CURATE.findall(_text(folder / name) or "")))
            for name in texts
            if name.endswith(".md")
        ],
        commands=list(_next(folder, benchmark, texts, is_known=is_known)),
    )


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


def _incoming(folder: Path, name: str, source: Path) -> Step:
    """A file of the results: of what is there, labels stay, and rollouts must be the same."""
    path = folder / name
    if not os.path.lexists(path):
        return Step(name, Standing.NEW)
    with suppress(OSError):
        if path.samefile(source) or filecmp.cmp(path, source, shallow=False):
            return Step(name, Standing.SAME)
    if name == LABELS:
        return Step(name, Standing.KEPT)
    raise InputError(
        f"{folder}: {name} is there and differs; nothing was written.",
        hint="Rollouts are never replaced: rename the new file, or move the old one away first.",
    )


def _drafted(
    name: str, old: str | None, text: str, skeleton: str | None, *, refresh: bool
) -> tuple[str, Step, list[str]]:
    """A text of ours: new, or in place of one that nobody has written in; and what has no place."""
    if old is None or old in (text, skeleton):
        is_same = old == text
        standing = Standing.SAME if is_same else Standing.REFRESHED if old else Standing.NEW
        return text, Step(name, standing), []
    if not refresh or name == PROFILE:
        return old, Step(name, Standing.KEPT), []
    lacking: list[str] = []
    if name.endswith("SKILL.md"):
        text, unplaced = refreshed(old, text)
        lacking = [
            f"{name}: no place for the generated part `{part}`; mark one with "
            f"<!-- generated: {part} --> and <!-- end -->"
            for part in unplaced
        ]
    lines = difflib.unified_diff(old.splitlines(), text.splitlines(), name, name, "", "", 1, "")
    standing = Standing.KEPT if text == old else Standing.REFRESHED
    return text, Step(name, standing, tuple(lines)), lacking


def _text(path: Path) -> str | None:
    """The text of a file; none where there is no file."""
    try:
        return content(path).decode("utf-8") if os.path.lexists(path) else None
    except (UnreadableError, UnicodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}).", hint="Move it away.") from error


def _restore(path: Path, text: str | None) -> None:
    path.unlink() if text is None else write_text(path, text)


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


def _copy(source: Path, path: Path, *, link: bool) -> None:
    """A copy or a link, made beside and moved into place."""
    beside = path.with_name(f".{path.name}.writing")
    with explained(path):
        beside.unlink(missing_ok=True)
        try:
            if link:
                beside.symlink_to(os.path.relpath(source.resolve(), path.parent.resolve()))
            else:
                shutil.copyfile(source, beside)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def _notes(
    name: str, benchmark: str, chosen: Selection, steps: Sequence[Step], *, refresh: bool
) -> Iterator[str]:
    """Where names do not agree, where the profile came from, and what was left as it is."""
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
