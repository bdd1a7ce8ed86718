"""The gate as JSON and as a page."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest

from pipeline.answers.gate import decide
from pipeline.cli.compare_page import print_gate
from pipeline.profile.policy import Criterion, Policy, Requirements, Waiver
from pipeline.text import json_text
from tests.gate_cases import FAILS, HOLDS, INCONCLUSIVE, KNOWN, compared, decided


def test_what_is_no_number_is_undefined() -> None:
    """NaN and infinity count as unknown, and reach neither JSON nor a verdict."""
    for name, value in product(
        ("delta", "low", "high", "bound_low", "bound_high"), (float("nan"), float("inf"))
    ):
        found = decided(Criterion("pass_at_1"), replace(HOLDS, **{name: value}))
        assert found["verdict"] is INCONCLUSIVE
        json.dumps(found, allow_nan=False)


def test_json() -> None:
    """The JSON form holds the verdict, each metric with and without waived tasks, and the rest."""
    policy = Policy("policy.toml", (Criterion("pass_at_1"),), Requirements(0.9, None, 20), KNOWN)
    row = decide(policy, compared(replace(FAILS, bound_low=None), HOLDS))
    assert json.loads(json_text(row)) == {
        "base": "a",
        "candidate": "b",
        "policy": "policy.toml",
        "verdict": "WARN",
        "exit_code": 0,
        "reasons": [
            "pass_at_1 non-inferior: PASS without the waived tasks, INCONCLUSIVE with them"
        ],
        "metrics": [
            {
                "metric": "pass_at_1",
                "rule": "non-inferior",
                "margin": 0.02,
                "direction": "higher",
                "level": "blocking",
                "threshold": -0.02,
                "verdict": "PASS",
                "reasons": [
                    "the change is 0, interval -0.01 to +0.01, over 100 tasks: "
                    "the interval is all above -0.02"
                ],
                "n_tasks": 100,
                "delta": 0.0,
                "ci_new_tasks": [-0.01, 0.01],
                "bounds": [0.0, 0.0],
                "with_waived": {
                    "verdict": "INCONCLUSIVE",
                    "reasons": [
                        "the change is -0.06, interval -0.08 to -0.04, over 100 tasks: "
                        "the interval is all below -0.02",
                        "what the missing rollouts would make of it is unknown",
                    ],
                    "n_tasks": 100,
                    "delta": -0.06,
                    "ci_new_tasks": [-0.08, -0.04],
                    "bounds": None,
                },
            }
        ],
        "require": {"min_coverage": 0.9, "min_clean_rate": None, "min_common_tasks": 20},
        "quality": {
            "base": {"coverage": 1.0, "clean_rate": 1.0},
            "candidate": {"coverage": 1.0, "clean_rate": 1.0},
        },
        "waived": [{"task_id": "12", "reason": "the answer key is wrong", "is_common": True}],
    }


PAGE = """\
FAIL  b vs a, by policy.toml
what the policy asks does not hold
  -  pass_at_1 non-inferior: FAIL (it blocks)
  -  duration_s non-inferior: INCONCLUSIVE (tracked, a warning only)

metric                    level      change   95% CI           must be       tasks   verdict
─────────────────────────────────────────────────────────────────────────────────────────────────
pass_at_1 non-inferior    blocking    -0.06   -0.08 to -0.04   above -0.02     100   FAIL
    -  the change is -0.06, interval -0.08 to -0.04, over 100 tasks: the interval is all below -0.02
duration_s non-inferior   tracked       n/a   n/a              below +1              INCONCLUSIVE
    -  the change is unknown, over an unknown number of tasks: no interval is defined for it

95% CI for new tasks, missing attempts counted as failed. INCONCLUSIVE: the interval includes the
limit, or missing attempts could move the change across it.
"""


def test_page(capsys: pytest.CaptureFixture[str]) -> None:
    """The page begins with the verdict; below stand what led to it and the measured changes."""
    seconds = Criterion("duration_s", margin=1, direction="lower", level="tracked")
    print_gate([decide(Policy("policy.toml", (Criterion("pass_at_1"), seconds)), compared(FAILS))])
    assert capsys.readouterr().out == PAGE


def test_page_of_several_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict on all comes first; waivers are shown with their reasons, inert and bounded."""
    waivers = (*KNOWN, Waiver("\x07\x1bred", "line\nbreak " + "x" * 5000))
    policy = Policy("policy.toml", (Criterion("pass_at_1"),), waivers=waivers)
    second = compared(FAILS, HOLDS, candidate="c\x1b]0;title\x07")
    print_gate([decide(policy, compared(FAILS)), decide(policy, second)])
    printed = capsys.readouterr().out
    assert printed.startswith("FAIL  1 of 2 candidates pass; all of them must\n\nFAIL  b vs a")
    assert "WARN  c\\x1b]0;title\\x07 vs a, by policy.toml" in printed
    assert "  task 12  the answer key is wrong\n" in printed
    assert "  task \\x07\\x1bred (not a common task)  line\\nbreak xxx" in printed
    assert "  -  waived, but not among the common tasks: \\x07\\x1bred\n" in printed
    assert "pass_at_1 non-inferior   PASS               100   FAIL             100\n" in printed
    assert "\x1b" not in printed and "\x07" not in printed
    assert len(printed) < 5000
