"""Run the benchmarks and print them: `make bench`, or `python -m tests.bench --megabytes 100`."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from tests.bench import decisions, findings, goals, pairs, scale, suites
from tests.bench.scale import BLADE, measured
from tests.simulated import simulator


def bench_many(folder: Path) -> None:
    """A folder of 400 small files of different benchmarks."""
    simulator().write_many(folder / "many", n_files=400)
    out = folder / "out"
    _tell("400 small files", "analyze", folder / "many", "--out", out)
    row = {"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 1.0, "response": {"output": []}}
    for number in range(2000):
        path = folder / "files" / f"run{number:04}_rollouts.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    _tell("2,000 files of one row", "analyze", path.parent, "--out", folder / "out2000")
    _tell("blade --help", "--help")
    _tell("blade sql", "sql", "from runs", "--warehouse", out / "warehouse.duckdb")


def bench_metrics(folder: Path) -> None:
    """A million rollouts without trajectories: 100,000 tasks, ten repeats each."""
    path = simulator().write_flat(folder / "flat", n_tasks=100_000, n_repeats=10)
    _tell("1,000,000 rollouts of 100,000 tasks", "analyze", path, "--out", folder / "flat_out")


def _tell(name: str, *words: str | Path) -> None:
    seconds, peak, _ = measured(BLADE, *words)
    print(f"{name}: {seconds:.2f} CPU seconds   peak {peak:.0f} MB", flush=True)


def main() -> None:
    """All benchmarks; a quick look with small sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, nargs="*", help="sizes of the large files")
    sizes = parser.parse_args().megabytes or scale.SIZES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        decisions.main()
        findings.tally(findings.N_FOLDERS)
        bench_many(folder)
        bench_metrics(folder)
        pairs.main(folder / "pairs")
        suites.bench(folder / "suites")
    goals.main(min(1000, max(sizes)))
    scale.main(sizes)


if __name__ == "__main__":
    main()
