"""Why did the score change? Evaluation results in, SQL and evidence out.

import blade

blade.analyze("results/", out="blade_out")
warehouse = blade.open_warehouse("blade_out")  # read-only; a notebook shows its runs
frame = warehouse.sql("from rollouts where not is_pass")  # a polars DataFrame
blade.compare("blade_out", "base", "candidate")
blade.rollout("blade_out", "base/17:0")
page = blade.render("blade_out", as_html=True)
"""

from pipeline import __version__, analyze, compare, open_warehouse, render, rollout
from pipeline.errors import BladeError, InputError, UsageError

__all__ = [
    "BladeError",
    "InputError",
    "UsageError",
    "__version__",
    "analyze",
    "compare",
    "open_warehouse",
    "render",
    "rollout",
]
