"""Options that several commands share, and the file that --out names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from pipeline.errors import InputError
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


@contextmanager
def replacing(out: Path, *, hint: str = "") -> Iterator[Path]:
    """A file beside, renamed when it is whole: a reader sees the old one or the new one."""
    # A device or a pipe is written to, never replaced.
    is_stream = out.exists() and not (out.is_file() or out.is_dir())
    beside = out if is_stream else out.with_name(f".{out.name}.writing")
    try:
        yield beside
        if not is_stream:
            beside.replace(out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}).", hint=hint) from error
    finally:
        if not is_stream:
            with suppress(OSError):
                beside.unlink()
