"""blade why: the whole story of one task, across runs and repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from pipeline.answers.names import Row
from pipeline.answers.tasks import MOST_ATTEMPTS, SAYERS, SIDES, refuse_malformed, task_story
from pipeline.cli.compare_page import contrasted
from pipeline.cli.options import command, json_option, warehouse_option
from pipeline.cli.page import (
    LONGEST_TEXT,
    block,
    counted,
    facts,
    flat,
    heading,
    labelled,
    phrase,
    print_next,
    print_table,
    row,
    sentence,
)
from pipeline.report import wording
from pipeline.text import json_text, one_line
from pipeline.warehouse import open_warehouse

MOST_ARGUMENTS = 6
MOST_QUESTION_LINES = 16
MOST_CALLS = 8
SHOWN_SNIPPET = 160
SHOWN_CALL = 100
SHOWN_ANSWER = 60
# How a change differs from what was expected.
CALLS = {
    "differs": "different",
    "failed": "in error",
    "missing": "never made",
    "unasked": "not asked for",
}


@click.command()
@click.argument("task", metavar="RUN/TASK[:ROLLOUT]")
@warehouse_option
@json_option
def why(task: str, warehouse: Path, as_json: bool) -> None:
    """Show why RUN fails TASK: how all runs do on it, then each attempt with its evidence.

    With a rollout, that attempt comes first, and the contrast is its own.

    \b
    Examples:
      blade why office_desk_aster-8b/0
      blade why office_desk_aster-8b/0:1             one attempt first
      blade why office_desk_aster-8b/0 --json
    """
    refuse_malformed(task)
    with open_warehouse(warehouse) as opened:
        story = task_story(opened, task)
    story["next"] = _next(story, warehouse)
    if as_json:
        click.echo(json_text(story, indent=2))
        return
    _print_runs(story)
    for part in (_attempts_of, _expected_of, _contrast_of, _signs_of, _dive_of):
        for line in part(story):
            click.echo(line)
    click.echo()
    print_next(story["next"])


def _next(story: Row, warehouse: Path) -> list[str]:
    """The evidence to open, a run that fares otherwise, the run as a whole; each once."""
    own, *others = story["runs"]
    otherwise = [
        f"{run['run_id']}/{story['task_id']}"
        for run in others
        if run["is_same_question"] and run["bucket"] != own["bucket"]
    ]
    found = [
        *(("show", citation) for citation in _evidence(story)),
        *(("why", task) for task in otherwise[:1]),
        ("failures", story["run_id"]),
    ]
    return [command(name, argument, warehouse) for name, argument in dict.fromkeys(found)]


def _evidence(story: Row) -> Iterator[str]:
    """Both sides where two attempts diverge; else the first failing attempt, and the best."""
    if story["contrast"]:
        yield from (story["contrast"][side] for side in SIDES)
        return
    recorded = [each for each in story["attempts"] if each["outcome"] in ("scored", "unscored")]
    first = next((each for each in recorded if each["primary"]), next(iter(recorded), None))
    if first:
        yield first["citation"] + _place(first["primary"] or {"seq": None})
    best = story["dive"] and story["dive"]["best_rollout"]
    if best and best != (first and first["citation"]):
        yield best


def _place(mode: Row) -> str:
    return "" if mode["seq"] is None else f"#{mode['seq']}"


def _print_runs(story: Row) -> None:
    benchmark, runs, question = one_line(story["benchmark"]), story["runs"], story["question"]
    name = click.style(one_line(f"{story['run_id']}/{story['task_id']}"), bold=True)
    click.echo(f"{name}  benchmark {benchmark}")
    if slices := _joined(f"{name}={value}" for name, value in story["slices"].items()):
        click.echo(labelled("slices", slices))
    click.echo(heading("question"))
    is_held = question and question["text"].strip()
    shown = block(question, indent=2, most_lines=MOST_QUESTION_LINES) if is_held else ""
    click.echo(shown or "  the results do not hold it")
    click.echo(heading(f"across the runs of {benchmark}"))
    print_table(
        ("run", "bucket", "passed", "cause", ""),
        [
            (
                run["run_id"],
                run["bucket"] or ("n/a" if run["n_scored"] is None else "unknown"),
                "n/a" if run["n_passed"] is None else f"{run['n_passed']} of {run['n_scored']}",
                run["cause"] and wording.cause(run["cause"]),
                # A rule that found none suggests nothing.
                "curated label"
                if run["is_suggested"] is False
                else run["rule"] and f"{run['confidence']} suggestion",
            )
            for run in runs
        ],
        notes=[text and labelled("", text, indent=4) for text in map(_run_note, runs)],
    )
    if story["n_runs"] > len(runs):
        click.echo(f"and {story['n_runs'] - len(runs)} more runs")


def _run_note(run: Row) -> str:
    """What lies behind the row: who says so, and whether it is the same question at all."""
    is_tried, is_label = run["n_scored"] is not None, run["is_suggested"] is False
    rule = f" ({run['suggested_rule']})" if run["suggested_rule"] else ""
    return phrase(
        not is_tried and "the run has no attempt at this task",
        is_tried
        and run["bucket"] is None
        and "nothing says which reward passes: set pass_threshold in blade.toml",
        run["is_same_question"] is False and "asks another question under this name",
        run["note"] and (f"{run['rule']}: " if run["is_suggested"] else "") + flat(run["note"]),
        is_label and one_line(run["label_source"]),
        is_label and run["said_by"] and f"said by {one_line(run['said_by'])}",
        is_label and run["evidence"] and f"cites {_joined(run['evidence'])}",
        is_label and f"the rules suggest {wording.cause(run['suggested_cause'])}{rule}",
        by="; ",
    )


def _attempts_of(story: Row) -> Iterator[str]:
    shown = story["attempts"]
    yield heading(f"attempts of {one_line(story['run_id'])}")
    if not shown:
        yield "  none was expected or recorded"
    for attempt in shown:
        yield from _attempt_lines(attempt)
    if story["n_attempts"] > MOST_ATTEMPTS:
        n_passed = sum(attempt["is_pass"] is True for attempt in shown)
        left_out = story["n_attempts"] - len(shown)
        yield f"and {left_out:,} more; {n_passed} of those above passed"


def _attempt_lines(attempt: Row) -> Iterator[str]:
    is_lost = attempt["failure_class"] and attempt["outcome"] == "failed attempt"
    said = phrase(
        attempt["verdict"] + (f" ({one_line(attempt['failure_class'])})" if is_lost else ""),
        attempt["reward"] is not None and f"reward {attempt['reward']:g}",
        attempt["answer"] and f"answer {flat(attempt['answer'], SHOWN_ANSWER)}",
        attempt["last_stage"] and f"last stage: {one_line(attempt['last_stage'])}",
        attempt["n_checks"] and f"checks {attempt['n_checks_passed']} of {attempt['n_checks']}",
    )
    yield labelled(one_line(attempt["citation"]), said)
    snippet = None
    if mode := attempt["primary"]:
        snippet = mode["snippet"]
        cause = "" if mode["cause"] == "UNEXPLAINED" else f", {wording.cause(mode['cause'])}"
        yield row("mode", f"{one_line(mode['mode'])}{cause}: {sentence(mode['title'])}")
        place, tool = _place(mode), one_line(mode["tool"] or "")
        if place or snippet:
            yield row("evidence", phrase(place, tool, flat(snippet, SHOWN_SNIPPET), by=" "))
    others = (phrase(one_line(other["mode"]), _place(other), by=" ") for other in attempt["others"])
    yield from facts(
        ("also", ", ".join(others)),
        *(
            (SAYERS[name], flat(text))
            for name, text in attempt["said"].items()
            if not snippet or text["text"] != snippet["text"]
        ),
    )


def _expected_of(story: Row) -> Iterator[str]:
    """The first wrong change comes first."""
    found = story["expected_calls"]
    for call in found[:1]:
        done = f"{call['n_made']} of {counted(call['n_expected'], 'expected change')} made"
        yield heading("compared with what was expected") + f": {done}"
    for call in found[:MOST_CALLS]:
        said = f"{one_line(call['citation'])} {one_line(call['tool'])} {sentence(call['detail'])}"
        yield row(CALLS[call["status"]], said)
    if len(found) > MOST_CALLS:
        yield f"  and {len(found) - MOST_CALLS:,} more"


def _contrast_of(story: Row) -> Iterator[str]:
    found = story["contrast"]
    if not found:
        return
    which = "closest contrast" if found["is_closest"] else "contrast with the closest pass"
    others = f", of {found['n_contrasts']} attempts that failed: name one for its own"
    yield heading(which) + (others if found["n_contrasts"] > 1 else "")
    shared = counted(found["n_common"], "call")
    shared += f" (of {found['n_calls']} and {found['n_passing_calls']})"
    if found["n_common_first"]:
        shared += f"; {counted(found['n_common_first'], 'consequential step')} alike"
    # Which arguments differ says more than how long calls begin.
    limit = SHOWN_CALL if found["arguments"] else LONGEST_TEXT
    has_calls = found["n_calls"] or found["n_passing_calls"]
    yield from contrasted(found, shared if has_calls else "", limit)
    for argument in found["arguments"][:MOST_ARGUMENTS]:
        one, other = (sentence(argument[side]) or "not given" for side in SIDES)
        yield row("argument", f"{one_line(argument['name'])}: {one} | {other}")
    for side in SIDES:
        if tools := _joined(found[f"tools_only_{side}"]):
            yield row("tools", f"only {side}: {tools}")
    yield from facts(("also", sentence(found["differences"])))


def _signs_of(story: Row) -> Iterator[str]:
    """Signs against the task, its verifier, the data or the infrastructure; then all errors."""
    if story["suspicions"]:
        yield heading("suspicions") + ": perhaps not the model but the task, data or infrastructure"
    for found in story["suspicions"]:
        share = f"{found['n_with']} of {found['n_failing']} attempts that did not pass"
        why = f"{found['confidence']}, {found['rule']}: {flat(found['note'])}; {share}"
        said = f"{wording.cause(found['cause'])}, {why}"
        yield from facts(("suspicion", said), ("", _joined(found["evidence"] or [])))
    if story["error_signatures"]:
        yield heading("errors of this task") + ", without their numbers, paths and ids"
    for found in story["error_signatures"]:
        times = "once" if found["n_events"] == 1 else f"{found['n_events']:,} times"
        passed = f", {found['n_passed']} of them passed" if found["n_passed"] else ""
        said = f"{sentence(found['signature'])} ({one_line(found['example'])}), {times}"
        yield row(found["source"], f"{said} in {counted(found['n_rollouts'], 'attempt')}{passed}")


def _dive_of(story: Row) -> Iterator[str]:
    """Of a task that never passes what its attempts share, and how far the best one got."""
    dive = story["dive"]
    if not dive:
        return
    best = phrase(
        dive["best_rollout"] and one_line(dive["best_rollout"]),
        dive["best_reward"] is not None and f"reward {dive['best_reward']:g}",
        dive["n_checks"] and f"{dive['n_checks_passed']} of {dive['n_checks']} checks",
        dive["n_expected_actions"]
        and f"{dive['n_matched_actions']} of {dive['n_expected_actions']} expected actions",
    )
    at_last = f" in {dive['n_at_last_stage']} of {dive['n_scored']}"
    passing = ", ".join(one_line(name) for name in dive["passing_runs"])
    shared = ("calls", "answers") if dive["n_scored"] == 1 else ("all call", "all answer")
    yield heading("never passed in this run")
    yield from facts(
        ("mostly", dive["mode"] and f"{dive['mode']} in {counted(dive['n_with_mode'], 'attempt')}"),
        ("stops at", dive["last_stage"] and one_line(dive["last_stage"]) + at_last),
        (shared[0], _joined(dive["shared_tools"])),
        (shared[1], sentence(dive["shared_answer"])),
        ("best", best),
        ("elsewhere", f"passed by {passing}" if passing else "no other run passes it"),
    )


def _joined(names: Iterable[str]) -> str:
    return sentence(", ".join(names))
