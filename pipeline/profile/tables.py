"""Write a profile into small tables of the schema `raw`, and its predicates into relations."""

from __future__ import annotations

import duckdb

from ..relation import Relation, create_table
from .allowed import EVENTS, LONG_COLUMNS, ROLLOUT_COLUMNS
from .contents import (
    FIRST_STAGES,
    FIXED_STAGES,
    LAST_STAGES,
    PREDICATES,
    FailureMode,
    Profile,
)
from .fields import json_path

KEY = ("run_id", "task_id", "rollout_index")
SETTINGS = (
    "benchmark varchar, pass_threshold double, task_id_path varchar, reward_path varchar, "
    "answer_path varchar, group_path varchar, has_slices boolean, n_expected_tasks bigint, "
    "has_expected_names boolean, n_expected_repeats bigint, is_growing boolean"
)
RULES = "rule_no bigint, mode varchar, predicate varchar, cause varchar, severity bigint"
# Stages that are left out if no rollout of the benchmark reaches them.
OPTIONAL = frozenset(PREDICATES) - {*FIXED_STAGES, "scored"}


def write(db: duckdb.DuckDBPyConnection, profile: Profile, *, is_growing: bool = False) -> None:
    """Write settings in one row; slices, expected tasks, stages and rules in a table each.

    `is_growing`: the results are incomplete, so that verdicts are provisional.
    """
    paths = [
        None if path is None else json_path(path)
        for path in (profile.task_id, profile.reward, profile.answer, profile.group)
    ]
    names = profile.expected_task_ids
    n_tasks = profile.expected_tasks if names is None else len(names)
    settings = (
        profile.benchmark,
        profile.pass_threshold,
        *paths,
        profile.slices is not None,
        n_tasks,
        names is not None,
        profile.expected_repeats,
        is_growing,
    )
    create_table(db, "raw.settings", SETTINGS, [settings])
    slices = [(name, json_path(name)) for name in profile.slices or ()]
    create_table(db, "raw.slice_fields", "name varchar, path varchar", slices)
    create_table(db, "raw.expected_tasks", "task_id varchar", [(name,) for name in names or ()])
    create_table(db, "raw.baselines", "run_id varchar", [(name,) for name in profile.baselines])
    prices = [(price.model, price.input, price.output) for price in profile.prices]
    columns = "model varchar, input_price double, output_price double"
    create_table(db, "raw.prices", columns, prices)
    columns = "place bigint, entrant varchar, pattern varchar"
    create_table(db, "raw.suite_entrants", columns, profile.suite.patterns)
    benchmarks = [(name,) for name in profile.suite.benchmarks]
    create_table(db, "raw.suite_benchmarks", "benchmark varchar", benchmarks)
    funnel = [
        (number, stage, not profile.funnel and stage in OPTIONAL)
        for number, stage in enumerate(stages(profile), start=1)
    ]
    create_table(
        db, "raw.funnel_stages", "stage_no bigint, stage varchar, is_optional boolean", funnel
    )
    rules = [
        (number, rule.mode, rule.when, rule.cause, rule.severity)
        for number, rule in enumerate(profile.failure_modes, start=1)
    ]
    create_table(db, "raw.failure_rules", RULES, rules)


def stages(profile: Profile) -> dict[str, str]:
    """Stages and their predicates: those of the profile between the fixed ones, else built in."""
    if not profile.funnel:
        return PREDICATES
    first = {name: PREDICATES[name] for name in FIRST_STAGES}
    own = {stage.stage: stage.when or PREDICATES[stage.stage] for stage in profile.funnel}
    last = {name: PREDICATES[name] for name in LAST_STAGES}
    return {**first, **own, **last}


def stage_facts(profile: Profile) -> Relation:
    """One digit per stage for every attempt: 1 if its predicate is true, else 0.

    If no transcript was recorded and the predicate is null, it is a question mark.
    """
    # A predicate that fails on a value, such as in a cast, counts as false.
    predicates = stages(profile).values()
    digits = [
        f"case when try(({when})) then '1' "
        f"when is_recorded and n_events is null and try(({when})) is null then '?' else '0' end"
        for when in predicates
    ]
    # Only stages of a profile may read texts, which need a join.
    source, excluded = (
        ("main.rollouts", KEY) if profile.funnel else ("staging.rollouts", (*KEY, *LONG_COLUMNS))
    )
    others = [f"rollouts.{name}" for name in ROLLOUT_COLUMNS if name not in excluded]
    return Relation(
        name="staging.stage_facts",
        purpose="What each expected or recorded rollout shows of the stages, one digit per stage.",
        grain=KEY,
        is_table=True,
        query=f"""
            with attempts as (
                select {", ".join([*KEY, "is_expected", "is_recorded"])} from staging.attempts
            ),
            rollouts as (
                select
                    {", ".join([*KEY, "is_expected", "is_recorded", *others])},
                    is_recorded and ungraded.record_id is null as is_graded,
                    is_scored or words.record_id is not null as has_grade
                from attempts
                left join {source} as rollouts using ({", ".join(KEY)})
                left join staging.ungraded on ungraded.record_id = rollouts.record_id
                left join (
                    select record_id from staging.entries where is_word_grade(path, item_no, kind)
                ) as words on words.record_id = rollouts.record_id
            )
            select
                {", ".join(KEY)},
                coalesce(is_pass, false) as is_pass,
                {" || ".join(digits)} as facts
            from rollouts
        """,
        looks_at="task",
    )


def rule_matches(profile: Profile) -> Relation:
    """The failure modes of the profile that each attempt matches, including passing attempts."""
    key = ", ".join(KEY)
    long = ", ".join(f"rollouts.{name}" for name in LONG_COLUMNS)
    rules = enumerate(profile.failure_modes, start=1)
    matches = ", ".join(_match(number, rule) for number, rule in rules)
    empty = "null::bigint as rule_no, null::bigint as seq"
    query = f"select {key}, {empty} from main.rollout_features where false"
    if matches:
        # The long texts are read once for all rules.
        query = f"""
            select {key}, unnest(matches, recursive := true)
            from (
                select {key}, list_filter([{matches}], lambda match: match is not null) as matches
                from (
                    select features.*, {long} from main.rollout_features as features
                    left join main.rollouts as rollouts using ({key})
                )
            )
        """
    return Relation(
        name="staging.rule_matches",
        purpose="The modes of the profile that each attempt matches, whether it passed or not.",
        grain=(*KEY, "rule_no"),
        is_table=True,
        query=query,
        looks_at="task",
    )


def _match(number: int, rule: FailureMode) -> str:
    # A predicate that fails on a value, such as in a cast, counts as false.
    seq = rule.evidence if rule.evidence in EVENTS else "null"
    return (
        f"case when try(({rule.when})) "
        f"then struct_pack(rule_no := {number}::bigint, seq := {seq}::bigint) end"
    )
