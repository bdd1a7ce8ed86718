"""Comparisons: what was planted between two runs and what was found, and how long many take."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random

from tests.conftest import ROOT
from tests.pairs_found import compared, found
from tests.planted_pairs import LOST, PLANTED, SAME, run_files
from tests.results import Row, lines

SEEDS = range(1, 4)
N_SAME = 8
N_RUNS, N_TASKS = 20, 1000


def bench_planted(folder: Path) -> None:
    """Each planted difference, and the line of the ledger that says most; by seed."""
    told = {seed: compared(folder / str(seed), seed=seed, n_same=N_SAME) for seed in SEEDS}
    print(f"planted between two runs of 100 tasks, {len(SEEDS)} seeds")
    print(f"  {'planted':17}{'points':>7}  {'found as the top line':35}{'points':>7}  verdict")
    for name, planted in PLANTED.items():
        for each in told.values():
            seen = found(planted, each[name])
            line = f"{planted.ledger}: {seen.top['line']}"
            print(
                f"  {name:17}{100 * planted.size:+7.1f}  {line:45.45}"
                f"{100 * seen.top['amount']:+7.1f}  {seen.verdict}"
            )
    for name in (*LOST, "whole"):
        print(f"  {name:17}{0:+7.1f}  {_called(each[name] for each in told.values())}")
    print("    lost are 40% of the failures; whole is the same run with all of them")
    alike = [each[f"same_{n}"] for each in told.values() for n in range(N_SAME)]
    print(f"  {'nothing':17}{0:+7.1f}  {_called(alike)}", flush=True)


def _called(rows: Iterable[Row]) -> str:
    verdicts = [row["verdict"] for row in rows]
    return ", ".join(f"{verdicts.count(name)} {name}" for name in sorted(set(verdicts)))


def bench_speed(folder: Path) -> None:
    """20 runs of 1,000 tasks, 8 repeats each: every pair, all with one, and from a warehouse."""
    print(f"{N_RUNS} runs x {N_TASKS:,} tasks x 8 repeats compared, after the load", flush=True)
    results, out = folder / "whole", folder / "out"
    _write(results)
    _work("comparisons", results, out)
    _work("comparisons", results, out, "desk_model00")
    command = [Path(sys.executable).with_name("blade"), "compare", "desk_model00"]
    started = time.perf_counter()
    subprocess.run(
        [*command, "--warehouse", out / "warehouse.duckdb"], check=True, stdout=subprocess.DEVNULL
    )
    print(f"  blade compare BASE, {N_RUNS - 1} candidates {time.perf_counter() - started:6.2f} s")
    print("the same with graded rewards and 5% of the rows missing", flush=True)
    _write(folder / "ragged", is_ragged=True)
    _work("comparisons", folder / "ragged", out)


def _write(folder: Path, *, is_ragged: bool = False) -> None:
    folder.mkdir(parents=True)
    random = Random(0)
    for number in range(N_RUNS):
        files = run_files(f"desk_model{number:02}", SAME, seed=number, n_tasks=N_TASKS)
        for name, rows in files.items():
            kept = [_graded(row, random) for row in rows if random.random() > 0.05]
            (folder / name).write_text(lines(kept if is_ragged else rows), encoding="utf-8")


def _graded(row: Row, random: Random) -> Row:
    return row if row["reward"] else {**row, "reward": round(0.9 * random.random(), 3)}


def _work(name: str, *arguments: object) -> None:
    """In a process of its own, as an analysis runs."""
    command = [sys.executable, "-m", "tests.bench.work", name, *map(str, arguments)]
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        bench_planted(Path(temporary, "planted"))
        bench_speed(Path(temporary, "speed"))
