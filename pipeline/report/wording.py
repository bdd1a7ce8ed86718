"""Words and digits that pages and commands share."""

from __future__ import annotations

from dataclasses import dataclass

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
# What a rollout did, where a pass and a failure of one task are told apart by it.
BEHAVIOURS = {
    "is_truncated": "is cut off at a limit",
    "has_action": "does something",
    "has_feedback": "gets a result back",
    "has_answer": "has an answer that was found",
    "is_refusal": "declines",
    "n_tool_errors > 0": "meets a tool error",
    "longest_error_streak > 1": "meets tool errors in a row",
    "ends_in_error": "ends on an error",
    "ends_on_tool": "ends on a tool call",
    "n_repeated_calls > 0": "repeats a call",
    "n_malformed_calls > 0": "makes a malformed call",
    "has_guessed_address": "uses an address it never read",
    "self_check = 'passed'": "checks itself and finds it right",
    "n_matched_actions = n_expected_actions": "makes every expected change",
    "n_unexpected_calls > 0": "makes a change that is not expected",
    "n_turns": "turns",
    "n_tool_calls": "tool calls",
    "n_tool_errors": "tool errors",
    "n_tools": "different tools",
    "output_tokens": "output tokens",
    "input_tokens": "input tokens",
    "duration_s": "seconds",
    "n_final_characters": "characters of the last words",
    "final_chars": "characters of the last words",
}
CALLS = "calls "


@dataclass(frozen=True)
class Advice:
    """What a recommendation asks for, what its failures are, and what shows that it worked."""

    action: str
    about: str
    worked: str


ADVICE = {
    "ungraded": Advice("Grade again", "were never graded:", "every attempt has a verdict"),
    "suspect": Advice(
        "Check the task and its verifier",
        "may not be the model's fault:",
        "a reader agrees with every new verdict",
    ),
    "cut off": Advice(
        "Raise or justify the limit",
        "were cut off:",
        "fewer attempts end at the limit",
    ),
    "infrastructure": Advice(
        "Fix the infrastructure and rerun",
        "were lost:",
        "no attempt is lost this way",
    ),
    "association": Advice(
        "Read these attempts first",
        "",
        "fewer attempts have the sign and the same tasks pass more often",
    ),
    "never-pass": Advice(
        "Read never-pass tasks that fail alike",
        "share one mode:",
        "one of these tasks passes once",
    ),
}
# What BLADE's interventions are, in a few words.
INTERVENTIONS = {
    "prompt": "change the prompt or the tool descriptions",
    "harness": "change the harness",
    "training": "training",
    "verifier repair": "repair the task or its verifier",
    "infrastructure": "repair the infrastructure",
    "data": "correct the data",
}
CAUSES = {
    "KG": "knowledge gap (KG)",
    "UK": "unreliable knowledge (UK)",
    "BI": "behaviour (BI)",
    "TI": "task or verifier (TI)",
    "IR": "infrastructure (IR)",
    "DA": "data (DA)",
}
SMALLEST_CHANCE = 0.0001


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
