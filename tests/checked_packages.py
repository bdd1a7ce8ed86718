"""A package as `validate` sees it, without the cost of whole analyses."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pipeline
from pipeline.package.layout import package
from pipeline.package.validate import FAIL, Check, Data, gather, validate
from tests.lean import LOADED, only
from tests.packages import RECOMPUTED, REPORT, write_package

NEEDED = (*LOADED, "run_metrics", "slice_metrics", "funnel", "failure_modes")
GOLDEN = "golden_reports/model_a"
DRAFT = re.sub(r"\.(\s)", r" as drafted.\1", REPORT)


@functools.cache
def good_rollouts(temporary: Path) -> Data:
    """What is known of the rollouts of the good package: asked once, by whoever needs it first."""
    return known(write_package(temporary / "good_package"))


def known(folder: Path) -> Data:
    """What is known of a package's rollouts, with no more relations than are asked."""
    out = folder.parent / "out"
    with only(*NEEDED):
        pipeline.analyze(folder / "rollouts", out=out)
    opened = pipeline.open_warehouse(out / "warehouse.duckdb")
    metrics = {"model_a": RECOMPUTED, "model_b": {"pass_at_1": 0.625}}
    return gather(opened, metrics, {"model_a": DRAFT})


def found(
    folder: Path, data: Data | None, *phases: str, contradictions: Any = None, **changes: Any
) -> list[Check]:
    """The checks of the package with some files changed."""
    read = package(write_package(folder, **changes))
    return validate(
        read,
        data,
        phases=phases,
        contradictions=contradictions or {golden.report: [] for golden in read.goldens},
        leaks=[],
    )


def ids(checks: Sequence[Check], status: str = FAIL) -> set[str]:
    """The checks with a status."""
    return {each.id for each in checks if each.status == status}
