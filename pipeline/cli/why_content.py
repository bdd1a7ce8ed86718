"""Everything the warehouse knows of why a task fails, as plain values."""

from __future__ import annotations

from pipeline.cli.lookup import Row, bounded, rows, short
from pipeline.cli.why_attempts import attempts
from pipeline.cli.why_contrast import contrast
from pipeline.cli.why_task import Asked
from pipeline.warehouse import Warehouse

QUESTION_CHARACTERS = 1000
NOTE_CHARACTERS = 1000
MOST_ERRORS = 5
MOST_RUNS = 40
MOST_TOOLS = 20

# The question most rows of the run ask; of a task that it lacks, what its benchmark asks.
QUESTION = """
    select left(prompt, ?) as prompt, length(prompt) as n_characters, prompt_sha
    from (
        select prompt, prompt_sha, 0 as place, n_rows from task_prompts
        where run_id = ? and task_id = ?
        union all
        select prompt, prompt_sha, 1 as place, 0 as n_rows from tasks
        where benchmark = ? and task_id = ?
    )
    order by place, n_rows desc, prompt_sha
    limit 1
"""
RUNS = """
    with asked as (
        select run_id, list(distinct prompt_sha) as questions
        from task_prompts where task_id = ? group by run_id
    )
    select
        runs.run_id,
        outcomes.bucket,
        outcomes.n_passed,
        outcomes.n_scored,
        outcomes.n_expected,
        outcomes.mean_reward,
        list_contains(asked.questions, ?) as is_same_question,
        causes.cause,
        causes.confidence,
        causes.is_suggested,
        causes.rule,
        causes.note,
        causes.intervention,
        causes.evidence,
        causes.suggested_cause,
        causes.suggested_rule,
        labels.said_by,
        labels.source_file || ':' || labels.source_line as label_source
    from runs
    left join task_outcomes as outcomes on outcomes.run_id = runs.run_id and outcomes.task_id = ?
    left join asked on asked.run_id = runs.run_id
    left join root_causes as causes on causes.run_id = runs.run_id and causes.task_id = ?
    left join labels on labels.run_id = runs.run_id and labels.task_id = ?
    where runs.benchmark = ?
    order by runs.run_id <> ?, runs.run_id
"""
SUSPICIONS = """
    select rule, cause, confidence, note, intervention, evidence, n_with, n_failing
    from suspicions where run_id = ? and task_id = ?
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
    where errors.run_id = ? and errors.task_id = ?
    group by all
    order by n_rollouts desc, n_events desc, source, signature
    limit ?
"""


def story(warehouse: Warehouse, asked: Asked) -> Row:
    """The task across runs, then its attempts in the run that was asked for."""
    key = (asked.run_id, asked.task_id)
    question, sha = _question(warehouse, asked)
    runs = _runs(warehouse, asked, sha)
    told = attempts(warehouse, asked)
    return {
        "run_id": asked.run_id,
        "task_id": asked.task_id,
        "rollout_index": asked.rollout_index,
        "benchmark": asked.benchmark,
        "question": question,
        "slices": _slices(warehouse, asked),
        "n_runs": len(runs),
        "runs": runs[:MOST_RUNS],
        "n_attempts": told.n_attempts,
        "attempts": told.shown,
        "contrast": contrast(warehouse, asked),
        "suspicions": [_noted(row) for row in rows(warehouse, SUSPICIONS, *key)],
        "error_signatures": rows(warehouse, ERRORS, *key, MOST_ERRORS),
        "dive": _dive(warehouse, asked, runs),
    }


def _question(warehouse: Warehouse, asked: Asked) -> tuple[Row | None, str | None]:
    found = rows(
        warehouse,
        QUESTION,
        QUESTION_CHARACTERS,
        *(asked.run_id, asked.task_id, asked.benchmark, asked.task_id),
    )
    if not found:
        return None, None
    text, whole, sha = (found[0][name] for name in ("prompt", "n_characters", "prompt_sha"))
    return bounded(text, QUESTION_CHARACTERS, n_characters=whole), sha


def _slices(warehouse: Warehouse, asked: Asked) -> dict[str, str | None]:
    query = "select slices from tasks where benchmark = ? and task_id = ?"
    found = rows(warehouse, query, asked.benchmark, asked.task_id)
    slices = found[0]["slices"] if found else {}
    return {str(short(name)): short(slices[name]) for name in sorted(slices)}


def _runs(warehouse: Warehouse, asked: Asked, sha: str | None) -> list[Row]:
    """The run asked for first, then the others of its benchmark."""
    task = asked.task_id
    found = rows(warehouse, RUNS, task, sha, task, task, task, asked.benchmark, asked.run_id)
    return [_noted(row) for row in found]


def _noted(row: Row) -> Row:
    """A curator's note may be long, and so may what they are called."""
    noted = {**row, "note": bounded(row["note"], NOTE_CHARACTERS)}
    return {**noted, "said_by": short(row["said_by"])} if "said_by" in row else noted


def _dive(warehouse: Warehouse, asked: Asked, runs: list[Row]) -> Row | None:
    """What a task that never passes tells, and which runs do pass it."""
    query = "from never_dives where run_id = ? and task_id = ?"
    found = rows(warehouse, query, asked.run_id, asked.task_id)
    if not found:
        return None
    dive = {name: value for name, value in found[0].items() if name not in ("run_id", "task_id")}
    dive["shared_tools"] = [short(tool) for tool in dive["shared_tools"][:MOST_TOOLS]]
    passing = [run["run_id"] for run in runs if run["n_passed"]]
    return {**dive, "passing_runs": passing[:MOST_RUNS]}
