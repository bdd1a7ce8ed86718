"""Paths, and results analyzed once, that many tests share."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import chdir
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner
from hypothesis import settings

from pipeline import earlier, provenance
from pipeline.cli import blade
from pipeline.settings import WAREHOUSE_NAME
from pipeline.warehouse import relations
from tests import hostile, transcript_files
from tests.lean import without_pages
from tests.results import Content, write

# Machines are shared: time is no property of an answer, and what fails once must fail again.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
DEMO = ROOT / "data_samples" / "demo"
# Reports and skills of packages, as people write them.
REPORTS = ROOT / "tests" / "reports"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="../shared/corpus is not here")


# What takes long: begun last, it would keep one worker waiting for the other.
LONGEST = (
    "fresh_clone installed tutorial engines init_whole planted_pairs validate verify why".split()
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real results take seconds: what reads them is slow. The longest files come first."""
    first = [f"test_{name}" for name in LONGEST]
    items.sort(key=lambda item: item.path.stem not in first)
    for item in items:
        if "corpus" in getattr(item, "fixturenames", ()) or item.name == "test_corpus":
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin no slow test after BLADE_SLOW_UNTIL, seconds since 1970, where it is set."""
    until = float(os.environ.get("BLADE_SLOW_UNTIL", "inf"))
    if item.get_closest_marker("slow") and time.time() > until:
        pytest.skip("no time is left for slow tests: make test-all runs them")


@pytest.fixture(scope="session", autouse=True)
def _without_waiting_for_the_disk() -> Iterator[None]:
    """What a test writes need not outlive a power failure."""
    with mock.patch.object(os, "fsync"):
        yield


@pytest.fixture(scope="session", autouse=True)
def _without_reading_the_program_again() -> Iterator[None]:
    """Its files do not change while tests run; their digest is a tenth of a small analysis."""
    with (
        mock.patch.object(earlier, "_code", cache(earlier._code)),
        mock.patch.object(provenance, "versions", cache(provenance.versions)),
        mock.patch.object(relations, "parse", cache(relations.parse)),
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from the user's cache, or written to it; what pip has fetched is."""
    usual = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    own = {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    with mock.patch.dict(os.environ, {"PIP_CACHE_DIR": str(Path(usual, "pip")), **own}):
        yield


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, analyzed once: the path of its warehouse, for reading only."""
    return analyzed_once(DEMO, shared_folder(tmp_path_factory) / "demo" / "blade_out")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus, analyzed once: the path of its warehouse, for reading only."""
    return analyzed_once(CORPUS, shared_folder(tmp_path_factory) / "corpus")


@pytest.fixture(scope="session")
def hostile_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results whose every text is hostile, analyzed once: the path of their warehouse."""
    folder = shared_folder(tmp_path_factory)
    return analyzed_once(folder / "hostile_results", folder / "hostile", files=hostile.files())


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run that all of its workers see."""
    own = tmp_path_factory.getbasetemp()
    # Only a worker's folder lies in one of the whole run.
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Transcripts of every kind, analyzed once without pages: the path of their warehouse."""
    folder = shared_folder(tmp_path_factory) / "transcripts"
    with without_pages():
        return analyzed_once(folder / "results", folder / "out", files=transcript_files.files())


def analyzed_once(results: Path, out: Path, *, files: Mapping[str, Content] | None = None) -> Path:
    """The warehouse of these results: made by the first worker that asks, awaited by the others.

    By the command, in the folder that its output goes to; what it printed is kept in `.done`.
    """
    done = out.with_suffix(".done")
    out.parent.mkdir(exist_ok=True)
    with out.with_suffix(".lock").open("w") as lock, chdir(out.parent):
        # The system lets go of it even where a worker is killed.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            write(results, files or {})
            ended = CliRunner().invoke(blade, ["analyze", str(results), "--out", out.name])
            assert ended.exit_code == 0, ended.output
            done.write_text(ended.output, encoding="utf-8")
    return out / WAREHOUSE_NAME
