"""Runs at one desk of tasks, drawn alike but for one planted difference, as rows of Gym."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from tests.attempts import did, no, ok, wants
from tests.results import Row, asked, rollout

CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
NO_TOOL = ("frobnicate", {}, "Error: unknown tool: frobnicate")
READ = ("get_user", {"id": 7}, "Uma")
N_TASKS, N_REPEATS = 100, 8
BASE = "desk_base"
# How often a rollout of a task of middling difficulty fails in each way.
RATES = {
    "CUT_OFF": 0.12,
    "UNDECLARED_TOOL": 0.06,
    "WRONG_ARGUMENTS": 0.06,
    "MISSING_CALL": 0.05,
    "EMPTY_OUTPUT": 0.05,
}
# By this all rates of a task are multiplied; 1 on average, in every slice.
DIFFICULTIES = (0.2, 0.6, 1.2, 2.0)
SLICES = ("calendar", "mail", "rooms", "travel")
# The mode that each way to fail is listed under: neither booking is made as expected.
CUT_LINE = "recorded limit = max_output_tokens"
BOOK_LINE = "book expected, not made as expected"
CANCEL_LINE = "cancel expected, not made as expected"
NO_VERDICT = ("no change", "inconclusive")


@dataclass(frozen=True)
class Drawn:
    """What the rollouts of a run are drawn from; without changes like those of any other run."""

    rates: Mapping[str, float] = field(default_factory=lambda: RATES)
    # What happens before anything else could fail: a mode, and how often.
    first: tuple[str, float] = ("", 0.0)
    # How often a rollout of one slice fails that would not elsewhere, in any of the ways.
    worse: tuple[str, float] = ("", 0.0)
    # So many of the last tasks are others, that hardly ever pass; by their own ids, or the old.
    n_harder: int = 0
    is_renumbered: bool = True
    # The share of failing rollouts of which there is no row; and do inputs say what was expected?
    lost: float = 0.0
    is_expected: bool = False
    n_repeats: int = N_REPEATS
    # Runs of one draw are the same, rollout by rollout, but for what is lost.
    draw: str = ""


@dataclass(frozen=True)
class Planted:
    """One difference from the base: the ledger and line that should name it first, and its size."""

    drawn: Drawn
    ledger: str
    line: str
    size: float
    verdicts: tuple[str, ...]


def _commoner(mode: str, rate: float) -> Drawn:
    return Drawn(rates={**RATES, mode: RATES[mode] + rate})


PASS_RATE = 1 - sum(RATES.values())
REGRESSED, IMPROVED = ("regressed",), ("improved",)
PLANTED = {
    "truncated": Planted(_commoner("CUT_OFF", 0.12), "failure modes", CUT_LINE, -0.12, REGRESSED),
    "undeclared_tool": Planted(
        _commoner("UNDECLARED_TOOL", 0.12), "failure modes", BOOK_LINE, -0.12, REGRESSED
    ),
    "wrong_arguments": Planted(
        _commoner("WRONG_ARGUMENTS", 0.12), "failure modes", BOOK_LINE, -0.12, REGRESSED
    ),
    "missing_call": Planted(
        _commoner("MISSING_CALL", 0.12), "failure modes", CANCEL_LINE, -0.12, REGRESSED
    ),
    "mended": Planted(_commoner("CUT_OFF", -0.12), "failure modes", CUT_LINE, 0.12, IMPROVED),
    # A quarter of the tasks loses seven of ten passes.
    "worse_slice": Planted(
        Drawn(worse=("rooms", 0.7)), "slices", "rooms", -0.25 * 0.7 * PASS_RATE, REGRESSED
    ),
    "no_output": Planted(
        Drawn(first=("EMPTY_OUTPUT", 0.2)), "funnel", "produced output", -0.2 * PASS_RATE, REGRESSED
    ),
    # A fifth of the tasks, of the same pass rate as all, for others that pass one time in ten.
    "harder_tasks": Planted(
        Drawn(n_harder=20),
        "task mix",
        "only in the candidate",
        -0.2 * (PASS_RATE - 0.1),
        NO_VERDICT,
    ),
    "other_questions": Planted(
        Drawn(n_harder=20, is_renumbered=False),
        "task mix",
        "another question in the candidate",
        -0.2 * (PASS_RATE - 0.1),
        NO_VERDICT,
    ),
    "half_the_repeats": Planted(
        replace(_commoner("CUT_OFF", 0.14), n_repeats=4),
        "failure modes",
        CUT_LINE,
        -0.14,
        REGRESSED,
    ),
}
SAME = Drawn()
FEWER = Drawn(n_repeats=4)
LOST = {
    "lost_rows": Drawn(lost=0.4, draw="lost"),
    "lost_rows_asked": Drawn(lost=0.4, is_expected=True, draw="lost"),
}
WHOLE = Drawn(draw="lost")


def files(runs: Mapping[str, Drawn], *, seed: int) -> dict[str, list[Row]]:
    """A base that is like any other, and these runs: the rows of each by the name of its file."""
    inputs = {BASE: Drawn(is_expected=True), **{f"desk_{name}": run for name, run in runs.items()}}
    by_name: dict[str, list[Row]] = {}
    for name, drawn in inputs.items():
        by_name |= run_files(name, drawn, seed=seed)
    return by_name


def run_files(
    name: str, drawn: Drawn, *, seed: int, n_tasks: int = N_TASKS
) -> dict[str, list[Row]]:
    """The rows of one run, and what it was asked where that is to be known."""
    random = Random(f"pairs {seed} {drawn.draw or name}")
    tasks = [_Task.numbered(number, n_tasks, drawn) for number in range(n_tasks)]
    rows = [row for task in tasks for row in task.rows(drawn, random)]
    by_name = {f"{name}_rollouts.jsonl": rows}
    if drawn.is_expected:
        inputs = [task.request(index) for task in tasks for index in range(drawn.n_repeats)]
        by_name[f"{name}_rollouts_materialized_inputs.jsonl"] = inputs
    return by_name


@dataclass(frozen=True)
class _Task:
    """A task as a run is asked it: its number, what it is about, and how often it fails."""

    number: int
    question: str
    category: str
    difficulty: float

    @classmethod
    def numbered(cls, number: int, n_tasks: int, drawn: Drawn) -> _Task:
        category = SLICES[number % len(SLICES)]
        if number >= n_tasks - drawn.n_harder:
            own = number + n_tasks if drawn.is_renumbered else number
            return cls(own, f"Book {number} twice.", category, 0.9 / sum(RATES.values()))
        difficulty = DIFFICULTIES[number // len(SLICES) % len(DIFFICULTIES)]
        return cls(number, f"Book {number}, then cancel it.", category, difficulty)

    def request(self, index: int) -> Row:
        return asked(self.number, index, ask=self.question, category=self.category)

    def rows(self, drawn: Drawn, random: Random) -> list[Row]:
        """What is recorded of the repeats: some failing rows may be lost."""
        actual = []
        for index in range(drawn.n_repeats):
            mode = self._mode(drawn, random)
            row = self._attempt(mode, random)
            if random.random() >= (drawn.lost if mode else 0):
                actual.append(
                    rollout(self.number, index, ask=self.question, category=self.category, **row)
                )
        return actual

    def _mode(self, drawn: Drawn, random: Random) -> str:
        mode, chance = drawn.first
        if random.random() < chance:
            return mode
        remaining = random.random()
        for mode, rate in drawn.rates.items():
            remaining -= rate * self.difficulty
            if remaining < 0:
                return mode
        slice_, chance = drawn.worse
        is_worse = self.category == slice_ and random.random() < chance
        return random.choice(list(drawn.rates)) if is_worse else ""

    def _attempt(self, mode: str, random: Random) -> Row:
        """How a rollout goes that passes, or that fails in one way."""
        ask = wants(("book", self.number), ("cancel", self.number))
        book, cancel = did("book", self.number), did("cancel", self.number)
        wrong = did("book", 10_000 + random.randrange(10_000))
        done = f"Done, as {random.randrange(10**6)}."
        if mode == "CUT_OFF":
            return no(READ, book, "So", response=CUT, **ask)
        if mode == "UNDECLARED_TOOL":
            return no(READ, NO_TOOL, f"{done} Not so.", **ask)
        if mode == "WRONG_ARGUMENTS":
            return no(READ, wrong, cancel, done, **ask)
        if mode == "MISSING_CALL":
            return no(READ, book, done, **ask)
        if mode == "EMPTY_OUTPUT":
            return no("", **ask)
        return ok(READ, book, cancel, done, **ask)


def every_run(*, n_same: int) -> dict[str, Drawn]:
    """A run for everything that can be planted, and so many in which nothing is."""
    planted = {name: each.drawn for name, each in PLANTED.items()}
    alike = {"whole": WHOLE, "fewer": FEWER, **{f"same_{n}": SAME for n in range(n_same)}}
    return {**planted, **LOST, **alike}
