"""The sample package is ready: every command that judges a package passes it."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from pipeline.package.facts import read_facts
from tests.results import call
from tests.test_sample_package import GOLDEN, PACKAGE

FACTS = GOLDEN.with_name("aster-8b_anchor_facts.json")
SHALLOW = GOLDEN.with_name("aster-8b_shallow.md")


def test_shallow_is_what_the_golden_report_gives(tmp_path) -> None:
    """The baseline in the package is the one that make-shallow writes."""
    out = tmp_path / "shallow.md"
    assert call("make-shallow", "--input", GOLDEN, "--output", out).code == 0
    assert out.read_bytes() == SHALLOW.read_bytes()


def test_facts_say_what_they_are_about() -> None:
    """Causes of four tasks, directions, counts with their queries, and quotes, each with terms."""
    facts = read_facts(FACTS)
    assert 12 <= len(facts) <= 14
    told = Counter(fact.predicate for fact in facts)
    assert len({fact.subject.task for fact in facts if fact.predicate == "cause"}) >= 4
    assert told["direction"] and told["expected_call"] and told["mode"]
    assert sum(told[name] for name in ("count", "rate", "bucket")) * 3 <= len(facts)
    assert sum(fact.predicate == "count" and fact.sql is not None for fact in facts) >= 2
    assert sum(bool(fact.quotes) for fact in facts) >= 4
    assert all(fact.subject.run and fact.terms for fact in facts)


def test_the_public_toolkit_would_pass_it() -> None:
    """What BLADE's helper looks at: UTF-8, parsed rows with ids and rewards, file names, facts."""
    for path in PACKAGE.rglob("*"):
        if path.is_file() and ".blade_cache" not in path.parts:
            path.read_text(encoding="utf-8")
    skill = (PACKAGE / "skill" / "SKILL.md").read_text(encoding="utf-8")
    front = re.match(r"---\n(.*?)\n---\n", skill, re.DOTALL)
    assert front is not None
    assert re.findall(r"^(name|description): \S", front[1], re.MULTILINE) == ["name", "description"]
    assert len(skill.splitlines()) >= 50
    assert len(re.findall(r"^## ", skill, re.MULTILINE)) >= 3
    runs = sorted((PACKAGE / "rollouts").glob("*.jsonl"))
    assert len(runs) >= 2, "every file there is taken for a run"
    for run in runs:
        lines = run.read_text(encoding="utf-8").split("\n")
        # It takes the keys of whatever a line holds, so a list must hold nothing but scalars.
        rows = [set(json.loads(line)) for line in lines if line.strip()]
        named = {"_ng_task_index", "_ng_rollout_index", "reward"}
        assert sum(named <= row for row in rows) > 70
    assert len(GOLDEN.read_text(encoding="utf-8").splitlines()) >= 40
    metrics = json.loads(GOLDEN.with_name(f"{GOLDEN.stem}_metrics.json").read_text("utf-8"))
    assert {"model_name", "benchmark", "pass_at_1", "pass_at_k", "total_tasks"} <= set(metrics)
    facts = json.loads(FACTS.read_text(encoding="utf-8"))["anchor_facts"]
    assert len(facts) >= 8
    for fact in facts:
        assert len(fact["fact"]) >= 20
        assert fact["difficulty"] in ("high", "medium", "low")


def test_it_calibrates() -> None:
    """Golden, shallow, spread and every hard negative are where they must be."""
    files = ("--golden-report", GOLDEN, "--anchor-facts", FACTS, "--shallow-report", SHALLOW)
    ended = call("calibrate", *files, "--json")
    assert ended.code == 0, ended.stdout


def test_it_may_be_shared() -> None:
    """Nothing private is in it, by its own policy."""
    assert call("sanitize", PACKAGE, "--check").code == 0


@pytest.mark.slow
def test_every_figure_and_citation_holds() -> None:
    """No contradiction, and fewer than one number in ten that no source accounts for."""
    ended = call("verify", GOLDEN, "--json")
    summary = json.loads(ended.stdout)["summary"]
    assert (ended.code, summary["contradicted"]) == (0, 0)
    assert summary["numbers"]["verified"] > 425
    assert summary["numbers"]["unchecked"] < 45
    assert (summary["facts"]["verified"], summary["facts"]["unchecked"]) == (11, 0)


@pytest.mark.slow
def test_it_is_blade_ready() -> None:
    """All phases pass, the readiness checklist included."""
    ended = call("validate", "--benchmark-dir", PACKAGE, "--phase", "all")
    assert ended.code == 0, ended.stdout
    assert ended.stdout.rstrip().splitlines()[-1].startswith("BLADE-ready.")
