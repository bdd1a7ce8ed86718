"""Rows of a query as plain mappings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.report import Source

Rows = list[dict[str, Any]]


def asked(source: Source, query: str, parameters: Sequence[Any] | None = None) -> Rows:
    """All rows, by the names of their columns."""
    result = source.execute(query, None if parameters is None else list(parameters))
    names = [column[0] for column in result.description]
    return [dict(zip(names, values, strict=True)) for values in result.fetchall()]
