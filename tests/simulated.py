"""The simulator of data_samples, which is no package: loaded by its path."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

from tests.conftest import ROOT


@cache
def simulator() -> Any:
    """The module data_samples/simulate.py."""
    path = ROOT / "data_samples" / "simulate.py"
    spec = importlib.util.spec_from_file_location("simulate", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
