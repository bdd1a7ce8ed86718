"""Turns an attempt into the row a collector would have written."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator import office_agent, sums_agent
from simulator.episode import Attempt, Episode, Item, Task, final_text
from simulator.modes import OFFICE_MODES, SUMS_MODES
from simulator.office_tasks import Plan
from simulator.phrases import generator
from simulator.response import EPOCH, ModelCall, model_calls, request, response

PLAYERS = {mode.code: mode.play for mode in OFFICE_MODES}
SUMS_PLAYERS = {mode.code: mode.play for mode in SUMS_MODES}


@dataclass(frozen=True)
class Rollout:
    """A row with what was planted in it."""

    attempt: Attempt
    row: Item
    calls: list[ModelCall]
    event_seq: int | None
    also_seq: list[int]


def agent_name(task: Task) -> str:
    return "office_desk_simple_agent" if isinstance(task.way, Plan) else "quick_math_simple_agent"


def input_row(task: Task, repeat: int) -> Item:
    """A row of the materialized inputs: the request as given, without the tools the server adds."""
    return {
        "responses_create_params": {"input": task.messages},
        **_task_fields(task),
        "agent_ref": {"name": agent_name(task)},
        "_ng_task_index": task.index,
        "_ng_rollout_index": repeat,
    }


def rollout(seed: int, attempt: Attempt) -> Rollout:
    """Play the attempt and let the verifier judge it; the verdict must be the planned one."""
    task = attempt.task
    rng = generator("episode", seed, attempt.run, task.index, attempt.repeat)
    episode = Episode(rng)
    _play(episode, attempt)
    calls = model_calls(rng, task, episode, EPOCH + seed % 1000 * 86_400 + rng.randrange(20_000))
    verdict = _verdict(task, episode)
    _check(attempt, verdict)
    if attempt.mode == "unscored_reward":
        verdict["reward"] = math.nan
    row = {
        "_ng_task_index": task.index,
        "_ng_rollout_index": attempt.repeat,
        "agent_ref": {"name": agent_name(task)},
        "responses_create_params": request(task),
        "response": response(attempt.model, episode, calls),
        **verdict,
        **_task_fields(task),
    }
    return Rollout(attempt, row, calls, episode.decisive, sorted(episode.also))


def _task_fields(task: Task) -> Item:
    """The benchmarks keep their slices in different places, as real ones do."""
    if isinstance(task.way, Plan):
        metadata = {"n_expected_actions": len(task.way.writes)}
        return {
            "category": task.category,
            "difficulty": task.difficulty,
            **task.fields,
            "verifier_metadata": metadata,
        }
    return {
        **task.fields,
        "category": task.category,
        "verifier_metadata": {"difficulty": task.difficulty, "source": "generated"},
    }


def _play(episode: Episode, attempt: Attempt) -> None:
    is_office = isinstance(attempt.task.way, Plan)
    players = PLAYERS if is_office else SUMS_PLAYERS
    passing = office_agent.play_pass if is_office else sums_agent.play_pass
    # A mode that no one plays befell a rollout that was fine in itself.
    players.get(attempt.mode or "", passing)(episode, attempt.task)


def _verdict(task: Task, episode: Episode) -> Item:
    if isinstance(task.way, Plan):
        n_expected = len(task.way.writes)
        n_matched = max(0, office_agent.verify(task, episode.items))
        is_right = office_agent.verify(task, episode.items) == n_expected
        verdict: Item = {
            "reward": float(is_right),
            "num_matched": n_matched,
            "verifier_error": None,
        }
        if "verifier_error" in episode.verdict:
            verdict |= {"reward": 0.0, "num_matched": 0}
        return verdict | episode.verdict
    answer = sums_agent.extracted(final_text(episode.items))
    is_right = answer == task.fields["expected_answer"]
    verdict = {
        "reward": float(is_right),
        "extracted_answer": answer,
        "parse_failed": answer is None,
    }
    return verdict | episode.verdict


def _check(attempt: Attempt, verdict: Item) -> None:
    players = PLAYERS if isinstance(attempt.task.way, Plan) else SUMS_PLAYERS
    is_planned_pass = attempt.mode not in players
    if bool(verdict["reward"]) != is_planned_pass:
        where = f"{attempt.run}/{attempt.task.index}:{attempt.repeat}"
        raise RuntimeError(f"{where} was planned as {attempt.mode} but scored {verdict['reward']}")
