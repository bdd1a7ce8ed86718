"""blade export: the warehouse in a format that other tools read.

Files change together, and only those of an earlier export are replaced. Every Eval Ever asks for a
score of every instance, so attempts without one are left out and counted; `blade analyze` reads the
written files back to the same figures.
"""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from pipeline import __version__, files, outputs
from pipeline.cli.export_gym import Written, atif, attempts, gym, package, safe
from pipeline.cli.lookup import Row, rows, run_names
from pipeline.cli.options import PATH, memory_option, replacing, warehouse_option
from pipeline.errors import UsageError
from pipeline.text import json_text, neutral
from pipeline.warehouse import Warehouse, grains, of_this_version, open_warehouse

LISTING = "export.json"
COPIED = {
    "parquet": "format parquet, compression zstd, row_group_size 16384",
    "csv": "format csv, header true",
}
WRITERS = {"gym": gym, "atif": atif, "package": package}
# JSON as text, which every reader has; CSV has nothing else for what is nested.
PUBLIC = """
    select
        table_name,
        list(format('"{0}"::json::varchar as "{0}"', replace(column_name, '"', '""'))) filter (
            data_type = 'JSON'
            or ($1 = 'csv' and (data_type ^@ 'MAP' or data_type ^@ 'STRUCT' or data_type[-1] = ']'))
        ) as texts
    from duckdb_columns()
    where schema_name = 'main' and database_name = current_database()
    group by all
    order by all
"""
SCHEMA = "0.3.0"
REFERENCES = (
    "expected_answer ground_truth reference reference_answer target answer gold_answer".split()
)


@click.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice([*COPIED, *WRITERS, "every_eval_ever"]),
    required=True,
    help="parquet, csv: a file per public relation, events by run; gym: health and comparisons as "
    "NeMo Gym has them; atif: a trajectory per attempt; package: tasks that no model passes, and "
    "tests between models; every_eval_ever: each run as a JSON document and a JSONL file.",
)
@click.option("--out", type=PATH, required=True, help="The folder to write to.")
@click.option(
    "--timestamp",
    type=click.IntRange(0),
    default=0,
    help="The time that a file names, in seconds since 1970; no clock is asked.",
)
@warehouse_option
@memory_option
def export(
    format_: str, out: Path, timestamp: int, warehouse: Path, memory_limit: str | None
) -> None:
    """Write the warehouse in a format that other tools read; print the files.

    \b
    Examples:
      blade export --format parquet --out tables
      blade export --format every_eval_ever --out shared --warehouse compared
    """
    if format_ != "every_eval_ever":
        written = _together(out, format_, timestamp, warehouse, memory_limit)
        for name, n_rows in written.items():
            # Of trajectories there are as many as attempts; their manifest counts them.
            if format_ != "atif" or name.endswith("/manifest.jsonl"):
                click.echo(neutral(f"{out / name}: {n_rows} rows"))
        if format_ == "gym" and not any("/compare_report" in name for name in written):
            note = "blade: no base is named, so no run is compared: blade analyze --baseline RUN"
            click.echo(note, err=True)
        return
    with open_warehouse(warehouse) as opened:
        for run in rows(opened, "from runs order by run_id"):
            for path, n_rows in _every_eval_ever(opened, run, out, str(timestamp)):
                click.echo(neutral(f"{path}: {n_rows} rows"))
            if n_left := run["n_rollouts"] - run["n_scored"]:
                note = f"blade: {run['run_id']}: {n_left} attempts without a score are left out"
                click.echo(neutral(note), err=True)


def _together(
    out: Path, format_: str, timestamp: int, warehouse: Path, memory_limit: str | None
) -> dict[str, int]:
    """All files of a format, or none; how many rows each has."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file.", hint="Choose a folder with --out.")
    with outputs.replaced(out, by="export", stale=_listed) as beside:
        room = beside.resolve().parent
        opening = open_warehouse(warehouse, memory_limit=memory_limit, room=room)
        with of_this_version(warehouse), opening as opened, outputs.explained(out):
            write = WRITERS.get(format_, partial(_tables, format_))
            written = dict(write(opened, beside.resolve(), timestamp))
        kept = {*written, LISTING} - _listed(out)
        if strange := sorted(name for name in kept if (out / name).exists()):
            told = f"{out / strange[0]}: is not of an earlier export, and would be overwritten."
            raise UsageError(told, hint="Choose another folder with --out.")
        content = {"blade_version": __version__, "format": format_, "n_rows": written}
        outputs.write(beside, {LISTING: json_text(content, indent=2) + "\n"})
    return written


def _listed(out: Path) -> set[str]:
    """The files of an earlier export; a name that leads out of the folder is not one."""
    try:
        listing = json.loads(files.content(out / LISTING))
        names = {name for name in listing["n_rows"] if ".." not in Path(name).parts}
        return {LISTING, *(name for name in names if not Path(name).is_absolute())}
    except (files.UnreadableError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _tables(format_: str, warehouse: Warehouse, folder: Path, _timestamp: int) -> Written:
    """Every public relation, sorted by its grain; events in a folder for each run."""
    known = grains()
    for relation in rows(warehouse, PUBLIC, format_):
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
                for run in run_names(warehouse)
            }
        for file, chosen in files_of.items():
            yield file, warehouse.copy(chosen, folder / file, COPIED[format_])


def _every_eval_ever(
    warehouse: Warehouse, run: Row, out: Path, timestamp: str
) -> Iterator[tuple[Path, int]]:
    """The pair of a run: its attempts, then what they come to."""
    if not run["n_scored"]:
        return
    model = run["model"] if run["has_model"] else f"unknown/{run['run_id']}"
    organization, _, name = model.rpartition("/")
    places = (run["benchmark"], organization.rpartition("/")[2] or "unknown", name)
    key = json.dumps([run["benchmark"], run["run_id"], model]).encode()
    stem = str(uuid.UUID(bytes=hashlib.sha256(key).digest()[:16], version=4))
    folder = "/".join(["data", *map(safe, places)])
    shared = {
        "schema_version": SCHEMA,
        "evaluation_id": f"{run['benchmark']}/{run['run_id']}/{timestamp}",
    }
    result_id = f"{run['benchmark']}/{run['run_id']}"
    samples = out / folder / f"{stem}_samples.jsonl"
    rewards: list[float] = []
    checksum = hashlib.sha256()
    with replacing(samples, hint="Choose another folder with --out.") as beside:
        beside.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            for attempt in attempts(warehouse, run["run_id"]):
                if not attempt["is_scored"]:
                    continue
                rewards.append(attempt["reward"])
                instance = {
                    **shared,
                    "model_id": model,
                    "evaluation_name": run["benchmark"],
                    "evaluation_result_id": result_id,
                    **_instance(attempt),
                }
                line = (json.dumps(instance, ensure_ascii=False) + "\n").encode()
                checksum.update(line)
                file.write(line)
    yield samples, len(rewards)
    (metrics,) = rows(warehouse, "from run_metrics where run_id = ?", run["run_id"])
    document = {
        **shared,
        "retrieved_timestamp": timestamp,
        "source_metadata": {
            "source_name": "blade",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {"run_id": run["run_id"], "blade_version": __version__},
        },
        "eval_library": {"name": "unknown", "version": "unknown"},
        "model_info": {
            "name": name,
            "id": model,
            "developer": organization or "unknown",
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": _results(run, metrics, rewards, result_id),
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{folder}/{samples.name}",
            "hash_algorithm": "sha256",
            "checksum": checksum.hexdigest(),
            "total_rows": len(rewards),
            "additional_details": {"n_unscored": str(run["n_rollouts"] - run["n_scored"])},
        },
    }
    with replacing(out / folder / f"{stem}.json") as beside:
        beside.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", "utf-8")
    yield out / folder / f"{stem}.json", 1


def _results(run: Row, metrics: Row, rewards: list[float], result_id: str) -> list[Row]:
    """The mean of the attempts' scores; and pass@1 where it is known what passes."""
    source = {"dataset_name": run["benchmark"], "source_type": "other"}
    in_range = min(rewards) >= 0 and max(rewards) <= 1
    limits = (
        {"min_score": 0.0, "max_score": 1.0}
        if in_range
        else dict.fromkeys(("min_score", "max_score"))
    )
    mean = {
        "evaluation_result_id": result_id,
        "evaluation_name": run["benchmark"],
        "source_data": source,
        "metric_config": {
            "metric_id": "mean_reward",
            "lower_is_better": False,
            "score_type": "continuous",
            **limits,
        },
        "score_details": {
            "score": math.fsum(rewards) / len(rewards),
            "uncertainty": {"num_samples": len(rewards)},
        },
        "generation_config": {"generation_args": _sampling(run)},
    }
    if metrics["pass_at_1"] is None:
        return [mean]
    interval = [metrics[f"pass_at_1_ci_new_tasks_{end}"] for end in ("low", "high")]
    uncertainty: Row = {"num_samples": metrics["n_scored_tasks"]}
    if None not in interval:
        uncertainty["confidence_interval"] = {
            "lower": interval[0],
            "upper": interval[1],
            "confidence_level": 0.95,
        }
    config = {
        "metric_id": "pass_at_1",
        "metric_kind": "pass_rate",
        "metric_unit": "proportion",
        "metric_parameters": {"pass_threshold": run["pass_threshold"]},
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
    }
    passed = {
        **mean,
        "evaluation_result_id": f"{result_id}/pass_at_1",
        "metric_config": config,
        "score_details": {"score": metrics["pass_at_1"], "uncertainty": uncertainty},
    }
    return [mean, passed]


def _sampling(run: Row) -> Row:
    """Settings that the schema has a place for, where they are numbers."""
    given = json.loads(run["sampling"] or "{}")
    names = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_output_tokens"}
    found = {name: given.get(ours) for name, ours in names.items()}
    tokens = found.pop("max_tokens")
    known = {name: one for name, one in found.items() if isinstance(one, (int, float))}
    return known | ({"max_tokens": tokens} if isinstance(tokens, int) and tokens > 0 else {})


def _instance(attempt: Row) -> Row:
    verifier = json.loads(attempt["verifier"] or "{}")
    given = [verifier[name] for name in REFERENCES if verifier.get(name) is not None][:1]
    listed = given[0] if given and isinstance(given[0], list) else given
    reference = [one if isinstance(one, str) else json.dumps(one) for one in listed]
    asked = attempt["prompt"] or ""
    spoken = attempt["events"] or []
    is_single = all(
        one["kind"] == "reasoning" or (one["kind"], one["role"]) == ("message", "assistant")
        for one in spoken
    )
    messages = None if is_single else _messages(attempt, asked, spoken)
    tokens = [attempt["input_tokens"], attempt["output_tokens"]]
    answer = attempt["answer"]
    attribution = {
        "turn_idx": len(messages) - 1 if messages else 0,
        "source": "messages[turn_idx].content" if messages else "output.raw",
        "extracted_value": answer,
        "extraction_method": "unknown",
        "is_terminal": True,
    }
    usage = dict(zip(("input_tokens", "output_tokens"), tokens, strict=True))
    # The schema wants all counts or none.
    lone = {name: str(one) for name, one in usage.items() if one is not None and None in tokens}
    seconds = attempt["duration_s"]
    performance = {"latency_ms": None if seconds is None else seconds * 1000}
    metadata = {"rollout_index": str(attempt["rollout_index"]), **(attempt["slices"] or {})}
    return {
        "sample_id": attempt["task_id"],
        "sample_hash": hashlib.sha256("".join([asked, *reference]).encode()).hexdigest(),
        "interaction_type": "single_turn"
        if is_single
        else "agentic"
        if attempt["n_tool_calls"]
        else "multi_turn",
        "input": {"raw": asked, "reference": reference},
        "output": _output(spoken) if is_single else None,
        "messages": messages,
        "answer_attribution": [attribution] if answer is not None else [],
        "evaluation": {
            "score": attempt["reward"],
            "is_correct": bool(attempt["is_pass"]),
            "num_turns": attempt["n_turns"] or None,
            "tool_calls_count": attempt["n_tool_calls"],
        },
        "token_usage": None if None in tokens else usage | {"total_tokens": sum(tokens)},
        "performance": performance | ({"additional_details": lone} if lone else {}),
        "error": None,
        "metadata": {name: str(one) for name, one in metadata.items() if one is not None},
    }


def _output(spoken: list[Row]) -> Row:
    thoughts = [one["text"] or "" for one in spoken if one["kind"] == "reasoning"]
    said = [one["text"] or "" for one in spoken if one["kind"] == "message"]
    return {"raw": said, "reasoning_trace": thoughts or None}


def _messages(attempt: Row, asked: str, spoken: list[Row]) -> list[Row]:
    """One message for each event, after the question."""
    told: list[Row] = []
    if attempt["system_prompt"]:
        told.append({"role": "system", "content": attempt["system_prompt"]})
    if asked:
        told.append({"role": "user", "content": asked})
    for one in spoken:
        match one["kind"]:
            case "reasoning":
                told.append({"role": "assistant", "content": None, "reasoning_trace": one["text"]})
            case "tool_call":
                call = {"id": one["call_id"] or "", "name": one["tool"] or ""}
                call["arguments"] = _arguments(one["arguments"])
                told.append({"role": "assistant", "content": None, "tool_calls": [call]})
            case "tool_result":
                ids = [one["call_id"]] if one["call_id"] else None
                told.append({"role": "tool", "content": one["text"], "tool_call_id": ids})
            case _:
                told.append({"role": one["role"] or "assistant", "content": one["text"]})
    return [{"turn_idx": place, **one} for place, one in enumerate(told)]


def _arguments(given: str | None) -> dict[str, str]:
    """By name, as texts; what is no object under one name."""
    try:
        found: Any = json.loads(given or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return {"arguments": given or ""}
    return {name: one if isinstance(one, str) else json.dumps(one) for name, one in found.items()}
