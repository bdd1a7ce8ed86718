"""Findings in plain words, with their numbers; no rounding carries one across its threshold."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.profile.gate.values import Criterion, Measured

# Seventeen digits tell any two floats apart.
DIGITS = (4, 6, 9, 12, 17)
MOST_NAMES = 12


def change(value: float, threshold: float) -> str:
    """A change with its sign, and as many digits as show on which side of the threshold it is."""
    return _apart(value, threshold, "+,")


def exact(value: float) -> str:
    """A number of a policy as someone wrote it, with its sign."""
    return f"{value:+,.15g}" if value else "0"


def asked(criterion: Criterion) -> str:
    """What a policy asks, by metric and rule: one metric may have both rules."""
    return f"{criterion.metric} {criterion.rule}"


def required(criterion: Criterion) -> str:
    """What the change must be."""
    return f"{better(criterion)} {exact(criterion.threshold)}"


def better(criterion: Criterion) -> str:
    """The side of the threshold that is good."""
    return "above" if criterion.direction == "higher" else "below"


def worse(criterion: Criterion) -> str:
    """The side of the threshold that is bad."""
    return "below" if criterion.direction == "higher" else "above"


def interval(low: float, high: float, threshold: float) -> str:
    """Two ends of a range, on the side of the threshold where they are."""
    return f"{change(low, threshold)} to {change(high, threshold)}"


def measured_change(measured: Measured, threshold: float) -> str:
    """The change, its interval and the tasks it stands on, as far as they are known."""
    told = "the change is unknown"
    if measured.delta is not None:
        told = f"the change is {change(measured.delta, threshold)}"
    if measured.low is not None and measured.high is not None:
        told += f", interval {interval(measured.low, measured.high, threshold)}"
    return f"{told}, over {_tasks(measured.n_tasks)}"


def short_of(what: str, value: float | None, least: float) -> str:
    """A requirement that is not met."""
    known = "unknown" if value is None else _apart(value, least, ",")
    return f"{what} is {known}, required is at least {least:,.15g}"


def few_tasks(n_tasks: int | None, least: int) -> str:
    """Too few tasks, or nobody knows how many."""
    return f"it stands on {_tasks(n_tasks)}, required are at least {least:,}"


def listed(names: Iterable[str]) -> str:
    """Some names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - MOST_NAMES:,} more" if len(every) > MOST_NAMES else ""
    return ", ".join(every[:MOST_NAMES]) + more


def _tasks(n_tasks: int | None) -> str:
    if n_tasks is None:
        return "an unknown number of tasks"
    return f"{n_tasks:,} task{'' if n_tasks == 1 else 's'}"


def _apart(value: float, threshold: float, form: str) -> str:
    """The fewest digits that leave the value on its side of the threshold."""
    # Whole numbers are written out, as far as a float knows them.
    n_whole = min(DIGITS[-1], len(str(int(abs(value)))))
    for digits in DIGITS:
        told = f"{value:{form}.{max(digits, n_whole)}g}"
        if _side(float(told.replace(",", "")), threshold) == _side(value, threshold):
            break
    return told if value else "0"


def _side(value: float, threshold: float) -> int:
    return (value > threshold) - (value < threshold)
