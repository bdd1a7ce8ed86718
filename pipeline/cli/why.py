"""blade why: the whole story of one task, across runs and repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from pipeline.citation import bounded_name, parse
from pipeline.cli.compare_page import SIDES, contrasted
from pipeline.cli.lookup import (
    Row,
    bounded,
    column,
    command,
    find_run,
    find_task,
    grouped,
    rows,
    short,
    task_names,
)
from pipeline.cli.options import json_option, warehouse_option
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
from pipeline.errors import UsageError, listed
from pipeline.report import wording
from pipeline.text import json_text, one_line
from pipeline.warehouse import Warehouse, open_warehouse

MOST_ATTEMPTS = 32
MOST_RUNS = 40
MOST_TOOLS = 20
MOST_ERRORS = 5
MOST_ARGUMENTS = 6
MOST_QUESTION_LINES = 16
# What was said of an attempt by what judged or ran it, and under which name.
SAYERS = {
    "failed_checks": "checks",
    "verifier_text": "verifier",
    "verifier_error": "verifier error",
    "sandbox_error": "sandbox",
    "model_error": "model call",
    "failure_message": "failed attempt",
}
# How much of a text is kept for a program, and how much of it a page shows.
KEPT = {"prompt": 1000, "note": 1000, "answer": 400, "snippet": 240} | {
    **dict.fromkeys(SAYERS, 400),
    **{f"{side}_event": 300 for side in SIDES},
}
# How a change differs from what was expected.
CALLS = {
    "differs": "different",
    "failed": "in error",
    "missing": "never made",
    "unasked": "not asked for",
}
NAMES = ("said_by", "failure_class", "tool")
MOST_CALLS = 8
SHOWN_SNIPPET = 160
SHOWN_CALL = 100
SHOWN_ANSWER = 60

# Of queries on a task, $1 is its run and $2 the task.
EXAMPLE = "select run_id || '/' || task_id from task_outcomes order by run_id, task_id limit 1"
# The question most rows of the run ask; of a task that it lacks, what its benchmark asks.
QUESTION = """
    select prompt, prompt_sha
    from (
        select prompt, prompt_sha, 0 as place, n_rows from task_prompts
        where run_id = $1 and task_id = $2
        union all
        select prompt, prompt_sha, 1 as place, 0 as n_rows from tasks
        where benchmark = $3 and task_id = $2
    )
    order by place, n_rows desc, prompt_sha
    limit 1
"""
RUNS = """
    select
        run_id, outcomes.bucket, n_passed, n_scored, n_expected, mean_reward,
        list_contains(questions, $4) as is_same_question,
        cause, confidence, is_suggested, rule, note, intervention, evidence,
        suggested_cause, suggested_rule, said_by, label_source
    from (select run_id from runs where benchmark = $3)
    left join (from task_outcomes where task_id = $2) as outcomes using (run_id)
    left join (
        select run_id, list(prompt_sha) as questions
        from task_prompts where task_id = $2 group by all
    ) using (run_id)
    left join (from root_causes where task_id = $2) using (run_id)
    left join (
        select run_id, said_by, source_file || ':' || source_line as label_source
        from labels where task_id = $2
    ) using (run_id)
    order by run_id <> $1, run_id
"""
ATTEMPTS = """
    select
        $1 || '/' || $2 || ':' || rollout_index as citation,
        case
            when outcome <> 'scored' then outcome
            when is_pass then 'passed'
            when not is_pass then 'failed'
            else 'pass unknown'
        end as verdict,
        rollout_index, outcome, is_pass, reward, answer, last_stage, failure_class,
        n_turns, n_tool_calls, n_tool_errors,
        n_checks_passed, n_checks_passed + n_checks_failed as n_checks,
        n_matched_actions, n_expected_actions,
        failed_checks, verifier_text, verifier_error, sandbox_error, model_error, failure_message,
        count(*) over () as n_attempts
    from rollout_features
    left join (select run_id, task_id, rollout_index, answer from rollouts)
        using (run_id, task_id, rollout_index)
    left join rollout_stages using (run_id, task_id, rollout_index)
    where run_id = $1 and task_id = $2
    order by rollout_index is distinct from $3, rollout_index
    limit $4
"""
MODES = """
    select
        rollout_index, mode, title, cause, intervention, rule, evidence_seq as seq, kind, tool,
        snippet, n_characters as snippet_chars
    from (from rollout_modes where run_id = $1 and task_id = $2)
    left join (select mode, title from failure_modes where run_id = $1) using (mode)
    left join (
        select rollout_index, seq as evidence_seq, kind, tool from events
        where run_id = $1 and task_id = $2
    ) using (rollout_index, evidence_seq)
    order by rollout_index, is_primary desc, severity desc, mode
"""
# Of the attempt that was cited, else of the first that failed: the changes its task expects that it
# did not make so, and those that nobody asked for.
EXPECTED = """
    select
        $1 || '/' || $2 || ':' || rollout_index || coalesce('#' || seq, '') as citation,
        calls.* exclude (run_id, task_id, rollout_index, call_no, call_key),
        n_expected, n_made
    from expected_calls as calls
    inner join (
        select
            rollout_index,
            count(*) filter (is_write and expected_no is not null) as n_expected,
            count(*) filter (is_write and calls.status = 'made') as n_made
        from expected_calls as calls
        left join rollouts using (run_id, task_id, rollout_index)
        where run_id = $1 and task_id = $2
        group by rollout_index
        order by coalesce(rollout_index <> $3, true), min(is_pass), rollout_index
        limit 1
    ) using (rollout_index)
    where run_id = $1 and task_id = $2 and is_write and status <> 'made'
    order by is_first desc, call_no
"""
# The attempt that was cited, else the closest pair of the task.
CONTRAST = """
    select
        $1 || '/' || $2 || ':' || rollout_index || coalesce('#' || seq, '') as failing,
        $1 || '/' || $2 || ':' || passing_index || coalesce('#' || passing_seq, '') as passing,
        difference,
        failing_event, failing_chars as failing_event_chars,
        passing_event, passing_chars as passing_event_chars,
        coalesce(arguments, []) as arguments,
        n_calls, n_passing_calls, n_common, n_common_first,
        coalesce(tools_only_failing, []) as tools_only_failing,
        coalesce(tools_only_passing, []) as tools_only_passing,
        differences, is_closest, count(*) over () as n_contrasts
    from contrasts
    where run_id = $1 and task_id = $2
    order by rollout_index is distinct from $3, is_closest desc, rollout_index
    limit 1
"""
SUSPICIONS = """
    select * exclude (run_id, task_id) from suspicions where run_id = $1 and task_id = $2
    order by case confidence when 'strong' then 1 when 'moderate' then 2 else 3 end, rule
"""
ERRORS = """
    select
        source,
        signature,
        count(*) as n_events,
        count(distinct rollout_index) as n_rollouts,
        count(distinct rollout_index) filter (is_pass) as n_passed,
        arg_min(citation, (rollout_index, place)) as example
    from staging.errors
    left join rollout_features using (run_id, task_id, rollout_index)
    where run_id = $1 and task_id = $2
    group by all
    order by n_rollouts desc, n_events desc, source, signature
    limit $3
"""
DIVE = "select * exclude (run_id, task_id) from never_dives where run_id = $1 and task_id = $2"


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


def _find(warehouse: Warehouse, text: str) -> Row:
    """Task ids may hold slashes and colons: a task of that name goes before a citation."""
    run_id, _, name = text.partition("/")
    if not (run_id and name):
        hints = [f"For example: blade why {one_line(task)}" for task in column(warehouse, EXAMPLE)]
        raise UsageError(f"{one_line(text)} is not RUN/TASK.", hint="".join(hints))
    run = find_run(warehouse, run_id)
    asked = {"run_id": run["run_id"], "rollout_index": None, "benchmark": run["benchmark"]}
    citation, tasks = parse(text), task_names(warehouse, run)
    if citation is None or bounded_name(name) in tasks:
        return {**asked, "task_id": find_task(run, bounded_name(name), tasks)}
    asked |= {"task_id": find_task(run, citation.task_id, tasks)}
    query = "select rollout_index from rollout_features where run_id = ? and task_id = ? order by 1"
    repeats = column(warehouse, query, run["run_id"], asked["task_id"])
    if citation.rollout_index not in repeats:
        hint = f"Attempts at this task: {listed(repeats) or 'none'}"
        raise UsageError(f"{one_line(text)}: no such attempt.", hint=hint)
    return {**asked, "rollout_index": citation.rollout_index}


def task_story(warehouse: Warehouse, task: str) -> Row:
    """The task across runs, then its attempts in the run that was asked for, as plain values."""
    asked = _find(warehouse, task)
    key, benchmark = (asked["run_id"], asked["task_id"]), asked["benchmark"]
    nothing = {"prompt": None, "prompt_sha": None}
    (question,) = rows(warehouse, QUESTION, *key, benchmark) or [nothing]
    query = "select slices from tasks where benchmark = ? and task_id = ?"
    slices = column(warehouse, query, benchmark, key[1])[:1]
    runs = [_cut(run) for run in rows(warehouse, RUNS, *key, benchmark, question["prompt_sha"])]
    found = rows(warehouse, ATTEMPTS, *key, asked["rollout_index"], MOST_ATTEMPTS)
    n_attempts = [attempt.pop("n_attempts") for attempt in found]
    modes = grouped(map(_cut, rows(warehouse, MODES, *key) if found else []), "rollout_index")
    contrasts = [_cut(row) for row in rows(warehouse, CONTRAST, *key, asked["rollout_index"])]
    dives = rows(warehouse, DIVE, *key)
    for dive in dives:
        dive["shared_tools"] = [short(tool) for tool in dive["shared_tools"][:MOST_TOOLS]]
        dive["passing_runs"] = [run["run_id"] for run in runs if run["n_passed"]][:MOST_RUNS]
    return {
        **asked,
        "question": _cut(question)["prompt"],
        "slices": {str(short(name)): short(each[name]) for each in slices for name in sorted(each)},
        "n_runs": len(runs),
        "runs": runs[:MOST_RUNS],
        "n_attempts": n_attempts[0] if found else 0,
        "attempts": [_attempt(_cut(attempt), modes[attempt["rollout_index"]]) for attempt in found],
        "expected_calls": rows(warehouse, EXPECTED, *key, asked["rollout_index"]),
        "contrast": contrasts[0] if contrasts else None,
        "suspicions": [_cut(suspicion) for suspicion in rows(warehouse, SUSPICIONS, *key)],
        "error_signatures": rows(warehouse, ERRORS, *key, MOST_ERRORS),
        "dive": dives[0] if dives else None,
    }


def _cut(row: Row) -> Row:
    """Texts of any length with the whole's, which stands beside what is a beginning itself."""
    return {
        name: bounded(value, KEPT[name], n_characters=row.get(f"{name}_chars"))
        if name in KEPT
        else (short(value) if name in NAMES else value)
        for name, value in row.items()
        if not name.endswith("_chars")
    }


def _attempt(attempt: Row, modes: list[Row]) -> Row:
    said = {name: attempt.pop(name) for name in SAYERS}
    return {
        **attempt,
        "said": {name: text for name, text in said.items() if text and text["text"]},
        "primary": modes[0] if modes else None,
        "others": modes[1:],
    }


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
