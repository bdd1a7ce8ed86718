"""Comparisons of runs, false alarms of their rules, and series of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from .. import report
from ..analysis.false_alarms import (
    N_SIMULATIONS,
    allowing,
    false_alarms,
    shrunken_rates,
    simulated,
)
from ..errors import LONGEST_NAME, UsageError, listed
from ..files import read_queries
from ..report import Comparison
from ..text import one_line
from ..warehouse import Warehouse, open_warehouse
from . import recomputed
from .names import Row, find_run, grouped, run_names
from .recomputed import Pair

QUERIES = read_queries("answers/comparisons")
FEWEST_CHECKPOINTS = 3
MARGIN = 0.02
OTHERS = "select run_id from staging.run_order where benchmark = ? and run_id <> ? order by place"
MOST_TASKS = 10
TURNS = ("learned", "forgotten", "rising", "falling")


def by_metric(
    comparisons: list[Comparison], metric: str | None, *, is_named: bool
) -> list[Comparison]:
    """Keep the comparisons by one metric; an error if a named run lacks it. None keeps all."""
    chosen = [
        replace(each, changes=[one for one in each.changes if metric in (None, one.metric)])
        for each in comparisons
    ]
    without = [each.candidate for each in chosen if not each.changes]
    if without and (is_named or len(without) == len(chosen)):
        raise UsageError(
            f"{without[0]} cannot be compared by {metric}: the reward of a pass is unknown.",
            hint="Analyze again with --pass-threshold, or compare by mean_reward.",
        )
    return [each for each in chosen if each.changes]


@contextmanager
def compared(
    path: Path, names: Sequence[str], *, margin: float, rerun: str | None = None
) -> Iterator[tuple[Warehouse, list[Comparison]]]:
    """The comparisons of the named runs, or all those of the analysis."""
    with open_warehouse(path) as opened:
        analyzed = [] if names else report.comparisons(opened)
        named = [(each.benchmark, each.base, each.candidate) for each in analyzed if each.is_named]
        pairs = [
            Pair(*pair, is_named=True, margin=margin)
            for pair in (_named_pairs(opened, names) if names else named)
        ]
        if not pairs:
            yield opened, analyzed
            return
    reruns = [] if rerun is None else _rerun_pairs(pairs, rerun)
    with recomputed.compare(path, [*pairs, *reruns]) as overlaid:
        wanted = {(pair.base, pair.candidate) for pair in pairs}
        computed = report.comparisons(overlaid)
        chosen = [each for each in computed if (each.base, each.candidate) in wanted]
        yield overlaid, [*chosen, *(each for each in analyzed if not each.is_named)]


def objects(comparisons: Sequence[Comparison]) -> Row:
    """Comparisons as JSON, and the signs of the failing side on tasks that only one run fails."""
    return {
        "comparisons": report.sidecar.comparison_objects(comparisons),
        "flip_signs": [dict(row.values) for each in comparisons for row in each.flip_signs],
    }


def _named_pairs(opened: Warehouse, words: Sequence[str]) -> list[tuple[str, str, str]]:
    first = find_run(opened, words[0])
    base = first["run_id"]
    benchmark = first["benchmark"]
    named = [find_run(opened, word, within=benchmark)["run_id"] for word in words[1:]]
    candidates = named or opened.column(OTHERS, benchmark, base)
    if not candidates:
        raise UsageError(
            f"{one_line(base, LONGEST_NAME)} is the only run of its benchmark.",
            hint=f"Name a candidate. Runs: {listed(run_names(opened))}",
        )
    _check_once([base, *named])
    return [(benchmark, base, candidate) for candidate in candidates]


def _rerun_pairs(pairs: Sequence[Pair], rerun: str) -> list[Pair]:
    """The pair of the base and its rerun, unless it is compared anyway; it has no verdict."""
    base, *others = dict.fromkeys(pair.base for pair in pairs)
    if others:
        raise UsageError(
            f"--rerun: several bases: {listed([base, *others])}.",
            hint="Name the base: blade compare BASE --false-alarms --rerun RUN",
        )
    if rerun == base:
        raise UsageError(
            f"--rerun {one_line(rerun, LONGEST_NAME)}: that is the base itself.",
            hint="Name another run of the same model on the same tasks.",
        )
    if rerun in {pair.candidate for pair in pairs}:
        return []
    return [replace(pairs[0], candidate=rerun, is_named=False)]


def _series(opened: Warehouse, words: Sequence[str]) -> tuple[list[str], str]:
    """The named checkpoints, in order, and their benchmark."""
    if len(words) < FEWEST_CHECKPOINTS:
        hint = "Name them in the order of training."
        raise UsageError("a series needs at least three runs.", hint=hint)
    runs = [find_run(opened, word) for word in words]
    names = [run["run_id"] for run in runs]
    _check_once(names)
    benchmarks = sorted({run["benchmark"] for run in runs})
    if len(benchmarks) > 1:
        message = f"these are runs of several benchmarks: {listed(benchmarks)}."
        raise UsageError(message, hint="A series follows tasks of one benchmark.")
    return names, benchmarks[0]


def _check_once(names: Sequence[str]) -> None:
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        hint = "A run is not compared with itself."
        raise UsageError(f"{listed(twice)}: named twice.", hint=hint)


def noise(
    opened: Warehouse, each: Comparison, gates: Sequence[Row], *, margin: float, rerun: str | None
) -> Row:
    """False alarms of the verdict on a candidate, and of the policy if there is one.

    For these tasks and repeats, by simulation or from a rerun of the base.
    """
    source = "simulation" if rerun is None else "rerun"
    about = {"base": each.base, "candidate": each.candidate, "source": source, "rerun": rerun}
    counts = opened.rows(QUERIES["tallies"], each.base, rerun or each.candidate)
    if not counts:
        return {**about, "n_tasks": 0, "rates": None, "policy": []}
    table = np.array([list(row.values()) for row in counts], dtype=np.int64)
    n_base, n_other, passed, passed_other = table.T

    both = passed + passed_other
    rates = both if rerun is not None else shrunken_rates(both, n_base + n_other)
    shown = simulated(n_base, n_other, rates, is_rerun=rerun is not None)

    def at(limit: float, unseen: float | None) -> Row:
        own = shown if unseen is None or shown is None else allowing(shown, unseen)
        passes, fails = (own.is_above(limit), own.is_below(limit)) if own else (np.nan, np.nan)
        return {
            "threshold": limit,
            "fail": float(np.mean(fails)),
            "pass": float(np.mean(passes)),
        }

    # Thresholds of the policy for pass@1.
    limits = [
        (metric["threshold"], one["unseen"])
        for one in gates
        if one["candidate"] == each.candidate
        for metric in one["metrics"]
        if (metric["metric"], metric["direction"]) == ("pass_at_1", "higher")
    ]
    return {
        **about,
        "n_tasks": len(counts),
        "n_simulations": N_SIMULATIONS,
        "rates": false_alarms(shown, margin=margin),
        "policy": [at(*limit) for limit in limits],
    }


def series(path: Path, words: Sequence[str]) -> list[Row]:
    """The series of the analysis, or the one of the named runs."""
    with open_warehouse(path) as opened:
        if not words:
            return every_series(opened)
        names, benchmark = _series(opened, words)
    with recomputed.follow(path, names, benchmark=benchmark) as overlaid:
        return every_series(overlaid)


def compared_objects(
    path: Path, names: Sequence[str], *, metric: str | None, margin: float = MARGIN
) -> Row:
    """What `blade compare --json` prints: comparisons, and the signs of their flips."""
    with compared(path, names, margin=margin) as (_, comparisons):
        return objects(by_metric(comparisons, metric, is_named=bool(names)))


def every_series(warehouse: Warehouse) -> list[Row]:
    """Every series with its runs in order, its counts, and the clearest tasks of each kind."""
    runs = grouped(warehouse.rows(QUERIES["series_runs"]), "series")
    tasks = grouped(warehouse.rows(QUERIES["series_tasks"], MOST_TASKS), "series")
    return [
        {
            **counts,
            "runs": runs[counts["series"]],
            **{turn: [] for turn in TURNS},
            **grouped(tasks[counts["series"]], "turn"),
        }
        for counts in warehouse.rows("from series_counts order by series")
    ]
