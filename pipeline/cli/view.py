"""blade view: the explorer in the browser."""

from __future__ import annotations

import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from pipeline.cli.options import DEFAULT_OUT, PATH, memory_option, nearest_warehouse
from pipeline.errors import UsageError
from pipeline.settings import warehouse_file

EXTRA = "pip install 'blade-eval[view]'"


@click.command()
@click.argument("out", type=PATH, required=False)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="any that is free",
    help="Port on this machine to answer at; 0 takes any.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--labels", type=PATH, help="File to write labels to.  [default: labels.jsonl in OUT]"
)
@memory_option
def view(
    out: Path | None, port: int, no_browser: bool, labels: Path | None, memory_limit: str | None
) -> None:
    """Read what an analysis found in the browser, and label it.

    OUT is the output folder of blade analyze, or its warehouse file. The address that is printed
    holds a key: only who has it is answered, on this machine alone. Ctrl-C ends it.

    \b
    Examples:
      blade view
      blade view compared --port 8765 --no-browser
      blade view --labels results/labels.jsonl
    """
    try:
        from pipeline.view.server import prepared
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn", "anyio"):
            raise
        message = f"blade view needs {error.name}, which is not installed."
        raise UsageError(message, hint=f"Install it with: {EXTRA}") from error
    out = out or nearest_warehouse() or DEFAULT_OUT
    explorer, server, listening = prepared(
        warehouse_file(out), port=port, label_file=labels, memory_limit=memory_limit
    )
    # Ctrl-C is how it ends.
    with listening, suppress(KeyboardInterrupt):
        click.echo(explorer.url)
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=(explorer.url,), daemon=True).start()
        server.run(sockets=[listening])
