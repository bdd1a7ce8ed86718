"""Words and digits that pages and commands share."""

from __future__ import annotations

# In what a pass and a failure of one task first differ.
PARTINGS = {
    "tool": "they call different tools",
    "arguments": "the same tool is called with other arguments",
    "result": "the same call gets another result",
    "stop": "one of them calls nothing more",
    "answer": "the calls are the same and results begin alike, the last words are not",
    "nothing": "the calls and last words are the same, and results begin alike",
}

MEASURES = {
    "pass_at_k": "pass@k",
    "pass_hat_k": "pass^k",
    "coverage": "coverage",
    "failed_attempt_rate": "failed attempts",
    "missing_rate": "missing rows",
    "unscored_rate": "unscored rows",
    "clean_rate": "clean rollouts",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "n_turns": "turns",
    "n_tool_calls": "tool calls",
    "n_tool_errors": "tool errors",
    "duration_s": "seconds",
}
SMALLEST_CHANCE = 0.0001


def points(rate: float) -> str:
    """A difference of rates in points, with its sign; rounded as ledgers are."""
    return f"{round(1000 * rate) / 10 + 0.0:+.1f}"


def signed(number: float) -> str:
    """A difference of rewards, four digits after the point; rounded as ledgers are."""
    rounded = round(10_000 * number) / 10_000 + 0.0
    return f"{rounded:+.4f}".rstrip("0").rstrip(".") if rounded else "+0"


def signed_amount(value: float) -> str:
    """A difference of tokens, turns or seconds; what rounds to nothing is not below it."""
    return f"{round(value, 1) + 0.0:+,.1f}"


def chance(value: float) -> str:
    """A p or q: a small one is not 0."""
    return f"below {SMALLEST_CHANCE:.4f}" if value < SMALLEST_CHANCE else short(f"{value:.4f}")


def short(text: str) -> str:
    """A number without idle zeros."""
    told = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if told == "-0" else told
