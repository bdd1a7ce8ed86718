"""Why the score changed, by the definitions: five ledgers, each line a part of one change.

Written from STATISTICS.md; nothing here is taken from `pipeline`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations
from typing import Any

from tests.comparison_reference import Pair, Side, comparison, interval
from tests.reference_run import NOTHING, mean, variance

# metric, policy, ledger, slice key, line, effect
LineKey = tuple[str, str, str, str, str, str]
UNITS = {"pass_at_1": 1000, "mean_reward": 10_000}


@dataclass(frozen=True)
class Line:
    """What a line adds to the change, of how many tasks, and where it would lie on new ones."""

    amount: Fraction
    n_tasks: int | None = None
    ci: tuple[float | None, float | None] = (None, None)
    noise: tuple[Fraction, Fraction | None] | None = None
    is_reversal: bool = False


Lines = dict[LineKey, Line]


def ledgers(
    pair: Pair, slices: Mapping[str, str] | None, stages: Sequence[str]
) -> tuple[Lines, dict[tuple[str, str, str], Fraction]]:
    """Every line of every ledger, and the change that each ledger adds up to.

    `stages` are those that scored rollouts of both runs can reach; `slices` one field of tasks.
    """
    lines: Lines = {}
    totals: dict[tuple[str, str, str], Fraction] = {}
    for metric in ("pass_at_1", "mean_reward") if pair.is_settled() else ("mean_reward",):
        if not pair.common:
            continue
        reported = comparison(pair, metric)
        parts = {
            ("dropped", "task mix"): (task_mix(pair, metric, reported), reported["total_change"]),
            ("dropped", "bucket transitions"): (transitions(pair, metric), reported["delta"]),
            ("dropped", "failure modes"): (modes(pair, metric), reported["delta"]),
            ("dropped", "funnel"): (funnel(pair, metric, stages), reported["delta"]),
        }
        if slices is not None:
            by_slice = kitagawa(pair, metric, slices)
            parts["dropped", "slices"] = (by_slice, reported["total_change"])
        counted = reported["delta_counted_as_fail"]
        if (
            reported["is_expected_known"]
            and counted is not None
            and reported["bound_low"] < reported["bound_high"]
        ):
            key = ("counted_as_fail", "failure modes")
            parts[key] = (modes(pair, metric, is_counted=True), counted)
        for (policy, ledger), (own, total) in parts.items():
            totals[metric, policy, ledger] = total
            slice_key = "category" if ledger == "slices" else ""
            for (line, effect), value in own.items():
                lines[metric, policy, ledger, slice_key, line, effect] = value
    return lines, totals


Own = dict[tuple[str, str], Line]


def task_mix(pair: Pair, metric: str, reported: Mapping[str, Any]) -> Own:
    """What shared tasks changed, and what the others add to or take from each run's mean."""
    common = pair.common
    ci = (reported["ci_new_tasks_low"], reported["ci_new_tasks_high"])
    by_name: Own = {("tasks of both", ""): Line(reported["delta"], len(common), ci)}
    apart = [("base", "candidate", pair.base, -1), ("candidate", "base", pair.candidate, 1)]
    for name, other, side, sign in apart:
        values = {t: v for t in pair.tasks if (v := side.value(t, metric)) is not None}
        reasons: dict[str, list[Fraction]] = defaultdict(list)
        for task in sorted(values.keys() - set(common)):
            state = pair.pairing(task)
            if state == "contradicted":
                reason = f"another question in the {name}"
            elif state == f"{name} only":
                reason = f"only in the {name}"
            else:
                reason = f"not scored in the {other}"
            reasons[reason].append(values[task])
        centre = reported[f"{name}_common"]
        for reason, own in reasons.items():
            amount = sign * Fraction(len(own), len(values)) * ((mean(own) or NOTHING) - centre)
            by_name[reason, ""] = Line(amount, len(own))
    return by_name


def _averaged(parts: Mapping[str, Fraction], n_units: int, n_tasks: int) -> Line:
    """A mean over all tasks of what each contributes, most of them nothing."""
    values = [*parts.values(), *[NOTHING] * (n_units - len(parts))]
    amount, spread = mean(values) or NOTHING, variance(values)
    square = None if spread is None else spread / n_units
    return Line(amount, n_tasks, interval(amount, square, [1] * n_units, is_bounded=False))


def transitions(pair: Pair, metric: str) -> Own:
    """Tasks by the buckets they went between, beside what equal runs would show."""
    if not pair.is_settled():
        return {}
    cells: dict[str, dict[str, Fraction]] = defaultdict(dict)
    for task in pair.common:
        before, after = (side.bucket(task) for side in pair.sides)
        cells[f"{before} to {after}"][task] = pair.change(task, metric)
    noise = transition_noise(pair)
    n = len(pair.common)
    by_name = {}
    for cell, own in cells.items():
        line = _averaged(own, n, len(own))
        n_tasks, amount = noise[cell]
        # What noise moves is known of passes, not of rewards.
        beside = (n_tasks, amount if metric == "pass_at_1" else None)
        by_name[cell, ""] = Line(line.amount, line.n_tasks, line.ci, beside)
    return by_name


def transition_noise(pair: Pair) -> dict[str, tuple[Fraction, Fraction]]:
    """Tasks and change by cell if every rollout of a task could as well be the other run's."""
    actual: dict[str, tuple[Fraction, Fraction]] = defaultdict(lambda: (NOTHING, NOTHING))
    common = pair.common
    for task in common:
        base, candidate = (side.repeats(task, "pass_at_1") for side in pair.sides)
        n, m, passed = len(base), len(candidate), int(sum(base) + sum(candidate))
        for x in range(max(0, passed - m), min(n, passed) + 1):
            ways = math.comb(n, x) * math.comb(m, passed - x)
            chance = Fraction(ways, math.comb(n + m, passed))
            rates = Fraction(x, n), Fraction(passed - x, m)
            names = ["always" if r == 1 else "never" if r == 0 else "sometimes" for r in rates]
            n_tasks, amount = actual[" to ".join(names)]
            moved = chance * (rates[1] - rates[0]) / len(common)
            actual[" to ".join(names)] = (n_tasks + chance, amount + moved)
    return actual


def modes(pair: Pair, metric: str, *, is_counted: bool = False) -> Own:
    """What fewer failures of a mode give, or more of them take; of rewards what they fall short."""
    if not pair.is_settled():
        return {}
    tasks = pair.paired if is_counted else pair.common
    taken: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for side, sign in ((pair.base, 1), (pair.candidate, -1)):
        for task in tasks:
            for mode, share in _losses(side, task, metric, is_counted=is_counted).items():
                taken[mode][task] += sign * share
    by_name = {}
    for mode, own in taken.items():
        moved = {task: share for task, share in own.items() if share}
        if moved:
            by_name[mode, ""] = _averaged(moved, len(tasks), len(moved))
    return by_name


def _losses(side: Side, task: str, metric: str, *, is_counted: bool) -> dict[str, Fraction]:
    """What each mode takes from a task, each of its rollouts weighing alike."""
    keys = side.keys[task]
    scored = [key for key in keys if key in side.scored]
    counted = keys if is_counted else scored
    most = max(Fraction(1), Fraction(str(side.run.threshold)))
    actual: dict[str, Fraction] = defaultdict(Fraction)
    for key in counted:
        reward = NOTHING
        is_pass = False
        if key in scored:
            reward = side.scored[key]
            is_pass = side.run.passes(float(reward))
        loss = most - reward if metric == "mean_reward" else Fraction(not is_pass)
        actual["passed" if is_pass else side.modes[key]] += loss / len(counted)
    return actual


def funnel(pair: Pair, metric: str, stages: Sequence[str]) -> Own:
    """What each step's rate gave, averaged over all orders in which rates could have changed.

    Rewards differ by where a rollout ends too: what that gives is weighed by both runs' shares.
    """
    ends = [_ends(pair, side, metric, len(stages)) for side in pair.sides]
    shares, worth = ([own[part] for own in ends] for part in (0, 1))
    steps = _filled(*(_rates(own) for own in shares))
    values = _filled(*worth)
    middle = [(a + b) / 2 for a, b in zip(*values, strict=True)]
    by_name: Own = {}
    amounts = shapley(*steps, middle)
    for stage, amount in zip(stages, amounts, strict=True):
        by_name[stage, "step"] = Line(amount)
    reached = [_shares(own) for own in steps]
    for number, stage in enumerate(["none", *stages]):
        weight = (reached[0][number] + reached[1][number]) / 2
        amount = weight * (values[1][number] - values[0][number])
        if amount:
            by_name[stage, "reward"] = Line(amount)
    return by_name


def _ends(
    pair: Pair, side: Side, metric: str, n_stages: int
) -> tuple[list[Fraction], list[Fraction | None]]:
    """The share of rollouts that end after each stage, each task weighing alike; their worth."""
    common = pair.common
    shares, sums = [[NOTHING] * (n_stages + 1) for _ in range(2)]
    for task in common:
        keys = [key for key in side.keys[task] if key in side.scored]
        for key in keys:
            weight = Fraction(1, len(keys) * len(common))
            reward = side.scored[key]
            is_pass = metric == "pass_at_1" and side.run.passes(float(reward))
            worth = Fraction(is_pass) if metric == "pass_at_1" else reward
            shares[side.ends[key]] += weight
            sums[side.ends[key]] += weight * worth
    if metric == "pass_at_1":
        # The last stage is the pass.
        return shares, [*[NOTHING] * n_stages, Fraction(1)]
    return shares, [s / w if w else None for s, w in zip(sums, shares, strict=True)]


def _rates(shares: Sequence[Fraction]) -> list[Fraction | None]:
    """Of what came to each stage, the share that went on."""
    reached = [sum(shares[number:], NOTHING) for number in range(len(shares))]
    return [b / a if a else None for a, b in pairwise(reached)]


def _filled(
    base: Sequence[Fraction | None], candidate: Sequence[Fraction | None]
) -> tuple[list[Fraction], list[Fraction]]:
    """What is undefined takes the other run's."""
    both = list(zip(base, candidate, strict=True))
    filled = [(b if a is None else a, a if b is None else b) for a, b in both]
    return [a or NOTHING for a, _ in filled], [b or NOTHING for _, b in filled]


def _shares(rates: Sequence[Fraction]) -> list[Fraction]:
    """The share that ends at each stage, from the rates."""
    actual, remaining = [], Fraction(1)
    for rate in rates:
        actual.append(remaining * (1 - rate))
        remaining *= rate
    return [*actual, remaining]


def shapley(
    base: Sequence[Fraction], candidate: Sequence[Fraction], worth: Sequence[Fraction]
) -> list[Fraction]:
    """Each rate's part in the change of the mean worth, over all orders of changing them."""

    @cache
    def value(changed: frozenset[int]) -> Fraction:
        rates = [candidate[n] if n in changed else rate for n, rate in enumerate(base)]
        return sum((s * w for s, w in zip(_shares(rates), worth, strict=True)), NOTHING)

    amounts = [NOTHING] * len(base)
    for (before, step), n_orders in _orders(len(base)).items():
        if base[step] != candidate[step]:
            gain = value(before | {step}) - value(before)
            amounts[step] += gain * Fraction(n_orders, math.factorial(len(base)))
    return amounts


@cache
def _orders(n_steps: int) -> Counter[tuple[frozenset[int], int]]:
    """In how many orders each step comes right after these others."""
    actual: Counter[tuple[frozenset[int], int]] = Counter()
    for order in permutations(range(n_steps)):
        for place, step in enumerate(order):
            actual[frozenset(order[:place]), step] += 1
    return actual


def kitagawa(pair: Pair, metric: str, slices: Mapping[str, str]) -> Own:
    """What rates within slices changed, and what the slices' shares did."""
    values = [
        {t: v for t in pair.tasks if (v := side.value(t, metric)) is not None}
        for side in pair.sides
    ]
    common = set(pair.common)
    names = sorted({slices.get(task, "") for task in pair.tasks})
    by_name: Own = {}
    rates: list[Fraction] = []
    for name in names:
        own = [{t: v for t, v in side.items() if slices.get(t, "") == name} for side in values]
        if not any(own):
            continue
        weights = [Fraction(len(mine), len(all_)) for mine, all_ in zip(own, values, strict=True)]
        (base,), (candidate,) = _filled(*([mean(list(mine.values()))] for mine in own))
        shared = [t for t in own[0] if t in common and t in own[1]]
        rate = (weights[0] + weights[1]) / 2 * (candidate - base)
        ci: tuple[float | None, float | None] = (None, None)
        if set(own[0]) == set(own[1]) == set(shared):
            spread = variance([pair.change(t, metric) for t in shared])
            if spread is not None:
                square = spread / len(shared) * ((weights[0] + weights[1]) / 2) ** 2
                ci = interval(rate, square, [1] * len(shared), is_bounded=False)
        by_name[name, "rate"] = Line(rate, len(shared), ci)
        rates.append(candidate - base)
        if weights[0] != weights[1]:
            amount = (base + candidate) / 2 * (weights[1] - weights[0])
            by_name[name, "mix"] = Line(amount, len(own[0]) + len(own[1]) - len(shared))
    total = sum((line.amount for line in by_name.values()), NOTHING)
    is_reversal = (total > 0 and max(rates) <= 0 > min(rates)) or (
        total < 0 and min(rates) >= 0 < max(rates)
    )
    return {
        key: Line(line.amount, line.n_tasks, line.ci, is_reversal=is_reversal)
        for key, line in by_name.items()
    }
