"""Answers a sum rightly, or wrongly in one planted way."""

from __future__ import annotations

import re

from simulator import prose
from simulator.episode import Episode, Task
from simulator.phrases import generator
from simulator.sums_tasks import Sum

OPENINGS = (
    "Let me work this out.",
    "Step by step:",
    "Here is how I would do it.",
    "First, the numbers.",
    "I made an error at first, so let me start over.",
    "",
)
ENDINGS = (
    "The final answer is \\boxed{{{answer}}}.",
    "\\boxed{{{answer}}}",
    "So the result is \\boxed{{{answer}}}",
    "Therefore: \\boxed{{{answer}}}. Sorry for the detour above.",
    "Answer: \\boxed{{{answer}}}",
)
UNBOXED = (
    "The answer is {answer}.",
    "**{answer}**",
    "So we get {answer}, as required.",
    "Final answer: ({answer})",
    "$\\text{{answer}} = {answer}$",
)


def play_pass(episode: Episode, task: Task) -> None:
    _answer(episode, task, _sum(task).answer)


def wrong_answer(episode: Episode, task: Task) -> None:
    """The same slip in each attempt."""
    slip = generator("slip", task.prompt).choice(_slips(task))
    episode.decisive = _answer(episode, task, slip)


def unstable_answer(episode: Episode, task: Task) -> None:
    """Some slip or other, where other attempts get it right."""
    episode.decisive = _answer(episode, task, episode.rng.choice(_slips(task)))


def not_extracted(episode: Episode, task: Task) -> None:
    """The right answer, but not where the verifier looks for it."""
    answer = _sum(task).answer
    text = "\n".join([*_sum(task).working, episode.rng.choice(UNBOXED).format(answer=answer)])
    episode.decisive = episode.say(text)


def truncated(episode: Episode, task: Task) -> None:
    episode.is_cut = True
    text = prose.ramble(episode.rng, episode.rng.randint(5, 8))
    episode.decisive = episode.say(" ".join([*_sum(task).working[:1], text]))


def empty_output(episode: Episode, task: Task) -> None:
    episode.decisive = episode.say("")


def refusal(episode: Episode, task: Task) -> None:
    episode.decisive = episode.say(episode.rng.choice(prose.REFUSALS))


def reference_contradiction(episode: Episode, task: Task) -> None:
    """The answer is the reference, and the verifier says no."""
    play_pass(episode, task)
    episode.verdict = {"reward": 0.0}


def extracted(text: str) -> str | None:
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return found[-1] if found else None


def _answer(episode: Episode, task: Task, answer: str) -> int:
    worked = _sum(task)
    if episode.rng.random() < 0.4:
        episode.think(" ".join(worked.working[: episode.rng.randint(1, 2)]))
    working = worked.working[:-1] if answer != worked.answer else worked.working
    lines = [episode.rng.choice(OPENINGS), *working, _ending(episode, answer)]
    return episode.say("\n".join(line for line in lines if line))


def _ending(episode: Episode, answer: str) -> str:
    return episode.rng.choice(ENDINGS).format(answer=answer)


def _slips(task: Task) -> list[str]:
    """Wrong answers that are not by chance right."""
    worked = _sum(task)
    return [slip for slip in worked.slips if slip != worked.answer] or [worked.answer + "0"]


def _sum(task: Task) -> Sum:
    assert isinstance(task.way, Sum)
    return task.way
