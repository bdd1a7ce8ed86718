"""Read blade.toml, suite.toml and policy.toml into values, tables and SQL predicates."""

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
from .suite import SUITE_NAME, Suite
from .suite import read as read_suite
from .tables import rule_matches, stage_facts, write

__all__ = [
    "BUILT_IN_STAGES",
    "COLUMNS",
    "FIELDS",
    "MODE_COLUMNS",
    "ROLLOUT_COLUMNS",
    "SUITE_NAME",
    "SYNONYMS",
    "FailureMode",
    "Profile",
    "Stage",
    "Suite",
    "check_fields",
    "check_predicates",
    "find",
    "json_path",
    "read",
    "read_suite",
    "rule_matches",
    "stage_facts",
    "table_fields",
    "with_fields",
    "write",
]
