"""Numbers that give the reward: fields that repeat it, its factors, parts of a weighted sum."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np

from .signs import Attempts, Numbers
from .subsets import Flags

MOST_FIELDS = 24
LEAST_ALIKE = 0.99
# Of fewer attempts some numbers give the reward by chance.
LEAST_ROWS = 20
ROWS_PER_FIELD = 4


def score_parts(attempts: Attempts) -> set[str]:
    """The names of fields that the reward is computed from.

    Of an object of the row, or of the row itself, fields are multiplied or added.
    """
    # Numbers are of the first attempts alone.
    rewards = attempts.reward[: max(map(len, attempts.numbers.values()), default=0)]
    known = ~np.isnan(rewards)
    fields = {name: each for name, each in attempts.numbers.items() if _varies(each[known])}
    if fields:
        known &= ~np.all([np.isnan(each) for each in fields.values()], axis=0)
    reward = rewards[known]
    if len(reward) < LEAST_ROWS or not _varies(reward):
        return set()
    objects: dict[str, dict[str, Numbers]] = defaultdict(dict)
    for name, values in fields.items():
        if not np.isnan(values[known]).any():
            objects[name.rpartition(".")[0] or name.partition(": ")[0] * (": " in name)][name] = (
                values[known]
            )
    parts: set[str] = set()
    for own in objects.values():
        alone = {name for name, values in own.items() if _is_same(values, reward)}
        rest = {name: values for name, values in own.items() if name not in alone}
        parts |= alone
        if 2 <= len(rest) <= MOST_FIELDS:
            parts |= _factors(rest, reward) or _addends(rest, reward)
    return parts


def _varies(values: Numbers) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool(np.ptp(known) > 1e-9)


def _alike(values: Numbers, reward: Numbers) -> bool:
    near: Flags = np.abs(values - reward) <= 1e-6 * np.maximum(1, np.abs(reward))
    return bool(near.mean() >= LEAST_ALIKE)


def _is_same(values: Numbers, reward: Numbers) -> bool:
    """Whether a number is the reward, its opposite, or the reward in percent."""
    forms = (values, 1 - values, -values, values / 100)
    return any(_alike(form, reward) for form in forms)


def _factors(fields: dict[str, Numbers], reward: Numbers) -> set[str]:
    """Two or three fields whose product is the reward, and none of which can be left out."""
    for size in (2, 3):
        for names in combinations(fields, size):
            if _alike(np.prod([fields[name] for name in names], axis=0), reward):
                return set(names)
    return set()


def _addends(fields: dict[str, Numbers], reward: Numbers) -> set[str]:
    """Fields that add up to the reward with fixed weights; those that weigh nothing are no part."""
    if len(reward) < ROWS_PER_FIELD * (len(fields) + 1):
        return set()
    columns = np.stack([*fields.values(), np.ones(len(reward))], axis=1)
    scale = np.maximum(np.abs(columns).max(axis=0), 1e-9)
    weights = np.linalg.lstsq(columns / scale, reward, rcond=None)[0]
    if not _alike(columns / scale @ weights, reward):
        return set()
    return {name for name, weight in zip(fields, weights[:-1], strict=True) if abs(weight) > 1e-6}
