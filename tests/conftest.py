"""Paths, and results analyzed once, that many tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

import pipeline

# Machines are shared: time is no property of an answer, and what fails once must fail again.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
DEMO = ROOT / "data_samples" / "demo"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="../shared/corpus is not here")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, analyzed once: the path of its warehouse."""
    return pipeline.analyze(DEMO, out=tmp_path_factory.mktemp("demo")).warehouse


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus, analyzed once: the path of its warehouse."""
    return pipeline.analyze(CORPUS, out=tmp_path_factory.mktemp("corpus")).warehouse
