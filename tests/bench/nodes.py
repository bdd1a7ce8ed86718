"""A large file on two Ray nodes of this machine beside one process: CPU seconds, peaks, outputs.

`python -m tests.bench.nodes [SIZE [FOLDER]]`, in MB; by default 10000, in a temporary folder.
"""

from __future__ import annotations

import filecmp
import os
import sys
import tempfile
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from tests.bench.scale import BLADE, measured
from tests.simulated import simulator


def spent_below(pid: int) -> float:
    """CPU seconds of all processes that this one started and of theirs, ended ones included."""
    children: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # Behind the name, which may have blanks: state, parent, and from the 12th on the times.
            _, _, after = path.read_text().rpartition(") ")
            values = after.split()
            spent = sum(map(int, values[11:15]))
            children[int(values[1])].append((int(path.parent.name), spent))
    waiting, ticks = [pid], 0
    while waiting:
        for child, spent in children[waiting.pop()]:
            waiting.append(child)
            ticks += spent
    return ticks / os.sysconf("SC_CLK_TCK")


def unlike(folder: Path, other: Path) -> list[str]:
    """Files of two outputs that differ, but for the warehouse and the events beside it."""
    names = {
        str(path.relative_to(each))
        for each in (folder, other)
        for path in each.rglob("*")
        if path.is_file() and path.parent.name != "events" and path.suffix != ".duckdb"
    }
    _, different, missing = filecmp.cmpfiles(folder, other, sorted(names), shallow=False)
    return different + missing


def main(size: int, folder: Path) -> None:
    """The driver, one process, and what differs."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    path = simulator().write_bench(folder / "results", shape="trajectory", n_bytes=size * 10**6)
    common = ("analyze", path, "--no-cache", "--out")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        engine = ("--engine", "ray", "--address", cluster.address)
        driver, peak, _ = measured(BLADE, *common, folder / "ray", *engine)
        tasks = spent_below(os.getpid())
    finally:
        cluster.shutdown()
    print(f"{size:,} MB, Ray: driver {driver:.0f} CPU s, peak {peak:.0f} MB.")
    print(f"Tasks and Ray's own processes: {tasks:.0f} CPU s.", flush=True)
    whole, peak, _ = measured(BLADE, *common, folder / "local")
    print(f"One process: {whole:.0f} CPU s, peak {peak:.0f} MB.")
    print(f"Files that differ: {unlike(folder / 'ray', folder / 'local') or 'none'}.")


if __name__ == "__main__":
    n_megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    if len(sys.argv) > 2:
        main(n_megabytes, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(n_megabytes, Path(name))
