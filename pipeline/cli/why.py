"""blade why: the whole story of one task, across runs and repeats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from pipeline.citation import Citation, parse
from pipeline.cli.lookup import Row, bounded, command, grouped, known_run, listed, rows, short
from pipeline.cli.options import json_option, warehouse_option
from pipeline.cli.paragraphs import (
    LONGEST_COMMAND,
    LONGEST_TEXT,
    block,
    flat,
    heading,
    inline,
    labelled,
    row,
)
from pipeline.cli.tables import print_table
from pipeline.errors import UsageError
from pipeline.report.wording import PARTINGS
from pipeline.text import json_text
from pipeline.warehouse import Warehouse, open_warehouse

MOST_ATTEMPTS = 32
MOST_RUNS = 40
MOST_TOOLS = 20
MOST_ERRORS = 5
MOST_ARGUMENTS = 6
MOST_QUESTION_LINES = 16
# How much of a text is kept for a program, and how much of it a page shows.
QUESTION_CHARACTERS = 1000
NOTE_CHARACTERS = 1000
SAID_CHARACTERS = 400
EVENT_CHARACTERS = 300
SNIPPET_CHARACTERS = 240
VALUE_CHARACTERS = 120
SHOWN_SNIPPET = 160
SHOWN_CALL = 100
SHOWN_ANSWER = 60
# So much of what two long values share is shown before they diverge.
LEAD = 20
SIDES = ("failing", "passing")
# What was said of an attempt by what judged or ran it, and under which name.
SAYERS = {
    "verifier_text": "verifier",
    "verifier_error": "verifier error",
    "sandbox_error": "sandbox",
    "model_error": "model call",
    "failure_message": "failed attempt",
}

# Of queries on a task, $1 is its run and $2 the task.
# Of the run, or of its benchmark: that a run lacks a task is a story too.
IS_TASK = """
    select 1 from task_outcomes where run_id = $1 and task_id = $2
    union all
    select 1 from tasks where benchmark = $3 and task_id = $2
"""
# A task that is worth asking about.
EXAMPLE = """
    select run_id || '/' || task_id as task from task_outcomes
    order by bucket in ('sometimes', 'never') desc nulls last, run_id, task_id limit 1
"""
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
    with asked as (
        select run_id, list(distinct prompt_sha) as questions
        from task_prompts where task_id = $2 group by run_id
    )
    select
        runs.run_id, outcomes.bucket, outcomes.n_passed, outcomes.n_scored, outcomes.n_expected,
        outcomes.mean_reward,
        list_contains(asked.questions, $4) as is_same_question,
        causes.cause, causes.confidence, causes.is_suggested, causes.rule, causes.note,
        causes.intervention, causes.evidence, causes.suggested_cause, causes.suggested_rule,
        labels.said_by,
        labels.source_file || ':' || labels.source_line as label_source
    from runs
    left join task_outcomes as outcomes
        on outcomes.run_id = runs.run_id and outcomes.task_id = $2
    left join asked on asked.run_id = runs.run_id
    left join root_causes as causes on causes.run_id = runs.run_id and causes.task_id = $2
    left join labels on labels.run_id = runs.run_id and labels.task_id = $2
    where runs.benchmark = $3
    order by runs.run_id <> $1, runs.run_id
"""
ATTEMPTS = """
    select
        features.rollout_index, features.outcome, features.is_pass, features.reward,
        rollouts.answer, stages.last_stage, features.failure_class,
        features.n_turns, features.n_tool_calls, features.n_tool_errors,
        features.n_checks_passed,
        features.n_checks_passed + features.n_checks_failed as n_checks,
        features.n_matched_actions, features.n_expected_actions,
        features.verifier_text, features.verifier_error, features.sandbox_error,
        features.model_error, features.failure_message,
        count(*) over () as n_attempts
    from rollout_features as features
    left join rollouts using (run_id, task_id, rollout_index)
    left join rollout_stages as stages using (run_id, task_id, rollout_index)
    where run_id = $1 and task_id = $2
    order by features.rollout_index is distinct from $3, features.rollout_index
    limit $4
"""
MODES = """
    with here as (
        from rollout_modes where run_id = $1 and task_id = $2
    ),
    places as (
        select rollout_index, seq, kind, tool from events
        where run_id = $1 and task_id = $2
    )
    select
        here.rollout_index, here.mode, modes.title, here.cause, here.intervention, here.rule,
        here.evidence_seq as seq, places.kind, places.tool, here.snippet, here.n_characters
    from here
    left join failure_modes as modes on modes.run_id = here.run_id and modes.mode = here.mode
    left join places
        on places.rollout_index = here.rollout_index and places.seq = here.evidence_seq
    order by here.rollout_index, here.is_primary desc, here.severity desc, here.mode
"""
# The attempt that was cited, else the closest pair of the task.
CONTRAST = """
    select *, count(*) over () as n_contrasts
    from contrasts where run_id = $1 and task_id = $2
    order by rollout_index is distinct from $3, is_closest desc, rollout_index
    limit 1
"""
ARGUMENTS = """
    select arguments from events
    where run_id = ? and task_id = ? and rollout_index = ? and seq = ? and kind = 'tool_call'
"""
SUSPICIONS = """
    select rule, cause, confidence, note, intervention, evidence, n_with, n_failing
    from suspicions where run_id = $1 and task_id = $2
    order by case confidence when 'strong' then 1 when 'moderate' then 2 else 3 end, rule
"""
ERRORS = """
    select
        errors.source,
        errors.signature,
        count(*) as n_events,
        count(distinct errors.rollout_index) as n_rollouts,
        count(distinct errors.rollout_index) filter (where features.is_pass) as n_passed,
        arg_min(errors.citation, (errors.rollout_index, errors.place)) as example
    from staging.errors as errors
    left join rollout_features as features using (run_id, task_id, rollout_index)
    where errors.run_id = $1 and errors.task_id = $2
    group by all
    order by n_rollouts desc, n_events desc, source, signature
    limit $3
"""


@click.command()
@click.argument("task", metavar="RUN/TASK[:ROLLOUT]")
@warehouse_option
@json_option
def why(task: str, warehouse: Path, as_json: bool) -> None:
    """Tell why RUN fails TASK: how all runs fare on it, then each attempt with its evidence.

    With a rollout, that attempt comes first, and the contrast is its own.

    \b
    Examples:
      blade why office_desk_aster-8b/0
      blade why office_desk_aster-8b/0:1             one attempt first
      blade why office_desk_aster-8b/0 --json
    """
    with open_warehouse(warehouse) as opened:
        story = _story(opened, _find(opened, task))
    story["next"] = _next(story, warehouse)
    if as_json:
        click.echo(json_text(story, indent=2))
        return
    _print_runs(story)
    sections = (_attempts_of, _contrast_of, _suspicions_of, _errors_of, _dive_of)
    for line in (line for section in sections for line in section(story)):
        click.echo(line)
    click.echo()
    for line in story["next"]:
        click.echo(f"next  {inline(line, LONGEST_COMMAND)}")


def _find(warehouse: Warehouse, text: str) -> Row:
    """Task ids may hold slashes and colons: a task of that name goes before a citation."""
    run_id, slash, task_id = text.partition("/")
    if not (run_id and slash and task_id):
        found = rows(warehouse, EXAMPLE)
        example = f"For example: blade why {inline(found[0]['task'])}" if found else ""
        raise UsageError(f"{inline(text)} is not RUN/TASK.", hint=example)
    benchmark = known_run(warehouse, run_id)["benchmark"]
    citation = parse(text)
    asked = {"run_id": run_id, "task_id": task_id, "rollout_index": None, "benchmark": benchmark}
    if rows(warehouse, IS_TASK, run_id, task_id, benchmark):
        return asked
    if citation is None or not rows(warehouse, IS_TASK, run_id, citation.task_id, benchmark):
        query = "select task_id from task_outcomes where run_id = ? order by all"
        tasks = [row["task_id"] for row in rows(warehouse, query, run_id)]
        hint = f"Tasks of the run: {listed(tasks)}" if tasks else "The run has no tasks."
        raise UsageError(f"{inline(text)}: no such task in this run.", hint=hint)
    query = """
        select rollout_index from rollout_features where run_id = ? and task_id = ? order by all
    """
    repeats = [row["rollout_index"] for row in rows(warehouse, query, run_id, citation.task_id)]
    if citation.rollout_index not in repeats:
        hint = f"There are these repeats of this task: {listed(repeats)}"
        cited = inline(str(Citation(*citation.rollout, None)))
        raise UsageError(f"{cited}: no such attempt.", hint=hint if repeats else "It has none.")
    return {**asked, "task_id": citation.task_id, "rollout_index": citation.rollout_index}


def _story(warehouse: Warehouse, asked: Row) -> Row:
    """The task across runs, then its attempts in the run that was asked for, as plain values."""
    key, benchmark = (asked["run_id"], asked["task_id"]), asked["benchmark"]
    question = rows(warehouse, QUESTION, *key, benchmark)
    sha = question[0]["prompt_sha"] if question else None
    query = "select slices from tasks where benchmark = ? and task_id = ?"
    slices = [row["slices"] for row in rows(warehouse, query, benchmark, key[1])][:1]
    runs = [_noted(row) for row in rows(warehouse, RUNS, *key, benchmark, sha)]
    found = rows(warehouse, ATTEMPTS, *key, asked["rollout_index"], MOST_ATTEMPTS)
    modes = grouped(rows(warehouse, MODES, *key) if found else [], "rollout_index")
    return {
        **asked,
        "question": bounded(question[0]["prompt"], QUESTION_CHARACTERS) if question else None,
        "slices": {str(short(name)): short(each[name]) for each in slices for name in sorted(each)},
        "n_runs": len(runs),
        "runs": runs[:MOST_RUNS],
        "n_attempts": found[0]["n_attempts"] if found else 0,
        "attempts": [_attempt(asked, row, modes[row["rollout_index"]]) for row in found],
        "contrast": _contrast(warehouse, asked),
        "suspicions": [_noted(row) for row in rows(warehouse, SUSPICIONS, *key)],
        "error_signatures": rows(warehouse, ERRORS, *key, MOST_ERRORS),
        "dive": _dive(warehouse, asked, runs),
    }


def _cited(asked: Row, rollout_index: int, seq: int | None = None) -> str:
    return str(Citation(asked["run_id"], asked["task_id"], rollout_index, seq))


def _noted(row: Row) -> Row:
    """A curator's note may be long, and so may what they are called."""
    noted = {**row, "note": bounded(row["note"], NOTE_CHARACTERS)}
    return {**noted, "said_by": short(row["said_by"])} if "said_by" in row else noted


def _attempt(asked: Row, row: Row, modes: list[Row]) -> Row:
    """An attempt with its modes and their evidence."""
    passed = {True: "passed", False: "failed", None: "pass unsettled"}[row["is_pass"]]
    for mode in modes:
        whole = mode.pop("n_characters")
        mode["tool"] = short(mode["tool"])
        mode["snippet"] = bounded(mode["snippet"], SNIPPET_CHARACTERS, n_characters=whole)
    return {
        "citation": _cited(asked, row["rollout_index"]),
        "verdict": passed if row["outcome"] == "scored" else row["outcome"],
        **{name: value for name, value in row.items() if name not in (*SAYERS, "n_attempts")},
        "answer": bounded(row["answer"], SAID_CHARACTERS),
        "failure_class": short(row["failure_class"]),
        "said": {name: bounded(row[name], SAID_CHARACTERS) for name in SAYERS if row[name]},
        "primary": modes[0] if modes else None,
        "others": modes[1:],
    }


def _contrast(warehouse: Warehouse, asked: Row) -> Row | None:
    """A failing attempt and the closest passing one: what differs first, and what stands there."""
    key = (asked["run_id"], asked["task_id"])
    found = rows(warehouse, CONTRAST, *key, asked["rollout_index"])
    if not found:
        return None
    row = found[0]
    places = [(row["rollout_index"], row["seq"]), (row["passing_index"], row["passing_seq"])]
    calls = [
        _call(rows(warehouse, ARGUMENTS, *key, *place) if row["difference"] == "arguments" else [])
        for place in places
    ]
    events = {
        f"{side}_event": bounded(
            row[f"{side}_event"], EVENT_CHARACTERS, n_characters=row[f"{side}_chars"]
        )
        for side in SIDES
    }
    same = ("n_calls", "n_passing_calls", "n_common", "n_common_first")
    return {
        **{side: _cited(asked, *place) for side, place in zip(SIDES, places, strict=True)},
        "difference": row["difference"],
        **events,
        "arguments": _arguments(*calls),
        **{name: row[name] for name in same},
        **{f"tools_only_{side}": list(row[f"tools_only_{side}"] or []) for side in SIDES},
        **{name: row[name] for name in ("differences", "is_closest", "n_contrasts")},
    }


def _call(found: list[Row]) -> dict[str, str]:
    """The arguments of a call by name, each as JSON; none where they are no object."""
    try:
        read: Any = json.loads(found[0]["arguments"]) if found else None
    except (TypeError, ValueError, RecursionError):
        return {}
    return {name: json_text(each) for name, each in read.items()} if isinstance(read, dict) else {}


def _arguments(failing: dict[str, str], passing: dict[str, str]) -> list[Row]:
    """The arguments in which two calls of one tool differ: long calls look alike at first."""
    return [
        {
            "name": name[:VALUE_CHARACTERS],
            "failing": _from_divergence(failing.get(name), passing.get(name)),
            "passing": _from_divergence(passing.get(name), failing.get(name)),
        }
        for name in sorted({*failing, *passing})
        if failing.get(name) != passing.get(name)
    ][:MOST_ARGUMENTS]


def _from_divergence(text: str | None, other: str | None) -> Row | None:
    """A value from shortly before where it diverges from the other one."""
    if text is None:
        return None
    pairs = zip(text, other or "", strict=False)
    n_same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = max(0, n_same - LEAD) if len(text) > VALUE_CHARACTERS else 0
    shown = ("…" if start else "") + text[start : start + VALUE_CHARACTERS]
    return {"text": shown, "n_characters": len(text)}


def _dive(warehouse: Warehouse, asked: Row, runs: list[Row]) -> Row | None:
    """What a task that never passes has to say, and which runs do pass it."""
    query = "select * exclude (run_id, task_id) from never_dives where run_id = ? and task_id = ?"
    for dive in rows(warehouse, query, asked["run_id"], asked["task_id"]):
        dive["shared_tools"] = [short(tool) for tool in dive["shared_tools"][:MOST_TOOLS]]
        passing = [run["run_id"] for run in runs if run["n_passed"]]
        return {**dive, "passing_runs": passing[:MOST_RUNS]}
    return None


def _next(story: Row, warehouse: Path) -> list[str]:
    """The evidence to open, a run that fares otherwise, the run as a whole; each once."""
    own, *others = story["runs"]
    otherwise = [
        run["run_id"]
        for run in others
        if run["is_same_question"] and run["bucket"] != own["bucket"]
    ]
    found = [
        *(("show", citation) for citation in _evidence(story)),
        *(("why", f"{run_id}/{story['task_id']}") for run_id in otherwise[:1]),
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
        seq = first["primary"]["seq"] if first["primary"] else None
        yield first["citation"] + ("" if seq is None else f"#{seq}")
    best = story["dive"] and story["dive"]["best_rollout"]
    if best and best != (first and first["citation"]):
        yield best


def _print_runs(story: Row) -> None:
    """The question, and how all runs fare on it."""
    benchmark = inline(story["benchmark"])
    name = inline(f"{story['run_id']}/{story['task_id']}")
    click.echo(f"{click.style(name, bold=True)}  benchmark {benchmark}")
    slices = [f"{name}={value}" for name, value in story["slices"].items()]
    if slices:
        click.echo(labelled("slices", inline(", ".join(slices), LONGEST_TEXT)))
    click.echo(heading("question"))
    if story["question"] and story["question"]["text"].strip():
        click.echo(block(story["question"], indent=2, most_lines=MOST_QUESTION_LINES))
    else:
        click.echo("  the results do not hold it")
    click.echo(heading(f"across the runs of {benchmark}"))
    runs = story["runs"]
    print_table(
        ("run", "bucket", "passed", "cause", ""),
        [
            (
                run["run_id"],
                run["bucket"] or ("n/a" if run["n_scored"] is None else "unsettled"),
                "n/a" if run["n_passed"] is None else f"{run['n_passed']} of {run['n_scored']}",
                run["cause"],
                _standing(run),
            )
            for run in runs
        ],
        notes=[_run_note(run) for run in runs],
    )
    if story["n_runs"] > len(runs):
        click.echo(f"and {story['n_runs'] - len(runs)} more runs")


def _standing(run: Row) -> str | None:
    """Whether a cause is suggested or curated; a rule that found none suggests nothing."""
    if run["is_suggested"] is False:
        return "curated label"
    return f"{run['confidence']} suggestion" if run["rule"] else None


def _run_note(run: Row) -> str:
    """What lies behind the row: who says so, and whether it is the same question at all."""
    parts = []
    if run["n_scored"] is None:
        parts.append("the run has no attempt at this task")
    elif run["bucket"] is None:
        parts.append("what passes is not settled: say pass_threshold in blade.toml")
    if run["is_same_question"] is False:
        parts.append("asks another question under this name")
    if run["note"]:
        rule = f"{run['rule']}: " if run["is_suggested"] else ""
        parts.append(rule + flat(run["note"]))
    if run["is_suggested"] is False:
        parts.append(inline(run["label_source"]))
        if run["said_by"]:
            parts.append(f"said by {inline(run['said_by'])}")
        if run["evidence"]:
            parts.append(f"cites {inline(', '.join(run['evidence']), LONGEST_TEXT)}")
        rule = f" ({run['suggested_rule']})" if run["suggested_rule"] else ""
        parts.append(f"the rules suggest {run['suggested_cause']}{rule}")
    return labelled("", "; ".join(parts), indent=4) if parts else ""


def _attempts_of(story: Row) -> Iterator[str]:
    shown = story["attempts"]
    yield heading(f"attempts of {inline(story['run_id'])}")
    if not shown:
        yield "  none was expected or recorded"
    for attempt in shown:
        yield from _attempt_lines(attempt)
    if story["n_attempts"] > MOST_ATTEMPTS:
        n_passed = sum(attempt["is_pass"] is True for attempt in shown)
        left_out = story["n_attempts"] - len(shown)
        yield f"and {left_out:,} more; {n_passed} of those above passed"


def _attempt_lines(attempt: Row) -> Iterator[str]:
    facts = [attempt["verdict"]]
    if attempt["failure_class"] and attempt["outcome"] == "failed attempt":
        facts[0] += f" ({inline(attempt['failure_class'])})"
    if attempt["reward"] is not None:
        facts.append(f"reward {attempt['reward']:g}")
    if attempt["answer"]:
        facts.append(f"answer {flat(attempt['answer'], SHOWN_ANSWER)}")
    if attempt["last_stage"]:
        facts.append(f"last stage: {inline(attempt['last_stage'])}")
    if attempt["n_checks"]:
        facts.append(f"checks {attempt['n_checks_passed']} of {attempt['n_checks']}")
    yield labelled(inline(attempt["citation"]), ", ".join(facts))
    mode = attempt["primary"] or {"snippet": None}
    if attempt["primary"]:
        cause = "" if mode["cause"] == "UNEXPLAINED" else f" ({mode['cause']})"
        title = inline(mode["title"] or "", LONGEST_TEXT)
        yield row("mode", f"{inline(mode['mode'])}{cause}: {title}")
        place = "" if mode["seq"] is None else f"#{mode['seq']} "
        tool = f"{inline(mode['tool'])} " if mode["tool"] else ""
        if place or mode["snippet"]:
            yield row("evidence", f"{place}{tool}{flat(mode['snippet'], SHOWN_SNIPPET)}".rstrip())
    others = [
        inline(other["mode"]) + ("" if other["seq"] is None else f" #{other['seq']}")
        for other in attempt["others"]
    ]
    if others:
        yield row("also", ", ".join(others))
    for name, text in attempt["said"].items():
        if text["text"] != (mode["snippet"] or {}).get("text"):
            yield row(SAYERS[name], flat(text))


def _contrast_of(story: Row) -> Iterator[str]:
    """Where a failing attempt diverges from the closest pass."""
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
    limit = SHOWN_CALL if found["arguments"] else LONGEST_TEXT
    for side in SIDES:
        yield row(side, inline(found[side]))
        if text := flat(found[f"{side}_event"], limit):
            yield row("", text)
    for argument in found["arguments"]:
        one, other = (flat(argument[side]) or "not given" for side in SIDES)
        yield row("argument", f"{inline(argument['name'])}: {one} | {other}")
    for side in SIDES:
        if tools := found[f"tools_only_{side}"]:
            yield row("tools", f"only {side}: {inline(', '.join(tools), LONGEST_TEXT)}")
    if found["differences"]:
        yield row("also", inline(found["differences"], LONGEST_TEXT))


def _suspicions_of(story: Row) -> Iterator[str]:
    """Signs against the task, its verifier, the data or the infrastructure."""
    if story["suspicions"]:
        yield heading("suspicions") + ": perhaps not the model but the task, data or infrastructure"
    for found in story["suspicions"]:
        counted = f"{found['n_with']} of {found['n_failing']} attempts that did not pass"
        said = f"{found['confidence']}, {found['rule']}: {flat(found['note'])}; {counted}"
        yield row(found["cause"], said)
        if found["evidence"]:
            yield row("", inline(", ".join(found["evidence"]), LONGEST_TEXT))


def _errors_of(story: Row) -> Iterator[str]:
    """The error signatures of the task, and whether passes show them too."""
    if story["error_signatures"]:
        yield heading("errors of this task") + ", without their numbers, paths and ids"
    for found in story["error_signatures"]:
        times = "once" if found["n_events"] == 1 else f"{found['n_events']:,} times"
        passed = f", {found['n_passed']} of them passed" if found["n_passed"] else ""
        said = f"{inline(found['signature'], LONGEST_TEXT)} ({inline(found['example'])})"
        yield row(found["source"], f"{said}, {times} in {_attempts(found['n_rollouts'])}{passed}")


def _dive_of(story: Row) -> Iterator[str]:
    """What a task that never passes has to say."""
    dive = story["dive"]
    if not dive:
        return
    yield heading("never passed in this run")
    if dive["mode"]:
        yield row("mostly", f"{dive['mode']} in {_attempts(dive['n_with_mode'])}")
    if dive["last_stage"]:
        counted = f"{dive['n_at_last_stage']} of {dive['n_scored']}"
        yield row("stops at", f"{inline(dive['last_stage'])} in {counted}")
    if dive["shared_tools"]:
        yield row("all call", inline(", ".join(dive["shared_tools"]), LONGEST_TEXT))
    if dive["error_signature"]:
        signature = inline(dive["error_signature"], LONGEST_TEXT)
        yield row("error", f"{signature}, in {_attempts(dive['n_with_error'])}")
    if dive["shared_answer"]:
        yield row("all answer", inline(dive["shared_answer"], LONGEST_TEXT))
    best = [inline(dive["best_rollout"])] if dive["best_rollout"] else []
    if dive["best_reward"] is not None:
        best.append(f"reward {dive['best_reward']:g}")
    if dive["n_checks"]:
        best.append(f"{dive['n_checks_passed']} of {dive['n_checks']} checks")
    if dive["n_expected_actions"]:
        counted = f"{dive['n_matched_actions']} of {dive['n_expected_actions']}"
        best.append(f"{counted} expected actions")
    yield row("best", ", ".join(best))
    passing = ", ".join(inline(name) for name in dive["passing_runs"])
    yield row("elsewhere", f"passed by {passing}" if passing else "no other run passes it")


def _attempts(count: int) -> str:
    return "1 attempt" if count == 1 else f"{count:,} attempts"
