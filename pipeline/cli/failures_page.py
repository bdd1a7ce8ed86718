"""How the attempts of each run fail, as a page for people."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click

from pipeline.cli.lookup import Row, command
from pipeline.cli.paragraphs import LONGEST_COMMAND, heading, labelled, width
from pipeline.cli.tables import print_table
from pipeline.text import one_line

MOST_MODES = 12
LONGEST_NAME = 200
LONGEST_TEXT = 400
CAUSES = {
    "KG": "knowledge gap",
    "UK": "unreliable knowledge",
    "BI": "behaviour",
    "TI": "task or verifier",
    "IR": "infrastructure",
    "DA": "data artifact",
    "UNEXPLAINED": "no rule suggests one",
}
CONFIDENCES = ("strong", "moderate", "weak", "curated")
OUTCOMES = {
    "n_failed": "failed",
    "n_unscored": "unscored",
    "n_failed_attempts": "failed attempts",
    "n_missing": "missing",
}
SUGGESTIONS = (
    "Causes are suggestions of rules, never findings: a person settles them in a labels.jsonl, and "
    "such a label goes before what a rule suggests."
)


def print_failures(runs: list[Row], warehouse: Path, *, limit: int | None) -> None:
    """A section a run: how much failed, how much of it is unexplained, then the rest by rank."""
    for number, run in enumerate(runs):
        click.echo("" if number == 0 else "\n", nl=False)
        click.echo(_headline(run))
        if run["n_not_passed"]:
            _print_modes(run, limit or MOST_MODES)
        if run["error_signatures"]:
            _print_errors(run["error_signatures"])
        if run["root_causes"]:
            _print_causes(run["root_causes"])
    if any(run["root_causes"] or run["n_not_passed"] for run in runs):
        click.echo("\n" + labelled("", SUGGESTIONS))
    for line in _next(runs, warehouse):
        click.echo(labelled("next", line))


def _headline(run: Row) -> str:
    name = click.style(one_line(run["run_id"], LONGEST_NAME), bold=True)
    if not run["is_pass_settled"]:
        return f"{name}\n{_unsettled(run)}"
    if not run["n_attempts"]:
        return f"{name}  no attempt was expected or recorded"
    if not run["n_not_passed"]:
        return f"{name}  all {run['n_attempts']:,} attempts passed: no failures"
    parts = [f"{run[key]:,} {word}" for key, word in OUTCOMES.items() if run[key]]
    counted = f"{run['n_not_passed']:,} of {run['n_attempts']:,} attempts did not pass"
    line = f"{counted}: {', '.join(parts)}"
    fits = len(run["run_id"]) + 2 + len(line) <= width()
    return f"{name}{'  ' if fits else chr(10)}{line}\n{_unexplained(run)}"


def _unsettled(run: Row) -> str:
    """What passes was never said: then nothing that was scored is a failure."""
    lowest, highest = run["lowest_reward"], run["highest_reward"]
    said = (
        f"No scored attempt can be called failing: rewards go from {lowest:g} to {highest:g}, and "
        "from which reward an attempt passes is not settled. Add to blade.toml, for example: "
        f"pass_threshold = {highest:g}"
    )
    left = [f"{run[key]:,} {word}" for key, word in list(OUTCOMES.items())[1:] if run[key]]
    without = f"Without a score: {', '.join(left)} of {run['n_attempts']:,} attempts."
    return "\n".join([labelled("", said), *([without, _unexplained(run)] if left else [])])


def _unexplained(run: Row) -> str:
    counted = f"{run['n_unexplained']:,} of {run['n_not_passed']:,}"
    share = f"{100 * run['unexplained_share']:.1f}%"
    said = f"{click.style('UNEXPLAINED', bold=True)}  {counted} ({share}) match no rule"
    if run["n_without_cause"]:
        said += f"; {run['n_without_cause']:,} more match one that suggests no cause"
    return said


def _print_modes(run: Row, limit: int) -> None:
    ranked = [mode for mode in run["modes"] if mode["n_rollouts"]]
    shown = ranked[:limit]
    click.echo()
    print_table(
        ("mode", "cause", "intervention", "rollouts", "share", "tasks"),
        [
            (
                mode["mode"],
                mode["cause"],
                mode["intervention"],
                mode["n_rollouts"],
                f"{100 * mode['share_of_failures']:.1f}%",
                mode["n_tasks"],
            )
            for mode in shown
        ],
        notes=[_mode_note(mode) for mode in shown],
    )
    n_rest = run["n_not_passed"] - sum(mode["n_rollouts"] for mode in shown)
    if n_rest:
        click.echo(f"and {n_rest:,} attempts of other modes: --limit {run['n_modes']} lists all")
    beside = [f"{mode['mode']} {mode['n_matched']:,}" for mode in run["modes"][len(ranked) :]]
    if beside:
        seen = one_line(", ".join(beside), LONGEST_TEXT)
        click.echo(labelled("", f"seen only beside one of these: {seen}"))


def _mode_note(mode: Row) -> str:
    title = one_line(mode["title"], LONGEST_TEXT)
    example = one_line(mode["example"], LONGEST_NAME)
    rest = "" if mode["is_example_recorded"] else ", no rollout to show"
    return labelled("", f"{title} ({example}{rest})", indent=4)


def _print_errors(errors: list[Row]) -> None:
    click.echo(heading("errors seen most") + ", without their numbers, paths and ids")
    print_table(
        ("events", "rollouts", "not passed", "tasks", "source"),
        [
            (
                error["n_events"],
                error["n_rollouts"],
                error["n_failed"],
                error["n_tasks"],
                error["source"],
            )
            for error in errors
        ],
        notes=[_error_note(error) for error in errors],
    )


def _error_note(error: Row) -> str:
    signature = one_line(error["signature"], LONGEST_TEXT)
    return labelled("", f"{signature} ({one_line(error['example'], LONGEST_NAME)})", indent=4)


def _print_causes(causes: list[Row]) -> None:
    """A row a cause, most tasks first; a column for how surely it is suggested."""
    click.echo(heading("root causes of tasks") + ", suggested unless curated")
    ranked = _by_cause(causes)
    print_table(
        ("cause", "tasks", *CONFIDENCES),
        [
            (name, _count(found), *(_count(found, level) or None for level in CONFIDENCES))
            for name, found in ranked
        ],
        notes=[_cause_note(name, found) for name, found in ranked],
    )


def _cause_note(cause: str, found: list[Row]) -> str:
    meaning = " and ".join(CAUSES[part] for part in cause.split("+") if part in CAUSES)
    example = one_line(min(row["example"] for row in found), LONGEST_NAME)
    return labelled("", f"{meaning} ({example})", indent=4)


def _by_cause(causes: list[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in causes:
        found[row["cause"]].append(row)
    return sorted(
        found.items(), key=lambda item: (item[0] == "UNEXPLAINED", -_count(item[1]), item[0])
    )


def _count(found: list[Row], confidence: str | None = None) -> int:
    return sum(row["n_tasks"] for row in found if confidence in (None, row["confidence"]))


def _next(runs: list[Row], warehouse: Path) -> list[str]:
    """The evidence of the first mode that has some, and a task to read whole."""
    commands = []
    recorded = [mode for run in runs for mode in run["modes"] if mode["is_example_recorded"]]
    if recorded:
        commands.append(command("show", recorded[0]["example"], warehouse))
    causes: list[Row] = next((run["root_causes"] for run in runs if run["root_causes"]), [])
    if causes:
        _, found = _by_cause(causes)[0]
        commands.append(command("why", min(row["example"] for row in found), warehouse))
    return [one_line(line, LONGEST_COMMAND) for line in commands]
