"""A package's folder laid out: rollouts chosen, skill, profile and reports drafted from them."""

from pipeline.package.scaffold.laying_out import lay_out

__all__ = ["lay_out"]
