"""What two attempts, suspicions, errors and a task that never passes tell, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.cli.lookup import Row
from pipeline.cli.paragraphs import flat, heading, row
from pipeline.report.wording import PARTINGS
from pipeline.text import one_line

LONGEST_NAME = 200
LONGEST_TEXT = 400
CALL_CHARACTERS = 100


def contrast(story: Row) -> Iterator[str]:
    """Where a failing attempt parts from the closest pass."""
    found = story["contrast"]
    if not found:
        return
    which = "closest contrast" if found["is_closest"] else "contrast with the closest pass"
    others = f", of {found['n_contrasts']} attempts that failed: name one for its own"
    yield heading(which) + (others if found["n_contrasts"] > 1 else "")
    if found["n_calls"] or found["n_passing_calls"]:
        shared = f"{found['n_common']} of {found['n_calls']} and {found['n_passing_calls']} calls"
        yield row("in common", f"{shared}, {found['n_common_first']} of them before they part")
    yield row("then", PARTINGS[found["difference"]])
    # Which arguments differ says more than how long calls begin.
    limit = CALL_CHARACTERS if found["arguments"] else LONGEST_TEXT
    for side in ("failing", "passing"):
        yield row(side, one_line(found[side], LONGEST_NAME))
        if text := flat(found[f"{side}_event"], limit):
            yield row("", text)
    for argument in found["arguments"]:
        one, other = (flat(argument[side]) or "not given" for side in ("failing", "passing"))
        yield row("argument", f"{one_line(argument['name'], LONGEST_NAME)}: {one} | {other}")
    for side in ("failing", "passing"):
        if tools := found[f"tools_only_{side}"]:
            yield row("tools", f"only {side}: {one_line(', '.join(tools), LONGEST_TEXT)}")
    if found["differences"]:
        yield row("also", one_line(found["differences"], LONGEST_TEXT))


def suspicions(story: Row) -> Iterator[str]:
    """Signs against the task, its verifier, the data or the infrastructure."""
    if story["suspicions"]:
        yield heading("suspicions") + ": perhaps not the model but the task, data or infrastructure"
    for found in story["suspicions"]:
        counted = f"{found['n_with']} of {found['n_failing']} attempts that did not pass"
        yield row(
            found["cause"],
            f"{found['confidence']}, {found['rule']}: {flat(found['note'])}; {counted}",
        )
        if found["evidence"]:
            yield row("", one_line(", ".join(found["evidence"]), LONGEST_TEXT))


def errors(story: Row) -> Iterator[str]:
    """The error signatures of the task, and whether passes show them too."""
    if story["error_signatures"]:
        yield heading("errors of this task") + ", without their numbers, paths and ids"
    for found in story["error_signatures"]:
        signature = one_line(found["signature"], LONGEST_TEXT)
        example = one_line(found["example"], LONGEST_NAME)
        passed = f", {found['n_passed']} of them passed" if found["n_passed"] else ""
        counted = f"{_times(found['n_events'])} in {_attempts(found['n_rollouts'])}{passed}"
        yield row(found["source"], f"{signature} ({example}), {counted}")


def dive(story: Row) -> Iterator[str]:
    """What a task that never passes has to tell."""
    dive = story["dive"]
    if not dive:
        return
    yield heading("never passed in this run")
    if dive["mode"]:
        yield row("mostly", f"{dive['mode']} in {_attempts(dive['n_with_mode'])}")
    if dive["last_stage"]:
        stage = one_line(dive["last_stage"], LONGEST_NAME)
        yield row("stops at", f"{stage} in {dive['n_at_last_stage']} of {dive['n_scored']}")
    if dive["shared_tools"]:
        yield row("all call", one_line(", ".join(dive["shared_tools"]), LONGEST_TEXT))
    if dive["error_signature"]:
        signature = one_line(dive["error_signature"], LONGEST_TEXT)
        yield row("error", f"{signature}, in {_attempts(dive['n_with_error'])}")
    if dive["shared_answer"]:
        yield row("all answer", one_line(dive["shared_answer"], LONGEST_TEXT))
    yield row("best", _best(dive))
    passing = ", ".join(one_line(name, LONGEST_NAME) for name in dive["passing_runs"])
    yield row("elsewhere", f"passed by {passing}" if passing else "no other run passes it")


def _best(dive: Row) -> str:
    parts = []
    if dive["best_rollout"]:
        parts.append(one_line(dive["best_rollout"], LONGEST_NAME))
    if dive["best_reward"] is not None:
        parts.append(f"reward {dive['best_reward']:g}")
    if dive["n_checks"]:
        parts.append(f"{dive['n_checks_passed']} of {dive['n_checks']} checks")
    if dive["n_expected_actions"]:
        parts.append(
            f"{dive['n_matched_actions']} of {dive['n_expected_actions']} expected actions"
        )
    return ", ".join(parts)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _attempts(count: int) -> str:
    return "1 attempt" if count == 1 else f"{count:,} attempts"
