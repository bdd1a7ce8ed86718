"""sql/ -> the schemas of one DuckDB file: built, then opened read-only."""

from pipeline.warehouse.build import LARGE_BLOCK, build, let_go, store_views
from pipeline.warehouse.overlay import ask_again
from pipeline.warehouse.reader import (
    Warehouse,
    half_of_memory,
    of_this_version,
    open_warehouse,
    warehouse_file,
)
from pipeline.warehouse.relations import (
    Notice,
    create_macros,
    create_relations,
    grains,
    order_views,
    run_checks,
)

__all__ = [
    "LARGE_BLOCK",
    "Notice",
    "Warehouse",
    "ask_again",
    "build",
    "create_macros",
    "create_relations",
    "grains",
    "half_of_memory",
    "let_go",
    "of_this_version",
    "open_warehouse",
    "order_views",
    "run_checks",
    "store_views",
    "warehouse_file",
]
