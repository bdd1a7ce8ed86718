"""What the warehouse is made of, as plain values: selects, and tables that Python computes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

REFERENCE = re.compile(r"\b(?:from|join)\s+((?:staging|main|report|assertions)\.\w+)")


@dataclass(frozen=True)
class Relation:
    """A select with what its header says of it; it has no row where one of its needs has none."""

    name: str
    purpose: str
    grain: tuple[str, ...]
    is_table: bool
    query: str
    needs: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def reads(self) -> list[str]:
        """The relations of ours it selects from."""
        return sorted(set(REFERENCE.findall(self.query)))


@dataclass(frozen=True)
class Computed(Relation):
    """A table that SQL alone cannot make: the rows of its query, as `compute` turns them."""

    compute: Callable[[pa.Table], pa.Table]


def computed(name: str, compute: Callable[[pa.Table], pa.Table]) -> Computed:
    """A table of what `compute` makes of the rows of the file of this name."""
    return Computed(name, "", (), True, "", compute)
