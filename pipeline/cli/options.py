"""Options and helpers shared by several commands."""

from __future__ import annotations

import difflib
import math
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.outputs import replacing
from pipeline.settings import WAREHOUSE_NAME, Settings, warehouse_file
from pipeline.text import neutral

if TYPE_CHECKING:
    from pipeline.run import Analysis, Progress

DEFAULT_OUT = Path("blade_out")
PATH = click.Path(path_type=Path)


class Number(click.FloatRange):
    """A finite number within limits: click alone would accept "nan" and "inf"."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Convert the value and reject "nan" and "inf"."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return float(number)

    def _describe_range(self) -> str:
        """Without limits there is no range to print; click would print `x<=None`."""
        return "" if self.min is None and self.max is None else super()._describe_range()


def _size(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Reject what DuckDB would not accept as a size."""
    if value and not re.fullmatch(r"[0-9]+(\.[0-9]+)? ?([KMGT]i?B)", value, re.IGNORECASE):
        raise click.BadParameter(f"{value!r} is not a size such as 4GB")
    return value


memory_option = click.option(
    "--memory-limit",
    callback=_size,
    metavar="SIZE",
    help="Memory limit for DuckDB, such as 4GB.  [default: half of the machine's memory]",
)
timeout_option = click.option(
    "--timeout",
    type=Number(min=0, min_open=True, max=1e6),
    default=60.0,
    show_default=True,
    help="Query timeout, in seconds.",
)


def nearest_warehouse() -> Path | None:
    """The nearest warehouse: in blade_out or in the folder itself, here or in a folder above."""
    try:
        n_above = len(Path.cwd().parents)
    except OSError:  # the folder was deleted
        n_above = 0
    for depth in range(n_above + 1):
        for out in (Path(*[".."] * depth, DEFAULT_OUT), Path(*[".."] * depth)):
            # Skip folders without permission.
            with suppress(OSError):
                if (out / WAREHOUSE_NAME).is_file():
                    return out / WAREHOUSE_NAME
    return None


def _warehouse(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path:
    """The path of the warehouse, whether it exists or not."""
    if value is not None:
        return warehouse_file(value)
    return nearest_warehouse() or DEFAULT_OUT / WAREHOUSE_NAME


def command(name: str, argument: str, warehouse: Path) -> str:
    """A command to run next, quoted for a shell: names come from untrusted files."""
    return shlex.join(["blade", name, argument]) + where(warehouse)


def where(warehouse: Path) -> str:
    """The option for this warehouse; empty if it is the nearest one anyway."""
    nearest = nearest_warehouse()
    if nearest is not None and warehouse.exists() and warehouse.samefile(nearest):
        return ""
    out = warehouse.parent if warehouse.name == WAREHOUSE_NAME else warehouse
    return f" --warehouse {shlex.quote(str(out))}"


warehouse_option = click.option(
    "--warehouse",
    type=PATH,
    callback=_warehouse,
    help="Output folder of blade analyze, or its warehouse file.  "
    "[default: the nearest blade_out, in this folder or one above it]",
)
follow_option = click.option(
    "--follow-links", is_flag=True, help="Follow symbolic links that lead out of the results."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
templates_option = click.option(
    "--templates",
    type=PATH,
    help="Folder of your own templates; each file replaces the built-in template of the same name.",
)


def rewritten(path: Path, old: str, new: str, *, is_aside: bool = False) -> None:
    """Print the difference (to stderr if `is_aside`) and write the new text."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), str(path), str(path), lineterm="", n=1
    )
    click.echo("\n".join(neutral(line) for line in lines), err=is_aside)
    with replacing(path, hint="Check its permissions.") as beside:
        beside.write_bytes(new.encode())


@contextmanager
def analyzed(*results: Path, follow_links: bool = False) -> Iterator[Analysis]:
    """A temporary analysis of these results."""
    from pipeline.run import run

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        out = Path(folder) / "out"
        settings = Settings(results, out, follow_links=follow_links, use_cache=False)
        with shown_progress() as progress:
            analysis = run(settings, progress=progress)
        yield analysis


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A progress bar on a terminal, else one line per stage."""
    from pipeline.run import Progress

    if not sys.stderr.isatty():
        # Without times, so that the output is reproducible.
        def echo(words: str) -> None:
            click.echo(neutral(words), err=True)

        yield Progress(stage=echo, note=echo)
        return
    from rich import progress as drawn
    from rich.console import Console

    words_column = drawn.TextColumn("{task.description}", markup=False)
    with drawn.Progress(
        drawn.SpinnerColumn(),
        words_column,
        drawn.BarColumn(),
        drawn.TransferSpeedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as shown:
        now = shown.add_task("", total=None)

        def read(n_read: int, n_all: int) -> None:
            shown.update(now, advance=n_read, total=n_all)

        def stage(words: str) -> None:
            shown.reset(now, description=neutral(words), total=None)

        def note(words: str) -> None:
            shown.console.print(neutral(words), markup=False, highlight=False)

        yield Progress(stage, read, note)
