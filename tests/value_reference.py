"""What modes, retries and interventions are worth, by definition: slow, exact, meant to be read.

Written from STATISTICS.md; nothing here is taken from `pipeline`. What is undefined is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.reference_run import NOTHING, Key, Run, maj_at, max_at, mean, pass_at

UNEXPLAINED = "UNEXPLAINED"
Modes = Mapping[Key, "list[Match]"]


@dataclass(frozen=True)
class Match:
    """A mode that an attempt has."""

    mode: str
    severity: int
    intervention: str | None
    is_primary: bool
    evidence_seq: int | None = None


def passed(run: Run, key: Key) -> bool:
    """Did this attempt of the grid pass? What was not scored did not."""
    row = run.rollouts.get(key)
    if run.threshold is None or row is None or row.reward is None:
        return False
    return run.passes(row.reward)


def scored(run: Run) -> dict[str, list[Key]]:
    """The scored attempts of each task that has any."""
    found: dict[str, list[Key]] = {}
    for key, row in sorted(run.rollouts.items()):
        if row.reward is not None:
            found.setdefault(key[0], []).append(key)
    return found


# Ablation


def least_affected(run: Run, severity: Callable[[Key], int]) -> Fraction | None:
    """The mean over tasks of how its least affected scored attempts fare, ties averaged."""
    values = []
    for keys in scored(run).values():
        least = min(map(severity, keys))
        tied = mean([passed(run, key) for key in keys if severity(key) == least])
        values.append(tied or NOTHING)
    return mean(values)


def ablation(run: Run, modes: Modes) -> dict[str, Fraction | None]:
    """pass@1 by step, without the reference run."""
    if run.threshold is None or not scored(run):
        return {}
    has_repeats = max(map(len, scored(run).values())) > 1
    names = sorted({match.mode for matches in modes.values() for match in matches} - {UNEXPLAINED})
    steps = {"baseline": least_affected(run, lambda key: 0)}

    def severity(key: Key, wanted: set[str]) -> int:
        return max((m.severity for m in modes.get(key, []) if m.mode in wanted), default=0)

    for name in names if has_repeats else ():
        steps[f"without {name}"] = least_affected(run, lambda key, name=name: severity(key, {name}))
    if names and has_repeats:
        steps["without all"] = least_affected(run, lambda key: severity(key, set(names)))
    any_pass = [any(passed(run, key) for key in keys) for keys in scored(run).values()]
    steps["oracle"] = mean(any_pass)
    return steps


def share(modes: Modes, name: str) -> tuple[int, int]:
    """Of how many attempts a mode is the primary one, and how many have it."""
    found = [m for matches in modes.values() for m in matches if m.mode == name]
    return sum(m.is_primary for m in found), len(found)


def on_common(run: Run, other: Run) -> tuple[int, Fraction, Fraction] | None:
    """How many tasks both scored, and the pass@1 of each on them."""
    common = sorted(set(run.verdicts()) & set(other.verdicts()))
    rates = [[mean(r.verdicts()[task]) or NOTHING for task in common] for r in (run, other)]
    own, others = mean(rates[0]), mean(rates[1])
    return None if own is None or others is None else (len(common), own, others)


# Retry and selection


def selection(run: Run) -> dict[int, dict[str, Any]]:
    """What each way to use k attempts is worth, over the tasks with so many scored ones."""
    rewards, verdicts, votes = run.rewards(), run.verdicts(), run.votes()
    most = max(map(len, rewards.values()), default=0)
    found = {}
    for k in range(1, most + 1):
        tasks = [task for task in rewards if len(rewards[task]) >= k]
        one = mean([pass_at(verdicts[t], 1) or NOTHING for t in tasks if t in verdicts])
        any_of = mean([pass_at(verdicts[t], k) or NOTHING for t in tasks if t in verdicts])
        majority = mean([maj_at(votes[t], k) or NOTHING for t in tasks if t in votes])
        found[k] = {
            "n_tasks": len(tasks),
            "pass_at_1": one,
            "pass_at": any_of,
            "maj_at": majority,
            "best_reward": mean([max_at(rewards[t], k) or NOTHING for t in tasks]),
            "retry_value": difference(any_of, one) if most > 1 else None,
            "majority_value": difference(majority, one) if most > 1 else None,
            "selection_gap": difference(any_of, majority) if most > 1 else None,
        }
    return found


def difference(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left - right


# What could be returned


def primary(modes: Modes, key: Key) -> Match | None:
    return next((match for match in modes.get(key, []) if match.is_primary), None)


def counted_as_fail(run: Run) -> Fraction:
    """pass@1 of the grid, what was not scored counted as failed."""
    return weighted(run, lambda key: Fraction(passed(run, key)))


def weighted(run: Run, value: Callable[[Key], Fraction]) -> Fraction:
    """A value of every attempt of the grid, each weighted 1 / (n E)."""
    repeats = {task: [key for key in run.grid() if key[0] == task] for task in run.tasks()}
    n = len(repeats)
    return sum((value(key) / (n * len(keys)) for keys in repeats.values() for key in keys), NOTHING)


def bracket(run: Run, is_affected: Callable[[Key], bool]) -> tuple[Fraction, Fraction]:
    """The gain if affected attempts did as well as the task's others, and if they all passed."""
    baseline = counted_as_fail(run)

    def as_the_others(key: Key) -> Fraction:
        if not is_affected(key):
            return Fraction(passed(run, key))
        others = [k for k in run.grid() if k[0] == key[0] and not is_affected(k)]
        return mean([passed(run, other) for other in others]) or NOTHING

    low = weighted(run, as_the_others)
    high = weighted(run, lambda key: Fraction(is_affected(key) or passed(run, key)))
    return low - baseline, high - baseline


def value(run: Run, keys: set[Key]) -> dict[str, Any]:
    """What is said of the attempts that a mode or an intervention is to blame for."""
    low, high = bracket(run, keys.__contains__)
    return {
        "n_rollouts": len(keys),
        "n_tasks": len({task for task, _ in keys}),
        "gain_low": low,
        "gain_high": high,
    }


def affected(
    run: Run, modes: Modes, of: Callable[[Match], str | None]
) -> Iterator[tuple[str, set[Key]]]:
    """Attempts by what their primary mode is, or by what would address it."""
    found: dict[str, set[Key]] = {}
    for key in run.grid():
        match = primary(modes, key)
        name = None if match is None else of(match)
        if name is not None:
            found.setdefault(name, set()).add(key)
    yield from sorted(found.items())


def citations(name: str, run: Run, modes: Modes, keys: set[Key]) -> list[str]:
    """Recorded attempts of the tasks that gain most, one of each before a second."""
    recorded = sorted(key for key in keys if key in run.rollouts)
    tasks = {
        task: sum(bracket(run, {k for k in keys if k[0] == task}.__contains__))
        for task, _ in recorded
    }
    by_task = sorted(tasks, key=lambda task: (-tasks[task], int(task)))[:5]
    chosen = []
    for rank, task in enumerate(by_task):
        own = [key for key in recorded if key[0] == task]
        own.sort(key=lambda key: (_evidence(modes, key) is None, key[1]))
        chosen += [(place, rank, key) for place, key in enumerate(own)]
    return [
        f"{name}/{task}:{index}" + (f"#{seq}" if (seq := _evidence(modes, (task, index))) else "")
        for _, _, (task, index) in sorted(chosen)[:5]
    ]


def _evidence(modes: Modes, key: Key) -> int | None:
    match = primary(modes, key)
    return None if match is None else match.evidence_seq
