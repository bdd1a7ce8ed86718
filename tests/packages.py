"""A small whole package that passes every check, written by hand, for tests that break it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.results import Row, rollout, write

BENCHMARK = "desk"
# Rewards by task and repeat: model_a has pass@1 (1 + 0.5 + 0 + 0) / 4 and any pass 2 of 4.
REWARDS = {
    "model_a": ((1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
    "model_b": ((1.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)),
}
METRICS: Row = {
    "model_name": "model_a",
    "benchmark": BENCHMARK,
    "pass_at_1": 0.375,
    "pass_at_k": 0.5,
    "total_tasks": 4,
    "total_rollouts": 8,
}

SKILL = """---
name: desk-analysis
description: >
  How to analyze rollouts of the desk benchmark,
  and which labels its failures get.
---

# Desk

## Overview

The desk benchmark asks an agent to look up customers and to change one of their records. It
measures whether the agent searches before it writes. The reward is 1 where the final records
equal the expected ones, else 0; the verifier compares them field by field.

## Input schema

| field | meaning |
| --- | --- |
| `_ng_task_index` | the task, stable across runs |
| `_ng_rollout_index` | the repeat of a task |
| `reward` | 1 or 0 from the verifier |
| `response` | what the model said and which tools it called, under `output` |
| `num_matched` | how many expected records the verifier found changed |
| `category` | for slicing: mail or crm |

## Workflow funnel

1. started: the row is there
2. searched: a call of `crm_search`
3. changed a record: a call of `crm_update` with an id that the search returned
4. reached the verifier: the row has a reward
5. passed: the reward is 1

## Failure taxonomy

| label | detection rule | cause |
| --- | --- | --- |
| NO_SEARCH | no call of `crm_search` before the first `crm_update` | BI |
| WRONG_RECORD | `crm_update` with an id that no search returned | KG |
| GAVE_UP | the last message says that it stops, and no update was made | BI |

## Analysis workflow

First run `blade analyze` and read the deterministic metrics. Then read trajectories in order, at
least one failing and one passing rollout of each sometimes-pass task. Only then write causes,
each with the rollout that shows it.

## Report template

- Executive Summary
- Artifact Inventory
- Aggregate Results
- Workflow Funnel
- Task Outcome Buckets
- Dominant Failure Modes
- Sometimes-Pass Deep Dives
- Never-Pass Deep Dives
- Cross-Model Comparison
- Recommendations
- Reproducibility Notes
"""

REPORT = """# model_a on desk

## Executive Summary

model_a passes 3 of 8 rollouts (37.5%): pass@1 is 37.5% over 4 tasks, any pass 50.0% of 4 tasks.
The largest loss is at the search: it writes to customer records that it never looked up, first in
`model_a/2:0`.

## Artifact Inventory

Two rollout files with 8 rows each were read whole: model_a and model_b, both on the same 4 tasks
with two repeats; no row is missing, malformed or redacted in either.

## Aggregate Results

| run | tasks | rollouts | passed | pass@1 | any pass |
| --- | ---: | ---: | ---: | ---: | ---: |
| model_a | 4 | 8 | 3 | 37.5% | 50.0% |
| model_b | 4 | 8 | 5 | 62.5% | 75.0% |

Both figures are means over the tasks; every rollout has a score, so no way of counting changes
them.

## Workflow Funnel

All 8 rollouts of model_a started and reached the verifier; 5 of 8 called `crm_search` before the
first update, and 3 of 8 passed. The largest drop is therefore before the search, not at the
update.

## Task Outcome Buckets

Task 0 always passes, task 1 passes once in two repeats, and tasks 2 and 3 never pass with
model_a; that is one always, one sometimes and two never of 4 tasks.

## Dominant Failure Modes

NO_SEARCH explains 3 of 5 failures: `model_a/2:0`, `model_a/2:1` and `model_a/1:1` update a
customer without one call of `crm_search`. GAVE_UP explains the other 2 of 5: both repeats of task
3 stop after an empty search result, `model_a/3:0` with the words "I stop here".

## Sometimes-Pass Deep Dives

Task 1 passes in `model_a/1:0`, which searches for the customer first and then updates the id
found. It fails in `model_a/1:1`, which guesses the id 00017 from the prompt; the decision point
is the very first call.

## Never-Pass Deep Dives

Task 2 fails in both repeats: `model_a/2:0` and `model_a/2:1` write to customer 00099, which no
search returned. Task 3 fails because the search for a misspelled name is empty, and `model_a/3:1`
does not try another spelling.

## Cross-Model Comparison

model_b passes 5 of 8 rollouts against 3 of 8 of model_a. It gains task 1 whole and task 2 in one
repeat, `model_b/2:0`, because it searches before every update; task 3 defeats both models alike.

## Recommendations

Ask in the system prompt for a search before each update: that addresses 3 of 5 failures of
model_a. Then add examples of a second spelling to the training data for tasks like task 3, seen
in `model_a/3:1`.

## Reproducibility Notes

Both runs used temperature 1.0 and two repeats. Figures come from `blade analyze` on the rollouts
folder of this package, and nothing was computed by hand or by a model.
"""

SHALLOW = """# model_a on desk

## Aggregate Results

| run | tasks | rollouts | passed | pass@1 |
| --- | ---: | ---: | ---: | ---: |
| model_a | 4 | 8 | 3 | 37.5% |
"""

FACTS = (
    "NO_SEARCH explains 3 of 5 failures of model_a, among them `model_a/2:0`.",
    "GAVE_UP explains 2 of 5 failures: both repeats of task 3 stop after an empty search result.",
    "Task 1 passes in `model_a/1:0`, which searches for the customer and updates the id found.",
    "`model_a/1:1` guesses the id 00017 from the prompt, and fails.",
    "Task 2 fails in both repeats because they write to customer 00099, which no search returned.",
    "Task 3 fails because the search for a misspelled name is empty.",
    "5 of 8 rollouts of model_a called `crm_search` before the first update.",
    "model_b gains task 2 in one repeat, `model_b/2:0`, because it searches before every update.",
)


def rows(model: str) -> list[Row]:
    """The rollouts of a model: what it says differs by model, task and repeat."""
    return [
        _row(model, task, index, reward)
        for task, rewards in enumerate(REWARDS[model])
        for index, reward in enumerate(rewards)
    ]


def facts(texts: tuple[str, ...] = FACTS, **fields: Any) -> Row:
    """A file of anchor facts."""
    listed = [
        {"id": f"f{place}", "fact": text, "difficulty": "high", "mean_score": None}
        for place, text in enumerate(texts, 1)
    ]
    return {"benchmark": BENCHMARK, "model": "model_a", "anchor_facts": listed, **fields}


def files() -> dict[str, Any]:
    """All files of the package by name."""
    golden = "golden_reports/model_a"
    return {
        "skill/SKILL.md": SKILL,
        "rollouts/model_a_rollouts.jsonl": rows("model_a"),
        "rollouts/model_b_rollouts.jsonl": rows("model_b"),
        f"{golden}_golden_report.md": REPORT,
        f"{golden}_golden_report_metrics.json": json.dumps(METRICS),
        f"{golden}_anchor_facts.json": json.dumps(facts()),
        f"{golden}_shallow.md": SHALLOW,
    }


def write_package(folder: Path, **changes: Any) -> Path:
    """The package below `folder`, with files by name replaced, or left out where None."""
    content = {**files(), **changes}
    return write(folder / BENCHMARK, {k: v for k, v in content.items() if v is not None})


def _row(model: str, task: int, index: int, reward: float) -> Row:
    return rollout(
        task,
        index,
        reward=reward,
        model=model,
        output=_output(model, task, index),
        category="mail" if task % 2 else "crm",
        num_matched=int(reward),
    )


def _output(model: str, task: int, index: int) -> list[Row]:
    """What the report tells: who searches first, who guesses an id, and who gives up."""
    guessed = {(1, 1): "00017", (2, 0): "00099", (2, 1): "00099"} if model == "model_a" else {}
    said = f"This was attempt {index} of {model} at task {task}."
    if task == 3:
        return [*_called("crm_search", {"name": "Smiht"}, []), _message(f"{said} I stop here.")]
    customer = guessed.get((task, index), f"0001{task}")
    search = (
        [] if (task, index) in guessed else _called("crm_search", {"name": "Smith"}, [customer])
    )
    update = _called("crm_update", {"customer_id": customer}, "ok")
    return [*search, *update, _message(f"{said} I changed customer {customer}.")]


def _called(name: str, arguments: Row, answer: Any) -> list[Row]:
    call = {"type": "function_call", "name": name, "call_id": f"call_{name}"}
    result = {"type": "function_call_output", "call_id": f"call_{name}"}
    return [
        {**call, "arguments": json.dumps(arguments)},
        {**result, "output": json.dumps({"result": answer})},
    ]


def _message(text: str) -> Row:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }
