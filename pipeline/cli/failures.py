"""blade failures: the ways in which runs fail, the commonest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click

from pipeline.cli.lookup import Row, bounded, command, grouped, known_run, rows
from pipeline.cli.options import json_option, warehouse_option
from pipeline.cli.paragraphs import LONGEST_TEXT, heading, inline, labelled, next_line, width
from pipeline.cli.tables import percent, print_table
from pipeline.text import json_text
from pipeline.warehouse import Warehouse, open_warehouse

MOST_ERRORS = 5
MOST_MODES = 12
SNIPPET_CHARACTERS = 240
UNEXPLAINED = "UNEXPLAINED"
MEANINGS = {
    "KG": "knowledge gap",
    "UK": "unreliable knowledge",
    "BI": "behaviour",
    "TI": "task or verifier",
    "IR": "infrastructure",
    "DA": "data artifact",
    UNEXPLAINED: "no rule suggests one",
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

# Of attempts that are not passes: where what passes is unsettled, a scored one is neither.
RUNS = """
    with attempts as (
        select
            run_id,
            count(*) as n_attempts,
            count(*) filter (where is_pass) as n_passed,
            count(*) filter (where not is_pass and is_scored) as n_failed,
            count(*) filter (where outcome = 'unscored') as n_unscored,
            count(*) filter (where outcome = 'failed attempt') as n_failed_attempts,
            count(*) filter (where outcome = 'missing') as n_missing
        from rollout_features
        group by run_id
    )
    select
        run_id,
        benchmark,
        pass_threshold is not null as is_pass_settled,
        min(min_reward) over (partition by benchmark) as lowest_reward,
        max(max_reward) over (partition by benchmark) as highest_reward,
        coalesce(attempts.n_attempts, 0) as n_attempts,
        case when pass_threshold is not null then coalesce(attempts.n_passed, 0) end as n_passed,
        case when pass_threshold is not null then coalesce(attempts.n_failed, 0) end as n_failed,
        coalesce(attempts.n_unscored, 0) as n_unscored,
        coalesce(attempts.n_failed_attempts, 0) as n_failed_attempts,
        coalesce(attempts.n_missing, 0) as n_missing
    from run_metrics
    left join attempts using (run_id)
    order by run_id
"""
# What was never recorded has no rollout to open: it is cited by its place in the grid.
MODES = """
    with firsts as (
        select
            run_id,
            mode,
            arg_min(task_id || ':' || rollout_index, (task_id, rollout_index)) as first
        from rollout_modes
        where is_primary
        group by all
    )
    select
        modes.run_id, modes.mode, modes.title, modes.default_cause as cause, modes.intervention,
        modes.n_rollouts, modes.n_tasks, modes.n_matched, modes.share_of_failures,
        coalesce(modes.example, modes.run_id || '/' || firsts.first) as example,
        modes.example is not null as is_example_recorded,
        modes.snippet
    from failure_modes as modes
    left join firsts using (run_id, mode)
    order by run_id, n_rollouts desc, n_tasks desc, n_matched desc, mode
"""
ERRORS = """
    select
        run_id, source, signature, n_events, n_rollouts,
        case when pass_threshold is not null then n_failed end as n_failed,
        n_tasks, example
    from error_signatures
    inner join (select run_id, pass_threshold from runs) using (run_id)
    qualify row_number() over (
        partition by run_id order by n_rollouts desc, n_events desc, source, signature
    ) <= ?
    order by run_id, n_rollouts desc, n_events desc, source, signature
"""
CAUSES = """
    select
        run_id, cause, confidence, is_suggested,
        count(*) as n_tasks,
        min(run_id || '/' || task_id) as example
    from root_causes
    group by all
    order by run_id, n_tasks desc, cause, is_suggested, confidence
"""


@click.command()
@click.argument("run", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Most modes and errors listed for each run.  [default: 12 and 5; --json: all modes]",
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
        runs = _runs(opened, run, limit)
    if as_json:
        click.echo(json_text({"runs": runs}, indent=2))
        return
    for number, each in enumerate(runs):
        click.echo("" if number == 0 else "\n", nl=False)
        click.echo(_headline(each))
        if each["n_not_passed"]:
            _print_modes(each, limit or MOST_MODES)
        if each["error_signatures"]:
            _print_errors(each["error_signatures"])
        if each["root_causes"]:
            _print_causes(each["root_causes"])
    if any(each["root_causes"] or each["n_not_passed"] for each in runs):
        click.echo("\n" + labelled("", SUGGESTIONS))
    for line in _next(runs, warehouse):
        click.echo(next_line(line))


def _runs(warehouse: Warehouse, run_id: str | None, limit: int | None) -> list[Row]:
    """Every run, or the one asked for, with its modes, errors and causes."""
    if run_id is not None:
        known_run(warehouse, run_id)
    modes = grouped(rows(warehouse, MODES), "run_id")
    errors = grouped(rows(warehouse, ERRORS, limit or MOST_ERRORS), "run_id")
    causes = grouped(rows(warehouse, CAUSES), "run_id")
    return [
        {
            **run,
            **_counted(modes[name]),
            "modes": modes[name][:limit],
            "error_signatures": errors[name],
            "root_causes": causes[name],
        }
        for run in rows(warehouse, RUNS)
        if run_id in (None, name := run["run_id"])
    ]


def _counted(modes: list[Row]) -> Row:
    """What no rule explains, before anything that one does; snippets are cut on the way."""
    for mode in modes:
        mode["snippet"] = bounded(mode["snippet"], SNIPPET_CHARACTERS)
    n_not_passed = sum(mode["n_rollouts"] for mode in modes)
    n_unexplained = sum(mode["n_rollouts"] for mode in modes if mode["mode"] == UNEXPLAINED)
    n_without_cause = sum(mode["n_rollouts"] for mode in modes if mode["cause"] == UNEXPLAINED)
    return {
        "n_not_passed": n_not_passed,
        "n_unexplained": n_unexplained,
        "unexplained_share": n_unexplained / n_not_passed if n_not_passed else None,
        "n_without_cause": n_without_cause - n_unexplained,
        "n_modes": len(modes),
    }


def _headline(run: Row) -> str:
    """How much of a run failed, and how much of that is unexplained."""
    name = click.style(inline(run["run_id"]), bold=True)
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
    share = percent(run["unexplained_share"])
    said = f"{click.style(UNEXPLAINED, bold=True)}  {counted} ({share}) match no rule"
    if run["n_without_cause"]:
        said += f"; {run['n_without_cause']:,} more match one that suggests no cause"
    return said


def _note(text: str, example: str, rest: str = "") -> str:
    """What stands below a row of a table: what it means, and where to look."""
    return labelled("", f"{inline(text, LONGEST_TEXT)} ({inline(example)}{rest})", indent=4)


def _print_modes(run: Row, limit: int) -> None:
    ranked = [mode for mode in run["modes"] if mode["n_rollouts"]]
    shown = ranked[:limit]
    click.echo()
    print_table(
        ("mode", "cause", "intervention", "rollouts", "share", "tasks"),
        [
            (
                *(mode[name] for name in ("mode", "cause", "intervention", "n_rollouts")),
                percent(mode["share_of_failures"]),
                mode["n_tasks"],
            )
            for mode in shown
        ],
        notes=[
            _note(
                mode["title"],
                mode["example"],
                "" if mode["is_example_recorded"] else ", no rollout to show",
            )
            for mode in shown
        ],
    )
    n_rest = run["n_not_passed"] - sum(mode["n_rollouts"] for mode in shown)
    if n_rest:
        click.echo(f"and {n_rest:,} attempts of other modes: --limit {run['n_modes']} lists all")
    beside = [f"{mode['mode']} {mode['n_matched']:,}" for mode in run["modes"][len(ranked) :]]
    if beside:
        seen = inline(", ".join(beside), LONGEST_TEXT)
        click.echo(labelled("", f"seen only beside one of these: {seen}"))


def _print_errors(errors: list[Row]) -> None:
    click.echo(heading("errors seen most") + ", without their numbers, paths and ids")
    columns = ("n_events", "n_rollouts", "n_failed", "n_tasks", "source")
    print_table(
        ("events", "rollouts", "not passed", "tasks", "source"),
        [[error[name] for name in columns] for error in errors],
        notes=[_note(error["signature"], error["example"]) for error in errors],
    )


def _print_causes(causes: list[Row]) -> None:
    """One row per cause, most tasks first; a column for how surely it is suggested."""
    click.echo(heading("root causes of tasks") + ", suggested unless curated")
    ranked = _by_cause(causes)
    print_table(
        ("cause", "tasks", *CONFIDENCES),
        [
            (name, _count(found), *(_count(found, level) or None for level in CONFIDENCES))
            for name, found in ranked
        ],
        notes=[
            _note(
                " and ".join(MEANINGS[part] for part in name.split("+") if part in MEANINGS),
                _example(found),
            )
            for name, found in ranked
        ],
    )


def _by_cause(causes: list[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in causes:
        found[row["cause"]].append(row)
    return sorted(
        found.items(), key=lambda item: (item[0] == UNEXPLAINED, -_count(item[1]), item[0])
    )


def _count(found: list[Row], confidence: str | None = None) -> int:
    return sum(row["n_tasks"] for row in found if confidence in (None, row["confidence"]))


def _example(found: list[Row]) -> str:
    return min(str(row["example"]) for row in found)


def _next(runs: list[Row], warehouse: Path) -> Iterator[str]:
    """The evidence of the first mode that has some, and a task to read whole."""
    recorded = [mode for run in runs for mode in run["modes"] if mode["is_example_recorded"]]
    if recorded:
        yield command("show", recorded[0]["example"], warehouse)
    causes = next((run["root_causes"] for run in runs if run["root_causes"]), None)
    if causes:
        yield command("why", _example(_by_cause(causes)[0][1]), warehouse)
