"""Content -> charts: a `<figure>` with inline SVG each, by one module and one template a chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import jinja2

from pipeline.report import templates
from pipeline.report.charts import buckets, funnel, pass_curve, slices, waterfall
from pipeline.report.charts.labels import WIDTH
from pipeline.report.charts.scale import px
from pipeline.report.content import Content

Geometry = Callable[[Mapping[str, str], Content], Any]
CHARTS: Mapping[str, Geometry] = {
    "pass_curve": pass_curve.geometry,
    "funnel": funnel.geometry,
    "buckets": buckets.geometry,
    "slices": slices.geometry,
    "waterfall": waterfall.geometry,
}
NAMES = tuple(CHARTS)

__all__ = ["NAMES", "draw"]


def draw(name: str, key: Mapping[str, str], content: Content) -> str:
    """The chart of a name about what the key names; nothing where there is nothing to draw."""
    geometry = CHARTS[name](key, content) if name in CHARTS else None
    if geometry is None:
        return ""
    return _environment().get_template(f"{name}.svg.j2").render(chart=geometry)


@cache
def _environment() -> jinja2.Environment:
    environment = templates.environment("html/charts", None, autoescape=True)
    environment.filters["px"] = px
    environment.globals["WIDTH"] = WIDTH
    return environment
