"""Words and digits that pages and commands share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

# In what a pass and a failure of one task first differ.
PARTINGS = {
    "tool": "the failure calls another tool",
    "arguments": "the failure calls the same tool with other arguments",
    "result": "the same call gets another result",
    "missing": "the failure leaves out a step",
    "extra": "the failure takes a step that the pass does not",
    "answer": "the steps are the same; the final message differs",
    "nothing": "the steps and the final message are the same",
}

# What is wrong with the first step that is: a change beside the expected ones, a check, an error.
WRONG_STEPS = {
    "differs": ("expected", ""),
    "failed": ("expected", ", ended in an error"),
    "missing": ("expected", ", never made"),
    "unasked": ("not asked for", ""),
    "check": ("failed check", ""),
    "error": ("last error", ""),
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


@dataclass(frozen=True)
class Advice:
    """What a recommendation asks for, what one and several failures are, and when it worked."""

    action: str
    one: str
    several: str
    worked: str


ADVICE = {
    "ungraded": Advice(
        "Grade again", "was never graded:", "were never graded:", "every attempt has a verdict"
    ),
    "suspect": Advice(
        "Check the task and its verifier",
        "may not be the model's fault:",
        "may not be the model's fault:",
        "a reader agrees with every new verdict",
    ),
    "cut off": Advice(
        "Raise or justify the limit",
        "was cut off:",
        "were cut off:",
        "fewer attempts end at the limit",
    ),
    "infrastructure": Advice(
        "Recover or rerun what was lost", "was lost:", "were lost:", "no attempt is lost this way"
    ),
    "association": Advice(
        "Read these attempts first",
        "",
        "",
        "fewer attempts have the sign and the same tasks pass more often",
    ),
    "never-pass": Advice(
        "Read never-pass tasks that fail alike",
        "shares one mode:",
        "share one mode:",
        "one of these tasks passes once",
    ),
}
# What explains a run's failures; the rest is unexplained.
EXPLAINERS = {
    "n_by_record": "by the record",
    "n_by_checks": "by failed checks",
    "n_by_trajectory": "by the trajectory",
    "n_described": "only described by what the verifier compares",
    "n_ungraded": "never graded",
}
CAUSES = {
    "KG": "knowledge gap",
    "UK": "unreliable knowledge",
    "BI": "behaviour",
    "TI": "task or verifier",
    "IR": "infrastructure",
    "DA": "data",
}
SMALLEST_CHANCE = 0.0001
# Of numbers in JSON: enough for any comparison.
DIGITS = 12


def cause(name: str | None) -> str:
    """A root cause with its abbreviation; two of them where a label names two."""
    parts = (name or "").split("+")
    return " and ".join(f"{CAUSES[part]} ({part})" if part in CAUSES else part for part in parts)


def points(rate: float) -> str:
    """A difference of rates in points, with its sign; rounded as ledgers are, never to no side."""
    for scale, digits in ((10, 1), (100, 2), (1000, 3)):
        rounded = round(100 * scale * rate) / scale + 0.0
        if rounded:
            return f"{rounded:+.{digits}f}"
    return "+0.0"


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


def rounded(value: Any) -> Any:
    """A float to twelve digits, null where it is not finite: sums wobble beyond; others as is."""
    if not isinstance(value, float):
        return value
    # Adding 0 makes a negative zero plain.
    return round(value, DIGITS) + 0.0 if math.isfinite(value) else None
