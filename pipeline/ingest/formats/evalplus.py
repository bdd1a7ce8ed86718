"""EvalPlus: `eval_results.json`, with the solutions of each task and how they fare in its tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Reading,
    Reject,
    Row,
    attempt,
    get,
    head,
    items,
    message,
    packed,
    settings,
    text,
)

TITLE = "EvalPlus"
FILES = "`eval_results.json`, `*_eval_results.json`"
GIVES = "checks transcript"
SCORE = "1 if a solution passes the base tests and the extra ones; the base tests are a check"
NOTES = "One run per file. The prompts are not recorded: tasks are compared by their ids."
NAMES = re.compile(r"(^|[/_.-])eval_results\.json$")
SETTINGS = {"hash": "dataset_hash"}
PASSED = "pass"
BASE, BOTH = "base", "base and extra"


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """The results, which are named like their samples or lie in a folder of them."""
    for file in files:
        if b'"base_status"' in head(file.path):
            stem = NAMES.sub("", file.base)
            folder, _, name = file.folder.rpartition("/")
            run = (file.folder, stem) if stem else (folder, name or "evalplus")
            yield Claim(file, Kind.ROLLOUTS, *run)


def read(artifact: Artifact) -> Iterator[Reading]:
    """An attempt per solution."""
    for name, value in packed.fields(artifact.path, "eval"):
        if not isinstance(value, list):
            yield from settings({SETTINGS.get(name, name): value})
            continue
        for repeat, solution in enumerate(items(value)):
            status = text(get(solution, "base_status"))
            if status is None:
                yield Reject("no base_status: not a result of EvalPlus")
                continue
            extra = text(get(solution, "plus_status"))
            scores = {BASE: float(status == PASSED)}
            if extra is not None:
                scores[BOTH] = float(status == extra == PASSED)
            answer = text(get(solution, "solution"))
            row = attempt(
                name,
                None,
                [message(answer)] if answer else [],
                scores,
                BOTH if extra is not None else BASE,
                _ng_rollout_index=repeat,
                base_status=status,
                plus_status=extra,
                **_failing_tests(solution),
            )
            yield Row(row, benchmark=name.partition("/")[0], question=name)


def _failing_tests(solution: Any) -> dict[str, Any]:
    """How many tests fail; results of whole files record none of them."""
    lists = {name: items(get(solution, name)) for name in ("base_fail_tests", "plus_fail_tests")}
    return {f"n_{name}": len(tests) for name, tests in lists.items() if tests}
