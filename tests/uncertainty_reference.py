"""Standard errors, intervals and the variance split of a run's figures, by their formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from scipy.special import betaincinv, stdtrit

from tests.reference_run import NOTHING, Run, mean, pass_at, pass_hat, root, variance

LEVEL = 0.95
FEWEST_MIXED = 10


@dataclass(frozen=True)
class Estimate:
    """A figure with both of its standard errors and intervals."""

    value: Fraction
    n_tasks: int
    n_mixed_tasks: int
    n_groups: int
    se_new_tasks: float | None
    ci_new_tasks: tuple[float | None, float | None]
    se_same_tasks: float | None
    ci_same_tasks: tuple[float | None, float | None]


def estimates(run: Run) -> dict[tuple[str, int], Estimate]:
    """Every figure of a run that has an uncertainty, by metric and k."""
    rewards, verdicts = run.rewards(), run.verdicts()
    by_name = {}
    for k in range(1, max(map(len, verdicts.values()), default=0) + 1):
        tasks = {task: passed for task, passed in verdicts.items() if len(passed) >= k}
        failed = {task: [not p for p in passed] for task, passed in tasks.items()}
        by_name["pass_at", k] = _estimate(
            run,
            {task: pass_at(passed, k) for task, passed in tasks.items()},
            {task: subset_variance(fails, k) for task, fails in failed.items()},
            tasks,
        )
        by_name["pass_hat", k] = _estimate(
            run,
            {task: pass_hat(passed, k) for task, passed in tasks.items()},
            {task: subset_variance(passed, k) for task, passed in tasks.items()},
            tasks,
        )
    if rewards:
        own = {task: variance(values) for task, values in rewards.items()}
        by_name["mean_reward", 1] = _estimate(
            run,
            {task: mean(values) for task, values in rewards.items()},
            {t: None if v is None else v / len(rewards[t]) for t, v in own.items()},
            rewards,
        )
    return by_name


def subset_variance(holds: Sequence[bool], k: int) -> Fraction | None:
    """The unbiased variance of "all of k": F_k squared less F_2k; None with fewer than 2k repeats.

    For k = 1 this is p (1 - p) / (K - 1).
    """
    one, two = pass_hat(holds, k), pass_hat(holds, 2 * k)
    return None if one is None or two is None else one * one - two


def _estimate(
    run: Run,
    values: Mapping[str, Fraction | None],
    variances: Mapping[str, Fraction | None],
    items: Mapping[str, Sequence[Any]],
) -> Estimate:
    own = {task: value for task, value in values.items() if value is not None}
    value = mean(list(own.values()))
    assert value is not None
    groups = defaultdict(list)
    for task, figure in own.items():
        groups[run.groups.get(task, task)].append(figure)
    square_new = clustered_variance(list(groups.values()))
    square_same = same_tasks_variance(variances, {t: len(actual) for t, actual in items.items()})
    n_mixed = sum(min(actual) < max(actual) for actual in items.values())
    is_bounded = run.is_bounded
    return Estimate(
        value,
        len(own),
        n_mixed,
        len(groups),
        root(square_new),
        _observed(
            run, *new_tasks_interval(value, square_new, sizes(groups), is_bounded=is_bounded)
        ),
        root(square_same),
        _observed(
            run, *same_tasks_interval(value, root(square_same), n_mixed, is_bounded=is_bounded)
        ),
    )


def _observed(run: Run, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """The part of an interval within the rewards that the run has, where they leave 0 to 1."""
    if run.is_bounded or low is None or high is None:
        return low, high
    rewards = [row.reward for row in run.rollouts.values() if row.reward is not None]
    return max(low, min(rewards)), min(high, max(rewards))


def clustered_variance(groups: Sequence[Sequence[Fraction]]) -> Fraction | None:
    """The squared sums of groups' deviations, each over 1 - its share of tasks, over N squared.

    With groups of one task it is sd squared over n, with equal groups G/(G-1) times the squares.
    """
    everything = [value for group in groups for value in group]
    centre = mean(everything)
    if len(groups) < 2 or centre is None:
        return None
    n = len(everything)
    squares = sum(
        (sum(v - centre for v in group) ** 2 / (1 - Fraction(len(group), n)) for group in groups),
        NOTHING,
    )
    return squares / n**2


def degrees(own: Sequence[int]) -> float:
    """Satterthwaite's, from the matrix of how groups' adjusted residuals vary together."""
    n = sum(own)
    scale = [1 / math.sqrt(1 - size / n) for size in own]
    matrix = [
        [
            scale[g] * scale[h] * ((own[g] if g == h else 0) - own[g] * own[h] / n)
            for h in range(len(own))
        ]
        for g in range(len(own))
    ]
    trace = sum(matrix[g][g] for g in range(len(own)))
    return float(trace**2 / sum(value**2 for row in matrix for value in row))


def sizes(groups: Mapping[str, Sequence[Any]]) -> list[int]:
    """How many tasks each group has."""
    return [len(own) for own in groups.values()]


def same_tasks_variance(
    variances: Mapping[str, Fraction | None], repeats: Mapping[str, int]
) -> Fraction | None:
    """The mean's variance over new samples; tasks that show none take the pooled one."""
    pooled = mean([v * repeats[task] for task, v in variances.items() if v is not None])
    if pooled is None:
        return None
    each = [pooled / repeats[t] if v is None else v for t, v in variances.items()]
    return sum(each, NOTHING) / len(each) ** 2


def new_tasks_interval(
    value: Fraction, square: Fraction | None, own: Sequence[int], *, is_bounded: bool
) -> tuple[float | None, float | None]:
    """Wilson's with the effective size; the plain t interval where rewards have no bounds.

    With few that differ Clopper and Pearson's end.

    So many tasks as could all go unseen at 2.5% may be of the other kind: it is never narrower.
    """
    n_units = len(own)
    if square is None or n_units < 2:
        return None, None
    quantile = float(stdtrit(degrees(own), (1 + LEVEL) / 2))
    p, se = float(value), root(square)
    assert se is not None
    if not is_bounded:
        return p - quantile * se, p + quantile * se
    n = float(value * (1 - value) / square) if square else float(n_units)
    scale = 1 + quantile**2 / n
    centre = (p + quantile**2 / (2 * n)) / scale
    half = quantile / scale * math.sqrt(p * (1 - p) / n + quantile**2 / (4 * n * n))
    unseen = 1 - 0.025 ** (1 / n_units)
    low, high = min(centre - half, p * (1 - unseen)), max(centre + half, p + (1 - p) * unseen)
    # Of up to three that differ, and a fifth, the exact ends are further out.
    passed, failed = n * p, n * (1 - p)
    few = min(3, n / 5) + 1e-12
    if 1e-12 < passed <= few:
        low = min(low, float(betaincinv(passed, n - passed + 1, 0.025)))
    if 1e-12 < failed <= few:
        high = max(high, 1 - float(betaincinv(failed, n - failed + 1, 0.025)))
    return low, high


def same_tasks_interval(
    value: Fraction, se: float | None, n_mixed: int, *, is_bounded: bool
) -> tuple[float | None, float | None]:
    """The normal interval, only with at least ten mixed tasks."""
    if se is None or n_mixed < FEWEST_MIXED:
        return None, None
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * se
    low, high = float(value) - half, float(value) + half
    return (max(low, 0.0), min(high, 1.0)) if is_bounded else (low, high)


def variance_split(run: Run) -> tuple[Fraction | None, Fraction | None]:
    """Within and between, over tasks with more than one repeat."""
    rates = {t: (mean(p), len(p)) for t, p in run.verdicts().items() if len(p) > 1}
    own = {t: p * (1 - p) * n / (n - 1) for t, (p, n) in rates.items() if p is not None}
    spread = variance([p for p, _ in rates.values() if p is not None])
    noise = mean([own[t] / n for t, (_, n) in rates.items()])
    if spread is None or noise is None:
        return mean(list(own.values())), None
    return mean(list(own.values())), max(spread - noise, NOTHING)


def se_if_doubled(run: Run) -> tuple[float | None, float | None]:
    """The error for new tasks with twice the tasks, and with twice the repeats.

    Twice the tasks halve the variance of the mean; twice the repeats halve the sampling part,
    which is all of it at the most.
    """
    rates = [(mean(p), len(p)) for p in run.verdicts().values() if len(p) > 1]
    spread = variance([p for p, _ in rates if p is not None])
    if spread is None:
        return None, None
    noise = mean([p * (1 - p) / (n - 1) for p, n in rates if p is not None])
    assert noise is not None
    return (root(spread / (2 * len(rates))), root(max(spread - noise / 2, spread / 2) / len(rates)))
