"""Names of runs and tasks that a shell offers while a command is typed."""

from __future__ import annotations

import re

import click

from ..errors import BladeError
from ..settings import warehouse_file
from .options import nearest_warehouse

MOST_NAMES = 200
# Names come from untrusted files, and a shell inserts them unquoted.
HARMLESS = re.compile(r"[A-Za-z0-9_.,@%+=/-]+")
RUNS = "select run_id from runs where starts_with(run_id, ?) order by all"
TASKS = """
    select distinct run_id || '/' || task_id
    from rollouts
    where run_id = ? and starts_with(task_id, ?)
    order by all
"""


def complete_run(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Runs of the warehouse whose names begin so."""
    return _names(context, RUNS, [typed])


def complete_task(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Runs, each with a slash; after a slash, the tasks of the run."""
    run, slash, task = typed.partition("/")
    if slash:
        return _names(context, TASKS, [run, task])
    return [f"{name}/" for name in _names(context, RUNS, [typed])]


def _names(context: click.Context, query: str, values: list[str]) -> list[str]:
    """The names that a query gives; none if there is no warehouse to ask."""
    named = context.params.get("warehouse")
    warehouse = warehouse_file(named) if named is not None else nearest_warehouse()
    if warehouse is None:
        return []
    from ..warehouse import open_warehouse

    try:
        with open_warehouse(warehouse) as opened:
            rows = opened.execute(query, values).fetchmany(MOST_NAMES)
    except BladeError:
        return []
    return [name for (name,) in rows if HARMLESS.fullmatch(name)]
