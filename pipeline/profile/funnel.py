"""The stages of a funnel, built in or from a profile, as one relation of facts a rollout shows."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.profile.values import FIXED_STAGES, Profile
from pipeline.relation import Relation

KEY = ("run_id", "task_id", "rollout_index")
# What a predicate may ask of a rollout: the columns of main.rollouts.
ROLLOUT_COLUMNS = {
    "run_id": "VARCHAR",
    "task_id": "VARCHAR",
    "rollout_index": "BIGINT",
    "rollout_id": "VARCHAR",
    "reward": "DOUBLE",
    "is_scored": "BOOLEAN",
    "is_pass": "BOOLEAN",
    "status": "VARCHAR",
    "model": "VARCHAR",
    "agent": "VARCHAR",
    "finish_reason": "VARCHAR",
    "is_truncated": "BOOLEAN",
    "has_output": "BOOLEAN",
    "has_action": "BOOLEAN",
    "has_feedback": "BOOLEAN",
    "n_events": "BIGINT",
    "n_turns": "BIGINT",
    "n_tool_calls": "BIGINT",
    "n_tool_errors": "BIGINT",
    "input_tokens": "BIGINT",
    "output_tokens": "BIGINT",
    "duration_s": "DOUBLE",
    "final_text": "VARCHAR",
    "answer": "VARCHAR",
    "verifier": "JSON",
    "prompt_sha": "VARCHAR",
    "source_file": "VARCHAR",
    "source_line": "BIGINT",
    "record_id": "BIGINT",
}

# Each built-in stage by the predicate that shows it.
PREDICATES = {
    "expected": "is_expected",
    "recorded": "is_recorded",
    "produced output": "has_output",
    "attempted the core action": "has_action",
    "completed without truncation": "not is_truncated",
    "reached the verifier": "is_scored",
    "received feedback": "has_feedback",
    "passed": "is_pass",
}
# Left out where no rollout of the benchmark shows it: it then cannot, and says nothing.
OPTIONAL = frozenset(
    {
        "produced output",
        "attempted the core action",
        "completed without truncation",
        "received feedback",
    }
)


@dataclass(frozen=True)
class FunnelStage:
    """A stage with its number and the predicate that shows it."""

    number: int
    stage: str
    when: str
    is_optional: bool


def stages(profile: Profile) -> list[FunnelStage]:
    """The profile's stages between what is expected and what passed; else the built-in ones."""
    chosen = dict(PREDICATES)
    if profile.funnel:
        *first, last = FIXED_STAGES
        own = {stage.stage: stage.when or PREDICATES[stage.stage] for stage in profile.funnel}
        chosen = {**{name: PREDICATES[name] for name in first}, **own, last: PREDICATES[last]}
    return [
        FunnelStage(number, stage, when, not profile.funnel and stage in OPTIONAL)
        for number, (stage, when) in enumerate(chosen.items(), start=1)
    ]


def stage_facts(profile: Profile) -> Relation:
    """A digit a stage for every rollout: 1 where the predicate holds, 0 where not or unknown."""
    # A predicate that fails on a value, such as a cast, does not hold.
    digits = [f"case when try(({stage.when})) then '1' else '0' end" for stage in stages(profile)]
    others = [f"rollouts.{name}" for name in ROLLOUT_COLUMNS if name not in KEY]
    return Relation(
        name="staging.stage_facts",
        purpose="What each expected or recorded rollout shows of the stages, a digit a stage.",
        grain=KEY,
        is_table=True,
        query=f"""
            with attempts as (
                select {", ".join([*KEY, "is_expected", "is_recorded"])} from staging.attempts
            ),
            rollouts as (
                select {", ".join([*KEY, "is_expected", "is_recorded", *others])}
                from attempts
                left join main.rollouts as rollouts using ({", ".join(KEY)})
            )
            select
                {", ".join(KEY)},
                coalesce(is_pass, false) as is_pass,
                {" || ".join(digits)} as facts
            from rollouts
        """,
    )
