"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.settings import WAREHOUSE_NAME

DEFAULT_OUT = Path("blade_out")
DEFAULT_WAREHOUSE = DEFAULT_OUT / WAREHOUSE_NAME
PATH = click.Path(path_type=Path)

warehouse_option = click.option(
    "--warehouse",
    type=PATH,
    default=DEFAULT_WAREHOUSE,
    show_default=True,
    help="The file that blade analyze wrote.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for a program to read."
)
templates_option = click.option(
    "--templates",
    type=PATH,
    help="Folder of templates of your own; a file replaces the one of blade's of the same name.",
)
