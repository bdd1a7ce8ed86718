"""Every metric of a run by its definition: slow, exact, and meant to be read.

Written from STATISTICS.md; nothing here is taken from `pipeline`. What is undefined is None.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.reference_run import (
    NOTHING,
    Key,
    Run,
    maj_at,
    max_at,
    mean,
    pass_at,
    pass_hat,
    ratio,
    root,
    variance,
)
from tests.uncertainty_reference import se_if_doubled, variance_split

INFRASTRUCTURE = frozenset({"transient", "remote_agent_error", "judge_failed"})
POLICIES = ("dropped", "counted_as_fail", "infrastructure_dropped")
BUCKETS = ("always", "sometimes", "never", "missing")


def curve(run: Run) -> dict[int, dict[str, Any]]:
    """By k: how many tasks have so many scored repeats, and the mean of each figure over them."""
    rewards, verdicts, votes = run.rewards(), run.verdicts(), run.votes()
    points: dict[int, dict[str, Any]] = {}
    for k in range(1, max(map(len, rewards.values()), default=0) + 1):
        points[k] = {
            "n_tasks": sum(len(actual) >= k for actual in rewards.values()),
            "pass_at": _over_tasks(verdicts, k, pass_at),
            "pass_hat": _over_tasks(verdicts, k, pass_hat),
            "max_at": _over_tasks(rewards, k, max_at),
            "maj_at": _over_tasks(votes, k, maj_at),
            "pass_at_1": _over_tasks(verdicts, k, lambda items, _: pass_at(items, 1)),
        }
    for point in points.values():
        for name, value in (("retry_value", "pass_at"), ("majority_value", "maj_at")):
            figures = (point[value], point["pass_at_1"])
            is_known = len(points) > 1 and None not in figures
            point[name] = figures[0] - figures[1] if is_known else None
    return points


def _over_tasks(
    tasks: Mapping[str, Sequence[Any]], k: int, figure: Callable[[Any, int], Fraction | None]
) -> Fraction | None:
    actual = [figure(items, k) for items in tasks.values() if len(items) >= k]
    return mean([value for value in actual if value is not None])


def modal_repeats(run: Run) -> int | None:
    """How many scored repeats most scored tasks have; the larger number on a tie."""
    counts = Counter(map(len, run.rewards().values()))
    return max(counts, key=lambda n: (counts[n], n), default=None)


def task_outcomes(run: Run) -> dict[str, dict[str, Any]]:
    """How each task of the grid fared."""
    rewards, verdicts = run.rewards(), run.verdicts()
    by_name = {}
    for task in run.tasks():
        cells = [key for key in run.grid() if key[0] == task]
        own, passed = rewards.get(task, []), verdicts.get(task, [])
        is_known = run.threshold is not None
        by_name[task] = {
            "n_expected": None
            if run.expected is None
            else sum(key in run.expected for key in cells),
            "n_rollouts": sum(key in run.rollouts for key in cells),
            "n_scored": len(own),
            "n_passed": sum(passed) if is_known else None,
            "pass_rate": mean(passed) if is_known else None,
            "mean_reward": mean(own),
            "reward_std": root(variance(own)),
            "min_reward": min(own, default=None),
            "max_reward": max(own, default=None),
            "bucket": bucket(len(own), passed, is_known=is_known),
            "is_partial": len(own) < len(cells),
            "is_consistent": is_consistent(run, cells) if is_known else None,
        }
    return by_name


def bucket(n_scored: int, passed: Sequence[bool], *, is_known: bool) -> str | None:
    if n_scored == 0:
        return "missing"
    if not is_known:
        return None
    if all(passed):
        return "always"
    return "sometimes" if any(passed) else "never"


def is_consistent(run: Run, cells: Sequence[Key]) -> bool:
    """Did all that was expected of the task pass? Of what was recorded, where nothing says so."""
    request = [
        k for k in cells if (k in run.rollouts if run.expected is None else k in run.expected)
    ]
    return bool(request) and all(_is_pass(run, key) for key in request)


def _is_pass(run: Run, key: Key) -> bool:
    row = run.rollouts.get(key)
    return row is not None and row.reward is not None and run.passes(row.reward)


def bucket_counts(run: Run) -> dict[str, dict[str, Any]]:
    """Tasks by bucket; without a threshold only the missing can be counted."""
    outcomes = list(task_outcomes(run).values())
    by_name: dict[str, dict[str, Any]] = {}
    for name in BUCKETS:
        inside = [outcome for outcome in outcomes if outcome["bucket"] == name]
        is_known = run.threshold is not None or name == "missing"
        by_name[name] = {
            "n_tasks": len(inside) if is_known else None,
            "task_rate": ratio(len(inside), len(outcomes)) if is_known else None,
            "n_partial_tasks": sum(o["is_partial"] for o in inside) if is_known else None,
        }
    return by_name


def bucket_matrix(runs: Mapping[str, Run]) -> dict[str, dict[str, Any]]:
    """How each task fared across the runs of a benchmark."""
    by_run = {name: task_outcomes(run) for name, run in runs.items()}
    matrix = {}
    for task in sorted({task for outcomes in by_run.values() for task in outcomes}):
        by_name = {name: outcomes[task] for name, outcomes in by_run.items() if task in outcomes}
        buckets = {name: outcome["bucket"] for name, outcome in by_name.items()}
        scored = sum(outcome["n_scored"] for outcome in by_name.values())
        passed = [o["n_passed"] for o in by_name.values() if o["n_passed"] is not None]
        rates = [o["pass_rate"] for o in by_name.values() if o["pass_rate"] is not None]
        if "missing" in buckets.values():
            across: str | None = "missing"
        elif None in buckets.values():
            across = None
        else:
            n = sum(passed)
            across = "always" if n == scored else "sometimes" if n else "never"
        matrix[task] = {
            "buckets": buckets,
            "bucket_across": across,
            "n_runs": len(by_name),
            "n_runs_missing": list(buckets.values()).count("missing"),
            "n_scored": scored,
            "n_passed": sum(passed) if passed else None,
            "best_pass_rate": max(rates, default=None),
            "worst_pass_rate": min(rates, default=None),
        }
    return matrix


def denominators(run: Run) -> dict[str, dict[str, Any]]:
    """pass@1 under each policy, with what it would be if all that was left out failed or passed."""
    cells = defaultdict(list)
    for key in run.grid():
        cells[key[0]].append(key)
    by_policy: dict[str, dict[str, Any]] = {}
    for policy in POLICIES if cells else ():
        counted = {t: [k for k in keys if _is_counted(run, k, policy)] for t, keys in cells.items()}
        tasks = {task: keys for task, keys in counted.items() if keys}
        n_counted = sum(map(len, counted.values()))
        figures: dict[str, Any] = {
            "n_tasks": len(tasks),
            "n_rollouts": n_counted,
            "n_left_out": len(run.grid()) - n_counted,
            "n_passed": None,
            "pass_at_1": None,
            "rollout_pass_rate": None,
            "pass_at_1_worst": None,
            "pass_at_1_best": None,
        }
        if run.threshold is not None:
            n_passed = {task: sum(_is_pass(run, k) for k in keys) for task, keys in tasks.items()}
            worst = [Fraction(n_passed.get(t, 0), len(keys)) for t, keys in cells.items()]
            best = [
                Fraction(n_passed.get(t, 0) + len(keys) - len(counted[t]), len(keys))
                for t, keys in cells.items()
            ]
            is_bounded = run.expected is not None or figures["n_left_out"] > 0
            figures |= {
                "n_passed": sum(n_passed.values()),
                "pass_at_1": mean([Fraction(n_passed[t], len(tasks[t])) for t in tasks]),
                "rollout_pass_rate": ratio(sum(n_passed.values()), n_counted),
                "pass_at_1_worst": mean(worst) if is_bounded else None,
                "pass_at_1_best": mean(best) if is_bounded else None,
            }
        by_policy[policy] = figures
    return by_policy


def _is_counted(run: Run, key: Key, policy: str) -> bool:
    outcome = run.outcome(key)
    if outcome == "scored" or policy == "counted_as_fail":
        return True
    return policy == "infrastructure_dropped" and not is_infrastructure(run, key)


def is_infrastructure(run: Run, key: Key) -> bool:
    """Killed (no row anywhere), or failed in one of the three ways that are not the model's."""
    return run.outcome(key) == "missing" or run.failures.get(key) in INFRASTRUCTURE


# The headline


def run_metrics(run: Run) -> dict[str, Any]:
    """The figures of a run, with the counts they are made of."""
    outcomes = task_outcomes(run)
    buckets = bucket_counts(run)
    rewards, verdicts = run.rewards(), run.verdicts()
    ends = Counter(map(run.outcome, run.grid()))
    is_pass_known, is_expected_known = run.threshold is not None, run.expected is not None
    expected = run.expected or frozenset()
    n_passed = sum(map(sum, verdicts.values()))
    repeats = [len(actual) for actual in rewards.values()]
    rate = mean([mean(actual) or NOTHING for actual in verdicts.values()])
    at_least_once = mean([any(actual) for actual in verdicts.values()])
    k = modal_repeats(run)
    enough = [actual for actual in verdicts.values() if k is not None and len(actual) >= k]
    at_k = mean([pass_at(actual, k) or NOTHING for actual in enough]) if k is not None else None
    once = mean([mean(actual) or NOTHING for actual in enough])
    within, between = variance_split(run)
    twice_the_tasks, twice_the_repeats = se_if_doubled(run)
    return {
        "n_tasks": len(outcomes),
        "n_scored_tasks": len(rewards),
        "n_partial_tasks": sum(outcome["is_partial"] for outcome in outcomes.values()),
        "n_always_tasks": buckets["always"]["n_tasks"],
        "n_sometimes_tasks": buckets["sometimes"]["n_tasks"],
        "n_never_tasks": buckets["never"]["n_tasks"],
        "n_missing_tasks": buckets["missing"]["n_tasks"],
        "n_rollouts": len(run.rollouts),
        "n_expected": len(expected) if is_expected_known else None,
        "n_unexpected": len(set(run.rollouts) - expected) if is_expected_known else None,
        "n_scored": ends["scored"],
        "n_unscored": ends["unscored"],
        "n_failed_attempts": ends["failed attempt"] if is_expected_known else None,
        "n_missing": ends["missing"] if is_expected_known else None,
        "n_passed": n_passed if is_pass_known else None,
        "n_failed": ends["scored"] - n_passed if is_pass_known else None,
        "pass_threshold": run.threshold,
        "k": k,
        "k_min": min(repeats, default=None),
        "k_max": max(repeats, default=None),
        "pass_at_1": rate,
        "rollout_pass_rate": ratio(n_passed, ends["scored"]) if is_pass_known else None,
        "pass_at_k": at_k,
        "any_pass_rate": at_least_once,
        "mean_reward": mean([mean(actual) or NOTHING for actual in rewards.values()]),
        "min_reward": min((min(actual) for actual in rewards.values()), default=None),
        "max_reward": max((max(actual) for actual in rewards.values()), default=None),
        "is_graded": any(
            min(abs(r), abs(r - 1)) > 1e-9 for actual in rewards.values() for r in actual
        ),
        "consistency": consistency(run, outcomes),
        "coverage": ratio(sum(run.outcome(key) == "scored" for key in expected), len(expected))
        if is_expected_known
        else None,
        "retry_value": at_k - once
        if at_k is not None and once is not None and k is not None and k > 1
        else None,
        "within_variance": within,
        "between_variance": between,
        "se_with_twice_the_tasks": twice_the_tasks,
        "se_with_twice_the_repeats": twice_the_repeats,
    }


def consistency(run: Run, outcomes: Mapping[str, Mapping[str, Any]]) -> Fraction | None:
    """Tasks of which all that was expected passed; undefined where nothing was to be repeated."""
    request = [outcome["n_expected"] or 0 for outcome in outcomes.values()]
    recorded = [outcome["n_rollouts"] for outcome in outcomes.values()]
    if run.threshold is None or max([*recorded, *request], default=0) < 2:
        return None
    own = [o for o in outcomes.values() if run.expected is None or o["n_expected"] > 0]
    return ratio(sum(outcome["is_consistent"] for outcome in own), len(own))


# Resources and components


def quantile(values: Sequence[float], q: float) -> Fraction:
    """Between neighbours by distance: the value at place q (n - 1) of the sorted values."""
    ranked = sorted(map(Fraction, values))
    place = Fraction(q).limit_denominator(1000) * (len(ranked) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (place - below) * (ranked[above] - ranked[below])


def resource_stats(run: Run) -> dict[tuple[str, str], dict[str, Any]]:
    """What scored rollouts cost, by how they ended."""
    actual = defaultdict(list)
    for row in run.rollouts.values():
        if row.reward is None:
            continue
        ended = "unsettled"
        if run.threshold is not None:
            ended = "passed" if run.passes(row.reward) else "failed"
        for measure, value in row.measures.items():
            actual[ended, measure].append(value)
    return {
        key: {
            "n_rollouts": len(values),
            "median": quantile(values, 0.5),
            "mean": mean(list(map(Fraction, values))),
            "p90": quantile(values, 0.9),
            "max": max(values),
        }
        for key, values in actual.items()
    }


def reward_components(run: Run) -> dict[str, dict[str, Any]]:
    """The mean of each component over tasks, and over passing and failing rollouts."""
    actual: dict[str, list[tuple[str, bool | None, Fraction]]] = defaultdict(list)
    for (task, _), row in run.rollouts.items():
        is_pass = None
        if row.reward is not None and run.threshold is not None:
            is_pass = run.passes(row.reward)
        for name, value in row.components.items():
            actual[name].append((task, is_pass, Fraction(value)))
    figures = {}
    for name, entries in actual.items():
        by_task = defaultdict(list)
        for task, _, value in entries:
            by_task[task].append(value)
        figures[name] = {
            "n_tasks": len(by_task),
            "n_rollouts": len(entries),
            "mean_value": mean([mean(values) or NOTHING for values in by_task.values()]),
            "min_value": min(value for _, _, value in entries),
            "max_value": max(value for _, _, value in entries),
            "mean_when_passed": mean([value for _, passed, value in entries if passed]),
            "mean_when_failed": mean([value for _, passed, value in entries if passed is False]),
        }
    return figures
