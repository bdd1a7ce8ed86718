"""What an analysis costs, in CPU seconds and in loops of plain Python on the same machine.

`python -m tests.bench.goals [SIZE]`, in MB; by default 1000. A loop is
`sum(i * i for i in range(20_000_000))`; each figure is the least of several.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.scale import BLADE, SHAPES, measured, work
from tests.conftest import DEMO
from tests.simulated import simulator

LOOP = ("-c", "sum(i * i for i in range(20_000_000))")
# One row of few bytes, and how much is appended to a large file.
TINY = '{"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 1.0, "response": {"output": []}}\n'
APPENDED = 0.01
N_TIMES = 3


def least(*words: str | Path, n_times: int = N_TIMES) -> float:
    """CPU seconds of the cheapest of several times."""
    return min(measured(*words)[0] for _ in range(n_times))


def small(folder: Path, loop: float) -> None:
    """The demo, one short file, and the demo once more when nothing has changed."""
    tiny = folder / "tiny_rollouts.jsonl"
    tiny.write_text(TINY, encoding="utf-8")
    out = folder / "small"
    for name, path in (("demo", DEMO), ("one short file", tiny)):
        _tell(name, least(BLADE, "analyze", path, "--out", out, "--no-cache"), loop)
    measured(BLADE, "analyze", DEMO, "--out", out)
    _tell("demo, unchanged", least(BLADE, "analyze", DEMO, "--out", out), loop)


def large(folder: Path, size: int, loop: float) -> None:
    """Files of each shape; of trajectories also with 1% appended, and on Ray."""
    for shape in SHAPES:
        path = simulator().write_bench(folder / shape, shape=shape, n_bytes=size * 10**6)
        seconds, peak, _ = measured(BLADE, "analyze", path, "--out", folder / "out", "--no-cache")
        _tell(f"{size:,} MB of {shape}, peak {peak:.0f} MB", seconds, loop)
        if shape == "trajectory":
            engines(path, folder, loop)
        path.unlink()


def engines(path: Path, folder: Path, loop: float) -> None:
    """The driver and the tasks of an analysis on Ray, of all and with some appended."""
    tasks, _, printed = work("tasks", path)
    n_bytes = json.loads(printed)["n_bytes"]
    _tell(f"all tasks of Ray, which hand back {n_bytes / 1e6:.0f} MB", tasks, loop)
    for name in ("all", f"{APPENDED:.0%} appended"):
        time.sleep(3)  # a file that was just written is not kept
        _, peak, printed = work("stages", path, folder / "ray", "ray")
        spent = json.loads(printed)
        _tell(f"driver of Ray, {name}, peak {peak:.0f} MB", spent["process"], loop)
        _append(path)


def _append(path: Path) -> None:
    """Rows from the beginning of a file, as repeats that it does not have."""
    n_bytes = APPENDED * path.stat().st_size
    with path.open(encoding="utf-8") as rows:
        beginning = []
        while n_bytes > 0:
            beginning.append(rows.readline())
            n_bytes -= len(beginning[-1])
    with path.open("a", encoding="utf-8") as file:
        file.writelines(
            row.replace('"_ng_rollout_index":', '"_ng_rollout_index":100', 1) for row in beginning
        )


def _tell(name: str, seconds: float, loop: float) -> None:
    print(f"{name}: {seconds:.2f} CPU seconds, {seconds / loop:.2f} loops", flush=True)


def main(size: int = 1000) -> None:
    """All figures of the table in docs/scale.md."""
    loop = least(*LOOP)
    with tempfile.TemporaryDirectory() as name:
        small(Path(name), loop)
        large(Path(name), size, loop)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
