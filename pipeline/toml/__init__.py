"""A TOML file -> values, each known by its line, so that every complaint says where."""

from pipeline.toml.entries import Reader, choice, integer, number, table, tables, text
from pipeline.toml.source import Contract, Entry, Source, read_source, shown

__all__ = [
    "Contract",
    "Entry",
    "Reader",
    "Source",
    "choice",
    "integer",
    "number",
    "read_source",
    "shown",
    "table",
    "tables",
    "text",
]
