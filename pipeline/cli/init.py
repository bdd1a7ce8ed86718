"""blade init: the folder of a package, its skill, profile and reports drafted from rollouts."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from pipeline.cli.options import PATH, json_option
from pipeline.cli.progress import analyzed
from pipeline.errors import BladeError, InputError, UsageError
from pipeline.package import scaffold
from pipeline.package.layout import DRAFTS, GOLDEN_REPORTS, ROLLOUTS, SIDECARS, SKILLS, package
from pipeline.package.scaffold import Existing, File, Incoming, Selection, Step
from pipeline.report.marks import CURATE
from pipeline.run import part
from pipeline.settings import Settings
from pipeline.text import ACTIVE, json_text, one_line
from pipeline.warehouse import Warehouse, open_warehouse

LONGEST_NAME = 200
WIDEST_PATH = 200
WIDEST_NAME = 100
PROFILE = "blade.toml"
NOTHING = Selection((), None, ())


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
    facts: scaffold.ProfileFacts | None = None


@click.command()
@click.option(
    "--benchmark-dir",
    "folder",
    type=PATH,
    required=True,
    help="Folder of the package; made where it is not there, completed where it is.",
)
@click.option("--benchmark", required=True, help="Name of the benchmark.")
@click.option(
    "--results",
    type=PATH,
    help="Folder or file of NeMo Gym rollouts.  [default: those in the package already]",
)
@click.option("--link", is_flag=True, help="Link to the rollouts instead of copying them.")
@click.option("--keep", is_flag=True, help="Leave drafts that are there and differ as they are.")
@click.option("--force", is_flag=True, help="Replace drafts that are there and differ.")
@json_option
def init(
    folder: Path,
    benchmark: str,
    results: Path | None,
    link: bool,
    keep: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Lay out a benchmark's package, and draft its skill and reports from the data.

    Rollouts and golden reports that are there are never changed.

    \b
    Examples:
      blade init --benchmark-dir benchmarks/office_desk --benchmark office_desk --results results/
      blade init --benchmark-dir benchmarks/office_desk --benchmark office_desk
      blade init --benchmark-dir benchmarks/evalplus --benchmark evalplus --results runs/ --link
    """
    if not benchmark.strip():
        raise UsageError("--benchmark: the name is empty.")
    if ACTIVE.search(benchmark) or set("\n\t") & set(benchmark) or len(benchmark) > LONGEST_NAME:
        raise UsageError(
            f"--benchmark {one_line(benchmark, 60)}: not a name.",
            hint="A name is one line of visible characters, 200 at most.",
        )
    if keep and force:
        raise UsageError("--keep and --force: one of them at most.")
    existing = Existing(keep=keep, force=force)
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
    is_known = bool(chosen.selection.files) or is_there
    steps = _laid_out(place, benchmark, chosen, existing, is_known=is_known, link=link)
    notes = [*chosen.selection.notes, *_notes(place, benchmark, chosen)]
    for note in notes:
        click.echo(f"! {note}", err=True)
    curate = _places(folder, steps)
    commands = list(_next(folder, benchmark, steps, is_known=is_known))
    if as_json:
        content = {
            "benchmark_dir": str(folder),
            "benchmark": benchmark,
            "is_drafted_from_data": is_known,
            "files": [{"path": step.file.name, "status": str(step.standing)} for step in steps],
            "curate": [{"path": name, "places": n} for name, n in curate],
            "notes": notes,
            "next": commands,
        }
        click.echo(json_text(content, indent=2))
        return
    click.echo(f"{one_line(str(folder), WIDEST_PATH)}:")
    width = max(len(step.standing) for step in steps)
    for step in steps:
        click.echo(f"  {step.standing:<{width}}  {one_line(step.file.name, WIDEST_PATH)}")
    click.echo("\nLeft to a person:")
    for name, n in curate:
        places = f"{n:>3} place{'' if n == 1 else 's'}"
        click.echo(f"  {places} to curate in {one_line(name, WIDEST_PATH)}")
    click.echo("\n".join(["\nNext:", *(f"  {command}" for command in commands)]))


def _laid_out(
    place: _Place,
    benchmark: str,
    chosen: _Chosen,
    existing: Existing,
    *,
    is_known: bool,
    link: bool,
) -> Sequence[Step]:
    """The package, whole; nothing is written until all of it is made and fits what is there."""
    files = [File(f"{place.home}/{file.name}", file.source) for file in chosen.selection.files]
    scaffold.planned(place.folder, files, existing)
    if is_known:
        texts = _drafts(place, benchmark, chosen, existing)
    else:
        texts = [_profile_file(benchmark), File(place.skill, scaffold.skeleton_text(benchmark))]
    steps = scaffold.planned(place.folder, [*files, *texts], existing)
    folders = [str(Path(place.skill).parent), place.home, f"{GOLDEN_REPORTS}/{DRAFTS}"]
    scaffold.written(place.folder, steps, folders=folders, link=link)
    return steps


def _chosen(results: Path, benchmark: str, place: _Place, *, is_alone: bool) -> _Chosen:
    """The runs to take; with what a profile can say, where they are all that will be there."""
    with _glimpsed(results, ["main.artifacts", *scaffold.RELATIONS]) as warehouse:
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
            facts = chosen.facts
            if facts is None:
                with _glimpsed(home, scaffold.RELATIONS, benchmark=benchmark) as warehouse:
                    facts = scaffold.profile_facts(warehouse, benchmark)
            profile = _profile_file(benchmark, scaffold.profile_text(benchmark, facts))
        (step,) = scaffold.planned(place.folder, [profile], existing)
        is_kept = step.standing is scaffold.Standing.KEPT
        counts = _text(place.folder / PROFILE) if is_kept else str(profile.content)
        (staged / PROFILE).write_text(counts, encoding="utf-8", newline="\n")
        with analyzed(home) as made, open_warehouse(made.warehouse) as warehouse:
            read = warehouse.execute(
                "select path from raw.files where kind = 'rollouts' order by path"
            )
            tools = scaffold.declared([home / path for (path,) in read.fetchall()])
            known = scaffold.facts(warehouse, benchmark, tools)
            text = scaffold.skill_text(known, folder=place.name)
            skeleton = scaffold.skeleton_text(benchmark)
            return [
                profile,
                File(place.skill, text, skeleton),
                *scaffold.draft_files(warehouse, made.out),
            ]


@contextmanager
def _glimpsed(
    results: Path, relations: Sequence[str], *, benchmark: str | None = None
) -> Iterator[Warehouse]:
    """A warehouse of these relations alone, by no profile; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        # An empty profile stands for none, whatever lies beside the results.
        nothing = Path(folder) / PROFILE
        nothing.touch()
        out = Path(folder) / "out"
        settings = Settings(results=(results,), out=out, benchmark=benchmark, profile=nothing)
        with open_warehouse(part(settings, relations)) as opened:
            yield opened


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
            message, hint = (
                text.replace(str(staged), str(place.folder)) for text in (str(error), error.hint)
            )
            raise type(error)(message, hint=hint) from error


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
        (name, len(CURATE.findall((folder / name).read_text(encoding="utf-8", errors="replace"))))
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
