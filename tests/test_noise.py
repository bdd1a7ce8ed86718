"""Noise is seldom listed as a failure mode, and what is planted mostly is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.findings import (
    FINDINGS_CORPUS,
    PLANTED,
    false_behaviours,
    false_descriptions,
    listed,
    n_planted,
    n_with,
    null_run,
    planted_run,
    shuffled_corpus,
)


@pytest.mark.slow
def test_few_folders(tmp_path: Path) -> None:
    """Of three runs of noise none lists anything tested; of three planted signs two are listed."""
    runs = {f"null_{seed}": null_run(f"null_{seed}", seed, n_tasks=12) for seed in range(3)}
    planted = {f"set_{seed}": planted_run(f"set_{seed}", seed, PLANTED[0]) for seed in range(3)}
    actual = listed(tmp_path, runs | planted)
    noise = {name: actual[name] for name in runs}
    assert n_with(noise, "behaviour") == n_with(noise, "tested") == 0
    assert sum(("planted = true", "tested") in actual[name] for name in planted) >= 2


# `python -m tests.bench.findings` prints the same.


@pytest.mark.exhaustive
@pytest.mark.slow
def test_behaviours_of_noise(tmp_path: Path) -> None:
    """Outcomes that depend on the task alone: seldom is a behaviour listed (`make bench`: 100)."""
    assert false_behaviours(tmp_path, 50) <= 4


@pytest.mark.exhaustive
@pytest.mark.slow
def test_descriptions_of_noise(tmp_path: Path) -> None:
    """Outcomes that depend on nothing: seldom is a tested mode listed (`make bench`: 100)."""
    assert false_descriptions(tmp_path, 50) <= 6


@pytest.mark.exhaustive
@pytest.mark.slow
def test_planted_signs_are_listed(tmp_path: Path) -> None:
    """In 15 of 100 failures and in no pass: listed in at least 80% of runs."""
    assert n_planted(tmp_path, 50, PLANTED[0]) >= 40


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.skipif(not FINDINGS_CORPUS.is_dir(), reason="../shared/findings_corpus is not here")
def test_shuffled_folders(tmp_path: Path) -> None:
    """Real folders with shuffled outcomes: at most 8% list a tested mode, 5% a behaviour."""
    counts = list(shuffled_corpus(tmp_path, n_shuffles=6))
    n_draws = 6 * len(counts)
    assert sum(tested for _, tested, _ in counts) <= 0.08 * n_draws
    assert sum(behaviours for *_, behaviours in counts) <= 0.05 * n_draws
