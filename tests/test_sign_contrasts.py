"""What one run's failures show and others' do not, and what goes with a low reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from pipeline.analysis.max_t import max_t
from pipeline.analysis.sign_contrasts import _differing_runs, _low_rewards, _ranks
from pipeline.analysis.signs import Attempts, Firsts, Sign
from pipeline.analysis.subsets import Subset
from tests.results import Row, analyzed, rollout
from tests.together import Batch, together

N_TASKS, N_REPEATS = 12, 4


def field(name: str, bears: np.ndarray, *, scope: str = "rollout") -> Sign:
    """A field of these attempts, known of all."""
    known = Subset.of(np.ones(len(bears), dtype=bool))
    return Sign("field", name, "x", f"{name} = x", scope, Subset.of(bears), known)


def two_runs(n_tasks: int = N_TASKS) -> Attempts:
    """Both runs fail each of their two attempts at every task, and pass one."""
    run = np.repeat([0, 1], 3 * n_tasks)
    task = np.tile(np.repeat(np.arange(n_tasks), 3), 2)
    passes = np.tile([False, False, True], 2 * n_tasks)
    return Attempts(run, task, ~passes, passes, run_names=("a", "b"))


def test_the_sign_of_one_runs_failures() -> None:
    """Counted among the failures of tasks that both fail: 20 of 24 against 2 of 24."""
    attempts = two_runs()
    failing_a = np.flatnonzero(attempts.fails & (attempts.run == 0))
    failing_b = np.flatnonzero(attempts.fails & (attempts.run == 1))
    bears = np.isin(np.arange(len(attempts.run)), [*failing_a[:20], *failing_b[:2]])
    # An error has a place in each attempt.
    error = replace(field("stop", bears), kind="error", first=Firsts(Subset.of(bears), np.ones(22)))
    (row,) = _differing_runs([field("end", bears)], attempts)
    assert row[:5] == ("a", "field", "end", "x", "end = x")
    assert [each[1] for each in _differing_runs([error], attempts)] == ["error"]
    # Attempts without a grade are listed before all else.
    assert not list(_differing_runs([replace(error, kind="ungraded")], attempts))
    assert row[5:10] == (20, 24, 2, 24, N_TASKS)


def test_tasks_that_one_run_alone_fails_do_not_count() -> None:
    """A sign of failures that have no counterpart says nothing of the run."""
    attempts = two_runs()
    is_alone = attempts.task < 6
    fails = attempts.fails & ~(is_alone & (attempts.run == 1))
    bears = fails & is_alone
    fewer = Attempts(attempts.run, attempts.task, fails, ~fails, run_names=("a", "b"))
    assert not list(_differing_runs([field("end", bears)], fewer))


def test_what_passes_of_the_others_bear_as_often_is_no_reason() -> None:
    """All attempts of a third run bear it, and two of three of these pass."""
    pair = two_runs()
    task = np.repeat(np.arange(N_TASKS), 3)
    third = np.tile([False, True, True], N_TASKS)
    passes = np.concatenate([pair.passes, third])
    run = np.concatenate([pair.run, np.full(len(task), 2)])
    attempts = Attempts(
        run, np.concatenate([pair.task, task]), ~passes, passes, run_names=("a", "b", "c")
    )
    limit = replace(field("stop", ((run == 0) & ~passes) | (run == 2)), kind="limit")
    assert not list(_differing_runs([limit], attempts))
    # Whoever bears it in all attempts of a run passes, too, however rarely.
    rarely = Attempts(
        run,
        attempts.task,
        ~passes | (attempts.task > 0),
        passes & (attempts.task == 0),
        run_names=("a", "b", "c"),
    )
    whole = replace(field("stop", run != 1, scope="run"), kind="limit")
    assert not list(_differing_runs([whole], rarely))
    of_one = replace(field("stop", (run == 0) & ~passes), kind="limit")
    assert [row[0] for row in _differing_runs([of_one], attempts)] == ["a"]


def test_attempts_without_a_score_are_no_failures() -> None:
    """Of the failures that bear it few are scored."""
    attempts = two_runs()
    bears = attempts.fails & (attempts.run == 0)
    reward = np.where(bears & (np.cumsum(bears) > 2), np.nan, attempts.passes.astype(float))
    unscored = replace(attempts, reward=reward)
    assert list(_differing_runs([field("end", bears)], attempts))
    assert not list(_differing_runs([field("end", bears)], unscored))


def test_what_a_whole_run_shares_is_a_setting() -> None:
    """Unless it is an answer, an error or a limit, and its passes lack it."""
    attempts = two_runs()
    bears = attempts.run == 0
    assert not list(_differing_runs([field("agent", bears, scope="run")], attempts))
    known = Subset.of(np.ones(len(bears), dtype=bool))
    answer = Sign("answer", "answer", "is empty", "answer is empty", "run", Subset.of(bears), known)
    assert not list(_differing_runs([answer], attempts))
    bears = bears & attempts.fails
    answer = Sign("answer", "answer", "is empty", "answer is empty", "run", Subset.of(bears), known)
    assert [row[4] for row in _differing_runs([answer], attempts)] == ["answer is empty"]


def test_what_most_runs_show_is_not_one_runs() -> None:
    """Of four runs three show it, one of them in more failures: nobody is singled out."""
    run = np.repeat([0, 1, 2, 3], 2 * N_TASKS)
    task = np.tile(np.repeat(np.arange(N_TASKS), 2), 4)
    fails = np.ones(len(run), dtype=bool)
    attempts = Attempts(run, task, fails, ~fails, run_names=tuple("abcd"))
    place = np.arange(len(run)) % (2 * N_TASKS)
    shares = np.array([24, 13, 13, 0])
    assert not list(_differing_runs([field("end", place < shares[run])], attempts))
    (row,) = _differing_runs([field("end", place < np.array([24, 3, 3, 0])[run])], attempts)
    assert row[0] == "a"


@pytest.mark.slow
def test_equal_runs_rarely_differ() -> None:
    """Signs drawn alike for both runs: of 200 pairs at most 5% show any difference."""
    random = np.random.default_rng(3)
    attempts = two_runs()
    n_found = 0
    for _ in range(200):
        signs = [
            field(str(number), random.random(len(attempts.run)) < share)
            for number, share in enumerate((0.1, 0.2, 0.3, 0.5, 0.7))
        ]
        n_found += bool(list(_differing_runs(signs, attempts)))
    assert n_found <= 17  # 5% of 200 and its chance: P(X > 17) = 0.01


def test_ranks_of_equal_values_are_averaged() -> None:
    assert _ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]


def test_max_t_of_ranks_is_wilcoxons_by_enumeration() -> None:
    """The three smallest of ten belong to the bearers: one of 120 placings is as extreme."""
    rewards = np.arange(10) / 10
    low = field("low", np.arange(10) < 3)
    (p_value,) = max_t([low], np.zeros(10, dtype=np.int64), -_ranks(rewards))
    assert abs(p_value - 1 / 120) < 0.008


def test_a_sign_of_low_rewards() -> None:
    """Medians on both sides, within runs that differ in level."""
    random = np.random.default_rng(1)
    run = np.repeat([0, 1], 30)
    bears = np.tile(np.arange(30) < 10, 2)
    reward = random.random(60) / 10 + 0.4 * run + np.where(bears, 0, 0.3)
    fails = np.ones(60, dtype=bool)
    attempts = Attempts(run, np.arange(60), fails, ~fails, reward, ("a", "b"))
    (row,) = _low_rewards([field("cut", bears), field("none", random.random(60) < 0.4)], attempts)
    assert row[3:7] == ("cut = x", [], 20, 40)
    assert row[7] == np.median(reward[bears]) and row[8] == np.median(reward[~bears])


def graded(is_low: Callable[[int], bool]) -> list[Row]:
    """Forty rewards between 0 and 1, those with an empty note lower."""
    random = Random(7)
    rows: list[Row] = []
    for task in range(40):
        reward = random.uniform(0.1, 0.4) if is_low(task) else random.uniform(0.5, 0.9)
        rows.append(rollout(task, 0, reward=reward, note="" if is_low(task) else f"n{task}"))
    return rows


@together
def test_continuous_rewards_have_findings() -> Batch:
    """Through the whole warehouse: the sign, its attempts and both medians."""
    found = yield graded(lambda task: task % 4 == 0)
    ((kind, mode, n_with, n_without, low, high),) = found.rows(
        "select kind, mode, n_attempts, n_all_attempts, reward_with, reward_without "
        "from findings where kind = 'low'"
    )
    assert (kind, mode, n_with, n_without) == ("low", "note is empty", 10, 30)
    assert low < 0.4 < 0.5 < high


@pytest.mark.slow
def test_low_rewards_of_some_runs_name_them(tmp_path: Path) -> None:
    """What occurs in one of two runs is reported of that one."""
    files = {
        "a_rollouts.jsonl": graded(lambda task: task % 4 == 0),
        "b_rollouts.jsonl": graded(lambda _task: False),
    }
    found = analyzed(tmp_path, files, needs=("findings",))
    query = "select mode, other_runs, n_all_attempts from findings where kind = 'low'"
    assert found.rows(query) == [("note is empty", ["a"], 30)]


@together
def test_continuous_rewards_without_a_sign() -> Batch:
    found = yield graded(lambda _task: False)
    assert found.rows("from reward_contrasts") == []
