"""How cost grows: one table of CPU seconds and memory, by size and shape (docs/benchmarks.md).

`python -m tests.bench.scale [SIZE...]`, sizes in MB; by default 100, 1000 and 5000.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.conftest import ROOT
from tests.simulated import simulator

SHAPES = ("schema", "trajectory", "mixed")
SIZES = (100, 1000, 5000)
# Beyond it they hold more in memory than most machines have.
MOST_OF_OTHERS = 1000
HEAD = (
    "| shape, MB | bare scan | json loop | read_ndjson | load | relations | report | all | x scan "
    "| peak MB | unchanged |"
)
LIMITED = ("--memory-limit", "512MB")
BLADE = Path(sys.executable).with_name("blade")


def measured(*words: str | Path) -> tuple[float, float, str]:
    """CPU seconds, peak memory in MB and what was printed, of one process."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([sys.executable, *map(str, words)], cwd=ROOT, stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{words} ended with {process.returncode}")
        printed.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed.read()


def work(name: str, *words: str | Path) -> tuple[float, float, str]:
    """A piece of work of `tests.bench.work`."""
    return measured("-m", "tests.bench.work", name, *words)


def row(folder: Path, shape: str, size: int) -> tuple[str, float]:
    """One line of the table, and the CPU seconds of the whole."""
    path = simulator().write_bench(folder / "results", shape=shape, n_bytes=size * 10**6)
    out = folder / "out"
    scan, _, _ = work("floor", path)
    others = [
        work(name, path)[0] if size <= MOST_OF_OTHERS else None for name in ("loop", "ndjson")
    ]
    whole, peak, printed = work("stages", path, out)
    spent = json.loads(printed)
    # What was written a moment ago is not trusted by its time.
    time.sleep(0.1)
    again, _, _ = work("stages", path, out)
    path.unlink()
    reported = [scan, *others, *(spent[name] for name in ("load", "relations", "report")), whole]
    cells = ["n/a" if seconds is None else f"{seconds:.1f}" for seconds in reported]
    cells += [f"{whole / scan:.1f}", f"{peak:.0f}", f"{again:.1f}"]
    return f"| {shape}, {size:,} | " + " | ".join(cells) + " |", whole


def engines(path: Path) -> Iterator[tuple[str, float]]:
    """Wall seconds of an analysis by the local engine, and on Ray clusters of one and two nodes."""
    yield "local", elapsed(path, "local")
    try:
        import ray
        from ray.cluster_utils import Cluster
    except ImportError:
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        yield "Ray with one node", elapsed(path, "ray", "--address", cluster.address)
        cluster.add_node(num_cpus=1)
        yield "Ray with two", elapsed(path, "ray", "--address", cluster.address)
    finally:
        ray.shutdown()
        cluster.shutdown()


def elapsed(path: Path, engine: str, *words: str) -> float:
    """Wall seconds of `blade analyze` by an engine, nothing kept from before."""
    begun = time.monotonic()
    measured(
        BLADE,
        "analyze",
        path,
        "--out",
        path.parent / engine,
        "--no-cache",
        "--engine",
        engine,
        *words,
    )
    return time.monotonic() - begun


def main(sizes: Sequence[int] = SIZES) -> None:
    """The table, the exponents, and the smallest memory."""
    print(f"{HEAD}\n|{' --- |' * HEAD.count(' | ')} --- |", flush=True)
    grows = []
    for shape in SHAPES:
        spent = []
        for size in sizes:
            with tempfile.TemporaryDirectory() as name:
                line, whole = row(Path(name), shape, size)
            print(line, flush=True)
            spent.append(whole)
        if len(sizes) > 1:
            exponent = math.log(spent[-1] / spent[0]) / math.log(sizes[-1] / sizes[0])
            grows.append(f"{shape} {exponent:.2f}")
    if grows:
        print(f"\nGrowth exponent of all, {sizes[0]:,} to {sizes[-1]:,} MB: {', '.join(grows)}.")
    with tempfile.TemporaryDirectory() as name:
        size = min(2 * max(sizes), 2000)
        path = simulator().write_bench(Path(name), shape="trajectory", n_bytes=size * 10**6)
        seconds, peak, _ = measured(BLADE, "analyze", path, "--out", Path(name, "out"), *LIMITED)
        limited = " ".join(LIMITED)
        print(f"{size:,} MB with {limited}: {seconds:.1f} CPU seconds, peak {peak:.0f} MB.")
    with tempfile.TemporaryDirectory() as name:
        size = min(max(sizes), 1000)
        path = simulator().write_bench(Path(name), shape="trajectory", n_bytes=size * 10**6)
        reported = "; ".join(f"{where} {seconds:.0f}" for where, seconds in engines(path))
        print(f"{size:,} MB of trajectories, seconds of wall time: {reported}.")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or SIZES)
