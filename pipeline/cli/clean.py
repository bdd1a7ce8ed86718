"""Delete the caches of an output or a package."""

from __future__ import annotations

from pathlib import Path

import click

from .. import files, outputs, remote, user_cache
from ..errors import InputError
from ..text import neutral
from .options import DEFAULT_OUT


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=DEFAULT_OUT)
def clean(folder: Path) -> None:
    """Delete the caches of FOLDER, an output folder or a package.

    The caches are copies of remote results, the warehouse that `blade verify` built from a package,
    and leftovers of a killed analysis. Reports, the warehouse of an output and all files that blade
    did not write are kept.

    \b
    Examples:
      blade clean
      blade clean blade_out
    """
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder.", hint="Name the output folder of an analysis."
        )
    cache = folder / remote.CACHE_NAME
    work = folder / outputs.WORK_FOLDER
    with outputs.locked(folder):
        package = user_cache.entry(user_cache.PACKAGES, folder)
        n_bytes_before = remote.n_bytes(cache) + remote.n_bytes(work)
        n_bytes_before += remote.n_bytes(package) if package else 0
        outputs.finish(folder)
        if package:
            user_cache.remove(package)
        files.remove(folder, remote.copies(folder))
        n_bytes_after = remote.n_bytes(cache)
    size = f"{(n_bytes_before - n_bytes_after) / 1e6:,.1f} MB"
    click.echo(f"removed {size} from {neutral(str(folder))}")
    if cache.is_dir():
        click.echo(neutral(f"{cache}: kept files that blade did not write"), err=True)
