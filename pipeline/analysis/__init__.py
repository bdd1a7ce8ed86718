"""What SQL alone cannot say: relations computed in Python from the rows of others."""

from pipeline.analysis.concentration import MODE_SLICES, SIZE_CONTRASTS
from pipeline.analysis.contrasts import ALIGNED
from pipeline.analysis.intervals import (
    COMPARISON_TESTS,
    ESTIMATES,
    LEDGER_LINES,
    MEASURE_CHANGES,
)
from pipeline.analysis.ledgers import FUNNEL_EFFECTS, TRANSITION_NOISE
from pipeline.analysis.modes import MODES
from pipeline.analysis.permutation import CHANGE_TESTS
from pipeline.analysis.sign_contrasts import REWARD_CONTRASTS, RUN_CONTRASTS
from pipeline.analysis.standings import STANDINGS
from pipeline.analysis.trends import DISCRIMINATIONS, TRENDS
from pipeline.analysis.votes import MAJORITIES
from pipeline.relation import Computed

COMPUTED: tuple[Computed, ...] = (
    *(ESTIMATES, STANDINGS, MAJORITIES, ALIGNED, TRENDS, DISCRIMINATIONS),
    *(MODES, MODE_SLICES, SIZE_CONTRASTS, RUN_CONTRASTS, REWARD_CONTRASTS),
    *(CHANGE_TESTS, COMPARISON_TESTS, MEASURE_CHANGES),
    *(FUNNEL_EFFECTS, LEDGER_LINES, TRANSITION_NOISE),
)

__all__ = ["COMPUTED"]
