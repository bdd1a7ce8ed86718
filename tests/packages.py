"""A small whole package that passes every check, written by hand, for tests that break it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import REPORTS
from tests.results import Row, called, rollout, write, wrote

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

SKILL = (REPORTS / "desk/SKILL.md").read_text(encoding="utf-8")
REPORT = (REPORTS / "desk/golden_report.md").read_text(encoding="utf-8")
SHALLOW = (REPORTS / "desk/shallow.md").read_text(encoding="utf-8")

FACTS = tuple((REPORTS / "desk/facts.txt").read_text(encoding="utf-8").splitlines())


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
    attempt = f"This was attempt {index} of {model} at task {task}."
    if task == 3:
        return [*_called("crm_search", {"name": "Smiht"}, []), *wrote(f"{attempt} I stop here.")]
    customer = guessed.get((task, index), f"0001{task}")
    search = (
        [] if (task, index) in guessed else _called("crm_search", {"name": "Smith"}, [customer])
    )
    update = _called("crm_update", {"customer_id": customer}, "ok")
    return [*search, *update, *wrote(f"{attempt} I changed customer {customer}.")]


def _called(name: str, arguments: Row, answer: Any) -> list[Row]:
    return called(name, arguments, json.dumps({"result": answer}))
