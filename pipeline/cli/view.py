"""Explore tasks, transcripts and comparisons in the browser; label failures."""

from __future__ import annotations

import threading
import warnings
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from ..errors import UsageError
from ..extras import install_hint
from ..package.sanitize.page import sanitized
from ..package.sanitize.placeholders import Placeholders, by_kind
from ..package.sanitize.policy import Policy, nearest
from ..package.sanitize.share import read_policy
from ..settings import warehouse_file
from ..text import neutral
from .options import DEFAULT_OUT, PATH, memory_option, nearest_warehouse, shown_progress

# After so many pages of a bundle, the count of pages is printed again.
PAGES_DRAWN = 250


@click.command()
@click.argument("out", type=PATH, required=False)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    show_default="any free port",
    help="Port on this machine.",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
@click.option(
    "--labels", type=PATH, help="File to write labels to.  [default: labels.jsonl in OUT]"
)
@click.option(
    "--bundle",
    type=PATH,
    help="Write the pages as files to this folder, for any web host, and serve nothing.",
)
@click.option(
    "--sanitize",
    is_flag=True,
    help="Take credentials, names and private data out of the bundle, as blade sanitize does.",
)
@memory_option
def view(
    out: Path | None,
    port: int,
    no_browser: bool,
    labels: Path | None,
    bundle: Path | None,
    sanitize: bool,
    memory_limit: str | None,
) -> None:
    """Explore an analysis in the browser, and label failures.

    OUT is the output folder of blade analyze, or its warehouse file. The server answers only on
    this machine and only to requests with the key in the printed address. Stop it with Ctrl-C.

    \b
    Examples:
      blade view
      blade view compared --port 8765 --no-browser
      blade view --labels results/labels.jsonl
      blade view --bundle shared --sanitize
    """
    out = out or nearest_warehouse() or DEFAULT_OUT
    if bundle is not None:
        if labels is not None or port:
            raise UsageError("a bundle has no port and writes no labels.")
        _write_bundle(warehouse_file(out), bundle, is_clean=sanitize, memory_limit=memory_limit)
        return
    if sanitize:
        raise UsageError("--sanitize: is of a bundle.", hint="Name its folder: --bundle DIR")
    try:
        from ..view.server import prepared
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio"):
            raise
        message = f"blade view needs {error.name}, which is not installed."
        raise UsageError(message, hint=install_hint("view")) from error
    explorer, server, listening = prepared(
        warehouse_file(out), port=port, label_file=labels, memory_limit=memory_limit
    )
    # Ctrl-C stops it, also before the server has begun, which Python would warn of.
    warnings.filterwarnings("ignore", message="coroutine .* was never awaited")
    with listening, suppress(KeyboardInterrupt):
        click.echo(explorer.url)
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(explorer.url,), daemon=True).start()
        server.run(sockets=[listening])


def _write_bundle(
    warehouse: Path, folder: Path, *, is_clean: bool, memory_limit: str | None
) -> None:
    from ..view import bundle

    policy, placeholders = _policy(warehouse) if is_clean else None, Placeholders()

    def clean(name: str, text: str) -> str:
        return text if policy is None else sanitized(text, name, policy, placeholders)

    with shown_progress() as progress:
        progress.stage("writing pages")
        n_drawn = 0

        def drawn(n_written: int, n_known: int) -> None:
            nonlocal n_drawn
            if n_written - n_drawn >= PAGES_DRAWN:
                progress.stage(f"writing pages: {n_written:,} of {n_known:,} so far")
                n_drawn = n_written

        n_files, n_bytes = bundle.write(
            warehouse, folder, clean=clean, memory_limit=memory_limit, progress=drawn
        )
    if is_clean:
        counts = ", ".join(f"{n} {kind}" for kind, n in by_kind(placeholders.entries).items())
        click.echo(f"taken out: {counts or 'nothing'}")
    size = f"{n_files:,} files, {n_bytes / 1e6:,.1f} MB"
    click.echo(neutral(f"{folder}: {size}; open {bundle.HOME}"))


def _policy(warehouse: Path) -> Policy:
    chosen = nearest([warehouse])
    if chosen is not None:
        click.echo(f"policy: {neutral(str(chosen))}", err=True)
    return read_policy(chosen)
