"""Tables of attempts and tasks as MLflow, Weights & Biases and Hugging Face read them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from ..files import read_queries
from ..report import wording
from ..report.templates import environment
from ..text import json_text, markdown_cell
from ..warehouse import Warehouse
from .attempts import AT_ONCE, RUNS, Note, Row, Written, folder_name, write_json

QUERIES = read_queries("export/trackers")
# What a tracker calls the files of a run: tables, figures, settings.
FILES = {
    "mlflow": ("{}.json", "metrics.json", "params.json"),
    "wandb": ("{}.table.json", "summary.json", "config.json"),
}
WANDB_TYPES = {"BOOLEAN": "boolean", "DOUBLE": "number", "BIGINT": "number"}
PARQUET = "format parquet, compression zstd"
ORDER = "order by try_cast(task_id as bigint), task_id, rollout_index"
COUNTS = ("n_tasks", "n_expected", "n_scored")


def tracked(
    tracker: str, warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note
) -> Written:
    """Write a folder per run: its attempts and its tasks as tables, its figures, its settings."""
    table, figures, settings = FILES[tracker]
    for run_id in warehouse.column(RUNS):
        place = folder_name(run_id)
        (folder / place).mkdir()
        for name in ("attempts", "tasks"):
            file = f"{place}/{table.format(name)}"
            yield file, _write_table(warehouse, name, run_id, folder / file, tracker)
        (metrics,) = warehouse.rows("from run_metrics where run_id = ?", run_id)
        (own,) = warehouse.rows(QUERIES["settings"], run_id)
        for file, values in ((figures, _figures(metrics)), (settings, _settings(own))):
            write_json(folder, f"{place}/{file}", values)
            yield f"{place}/{file}", len(values)


mlflow = partial(tracked, "mlflow")
wandb = partial(tracked, "wandb")


def hugging_face(warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note) -> Written:
    """Write a dataset: a card, attempts with their transcripts, tasks, and figures of runs."""
    run_ids = warehouse.column(RUNS)
    attempts, transcripts, tasks = (
        QUERIES[name].rstrip("; \n") for name in ("attempts", "transcripts", "tasks")
    )
    query = f"from ({attempts}) left join ({transcripts}) using (task_id, rollout_index) {ORDER}"
    for number, run_id in enumerate(run_ids):
        file = f"attempts/test-{number:05}-of-{len(run_ids):05}.parquet"
        yield file, warehouse.copy(query, folder / file, PARQUET, run_id)
    yield "tasks.parquet", warehouse.copy(tasks, folder / "tasks.parquet", PARQUET, None)
    query = "from run_metrics order by run_id"
    yield "runs.parquet", warehouse.copy(query, folder / "runs.parquet", PARQUET)
    template = environment("export", None, autoescape=False).get_template("dataset_card.md.j2")
    card = template.render(runs=[_summary(run) for run in warehouse.rows(query)])
    (folder / "README.md").write_text(f"{card}\n", encoding="utf-8", newline="\n")
    yield "README.md", len(run_ids)


def _write_table(warehouse: Warehouse, name: str, run_id: str, path: Path, tracker: str) -> int:
    """Write rows one by one, as columns and data; returns their number."""
    result = warehouse.execute(QUERIES[name], [run_id])
    columns = {column[0]: str(column[1]) for column in result.description or []}
    head: Row = {"columns": list(columns)}
    if tracker == "wandb":
        head |= {"_type": "table", "log_mode": "IMMUTABLE", "column_types": _types(columns)}
    n_rows = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(json_text(head).removesuffix("}") + ', "data": [')
        while rows := result.fetchmany(AT_ONCE):
            for row in rows:
                file.write(("," if n_rows else "") + "\n" + json_text(row))
                n_rows += 1
        file.write("\n]}\n")
    return n_rows


def _types(columns: dict[str, str]) -> Row:
    types = {
        name: {
            "wb_type": "union",
            "params": {
                "allowed_types": [
                    {"wb_type": "none"},
                    {"wb_type": WANDB_TYPES.get(type_, "string")},
                ]
            },
        }
        for name, type_ in columns.items()
    }
    return {"wb_type": "typedDict", "params": {"type_map": types}}


def _figures(metrics: Row) -> Row:
    """The figures that are defined: a tracker has no place for the others."""
    return {
        name: value
        for name, value in metrics.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }


def _settings(run: Row) -> Row:
    """What is recorded of how a run was made; sampling and limits by name."""
    nested = {name: json.loads(run.pop(name) or "{}") for name in ("sampling", "limits")}
    flat = {f"{name}.{key}": value for name, own in nested.items() for key, value in own.items()}
    return {name: value for name, value in (run | flat).items() if value is not None}


def _summary(run: Row) -> Row:
    """A row of the card: names as inert Markdown, the score with its interval."""
    percent = wording.FORMATS["pct"]
    score = "n/a" if run["pass_at_1"] is None else percent(run["pass_at_1"])
    low, high = (run[f"pass_at_1_ci_new_tasks_{end}"] for end in ("low", "high"))
    if low is not None:
        score += f" ({percent(low)} to {percent(high)})"
    names = {name: markdown_cell(run[name] or "") for name in ("run_id", "benchmark", "model")}
    return {**names, **{name: run[name] for name in COUNTS}, "score": score}
