"""A package as `validate` sees it, without the cost of whole analyses."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pipeline
from pipeline.package.layout import package
from pipeline.package.validate import validate
from pipeline.package.validate.subject import FAIL, Check, Subject, findings
from pipeline.run import part
from pipeline.settings import Settings
from pipeline.warehouse import Warehouse
from tests.lean import LOADED, only
from tests.packages import write_package

GOLDEN = "golden_reports/model_a"


@functools.cache
def good_rollouts(temporary: Path) -> Warehouse:
    """What is known of the rollouts of the good package: asked once, by whoever needs it first."""
    folder = write_package(temporary / "good_package")
    made = part(Settings(results=(folder / "rollouts",), out=folder.parent / "out"))
    return pipeline.open_warehouse(made)


def known(folder: Path) -> Warehouse:
    """What is known of a package's rollouts, with no more relations than are asked."""
    out = folder.parent / "out"
    with only(*LOADED):
        pipeline.analyze(folder / "rollouts", out=out)
    return pipeline.open_warehouse(out / "warehouse.duckdb")


def found(
    folder: Path, data: Warehouse | None, *phases: str, least_facts: int = 8, **changes: Any
) -> list[Check]:
    """The checks of the package with some files changed."""
    read = package(write_package(folder, **changes))
    told = findings(read, data) if "golden" in phases else {}
    return validate(Subject(read, data, "", least_facts, [], told), phases)


def ids(checks: list[Check], status: str = FAIL) -> set[str]:
    """The checks with a status."""
    return {each.id for each in checks if each.status == status}
