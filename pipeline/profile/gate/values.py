"""What a policy asks, what was measured, and what follows, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a metric or a candidate fares; only the whole can be WARN."""

    PASS = "PASS"
    WARN = "WARN"
    INCONCLUSIVE = "INCONCLUSIVE"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Criterion:
    """What a policy asks of one metric: `margin` is in its unit, `direction` the better way."""

    metric: str
    rule: str = "non-inferior"
    margin: float = 0.02
    direction: str = "higher"
    level: str = "blocking"

    @property
    def is_blocking(self) -> bool:
        """Does the release wait for it? A tracked one only warns."""
        return self.level == "blocking"

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return 1 if self.direction == "higher" else -1

    @property
    def threshold(self) -> float:
        """The change that must be beyond: above it where more is better, below it where less is."""
        slack = self.margin if self.rule == "superior" else -self.margin
        # A margin of zero leaves no minus sign behind.
        return self.sign * slack + 0.0


@dataclass(frozen=True)
class Requirements:
    """What must be known of both runs before a change counts; None asks nothing."""

    min_coverage: float | None = None
    min_clean_rate: float | None = None
    min_common_tasks: int | None = None


@dataclass(frozen=True)
class Waiver:
    """A task whose regression is known, and why it may be."""

    task_id: str
    reason: str


@dataclass(frozen=True)
class Policy:
    """A policy.toml; `name` is what messages and pages call it."""

    name: str
    criteria: tuple[Criterion, ...]
    require: Requirements = Requirements()
    waivers: tuple[Waiver, ...] = ()


@dataclass(frozen=True)
class Measured:
    """One metric's paired change, candidate less base, over some of the common tasks.

    `low` and `high` are its interval for new tasks, missing rollouts counted as failed; the bounds
    are the change itself with missing rollouts against and in favour of the candidate, in any
    order: the change twice where none is missing. None is undefined, never zero.
    """

    metric: str
    n_tasks: int | None = None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None


@dataclass(frozen=True)
class Quality:
    """How complete and how clean a run is; None is unknown."""

    coverage: float | None = None
    clean_rate: float | None = None


@dataclass(frozen=True)
class Compared:
    """A candidate beside its base: each metric over all common tasks, and without the waived ones.

    `common_tasks` are ids: all of them, or at least those that the policy waives.
    """

    base: str
    candidate: str
    every_task: tuple[Measured, ...]
    unwaived: tuple[Measured, ...] = ()
    base_quality: Quality = Quality()
    candidate_quality: Quality = Quality()
    common_tasks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Finding:
    """What was measured, the verdict on it, and why."""

    measured: Measured
    verdict: Verdict
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """A criterion judged without the waived tasks, which decides, and with them."""

    criterion: Criterion
    deciding: Finding
    with_waived: Finding

    @property
    def verdict(self) -> Verdict:
        """The verdict that counts."""
        return self.deciding.verdict

    @property
    def is_waiver_decisive(self) -> bool:
        """Is it another verdict where nothing is waived."""
        return self.verdict != self.with_waived.verdict


@dataclass(frozen=True)
class Gate:
    """The verdict on one candidate, and all that led to it."""

    policy: Policy
    compared: Compared
    verdict: Verdict
    reasons: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    absent_waivers: tuple[Waiver, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where the candidate may go on, 1 where it may not."""
        return 0 if self.verdict in (Verdict.PASS, Verdict.WARN) else 1
