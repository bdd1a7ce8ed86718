"""What SQL alone cannot say: relations computed in Python from the rows of others."""

from pipeline.diagnose.comparison import COMPARISON_TESTS, MEASURE_INTERVALS
from pipeline.diagnose.contrasts import ALIGNED
from pipeline.diagnose.ledgers import FUNNEL_EFFECTS, LEDGER_INTERVALS, TRANSITION_NOISE
from pipeline.diagnose.permutations import CHANGE_TESTS
from pipeline.diagnose.separation import SEPARATIONS
from pipeline.diagnose.trends import TRENDS
from pipeline.diagnose.uncertainty import INTERVALS, MAJORITIES
from pipeline.relation import Computed
from pipeline.stats import warm_up

COMPUTED: tuple[Computed, ...] = (
    *(INTERVALS, MAJORITIES, SEPARATIONS, ALIGNED, TRENDS),
    *(CHANGE_TESTS, COMPARISON_TESTS, MEASURE_INTERVALS),
    *(FUNNEL_EFFECTS, LEDGER_INTERVALS, TRANSITION_NOISE),
)


__all__ = ["COMPUTED", "warm_up"]
