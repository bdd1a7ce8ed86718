"""The warehouse, a DuckDB file: built from sql/, then opened read-only."""

from .build import build as build
from .build import drop_cached_blocks as drop_cached_blocks
from .build import store_views as store_views
from .overlay import recompute as recompute
from .overlay import stored as stored
from .overlay import write_again as write_again
from .reader import Warehouse as Warehouse
from .reader import half_of_memory as half_of_memory
from .reader import of_this_version as of_this_version
from .reader import open_warehouse as open_warehouse
from .reader import output_folder as output_folder
from .reader import shared_memory as shared_memory
from .reader import size_in_bytes as size_in_bytes
from .relations import Notice as Notice
from .relations import create_macros as create_macros
from .relations import create_relations as create_relations
from .relations import grains as grains
from .relations import order_views as order_views
from .relations import run_checks as run_checks
