"""Suites by simulation: false alarms, coverage of averages, a planted change, and their cost.

`python -m tests.bench.suites` prints them.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats, suites
from pipeline.analysis.stats import Counts, Numbers
from tests.bench.scale import BLADE, measured

DECIDED = ("improved", "regressed")
# Tasks of five benchmarks, one of them small.
SIZES = (50, 114, 30, 100, 15)


def tasks_table(
    passed: Sequence[Counts], n_scored: Sequence[Counts], *, is_base: Sequence[bool] = ()
) -> pa.Table:
    """Rows of `staging.suite_tests`: by benchmark the passes of entrants (rows) at tasks."""
    tables = []
    for number, (own, repeats) in enumerate(zip(passed, n_scored, strict=True)):
        n_entrants, n_tasks = own.shape
        n = n_entrants * n_tasks
        value = (own / repeats).ravel()
        base = np.array(is_base or [False] * n_entrants)
        columns: dict[str, Any] = {
            "benchmark": [f"b{number:02}"] * n,
            "entrant": np.repeat([f"e{place:02}" for place in range(n_entrants)], n_tasks),
            "entrant_no": np.repeat(np.arange(1, n_entrants + 1), n_tasks),
            "is_base": np.repeat(base, n_tasks),
            "task_id": np.tile([f"t{place:04}" for place in range(n_tasks)], n_entrants),
            "task_group": pa.nulls(n, pa.string()),
            "question": pa.nulls(n, pa.string()),
            "is_bounded": np.ones(n, dtype=bool),
            "value_range": np.ones(n),
            "is_expected_known": np.ones(n, dtype=bool),
            "n_scored": repeats.ravel(),
            "value": value,
            "sampling_variance": value * (1 - value) / np.maximum(repeats.ravel() - 1, 1),
            "lowest": value,
            "highest": value,
            "is_counted": np.ones(n, dtype=bool),
            "is_with_all": np.ones(n, dtype=bool),
            "is_growing": np.zeros(n, dtype=bool),
        }
        tables.append(pa.table(columns))
    return pa.concat_tables(tables)


def drawn(
    random: np.random.Generator, rates: Sequence[Numbers], repeats: Sequence[Sequence[int]]
) -> tuple[list[Counts], list[Counts]]:
    """Passes of entrants with these rates, each with its own repeats at each benchmark."""
    scored = [
        np.repeat(np.array(own)[:, None], each.shape[1], axis=1)
        for own, each in zip(repeats, rates, strict=True)
    ]
    pairs = zip(scored, rates, strict=True)
    return [random.binomial(own, each) for own, each in pairs], scored


def any_difference(n: int, *, n_entrants: int = 10, repeats: tuple[int, ...] = (2,)) -> float:
    """The share of suites of equal entrants in which two differ by the verdict."""
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(n):
        rates = [np.tile(random.beta(0.7, 0.7, size), (n_entrants, 1)) for size in SIZES]
        of_each = [random.choice(repeats, n_entrants).tolist() for _ in SIZES]
        table = suites.comparisons(tasks_table(*drawn(random, rates, of_each)))
        verdicts = zip(table["scope"].to_pylist(), table["verdict"].to_pylist(), strict=True)
        hits += any(scope == "suite" and verdict in DECIDED for scope, verdict in verdicts)
    return hits / n


def coverage(n: int, shapes: Sequence[tuple[float, float]], sizes: Sequence[int], k: int) -> float:
    """How often the interval of the average has the average of the benchmarks' true rates."""
    random = np.random.default_rng(2)
    truth = np.mean([a / (a + b) for a, b in shapes])
    values, errors = np.empty((n, len(sizes))), np.empty((n, len(sizes)))
    for place, (shape, size) in enumerate(zip(shapes, sizes, strict=True)):
        rates = random.binomial(k, random.beta(*shape, (n, size))) / k
        values[:, place] = rates.mean(axis=1)
        errors[:, place] = rates.std(axis=1, ddof=1) / np.sqrt(size)
    variance = (errors**2).sum(axis=1)
    bend = (errors**4 / (np.array(sizes) - 1)).sum(axis=1)
    rows = pa.table(
        {
            "value": values.mean(axis=1),
            "se_new_tasks": np.sqrt(variance) / len(sizes),
            "n_groups": np.full(n, float(sum(sizes))),
            "degrees": np.where(bend > 0, variance**2 / np.maximum(bend, 1e-300), sum(sizes)),
            "is_bounded": np.ones(n, dtype=bool),
        }
    )
    with_ends = suites.standings(rows)
    low, high = (
        stats.numbers(with_ends[name]) for name in ("ci_new_tasks_low", "ci_new_tasks_high")
    )
    return float(np.mean((low <= truth) & (truth <= high)))


def planted(n: int, *, change: float = 0.03) -> tuple[float, float, float]:
    """Of suites with a change at every benchmark: shown over the suite, at single benchmarks.

    And the share of those shown in which every benchmark alone is inconclusive. Ten benchmarks of
    150 tasks, four repeats each: the error of the suite's change is 0.83 points, so that three
    points should be shown in 95%.
    """
    random = np.random.default_rng(3)
    n_shown, n_single, n_alone = 0, 0, 0
    for _ in range(n):
        rates = []
        for _ in range(10):
            own = random.beta(2, 2, 150) * 0.9
            rates.append(np.stack([own, own + change]))
        table = suites.comparisons(tasks_table(*drawn(random, rates, [[4, 4]] * 10))).to_pylist()
        whole = [row["verdict"] for row in table if row["scope"] == "suite"]
        single = [row["verdict"] for row in table if row["scope"] == "benchmark"]
        n_shown += whole == ["improved"]
        n_single += sum(verdict in DECIDED for verdict in single)
        n_alone += whole == ["improved"] and set(single) == {"inconclusive"}
    return n_shown / n, n_single / (10 * n), n_alone / max(n_shown, 1)


def write_suite(folder: Path, *, n_entrants: int, n_benchmarks: int, n_tasks: int) -> Path:
    """A results folder of a suite, one attempt per task."""
    random = np.random.default_rng(4)
    folder.mkdir(parents=True, exist_ok=True)
    skill = random.normal(0, 0.08, n_entrants)
    for benchmark in range(n_benchmarks):
        rates = random.beta(1, 1, n_tasks)
        for entrant in range(n_entrants):
            passed = random.random(n_tasks) < np.clip(rates + skill[entrant], 0, 1)
            model, name = f"model{entrant:02}", f"bench{benchmark:02}"
            rows = (
                {
                    "_ng_task_index": task,
                    "_ng_rollout_index": 0,
                    "reward": float(passed[task]),
                    "responses_create_params": {
                        "input": [{"role": "user", "content": f"{name} {task}"}]
                    },
                    "response": {"output": [], "model": model},
                }
                for task in range(n_tasks)
            )
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{name}_{model}_rollouts.jsonl").write_text(text, encoding="utf-8")
    return folder


def bench(folder: Path) -> None:
    """Print the claims and the cost."""
    for repeats in ((2,), (1, 2, 4)):
        rate = any_difference(1000, repeats=repeats)
        print(
            f"ten equal entrants, repeats {repeats}: any difference in {rate:.1%} of 1,000 suites"
        )
    shapes = [(1, 1), (2, 1), (0.5, 0.5), (1, 2), (2, 2)]
    print(f"the average covers {coverage(4000, shapes, SIZES, 2):.1%}")
    shown, single, alone = planted(300)
    print(f"3 points planted: shown in {shown:.1%} of suites, at {single:.1%} of benchmarks")
    print(f"of the suites that show it, every benchmark alone is inconclusive in {alone:.1%}")
    random = np.random.default_rng(5)
    rates = [np.tile(random.beta(1, 1, 200), (30, 1)) for _ in range(20)]
    tasks = tasks_table(*drawn(random, rates, [[4] * 30] * 20))
    began = time.process_time()
    suites.comparisons(tasks)
    print(f"30 x 20 x 200, tests alone: {time.process_time() - began:.2f} CPU s")
    results = write_suite(folder / "suite", n_entrants=30, n_benchmarks=20, n_tasks=200)
    out = folder / "out"
    seconds, peak, _ = measured(BLADE, "analyze", results, "--out", out)
    print(f"30 x 20 x 200, blade analyze: {seconds:.1f} CPU s   peak {peak:.0f} MB")
    seconds, peak, _ = measured(BLADE, "suite", "--warehouse", out)
    print(f"30 x 20 x 200, blade suite: {seconds:.2f} CPU s   peak {peak:.0f} MB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        bench(Path(temporary))
