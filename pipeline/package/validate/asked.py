"""A warehouse, as far as checks ask it."""

from __future__ import annotations

from typing import Any, Protocol


class Answer(Protocol):
    """Rows of a query, waiting to be fetched."""

    def fetchall(self) -> list[Any]:
        """All of them."""
        ...


class Asked(Protocol):
    """A warehouse, as far as it is asked here."""

    def execute(self, query: str, parameters: list[Any] | None = None, /) -> Answer:
        """Run a query."""
        ...
