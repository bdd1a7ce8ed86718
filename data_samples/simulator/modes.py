"""Every planted failure mode: its cause, where it can occur, and who plays it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator import office_failures, sums_agent
from simulator.episode import Episode, Task


@dataclass(frozen=True)
class Mode:
    """A way to fail; planted_causes.jsonl holds the code in capitals."""

    code: str
    cause: str
    play: Callable[[Episode, Task], None]
    # How often it is drawn for tasks that never pass, and for those that sometimes do.
    never: int = 0
    sometimes: int = 0
    fits: Callable[[Task], bool] = lambda task: True


def _has_people(task: Task) -> bool:
    return bool(task.way.people)


def _has_dates(task: Task) -> bool:
    return task.way.bulk is not None


def _has_convention(task: Task) -> bool:
    return office_failures.convention_key(task.way.writes[0].arguments) is not None


OFFICE_MODES = (
    Mode("wrong_arguments", "UK", office_failures.wrong_arguments, 0, 6),
    Mode("same_wrong_arguments", "KG", office_failures.wrong_convention, 5, 0, _has_convention),
    Mode("skipped_lookup", "BI", office_failures.skipped_lookup, 3, 2, _has_people),
    Mode("dropped_filter", "UK", office_failures.dates_by_eye, 0, 3, _has_dates),
    Mode("error_ignored", "BI", office_failures.error_ignored, 1, 3),
    Mode("thrash", "BI", office_failures.thrash, 2, 2),
    Mode("gave_up", "BI", office_failures.gave_up, 1, 2),
    Mode("no_action", "BI", office_failures.no_action, 1, 1),
    Mode("refusal", "BI", office_failures.refusal, 1, 1),
    Mode("truncated", "BI", office_failures.truncated, 0, 2),
    Mode("empty_output", "BI", office_failures.empty_output, 0, 1),
    Mode("raw_tool_call", "BI", office_failures.raw_tool_call, 1, 2),
    Mode("malformed_arguments", "BI", office_failures.malformed_arguments, 1, 2),
    Mode("undeclared_tool", "KG", office_failures.undeclared_tool, 3, 0),
    Mode("extra_write", "BI", office_failures.extra_write, 1, 2),
    Mode("verifier_error", "TI", office_failures.verifier_error),
    Mode("limit_too_low", "TI", office_failures.cut_digest),
)
SUMS_MODES = (
    Mode("wrong_answer", "KG", sums_agent.wrong_answer, 8, 0),
    Mode("unstable_answer", "UK", sums_agent.unstable_answer, 0, 6),
    Mode("not_extracted", "BI", sums_agent.not_extracted, 1, 3),
    Mode("truncated", "BI", sums_agent.truncated, 0, 2),
    Mode("empty_output", "BI", sums_agent.empty_output, 0, 1),
    Mode("refusal", "BI", sums_agent.refusal, 0, 1),
    Mode("reference_contradiction", "TI", sums_agent.reference_contradiction),
    # The agent answers rightly; the task's twin has another reference.
    Mode("duplicate_prompt", "DA", sums_agent.play_pass),
)
# What leaves no scored row: there is no trajectory to play.
LOST_CAUSES = {
    "infra_failure": "IR",
    "judge_failed": "IR",
    "timeout": "TI",
    "missing_row": "IR",
    "unreadable_row": "DA",
    "unscored_reward": "TI",
}
