"""Explore tasks, transcripts and comparisons in the browser; label failures."""

from __future__ import annotations

import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from ..errors import UsageError
from ..extras import install_hint
from ..settings import warehouse_file
from .options import DEFAULT_OUT, PATH, memory_option, nearest_warehouse


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
@memory_option
def view(
    out: Path | None, port: int, no_browser: bool, labels: Path | None, memory_limit: str | None
) -> None:
    """Explore an analysis in the browser, and label failures.

    OUT is the output folder of blade analyze, or its warehouse file. The server answers only on
    this machine and only to requests with the key in the printed address. Stop it with Ctrl-C.

    \b
    Examples:
      blade view
      blade view compared --port 8765 --no-browser
      blade view --labels results/labels.jsonl
    """
    try:
        from ..view.server import prepared
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio"):
            raise
        message = f"blade view needs {error.name}, which is not installed."
        raise UsageError(message, hint=install_hint("view")) from error
    out = out or nearest_warehouse() or DEFAULT_OUT
    explorer, server, listening = prepared(
        warehouse_file(out), port=port, label_file=labels, memory_limit=memory_limit
    )
    # Ctrl-C stops it.
    with listening, suppress(KeyboardInterrupt):
        click.echo(explorer.url)
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(explorer.url,), daemon=True).start()
        server.run(sockets=[listening])
