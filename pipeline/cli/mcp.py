"""Serve the warehouse to an agent, read-only, over MCP."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click

from ..errors import UsageError
from ..extras import install_hint
from ..warehouse import open_warehouse
from .options import memory_option, timeout_option, warehouse_option


@click.command()
@warehouse_option
@timeout_option
@memory_option
def mcp(warehouse: Path, timeout: float, memory_limit: str | None) -> None:
    """Serve the warehouse to an agent, read-only, over MCP (stdio), until its input ends.

    \b
    Examples:
      blade mcp --warehouse blade_out
      blade mcp --warehouse compared --timeout 30
    """
    try:
        from ..view.mcp import serve
    except ModuleNotFoundError as error:
        if "pipeline" in (error.name or "").split("."):
            raise
        message = f"blade mcp needs the MCP SDK: {error.name} is not installed."
        raise UsageError(message, hint=install_hint("mcp")) from error
    # Report errors of the file now, not at the first request.
    open_warehouse(warehouse).close()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Threads that wait for input or a query would block a normal exit.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda received, _frame: os._exit(128 + received))

    serve(warehouse, timeout=timeout, memory_limit=memory_limit)
