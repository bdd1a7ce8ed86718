"""sql/ -> the schemas of one DuckDB file: built beside and renamed, then opened read-only."""

from pipeline.warehouse.assertions import Notice, run_checks
from pipeline.warehouse.build import build, half_of_memory, leftovers, let_go
from pipeline.warehouse.overlay import ask_again
from pipeline.warehouse.reader import Warehouse, open_warehouse
from pipeline.warehouse.relations import create_macros, create_relations

__all__ = [
    "Notice",
    "Warehouse",
    "ask_again",
    "build",
    "create_macros",
    "create_relations",
    "half_of_memory",
    "leftovers",
    "let_go",
    "open_warehouse",
    "run_checks",
]
