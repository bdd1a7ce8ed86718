"""Why did the score change? Evaluation results in, SQL and evidence out.

import blade

blade.analyze("results/", out="blade_out")
warehouse = blade.open_warehouse("blade_out")  # read-only; a notebook shows its runs
frame = warehouse.sql("from rollouts where not is_pass")  # a polars DataFrame
blade.runs("blade_out")  # scores; likewise findings, failures and health
blade.compare("blade_out", "base", "candidate")
blade.suite("blade_out")  # entrants by benchmarks
blade.why("blade_out", "base/17")
blade.rollout("blade_out", "base/17:0")
page = blade.render("blade_out", as_html=True)
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat it as true; importing typing takes long

if TYPE_CHECKING:
    from typing import Any

    from .pipeline import (
        BladeError,
        InputError,
        UsageError,
        __version__,
        analyze,
        compare,
        failures,
        findings,
        health,
        open_warehouse,
        render,
        rollout,
        runs,
        suite,
        why,
    )

try:
    from . import pipeline as pipeline
except ImportError:
    # In the repository it is beside this package, not inside it.
    import pipeline as pipeline

__all__ = [
    "BladeError",
    "InputError",
    "UsageError",
    "__version__",
    "analyze",
    "compare",
    "failures",
    "findings",
    "health",
    "open_warehouse",
    "render",
    "rollout",
    "runs",
    "suite",
    "why",
]


def __getattr__(name: str) -> Any:
    """What `pipeline` has, imported on first use."""
    if name in __all__:
        return getattr(pipeline, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
