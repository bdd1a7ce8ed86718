"""blade mcp: the warehouse for an agent, over the Model Context Protocol."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.compare import MARGIN, by_metric, compared
from pipeline.cli.failures import ranked_failures
from pipeline.cli.health import checked_health
from pipeline.cli.lookup import Row, column, rows
from pipeline.cli.options import memory_option, timeout_option, warehouse_option
from pipeline.cli.show import cited_rollout
from pipeline.cli.sql import in_time, objects, schema_query
from pipeline.cli.why import task_story
from pipeline.errors import UsageError
from pipeline.report import comparison_json
from pipeline.warehouse import Warehouse, of_this_version, open_warehouse

if TYPE_CHECKING:
    from pipeline.view.mcp import Commands


@click.command()
@warehouse_option
@timeout_option
@memory_option
def mcp(warehouse: Path, timeout: float, memory_limit: str | None) -> None:
    """Serve the warehouse to an agent, read-only, until the input ends (MCP over stdio).

    \b
    Examples:
      blade mcp --warehouse blade_out
      blade mcp --warehouse compared --timeout 30
    """
    try:
        from pipeline.view.mcp import serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("pipeline"):
            raise
        message = f"blade mcp needs the MCP SDK: {error.name} is not installed."
        raise UsageError(message, hint="Install it with: pip install 'blade-eval[mcp]'") from error
    # What is wrong with the file is said now, not at the first question.
    open_warehouse(warehouse).close()
    for number in (signal.SIGINT, signal.SIGTERM):
        # A thread that waits for input or for a query would hold on; there is nothing to clean up.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda received, _frame: os._exit(128 + received))

    serve(warehouse, answers(warehouse, timeout=timeout, memory_limit=memory_limit))


def answers(path: Path, *, timeout: float, memory_limit: str | None) -> Commands:
    """What the commands say of this warehouse; each opens it anew: it may have been replaced."""
    from pipeline.view.mcp import Commands

    def asked(answer: Callable[..., Any]) -> Callable[..., Any]:
        def answering(*arguments: Any) -> Any:
            with open_warehouse(path) as opened, of_this_version(path):
                return answer(opened, *arguments)

        return answering

    def sql(query: str, most: int) -> tuple[list[Row], int | None]:
        with open_warehouse(path, memory_limit=memory_limit) as opened:
            return in_time(opened, lambda: _answer(opened, query, most), timeout)

    def compare(names: Sequence[str], metric: str | None) -> list[Row]:
        with of_this_version(path), compared(path, names, margin=MARGIN, rerun=None) as (_, found):
            return comparison_json.objects(by_metric(found, metric, is_asked=bool(names)))

    return Commands(
        schema=asked(_schema),
        sql=sql,
        task=asked(task_story),
        rollout=asked(cited_rollout),
        compare=compare,
        failures=asked(ranked_failures),
        health=asked(_health),
    )


def _schema(warehouse: Warehouse, name: str | None) -> list[Row]:
    return rows(warehouse, schema_query(warehouse, name))


def _answer(warehouse: Warehouse, query: str, most: int) -> tuple[list[Row], int | None]:
    """The first rows of a query, and how many it has in all; unknown where it cannot be counted."""
    found = list(islice(objects(warehouse.execute(query)), most + 1))
    if len(found) <= most:
        return found, len(found)
    try:
        text = query.strip().removesuffix(";")
        (n_rows,) = column(warehouse, f"select count(*) from ({text}\n)")
    except UsageError:
        n_rows = None
    return found[:most], n_rows


def _health(warehouse: Warehouse, name: str | None) -> Row:
    runs, checks = checked_health(warehouse, name)
    return {"runs": runs, "checks": checks}
