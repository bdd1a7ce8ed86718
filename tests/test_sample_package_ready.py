"""The sample package is ready: every command that judges a package passes it."""

from __future__ import annotations

import json

import pytest

from tests.results import call
from tests.test_sample_package import GOLDEN, PACKAGE

FACTS = GOLDEN.with_name("aster-8b_anchor_facts.json")
SHALLOW = GOLDEN.with_name("aster-8b_shallow.md")


def test_shallow_is_what_the_golden_report_gives(tmp_path) -> None:
    """The baseline in the package is the one that make-shallow writes."""
    out = tmp_path / "shallow.md"
    assert call("make-shallow", "--input", GOLDEN, "--output", out).code == 0
    assert out.read_bytes() == SHALLOW.read_bytes()


def test_facts_are_reviewed_sentences_of_the_report(tmp_path) -> None:
    """Each fact is one that extraction drafts, with its line, and someone has read it."""
    out = tmp_path / "facts.json"
    given = ("--golden", GOLDEN, "--benchmark", "office_desk", "--model-name", "aster-8b")
    call("extract-anchor-facts", *given, "--output", out, "--num-facts", "60")
    drafted = json.loads(out.read_text(encoding="utf-8"))["anchor_facts"]
    known = {fact["fact"]: (fact["line"], fact["rollouts"], fact["numbers"]) for fact in drafted}
    facts = json.loads(FACTS.read_text(encoding="utf-8"))["anchor_facts"]
    assert len(facts) >= 12
    for fact in facts:
        assert known[fact["fact"]] == (fact["line"], fact["rollouts"], fact["numbers"])
        assert fact["review_required"] is False


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


@pytest.mark.slow
def test_it_is_blade_ready() -> None:
    """All phases pass, the readiness checklist included."""
    ended = call("validate", "--benchmark-dir", PACKAGE, "--phase", "all")
    assert ended.code == 0, ended.stdout
    assert ended.stdout.rstrip().splitlines()[-1].startswith("BLADE-ready.")
