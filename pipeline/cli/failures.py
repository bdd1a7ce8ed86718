"""blade failures: the ways in which runs fail, the commonest first."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.lookup import Row, bounded, command, grouped, known_run, rows
from pipeline.cli.options import json_option, warehouse_option
from pipeline.cli.page import heading, labelled, next_line, percent, print_rows, sentence, width
from pipeline.text import json_text, one_line
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
OUTCOMES = {
    "n_failed": "failed",
    "n_unscored": "unscored",
    "n_failed_attempts": "failed attempts",
    "n_missing": "missing",
}
EXPLAINERS = {
    "n_by_record": "explained by the record",
    "n_by_checks": "by failed checks",
    "n_by_trajectory": "by the trajectory",
    "n_described": "only described by what the verifier compares",
    "n_ungraded": "never graded",
}
MODE_COLUMNS = "mode cause intervention n_rollouts share_of_failures n_tasks"
ERROR_COLUMNS = "n_events n_rollouts n_failed n_tasks source"
CAUSE_COLUMNS = "cause n_tasks strong moderate weak curated"
SUGGESTIONS = (
    "Causes are suggestions of rules, never findings: a person settles them in a labels.jsonl, and "
    "such a label goes before what a rule suggests."
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
        if number:
            click.echo()
        _print(each, limit or MOST_MODES)
    if any(each["root_causes"] or each["n_not_passed"] for each in runs):
        click.echo("\n" + labelled("", SUGGESTIONS))
    recorded = [mode for each in runs for mode in each["modes"] if mode["is_example_recorded"]]
    causes = [_by_cause(each["root_causes"]) for each in runs if each["root_causes"]]
    if recorded:
        click.echo(next_line(command("show", recorded[0]["example"], warehouse)))
    if causes:
        click.echo(next_line(command("why", causes[0][0]["example"], warehouse)))


def _runs(warehouse: Warehouse, run_id: str | None, limit: int | None) -> list[Row]:
    if run_id is not None:
        known_run(warehouse, run_id)
    modes = grouped(rows(warehouse, MODES), "run_id")
    errors = grouped(rows(warehouse, ERRORS, limit or MOST_ERRORS), "run_id")
    causes = grouped(rows(warehouse, CAUSES), "run_id")
    explained = {each.pop("run_id"): each for each in rows(warehouse, EXPLAINED)}
    associations = grouped(rows(warehouse, ASSOCIATIONS), "run_id")
    uncounted = grouped(rows(warehouse, UNCOUNTED), "run_id")
    return [
        {
            **run,
            **_counted(modes[name]),
            "modes": [
                {**mode, "snippet": bounded(mode["snippet"], SNIPPET_CHARACTERS)}
                for mode in modes[name][:limit]
            ],
            "explained": explained.get(name),
            "associations": associations[name],
            "uncounted_modes": uncounted[name],
            "error_signatures": errors[name],
            "root_causes": causes[name],
        }
        for run in rows(warehouse, RUNS)
        if run_id in (None, name := run["run_id"])
    ]


def _counted(modes: list[Row]) -> Row:
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


def _print(run: Row, most_modes: int) -> None:
    """How much of a run failed and how much of that is unexplained; then the ways, and why."""
    click.echo(_headline(run))
    ranked = [mode for mode in run["modes"] if mode["n_rollouts"]]
    shown = ranked[:most_modes]
    if run["n_not_passed"]:
        click.echo()
        notes = [
            _note(mode, "title", "" if mode["is_example_recorded"] else ", no rollout to show")
            for mode in shown
        ]
        print_rows(MODE_COLUMNS, shown, notes=notes)
        n_rest = run["n_not_passed"] - sum(mode["n_rollouts"] for mode in shown)
        if n_rest:
            said = f"and {n_rest:,} attempts of other modes: --limit {run['n_modes']} lists all"
            click.echo(said)
        beside = [f"{mode['mode']} {mode['n_matched']:,}" for mode in run["modes"][len(ranked) :]]
        if beside:
            seen = sentence(", ".join(beside))
            click.echo(labelled("", f"seen only beside one of these: {seen}"))
    for mode in run["uncounted_modes"]:
        said = (
            f"{mode['mode']} is declared and does not count: {mode['n_signed_failed']:,} failures "
            f"and {mode['n_signed_passed']:,} passes bear it; always = true keeps it"
        )
        click.echo(labelled("", said))
    for found in run["associations"]:
        low, high = (100 * found[end] for end in ("risk_low", "risk_high"))
        said = (
            f"attempts with {sentence(found['sign'])} pass {100 * found['risk_difference']:.1f} "
            f"points less often on the same tasks (95% CI {low:.1f} to {high:.1f}); "
            f"{percent(found['share'])} bear it"
        )
        click.echo(labelled("", said))
    if errors := run["error_signatures"]:
        click.echo(heading("errors seen most") + ", without their numbers, paths and ids")
        print_rows(ERROR_COLUMNS, errors, notes=[_note(error, "signature") for error in errors])
    if causes := _by_cause(run["root_causes"]):
        click.echo(heading("root causes of tasks") + ", suggested unless curated")
        print_rows(CAUSE_COLUMNS, causes, notes=[_note(cause, "meaning") for cause in causes])


def _headline(run: Row) -> str:
    name = click.style(one_line(run["run_id"]), bold=True)
    parts = [f"{run[key]:,} {word}" for key, word in OUTCOMES.items() if run[key]]
    if not run["is_pass_settled"]:
        # Nothing that was scored is a failure then.
        highest = f"{run['highest_reward']:g}"
        said = (
            f"No scored attempt can be called failing: rewards go from {run['lowest_reward']:g} to "
            f"{highest}, and from which reward an attempt passes is not settled. Add to "
            f"blade.toml, for example: pass_threshold = {highest}"
        )
        without = f"Without a score: {', '.join(parts)} of {run['n_attempts']:,} attempts."
        rest = [without, _unexplained(run)] if parts else []
        return "\n".join([name, labelled("", said), *rest])
    if not run["n_attempts"]:
        return f"{name}  no attempt was expected or recorded"
    if not run["n_not_passed"]:
        return f"{name}  all {run['n_attempts']:,} attempts passed: no failures"
    counted = f"{run['n_not_passed']:,} of {run['n_attempts']:,} attempts did not pass"
    line = f"{counted}: {', '.join(parts)}"
    fits = len(run["run_id"]) + 2 + len(line) <= width()
    return f"{name}{'  ' if fits else chr(10)}{line}\n{_unexplained(run)}"


def _unexplained(run: Row) -> str:
    """What explains the failures, and how many nothing does."""
    found = run["explained"] or {}
    parts = [f"{found[key]:,} {words}" for key, words in EXPLAINERS.items() if found.get(key)]
    counted = f"{run['n_unexplained']:,} of {run['n_not_passed']:,}"
    share = percent(run["unexplained_share"])
    said = [f"{click.style(UNEXPLAINED, bold=True)}  {counted} ({share})", *parts]
    if found.get("is_unobserved"):
        said.append("no transcript recorded")
    return "; ".join(said)


def _note(row: Row, name: str, rest: str = "") -> str:
    """What stands below a row of a table: what it means, and where to look."""
    text = f"{sentence(row[name])} ({one_line(row['example'])}{rest})"
    return labelled("", text, indent=4)


def _by_cause(found: list[Row]) -> list[Row]:
    """One row per cause, most tasks first and what has none last, with a count per confidence."""
    causes: dict[str, Row] = {}
    for row in found:
        name, confidence = row["cause"], row["confidence"]
        cause = causes.setdefault(name, {"cause": name, "n_tasks": 0, "example": row["example"]})
        cause["n_tasks"] += row["n_tasks"]
        cause[confidence] = cause.get(confidence, 0) + row["n_tasks"]
        cause["example"] = min(cause["example"], row["example"])
        known = [MEANINGS[part] for part in name.split("+") if part in MEANINGS]
        cause["meaning"] = " and ".join(known)
    return sorted(
        causes.values(),
        key=lambda cause: (cause["cause"] == UNEXPLAINED, -cause["n_tasks"], cause["cause"]),
    )
