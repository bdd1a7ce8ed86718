"""Options and helpers shared by several commands."""

from __future__ import annotations

import difflib
import math
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import files, user_cache
from ..errors import BladeError, UsageError, listed
from ..outputs import replacing
from ..settings import WAREHOUSE_NAME, Settings, warehouse_file
from ..text import neutral, one_line

if TYPE_CHECKING:
    from ..package.layout import Against
    from ..run import Analysis, Progress
    from ..warehouse import Warehouse

FC = TypeVar("FC", bound=Callable[..., Any])
DEFAULT_OUT = Path("blade_out")
PATH = click.Path(path_type=Path)
UNREAD_LINKS = "select source_file from rejects where reason = ? order by all"


class Number(click.FloatRange):
    """A finite number within limits: click alone would accept "nan" and "inf"."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
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


# What a shell leaves as it is between double quotes.
PLAIN_WORD = re.compile(r"[\w '(),.*=<>:;/|+-]+", re.ASCII)


def command(name: str, argument: str, warehouse: Path) -> str:
    """A command to run next, quoted for a shell: names come from untrusted files."""
    return joined(["blade", name, argument]) + where(warehouse)


def joined(words: Iterable[str]) -> str:
    """A command of these words; one with single quotes, as of SQL, is easier to read in double."""
    return " ".join(
        f'"{word}"' if "'" in word and PLAIN_WORD.fullmatch(word) else shlex.quote(word)
        for word in words
    )


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


def count_option(name: str, default: int, words: str) -> Callable[[FC], FC]:
    kind = click.IntRange(min=1)
    return click.option(name, type=kind, default=default, metavar="N", help=words)


follow_option = click.option(
    "--follow-links", is_flag=True, help="Follow symbolic links that lead out of the results."
)


def _link(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    """Reject what a page cannot link to."""
    if value and not re.fullmatch(r"https?://[!#-&*-;=?-Z_a-z~]+", value):
        hint = "Begin with https:// and write special characters as %20 and so on."
        raise UsageError(f"--link {one_line(value)}: not a URL that a page can link to.", hint=hint)
    return value or ""


format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    help="Output format.",
)
link_option = click.option(
    "--link",
    metavar="URL",
    callback=_link,
    help="With --format markdown: address of the full report, to link to.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
templates_option = click.option(
    "--templates",
    type=PATH,
    help="Folder of your own templates; each file replaces the built-in template of the same name.",
)


def rewritten(path: Path, old: str, new: str, *, is_aside: bool) -> None:
    """Print the difference (to stderr if `is_aside`) and write the new text."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), str(path), str(path), lineterm="", n=1
    )
    click.echo("\n".join(neutral(line) for line in lines), err=is_aside)
    with replacing(path, hint="Check its permissions.") as beside:
        beside.write_bytes(new.encode())


@contextmanager
def analyzed(*results: Path, follow_links: bool = False) -> Iterator[Analysis]:
    from ..run import run

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        out = Path(folder) / "out"
        settings = Settings(results, out, follow_links=follow_links, use_cache=False)
        with shown_progress() as progress:
            analysis = run(settings, progress=progress)
        yield analysis


def opened_data(
    data_of: Against, *, follow_links: bool
) -> AbstractContextManager[Warehouse | None]:
    """The data of a report: its warehouse, or one of its rollouts; None if it has neither."""
    from ..warehouse import open_warehouse

    if data_of.results is not None:
        return opened_package(data_of.results, follow_links=follow_links)
    return nullcontext() if data_of.warehouse is None else open_warehouse(data_of.warehouse)


@contextmanager
def opened_package(results: Path, *, follow_links: bool) -> Iterator[Warehouse]:
    """A warehouse of these rollouts; that of a package is cached for the next call.

    It is used again only where every input has the bytes that it was made from. Nothing inside the
    package is believed: it was written by the author of the package.
    """
    from ..package.layout import GOLDEN_REPORTS
    from ..run import part
    from ..warehouse import open_warehouse

    package = results.absolute().parent
    is_package = (package / GOLDEN_REPORTS).is_dir()
    cache = user_cache.entry(user_cache.PACKAGES, package) if is_package else None
    path = None
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        settings = Settings(
            (results,),
            Path(folder) / "out",
            follow_links=follow_links,
            use_cache=False,
            by_content=True,
        )
        with shown_progress() as progress:
            if cache is not None:
                # Another call writes there, it is full, or the analysis says below what is wrong.
                with suppress(OSError, BladeError):
                    cached = replace(settings, out=cache, use_cache=True)
                    path = part(cached, progress=progress)
                    os.utime(cache)
                user_cache.prune(user_cache.PACKAGES)
            path = path or part(settings, progress=progress)
        with open_warehouse(path) as opened:
            unread = opened.column(UNREAD_LINKS, files.LEADS_OUT)
            if unread:
                message = f"! links that lead out of the rollouts are not read: {listed(unread)}"
                click.echo(f"{neutral(message)}\n    --follow-links reads them", err=True)
            yield opened


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A progress bar on a terminal, else one line per stage."""
    from ..run import Progress

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
