"""Run the benchmarks and print them: `make bench`, or `python -m tests.bench --megabytes 100`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pipeline
from tests.bench import decisions, scale, signs
from tests.bench.pairs import bench_planted, bench_speed
from tests.conftest import CORPUS, ROOT
from tests.diagnosis_score import score
from tests.simulated import simulator

TRIES = 3
HELD_OUT_SEEDS = range(1000, 1008)


def measured(arguments: list[str]) -> tuple[float, float]:
    """Seconds and peak memory (MB) of a process."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{arguments} ended with {process.returncode}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def bench_many(folder: Path) -> None:
    """A folder of 400 small files of different benchmarks."""
    simulator().write_many(folder / "many", n_files=400)
    blade = str(Path(sys.executable).parent / "blade")
    out = str(folder / "out")
    seconds, peak = measured([blade, "analyze", str(folder / "many"), "--out", out])
    print(f"400 small files: {seconds:.2f} s   peak {peak:.0f} MB")
    row = {"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 1.0, "response": {"output": []}}
    for number in range(2000):
        path = folder / "files" / f"run{number:04}_rollouts.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    once = [blade, "analyze", str(path.parent), "--out", f"{out}2000"]
    print("2,000 files of one row: {:.2f} s   peak {:.0f} MB".format(*measured(once)))
    for call in (["--help"], ["sql", "from runs", "--warehouse", f"{out}/warehouse.duckdb"]):
        best = min(measured([blade, *call])[0] for _ in range(TRIES))
        print(f"  blade {' '.join(call[:2])}: {best:.2f} s")


def bench_diagnosis(folder: Path) -> None:
    """Simulated runs of seeds that no rule was written with: what was planted, what was found."""
    found = score(folder, HELD_OUT_SEEDS)
    print(f"planted causes, {found.modes.total()} failing attempts of {len(HELD_OUT_SEEDS)} seeds")
    for line in found.lines():
        print(f"  {line}")
    print(
        f"  primary mode right {found.accuracy:.1%}, macro-F1 {found.macro_f1:.3f}, "
        f"divergence at the planted event {found.divergence_rate:.1%}"
    )


def bench_corpus(folder: Path) -> None:
    """Real results, where they are at hand: what no rule explains, file by file."""
    if not CORPUS.exists():
        return
    analysis = pipeline.analyze(CORPUS, out=folder)
    query = """
        select run_id, sum(n_rollouts), coalesce(sum(n_rollouts) filter (mode = 'UNEXPLAINED'), 0)
        from failure_modes group by all order by all
    """
    with pipeline.open_warehouse(analysis.warehouse) as warehouse:
        rows = warehouse.execute(query).fetchall()
    print("corpus: attempts that did not pass, and what no rule explains of them")
    for run_id, n_failures, n_unexplained in rows:
        share = n_unexplained / n_failures
        print(f"  {run_id:40}{n_failures:5}{n_unexplained:5} {share:6.0%}")


def bench_metrics(folder: Path) -> None:
    """A million rollouts without trajectories: 100,000 tasks, ten repeats each."""
    path = simulator().write_flat(folder / "flat", n_tasks=100_000, n_repeats=10)
    print("1,000,000 rollouts of 100,000 tasks", flush=True)
    command = [sys.executable, "-m", "tests.bench.work", "metrics", str(path)]
    subprocess.run(command, cwd=ROOT, check=True)


def main() -> None:
    """All benchmarks; a quick look with small sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, nargs="*", help="sizes of the large files")
    sizes = parser.parse_args().megabytes or scale.SIZES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_diagnosis(folder / "planted")
        bench_planted(folder / "planted_pairs")
        bench_corpus(folder / "corpus")
        decisions.main()
        signs.main()
        bench_many(folder)
        bench_metrics(folder)
        bench_speed(folder / "pairs")
    scale.main(sizes)


if __name__ == "__main__":
    main()
