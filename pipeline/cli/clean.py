"""blade clean: what analyses keep to be faster next time, removed."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from pipeline import outputs, remote
from pipeline.cli.options import DEFAULT_OUT
from pipeline.errors import InputError
from pipeline.text import neutral


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=DEFAULT_OUT)
def clean(folder: Path) -> None:
    """Remove what is kept in FOLDER, an output or a package, to be faster next time.

    Copies of results that lie elsewhere, the warehouse that `blade verify` made of a package, and
    what a killed analysis left. Reports and the output's own warehouse stay.

    \b
    Examples:
      blade clean
      blade clean blade_out
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder.", hint="Give the folder of an output.")
    with outputs.alone(folder):
        found = [folder / name for name in (remote.CACHE_NAME, outputs.ROOM)]
        kept = [path for path in found if path.is_dir()]
        size = remote.kept(*kept)
        for path in kept:
            if path.name == outputs.ROOM:
                outputs.settle(folder)
            elif not path.is_symlink():
                shutil.rmtree(path)
    click.echo(f"removed {size} from {neutral(str(folder))}")
