"""The agents' skill: found where agents look, and every command in it runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.results import BLADE

SKILL = ROOT / ".agents" / "skills" / "blade-analysis" / "SKILL.md"
BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)
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
    (tmp_path / "data_samples").symlink_to(ROOT / "data_samples")
    script = "\n".join(BLOCK.findall(SKILL.read_text(encoding="utf-8")))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={"PATH": f"{BLADE.parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "benchmarks" / "office_desk" / "skill" / "SKILL.md").exists()
