"""Serve the warehouse to an agent over MCP: to ask, to read by a plan, to label."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click

from ..warehouse import open_warehouse
from .options import PATH, memory_option, timeout_option, warehouse_option


@click.command()
@warehouse_option
@timeout_option
@memory_option
@click.option(
    "--labels", type=PATH, help="File of labels.  [default: labels.jsonl beside the warehouse]"
)
def mcp(warehouse: Path, timeout: float, memory_limit: str | None, labels: Path | None) -> None:
    """Serve the warehouse to an agent over MCP (stdio), until its input ends.

    The warehouse is only read; labels are appended to a file.

    \b
    Examples:
      blade mcp --warehouse blade_out
      blade mcp --warehouse compared --timeout 30
    """
    from ..view.mcp import serve

    # Report errors of the file now, not at the first request.
    open_warehouse(warehouse).close()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Threads that wait for input or a query would block a normal exit.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda received, _frame: os._exit(128 + received))

    serve(warehouse, timeout=timeout, memory_limit=memory_limit, labels=labels)
