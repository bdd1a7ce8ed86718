"""D2: at least two scored, comparable runs whose rows hold what an analysis reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from pipeline.package.files import names_in
from pipeline.package.layout import Package
from pipeline.package.validate.check import Check, Rule, counted, listed
from pipeline.package.validate.data import Data, Run
from pipeline.package.validate.likeness import Copies, Overlap, copies, overlaps
from pipeline.package.validate.row_files import RowFile

MOSTLY = 0.9
UNSCORED = "Verify these rollouts again, or tell in the report why they have no score."
MOVE = (
    "If this is a results folder, make a package of it with `blade init --benchmark-dir PACKAGE "
    "--benchmark NAME --results THIS_FOLDER`; else move the files into rollouts/."
)
GENERATE = "Copy the rollouts file that `gym eval run --output` wrote, unchanged."
PRESENT = Rule(
    "rollouts.present",
    "D2 rollouts",
    "There is nothing to analyze: neither rollouts/*.jsonl nor data/*rollout*.jsonl.",
    "Copy the rollout files of at least two runs into rollouts/, one file a run.",
    "D2 rollouts missing",
)
READABLE = Rule(
    "rollouts.readable",
    "rollouts can be analyzed",
    "No run could be made of the rollouts, so nothing below could be checked against them.",
    "Run `blade analyze` on the rollouts folder, and mend what it says.",
)
SCORED = Rule(
    "rollouts.scored",
    "At least two scored rollout files",
    "Fewer than two runs have a reward or score: no score can be seen to change.",
    "Add another comparable model or agent run; each row needs a number in `reward`.",
)
POSING = Rule(
    "rollouts.sidecars",
    "sidecars are not counted as runs",
    "The file is named like a run, but its rows are failed attempts or inputs: no scored rollouts.",
    "Give the file its sidecar's name (`..._failures.jsonl`, `..._materialized_inputs.jsonl`), "
    "or put the scored rollouts in its place.",
)
DIFFERENT = Rule(
    "rollouts.different",
    "runs are really different runs",
    "Two runs hold the same rollouts (order, indices and model names aside): there is only one.",
    "Remove the copy, and add the rollouts of another model or agent.",
)
COMPARABLE = Rule(
    "rollouts.comparable",
    "runs share tasks",
    "Runs that asked different questions cannot be compared: a change of score means nothing.",
    "Run both models on the same input file, and keep `responses_create_params` in the rows.",
)
REWARD = Rule(
    "rollouts.reward",
    "reward is a number",
    "A reward that is absent or a text is no score: such rows count in no figure.",
    'Write rewards as JSON numbers: `"reward": 1.0`, not `"reward": "1.0"`.',
)
VARIES = Rule(
    "rollouts.reward_varies",
    "reward tells rollouts apart",
    "One figure on every row says nothing of any of them; it may be the mean of a batch.",
    "Keep the reward of each rollout, as the verifier gave it.",
)
TASK_ID = Rule(
    "rollouts.task_id",
    "task id field present",
    "Rows do not expose a stable task identifier; ids had to be derived from what was asked.",
    "Preserve `_ng_task_index`, `task_id`, or an equivalent field.",
)
ROLLOUT_ID = Rule(
    "rollouts.rollout_id",
    "rollout id field present where tasks repeat",
    "Repeats of a task cannot be told apart or cited; they were numbered in the order of rows.",
    "Preserve `_ng_rollout_index` in every row.",
)
OUTPUT = Rule(
    "rollouts.output",
    "rows have the model's output",
    "Without what the model said or did, no failure can be explained.",
    "Keep the whole `response` in every row, with its `output` items.",
)
VERIFIER = Rule(
    "rollouts.verifier",
    "rows have verifier output",
    "A bare reward does not say why the verifier gave it.",
    "Keep what the verifier returned: extracted answer, checks, messages, reward components.",
)
METADATA = Rule(
    "rollouts.metadata",
    "rows have task metadata",
    "Without category, difficulty or the like, results cannot be sliced.",
    "Keep the fields of the task's input row (category, difficulty, expected answer) in the rows.",
)
USABLE = Rule(
    "rollouts.usable",
    "lines can be used",
    "Lines that are broken, or repeat the key of another, are in no figure.",
    'List them with `blade sql "from rejects"` after `blade analyze`, and write them again.',
)
TRUSTED = Rule(
    "rollouts.trusted",
    "rewards can be trusted",
    "The file's name says that its rewards were re-verified by force.",
    "Use the rollouts as they were scored.",
)


def _absent(package: Package, reason: str) -> list[Check]:
    """The checks where no analysis could be made; there may be rollouts at the top."""
    if package.rollouts:
        found = PRESENT.passed(counted(len(package.rollouts), "file"))
        return [found, READABLE.failed(reason)]
    elsewhere = names_in(package.folder, ".jsonl")
    if not elsewhere:
        return [PRESENT.failed("no rollout file")]
    told = f"no rollout file; {counted(len(elsewhere), 'file')} at the top: {listed(elsewhere)}"
    return [PRESENT.failed(told, fix=MOVE)]


def checks(package: Package, known: Data | None, *, reason: str) -> list[Check]:
    """All checks of D2, in the order in which a person would mend them."""
    if known is None or not known.files:
        return _absent(package, reason or "no file holds rollouts")
    runs, warehouse = known.runs, known.warehouse
    files = [replace(file, path=f"{package.results.name}/{file.path}") for file in known.files]
    real = [file for file in files if not file.is_posing]
    same = copies(warehouse)
    return [
        PRESENT.passed(f"{counted(len(files), 'file')}, {counted(len(runs), 'run')}"),
        *_posing(files),
        _scored(files, runs),
        *_different([run for run in runs if run.is_scored], same),
        *_comparable(overlaps(warehouse), same),
        *_rows(real),
        *_usable([file for file in files if file.n_rows]),
        *(TRUSTED.warned(f"{run.run_id} is unsafe") for run in runs if run.is_unsafe),
    ]


def _posing(files: Sequence[RowFile]) -> Iterator[Check]:
    bad = [file for file in files if file.is_posing]
    for file in bad:
        if file.n_rows:
            kinds = f"{file.n_failures:,} failed attempts and {file.n_inputs:,} inputs"
            yield POSING.failed(
                f"{file.path}: of {counted(file.n_rows, 'row')} {kinds}", file=file.path
            )
        else:
            yield POSING.failed(
                f"{file.path}: no usable row in {counted(file.n_lines, 'line')}",
                file=file.path,
                fix=GENERATE,
            )
    if not bad:
        yield POSING.passed("every rollout file holds rollouts")


def _scored(files: Sequence[RowFile], runs: Sequence[Run]) -> Check:
    """Runs with a score of their own, not files that pose as one."""
    names = [run.run_id for run in runs if run.is_scored]
    n_files = sum(file.is_scored for file in files)
    if len(names) >= 2:
        return SCORED.passed(f"{counted(len(names), 'scored run')}: {listed(names)}")
    told = f"{counted(len(names), 'scored run')} in {counted(n_files, 'scored file')}"
    return SCORED.failed(f"{told} of {len(files)}" + (f": {listed(names)}" if names else ""))


def _different(runs: Sequence[Run], same: Sequence[Copies]) -> Iterator[Check]:
    for pair in same:
        yield DIFFERENT.failed(
            f"{pair.one} and {pair.other} share {pair.n_same:,} of "
            f"{counted(pair.n_smaller, 'rollout')}"
        )
    if not same and len(runs) > 1:
        yield DIFFERENT.passed(f"no two of {len(runs)} runs hold the same rollouts")


def _comparable(pairs: Sequence[Overlap], same: Sequence[Copies]) -> Iterator[Check]:
    copied = {(pair.one, pair.other) for pair in same}
    good = [pair for pair in pairs if pair.is_comparable and (pair.one, pair.other) not in copied]
    if good:
        least = min(good, key=lambda pair: pair.n_shared / pair.n_smaller)
        yield COMPARABLE.passed(
            f"{least.one} and {least.other} share {least.n_shared:,} of "
            f"{counted(least.n_smaller, 'question')}"
        )
    elif pairs and len(copied) < len(pairs):
        most = max(pairs, key=lambda pair: pair.n_shared / max(1, pair.n_smaller))
        yield COMPARABLE.failed(
            f"no two runs share half of their questions; {most.one} and {most.other} share "
            f"{most.n_shared:,} of {most.n_smaller:,}"
        )
    alone = {name for pair in pairs for name in (pair.one, pair.other)}
    alone -= {name for pair in good for name in (pair.one, pair.other)}
    if good and alone:
        yield COMPARABLE.warned(f"{listed(sorted(alone))}: shares too few questions with any other")


def _rows(files: Sequence[RowFile]) -> Iterable[Check]:
    """What every row should have; one line where all files do, one a file that does not."""
    return chain(
        _shares(TASK_ID, files, lambda file: (file.n_rollouts - file.n_nameless, file.n_rollouts)),
        _shares(
            ROLLOUT_ID,
            [file for file in files if file.n_repeats > 1],
            lambda file: (file.n_numbered, file.n_rollouts),
        ),
        _rewards(files),
        _varying(files),
        _shares(OUTPUT, files, lambda file: (file.n_outputs, file.n_rollouts), enough=0.5),
        _shares(VERIFIER, files, lambda file: (file.n_verified, file.n_seen), enough=0.5),
        _shares(METADATA, files, lambda file: (file.n_described, file.n_seen), enough=0.0),
    )


def _shares(
    rule: Rule,
    files: Sequence[RowFile],
    share: Callable[[RowFile], tuple[int, int]],
    *,
    enough: float = 1.0,
) -> Iterator[Check]:
    """Failed below what is enough, to be looked at while more than a few rows are left out."""
    is_whole = bool(files)
    for file in files:
        n_have, n_all = share(file)
        told = f"{file.path}: {n_have:,} of {counted(n_all, 'row')}"
        if n_have < enough * n_all or (enough and not n_have):
            is_whole = False
            yield rule.failed(told, file=file.path)
        elif n_have < MOSTLY * n_all:
            is_whole = False
            yield rule.warned(told, file=file.path)
    if is_whole:
        total = sum(share(file)[1] for file in files)
        have = sum(share(file)[0] for file in files)
        yield rule.passed(f"{have:,} of {counted(total, 'row')} in {counted(len(files), 'file')}")


def _rewards(files: Sequence[RowFile]) -> Iterator[Check]:
    is_whole = bool(files)
    for file in files:
        lacking = file.n_rollouts - file.n_scored
        texts = f", {file.n_text_rewards:,} of them texts" if file.n_text_rewards else ""
        told = (
            f"{file.path}: {lacking:,} of {counted(file.n_rollouts, 'row')} without a number{texts}"
        )
        if 2 * lacking >= max(1, file.n_rollouts) or file.n_text_rewards:
            is_whole = False
            yield REWARD.failed(told, file=file.path)
        elif lacking:
            is_whole = False
            yield REWARD.warned(told, file=file.path, fix=UNSCORED)
    if is_whole:
        total = sum(file.n_scored for file in files)
        yield REWARD.passed(f"{counted(total, 'row')} in {counted(len(files), 'file')}")


def _varying(files: Sequence[RowFile]) -> Iterator[Check]:
    scored = [file for file in files if file.n_scored > 1]
    constant = [file for file in scored if file.least == file.most]
    for file in constant:
        told = f"{file.path}: every one of {file.n_scored:,} rewards is {file.most:g}"
        is_binary = file.most is not None and min(abs(file.most), abs(file.most - 1)) <= 1e-9
        found = VARIES.warned if is_binary else VARIES.failed
        yield found(told, file=file.path)
    if scored and not constant:
        yield VARIES.passed(f"in {counted(len(scored), 'file')}")


def _usable(files: Sequence[RowFile]) -> Iterator[Check]:
    bad = [file for file in files if file.n_rejects]
    for file in bad:
        n_lines = file.n_lines - file.n_blank
        told = f"{file.path}: {file.n_rejects:,} of {counted(n_lines, 'line')} cannot be used"
        found = USABLE.failed if 10 * file.n_rejects > n_lines else USABLE.warned
        yield found(told, file=file.path)
    if files and not bad:
        total = sum(file.n_lines - file.n_blank for file in files)
        yield USABLE.passed(f"all {counted(total, 'line')}")
