"""A gate as JSON has it."""

from __future__ import annotations

from typing import Any

from pipeline.profile.gate.values import Finding, Gate, Judgement, Quality

Row = dict[str, Any]


def as_row(gate: Gate) -> Row:
    """The verdict, what led to it, and what was required; null is undefined."""
    policy, compared = gate.policy, gate.compared
    absent = {waiver.task_id for waiver in gate.absent_waivers}
    return {
        "base": compared.base,
        "candidate": compared.candidate,
        "policy": policy.name,
        "verdict": str(gate.verdict),
        "exit_code": gate.exit_code,
        "reasons": list(gate.reasons),
        "metrics": [
            _judgement(judgement, is_waived=bool(policy.waivers)) for judgement in gate.judgements
        ],
        "require": {
            "min_coverage": policy.require.min_coverage,
            "min_clean_rate": policy.require.min_clean_rate,
            "min_common_tasks": policy.require.min_common_tasks,
        },
        "quality": {
            "base": _quality(compared.base_quality),
            "candidate": _quality(compared.candidate_quality),
        },
        "waived": [
            {
                "task_id": waiver.task_id,
                "reason": waiver.reason,
                "is_common": waiver.task_id not in absent,
            }
            for waiver in policy.waivers
        ],
    }


def _judgement(judgement: Judgement, *, is_waived: bool) -> Row:
    criterion = judgement.criterion
    return {
        "metric": criterion.metric,
        "rule": criterion.rule,
        "margin": criterion.margin,
        "direction": criterion.direction,
        "level": criterion.level,
        "threshold": criterion.threshold,
        **_finding(judgement.deciding),
        "with_waived": _finding(judgement.with_waived) if is_waived else None,
    }


def _finding(finding: Finding) -> Row:
    measured = finding.measured
    return {
        "verdict": str(finding.verdict),
        "reasons": list(finding.reasons),
        "n_tasks": measured.n_tasks,
        "delta": measured.delta,
        "ci_new_tasks": _pair(measured.low, measured.high),
        "bounds": _pair(measured.bound_low, measured.bound_high),
    }


def _pair(first: float | None, second: float | None) -> list[float] | None:
    return None if first is None or second is None else [first, second]


def _quality(quality: Quality) -> Row:
    return {"coverage": quality.coverage, "clean_rate": quality.clean_rate}
