"""The facts that a report is scored by, under the names that scoring knows them by."""

from __future__ import annotations

from pipeline.package.facts import Fact
from pipeline.package.facts import read_facts as facts

__all__ = ["Fact", "facts"]
