"""A profile as SQL reads it: small tables of the schema `raw`, and its predicates as relations."""

from __future__ import annotations

from dataclasses import replace

import duckdb

from pipeline.profile.askable import EVENTS, LONG_COLUMNS, ROLLOUT_COLUMNS
from pipeline.profile.contents import (
    FIXED_STAGES,
    PREDICATES,
    FailureMode,
    Profile,
    built_in,
    record_words,
)
from pipeline.profile.fields import json_path
from pipeline.relation import Relation, create_table

KEY = ("run_id", "task_id", "rollout_index")
SETTINGS = (
    "benchmark varchar, pass_threshold double, task_id_path varchar, reward_path varchar, "
    "answer_path varchar, group_path varchar, has_slices boolean, n_expected_tasks bigint, "
    "has_expected_names boolean, n_expected_repeats bigint"
)
RULES = (
    "rule_no bigint, mode varchar, title varchar, predicate varchar, cause varchar, "
    "severity bigint, intervention varchar, is_words boolean, is_profile boolean, "
    "evidence varchar, source varchar, is_always boolean, is_description boolean"
)
# Left out where no rollout of the benchmark shows it: it then cannot, and says nothing.
OPTIONAL = frozenset(PREDICATES) - {*FIXED_STAGES, "reached the verifier"}
# Of a text that shows a mode so much is kept, and its length.
LONGEST_SNIPPET = 240


def write(db: duckdb.DuckDBPyConnection, profile: Profile) -> None:
    """Settings in one row; slices, expected tasks, funnel stages and rules in a table each."""
    paths = [
        None if path is None else json_path(path)
        for path in (profile.task_id, profile.reward, profile.answer, profile.group)
    ]
    names = profile.expected_task_ids
    n_tasks = profile.expected_tasks if names is None else len(names)
    settings = (
        *(profile.benchmark, profile.pass_threshold),
        *paths,
        *(profile.slices is not None, n_tasks, names is not None, profile.expected_repeats),
    )
    create_table(db, "raw.settings", SETTINGS, [settings])
    slices = [(name, json_path(name)) for name in profile.slices or ()]
    create_table(db, "raw.slice_fields", "name varchar, path varchar", slices)
    create_table(db, "raw.expected_tasks", "task_id varchar", [(name,) for name in names or ()])
    create_table(db, "raw.baselines", "run_id varchar", [(name,) for name in profile.baselines])
    prices = [(price.model, price.input, price.output) for price in profile.prices]
    columns = "model varchar, input_price double, output_price double"
    create_table(db, "raw.prices", columns, prices)
    funnel = [
        (number, stage, not profile.funnel and stage in OPTIONAL)
        for number, stage in enumerate(stages(profile), start=1)
    ]
    create_table(
        db, "raw.funnel_stages", "stage_no bigint, stage varchar, is_optional boolean", funnel
    )
    words = [
        (role, place, word)
        for role, listed in record_words().items()
        for place, word in enumerate(listed)
    ]
    create_table(db, "raw.record_words", "role varchar, place bigint, word varchar", words)
    own = own_rules(profile)
    # A mode that is built in stays what it is where a profile words it again.
    sources = {rule.mode: rule.source for rule in built_in()}
    listed = [
        (
            *(number, rule.mode, rule.title, rule.when, rule.cause, rule.severity),
            *(rule.intervention, rule.is_words, rule in own, rule.evidence),
            *(sources.get(rule.mode, "profile"), rule.is_always, rule.is_description),
        )
        for number, rule in enumerate(rules(profile), start=1)
    ]
    create_table(db, "raw.failure_rules", RULES, listed)


def stages(profile: Profile) -> dict[str, str]:
    """Stages by predicate: the profile's between what is expected and what passed, or built in."""
    if not profile.funnel:
        return PREDICATES
    *first, last = FIXED_STAGES
    own = {stage.stage: stage.when or PREDICATES[stage.stage] for stage in profile.funnel}
    return {**{name: PREDICATES[name] for name in first}, **own, last: PREDICATES[last]}


def stage_facts(profile: Profile) -> Relation:
    """One digit per stage for every rollout: 1 where its predicate holds, else 0.

    Where no transcript was recorded and the predicate cannot tell, it is a question mark.
    """
    # A predicate that fails on a value, such as a cast, does not hold.
    predicates = stages(profile).values()
    digits = [
        f"case when try(({when})) then '1' "
        f"when is_recorded and n_events is null and try(({when})) is null then '?' else '0' end"
        for when in predicates
    ]
    # Only a profile's own stages ask for texts, which take a join.
    source, left_out = (
        ("main.rollouts", KEY) if profile.funnel else ("staging.rollouts", (*KEY, *LONG_COLUMNS))
    )
    others = [f"rollouts.{name}" for name in ROLLOUT_COLUMNS if name not in left_out]
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
                select {", ".join([*KEY, "is_expected", "is_recorded", *others])}
                from attempts
                left join {source} as rollouts using ({", ".join(KEY)})
            )
            select
                {", ".join(KEY)},
                coalesce(is_pass, false) as is_pass,
                {" || ".join(digits)} as facts
            from rollouts
        """,
    )


def rules(profile: Profile) -> list[FailureMode]:
    """The profile's modes, then those built in that it does not replace."""
    own = {mode.mode for mode in profile.failure_modes}
    return [*profile.failure_modes, *(mode for mode in built_in() if mode.mode not in own)]


def own_rules(profile: Profile) -> set[FailureMode]:
    """The profile's own: a built-in mode that it only words as it is stays built in."""
    sources = {rule.mode: rule.source for rule in built_in()}
    return {
        rule
        for rule in profile.failure_modes
        if replace(rule, source=sources.get(rule.mode, rule.source)) not in built_in()
    }


def rule_matches(profile: Profile) -> Relation:
    """Every rule that a rollout matches, passing ones too: they show what a signal is worth."""
    numbered = list(enumerate(rules(profile), start=1))
    n_own, key = len(profile.failure_modes), ", ".join(KEY)
    parts = [_matches(number, rule, key) for number, rule in numbered[n_own:]]
    if n_own:
        # Only a profile's rules may ask the long texts, which are read once for all of them.
        long = ", ".join(f"rollouts.{name}" for name in LONG_COLUMNS)
        matches = ", ".join(_match(number, rule) for number, rule in numbered[:n_own])
        parts.append(f"""
            select {key}, unnest(matches, recursive := true)
            from (
                select {key}, list_filter([{matches}], lambda match: match is not null) as matches
                from (
                    select features.*, {long} from main.rollout_features as features
                    left join main.rollouts as rollouts using ({key})
                )
            )
        """)
    return Relation(
        name="staging.rule_matches",
        purpose="The rules that each attempt matches, whether it passed or not.",
        grain=(*KEY, "rule_no"),
        is_table=True,
        query=" union all by name ".join(parts),
    )


def _matches(number: int, rule: FailureMode, key: str) -> str:
    # One scan per rule reads only the columns that it asks.
    shown = ", ".join(f"{value} as {name}" for name, value in _shown(number, rule).items())
    return f"select {key}, {shown} from main.rollout_features where try(({rule.when}))"


def _match(number: int, rule: FailureMode) -> str:
    shown = ", ".join(f"{name} := {value}" for name, value in _shown(number, rule).items())
    return f"case when try(({rule.when})) then struct_pack({shown}) end"


def _shown(number: int, rule: FailureMode) -> dict[str, str]:
    # A predicate that fails on a value, such as a cast, does not hold.
    shown = rule.evidence or "null"
    seq, text = (shown, "null") if shown in EVENTS else ("null", shown)
    return {
        "rule_no": f"{number}::bigint",
        "seq": f"{seq}::bigint",
        "told": f"left({text}::varchar, {LONGEST_SNIPPET})",
        "n_told": f"length({text}::varchar)",
    }
