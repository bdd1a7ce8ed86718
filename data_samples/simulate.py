"""Command line and Python entry to the simulator of NeMo Gym results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# Tests and benchmarks load this file by its path, so its own folder may not be importable yet.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from simulator import cases
from simulator.bench import SHAPES, write_bench
from simulator.demo import DEFAULT_SEED, write_demo
from simulator.small_rows import write_flat, write_many

__all__ = ["cases", "main", "write_bench", "write_demo", "write_flat", "write_many"]

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "B": 1}


def n_bytes(text: str) -> int:
    """A size such as 1GB, 250MB or 33000."""
    upper = text.strip().upper()
    for unit, factor in UNITS.items():
        if upper.endswith(unit):
            return int(float(upper.removesuffix(unit)) * factor)
    return int(upper)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="simulate.py", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)

    demo = commands.add_parser("demo", help="a realistic results folder with planted failures")
    demo.add_argument("--tasks", type=int, help="of each benchmark (default 22 and 25)")
    demo.add_argument("--repeats", type=int, help="of each task (default 4 and 5)")

    bench = commands.add_parser("bench", help="one big rollout file")
    bench.add_argument("--shape", choices=SHAPES, required=True)
    bench.add_argument("--bytes", type=n_bytes, default=10**9, help="such as 1GB")
    bench.add_argument("--row-bytes", type=n_bytes)
    bench.add_argument("--dirty", type=float, default=0.0, help="share of irregular rows")

    many = commands.add_parser("many", help="many small rollout files")
    many.add_argument("--files", type=int, default=400)

    flat = commands.add_parser("flat", help="very many rollouts without trajectories")
    flat.add_argument("--tasks", type=int, default=100_000)
    flat.add_argument("--repeats", type=int, default=10)

    for command in (demo, bench, many, flat):
        command.add_argument("out", type=Path, metavar="OUT")
        seed = DEFAULT_SEED if command is demo else 0
        command.add_argument("--seed", type=int, default=seed, help=f"default {seed}")
    return top


def main(arguments: list[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    if given.command == "demo":
        write_demo(given.out, seed=given.seed, n_tasks=given.tasks, n_repeats=given.repeats)
    elif given.command == "bench":
        write_bench(
            given.out,
            shape=given.shape,
            n_bytes=given.bytes,
            row_bytes=given.row_bytes,
            dirty=given.dirty,
            seed=given.seed,
        )
    elif given.command == "many":
        write_many(given.out, n_files=given.files, seed=given.seed)
    else:
        write_flat(given.out, n_tasks=given.tasks, n_repeats=given.repeats, seed=given.seed)


if __name__ == "__main__":
    main()
