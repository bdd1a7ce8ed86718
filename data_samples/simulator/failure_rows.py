"""Writes the rows of failed attempts: what a collector keeps when no score came back."""

from __future__ import annotations

import random

from simulator.episode import Attempt, Item
from simulator.phrases import generator
from simulator.rows import input_row, rollout

SERVICE_ERRORS = (
    "Connection reset by peer while reading the model response",
    "HTTP 503 from policy model: no healthy upstream",
    "HTTP 429: rate limit reached, retry after 20s",
    "sandbox pod was evicted",
    "ClientConnectorError: cannot connect to host agent-server:8000",
    "upstream request timed out before headers were received",
)
JUDGE_ERRORS = ("judge endpoint returned 503", "judge connection refused", "judge: HTTP 429")
N_ATTEMPTS = 3


def failure_rows(rng: random.Random, seed: int, attempt: Attempt) -> list[Item]:
    """What the failures sidecar holds about an attempt that was never scored."""
    if attempt.mode == "timeout":
        limit = generator("limit", seed).choice((600, 900, 1200))
        text = f"Timed out: rollout exceeded {limit} s"
        return [_row(attempt, 0, "timeout_exceeded", text, is_terminal=True)]
    if attempt.mode == "judge_failed":
        answered = rollout(seed, attempt).row
        extra = {
            "_ng_failure_judge_error": rng.choice(JUDGE_ERRORS),
            "response": answered["response"],
        }
        return [_row(attempt, 0, "judge_failed", "", is_terminal=False) | extra]
    if rng.random() < 0.5:
        error = rng.choice(SERVICE_ERRORS)
        row = _row(attempt, 0, "remote_agent_error", f"Failed: {error}", is_terminal=False)
        return [row | {"error": error}]
    return [transient_row(rng, attempt, number) for number in range(N_ATTEMPTS)]


def transient_row(rng: random.Random, attempt: Attempt, number: int) -> Item:
    error = rng.choice(SERVICE_ERRORS)
    row = _row(attempt, number, "transient", f"Failed: {error}", is_terminal=False)
    return row | {"error_message": error}


def _row(attempt: Attempt, number: int, failure: str, text: str, *, is_terminal: bool) -> Item:
    content = [{"annotations": [], "text": text, "type": "output_text"}]
    placeholder = {"content": content, "role": "assistant", "type": "message"}
    return input_row(attempt.task, attempt.repeat) | {
        "response": {"model": attempt.model, "object": "response", "output": [placeholder]},
        "reward": 0.0,
        "_ng_attempt_index": number,
        "_ng_failure_class": failure,
        "_ng_failure_terminal": is_terminal,
    }
