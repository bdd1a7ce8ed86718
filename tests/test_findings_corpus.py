"""What careful readers found in real folders, asked of the warehouse: findings_corpus/EXPECTED.md.

Numbers are those of the list. Not asked here are those that no relation holds.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import pipeline
from tests.fact_files import FOLDER, Fact, read
from tests.lean import DIAGNOSIS, LOADED, only
from tests.results import Results

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "findings_corpus"
PREFIX = "findings_"
FACTS = [
    pytest.param(path.stem.removeprefix(PREFIX), fact, id=f"{path.stem}: {fact.says}")
    for path in sorted(FOLDER.glob(f"{PREFIX}*.test"))
    for fact in read(path.stem)
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="../shared/findings_corpus is not here"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where warehouses are made, each once."""
    return tmp_path_factory.mktemp("findings")


@cache
def results(name: str, folder: Path) -> Results:
    with only(*LOADED, *DIAGNOSIS, "comparison_settings"):
        pipeline.analyze(CORPUS / name, out=folder / name)
    return Results(folder / name)


@pytest.mark.parametrize(("name", "fact"), FACTS)
def test_found(name: str, fact: Fact, folder: Path) -> None:
    """The relations hold what a reader of the raw rows counted, and none of what is false."""
    fact.check(results(name, folder))
