"""EvalPlus: `eval_results.json`, with the solutions of each task and how they fare in its tests."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind
from . import (
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    as_json,
    attempt,
    get,
    head,
    items,
    message,
    objects,
    packed,
    settings,
    text,
)

TITLE = "EvalPlus"
FILES = (
    "`eval_results.json`, `*_eval_results.json`, or any `*.json` with the same content, with their "
    "samples (`*.jsonl`) beside them"
)
GIVES = "checks transcript"
SCORE = "1 if a solution passes the base tests and the extra ones; the base tests are a check"
NOTES = "One run per file. The prompts are not recorded: tasks are compared by their ids."
NAMES = re.compile(r"\.jsonl?$")
# What a name has beside that of the run.
OF_RESULTS = re.compile(r"((^|[_.-])eval_results)?\.json$")
RESULTS = "_eval_results.json"
SETTINGS = {"hash": "dataset_hash"}
# Before version 0.3 the word was another, and the lists of a task had one element per solution.
PASSED = ("pass", "success")
OLDER = re.compile(rb'"nfiles"\s*:\s*\d+\s*,\s*"base"\s*:\s*\[')
LONGEST_INPUT = 150
BASE, BOTH = "base", "base and extra"


def claims(files: Files) -> Claims:
    named = {file.name: file for file in files}
    for file in files:
        if file.base.endswith(".jsonl"):
            continue
        begun = head(file.path)
        if b'"base_status"' not in begun and not OLDER.search(begun):
            continue
        stem = OF_RESULTS.sub("", file.base)
        folder, _, name = file.folder.rpartition("/")
        run = (file.folder, stem) if stem else (folder, name or "evalplus")
        samples = named.get(f"{file.name.removesuffix(RESULTS)}.jsonl")
        beside = (samples.path,) if samples else ()
        yield Claim(file, Kind.ROLLOUTS, *run, beside=beside)
        if samples:
            yield Claim(samples, Kind.OTHER, *run)


def read(artifact: Artifact) -> Readings:
    answers = _answers(artifact.beside)
    for name, value in packed.fields(artifact.path, "eval"):
        solutions = _older(value) if isinstance(value, dict) else value
        if not isinstance(solutions, list):
            yield from settings({SETTINGS.get(name, name): value})
            continue
        for repeat, solution in enumerate(solutions):
            status = text(solution, "base_status")
            if status is None:
                yield Reject("no base_status: not a result of EvalPlus")
                continue
            extra = text(solution, "plus_status")
            scores = {BASE: float(status in PASSED)}
            if extra is not None:
                scores[BOTH] = float(status in PASSED and extra in PASSED)
            own = get(solution, "solution")
            sample = get(answers.get(name), repeat)
            written = [one for one in (text(own), sample, own) if isinstance(one, str)]
            row = attempt(
                name,
                None,
                [message(one) for one in written[:1]] if answers or own is not None else None,
                scores,
                BOTH if extra is not None else BASE,
                repeat=repeat,
                base_status=status,
                plus_status=extra,
                explanation=_reason(solution),
                **_failing_tests(solution),
            )
            # An empty list says that no test was run to its end.
            if (details := get(solution, "base_details")) is not None:
                row = {**row, "base_details": details}
            yield Row(row, benchmark=name.partition("/")[0], question=name)


def _older(task: Object) -> list[Object]:
    """The solutions of a task, of which older results hold a list of each kind of test.

    What they hold beside the word is which tests were run, not which of them failed: whether there
    is any is a field.
    """
    base, extra = items(task, "base"), items(task, "plus")
    return [
        {
            "base_status": get(one, 0),
            "plus_status": get(extra, place, 0),
            "base_details": items(one, 1)[:1] if isinstance(get(one, 1), list) else None,
        }
        for place, one in enumerate(base)
    ]


def _answers(samples: Iterable[Path]) -> dict[str, list[str | None]]:
    """The samples of each task, in the order in which they were evaluated."""
    answers = defaultdict(list)
    for path in samples:
        with suppress(OSError):  # listing it makes the reject
            for row in objects(path):
                if isinstance(row, dict) and (task := text(row, "task_id")):
                    answers[task].append(text(row, "solution") or text(row, "completion"))
    return answers


def _reason(solution: Any) -> str | None:
    """The first input on which a solution fails, if it is recorded and short."""
    for name in ("base_fail_tests", "plus_fail_tests"):
        tests = items(solution, name)
        if tests and len(written := as_json(tests[0])) <= LONGEST_INPUT:
            others = f", the first of {len(tests)} such inputs" if len(tests) > 1 else ""
            return f"fails on input {written}{others}"
    return None


def _failing_tests(solution: Any) -> Object:
    """How many tests fail. One may be where the harness stopped, and whole files record none."""
    lists = {name: items(solution, name) for name in ("base_fail_tests", "plus_fail_tests")}
    return {f"n_{name}": len(tests) for name, tests in lists.items() if len(tests) > 1}
