"""What changed between runs: compared, judged by a policy, followed along a series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from pipeline import report, run
from pipeline.analysis.false_alarms import (
    N_SIMULATIONS,
    allowing,
    false_alarms,
    shrunken_rates,
    simulated,
)
from pipeline.answers.names import Row, find_run, grouped, run_names
from pipeline.errors import LONGEST_NAME, UsageError, listed
from pipeline.report import Comparison
from pipeline.text import one_line
from pipeline.warehouse import Warehouse, open_warehouse

FEWEST_CHECKPOINTS = 3
MARGIN = 0.02
OTHERS = "select run_id from staging.run_order where benchmark = ? and run_id <> ? order by place"
TALLIES = """
    select base_n_scored, candidate_n_scored, base_n_passed, candidate_n_passed
    from comparison_tasks
    where base = ? and candidate = ? and is_common
        and base_n_passed is not null and candidate_n_passed is not null
    order by all
"""
MOST_TASKS = 10
TURNS = ("learned", "forgotten", "rising", "falling")
SERIES_RUNS = """
    select
        series, place, run_id, step, n_tasks, pass_at_1, mean_reward, n_common_tasks,
        common_pass_at_1, change, common_mean_reward, reward_change
    from series
    order by series, place
"""
# A task may be learned and rise: it is listed once, where more is said of it.
SERIES_TASKS = """
    with turns as (
        select
            tasks.*,
            first_run_id || '/' || task_id as first_citation,
            last_run_id || '/' || task_id as last_citation,
            case
                when is_learned then 'learned'
                when is_forgotten then 'forgotten'
                when q_value < 0.05 and slope > 0 then 'rising'
                when q_value < 0.05 and slope < 0 then 'falling'
            end as turn,
            row_number() over (
                partition by series, turn
                order by p_value nulls last, abs(last_rate - first_rate) desc, task_id
            ) as place
        from series_tasks as tasks
        inner join series_counts using (series)
    )
    select
        series, turn, task_id, n_scored, n_passed, rates, slope, p_value, q_value,
        expected_learned, expected_forgotten, first_citation, last_citation
    from turns
    where turn is not null and place <= ?
    order by series, turn, place
"""


def by_metric(found: list[Comparison], metric: str | None, *, is_asked: bool) -> list[Comparison]:
    """The comparisons by one metric alone, where one is asked for and they have it."""
    chosen = [
        replace(each, changes=[one for one in each.changes if metric in (None, one.metric)])
        for each in found
    ]
    without = [each.candidate for each in chosen if not each.changes]
    if without and (is_asked or len(without) == len(chosen)):
        raise UsageError(
            f"{without[0]} cannot be compared by {metric}: nothing says which reward passes.",
            hint="Analyze again with --pass-threshold, or compare by mean_reward.",
        )
    return [each for each in chosen if each.changes]


@contextmanager
def compared(
    path: Path, names: Sequence[str], *, margin: float, rerun: str | None = None
) -> Iterator[tuple[Warehouse, list[Comparison]]]:
    """The comparisons asked for: of the runs named, or all that the analysis made."""
    with open_warehouse(path) as opened:
        made = [] if names else report.comparisons(opened)
        named = [(each.benchmark, each.base, each.candidate) for each in made if each.is_named]
        pairs = [
            run.Pair(*pair, is_named=True, margin=margin)
            for pair in (_asked(opened, names) if names else named)
        ]
        if not pairs:
            yield opened, made
            return
    reruns = [] if rerun is None else _rerun_pairs(pairs, rerun)
    with run.compare(path, [*pairs, *reruns]) as overlaid:
        wanted = {(pair.base, pair.candidate) for pair in pairs}
        found = report.comparisons(overlaid)
        chosen = [each for each in found if (each.base, each.candidate) in wanted]
        yield overlaid, [*chosen, *(each for each in made if not each.is_named)]


def flip_signs(found: Sequence[Comparison]) -> list[Row]:
    """What the failing side shows on tasks that only one run of a comparison fails."""
    return [dict(row.values) for each in found for row in each.flip_signs]


def _asked(opened: Warehouse, words: Sequence[str]) -> list[tuple[str, str, str]]:
    first = find_run(opened, words[0])
    base, benchmark = first["run_id"], first["benchmark"]
    named = [find_run(opened, word, within=benchmark)["run_id"] for word in words[1:]]
    candidates = named or opened.column(OTHERS, benchmark, base)
    if not candidates:
        raise UsageError(
            f"{one_line(base, LONGEST_NAME)} is the only run of its benchmark.",
            hint=f"Name a candidate. Runs: {listed(run_names(opened))}",
        )
    _check_once([base, *named])
    return [(benchmark, base, candidate) for candidate in candidates]


def _rerun_pairs(pairs: Sequence[run.Pair], rerun: str) -> list[run.Pair]:
    """The base and its rerun, unless they are compared anyway; no candidate, so no verdict."""
    base, *others = dict.fromkeys(pair.base for pair in pairs)
    if others:
        raise UsageError(
            f"--rerun: of which base? There are {listed([base, *others])}.",
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
    """The runs named as checkpoints, in their order, and the benchmark of all of them."""
    if len(words) < FEWEST_CHECKPOINTS:
        hint = "Name them in the order of training."
        raise UsageError("a series is three runs or more.", hint=hint)
    found = [find_run(opened, word) for word in words]
    names = [run["run_id"] for run in found]
    _check_once(names)
    benchmarks = sorted({run["benchmark"] for run in found})
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
    """The rule of the verdict on a candidate, and that of the policy where there is one.

    At these tasks and repeats; by simulation, or by a rerun of the base.
    """
    source = "simulation" if rerun is None else "rerun"
    said = {"base": each.base, "candidate": each.candidate, "source": source, "rerun": rerun}
    counts = opened.rows(TALLIES, each.base, rerun or each.candidate)
    if not counts:
        return {**said, "n_tasks": 0, "rates": None, "policy": []}
    table = np.array([list(row.values()) for row in counts], dtype=np.int64)
    n_base, n_other, passed, passed_other = table.T

    both = passed + passed_other
    given = both if rerun is not None else shrunken_rates(both, n_base + n_other)
    shown = simulated(n_base, n_other, given, is_rerun=rerun is not None)

    def at(limit: float, unseen: float | None) -> Row:
        own = shown if unseen is None or shown is None else allowing(shown, unseen)
        passes, fails = (own.is_above(limit), own.is_below(limit)) if own else (np.nan, np.nan)
        return {
            "threshold": limit,
            "fail": float(np.mean(fails)),
            "pass": float(np.mean(passes)),
        }

    # What pass@1 must be beyond for the policy not to fail.
    limits = [
        (metric["threshold"], one["unseen"])
        for one in gates
        if one["candidate"] == each.candidate
        for metric in one["metrics"]
        if (metric["metric"], metric["direction"]) == ("pass_at_1", "higher")
    ]
    return {
        **said,
        "n_tasks": len(counts),
        "n_simulations": N_SIMULATIONS,
        "rates": false_alarms(shown, margin=margin),
        "policy": [at(*limit) for limit in limits],
    }


def series(path: Path, words: Sequence[str]) -> list[Row]:
    """The series that the analysis found, or the one of the runs named."""
    with open_warehouse(path) as opened:
        if not words:
            return every_series(opened)
        names, benchmark = _series(opened, words)
    with run.follow(path, names, benchmark=benchmark) as overlaid:
        return every_series(overlaid)


def compared_objects(
    path: Path, names: Sequence[str], *, metric: str | None, margin: float = MARGIN
) -> Row:
    """The same as `blade compare --json` prints it: comparisons, and the signs of their flips."""
    with compared(path, names, margin=margin) as (_, found):
        found = by_metric(found, metric, is_asked=bool(names))
        return {
            "comparisons": report.sidecar.comparison_objects(found),
            "flip_signs": flip_signs(found),
        }


def every_series(warehouse: Warehouse) -> list[Row]:
    """Every series with its runs in order, its counts, and the clearest tasks of each kind."""
    runs = grouped(warehouse.rows(SERIES_RUNS), "series")
    tasks = grouped(warehouse.rows(SERIES_TASKS, MOST_TASKS), "series")
    return [
        {
            **counts,
            "runs": runs[counts["series"]],
            **{turn: [] for turn in TURNS},
            **grouped(tasks[counts["series"]], "turn"),
        }
        for counts in warehouse.rows("from series_counts order by series")
    ]
