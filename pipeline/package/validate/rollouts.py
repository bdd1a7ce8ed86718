"""D2: at least two scored, comparable runs whose rows hold what an analysis reads."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.package.files import names_in
from pipeline.package.validate.subject import (
    FAIL,
    PASS,
    WARN,
    Data,
    Outcome,
    RowFile,
    Subject,
    Told,
    counted,
    held,
    listed,
)

MOVE = (
    "If this is a results folder, make a package of it with `blade init --benchmark-dir PACKAGE "
    "--benchmark NAME --results THIS_FOLDER`; else move the files into rollouts/."
)


def rollouts(subject: Subject) -> Told:
    """Files, then how runs compare, then what rows hold."""
    package, data = subject.package, subject.data
    elsewhere = names_in(package.folder, ".jsonl")
    if not package.rollouts and elsewhere:
        told = f"no rollout file; {counted(len(elsewhere), 'file')} at the top: {listed(elsewhere)}"
        yield "rollouts.present", Outcome(FAIL, told, fix=MOVE)
    elif data is None or not data.files:
        reason = subject.reason or "no file holds rollouts"
        yield "rollouts.present", held(False, reason)
    else:
        yield "rollouts.present", held(True, counted(len(data.files), "file"))
        yield from _runs(data)
        yield from _rows(data)


def _runs(data: Data) -> Told:
    posing = [file for file in data.files if file.is_posing]
    for file in posing:
        told = f"of {counted(file.n_rows, 'row')} {file.n_others:,} are failed attempts or inputs"
        if not file.n_rows:
            told = f"no usable row in {counted(file.n_lines, 'line')}"
        yield "rollouts.sidecars", held(False, told, file.path)
    if not posing:
        yield "rollouts.sidecars", held(True, "every rollout file holds rollouts")
    names = data.scored_runs
    told = counted(len(names), "scored run") + (f": {listed(names)}" if names else "")
    yield "rollouts.scored", held(len(names) >= 2, told)
    for one, other, n_same, n_all in data.copies:
        told = f"{one} and {other} share {n_same:,} of {counted(n_all, 'rollout')}"
        yield "rollouts.different", held(False, told)
    if not data.copies and len(names) > 1:
        yield "rollouts.different", held(True, f"no two of {len(names)} hold the same rollouts")
    copied = {pair[:2] for pair in data.copies}
    pairs = [pair for pair in data.shared if pair[:2] not in copied]
    good = [pair for pair in pairs if 2 * pair[2] >= pair[3] > 0]
    if pairs:
        one, other, n_shared, n_all = max(pairs, key=lambda pair: pair[2] / max(1, pair[3]))
        told = f"{one} and {other} share {n_shared:,} of {counted(n_all, 'question')}"
        yield "rollouts.comparable", held(bool(good), told)
    matched = {name for pair in good for name in pair[:2]}
    alone = sorted({name for pair in pairs for name in pair[:2]} - matched)
    if good and alone:
        told = f"{listed(alone)}: shares too few questions with any other"
        yield "rollouts.comparable", Outcome(WARN, told)


def _rows(data: Data) -> Told:
    real = [file for file in data.files if not file.is_posing]
    repeated = [file for file in real if file.has_repeats]
    yield from _shares("rollouts.task_id", real, lambda file: file.n_named)
    yield from _shares("rollouts.rollout_id", repeated, lambda file: file.n_numbered)
    yield from _shares("rollouts.reward", real, lambda file: file.n_scored, enough=0.5)
    yield from _shares("rollouts.output", real, lambda file: file.n_outputs, enough=0.5, well=0.9)
    for file in real:
        if file.n_scored > 1 and file.least == file.most:
            told = f"{file.path}: every one of {file.n_scored:,} rewards is {file.most:g}"
            is_binary = file.most is not None and min(abs(file.most), abs(file.most - 1)) <= 1e-9
            status = WARN if is_binary else FAIL
            yield "rollouts.reward_varies", Outcome(status, told, file.path)
        else:
            yield "rollouts.reward_varies", held(True, "several rewards", file.path)
    for file in data.files:
        if file.n_rejects:
            told = f"{file.path}: {file.n_rejects:,} of {counted(file.n_lines, 'line')}"
            status = FAIL if 10 * file.n_rejects > file.n_lines else WARN
            yield "rollouts.usable", Outcome(status, f"{told} cannot be used", file.path)
        else:
            yield "rollouts.usable", held(True, counted(file.n_lines, "line"), file.path)


def _shares(
    rule: str,
    files: list[RowFile],
    have: Callable[[RowFile], int],
    *,
    enough: float = 1.0,
    well: float = 1.0,
) -> Told:
    """Failed below what is enough, or where texts pose as numbers; told while it is not well."""
    for file in files:
        texts = f", {file.n_texts:,} rewards are texts" if rule == "rollouts.reward" else ""
        is_wrong = have(file) < enough * file.n_rollouts or bool(texts and file.n_texts)
        if have(file) < well * file.n_rollouts:
            told = f"{file.path}: {have(file):,} of {counted(file.n_rollouts, 'row')}"
            told += texts if file.n_texts else ""
            yield rule, Outcome(FAIL if is_wrong else WARN, told, file.path)
    if files and all(have(file) >= well * file.n_rollouts for file in files):
        n_rows = sum(file.n_rollouts for file in files)
        told = f"{counted(n_rows, 'row')} in {counted(len(files), 'file')}"
        yield rule, Outcome(PASS, told)
