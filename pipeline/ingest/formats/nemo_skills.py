"""NeMo-Skills: eval-results/<benchmark>/output(-rs<seed>).jsonl, and metrics.json beside or above.

A row names no task: line n of all files of a benchmark is the same one, and a file is a repeat
(nemo_skills_row.py).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    Claim,
    Figure,
    Line,
    Reading,
    Reject,
    Row,
    document,
    fields,
    head,
    number,
    objects,
)
from pipeline.ingest.formats.nemo_skills_row import row_of

TITLE = "NeMo-Skills"
FILES = "`[eval-results/]<benchmark>/output(-rs<seed>).jsonl`, `metrics.json` beside or above"
SCORE = (
    "the first that the row has: `symbolic_correct`, the judge's `judgement` (yes, or A of A to "
    "D), `is_correct`, `graded_list`, `passed`, `status`, `proof_status`, `strict_eval`, "
    "`swe-bench-metrics.resolved` or `deep-swe-metrics.resolved`, all of `eval_status`; the others "
    "are checks, named as metrics.json names them"
)
NOTES = (
    "One run per benchmark, one repeat per seed; the task is the number of the line, from 0. The "
    "model is not recorded. Unfinished files (`-async`, `_chunk_`) are rejects."
)
NAMES = re.compile(
    r"(^|/)(output(-rs\d+)?(_chunk_\d+)?\.jsonl(-async|\.gz|\.zst)?|metrics\.json)$", re.IGNORECASE
)
SEED = re.compile(r"^output-rs(\d+)", re.IGNORECASE)
UNFINISHED = re.compile(r"-async$|_chunk_\d+\.jsonl", re.IGNORECASE)
MARKS = (
    b'"generation"',
    b'"num_generated_tokens"',
    b'"predicted_answer"',
    b'"symbolic_correct"',
    b'"judgement"',
    b'"proof_status"',
)
GYM = (b'"responses_create_params"', b'"response"', b'"_ng_')
SCORES = frozenset(
    "correct_judgements symbolic_correct judge_correct both_correct any_correct accuracy "
    "passing_base_tests passing_plus_tests lean4_correct prompt_strict_accuracy "
    "prompt_loose_accuracy issues_resolved judge_incorrect judge_partially_correct "
    "problem_accuracy reward f2p p2p partial".split()
)
EMPTY = ("no_answer", "invalid_judgements")
JUDGED = {
    "correct_judgements",
    "judge_correct",
    "both_correct",
    "any_correct",
    "invalid_judgements",
}
VERSIONS = "defined otherwise: older versions read `**Judgement:** Yes` as no verdict"
OF_ALL = re.compile(r"-(_all_|all)$")
AVERAGE = re.compile(r"pass@1\[(?:avg-of-)?(\d+)\]")
SHARED = re.compile(r"(pass|majority)@\d+")
OF_PARTS = re.compile(r"^(instruction_|average_score$|subtask_)")


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Outputs by their first rows, benchmarks of one folder together; metrics near them."""
    outputs = defaultdict(list)
    for file in files:
        begun = head(file.path) if file.base != "metrics.json" else b""
        is_ours = any(mark in begun for mark in MARKS) and not any(mark in begun for mark in GYM)
        if is_ours:
            outputs[file.folder.rpartition("/")[0]].append(file)
    homes: dict[str, str] = {}
    finished: dict[str, tuple[Path, ...]] = {}
    for home, found in outputs.items():
        stem = _stem(found[0].path)
        finished[home] = tuple(one.path for one in found if not UNFINISHED.search(one.base))
        for file in found:
            skipped = "unfinished: not merged yet" if file.path not in finished[home] else None
            homes |= {file.folder: home, home: home, home.rpartition("/")[0]: home}
            yield Claim(file, Kind.ROLLOUTS, home, stem, beside=finished[home], skipped=skipped)
    for file in files:
        if file.base != "metrics.json" or file.folder not in homes:
            continue
        home = homes[file.folder]
        near = finished[home]
        if near and _has_figures(file):
            yield Claim(file, Kind.AGGREGATE_METRICS, home, _stem(near[0]), beside=near)


def _has_figures(file: Found) -> bool:
    begun = head(file.path)
    return b'"pass@1' in begun or b'"num_entries"' in begun


def _stem(output: Path) -> str:
    """The folder that `eval-results` lies in, else the one of the benchmarks."""
    home = output.parent.parent
    return (home.parent.name if home.name == "eval-results" else home.name) or "nemo_skills"


def read(artifact: Artifact) -> Iterator[Reading]:
    """Rows of outputs, figures of metrics."""
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _metrics(artifact)
        return
    benchmark = artifact.path.parent.name
    seed = SEED.match(artifact.path.name)
    others = [path.name for path in artifact.beside if path.parent == artifact.path.parent]
    is_greedy = not seed and any(SEED.match(name) for name in others)
    variant = f"{benchmark}-greedy" if is_greedy else benchmark
    for found in objects(artifact.path):
        if isinstance(found, (Reject, Line)):
            yield found
            continue
        position, row = found
        value = row_of(row, position - 1, int(seed[1]) if seed else 0)
        yield Row(value, position, variant=variant, benchmark=benchmark)


def _metrics(artifact: Artifact) -> Iterator[Reading]:
    found = fields(document(artifact.path))
    sampled = sorted({path.parent.name for path in artifact.beside})
    if any("@" in name for name in found):
        found = {artifact.path.parent.name: found}  # of one benchmark alone
    for named, groups in found.items():
        # Where rows are of subsets, their whole has a name like one.
        benchmark = OF_ALL.sub("", named)
        benchmark = benchmark if benchmark in sampled and benchmark not in found else named
        whole = [name for name in sampled if benchmark.startswith(f"{name}-")]
        reason = None
        if benchmark not in sampled:
            reason = "of a subset of the rows" if whole else "no rows of this benchmark are here"
        variant = benchmark if benchmark in sampled else [*whole, *sampled][0]
        prefix = "" if benchmark in sampled else f"{benchmark}/"
        for group, figures in fields(groups).items():
            for name, value in fields(figures).items():
                metric = f"{prefix}{group}/{name}"
                yield from _figures(metric, group, name, value, variant, reason)


def _figures(
    metric: str, group: str, name: str, value: Any, variant: str, reason: str | None
) -> Iterator[Figure]:
    """A figure, or those of a score's statistics, of which the mean is one of ours."""
    is_apart = reason is not None
    if isinstance(value, dict):
        of = name.removesuffix("_statistics")
        reason = reason or (VERSIONS if of in JUDGED else None)
        for statistic, one in value.items():
            means = _meaning(group, of) if statistic == "avg" and not is_apart else None
            yield Figure(
                None, None, None, f"{metric}/{statistic}", number(one), variant, means, 0.01, reason
            )
    elif not isinstance(value, (list, str)):
        if OF_PARTS.match(name):
            reason = reason or "defined otherwise: of the parts of rows, not of rows"
        elif group.startswith("rm_"):
            reason = reason or "defined otherwise: picked by the scores of a reward model"
        elif name in EMPTY and not AVERAGE.fullmatch(group):
            reason = reason or "defined otherwise: none of the first k repeats has an answer"
        means = None if reason else _meaning(group, name)
        reason = reason or (VERSIONS if name in JUDGED else None)
        rounding = 1.0 if name == "avg_tokens" else 0.0  # it is cut to a whole number
        yield Figure(None, None, None, metric, number(value), variant, means, 1.0, reason, rounding)


def _meaning(group: str, name: str) -> str | None:
    if name in ("num_entries", "num_prompts", "num_problems"):
        return "num_tasks"
    if name == "avg_tokens":
        return "mean/output_tokens"
    field = name if name in EMPTY else f"scores.{name}" if name in SCORES else None
    average = AVERAGE.fullmatch(group)
    if field is None or not (average or SHARED.fullmatch(group)):
        return None
    return f"pass@1[avg-of-{average[1]}]/{field}" if average else f"{group}/{field}"
