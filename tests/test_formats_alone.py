"""Logs without samples: a run with the score that was published, and no attempt."""

from __future__ import annotations

import json

from tests.case_files import filled
from tests.fact_files import facts_of
from tests.results import Content

TIME = "2026-01-02T03-04-05.678"
SCORES = [
    {"name": "style", "scorer": "style", "metrics": {"mean": {"name": "mean", "value": 0.3}}},
    {
        "name": "match",
        "scorer": "match",
        "metrics": {
            "stderr": {"name": "stderr", "value": 0.07},
            "accuracy": {"name": "accuracy", "value": 0.625},
        },
    },
]
LOG = {
    **filled("formats", "inspect_header", epochs=1, ids=[]),
    "results": {"total_samples": 40, "headline": {"scorer": "match"}, "scores": SCORES},
}
LM_EVAL = {
    "results": {
        "mmlu": {"acc,none": 0.5, "acc_stderr,none": 0.01, "alias": "mmlu"},
        "mmlu_law": {"acc,none": 0.4},
        "sums": {"alias": "sums", "sample_len": 9, "f1,strict": 0.25, "f1,loose": 0.75},
    },
    "group_subtasks": {"mmlu": ["mmlu_law"], "sums": []},
    "configs": {},
    "versions": {},
    "model_name": "org/tiny",
}
# Before 0.4, and without a time in the name of the file.
OLDER = {
    shots: {
        "results": {"arc": {"acc": 0.25 + shots / 100, "acc_stderr": 0.01}},
        "versions": {"arc": 0},
        "config": {"model": "hf", "model_args": "pretrained=org/old", "num_fewshot": shots},
    }
    for shots in (0, 5)
}
SPEC = {
    "name": "quac:model=org_m",
    "scenario_spec": {},
    "adapter_spec": {"model": "org/m"},
    "groups": ["quac"],
}
STATS = [
    {"name": {"name": name, "split": split}, "mean": mean}
    for name, split, mean in (
        ("exact_match", "test", 0.1),
        ("f1_score", "test", 0.35),
        ("f1_score", "valid", 0.9),
    )
]
FILES: dict[str, Content] = {
    "logs/a.json": json.dumps(LOG),
    f"lm/results_{TIME}.json": json.dumps(LM_EVAL),
    **{f"older/old_{shots}-shot.json": json.dumps(one) for shots, one in OLDER.items()},
    "lm/summary.json": json.dumps({"results": {"sums": {"acc": 1}}}),
    "helm/quac:model=org_m/run_spec.json": json.dumps(SPEC),
    "helm/quac:model=org_m/stats.json": json.dumps(STATS),
    "score/m2/BFCL_v3_simple_score.json": [
        {"accuracy": 0.75, "correct_count": 3, "total_count": 4},
        {"id": "simple_1", "valid": False, "error": ["no"]},
    ],
}


# Logs of four harnesses; of the last one failures have rows.
test_published_scores = facts_of(FILES, "alone")
