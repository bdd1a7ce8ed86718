"""A package's folder laid out: rollouts chosen, skill, profile and reports drafted from them."""

from pipeline.package.scaffold.laying_out import Analyses, LaidOut, lay_out
from pipeline.package.scaffold.selection import select
from pipeline.package.scaffold.writing import Existing, File, Standing, planned, written

__all__ = [
    "Analyses",
    "Existing",
    "File",
    "LaidOut",
    "Standing",
    "lay_out",
    "planned",
    "select",
    "written",
]
