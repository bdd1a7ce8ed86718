"""The warehouse, a DuckDB file: built from sql/, then opened read-only."""

from pipeline.warehouse.build import build as build
from pipeline.warehouse.build import drop_cached_blocks as drop_cached_blocks
from pipeline.warehouse.build import store_views as store_views
from pipeline.warehouse.overlay import recompute as recompute
from pipeline.warehouse.reader import Warehouse as Warehouse
from pipeline.warehouse.reader import half_of_memory as half_of_memory
from pipeline.warehouse.reader import of_this_version as of_this_version
from pipeline.warehouse.reader import open_warehouse as open_warehouse
from pipeline.warehouse.reader import shared_memory as shared_memory
from pipeline.warehouse.reader import size_in_bytes as size_in_bytes
from pipeline.warehouse.relations import Notice as Notice
from pipeline.warehouse.relations import create_macros as create_macros
from pipeline.warehouse.relations import create_relations as create_relations
from pipeline.warehouse.relations import grains as grains
from pipeline.warehouse.relations import order_views as order_views
from pipeline.warehouse.relations import run_checks as run_checks
