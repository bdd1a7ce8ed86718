"""What blade compare decides by: the baseline that the analysis was given, and known changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.results import Content, analyzed, call, rollout


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs a benchmark, the baseline of one in the profile; one has rewards without bounds."""
    files: dict[str, Content] = {
        f"{benchmark}_{model}_rollouts.jsonl": [
            rollout(task, index, ask=f"{benchmark} {task}", reward=float(task + index < limit))
            for task in range(4)
            for index in range(2)
        ]
        for benchmark in ("hills", "lakes")
        for model, limit in (("new", 3), ("old", 2))
    }
    files |= {
        f"seas_{model}_rollouts.jsonl": [
            rollout(task, index, ask=f"seas {task}", reward=9.0 + task)
            for task in range(4)
            for index in range(2 if task else n_first)
        ]
        for model, n_first in (("new", 1), ("old", 2))
    }
    files["blade.toml"] = 'baseline = "hills_old"\n'
    return analyzed(tmp_path_factory.mktemp("baseline"), files).path


def test_the_baseline_of_the_profile_is_the_base(warehouse: Path) -> None:
    """Without a name: a verdict against the baseline, a matrix of the benchmark without one."""
    told = call("compare", "--warehouse", warehouse, "--json").stdout
    found = [
        (each["base"], each["candidate"], each["verdict"], each["margin"])
        for each in json.loads(told)["comparisons"]
        if each["is_lead"]
    ]
    assert found == [
        ("hills_old", "hills_new", "inconclusive", 0.02),
        ("lakes_new", "lakes_old", None, 0.02),
        ("seas_new", "seas_old", None, 0.02),
    ]
    page = call("compare", "--warehouse", warehouse).stdout
    assert "hills_new against hills_old" in page
    assert "lakes, points of pass@1 from the row to the column" in page


def test_the_margin_is_the_one_asked_for(warehouse: Path) -> None:
    """Though the analysis had another."""
    told = call("compare", "--warehouse", warehouse, "--margin", "0.99", "--json").stdout
    assert json.loads(told)["comparisons"][0]["verdict"] == "no change beyond margin"


def test_a_policy_decides_by_it(warehouse: Path, tmp_path: Path) -> None:
    """About the candidates of the baseline, and of no other pair; so do false alarms."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[[metric]]\nmetric = "pass_at_1"\n', encoding="utf-8")
    outcome = call(
        *("compare", "--warehouse", warehouse, "--policy", policy, "--false-alarms", "--json")
    )
    told = json.loads(outcome.stdout)
    assert outcome.code == 1
    assert [gate["candidate"] for gate in told["gates"]] == ["hills_new"]
    assert [alarm["candidate"] for alarm in told["false_alarms"]] == ["hills_new"]


def test_missing_rewards_without_bounds_decide_nothing(warehouse: Path, tmp_path: Path) -> None:
    """A row of the candidate is missing, and could have had any reward."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[[metric]]\nmetric = "mean_reward"\nmargin = 0.5\n', encoding="utf-8")
    asked = ("compare", "seas_old", "seas_new", "--warehouse", warehouse, "--policy", policy)
    (gate,) = json.loads(call(*asked, "--json").stdout)["gates"]
    (metric,) = gate["metrics"]
    assert (gate["verdict"], metric["delta"], metric["bounds"]) == ("INCONCLUSIVE", None, None)


def test_nothing_is_decided_without_a_base(demo: Path, tmp_path: Path) -> None:
    """Neither named nor in the profile."""
    outcome = call("compare", "--warehouse", demo, "--policy", tmp_path / "policy.toml")
    assert outcome.code == 2
    assert "no base is named" in outcome.stderr
