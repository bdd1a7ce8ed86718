"""What ledgers cannot say in SQL: a funnel's steps, intervals, and what noise alone would move."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.columns import nullable, numbers
from pipeline.relation import Computed

LINE_KEY = ("base", "candidate", "metric", "policy", "ledger", "slice_key", "line", "effect")
BUCKETS = ("always", "sometimes", "never")
EFFECTS = {
    "base": pa.string(),
    "candidate": pa.string(),
    "metric": pa.string(),
    "line": pa.string(),
    "effect": pa.string(),
    "amount": pa.float64(),
}
NOISE = {
    "base": pa.string(),
    "candidate": pa.string(),
    "line": pa.string(),
    "n_tasks": pa.float64(),
    "amount": pa.float64(),
}


def ledger_intervals(lines: pa.Table) -> pa.Table:
    """The interval of each line that is a mean of differences; none where nothing varies."""
    amount, se, n_units = (numbers(lines[name]) for name in ("amount", "se", "n_units"))
    low, high = stats.change_interval(
        amount, se, n_units, is_bounded=np.zeros(len(amount), dtype=bool)
    )
    key: dict[str, Any] = {name: lines[name] for name in LINE_KEY}
    return pa.table({**key, "ci_low": nullable(low), "ci_high": nullable(high)})


def funnel_effects(ends: pa.Table) -> pa.Table:
    """What each step of the funnel gave to a change, and what rewards of those who end there."""
    rows: list[dict[str, Any]] = []
    for (base, candidate), own in groupby(
        ends.to_pylist(), key=lambda end: (end["base"], end["candidate"])
    ):
        steps = list(own)
        names = [step["stage"] for step in steps]
        for metric in ("pass_at_1", "mean_reward"):
            if metric == "pass_at_1" and names[-1] != "passed":
                continue
            amounts, rest = stats.shapley_steps(
                *(_rates(steps, side) for side in ("base", "candidate")),
                *(_endings(steps, side, metric) for side in ("base", "candidate")),
            )
            told = [*zip(names[1:], ["step"] * len(amounts), amounts, strict=True)]
            told += zip(names, ["reward"] * len(rest), rest, strict=True)
            rows += [
                {"base": base, "candidate": candidate, "metric": metric}
                | {"line": line, "effect": effect, "amount": float(value)}
                for line, effect, value in told
                if effect == "step" or value != 0
            ]
    return pa.Table.from_pylist(rows, schema=pa.schema(EFFECTS))


def _rates(steps: list[dict[str, Any]], side: str) -> stats.Numbers:
    """Of those that came to each step, the share that took it; undefined where none came."""
    weights = np.array([step[f"{side}_weight"] for step in steps])
    reached = np.cumsum(weights[::-1])[::-1]
    with np.errstate(all="ignore"):
        return np.where(reached[:-1] > 0, reached[1:] / reached[:-1], np.nan)


def _endings(steps: list[dict[str, Any]], side: str, metric: str) -> stats.Numbers:
    """What those that end at each step are worth: of passes all, of others nothing, or rewards."""
    if metric == "pass_at_1":
        return np.array([0.0] * (len(steps) - 1) + [1.0])
    weights, rewards = (
        np.array([step[f"{side}_{name}"] for step in steps]) for name in ("weight", "reward")
    )
    with np.errstate(all="ignore"):
        return np.where(weights > 0, rewards / weights, np.nan)


def transition_noise(tallies: pa.Table) -> pa.Table:
    """How many tasks would go from bucket to bucket if both runs were one model's."""
    rows: list[dict[str, Any]] = []
    for (base, candidate), own in groupby(
        tallies.to_pylist(), key=lambda tally: (tally["base"], tally["candidate"])
    ):
        alike = list(own)
        n_alike = [tally["n_tasks"] for tally in alike]
        counts, amounts = stats.expected_transitions(
            *(
                np.repeat([tally[name] for tally in alike], n_alike)
                for name in ("n_base", "n_candidate", "n_passed")
            )
        )
        n_all = sum(n_alike)
        rows += [
            {"base": base, "candidate": candidate, "line": f"{before} to {after}"}
            | {"n_tasks": float(counts[i, j]), "amount": float(amounts[i, j]) / n_all}
            for i, before in enumerate(BUCKETS)
            for j, after in enumerate(BUCKETS)
        ]
    return pa.Table.from_pylist(rows, schema=pa.schema(NOISE))


LEDGER_INTERVALS = Computed(
    name="staging.ledger_intervals",
    purpose="The interval of each line of a ledger that has one.",
    grain=LINE_KEY,
    is_table=True,
    query="select * from staging.ledger_lines where se is not null",
    compute=ledger_intervals,
)
FUNNEL_EFFECTS = Computed(
    name="staging.funnel_effects",
    purpose="What each step of the funnel gave to the change between two runs.",
    grain=("base", "candidate", "metric", "line", "effect"),
    is_table=True,
    query="""
        select
            stages.base,
            stages.candidate,
            stages.step_no,
            stages.stage,
            coalesce(bases.weight, 0) as base_weight,
            coalesce(bases.reward, 0) as base_reward,
            coalesce(candidates.weight, 0) as candidate_weight,
            coalesce(candidates.reward, 0) as candidate_reward
        from (
            select base, candidate, step_no, stage from staging.pair_stages
            union all
            select base, candidate, 0 as step_no, 'none' as stage from staging.run_pairs
        ) as stages
        left join staging.funnel_ends as bases
            on bases.base = stages.base
            and bases.candidate = stages.candidate
            and bases.step_no = stages.step_no
            and bases.side = 'base'
        left join staging.funnel_ends as candidates
            on candidates.base = stages.base
            and candidates.candidate = stages.candidate
            and candidates.step_no = stages.step_no
            and candidates.side = 'candidate'
        order by stages.base, stages.candidate, stages.step_no
    """,
    compute=funnel_effects,
)
TRANSITION_NOISE = Computed(
    name="staging.transition_noise",
    purpose="How many tasks would change buckets if both runs were one model's.",
    grain=("base", "candidate", "line"),
    is_table=True,
    query="""
        select
            base,
            candidate,
            base_n_scored as n_base,
            candidate_n_scored as n_candidate,
            base_n_passed + candidate_n_passed as n_passed,
            count(*) as n_tasks
        from main.comparison_tasks
        where is_common and base_n_passed is not null and candidate_n_passed is not null
        group by all
        order by all
    """,
    compute=transition_noise,
)
