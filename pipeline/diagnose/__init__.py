"""What SQL alone cannot say: relations computed in Python from the rows of others."""

from pipeline.diagnose.contrasts import ALIGNED
from pipeline.diagnose.separation import SEPARATIONS
from pipeline.diagnose.uncertainty import INTERVALS, MAJORITIES
from pipeline.relation import Computed
from pipeline.stats import warm_up

COMPUTED: tuple[Computed, ...] = (INTERVALS, MAJORITIES, SEPARATIONS, ALIGNED)

__all__ = ["COMPUTED", "warm_up"]
