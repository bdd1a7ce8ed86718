"""Documents whose commands run as written: tutorials, the agents' skill, newcomers' pages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pipeline.cli import COMMANDS
from tests.conftest import ROOT
from tests.results import run_document, run_script

TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = ("README.md", "llms.txt", "docs/tutorial.md", "docs/coming_from.md")
DOCUMENTS = [
    "README.md",
    "llms.txt",
    *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs(tmp_path: Path) -> None:
    """All of them, in order; those that are to fail are followed by what is then printed."""
    printed = run_document(TUTORIAL, tmp_path).splitlines()
    assert "not yet: more repeats first" in printed and "the wrong figure is found" in printed
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "tests_of_runs" / "quick_math_birch-70b" / "junit.xml").is_file()


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_pages_name_exist(page: str) -> None:
    """A page names no command that blade does not have."""
    text = (ROOT / page).read_text(encoding="utf-8")
    code = " ".join(re.findall(r"`[^`]+`", text))
    named = set(re.findall(r"\bblade ([a-z][a-z-]+)(?=[ `\n])", code))
    assert named - set(COMMANDS) == set()


@pytest.mark.parametrize("page", DOCUMENTS)
def test_no_link_is_dead(page: str) -> None:
    """A relative link leads to a file, and its anchor to a heading of it."""
    path = ROOT / page
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        # The reports of the gallery are written by make.
        if "://" in link or link.startswith("gallery/"):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{page}: {link}"
        if anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), f"{page}: {link}"


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


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
    message = set(re.findall(r"^blade ([a-z-]+)", SKILL.read_text(encoding="utf-8"), re.MULTILINE))
    assert message == set(COMMANDS)


@pytest.mark.slow
def test_every_command_runs(tmp_path: Path) -> None:
    """All of them, in order, beside the samples: none fails."""
    run_document(SKILL, tmp_path)
    assert (tmp_path / "benchmarks" / "office_desk" / "skill" / "SKILL.md").exists()


SEEDS = ROOT.parent / "shared" / "seeds"
PACKAGE = ROOT / "data_samples" / "benchmarks" / "office_desk"
MODEL = "aster-8b"
CALL = re.compile(r"^\$uv run python \S+ (?P<call>(?:.+\\\n> )*.+)$", re.MULTILINE)


def commands() -> list[str]:
    """The helper's calls in the order of the tutorial, `blade` in place of the script."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SEEDS.glob("*.txt")))
    found = []
    for match in CALL.finditer(text):
        call = match["call"].replace("\\\n>", "")
        found.append(
            "blade " + call.replace("model_a", MODEL).replace("<benchmark_name>", PACKAGE.name)
        )
    return found


@pytest.mark.slow
@pytest.mark.skipif(not SEEDS.is_dir(), reason="the source documents are not beside the project")
def test_tutorial_runs_on_the_sample_package(tmp_path: Path) -> None:
    """Facts, shallow baseline, validation and calibration, one after the other on a copy."""
    shutil.copytree(PACKAGE, tmp_path / "benchmarks" / PACKAGE.name)
    calls = commands()
    names = [call.split()[1] for call in calls]
    assert names == ["extract-anchor-facts", "make-shallow", "validate", "calibrate", "validate"]
    settings = [f"benchmark_name={PACKAGE.name}", 'benchmark_dir="benchmarks/${benchmark_name}"']
    run_script([*settings, *calls], tmp_path)
