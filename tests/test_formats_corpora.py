"""Public results of other harnesses: the figures that each is known by."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pipeline
from tests.conftest import ROOT
from tests.fact_files import check
from tests.lean import CHECKED, only
from tests.results import Results

CORPUS = ROOT.parent / "shared" / "formats_corpus"
NEEDS = (*CHECKED, "checks", "record_fields", "events", "expected", "task_prompts")
# Of one harness a part is of others, or no results.
PARTS = {"every_eval_ever": ["public"], "harbor": ["jobs", "public/atif"]}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here"),
]


@pytest.mark.parametrize(
    "name", "every_eval_ever harbor inspect lm_eval nemo_skills tau2 verifiers".split()
)
def test_corpus(name: str, tmp_path: Path) -> None:
    """As tests/facts/<name>_corpus.test says."""
    folders = [CORPUS / name / part for part in PARTS.get(name, [""])]
    if name == "nemo_skills":
        # Its files have an ending that keeps them from being read as results there.
        folders = [tmp_path / "skills"]
        for file in (CORPUS / name).rglob("*-test"):
            copy = folders[0] / file.relative_to(CORPUS / name).with_name(
                file.name[: -len("-test")]
            )
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    with only(*NEEDS):
        pipeline.analyze(folders, out=tmp_path / "out")
    check(Results(tmp_path / "out"), f"{name}_corpus")
