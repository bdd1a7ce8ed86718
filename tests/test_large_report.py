"""A report on many tasks: rendered in seconds, and small enough to be mailed."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

import pipeline
from pipeline import render, report
from tests.lean import without_pages
from tests.results import analyzed, rollout

N_TASKS = 5000
N_REPEATS = 2
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs at five thousand tasks, twice each: their warehouse."""
    chance = random.Random(5)
    rates = [chance.betavariate(0.7, 0.7) for _ in range(N_TASKS)]
    files = {
        f"{run}_rollouts.jsonl": [
            rollout(
                task,
                index,
                reward=float(chance.random() < rates[task] * skill),
                ask=f"Answer question {task}. " + "All that is known about it. " * 20,
                category=f"kind {task % 12}",
            )
            for task in range(N_TASKS)
            for index in range(N_REPEATS)
        ]
        for run, skill in (("base", 0.8), ("candidate", 1.0))
    }
    return analyzed(tmp_path_factory.mktemp("large"), files).path


def test_it_is_rendered_in_seconds(large: Path) -> None:
    """Both formats, each from the warehouse, in under five seconds of CPU."""
    for as_html in (False, True):
        begun = time.process_time()
        render(large, as_html=as_html)
        assert time.process_time() - begun < 5


def test_it_is_small(large: Path) -> None:
    """Under ten megabytes with a row for each task of both runs."""
    page = large.with_name("report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 10_000_000
    assert page.count('<tr id="task/') == N_TASKS
    assert len(large.with_name("report.md").read_bytes()) < 1_000_000


def test_runs_cost_the_same_however_many_there_are(tmp_path: Path) -> None:
    """Of 180 runs a report takes hardly more than three times that of 60."""
    seconds = []
    for n_runs in (60, 180):
        row = rollout(1, 0, category="a", tests=[{"name": "first", "passed": False}])
        files = {f"run{number:03}_rollouts.jsonl": [row] for number in range(n_runs)}
        with without_pages():
            found = analyzed(tmp_path / str(n_runs), files)
        begun = time.process_time()
        with pipeline.open_warehouse(found.path) as warehouse:
            report.texts(warehouse, report.collect(warehouse))
        seconds.append(time.process_time() - begun)
    assert seconds[1] < 4 * seconds[0] + 1
    # 2 seconds on a laptop.
    assert seconds[1] < 6
