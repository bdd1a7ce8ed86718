"""blade.toml -> one frozen value: what a benchmark calls things, expects and counts as a stage."""

from pipeline.profile.contents import read
from pipeline.profile.features import ASKABLE
from pipeline.profile.fields import beside, check_fields
from pipeline.profile.funnel import ROLLOUT_COLUMNS, stage_facts
from pipeline.profile.paths import json_path
from pipeline.profile.predicates import check_predicates
from pipeline.profile.rules import rule_matches
from pipeline.profile.tables import write
from pipeline.profile.values import BUILT_IN_STAGES, FailureMode, Profile, Stage

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
