"""Write the warehouse in formats for other tools.

All files of an export are replaced at once, and only files of an earlier export are overwritten.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

from .. import __version__, files, outputs
from ..errors import UsageError
from ..files import read_queries
from ..text import json_text
from ..warehouse import Warehouse, grains, of_this_version, open_warehouse
from .attempts import Note, Written
from .every_eval_ever import every_eval_ever
from .gym import gym, package
from .junit import junit
from .trackers import hugging_face, mlflow, wandb
from .trajectories import atif

LISTING = "export.json"
# The names of all files that an export writes: no others are removed, even if listed.
NAMES = re.compile(
    r"[a-z0-9_]+\.(parquet|csv)"
    r"|events/run_id=[^/]+/events\.(parquet|csv)"
    r"|[A-Za-z0-9._-]+/(quality_summary|compare_report|[A-Za-z0-9._-]+-[0-9]+)\.json"
    r"|[A-Za-z0-9._-]+/(rollout_verdicts|manifest)\.jsonl"
    r"|[A-Za-z0-9._-]+/junit\.xml"
    r"|[A-Za-z0-9._-]+/((attempts|tasks)(\.table)?|metrics|params|summary|config)\.json"
    r"|attempts/test-[0-9]+-of-[0-9]+\.parquet|README\.md"
    r"|benchmarks/[A-Za-z0-9._-]+/golden_reports/"
    r"((failed_task_register|model_comparison_statistics)\.json|model_comparison_report\.md)"
)
COPIED = {
    "parquet": "format parquet, compression zstd, row_group_size 16384",
    "csv": "format csv, header true",
}
QUERIES = read_queries("export/tables")


def tables(
    format_: str, warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note
) -> Written:
    """Write every public relation, sorted by its grain; events in one folder per run."""
    known = grains()
    for relation in warehouse.rows(QUERIES["public"], format_):
        name, texts = relation["table_name"], ", ".join(relation["texts"] or [])
        query = f'select * {f"replace ({texts})" if texts else ""} from main."{name}"'
        order = f"order by {', '.join(known.get(name, ['all']))}"
        files_of = {f"{name}.{format_}": f"{query} {order}"}
        if name == "events":
            files_of = {
                f"events/run_id={quote(run, safe='')}/events.{format_}": (
                    f"select * exclude (run_id) from ({query}) "
                    f"where run_id = '{run.replace(chr(39), chr(39) * 2)}' {order}"
                )
                for run in warehouse.column("select run_id from runs order by all")
            }
        for file, chosen in files_of.items():
            yield file, warehouse.copy(chosen, folder / file, COPIED[format_])


WRITERS: dict[str, Callable[[Warehouse, Path, int, Note], Written]] = {
    **{name: partial(tables, name) for name in COPIED},
    "gym": gym,
    "atif": atif,
    "junit": junit,
    "mlflow": mlflow,
    "wandb": wandb,
    "hugging_face": hugging_face,
    "package": package,
    "every_eval_ever": every_eval_ever,
}


def write(
    warehouse: Path,
    out: Path,
    format_: str,
    *,
    timestamp: int = 0,
    memory_limit: str | None = None,
    note: Note = lambda _words: None,
) -> dict[str, int]:
    """Write all files of a format, or none; returns their numbers of rows."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file.", hint="Choose a folder with --out.")
    # Files of Every Eval Ever are named by run, so several warehouses may share a folder.
    is_listed = format_ != "every_eval_ever"
    stale = _listed if is_listed else lambda _out: set()
    with outputs.replaced(out, by="export", stale=stale) as new_folder:
        folder = new_folder.resolve().parent
        opening = open_warehouse(warehouse, memory_limit=memory_limit, writable_folder=folder)
        with of_this_version(warehouse), opening as opened, outputs.explained(out):
            written = dict(WRITERS[format_](opened, new_folder.resolve(), timestamp, note))
        if is_listed:
            _refuse_existing(out, {*written, LISTING} - _listed(out))
            content = {"blade_version": __version__, "format": format_, "n_rows": written}
            outputs.write(new_folder, {LISTING: json_text(content, indent=2) + "\n"})
    return written


def _refuse_existing(out: Path, names: set[str]) -> None:
    if existing := sorted(name for name in names if os.path.lexists(out / name)):
        message = f"{out / existing[0]}: is not from an earlier export, and would be overwritten."
        raise UsageError(message, hint="Choose another folder with --out.")


def _listed(out: Path) -> set[str]:
    """The files of this user's earlier export; none if the list contains other names."""
    if not files.is_own(out / LISTING):
        return set()
    try:
        names = set(json.loads(files.content(out / LISTING))["n_rows"])
        is_export = all(NAMES.fullmatch(name) and files.is_inside(out, name) for name in names)
        return {LISTING, *names} if is_export else set()
    except (files.UnreadableError, ValueError, KeyError, TypeError, RecursionError):
        return set()
