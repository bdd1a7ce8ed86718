"""NeMo-Skills: eval-results/<benchmark>/output(-rs<seed>).jsonl, and metrics.json beside or above.

A row names no task: line n of all files of a benchmark is the same one, and a file is a repeat.
What was scored, and how, follows from the fields that a benchmark's rows have.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind
from . import (
    Claim,
    Claims,
    Figure,
    Files,
    Object,
    Readings,
    Row,
    document,
    fields,
    figure,
    get,
    gym_row,
    head,
    items,
    message,
    number,
    objects,
    picked,
    scores_of,
    text,
    without_empty,
)

TITLE = "NeMo-Skills"
FILES = "`[eval-results/]<benchmark>/output(-rs<seed>).jsonl`, `metrics.json` beside or above"
GIVES = "checks transcript tokens durations"
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
QUESTION_FIELDS = ("problem", "question", "prompt", "instruction")
# Fields that are mapped to other columns; all others belong to the dataset.
USED = {
    *QUESTION_FIELDS,
    *"generation predicted_answer expected_answer judgement num_input_tokens".split(),
    *"num_generated_tokens num_reasoning_tokens generation_start_time generation_end_time".split(),
    *"generation_time finish_reason reward_model_score strict_eval loose_eval".split(),
    *"swe-bench-metrics proof_status error symbolic_correct is_correct is_correct-plus".split(),
    *"graded_list expected_judgement instruction_id_list passed deep-swe-metrics".split(),
    "eval_status",
}
VERDICT = re.compile(r"judgement\*{0,2}\s*:[\s*]*(yes|no)?", re.IGNORECASE)
# Verdicts of judges of short answers, instead of yes and no.
GRADES = {"a": "judge_correct", "b": "judge_incorrect", "c": "judge_partially_correct"}
PARTS = ("reward", "f2p", "p2p", "partial")
STATES = ("pass", "fail", "timeout", "error")


def claims(files: Files) -> Claims:
    """Outputs by their first rows, benchmarks of one folder together; metrics near them."""
    outputs = defaultdict(list)
    for file in files:
        begun = head(file.path) if file.base != "metrics.json" else b""
        is_ours = any(mark in begun for mark in MARKS) and not any(mark in begun for mark in GYM)
        if is_ours:
            outputs[file.folder.rpartition("/")[0]].append(file)
    homes: dict[str, str] = {}
    finished: dict[str, tuple[Path, ...]] = {}
    for home, outputs_here in outputs.items():
        stem = _stem(outputs_here[0].path)
        finished[home] = tuple(one.path for one in outputs_here if not UNFINISHED.search(one.base))
        for file in outputs_here:
            skipped = "is unfinished: not merged yet" if file.path not in finished[home] else None
            homes |= {file.folder: home, home: home, home.rpartition("/")[0]: home}
            yield Claim(file, Kind.ROLLOUTS, home, stem, beside=finished[home], skipped=skipped)
    for file in files:
        if file.base != "metrics.json" or file.folder not in homes:
            continue
        home, begun = homes[file.folder], head(file.path)
        near = finished[home]
        if near and (b'"pass@1' in begun or b'"num_entries"' in begun):
            yield Claim(file, Kind.AGGREGATE_METRICS, home, _stem(near[0]), beside=near)


def _stem(output: Path) -> str:
    """The name of the folder that contains `eval-results`, else that of the benchmarks."""
    home = output.parent.parent
    return (home.parent.name if home.name == "eval-results" else home.name) or "nemo_skills"


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _metrics(artifact)
        return
    benchmark = artifact.path.parent.name
    seed = SEED.match(artifact.path.name)
    others = [path.name for path in artifact.beside if path.parent == artifact.path.parent]
    is_greedy = not seed and any(SEED.match(name) for name in others)
    variant = f"{benchmark}-greedy" if is_greedy else benchmark
    for task, row in enumerate(objects(artifact.path)):
        if isinstance(row, dict):
            value = row_of(row, task, int(seed[1]) if seed else 0)
            yield Row(value, variant=variant, benchmark=benchmark)
        else:
            yield row


def _metrics(artifact: Artifact) -> Readings:
    published = fields(document(artifact.path))
    sampled = sorted({path.parent.name for path in artifact.beside})
    if any("@" in name for name in published):
        published = {artifact.path.parent.name: published}  # of one benchmark alone
    for named, groups in published.items():
        # If rows are of subsets, their union has a similar name.
        benchmark = OF_ALL.sub("", named)
        benchmark = benchmark if benchmark in sampled and benchmark not in published else named
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
    """A figure, or the statistics of a score, whose mean can be checked."""
    is_apart = reason is not None
    if isinstance(value, dict):
        of = name.removesuffix("_statistics")
        reason = reason or (VERSIONS if of in JUDGED else None)
        for statistic, one in value.items():
            means = _meaning(group, of) if statistic == "avg" and not is_apart else None
            of_metric = f"{metric}/{statistic}"
            yield figure(of_metric, one, means, variant=variant, scale=0.01, reason=reason)
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
        yield figure(metric, value, means, variant=variant, reason=reason, rounding=rounding)


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


def row_of(row: Object, task: int, repeat: int) -> Object:
    scores = _scores(row)
    question = next((_words(row[name]) for name in QUESTION_FIELDS if row.get(name)), None)
    # If judging is the task, the verdict is the answer.
    is_judging = "expected_judgement" in row
    written = row.get("generation", row.get("judgement") if is_judging else None)
    verdict = {True: "yes", False: "no", None: None}[_verdict(row.get("judgement"))]
    answer = verdict if is_judging else row.get("predicted_answer")
    is_unanswered = answer is None
    is_recorded = is_judging or "predicted_answer" in row
    main = next(iter(scores), None)
    solved: Object = {"swe-bench-metrics": _solved(row)}
    value = gym_row(
        task,
        scores[main] if main else None,
        repeat=repeat,
        request={"input": [message(question, "user")] if question else None},
        response={
            "output": [message(written)] if isinstance(written, str) else None,
            "usage": without_empty(
                input_tokens=row.get("num_input_tokens"),
                output_tokens=row.get("num_generated_tokens"),
                reasoning_tokens=row.get("num_reasoning_tokens"),
            ),
        },
        total_run_time=_seconds(row),
        extracted_answer=text(answer),
        no_answer=is_unanswered if "predicted_answer" in row else None,
        invalid_judgements=is_unanswered if is_judging else None,
        judgement=row.get("judgement") if not is_judging else None,
        # Renamed: it is an estimate, not a check.
        reward_model=without_empty(estimate=row.get("reward_model_score")),
        strict_eval=_instructions(row.get("strict_eval")),
        eval_status=_subtasks(row),
        proof_status=text(row, "proof_status"),
        finish_reason=text(row, "finish_reason"),
        metadata={name: one for name, one in row.items() if name not in USED},
        **picked(row, "expected_answer", "expected_judgement", "error"),
        **solved,
        **scores_of(scores, main),
    )
    return {**value, "extracted_answer": None} if is_recorded and is_unanswered else value


def _instructions(evaluated: Any) -> Object:
    """The verdict on each instruction; the verdict on all of them is a score."""
    return {name: one for name, one in fields(evaluated).items() if isinstance(one, list)}


def _words(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return "\n\n".join(filter(None, (text(part, "content") for part in items(value)))) or None


def _seconds(row: Object) -> float | None:
    start, end = number(row, "generation_start_time"), number(row, "generation_end_time")
    taken = number(row, "generation_time")
    if taken is None and start is not None and end is not None and end >= start:
        return end - start
    return taken


def _verdict(judgement: Any) -> bool | None:
    """The verdict of a judge; None if it has another form."""
    if not isinstance(judgement, str):
        return None
    if (grade := judgement.strip().lower()) in (*GRADES, "d"):
        return grade == "a"
    match = VERDICT.search(judgement)
    return match[1].lower() == "yes" if match and match[1] else None


def _solved(row: Object) -> Object:
    return fields(row, "swe-bench-metrics") or fields(row, "deep-swe-metrics")


def _subtasks(row: Object) -> list[Object]:
    """The parts of a problem, each of which is a program that ran or not."""
    states = [text(one, "process_status") for one in items(row, "eval_status")]
    return [
        {"name": f"subtask {place}", "passed": state == "completed"}
        for place, state in enumerate(states, start=1)
        if state
    ]


def _accuracy(row: Object) -> Any:
    """Whether a program passed its tests, or the correctness of an answer, from any field."""
    state = row.get("status")
    verdicts = get(row, "graded_list", 0), row.get("passed"), row.get("is_correct")
    by_state = state == "pass" if state in STATES else None
    return next((one for one in (*verdicts, by_state) if one is not None), None)


def _scores(row: Object) -> dict[str, float]:
    """Every score of the row by its published name, the one that is the reward first."""
    scores: Object = {}
    if "expected_judgement" in row:
        wanted = _verdict(row["expected_judgement"])
        scores["correct_judgements"] = _verdict(row.get("judgement")) == wanted
    else:
        has_answer = "predicted_answer" in row
        scores["symbolic_correct"] = row.get(
            "symbolic_correct", row.get("is_correct") if has_answer else None
        )
        if isinstance(row.get("judgement"), str):
            scores["judge_correct"] = _verdict(row["judgement"]) is True
            grade = GRADES.get(row["judgement"].strip().lower())
            scores |= {name: name == grade for name in GRADES.values() if grade}
            both = scores["symbolic_correct"], scores["judge_correct"]
            if isinstance(both[0], bool):
                scores |= {"both_correct": all(both), "any_correct": any(both)}
    if "is_correct-plus" in row:
        scores["passing_base_tests"] = row.get("is_correct")
        scores["passing_plus_tests"] = row["is_correct-plus"]
    elif "predicted_answer" not in row:
        scores["accuracy"] = _accuracy(row)
    if isinstance(row.get("proof_status"), str):
        scores["lean4_correct"] = row["proof_status"] == "completed"
    for kind in ("strict", "loose"):
        scores[f"prompt_{kind}_accuracy"] = get(row, f"{kind}_eval", "follow_all_instructions")
    scores["issues_resolved"] = _solved(row).get("resolved")
    scores |= picked(get(row, "deep-swe-metrics"), *PARTS)
    if subtasks := _subtasks(row):
        scores["problem_accuracy"] = all(one["passed"] for one in subtasks)
    known = {name: number(value) for name, value in scores.items()}
    return {name: score for name, score in known.items() if score is not None}
