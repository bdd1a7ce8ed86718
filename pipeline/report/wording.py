"""Words and digits that pages and commands share."""

from __future__ import annotations

from dataclasses import dataclass

# In what a pass and a failure of one task first differ.
PARTINGS = {
    "tool": "another tool is called",
    "arguments": "the same tool is called with other arguments",
    "result": "the same call gets another result",
    "missing": "the failing one leaves out a step that the passing one takes",
    "extra": "the failing one takes a step that the passing one does not",
    "answer": "their consequential steps are the same; the difference lies in the last words",
    "nothing": "their consequential steps and last words are the same",
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
    """What an intervention means: what to do, what shows that it worked, what to check before."""

    short: str
    action: str
    worked: str
    check: str


# By BLADE: what fits knowledge gaps, unreliable knowledge, behaviour, tasks, infrastructure, data.
ADVICE = {
    "prompt": Advice(
        "a change of the prompt or the tools' descriptions",
        "say what the task needs in the prompt, the tools' descriptions or its documents",
        "these modes become rarer at the same tasks, and no other task loses",
        "whether the model can do it and was not told (BI), or lacks the knowledge (KG)",
    ),
    "harness": Advice(
        "a change of the harness",
        "change the agent loop: its limits, how it reads calls and errors, when it may stop",
        "fewer rollouts are lost before the verdict, at the same tokens a rollout",
        "whether the limit or the loop is at fault (TI), or the model would fail anyway (BI)",
    ),
    "training": Advice(
        "training",
        "train on what separates passes from failures of a task, or on what no attempt knows",
        "pass^k rises with pass@1 at these tasks, and at tasks that were held out",
        "luck or knowledge (UK), and for tasks that never pass whether it is a gap at all (KG)",
    ),
    "verifier repair": Advice(
        "repair of the task or its verifier",
        "repair the task or its verifier, then run the baselines again",
        "the verifier's errors are gone in every run, and passes of before still pass",
        "the reference and the verifier's words by hand, for each task cited (TI)",
    ),
    "infrastructure": Advice(
        "a mended infrastructure",
        "mend or isolate the service, and run the lost rows again",
        "coverage reaches 100% and no failed attempt is left; pass@1 may go either way",
        "that the loss is not the model's doing, such as output without end (IR)",
    ),
    "data": Advice(
        "corrected data",
        "correct the data and make it again before anything is compared",
        "no two tasks contradict each other, and every line of the files can be read",
        "which of the rows is right; a figure that rests on the others is not to be quoted (DA)",
    ),
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
