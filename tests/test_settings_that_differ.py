"""Every setting in the record that differs between two compared runs is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.results import Row, analyzed, rollout

NEEDED = ("comparison_settings", "comparisons", "runs")
DIFFERING = """
    select setting, base_value, candidate_value, n_tasks from comparison_settings
    where setting not in ('verifier fields') order by setting
"""


def rows(**request: Any) -> list[Row]:
    """Three tasks, each asked with the same parameters."""
    every = [rollout(task, 0, model="gpt") for task in range(3)]
    for row in every:
        row["responses_create_params"] |= request
    return every


def prefilled(row: Row, words: str) -> Row:
    """The row, with a message of the model's own in its request."""
    row["responses_create_params"]["input"].append({"role": "assistant", "content": words})
    return row


def test_prefilled_messages(tmp_path: Path) -> None:
    """Words put into the model's mouth differ by task; equal ones and none are no difference."""
    base, other = rows(), rows()
    prefilled(other[0], "Sure, ")
    prefilled(base[1], "Well, ")
    prefilled(other[1], "Well, ")
    files = {"desk_a_rollouts.jsonl": base, "desk_b_rollouts.jsonl": other}
    results = analyzed(tmp_path, files, needs=NEEDED)
    assert results.rows(DIFFERING) == [("prefilled messages", None, None, 1)]


def test_settings_beside_a_run(tmp_path: Path) -> None:
    """Limits of a run's configuration are compared, and what its rows say of sampling."""
    configs = [{"policy_model_name": "gpt", "max_turns": turns} for turns in (10, 20)]
    files = {
        "a/desk_a_rollouts.jsonl": rows(temperature=0.5),
        "a/run_config.json": [configs[0]],
        "b/desk_b_rollouts.jsonl": rows(temperature=1.0),
        "b/run_config.json": [configs[1]],
    }
    results = analyzed(tmp_path, files, needs=NEEDED)
    assert results.rows(DIFFERING) == [
        ("max_turns", "10", "20", None),
        ("temperature", "0.5", "1", None),
    ]


def test_a_run_name_is_no_model(tmp_path: Path) -> None:
    """Where rows name no model, its value is unknown on that side and not the run's name."""
    nameless = [rollout(task, 0) for task in range(3)]
    files = {"desk_a_rollouts.jsonl": rows(), "desk_b_rollouts.jsonl": nameless}
    results = analyzed(tmp_path, files, needs=NEEDED)
    assert results.rows(DIFFERING) == [("model", "gpt", None, None)]
