"""BigCodeBench: `*_eval_results.json`, with the solutions of each task and the tests they fail."""

from __future__ import annotations

import re
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
    attempt,
    document,
    fields,
    figure,
    head,
    items,
    message,
    packed,
    picked,
    readable,
    settings,
    text,
)

TITLE = "BigCodeBench"
FILES = "`*_eval_results.json`, with `*_pass_at_k.json` and the samples (`*.jsonl`) beside it"
GIVES = "transcript"
SCORE = "1 if `status` is pass, else 0, also where the tests ran out of time"
NOTES = (
    "One run per file; subset and split are in the name of the benchmark "
    "(`bigcodebench-hard-complete`). Only tests that fail are recorded: what they raised is in "
    "`errors`. The answer is the code that was tested; prompts are not recorded."
)
NAMES = re.compile(r"((^|[/_.-])(eval_results|pass_at_k)\.json|\.jsonl)$")
RESULTS = re.compile(r"_?eval_results\.json$")
STATUS = re.compile(rb'"status"\s*:\s*"(pass|fail|timeout)"')
# As its generator names the samples: model, subset, split, backend, temperature, repeats.
NAMED = re.compile(
    r"^(?P<model>.+?)--bigcodebench-(?:(?P<subset>\w+)-)?(?P<split>complete|instruct)"
    r"--(?P<backend>[\w.]+)-(?P<temperature>\d[\d.]*)-(?P<num_repeats>\d+)(?![\d.])"
)
SETTINGS = ("model", "backend", "temperature", "num_repeats")
TRACEBACK = "Traceback (most recent call last):\n"
# The name under which it records why a solution could not be loaded.
LOADING = "ALL"
LONGEST_ERROR = 400
STUB_END = "\n    pass\n"


def claims(files: Files) -> Claims:
    named = {file.name: file for file in files}
    for file in files:
        begun = head(file.path) if RESULTS.search(file.base) else b""
        if b'"details"' not in begun or not STATUS.search(begun):
            continue
        stem = RESULTS.sub("", file.base)
        folder, _, name = file.folder.rpartition("/")
        run = (file.folder, stem) if stem else (folder, name or "bigcodebench")
        figures = named.get(file.name.replace("eval_results.json", "pass_at_k.json"))
        samples = named.get(f"{file.name.removesuffix('_eval_results.json')}.jsonl")
        yield Claim(file, Kind.ROLLOUTS, *run, beside=(figures.path,) if figures else ())
        if figures:
            yield Claim(figures, Kind.AGGREGATE_METRICS, *run)
        if samples:
            yield Claim(samples, Kind.OTHER, *run)


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _published(fields(document(artifact.path)))
        return
    about = fields(readable(*artifact.beside))
    match = NAMED.search(artifact.name.rpartition("/")[2])
    of_name = match.groupdict() if match else {}
    yield from settings(picked(of_name, *SETTINGS))
    benchmark = _benchmark(about, of_name)
    failed = about.get("failed_tasks")
    for task, solutions in packed.fields(artifact.path, "eval"):
        if not isinstance(solutions, list):
            continue
        reference = "fails" if task in items(failed) else "passes"
        more = {"metadata": {"reference_solution": reference}} if failed is not None else {}
        for repeat, solution in enumerate(solutions):
            if status := text(solution, "status"):
                row = _row(task, repeat, status, solution) | more
                # The splits ask for one task in other words, and the hard tasks are among all.
                yield Row(row, benchmark=benchmark, question=f"{benchmark} {task}")
            else:
                yield Reject("no status: not a result of BigCodeBench")


def _benchmark(about: Object, of_name: Object) -> str:
    """The name in the files of samples; the subset of all tasks has no word there."""
    subset, split = (text(about, name) or of_name.get(name) or "" for name in ("subset", "split"))
    return "-".join(part for part in ("bigcodebench", subset, split) if part not in ("", "full"))


def _row(task: str, repeat: int, status: str, solution: Any) -> Object:
    details = {
        test: _error(report)
        for test, report in fields(solution, "details").items()
        if isinstance(report, str)
    }
    load_error = details.pop(LOADING, None)
    more = f" and {len(details) - 3} more" if len(details) > 3 else ""
    # Calibrated solutions are tested behind a stub of the task, which is no answer.
    whole = text(solution, "solution") or ""
    answer = (whole.partition(STUB_END)[2] if STUB_END in whole else whole).strip()
    return attempt(
        task,
        None,
        [message(answer)],
        {"tests": float(status == "pass")},
        "tests",
        explanation=f"fails {', '.join(list(details)[:3])}{more}" if details else None,
        repeat=repeat,
        status=status,
        # Its class is not recorded.
        load_error=f"Exception: {load_error}" if load_error else None,
        errors=list(dict.fromkeys(filter(None, details.values()))),
        n_failing_tests=len(details) or None,
    )


def _error(report: str) -> str:
    """The line of a traceback that says what was raised; more of its message may follow."""
    raised = report.rpartition(TRACEBACK)[2].splitlines()
    line = next((one for one in raised if one.strip() and not one.startswith(" ")), "")
    return line[:LONGEST_ERROR]


def _published(about: Object) -> Readings:
    yield from settings(picked(about, "model", "gt_pass_rate"))
    for name, value in about.items():
        if name.startswith("pass@"):
            yield figure(name, value, f"{name}/reward", scale=0.01)
