"""Noise is seldom listed as a failure mode, and what is planted mostly is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.findings import PLANTED, listed, n_with, null_run, planted_run


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
