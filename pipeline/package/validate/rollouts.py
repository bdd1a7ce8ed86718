"""D2: at least two scored, comparable runs whose rows hold what an analysis reads."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.package.files import names_in
from pipeline.package.validate.subject import (
    FAIL,
    PASS,
    WARN,
    Outcome,
    Outcomes,
    RowFile,
    Subject,
    counted,
    listed,
)

MOSTLY = 0.9
UNSCORED = "Verify these rollouts again, or tell in the report why they have no score."
MOVE = (
    "If this is a results folder, make a package of it with `blade init --benchmark-dir PACKAGE "
    "--benchmark NAME --results THIS_FOLDER`; else move the files into rollouts/."
)


def present(subject: Subject) -> Outcomes:
    """Rollout files where a package has them."""
    package = subject.package
    if package.rollouts:
        yield Outcome(PASS, counted(len(package.rollouts), "file"))
    elif elsewhere := names_in(package.folder, ".jsonl"):
        told = f"no rollout file; {counted(len(elsewhere), 'file')} at the top: {listed(elsewhere)}"
        yield Outcome(FAIL, told, fix=MOVE)
    else:
        yield Outcome(FAIL, "no rollout file")


def readable(subject: Subject) -> Outcomes:
    """An analysis reads them."""
    if subject.data is not None and subject.data.files:
        n_runs = len(subject.data.runs)
        yield Outcome(PASS, f"{counted(len(subject.data.files), 'file')}, {counted(n_runs, 'run')}")
    elif subject.package.rollouts:
        yield Outcome(FAIL, subject.reason or "no file holds rollouts")


def sidecars(subject: Subject) -> Outcomes:
    """Failed attempts and inputs are counted as no run."""
    posing = [file for file in _files(subject) if file.is_posing]
    for file in posing:
        told = f"of {counted(file.n_rows, 'row')} {file.n_others:,} are failed attempts or inputs"
        if not file.n_rows:
            told = f"no usable row in {counted(file.n_lines, 'line')}"
        yield _of(file, FAIL, told)
    if _files(subject) and not posing:
        yield Outcome(PASS, "every rollout file holds rollouts")


def scored(subject: Subject) -> Outcomes:
    """Two runs with a score."""
    if subject.data is not None:
        names = [run.run_id for run in subject.data.runs if run.is_scored]
        told = f"{counted(len(names), 'scored run')}" + (f": {listed(names)}" if names else "")
        yield Outcome(PASS if len(names) >= 2 else FAIL, told)


def different(subject: Subject) -> Outcomes:
    """No run is the copy of another."""
    if subject.data is None:
        return
    for one, other, n_same, n_all in subject.data.copies:
        told = f"{one} and {other} share {n_same:,} of {counted(n_all, 'rollout')}"
        yield Outcome(FAIL, told)
    if not subject.data.copies and len(subject.data.runs) > 1:
        yield Outcome(PASS, f"no two of {len(subject.data.runs)} runs hold the same rollouts")


def comparable(subject: Subject) -> Outcomes:
    """Two different runs share half of their questions."""
    if subject.data is None:
        return
    copied = {pair[:2] for pair in subject.data.copies}
    pairs = [pair for pair in subject.data.shared if pair[:2] not in copied]
    good = [pair for pair in pairs if 2 * pair[2] >= pair[3] > 0]
    if pairs:
        one, other, n_shared, n_all = max(pairs, key=lambda pair: pair[2] / max(1, pair[3]))
        told = f"{one} and {other} share {n_shared:,} of {counted(n_all, 'question')}"
        yield Outcome(PASS if good else FAIL, told)
    matched = {name for pair in good for name in pair[:2]}
    alone = sorted({name for pair in pairs for name in pair[:2]} - matched)
    if good and alone:
        yield Outcome(WARN, f"{listed(alone)}: shares too few questions with any other")


def task_id(subject: Subject) -> Outcomes:
    """Every row names its task."""
    yield from _shares(subject, lambda file: file.n_named)


def rollout_id(subject: Subject) -> Outcomes:
    """Every row has its repeat number, where tasks repeat."""
    yield from _shares(
        subject, lambda file: file.n_numbered if file.has_repeats else file.n_rollouts
    )


def reward(subject: Subject) -> Outcomes:
    """Rewards are numbers."""
    whole = True
    for file in _real(subject):
        lacking = file.n_rollouts - file.n_scored
        texts = f", {file.n_texts:,} of them texts" if file.n_texts else ""
        told = f"{lacking:,} of {counted(file.n_rollouts, 'row')} without a number{texts}"
        is_wrong = bool(file.n_texts) or 2 * lacking >= max(1, file.n_rollouts)
        if lacking:
            whole = False
            yield _of(file, FAIL if is_wrong else WARN, told, "" if is_wrong else UNSCORED)
    if whole and _real(subject):
        n_scored = sum(file.n_scored for file in _real(subject))
        yield Outcome(PASS, f"{counted(n_scored, 'row')} in {counted(len(_real(subject)), 'file')}")


def reward_varies(subject: Subject) -> Outcomes:
    """Not one figure on every row."""
    scored = [file for file in _real(subject) if file.n_scored > 1]
    constant = [file for file in scored if file.least == file.most]
    for file in constant:
        told = f"every one of {file.n_scored:,} rewards is {file.most:g}"
        is_binary = file.most is not None and min(abs(file.most), abs(file.most - 1)) <= 1e-9
        yield _of(file, WARN if is_binary else FAIL, told)
    if scored and not constant:
        yield Outcome(PASS, f"in {counted(len(scored), 'file')}")


def output(subject: Subject) -> Outcomes:
    """Rows hold what the model said or did."""
    yield from _shares(subject, lambda file: file.n_outputs, enough=0.5)


def usable(subject: Subject) -> Outcomes:
    """Few lines are broken or repeat a key."""
    given = [file for file in _files(subject) if file.n_rows]
    bad = [file for file in given if file.n_rejects]
    for file in bad:
        told = f"{file.n_rejects:,} of {counted(file.n_lines, 'line')} cannot be used"
        yield _of(file, FAIL if 10 * file.n_rejects > file.n_lines else WARN, told)
    if given and not bad:
        yield Outcome(PASS, f"all {counted(sum(file.n_lines for file in given), 'line')}")


def trusted(subject: Subject) -> Outcomes:
    """No file says of itself that it was re-verified by force."""
    for run in subject.data.runs if subject.data else ():
        if run.is_unsafe:
            yield Outcome(WARN, f"{run.run_id} is unsafe")


def _files(subject: Subject) -> list[RowFile]:
    return [*subject.data.files] if subject.data else []


def _real(subject: Subject) -> list[RowFile]:
    return [file for file in _files(subject) if not file.is_posing]


def _of(file: RowFile, status: str, told: str, fix: str = "") -> Outcome:
    return Outcome(status, f"{file.path}: {told}", file.path, fix=fix)


def _shares(subject: Subject, have: Callable[[RowFile], int], *, enough: float = 1.0) -> Outcomes:
    """Failed below what is enough, to be looked at while more than a few rows are left out."""
    real = _real(subject)
    lacking = [file for file in real if have(file) < max(enough, MOSTLY) * file.n_rollouts]
    for file in lacking:
        is_wrong = have(file) < enough * file.n_rollouts
        told = f"{have(file):,} of {counted(file.n_rollouts, 'row')}"
        yield _of(file, FAIL if is_wrong else WARN, told)
    if real and not lacking:
        n_rows = sum(file.n_rollouts for file in real)
        yield Outcome(PASS, f"{counted(n_rows, 'row')} in {counted(len(real), 'file')}")
