"""Decides beforehand which attempts pass, and how each of the others fails."""

from __future__ import annotations

import random
from dataclasses import dataclass

from simulator.episode import Attempt, Task
from simulator.modes import Mode
from simulator.phrases import generator


@dataclass(frozen=True)
class Run:
    """One model on one benchmark."""

    name: str
    model: str
    skill: float
    # In one category the model does better or worse than its skill says.
    odd_category: str
    odd_by: float
    n_repeats: int
    is_ragged: bool = False
    is_dirty: bool = False
    is_observed: bool = False
    n_lost: int = 0


class Deck:
    """Deals failure modes: each mode once before the common ones come again."""

    def __init__(self, rng: random.Random, weighted: list[tuple[Mode, int]]) -> None:
        self._rng = rng
        self._weighted = [(mode, weight) for mode, weight in weighted if weight]
        self._cards: list[Mode] = []

    def deal(self, task: Task) -> str:
        """The next mode that can befall this task."""
        while not any(mode.fits(task) for mode in self._cards):
            self._cards += self._fresh()
        card = next(mode for mode in self._cards if mode.fits(task))
        self._cards.remove(card)
        return card.code

    def _fresh(self) -> list[Mode]:
        each = [mode for mode, _ in self._weighted]
        more = [mode for mode, weight in self._weighted for _ in range(weight - 1)]
        self._rng.shuffle(each)
        self._rng.shuffle(more)
        return each + more


@dataclass(frozen=True)
class Decks:
    """Of one benchmark, shared by its runs: tasks that never pass fail otherwise than the rest."""

    never: Deck
    sometimes: Deck


def make_decks(rng: random.Random, modes: tuple[Mode, ...]) -> Decks:
    return Decks(
        never=Deck(rng, [(mode, mode.never) for mode in modes]),
        sometimes=Deck(rng, [(mode, mode.sometimes) for mode in modes]),
    )


def attempts(seed: int, run: Run, tasks: list[Task], decks: Decks) -> list[Attempt]:
    """Every expected attempt of the run, in order of task and repeat."""
    rng = generator("outcomes", seed, run.name)
    planned = []
    for task in tasks:
        n_repeats = (
            rng.randint(max(2, run.n_repeats - 2), run.n_repeats)
            if run.is_ragged
            else run.n_repeats
        )
        for repeat, mode in enumerate(_modes_of_task(rng, run, task, n_repeats, decks)):
            planned.append(Attempt(run.name, run.model, task, repeat, mode))
    return _with_losses(rng, run, planned)


def _modes_of_task(
    rng: random.Random, run: Run, task: Task, n_repeats: int, decks: Decks
) -> list[str | None]:
    if task.flaw == "dropped_filter":
        drawn: list[str | None] = [None] * (n_repeats - 1) + [task.flaw]
    elif task.flaw is not None:
        return [task.flaw] * n_repeats
    else:
        n_failing = n_repeats - _n_passing(rng, run, task, n_repeats)
        drawn = [None] * (n_repeats - n_failing)
        drawn += _failures(rng, task, n_failing, n_repeats, decks)
    rng.shuffle(drawn)
    return drawn


def _n_passing(rng: random.Random, run: Run, task: Task, n_repeats: int) -> int:
    """A task's difficulty against the run's skill; the slope leaves room for all three buckets."""
    hardness = {"easy": 0.15, "medium": 0.5, "hard": 0.85}[task.difficulty]
    skill = run.skill + (run.odd_by if task.category == run.odd_category else 0.0)
    share = 0.5 + 1.1 * (skill - hardness) + rng.uniform(-0.35, 0.35)
    return min(n_repeats, max(0, round(share * n_repeats)))


def _failures(
    rng: random.Random, task: Task, n_failing: int, n_repeats: int, decks: Decks
) -> list[str]:
    """One mode rules a task; where the task sometimes passes, a few failures have another."""
    if n_failing == 0:
        return []
    if n_failing == n_repeats:
        return [decks.never.deal(task)] * n_failing
    ruling = decks.sometimes.deal(task)
    others = [rng.random() < 0.15 for _ in range(n_failing - 1)]
    return [ruling] + [decks.sometimes.deal(task) if other else ruling for other in others]


def _with_losses(rng: random.Random, run: Run, planned: list[Attempt]) -> list[Attempt]:
    """Turn some passing attempts into ones that left no scored row."""
    losses = ["missing_row", "infra_failure", "judge_failed", "missing_row", "infra_failure"]
    lost = ["unreadable_row", "unreadable_row", "unscored_reward"] if run.is_dirty else []
    lost += [losses[number % len(losses)] for number in range(run.n_lost)]
    # The told stories keep their counts.
    passing = [number for number, a in enumerate(planned) if a.mode is None and not a.task.flaw]
    chosen = dict(zip(rng.sample(passing, k=min(len(lost), len(passing))), lost, strict=False))
    return [
        Attempt(a.run, a.model, a.task, a.repeat, chosen.get(number, a.mode))
        for number, a in enumerate(planned)
    ]
