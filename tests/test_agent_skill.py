"""The agents' skill: found where agents look, and every command in it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.results import run_document

SKILL = ROOT / ".agents" / "skills" / "blade-analysis" / "SKILL.md"
LONGEST = 200


def test_agents_find_it() -> None:
    """The folders of two agents lead to the one file, which opens with its name and purpose."""
    for agent in (".claude", ".codex"):
        assert (ROOT / agent / "skills" / "blade-analysis" / "SKILL.md").samefile(SKILL)
    text = SKILL.read_text(encoding="utf-8")
    assert re.match(r"---\nname: blade-analysis\ndescription: .+\n---\n", text)
    assert len(text.splitlines()) <= LONGEST


def test_it_names_every_command() -> None:
    """Nothing that blade can do is left out."""
    from pipeline.cli import COMMANDS

    message = set(re.findall(r"^blade ([a-z-]+)", SKILL.read_text(encoding="utf-8"), re.MULTILINE))
    assert message == set(COMMANDS)


@pytest.mark.slow
def test_every_command_runs(tmp_path: Path) -> None:
    """All of them, in order, beside the samples: none fails."""
    run_document(SKILL, tmp_path)
    assert (tmp_path / "benchmarks" / "office_desk" / "skill" / "SKILL.md").exists()
