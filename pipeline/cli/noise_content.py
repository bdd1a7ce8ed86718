"""How often the rule that decides would fire if nothing had changed, at these tasks and repeats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from pipeline.analysis import stats
from pipeline.analysis.false_alarms import (
    FalseAlarms,
    Fires,
    excludes_zero,
    false_alarm_rate,
    rerun_false_alarm_rate,
    shrunken_rates,
)
from pipeline.cli.lookup import Row, rows
from pipeline.profile import gate
from pipeline.report import Comparison
from pipeline.warehouse import Warehouse

TALLIES = """
    select base_n_scored, candidate_n_scored, base_n_passed, candidate_n_passed
    from comparison_tasks
    where base = ? and candidate = ? and is_common and base_n_passed is not null
      and candidate_n_passed is not null
    order by all
"""


def false_alarms(
    warehouse: Warehouse,
    found: Sequence[Comparison],
    gates: Sequence[gate.Gate],
    *,
    margin: float,
    rerun: str | None,
) -> list[Row]:
    """For every candidate: the rule of the verdict, and that of the policy where there is one."""
    return [
        {
            "base": each.base,
            "candidate": each.candidate,
            "source": "simulation" if rerun is None else "rerun",
            "rerun": rerun,
            **_alarms(warehouse, each, margin, rerun, _thresholds(gates, each)),
        }
        for each in found
    ]


def _thresholds(gates: Sequence[gate.Gate], each: Comparison) -> list[float]:
    """What pass@1 must be beyond for the policy not to fail."""
    return [
        judgement.criterion.threshold
        for one in gates
        if one.compared.candidate == each.candidate
        for judgement in one.judgements
        if judgement.criterion.metric == "pass_at_1" and judgement.criterion.sign == 1
    ]


def _alarms(
    warehouse: Warehouse, each: Comparison, margin: float, rerun: str | None, limits: list[float]
) -> Row:
    counts = _counts(warehouse, each.base, rerun or each.candidate)
    if not len(counts):
        return {"n_tasks": 0, "rates": None, "policy": []}

    n_base, n_other, passed, passed_other = counts.T

    def asked(fires: Fires) -> FalseAlarms:
        if rerun is not None:
            return rerun_false_alarm_rate(
                n_base, n_other, passed, passed_other, margin=margin, fires=fires
            )
        rates = shrunken_rates(passed + passed_other, n_base + n_other)
        return false_alarm_rate(n_base, n_other, rates, margin=margin, fires=fires)

    found = asked(excludes_zero)
    return {
        "n_tasks": len(counts),
        "n_simulations": found.n_simulations,
        "rates": {
            "improved": found.improved,
            "regressed": found.regressed,
            "either": found.either,
            "no_change": found.within_margin,
        },
        "policy": [
            {
                "threshold": limit,
                "fail": asked(partial(_is_below, limit)).either,
                "pass": asked(partial(_is_above, limit)).either,
            }
            for limit in limits
        ],
    }


def _is_below(limit: float, _low: stats.Numbers, high: stats.Numbers) -> stats.Mask:
    return np.asarray(high < limit)


def _is_above(limit: float, low: stats.Numbers, _high: stats.Numbers) -> stats.Mask:
    return np.asarray(low > limit)


def _counts(
    warehouse: Warehouse, base: str, other: str
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    found = [tuple(row.values()) for row in rows(warehouse, TALLIES, base, other)]
    return np.array(found, dtype=np.int64).reshape(len(found), 4)
