"""How long comparisons take: many runs, each with each, and all with one."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.bench.scale import BLADE, measured
from tests.planted_pairs import SAME, run_files
from tests.results import Row, lines

N_RUNS, N_TASKS = 20, 1000
BASE = "desk_model00"


def main(folder: Path) -> None:
    """20 runs of 1,000 tasks, 8 repeats each: every pair, all with one, and from a warehouse."""
    print(f"{N_RUNS} runs x {N_TASKS:,} tasks x 8 repeats, CPU seconds", flush=True)
    results, ragged, out = folder / "whole", folder / "ragged", folder / "out"
    _write(results)
    _tell("every pair", "analyze", results, "--out", out)
    _tell("one baseline", "analyze", results, "--out", out, "--baseline", BASE)
    _tell("blade compare", "compare", BASE, "--warehouse", out / "warehouse.duckdb")
    _write(ragged, is_ragged=True)
    _tell("graded rewards and 5% of the rows missing", "analyze", ragged, "--out", out)


def _tell(name: str, *words: str | Path) -> None:
    seconds, peak, _ = measured(BLADE, *words)
    print(f"  {name}: {seconds:.1f}   peak {peak:.0f} MB", flush=True)


def _write(folder: Path, *, is_ragged: bool = False) -> None:
    folder.mkdir(parents=True)
    random = Random(0)
    for number in range(N_RUNS):
        files = run_files(f"desk_model{number:02}", SAME, seed=number, n_tasks=N_TASKS)
        for name, rows in files.items():
            remaining = [_graded(row, random) for row in rows if random.random() > 0.05]
            (folder / name).write_text(lines(remaining if is_ragged else rows), encoding="utf-8")


def _graded(row: Row, random: Random) -> Row:
    return row if row["reward"] else {**row, "reward": round(0.9 * random.random(), 3)}
