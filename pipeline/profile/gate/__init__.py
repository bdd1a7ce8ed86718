"""policy.toml and measured changes -> a verdict a release can stand on."""

from pipeline.profile.gate.decision import decide, worst
from pipeline.profile.gate.policy import read
from pipeline.profile.gate.rows import as_row
from pipeline.profile.gate.values import (
    Compared,
    Criterion,
    Finding,
    Gate,
    Judgement,
    Measured,
    Policy,
    Quality,
    Requirements,
    Verdict,
    Waiver,
)

__all__ = [
    "Compared",
    "Criterion",
    "Finding",
    "Gate",
    "Judgement",
    "Measured",
    "Policy",
    "Quality",
    "Requirements",
    "Verdict",
    "Waiver",
    "as_row",
    "decide",
    "read",
    "worst",
]
