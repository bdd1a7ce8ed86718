"""Files that Gym's own tools and its packages have: health, comparisons, tests between models.

Only what such a file's definition says is written; what is not recorded is null or left out.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from pipeline.export.attempts import Note, Row, Written, index, safe, write_json
from pipeline.report import collect
from pipeline.report.registers import registers
from pipeline.warehouse import Warehouse

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HEALTH = ("healthy", "unhealthy", "unobserved")
# The checks that Gym knows by name: of rollouts, of tasks, of lines.
CHECKS = (
    "rollout_duplicate_identity rollout_missing_agent_turns rollout_token_count_mismatch "
    "rollout_ended_on_failed_model_call agent_turn_hollow trajectory_capture_mismatch "
    "model_call_failed model_call_missing_token_counts model_call_runaway_generation "
    "model_call_zero_completion_tokens".split()
)
SILENT, UNREADABLE = ("task_no_successful_model_calls",), ("record_unreadable",)
VERDICTS = """
    select
        task_id, rollout_index, rollout_id, input_tokens, output_tokens,
        list_filter(unobserved_checks, lambda each: list_contains($2, each)) as unobserved,
        coalesce(found.findings, []) as findings,
        case
            when found.findings is not null then 'unhealthy'
            when length(unobserved) > 0 then 'unobserved'
            else 'healthy'
        end as verdict
    from rollout_health
    inner join rollouts using (run_id, task_id, rollout_index)
    left join (
        select
            run_id, task_id, rollout_index,
            list({'check': check_id, detail: {message: message}} order by check_id, subject)
                as findings
        from health_findings
        where scope = 'rollout' and list_contains($2, check_id)
        group by all
    ) as found using (run_id, task_id, rollout_index)
    where run_id = $1
    order by try_cast(task_id as bigint), task_id, rollout_index
"""
OTHERS = """
    select check_id, list(task_id) as tasks from health_findings
    where run_id = $1 and scope <> 'rollout' group by all
"""
# Gym joins tasks by their index. One half is on neither side; a graded reward just changes.
FLIPS = """
    with rewards as (
        select run_id, task_id, list(reward order by rollout_index) as rewards
        from rollouts where is_scored group by all
    ),
    scores as (
        select
            tasks.task_id::bigint as task_index,
            base_mean_reward as baseline_score,
            candidate_mean_reward as candidate_score,
            candidate_score - baseline_score as delta,
            bases.rewards as baseline_rewards, candidates.rewards as candidate_rewards,
            bool_and(list_has_all([0, 1], baseline_rewards || candidate_rewards)) over ()
                as is_binary
        from comparison_tasks as tasks
        inner join rewards as bases on bases.run_id = base and bases.task_id = tasks.task_id
        inner join rewards as candidates
            on candidates.run_id = candidate and candidates.task_id = tasks.task_id
        where base = $1 and candidate = $2 and is_common
            and try_cast(tasks.task_id as bigint)::varchar = tasks.task_id
    )
    select
        *,
        case
            when not is_binary then if(delta = 0, 'unchanged', 'changed')
            when 0.5 in (baseline_score, candidate_score) then 'tied'
            when (baseline_score > 0.5) = (candidate_score > 0.5) then 'unchanged'
            else if(delta < 0, 'pass_to_fail', 'fail_to_pass')
        end as direction
    from scores
    order by direction = 'fail_to_pass', abs(delta) desc, task_index
"""
COMMON = """
    select
        n_common_tasks as common_task_count, n_base_only as baseline_only_task_count,
        n_candidate_only as candidate_only_task_count
    from comparisons where base = $1 and candidate = $2 and is_lead
"""
SIDES = """
    select
        runs.run_id, runs.agent, n_tasks, n_repeats, list_distinct(list(rollouts.agent)) as agents,
        list_sum(list(reward order by reward)) / nullif(count(reward), 0) as "mean/reward",
        avg(input_tokens) as "mean/input_tokens", avg(output_tokens) as "mean/output_tokens",
        (
            select min(path) from artifacts
            where kind = 'rollouts' and list_contains(run_ids, runs.run_id)
        ) as rollouts_path,
        (
            select min(path) from artifacts
            where kind = 'aggregate_metrics' and list_contains(run_ids, runs.run_id)
        ) as metrics_path
    from runs
    left join rollouts using (run_id)
    where run_id = $1
    group by all
"""
# Every pair of a benchmark by the metric that leads, corrected over all of them.


def gym(warehouse: Warehouse, folder: Path, timestamp: int, note: Note) -> Written:
    """Per run its health; per comparison with a named base Gym's report, beside the candidate."""
    for run_id in warehouse.column("select run_id from runs order by run_id"):
        yield from _health(warehouse, run_id, folder)
    named = "select distinct base, candidate from comparisons where is_named order by all"
    pairs = warehouse.rows(named)
    if not pairs:
        note("no base is named, so no run is compared: blade analyze --baseline RUN")
    for pair in pairs:
        name = f"{safe(pair['candidate'])}/compare_report.json"
        write_json(folder, name, _comparison(warehouse, pair["base"], pair["candidate"], timestamp))
        yield name, 1


def _health(warehouse: Warehouse, run_id: str, folder: Path) -> Written:
    """By Gym's checks alone: ours may call a rollout unhealthy that Gym does not."""
    found = warehouse.rows(VERDICTS, run_id, CHECKS)
    others = {row["check_id"]: row["tasks"] for row in warehouse.rows(OTHERS, run_id)}
    unseen = Counter(check for row in found for check in row["unobserved"])
    issues = Counter(each["check"] for row in found for each in row["findings"])
    tasks: Row = {}
    for name, own in groupby(found, key=itemgetter("task_id")):
        counts = Counter(row["verdict"] for row in own)
        computable = counts["healthy"] + counts["unhealthy"]
        flags = ["task_consistently_unhealthy"] * (computable == counts["unhealthy"] > 1)
        flags += [check for check in SILENT if name in others.get(check, [])]
        issues.update(flags)
        tasks[name] = {"repeats": counts.total(), **{each: counts[each] for each in HEALTH}}
        tasks[name]["flags"] = flags
    issues.update({check: len(others.get(check, [])) for check in UNREADABLE})
    verdicts = Counter(row["verdict"] for row in found)
    run = {
        "ignored_checks": [],
        "artifacts": {
            "records": len(found),
            "coverage": {
                check: {"evaluated": len(found) - unseen[check], "unobserved": unseen[check]}
                | {"ignored": 0}
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
                "prompt": sum(row["input_tokens"] or 0 for row in found),
                "completion": sum(row["output_tokens"] or 0 for row in found),
            }
        },
    }
    place = safe(run_id)
    write_json(folder, f"{place}/quality_summary.json", {"run": run, "tasks": tasks})
    yield f"{place}/quality_summary.json", 1
    lines = [
        {"_ng_task_index": index(row["task_id"]), "_ng_rollout_index": row["rollout_index"]}
        | {name: row[name] for name in ("rollout_id", "verdict", "findings", "unobserved")}
        for row in found
    ]
    write_json(folder, f"{place}/rollout_verdicts.jsonl", *lines, indent=None)
    yield f"{place}/rollout_verdicts.jsonl", len(lines)


def _comparison(warehouse: Warehouse, base: str, candidate: str, timestamp: int) -> Row:
    (left,), (right,) = (warehouse.rows(SIDES, name) for name in (base, candidate))
    metrics = []
    for name in (name for name in left if name.startswith("mean/")):
        before, after = left[name], right[name]
        delta = None if before is None or after is None else after - before
        moved = {
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
                "candidates": [None if after is None else {"value": after, **moved}],
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
        "baseline": file(left, "baseline"),
        "candidates": [file(right, "candidate")],
        "comparisons": [
            {
                "baseline_agent": left["agent"] or "unknown",
                "candidate_agents": [right["agent"] or "unknown"],
                "baseline_task_count": left["n_tasks"],
                "candidate_task_counts": [right["n_tasks"]],
                "baseline_repeat_count": left["n_repeats"],
                "candidate_repeat_counts": [right["n_repeats"]],
                "metrics": [row for row in metrics if row["present_in"]],
                "flips": [flips(warehouse, base, candidate)],
                "notes": [],
            }
        ],
        "skipped_agents": {},
        "warnings": [],
    }


def flips(warehouse: Warehouse, base: str, candidate: str) -> Row:
    """Tasks that went over to the other side of one half; of graded rewards, that changed."""
    found = warehouse.rows(FLIPS, base, candidate)
    (common,) = warehouse.rows(COMMON, base, candidate)
    is_binary = {row.pop("is_binary") for row in found} == {True}
    counts = Counter(row["direction"] for row in found)
    known = ("pass_to_fail", "fail_to_pass", "tied")
    net = counts["fail_to_pass"] - counts["pass_to_fail"]
    return {
        "candidate_index": 0,
        "mode": "unavailable" if not found else "binary" if is_binary else "continuous",
        "reason": None if found else "no common task has an index",
        "field": "reward",
        **common,
        **{f"{each}_count": counts[each] if is_binary else None for each in known},
        "unchanged_count": counts["unchanged"] if found else None,
        "net": net if is_binary else None,
        "flips": [row for row in found if row["direction"] not in ("tied", "unchanged")],
    }


def package(warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note) -> Written:
    """Per benchmark its failing tasks, and the tests between its models with their report."""
    content = collect(warehouse)
    for benchmark in content.benchmarks:
        for file, text in registers(warehouse, content.of_benchmark(benchmark)).items():
            place = f"benchmarks/{safe(benchmark)}/golden_reports/{file}"
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            told = json.loads(text) if file.endswith(".json") else {}
            yield place, len(told.get("tasks") or told.get("tests") or ())
