"""Files in the formats of NeMo Gym and its packages: health, comparisons, tests of models.

Only documented fields are written; what is not recorded is null or left out.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ..files import read_queries
from ..report import collect
from ..report.registers import registers
from ..warehouse import Warehouse
from .attempts import RUNS, Note, Row, Written, folder_name, index, safe, write_json

QUERIES = read_queries("export/gym")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HEALTH = ("healthy", "unhealthy", "unobserved")
# The checks of Gym: of rollouts, of tasks, of lines.
CHECKS = (
    "rollout_duplicate_identity rollout_missing_agent_turns rollout_token_count_mismatch "
    "rollout_ended_on_failed_model_call agent_turn_hollow trajectory_capture_mismatch "
    "model_call_failed model_call_missing_token_counts model_call_runaway_generation "
    "model_call_zero_completion_tokens".split()
)
SILENT = ("task_no_successful_model_calls",)
UNREADABLE = ("record_unreadable",)


def gym(warehouse: Warehouse, folder: Path, timestamp: int, note: Note) -> Written:
    """Write the health of each run, and the report of each comparison with a named base."""
    for run_id in warehouse.column(RUNS):
        yield from _health(warehouse, run_id, folder)
    named = "select distinct base, candidate from comparisons where is_named order by all"
    pairs = warehouse.rows(named)
    if not pairs:
        note("no comparisons without a baseline; set one with: blade analyze --baseline RUN")
    for pair in pairs:
        name = f"{folder_name(pair['candidate'])}/compare_report.json"
        write_json(folder, name, _comparison(warehouse, pair["base"], pair["candidate"], timestamp))
        yield name, 1


def _health(warehouse: Warehouse, run_id: str, folder: Path) -> Written:
    """The health of a run by the checks of Gym alone, without those of blade."""
    rollouts = warehouse.rows(QUERIES["verdicts"], run_id, CHECKS)
    others = {
        row["check_id"]: row["tasks"] for row in warehouse.rows(QUERIES["other_checks"], run_id)
    }
    unobserved = Counter(check for row in rollouts for check in row["unobserved"])
    issues = Counter(each["check"] for row in rollouts for each in row["findings"])
    tasks: Row = {}
    for name, own in groupby(rollouts, key=itemgetter("task_id")):
        counts = Counter(row["verdict"] for row in own)
        computable = counts["healthy"] + counts["unhealthy"]
        flags = ["task_consistently_unhealthy"] * (computable == counts["unhealthy"] > 1)
        flags += [check for check in SILENT if name in others.get(check, [])]
        issues.update(flags)
        tasks[name] = {"repeats": counts.total(), **{each: counts[each] for each in HEALTH}}
        tasks[name]["flags"] = flags
    issues.update({check: len(others.get(check, [])) for check in UNREADABLE})
    verdicts = Counter(row["verdict"] for row in rollouts)
    run = {
        "ignored_checks": [],
        "artifacts": {
            "records": len(rollouts),
            "coverage": {
                check: {
                    "evaluated": len(rollouts) - unobserved[check],
                    "unobserved": unobserved[check],
                    "ignored": 0,
                }
                for check in CHECKS
            },
        },
        "verdicts": {each: verdicts[each] for each in HEALTH},
        "issues": {
            check: issues[check]
            for check in (*CHECKS, "task_consistently_unhealthy", *SILENT, *UNREADABLE)
        },
        "stats": {
            "tokens": {
                "prompt": sum(row["input_tokens"] or 0 for row in rollouts),
                "completion": sum(row["output_tokens"] or 0 for row in rollouts),
            }
        },
    }
    place = folder_name(run_id)
    write_json(folder, f"{place}/quality_summary.json", {"run": run, "tasks": tasks})
    yield f"{place}/quality_summary.json", 1
    lines = [
        {"_ng_task_index": index(row["task_id"]), "_ng_rollout_index": row["rollout_index"]}
        | {name: row[name] for name in ("rollout_id", "verdict", "findings", "unobserved")}
        for row in rollouts
    ]
    write_json(folder, f"{place}/rollout_verdicts.jsonl", *lines, indent=None)
    yield f"{place}/rollout_verdicts.jsonl", len(lines)


def _comparison(warehouse: Warehouse, base: str, candidate: str, timestamp: int) -> Row:
    (base_side,), (candidate_side,) = (
        warehouse.rows(QUERIES["side"], name) for name in (base, candidate)
    )
    metrics = []
    for name in (name for name in base_side if name.startswith("mean/")):
        before, after = base_side[name], candidate_side[name]
        delta = None if before is None or after is None else after - before
        change = {
            "delta": delta,
            "delta_pct": 100 * delta / abs(before) if delta is not None and before else None,
        }
        metrics.append(
            {
                "metric": name,
                "is_key_metric": True,
                "present_in": ["baseline"] * (before is not None)
                + ["candidate[0]"] * (after is not None),
                "baseline": None if before is None else {"value": before},
                "candidates": [None if after is None else {"value": after, **change}],
            }
        )

    def file(side: Row, role: str) -> Row:
        return {
            "role": role,
            "index": 0,
            "rollouts_jsonl_fpath": side["rollouts_path"],
            "aggregate_metrics_fpath": side["metrics_path"],
            "label": side["run_id"],
            "agent_names": sorted(name for name in side["agents"] if name),
        }

    return {
        "schema_version": "1",
        "generated_at": (EPOCH + timedelta(seconds=timestamp)).isoformat(),
        "nemo_gym_version": "unknown",
        "command": "blade export --format gym",
        "baseline": file(base_side, "baseline"),
        "candidates": [file(candidate_side, "candidate")],
        "comparisons": [
            {
                "baseline_agent": base_side["agent"] or "unknown",
                "candidate_agents": [candidate_side["agent"] or "unknown"],
                "baseline_task_count": base_side["n_tasks"],
                "candidate_task_counts": [candidate_side["n_tasks"]],
                "baseline_repeat_count": base_side["n_repeats"],
                "candidate_repeat_counts": [candidate_side["n_repeats"]],
                "metrics": [row for row in metrics if row["present_in"]],
                "flips": [flips(warehouse, base, candidate)],
                "notes": [],
            }
        ],
        "skipped_agents": {},
        "warnings": [],
    }


def flips(warehouse: Warehouse, base: str, candidate: str) -> Row:
    """Tasks whose score crossed one half, or whose graded reward changed."""
    tasks = warehouse.rows(QUERIES["flips"], base, candidate)
    (common,) = warehouse.rows(QUERIES["common"], base, candidate)
    is_binary = {row.pop("is_binary") for row in tasks} == {True}
    counts = Counter(row["direction"] for row in tasks)
    known = ("pass_to_fail", "fail_to_pass", "tied")
    net = counts["fail_to_pass"] - counts["pass_to_fail"]
    return {
        "candidate_index": 0,
        "mode": "unavailable" if not tasks else "binary" if is_binary else "continuous",
        "reason": None if tasks else "no common task has an index",
        "field": "reward",
        **common,
        **{f"{each}_count": counts[each] if is_binary else None for each in known},
        "unchanged_count": counts["unchanged"] if tasks else None,
        "net": net if is_binary else None,
        "flips": [row for row in tasks if row["direction"] not in ("tied", "unchanged")],
    }


def package(warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note) -> Written:
    """Write, per benchmark, its failing tasks and the tests between its models."""
    content = collect(warehouse)
    for benchmark in content.benchmarks:
        for file, text in registers(warehouse, content.of_benchmark(benchmark)).items():
            place = f"benchmarks/{safe(benchmark)}/golden_reports/{file}"
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            recorded = json.loads(text) if file.endswith(".json") else {}
            yield place, len(recorded.get("tasks") or recorded.get("tests") or ())
