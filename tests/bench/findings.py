"""How often noise is listed as a failure mode, and how often a planted sign is.

    python -m tests.bench.findings [--folders 100]

Generated runs, each a benchmark of its own, go through the whole warehouse. Where the corpus of
findings is at hand, the outcomes of its folders are shuffled too: over each run for descriptions,
within tasks for behaviours.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline import run
from pipeline.analysis.modes import computed_modes
from pipeline.analysis.signs import FEW_FAILURES
from pipeline.profile import Profile
from pipeline.run import computed_relations
from pipeline.settings import SQL_DIR, Settings
from pipeline.warehouse.relations import relations
from tests.results import Row, called, rollout, write, wrote

N_FOLDERS = 100
N_TASKS, N_REPEATS = 40, 5
FINDINGS_CORPUS = Path(__file__).resolve().parents[3] / "shared" / "findings_corpus"
MODES = "staging.modes"
# How often an attempt has a value, an error or a call, passing or failing.
RATES = (0.04, 0.08, 0.15, 0.3, 0.5)
MESSAGES = ("quota exceeded", "no such file", "connection reset", "bad gateway", "is locked")
TOOLS = ("search", "open", "edit", "shell", "submit", "ask")


@dataclass(frozen=True)
class Planted:
    """A sign in so many of the failures and passes, and how many attempts there are of each."""

    of_failures: float
    of_passes: float
    n_failures: int
    n_passes: int

    def __str__(self) -> str:
        shares = f"{self.of_failures:.0%} of failures, {self.of_passes:.0%} of passes"
        return f"{shares}, {self.n_failures} and {self.n_passes}"


def null_run(name: str, seed: int, *, n_tasks: int = N_TASKS) -> list[Row]:
    """A run whose outcomes and signs depend on its tasks, and not on each other beyond that."""
    random = Random(f"null {seed}")
    rows = []
    for task in range(n_tasks):
        chance = random.choice((0.2, 0.4, 0.6, 0.8))
        tools = {tool: random.choice((0.2, 0.5, 0.9)) for tool in TOOLS}
        for index in range(N_REPEATS):
            is_pass = random.random() < chance
            rows.append(_row(name, random, task, index, is_pass=is_pass, tools=tools))
    return rows


def even_run(name: str, seed: int, *, n_tasks: int = N_TASKS) -> list[Row]:
    """A run whose outcomes depend on nothing."""
    random = Random(f"even {seed}")
    tools = dict.fromkeys(TOOLS, 0.5)
    return [
        _row(name, random, task, index, is_pass=random.random() < 0.5, tools=tools)
        for task in range(n_tasks)
        for index in range(N_REPEATS)
    ]


def planted_run(name: str, seed: int, planted: Planted) -> list[Row]:
    """A run of noise with one field that failures have more often."""
    random = Random(f"planted {seed} {planted}")
    outcomes = [False] * planted.n_failures + [True] * planted.n_passes
    random.shuffle(outcomes)
    tools = dict.fromkeys(TOOLS, 0.5)
    rows = []
    for place, is_pass in enumerate(outcomes):
        task, index = divmod(place, N_REPEATS)
        row = _row(name, random, task, index, is_pass=is_pass, tools=tools)
        share = planted.of_passes if is_pass else planted.of_failures
        row["planted"] = random.random() < share
        rows.append(row)
    return rows


def _row(
    name: str, random: Random, task: int, index: int, *, is_pass: bool, tools: dict[str, float]
) -> Row:
    output = []
    for tool, rate in tools.items():
        if random.random() < rate:
            is_error = random.random() < 0.15
            answer = f"Error: {random.choice(MESSAGES)}" if is_error else "ok"
            output += called(tool, {"n": random.randrange(100)}, answer)
    output += wrote(random.choice(("Done.", "```\nx\n```", '{"a": 1}')))
    fields = {f"flag_{place}": random.random() < rate for place, rate in enumerate(RATES)}
    words = {
        f"word_{place}": random.choice(("red", "green", "blue")) if random.random() < rate else None
        for place, rate in enumerate(RATES)
    }
    labels = [label for label in ("slow", "odd", "late") if random.random() < 0.1]
    return rollout(
        task,
        index,
        ask=f"{name} {task}",
        reward=float(is_pass),
        output=output,
        labels=labels,
        **fields,
        **words,
    )


def listed(folder: Path, runs: dict[str, list[Row]]) -> dict[str, set[tuple[str, str]]]:
    """By run, the modes that are listed, with their reason."""
    write(folder / "results", {f"{name}_rollouts.jsonl": rows for name, rows in runs.items()})
    wanted = [MODES, "staging.run_benchmarks"]
    path = run.part(Settings(results=(folder / "results",), out=folder / "out"), wanted)
    by_name: dict[str, set[tuple[str, str]]] = {name: set() for name in runs}
    with duckdb.connect(str(path), read_only=True) as db:
        rows = db.execute(f"""
            select run_id, mode, reason from {MODES}
            inner join staging.run_benchmarks using (benchmark) where rank is not null
        """).fetchall()
    for name, mode, reason in rows:
        by_name[name].add((mode, reason))
    return by_name


def n_with(actual: dict[str, set[tuple[str, str]]], reason: str) -> int:
    """How many runs list a mode for this reason."""
    return sum(any(why == reason for _, why in modes) for modes in actual.values())


def false_behaviours(folder: Path, n: int, **sizes: int) -> int:
    """Runs of noise within tasks that list a behaviour."""
    runs = {f"null_{seed:03}": null_run(f"null_{seed:03}", seed, **sizes) for seed in range(n)}
    return n_with(listed(folder, runs), "behaviour")


def false_descriptions(folder: Path, n: int, **sizes: int) -> int:
    """Runs of noise that list a tested mode."""
    runs = {f"even_{seed:03}": even_run(f"even_{seed:03}", seed, **sizes) for seed in range(n)}
    return n_with(listed(folder, runs), "tested")


def n_planted(folder: Path, n: int, planted: Planted) -> int:
    """Runs that list the planted sign."""
    runs = {f"set_{seed:03}": planted_run(f"set_{seed:03}", seed, planted) for seed in range(n)}
    actual = listed(folder, runs)
    return sum(("planted = true", "tested") in modes for modes in actual.values())


def shuffled(rows: pa.Table, seed: int, *, is_within_tasks: bool) -> pa.Table:
    """The rows of attempts and signs with outcomes dealt again, over runs or within their tasks."""
    columns = ["run_id", "task_id"] if is_within_tasks else ["run_id"]
    is_attempt = rows["kind"].is_null()
    attempts = rows.filter(is_attempt)
    outcome = attempts["outcome"].to_numpy(zero_copy_only=False).copy()
    keys = list(zip(*(attempts[name].to_pylist() for name in columns), strict=True))
    strata = np.unique([repr(key) for key in keys], return_inverse=True)[1]
    random = np.random.default_rng(seed)
    for stratum in np.unique(strata):
        places = np.flatnonzero(strata == stratum)
        outcome[places] = random.permutation(outcome[places])
    dealt = pc.replace_with_mask(
        rows["outcome"].combine_chunks(),
        is_attempt.combine_chunks(),
        pa.array(outcome, pa.string()),
    )
    return rows.set_column(rows.column_names.index("outcome"), "outcome", dealt)


def mode_rows(results: Path, out: Path) -> pa.Table:
    """What modes are computed from, of one folder."""
    every = relations(SQL_DIR, computed_relations(Profile()))
    query = next(relation.query for relation in every if relation.name == MODES)
    path = run.part(Settings(results=(results,), out=out), [MODES, "main.signs", "main.checks"])
    with duckdb.connect(str(path), read_only=True) as db:
        return db.sql(query).to_arrow_table()


def shuffled_corpus(folder: Path, n_shuffles: int) -> Iterable[tuple[str, int, int]]:
    """By folder, shuffles that list a tested mode, and a behaviour."""
    for results in sorted(path for path in FINDINGS_CORPUS.iterdir() if path.is_dir()):
        rows = mode_rows(results, folder / results.name)
        is_attempt = pc.is_null(rows["kind"])
        n_failures = pc.sum(pc.equal(rows.filter(is_attempt)["outcome"], "fail")).as_py()
        # Of fewer nothing is tested.
        if n_failures < FEW_FAILURES:
            continue
        counts = []
        for reason, is_within_tasks in (("tested", False), ("behaviour", True)):
            draws = (
                computed_modes(shuffled(rows, seed, is_within_tasks=is_within_tasks))
                for seed in range(n_shuffles)
            )
            counts.append(sum(reason in draw["reason"].to_pylist() for draw in draws))
        yield results.name, *counts


PLANTED = (
    Planted(0.15, 0.0, 100, 100),
    Planted(0.20, 0.05, 100, 100),
    Planted(0.15, 0.0, 50, 50),
    Planted(0.30, 0.15, 100, 100),
)


def tally(n: int) -> None:
    """Print what is listed of so many generated runs, and of the shuffled corpus."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"modes listed, of {n} generated runs of {N_TASKS * N_REPEATS} attempts")
        within = false_behaviours(folder / "within", n)
        print(f"  a behaviour, outcomes drawn within tasks: {within} (at most {n * 5 // 100})")
        over = false_descriptions(folder / "over", n)
        print(f"  a tested mode, outcomes drawn alike: {over} (at most {n * 8 // 100})")
        for place, planted in enumerate(PLANTED):
            least = f" (at least {n * 80 // 100})" if place == 0 else ""
            count = n_planted(folder / f"planted_{place}", n, planted)
            print(f"  a sign in {planted}: {count}{least}", flush=True)
        if FINDINGS_CORPUS.is_dir():
            totals = np.zeros(3, dtype=int)
            for results, tested, behaviours in shuffled_corpus(folder / "corpus", n_shuffles=25):
                print(f"  {results}, 25 shuffles: tested {tested}, behaviour {behaviours}")
                totals += (25, tested, behaviours)
            print(f"  all: of {totals[0]} tested {totals[1]}, behaviour {totals[2]}", flush=True)


def main() -> None:
    """The tally of as many folders as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", type=int, default=N_FOLDERS)
    tally(parser.parse_args().folders)


if __name__ == "__main__":
    main()
