"""blade.toml and policy.toml -> values, tables and predicates that SQL can use, and a gate."""

from pipeline.profile.askable import ASKABLE, ROLLOUT_COLUMNS
from pipeline.profile.contents import BUILT_IN_STAGES, FailureMode, Profile, Stage, beside, read
from pipeline.profile.fields import check_fields, json_path
from pipeline.profile.predicates import check_predicates
from pipeline.profile.tables import rule_matches, stage_facts, write

__all__ = [
    "ASKABLE",
    "BUILT_IN_STAGES",
    "ROLLOUT_COLUMNS",
    "FailureMode",
    "Profile",
    "Stage",
    "beside",
    "check_fields",
    "check_predicates",
    "json_path",
    "read",
    "rule_matches",
    "stage_facts",
    "write",
]
