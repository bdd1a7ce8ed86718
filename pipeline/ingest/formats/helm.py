"""HELM: a folder for each run, with what was asked, the scores of instances and their statistics.

A run folder is one scenario and one model. Splits, and instances changed by a perturbation, are
runs of their own, as HELM's statistics are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Claims,
    Files,
    Line,
    Object,
    Readings,
    Reject,
    Row,
    as_json,
    attempt,
    counted,
    document,
    documents,
    fields,
    figure,
    get,
    head,
    items,
    message,
    number,
    packed,
    paths_of,
    picked,
    settings,
    text,
)

TITLE = "HELM"
FILES = (
    "a folder with `run_spec.json`, `scenario_state.json`, `per_instance_stats.json`, `stats.json`"
)
GIVES = "checks transcript tokens durations"
SCORE = (
    "the main metric of the run's group in HELM's schemas, else a metric of correctness that it "
    "has, `exact_match` before others; the others are checks"
)
NOTES = (
    "One run per folder, split and perturbation; repeats are the trials of training examples. Of "
    "requests for the choices of one instance the first is the attempt, the others blank lines."
)
NAMES = re.compile(r"(^|/)(run_spec|scenario_state|per_instance_stats|stats)\.json$")
FIRST_OF_SPEC = re.compile(rb'\s*\{.*"scenario_spec"\s*:.*"adapter_spec"\s*:', re.DOTALL)
# Main metrics of HELM's schemas, where a run of the group has one that comes first below.
BY_GROUP = {
    "f1_score": "narrative_qa natural_qa_closedbook natural_qa_openbook_longans quac",
    "bleu_4": "wmt_14",
    "quasi_exact_match": "boolq imdb raft civil_comments wikifact babi_qa synthetic_reasoning "
    "legalbench legal_support lsat_qa med_qa entity_data_imputation entity_matching casehold vqa",
}
MAIN_METRICS = {group: name for name, groups in BY_GROUP.items() for group in groups.split()}
# Metrics that are the main one wherever a run has them.
USUAL = (
    "chain_of_thought_correctness final_number_exact_match math_equiv_chain_of_thought math_equiv "
    "exact_match_indicator ifeval_strict_accuracy wildbench_score_rescaled omni_math_accuracy "
    "safety_score air_score bbq_accuracy execution_accuracy pass test_avg program_accuracy "
    "float_equiv f1_set_match squad_f1_score rouge_2 exact_match quasi_exact_match "
    "quasi_prefix_exact_match f1_score rouge_l bleu_4".split()
)
COUNTS = re.compile(
    "(num|finish_reason|training|inference|estimated)_"
    "|(batch_size|prompt_truncated|max_prob|logprob)$"
)
Key = tuple[str | None, str, str]


def claims(files: Files) -> Claims:
    folders: dict[str, dict[str, ListedFile]] = defaultdict(dict)
    for file in files:
        folders[file.folder][file.base.removesuffix(".json")] = file
    for folder, named in folders.items():
        spec = named.get("run_spec")
        if not spec or len(named) == 1 or not FIRST_OF_SPEC.match(head(spec.path)):
            continue
        above, _, stem = folder.rpartition("/")
        # Statistics alone are a run without attempts.
        of_stats = Kind.AGGREGATE_METRICS if "scenario_state" in named else Kind.ROLLOUTS
        kinds = {"scenario_state": Kind.ROLLOUTS, "stats": of_stats}
        beside = paths_of(named.values())
        for name, file in named.items():
            kind = kinds.get(name, Kind.OTHER)
            yield Claim(file, kind, above, stem or spec.path.parent.name, beside=beside)


def read(artifact: Artifact) -> Readings:
    beside = {path.stem: path for path in artifact.beside}
    spec = next(documents([beside["run_spec"]] if "run_spec" in beside else []), None)
    if artifact.path.stem == "stats":
        yield from _figures(document(artifact.path), spec, artifact.kind)
    else:
        stats = [path for name, path in beside.items() if name == "per_instance_stats"]
        yield from _requests(artifact.path, spec, _stats(stats))


def _requests(path: Path, spec: Any, stats: Mapping[Key, Mapping[str, float]]) -> Readings:
    adapter = fields(spec, "adapter_spec")
    model = text(adapter, "model")
    sampling = picked(adapter, "temperature", "max_tokens")
    yield from settings(model=model, **sampling)
    seen = set()
    for name, state in packed.fields(path, "request_states"):
        if name != "request_states":
            continue
        instance = get(state, "instance")
        key = _key(get(instance, "id"), state, instance)
        if key[0] is None:
            yield Reject("no instance with an id: not a request of HELM")
        elif key in seen or get(state, "request_mode") == "calibration":
            yield Line()
        else:
            seen.add(key)
            values = stats.get(key, {})
            variant = _variant(get(instance, "split"), instance)
            row = _row(state, values, _main(spec, values), model)
            yield Row(row, variant, _benchmark(spec), question=_question(instance))


def _question(instance: Any) -> str | None:
    """The instance without its examples, which are others in each trial."""
    texts = [
        get(instance, "input"),
        *(get(one, "output") for one in items(instance, "references")),
    ]
    return "\n".join(text(one, "text") or "" for one in texts).strip() or None


def _benchmark(spec: Any) -> str:
    scenario, _, arguments = (text(spec, "name") or "helm").partition(":")
    others = [one for one in arguments.split(",") if one and not one.startswith("model")]
    return ",".join([scenario, *others])


def _key(instance_id: Any, state: Any, instance: Any) -> Key:
    perturbation = get(instance, "perturbation")
    return text(instance_id), str(get(state, "train_trial_index")), as_json(perturbation)


def _variant(split: Any, instance: Any) -> str:
    names = (text(split) or "instances", text(instance, "perturbation", "name"))
    return "-".join(filter(None, names))


def _stats(paths: Iterable[Path]) -> dict[Key, dict[str, float]]:
    by_key: dict[Key, dict[str, float]] = defaultdict(dict)
    for one in (element for path in paths for element in packed.elements(path)):
        values = by_key[_key(get(one, "instance_id"), one, one)]
        for stat in items(one, "stats"):
            name, mean = text(stat, "name", "name"), number(stat, "mean")
            if name and mean is not None:
                values.setdefault(name, mean)
    return by_key


def _main(spec: Any, values: Mapping[str, float]) -> str | None:
    groups = [text(one) for one in items(spec, "groups")]
    of_group = [MAIN_METRICS[one] for one in groups if one in MAIN_METRICS]
    accuracies = sorted(name for name in values if name.endswith("_accuracy"))
    return next((name for name in (*of_group, *USUAL, *accuracies) if name in values), None)


def _row(state: Any, stats: Mapping[str, float], main: str | None, model: str | None) -> Object:
    instance, result = get(state, "instance"), get(state, "result")
    completion = get(result, "completions", 0)
    answer = text(completion, "text") or ""
    # The text of a choice that was scored by its likelihood is no answer.
    is_answer = get(state, "reference_index") is None and result is not None
    keys = [
        get(one, "output", "text")
        for one in items(instance, "references")
        if "correct" in items(one, "tags")
    ]
    mapped = get(state, "output_mapping", answer.strip())
    return attempt(
        text(instance, "id"),
        text(state, "request", "prompt") or text(instance, "input", "text"),
        [message(answer)] if is_answer else None,
        {name: value for name, value in stats.items() if not COUNTS.match(name)},
        main,
        model=model,
        tokens=[int(stats.get(f"num_{side}_tokens", 0)) for side in ("prompt", "output")],
        repeat=get(state, "train_trial_index"),
        reference=keys[0] if len(keys) == 1 else keys,
        extracted_answer=text(mapped) if is_answer else None,
        finish_reason=text(completion, "finish_reason", "reason"),
        total_run_time=number(result, "request_time"),
        error_message=text(result, "error"),
        perturbation=text(instance, "perturbation", "name"),
    )


def _figures(stats: Any, spec: Any, kind: Kind) -> Readings:
    """Means of instances, by split and perturbation; not those of several versions together."""
    listed = items(stats)
    main = _main(spec, {text(stat, "name", "name") or "": 0.0 for stat in listed})
    # Of a run without attempts the split that HELM shows: the one for tests, else the only one.
    splits = {text(stat, "name", "split") or "" for stat in listed}
    shown = "test" if "test" in splits else max(splits, default="")
    is_alone = kind is Kind.ROLLOUTS
    if is_alone:
        yield from settings(model=get(spec, "adapter_spec", "model"))
    for stat in listed:
        named = fields(stat, "name")
        name, value = text(named, "name") or "", number(stat, "mean")
        if value is None or named.get("sub_split"):
            continue
        if get(named, "perturbation", "computed_on") in (None, "perturbed"):
            variant = _variant(named.get("split"), named)
            if is_alone and variant != shown:
                continue
            variant = _benchmark(spec) if is_alone else variant
            if name == "num_instances":
                yield counted(name, value, "num_tasks", variant)
            elif not COUNTS.match(name):
                is_main = name == main
                yield figure(name, value, f"mean/scores.{name}", variant=variant, is_main=is_main)
