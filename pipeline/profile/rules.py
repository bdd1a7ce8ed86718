"""Failure modes as relations: the rules in a table, and which rollouts each of them matches."""

from __future__ import annotations

from dataclasses import replace

from pipeline.profile.failure_modes import built_in
from pipeline.profile.features import LONG_COLUMNS, is_event
from pipeline.profile.values import FailureMode, Profile
from pipeline.relation import Relation

KEY = ("run_id", "task_id", "rollout_index")
# Of a text that shows a mode so much is kept, and its length.
LONGEST_TOLD = 240


def rules(profile: Profile) -> list[FailureMode]:
    """The profile's modes, then those built in that it does not replace."""
    own = {mode.mode for mode in profile.failure_modes}
    return [*profile.failure_modes, *(mode for mode in built_in() if mode.mode not in own)]


def own_rules(profile: Profile) -> set[FailureMode]:
    """The profile's modes, without those that say again what is built in."""
    known = {replace(mode, line=0) for mode in built_in()}
    return {mode for mode in profile.failure_modes if replace(mode, line=0) not in known}


def rule_matches(profile: Profile) -> Relation:
    """Every rule that a rollout matches, passing ones too: they tell what a signal is worth."""
    matches = [_match(number, rule) for number, rule in enumerate(rules(profile), start=1)]
    key = ", ".join(KEY)
    return Relation(
        name="staging.rule_matches",
        purpose="The rules that each attempt matches, whether it passed or not.",
        grain=(*KEY, "rule_no"),
        is_table=True,
        query=f"""
            with asked as (
                select
                    {key},
                    [{", ".join(matches)}] as matches
                from {_source(profile)} as features
            ),
            matched as (
                select
                    {key},
                    unnest(list_filter(matches, lambda match: match.rule_no is not null)) as match
                from asked
            )
            select {key}, match.rule_no, match.seq, match.told, match.n_told from matched
        """,
    )


def _source(profile: Profile) -> str:
    """The features; beside them the long texts, which only a profile's rules may ask."""
    if not profile.failure_modes:
        return "(select * from main.rollout_features)"
    columns = ", ".join(f"rollouts.{name}" for name in LONG_COLUMNS)
    return f"""(
        select features.*, {columns} from main.rollout_features as features
        left join main.rollouts as rollouts using ({", ".join(KEY)})
    )"""


def _match(number: int, rule: FailureMode) -> str:
    # A predicate that fails on a value, such as a cast, does not hold.
    has_event = rule.evidence is not None and is_event(rule.evidence)
    seq = rule.evidence if has_event else "null"
    text = f"{rule.evidence if rule.evidence is not None and not has_event else 'null'}::varchar"
    return (
        f"struct_pack(rule_no := case when try(({rule.when})) then {number} end::bigint, "
        f"seq := {seq}::bigint, told := left({text}, {LONGEST_TOLD}), n_told := length({text}))"
    )
