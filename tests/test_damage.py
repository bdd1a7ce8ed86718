"""Packed files that are damaged: what was whole is kept, and reading ends."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.bench.mutations import PER_BATCH, campaign
from tests.lean import LOADED
from tests.results import analyzed, lines, rollout

N_ROWS = 3000


def damaged(kind: str) -> bytes:
    """Some megabytes of rows with one thing wrong at their end."""
    rows = [rollout(task, 0, note=str(task) * 60) for task in range(N_ROWS)]
    packed = bytearray(gzip.compress(lines(rows).encode()))
    if kind == "check":
        packed[-6] ^= 1
    elif kind == "junk":
        packed += b"junk that is no member"
    else:
        packed += gzip.compress(b"")[:-1] + b"\1"
    return bytes(packed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["check", "junk", "member"])
def test_a_damaged_end_costs_no_row(tmp_path: Path, kind: str) -> None:
    """The damage is one reject with its reason."""
    results = analyzed(tmp_path, {"a_rollouts.jsonl.gz": damaged(kind)}, needs=LOADED)
    assert results.one("select count(*) from rollouts") == N_ROWS
    ((line, reason),) = results.rows("select source_line, reason from rejects")
    assert line == N_ROWS + 1 and "zlib" in reason


@pytest.mark.slow
def test_damage_in_the_middle(tmp_path: Path) -> None:
    """Rows before it are kept; every line behind it is one of the file's, and reading ends."""
    packed = bytearray(damaged("check"))
    packed[len(packed) // 2] ^= 0x55
    results = analyzed(tmp_path, {"a_rollouts.jsonl.gz": bytes(packed)}, needs=LOADED)
    ((n_lines, n_rows, n_rejects),) = results.rows(
        "select n_lines, n_rows, n_rejects from artifacts"
    )
    assert n_rows > N_ROWS / 3 and n_rejects > 0 and n_rows + n_rejects == n_lines


@pytest.mark.slow
def test_mutated_files_of_every_kind() -> None:
    """Rollouts, sidecars, settings, labels and packed files: none crashes, no line is lost."""
    assert campaign(2 * PER_BATCH, seed=1000) == []
