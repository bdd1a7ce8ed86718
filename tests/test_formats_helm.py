"""HELM: requests of a run folder, scores of instances, splits and perturbations apart."""

from __future__ import annotations

import json
from typing import Any

from pipeline.ingest.formats import helm
from tests.fact_files import facts_of
from tests.results import Content, Row

TYPOS = {"name": "typos", "robustness": True, "fairness": False, "prob": 0.1}


def spec(name: str, **more: Any) -> str:
    """The specification of a run."""
    adapter = {"model": "org/m", "temperature": 0.0, "max_tokens": 5, "method": "generation"}
    about = {"name": name, "scenario_spec": {"class_name": "S"}, "adapter_spec": adapter}
    return json.dumps({**about, "metric_specs": [], "groups": [name.split(":")[0]], **more})


def state(
    number: int, answer: str | None, *, split: str = "test", trial: int = 0, **more: Any
) -> Row:
    """A request for an instance, with two choices."""
    references = [
        {"output": {"text": "cat"}, "tags": []},
        {"output": {"text": "dog"}, "tags": ["correct"]},
    ]
    instance = {
        "id": f"id{number}",
        "input": {"text": f"which {number}"},
        "references": references,
        "split": split,
    }
    completions = [{"text": answer, "finish_reason": {"reason": "stop"}}]
    result = {"success": True, "completions": completions, "request_time": 0.5}
    return {
        "instance": {**instance, **more.pop("instance", {})},
        "train_trial_index": trial,
        "output_mapping": {"A": "cat", "B": "dog"},
        "request": {"prompt": f"Choose.\nwhich {number}", "model": "org/m"},
        "result": None if answer is None else result,
        **more,
    }


def scores(number: int, *, split: str = "test", trial: int = 0, **values: float) -> Row:
    """The statistics of an instance."""
    perturbed = {"perturbation": TYPOS} if values.pop("typos", 0) else {}
    counts = {"num_prompt_tokens": 30.0, "num_output_tokens": 2.0, "batch_size": 1.0}
    named = [
        {"name": {"name": name, "split": split, **perturbed}, "count": 1, "mean": value}
        for name, value in {**counts, **values}.items()
    ]
    about = {"instance_id": f"id{number}", "train_trial_index": trial}
    return {**about, **perturbed, "stats": [*named, {"name": {"name": "co2"}, "count": 0}]}


def statistic(name: str, mean: float, split: str = "test", **more: Any) -> Row:
    """One of the statistics of a run."""
    return {"name": {"name": name, "split": split, **more}, "count": 1, "mean": mean}


FOLDER = "runs/v1/mmlu:subject=law,model=org_m"
FILES: dict[str, Content] = {
    f"{FOLDER}/run_spec.json": spec("mmlu:subject=law,model=org_m"),
    f"{FOLDER}/scenario_state.json": json.dumps(
        {
            "adapter_spec": {},
            "request_states": [
                state(1, " B"),
                state(1, " A", trial=1, request={"prompt": "Other examples.\nwhich 1"}),
                state(2, " maybe"),
                state(3, None),
                state(4, "B", split="valid"),
                state(1, "A", instance={"perturbation": TYPOS}),
                {"instance": "lost"},
            ],
        },
        indent=1,
    ),
    f"{FOLDER}/per_instance_stats.json": json.dumps(
        [
            scores(1, exact_match=1.0, quasi_exact_match=1.0),
            scores(1, trial=1, exact_match=0.0, quasi_exact_match=1.0),
            scores(2, exact_match=0.0, quasi_exact_match=0.0),
            scores(4, split="valid", exact_match=1.0),
            scores(1, typos=1, exact_match=0.0),
        ]
    ),
    f"{FOLDER}/stats.json": json.dumps(
        [
            statistic("exact_match", 1 / 3),
            statistic("quasi_exact_match", 0.9),
            statistic("exact_match", 1.0, "valid"),
            statistic("exact_match", 0.0, perturbation={**TYPOS, "computed_on": "perturbed"}),
            statistic("exact_match", 0.0, perturbation={**TYPOS, "computed_on": "worst"}),
            statistic("exact_match", 0.1, sub_split="toxic"),
            statistic("num_instances", 3.0),
            statistic("num_prompt_tokens", 30.0),
        ]
    ),
    # Each choice is a request of its own; the main metric is that of the group.
    "runs/v1/quac:model=org_m/run_spec.json": spec("quac:model=org_m"),
    "runs/v1/quac:model=org_m/scenario_state.json": json.dumps(
        {"request_states": [state(9, f"c{n}", reference_index=n) for n in range(2)]}
    ),
    "runs/v1/quac:model=org_m/per_instance_stats.json": json.dumps(
        [scores(9, exact_match=0.0, f1_score=0.5)]
    ),
    # Files of these names in another folder.
    "other/stats.json": json.dumps([{"name": "x"}]),
    "other/run_spec.json": json.dumps({"name": "x"}),
}


# A run with trials, splits and a perturbation, and one with a request for each choice.
test_runs = facts_of(FILES, "helm")


def test_main_metrics_are_known_once() -> None:
    """A group has one main metric, and it is not the first of all runs anyway."""
    groups = [group for listed in helm.BY_GROUP.values() for group in listed.split()]
    assert len(set(groups)) == len(groups)
    assert set(helm.BY_GROUP) <= set(helm.USUAL)
