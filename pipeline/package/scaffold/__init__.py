"""A package's folder laid out: rollouts chosen, skill, profile and reports drafted from them."""

from pipeline.package.scaffold.declared import declared
from pipeline.package.scaffold.drafts import draft_files
from pipeline.package.scaffold.facts import facts
from pipeline.package.scaffold.profile_draft import (
    RELATIONS,
    ProfileFacts,
    profile_facts,
    profile_text,
)
from pipeline.package.scaffold.selection import Incoming, Selection, select
from pipeline.package.scaffold.skill import skeleton_text, skill_text
from pipeline.package.scaffold.writing import Existing, File, Standing, Step, planned, written

__all__ = [
    "RELATIONS",
    "Existing",
    "File",
    "Incoming",
    "ProfileFacts",
    "Selection",
    "Standing",
    "Step",
    "declared",
    "draft_files",
    "facts",
    "planned",
    "profile_facts",
    "profile_text",
    "select",
    "skeleton_text",
    "skill_text",
    "written",
]
