"""blade failures: the ways in which runs fail, the commonest first."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.lookup import Row, bounded, command, find_run, grouped, rows
from pipeline.cli.options import json_option, warehouse_option
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
from pipeline.warehouse import Warehouse, open_warehouse

MOST_MODES = 8
MOST_OF_MANY = 4
MOST_ERRORS = 5
SNIPPET_CHARACTERS = 240
UNEXPLAINED = "UNEXPLAINED"
CONFIDENCES = ("strong", "moderate", "weak", "curated")
OUTCOMES = {
    "n_failed": "failed",
    "n_unscored": "unscored",
    "n_failed_attempts": "failed attempts",
    "n_missing": "missing",
}
SUGGESTIONS = (
    "Rules suggest causes; they do not prove them. A labels.jsonl beside the results corrects them."
)

RUNS = """
    with attempts as (
        select
            run_id,
            count(*) as n_attempts,
            count(*) filter (outcome = 'failed attempt') as n_failed_attempts,
            count(*) filter (outcome = 'missing') as n_missing
        from rollout_features
        group by all
    )
    select
        run_id,
        benchmark,
        pass_threshold is not null as is_pass_settled,
        min(min_reward) over (partition by benchmark) as lowest_reward,
        max(max_reward) over (partition by benchmark) as highest_reward,
        coalesce(n_attempts, 0) as n_attempts,
        n_passed, n_failed, n_unscored,
        coalesce(attempts.n_failed_attempts, 0) as n_failed_attempts,
        coalesce(attempts.n_missing, 0) as n_missing
    from run_metrics
    left join attempts using (run_id)
    order by run_id
"""
# What was never recorded has no rollout to open: it is cited by its place in the grid.
MODES = """
    select
        * exclude (severity, n_failures, snippet, first)
            replace (coalesce(example, run_id || '/' || first) as example)
            rename (default_cause as cause),
        example is not null as is_example_recorded,
        snippet
    from failure_modes
    left join (
        select
            run_id,
            mode,
            arg_min(task_id || ':' || rollout_index, (task_id, rollout_index)) as first
        from rollout_modes
        where is_primary
        group by all
    ) using (run_id, mode)
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
EXPLAINED = "select * exclude (n_failures) from report.explained order by run_id"
# What attempts with a sign pass less often by, where that is surer than chance.
ASSOCIATIONS = """
    select run_id, sign, source, n_signed, share, risk_difference, risk_low, risk_high, points
    from associations where ci_low > 0
    order by run_id, points desc, sign
"""
# Modes that a profile declares are never dropped in silence.
UNCOUNTED = """
    select
        run_id, sign as mode, q_value,
        n_signed_failed, n_signed - n_signed_failed as n_signed_passed
    from mode_tests inner join (select run_id, benchmark from runs) using (benchmark)
    where source = 'profile' and not is_counted
    order by run_id, mode
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
    causes = [_by_cause(each["root_causes"])[0] for each in runs if each["root_causes"]]
    told = [command("why", cause["example"], warehouse) for cause in causes]
    whole = [command("failures", each["run_id"], warehouse) for each in runs if is_brief]
    print_next([*whole[:1], *told[:1], *shown[:1]])


def ranked_failures(warehouse: Warehouse, name: str | None, limit: int | None) -> list[Row]:
    """What fails in all runs or in one: modes, errors, causes, and how much is unexplained."""
    chosen = None if name is None else find_run(warehouse, name)["run_id"]
    modes = grouped(rows(warehouse, MODES), "run_id")
    errors = grouped(rows(warehouse, ERRORS, limit or MOST_ERRORS), "run_id")
    causes = grouped(rows(warehouse, CAUSES), "run_id")
    explained = {each.pop("run_id"): each for each in rows(warehouse, EXPLAINED)}
    associations = grouped(rows(warehouse, ASSOCIATIONS), "run_id")
    uncounted = grouped(rows(warehouse, UNCOUNTED), "run_id")
    return [
        {
            **run,
            **_counts(modes[run_id]),
            "modes": [
                {**mode, "snippet": bounded(mode["snippet"], SNIPPET_CHARACTERS)}
                for mode in modes[run_id][:limit]
            ],
            "explained": explained.get(run_id),
            "associations": associations[run_id],
            "uncounted_modes": uncounted[run_id],
            "error_signatures": errors[run_id],
            "root_causes": causes[run_id],
        }
        for run in rows(warehouse, RUNS)
        if chosen in (None, run_id := run["run_id"])
    ]


def _counts(modes: list[Row]) -> Row:
    """What no rule explains, before anything that one does."""
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
    if causes := _by_cause(run["root_causes"]):
        click.echo(heading("root causes of tasks") + ", by how surely rules suggest them")
        sure = [name for name in CONFIDENCES if any(name in cause for cause in causes)]
        print_table(
            ("cause", "tasks", *sure, "such as"),
            [
                (
                    *(wording.cause(cause["cause"]), cause["n_tasks"]),
                    *(cause.get(name) for name in sure),
                    cause["example"],
                )
                for cause in causes
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


def _by_cause(found: list[Row]) -> list[Row]:
    """One row per cause, most tasks first and what has none last, with a count per confidence."""
    causes: dict[str, Row] = {}
    for each in found:
        name, confidence = each["cause"], each["confidence"]
        cause = causes.setdefault(name, {"cause": name, "n_tasks": 0, "example": each["example"]})
        cause["n_tasks"] += each["n_tasks"]
        cause[confidence] = cause.get(confidence, 0) + each["n_tasks"]
        cause["example"] = min(cause["example"], each["example"])
    return sorted(
        causes.values(),
        key=lambda cause: (cause["cause"] == UNEXPLAINED, -cause["n_tasks"], cause["cause"]),
    )
