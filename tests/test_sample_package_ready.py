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


@pytest.mark.slow
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
