"""blade failures: the ways in which runs fail, the commonest first."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.answers.names import Row
from pipeline.answers.runs import UNEXPLAINED, ranked_failures
from pipeline.cli.options import command, json_option, warehouse_option
from pipeline.cli.page import (
    counted,
    heading,
    labelled,
    percent,
    print_next,
    print_table,
    row,
    sentence,
    width,
)
from pipeline.report import wording
from pipeline.text import json_text, one_line
from pipeline.warehouse import open_warehouse

MOST_MODES = 8
MOST_OF_MANY = 4
OUTCOMES = {
    "n_failed": "failed",
    "n_unscored": "unscored",
    "n_failed_attempts": "failed attempts",
    "n_missing": "missing",
}
SUGGESTIONS = (
    "Rules suggest causes; they do not prove them. A labels.jsonl beside the results corrects them."
)


@click.command()
@click.argument("run", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Most modes and errors listed for each run.  [default: 8 and 5; --json: all modes]",
)
@warehouse_option
@json_option
def failures(run: str | None, limit: int | None, warehouse: Path, as_json: bool) -> None:
    """Rank the failure modes of all runs, or of RUN, with an example of each.

    \b
    Examples:
      blade failures
      blade failures office_desk_aster-8b --limit 30
      blade failures quick_math_aster-8b --json
    """
    with open_warehouse(warehouse) as opened:
        runs = ranked_failures(opened, run, limit)
    if as_json:
        click.echo(json_text({"runs": runs}, indent=2))
        return
    is_brief = len(runs) > 1 and limit is None
    for number, each in enumerate(runs):
        each["root_causes"].sort(key=lambda cause: cause["cause"] == UNEXPLAINED)
        if number:
            click.echo()
        _print(each, limit or (MOST_OF_MANY if is_brief else MOST_MODES), is_brief=is_brief)
    if any(each["root_causes"] or each["n_not_passed"] for each in runs):
        click.echo(f"\n{SUGGESTIONS}")
    shown = [
        command("show", mode["example"], warehouse)
        for each in runs
        for mode in each["modes"]
        if mode["is_example_recorded"]
    ]
    told = [
        command("why", each["root_causes"][0]["example"], warehouse)
        for each in runs
        if each["root_causes"]
    ]
    whole = [command("failures", each["run_id"], warehouse) for each in runs if is_brief]
    print_next([*whole[:1], *told[:1], *shown[:1]])


def _print(run: Row, most_modes: int, *, is_brief: bool) -> None:
    """How much of a run failed and how much of that is unexplained; then the ways, and why."""
    click.echo(_headline(run))
    ranked = [mode for mode in run["modes"] if mode["n_rollouts"]]
    shown = ranked[:most_modes]
    if run["n_not_passed"]:
        click.echo()
        cells = [
            (
                *(mode["mode"], mode["n_rollouts"], percent(mode["share_of_failures"])),
                *(mode["n_tasks"], wording.cause(mode["cause"]), mode["intervention"]),
            )
            for mode in shown
        ]
        headings = ("mode", "attempts", "share", "tasks", "cause", "fix")
        print_table(headings, cells, notes=[_note(mode) for mode in shown])
        n_rest = run["n_not_passed"] - sum(mode["n_rollouts"] for mode in shown)
        if n_rest:
            click.echo(
                f"and {n_rest:,} attempts of other modes: --limit {run['n_modes']} lists all"
            )
        beside = [f"{mode['mode']} {mode['n_matched']:,}" for mode in run["modes"][len(ranked) :]]
        if beside and not is_brief:
            click.echo(labelled("", f"also seen, never first: {sentence(', '.join(beside))}"))
    for mode in run["uncounted_modes"]:
        said = (
            f"{mode['mode']} is declared and does not count: {mode['n_signed_failed']:,} failures "
            f"and {mode['n_signed_passed']:,} passes have it; always = true keeps it"
        )
        click.echo(labelled("", said))
    for found in run["associations"]:
        low, high = (100 * found[end] for end in ("risk_low", "risk_high"))
        said = (
            f"attempts with {sentence(found['sign'])} pass {100 * found['risk_difference']:.1f} "
            f"points less often on the same tasks (95% CI {low:.1f} to {high:.1f}); "
            f"{percent(found['share'])} have it"
        )
        click.echo(labelled("", said))
    if is_brief:
        return
    if run["error_signatures"]:
        click.echo(heading("most frequent errors") + ", without their numbers, paths and ids")
    for error in run["error_signatures"]:
        said = f"{error['source']}: {sentence(error['signature'])} ({one_line(error['example'])})"
        click.echo(row(counted(error["n_rollouts"], "attempt"), said))
    if causes := run["root_causes"]:
        click.echo(heading("root causes of tasks") + ", by how surely rules suggest them")
        print_table(
            ("cause", "confidence", "tasks", "such as"),
            [
                (wording.cause(each["cause"]), each["confidence"], each["n_tasks"], each["example"])
                for each in causes
            ],
        )


def _headline(run: Row) -> str:
    name = click.style(one_line(run["run_id"]), bold=True)
    parts = [f"{run[key]:,} {word}" for key, word in OUTCOMES.items() if run[key]]
    if not run["is_pass_settled"]:
        # Nothing that was scored is a failure then.
        highest = f"{run['highest_reward']:g}"
        said = (
            f"No scored attempt can be called failing: rewards go from {run['lowest_reward']:g} to "
            f"{highest}, and nothing says from which reward an attempt passes. Add to "
            f"blade.toml, for example: pass_threshold = {highest}"
        )
        without = f"Without a score: {', '.join(parts)} of {run['n_attempts']:,} attempts."
        rest = [without, _explained(run)] if parts else []
        return "\n".join([name, labelled("", said), *rest])
    if not run["n_attempts"]:
        return f"{name}  no attempt was expected or recorded"
    if not run["n_not_passed"]:
        return f"{name}  all {run['n_attempts']:,} attempts passed: no failures"
    line = f"{run['n_not_passed']:,} of {run['n_attempts']:,} attempts did not pass: "
    line += ", ".join(parts)
    fits = len(run["run_id"]) + 2 + len(line) <= width()
    return f"{name}{'  ' if fits else chr(10)}{line}\n{_explained(run)}"


def _explained(run: Row) -> str:
    """What explains the failures, and how many nothing does."""
    found = run["explained"] or {}
    parts = [
        f"{found[key]:,} {words}" for key, words in wording.EXPLAINERS.items() if found.get(key)
    ]
    said = f"{run['n_unexplained']:,} of {run['n_not_passed']:,}"
    said += f" ({percent(run['unexplained_share'])})"
    if found.get("is_unobserved"):
        parts.append("no transcript recorded")
    return labelled(UNEXPLAINED, said + (f"; explained: {', '.join(parts)}" if parts else ""))


def _note(mode: Row) -> str:
    """What a mode means, and where to look."""
    absent = "" if mode["is_example_recorded"] else ", not recorded"
    text = f"{sentence(mode['title'])} ({one_line(mode['example'])}{absent})"
    return labelled("", text, indent=4)
