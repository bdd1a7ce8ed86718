"""policy.toml and measured changes -> a verdict a release can stand on."""

from pipeline.gate.decision import decide, worst
from pipeline.gate.policy import read
from pipeline.gate.rows import as_row
from pipeline.gate.values import (
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
