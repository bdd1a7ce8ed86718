"""A package's folder laid out: rollouts chosen, skill, profile and reports drafted from them."""

from pipeline.package.scaffold.laying_out import Analyses, LaidOut, Standing, lay_out

__all__ = ["Analyses", "LaidOut", "Standing", "lay_out"]
