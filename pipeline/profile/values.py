"""What a profile says, as plain values; an empty one says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pipeline.toml import shown

BUILT_IN_STAGES = (
    "expected",
    "recorded",
    "produced output",
    "attempted the core action",
    "completed without truncation",
    "reached the verifier",
    "received feedback",
    "passed",
)
# Every funnel begins and ends with these.
FIXED_STAGES = ("expected", "recorded", "passed")


@dataclass(frozen=True)
class Stage:
    """A stage of the funnel. `line` is where its predicate stands, or its name if it has none."""

    stage: str
    when: str | None
    line: int

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"funnel stage {shown(self.stage)}"


# Root causes, and what can be done about them (BLADE's labels).
CAUSES = ("KG", "UK", "BI", "TI", "IR", "DA")
INTERVENTIONS = ("harness", "prompt", "data", "training", "verifier repair", "infrastructure")


@dataclass(frozen=True)
class FailureMode:
    """A way to fail, and the predicate that shows it; `evidence` is a column that holds the proof.

    `is_words` where the signal is only what a text says; `line` is where the predicate stands.
    """

    mode: str
    title: str
    when: str
    cause: str
    severity: int
    intervention: str | None
    evidence: str | None
    is_words: bool
    line: int

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"failure mode {shown(self.mode)}"


@dataclass(frozen=True)
class Profile:
    """A blade.toml. Field paths are as written, `name` is the file's name in messages.

    `lines` holds the line of each key, by its dotted name: `slices`, `fields.reward`,
    `funnel.0.when`.
    """

    name: str = ""
    benchmark: str | None = None
    baselines: tuple[str, ...] = ()
    pass_threshold: float | None = None
    task_id: str | None = None
    reward: str | None = None
    answer: str | None = None
    group: str | None = None
    slices: tuple[str, ...] | None = None
    expected_tasks: int | None = None
    expected_task_ids: tuple[str, ...] | None = None
    expected_repeats: int | None = None
    funnel: tuple[Stage, ...] = ()
    failure_modes: tuple[FailureMode, ...] = ()
    lines: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
