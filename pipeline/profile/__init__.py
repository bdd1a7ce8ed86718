"""Read blade.toml and policy.toml into values, tables and SQL predicates."""

from .allowed import MODE_COLUMNS, ROLLOUT_COLUMNS
from .contents import (
    BUILT_IN_STAGES,
    FailureMode,
    Profile,
    Stage,
    find,
    read,
    table_fields,
    with_fields,
)
from .fields import COLUMNS, FIELDS, SYNONYMS, check_fields, json_path
from .predicates import check_predicates
from .tables import rule_matches, stage_facts, write

__all__ = [
    "BUILT_IN_STAGES",
    "COLUMNS",
    "FIELDS",
    "MODE_COLUMNS",
    "ROLLOUT_COLUMNS",
    "SYNONYMS",
    "FailureMode",
    "Profile",
    "Stage",
    "check_fields",
    "check_predicates",
    "find",
    "json_path",
    "read",
    "rule_matches",
    "stage_facts",
    "table_fields",
    "with_fields",
    "write",
]
