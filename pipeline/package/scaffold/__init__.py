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
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ...errors import InputError
from ...files import UnreadableError, content, is_inside
from ...outputs import MAKE_ROOM, explained, replacing
from ...report import Source
from ...report.filters import CURATE
from ...report.registers import of_package
from ...report.tables import dicts
from ...text import one_line
from ..files import write_text
from ..layout import DRAFTS, GOLDEN_REPORTS, ROLLOUTS, SKILLS, UNSAFE, package
from .selection import LABELS, Convert, Selection, select
from .skill import lines, profile_text, refreshed, skill_text

PROFILE = "blade.toml"
DRAFT = re.compile(rf"{GOLDEN_REPORTS}/{DRAFTS}/(.+)_draft_report\.md")
LONGEST_NAME = 100


class Standing(StrEnum):
    """What becomes of a file."""

    NEW = "written"
    REFRESHED = "refreshed"
    SAME = "as it was"
    UNTOUCHED = "kept"


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
    convert: Convert,
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
            chosen = select(warehouse, base, benchmark, home, convert)
    drafts = f"{GOLDEN_REPORTS}/{DRAFTS}"
    _refuse_obstacles(folder, [*chosen.files, PROFILE, skill, f"{drafts}/{PROFILE}"])
    steps = [_incoming(folder, name, path) for name, path in chosen.files.items()]
    for name in (str(Path(skill).parent), home, drafts):
        with explained(folder / name):
            (folder / name).mkdir(parents=True, exist_ok=True)
    named = folder.absolute().name or "package"
    texts = {
        PROFILE: profile_text(None, benchmark),
        skill: skill_text(None, benchmark, folder=named),
    }
    skeletons, before = dict(texts), _text(folder / PROFILE)
    is_known = bool(chosen.files or there.rollouts)
    # Rollouts, and the profile by which they are analyzed, go again where that fails.
    with ExitStack() as undo:
        for step in steps:
            if step.standing is Standing.NEW:
                with explained(folder / step.name):
                    (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
                with replacing(folder / step.name, hint=MAKE_ROOM) as beside:
                    shutil.copyfile(chosen.files[step.name], beside)
                undo.callback((folder / step.name).unlink)
        if is_known:
            # A person's profile, that of the results, else what is known of it.
            if before in (None, skeletons[PROFILE]):
                own_profile = _text(chosen.profile) if chosen.profile else None
                texts[PROFILE] = own_profile or skeletons[PROFILE]
                write_text(folder / PROFILE, texts[PROFILE])
                undo.callback(_restore, folder / PROFILE, before)
            with whole(folder / home) as (warehouse, out):
                if not chosen.profile:
                    texts[PROFILE] = profile_text(warehouse, benchmark)
                texts[skill] = skill_text(warehouse, benchmark, folder=named)
                texts |= _reports(warehouse, out)
        undo.pop_all()
    unplaced: list[tuple[str, str]] = []
    for name, text in texts.items():
        old = before if name == PROFILE else _text(folder / name)
        text, step, parts = _drafted(name, old, text, skeletons.get(name), refresh=refresh)
        if step.standing in (Standing.NEW, Standing.REFRESHED):
            write_text(folder / name, text)
        steps.append(step)
        unplaced += [(name, part) for part in parts]
    kept_files = [step.name for step in steps if step.standing is Standing.UNTOUCHED]
    first = next((match[1] for match in map(DRAFT.fullmatch, texts) if match), None)
    pages = [name for name in texts if name.endswith(".md")]
    return LaidOut(
        is_known,
        steps,
        notes=[
            *chosen.notes,
            *lines(
                "notes.txt.j2",
                folder=one_line(named, LONGEST_NAME),
                benchmark=one_line(benchmark, LONGEST_NAME),
                unplaced=unplaced,
                is_taken=chosen.profile is not None and Step(PROFILE, Standing.NEW) in steps,
                kept=[] if refresh else kept_files,
            ),
        ],
        curate=[(name, len(CURATE.findall(_text(folder / name) or ""))) for name in pages],
        commands=lines(
            "next.txt.j2",
            home=shlex.quote(str(folder)),
            name=shlex.quote(benchmark),
            is_known=is_known,
            model=first,
            is_begun=(folder / GOLDEN_REPORTS / f"{first}_golden_report.md").exists(),
        ),
    )


def _reports(source: Source, out: Path) -> dict[str, str]:
    """The draft of each run with its figures, and the registers of all of them."""
    texts = {}
    for run_id, model in _draft_names(source).items():
        stem = f"{GOLDEN_REPORTS}/{DRAFTS}/{model}_draft_report"
        for end, file in ((".md", "report.md"), ("_metrics.json", "metrics.json")):
            texts[stem + end] = (out / "runs" / run_id / file).read_text(encoding="utf-8")
    return texts | {f"{GOLDEN_REPORTS}/{name}": text for name, text in of_package(source).items()}


def _draft_names(source: Source) -> dict[str, str]:
    """The name of each run's draft: its model's, its own where two would be alike."""
    query = "select run_id, coalesce(model, run_id) as model from main.runs order by run_id"
    runs = dicts(source, query)
    models = {row["run_id"]: UNSAFE.sub("-", row["model"]).strip("-.") for row in runs}
    # `_vs_` would make it a comparison.
    names = {run: name[:LONGEST_NAME].replace("_vs_", "-vs-") for run, name in models.items()}
    uses = Counter(map(str.casefold, names.values()))
    return {run: name if name and uses[name.casefold()] < 2 else run for run, name in names.items()}


def _incoming(folder: Path, name: str, source: Path) -> Step:
    """A file of the results: of what is there, labels stay, and rollouts must be the same."""
    path = folder / name
    if not os.path.lexists(path):
        return Step(name, Standing.NEW)
    with suppress(OSError):
        if path.samefile(source) or filecmp.cmp(path, source, shallow=False):
            return Step(name, Standing.SAME)
    if name == LABELS:
        return Step(name, Standing.UNTOUCHED)
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
        return old, Step(name, Standing.UNTOUCHED), []
    unplaced: list[str] = []
    if name.endswith("SKILL.md"):
        text, unplaced = refreshed(old, text)
    diff = difflib.unified_diff(old.splitlines(), text.splitlines(), name, name, "", "", 1, "")
    standing = Standing.UNTOUCHED if text == old else Standing.REFRESHED
    return text, Step(name, standing, tuple(diff)), unplaced


def _text(path: Path) -> str | None:
    """The text of a file; none where there is no file."""
    try:
        return content(path).decode("utf-8") if os.path.lexists(path) else None
    except (UnreadableError, UnicodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}).", hint="Move it away.") from error


def _restore(path: Path, text: str | None) -> None:
    path.unlink() if text is None else write_text(path, text)


def _refuse_obstacles(folder: Path, names: Sequence[str]) -> None:
    """Nothing is written over a folder, below a file or through a linked folder."""
    linked = [folder / name for name in names if not is_inside(folder, name)]
    for path in (folder, *(folder / name for name in names)):
        wrong = next((each for each in path.parents if each.exists() and not each.is_dir()), None)
        if wrong is None and path.is_dir() != (path == folder) and path.exists():
            wrong = path
        if wrong is None and path in linked:
            wrong = path.parent
        if wrong is not None:
            raise InputError(
                f"{wrong}: is in the way of the package.",
                hint="Move it, or choose another folder with --benchmark-dir.",
            )
