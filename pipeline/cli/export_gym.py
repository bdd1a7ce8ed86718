"""Files that Gym's own tools and its packages have: health, comparisons, trajectories.

Only what such a file's definition says is written; what is not recorded is null or left out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from pipeline import __version__
from pipeline.cli.lookup import Row, rows
from pipeline.text import json_text
from pipeline.warehouse import Warehouse

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
AT_ONCE = 50
# One attempt per row: what was asked, and all that followed.
ATTEMPTS = """
    select
        rollouts.* exclude (verifier, final_text), prompts.prompt, prompts.system_prompt,
        tasks.slices, said.events, verifier::varchar as verifier
    from rollouts
    inner join runs using (run_id)
    left join task_prompts as prompts using (run_id, task_id, prompt_sha)
    left join tasks on tasks.benchmark = runs.benchmark and tasks.task_id = rollouts.task_id
    left join (
        select
            task_id, rollout_index,
            list({kind: kind, role: role, tool: tool, call_id: call_id, arguments: arguments,
                  text: text} order by seq) as events
        from events
        where run_id = $1
        group by all
    ) as said using (task_id, rollout_index)
    where rollouts.run_id = $1
    order by try_cast(rollouts.task_id as bigint), rollouts.task_id, rollout_index
"""
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
# Gym joins tasks by their index.
TASK_FLIPS = """
    with rewards as (
        select run_id, task_id, list(reward order by rollout_index) as rewards
        from rollouts where is_scored group by all
    )
    select
        tasks.task_id, base_mean_reward as baseline_score,
        candidate_mean_reward as candidate_score,
        candidate_score - baseline_score as delta,
        bases.rewards as baseline_rewards, candidates.rewards as candidate_rewards
    from comparison_tasks as tasks
    inner join rewards as bases on bases.run_id = base and bases.task_id = tasks.task_id
    inner join rewards as candidates
        on candidates.run_id = candidate and candidates.task_id = tasks.task_id
    where base = $1 and candidate = $2 and is_common
        and try_cast(tasks.task_id as bigint)::varchar = tasks.task_id
    order by tasks.task_id::bigint
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
TESTS = """
    with named as (
        select
            run_id,
            if(count(*) over (partition by benchmark, model) = 1 and has_model, model, run_id)
                as name
        from runs
    ),
    tests as (
        select
            metric,
            'all tasks' as slice,
            candidates.name as model_a,
            bases.name as model_b,
            n_common_tasks as matched_cells,
            delta as mean_difference,
            if(ci_new_tasks_low is null, null, [ci_new_tasks_low, ci_new_tasks_high]) as ci_95,
            p_mean as p_raw,
            least(1, p_raw * count(p_raw) over () / rank() over (order by p_raw)) as scaled
        from comparisons
        inner join named as bases on bases.run_id = base
        inner join named as candidates on candidates.run_id = candidate
        where is_lead and benchmark = $1 and n_common_tasks > 1
    )
    select
        * exclude (scaled),
        if(p_raw is null, null, min(scaled) over (
            order by p_raw desc range between unbounded preceding and current row
        )) as p_adjusted,
        coalesce(p_adjusted < 0.05, false) as significant
    from tests
    order by model_a, model_b, metric
"""
FAILED = """
    select task_id, slices['category'] as category
    from bucket_matrix
    inner join tasks using (benchmark, task_id)
    where benchmark = $1 and bucket_across = 'never'
    order by try_cast(task_id as bigint), task_id
"""
MODELS = """
    select if(count(*) over (partition by model) = 1 and has_model, model, run_id) as name
    from runs where benchmark = $1 order by run_id
"""
Written = Iterator[tuple[str, int]]


def attempts(warehouse: Warehouse, run_id: str) -> Iterator[Row]:
    """The attempts of a run, some at a time."""
    found = warehouse.execute(ATTEMPTS, [run_id])
    names = [column[0] for column in found.description or []]
    while some := found.fetchmany(AT_ONCE):
        yield from (dict(zip(names, values, strict=True)) for values in some)


def safe(name: str) -> str:
    """A name as that of a file or folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:100] or "unknown"


def _index(task_id: str) -> int | str:
    """Gym's index of a task where the name is one."""
    return int(task_id) if re.fullmatch(r"0|[1-9][0-9]{0,17}", task_id) else task_id


def _write(folder: Path, name: str, *documents: Any, indent: int | None = 2) -> bytes:
    """Documents as JSON, or as lines of it."""
    content = "".join(json_text(each, indent=indent) + "\n" for each in documents).encode()
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return content


def gym(warehouse: Warehouse, folder: Path, timestamp: int) -> Written:
    """Per run its health; per comparison with a named base Gym's report, beside the candidate."""
    for run in rows(warehouse, "select run_id from runs order by run_id"):
        yield from _health(warehouse, run["run_id"], folder)
    pairs = "select distinct base, candidate from comparisons where is_named order by all"
    for pair in rows(warehouse, pairs):
        name = f"{safe(pair['candidate'])}/compare_report.json"
        _write(folder, name, _comparison(warehouse, pair["base"], pair["candidate"], timestamp))
        yield name, 1


def _health(warehouse: Warehouse, run_id: str, folder: Path) -> Written:
    """By Gym's checks alone: ours may call a rollout unhealthy that Gym does not."""
    found = rows(warehouse, VERDICTS, run_id, CHECKS)
    others = {row["check_id"]: row["tasks"] for row in rows(warehouse, OTHERS, run_id)}
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
    _write(folder, f"{place}/quality_summary.json", {"run": run, "tasks": tasks})
    yield f"{place}/quality_summary.json", 1
    lines = [
        {"_ng_task_index": _index(row["task_id"]), "_ng_rollout_index": row["rollout_index"]}
        | {name: row[name] for name in ("rollout_id", "verdict", "findings", "unobserved")}
        for row in found
    ]
    _write(folder, f"{place}/rollout_verdicts.jsonl", *lines, indent=None)
    yield f"{place}/rollout_verdicts.jsonl", len(lines)


def _comparison(warehouse: Warehouse, base: str, candidate: str, timestamp: int) -> Row:
    (left,), (right,) = (rows(warehouse, SIDES, name) for name in (base, candidate))
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
                "flips": [_flips(warehouse, base, candidate)],
                "notes": [],
            }
        ],
        "skipped_agents": {},
        "warnings": [],
    }


def _flips(warehouse: Warehouse, base: str, candidate: str) -> Row:
    """Tasks that went over to the other side of one half; of graded rewards, that changed."""
    found = rows(warehouse, TASK_FLIPS, base, candidate)
    (common,) = rows(warehouse, COMMON, base, candidate)
    scored = [row[f"{side}_rewards"] for row in found for side in ("baseline", "candidate")]
    is_binary = all(reward in (0, 1) for rewards in scored for reward in rewards)
    counts: Counter[str] = Counter()
    flips = []
    for row in found:
        before, after = row["baseline_score"], row["candidate_score"]
        direction = "unchanged" if before == after else "changed"
        if is_binary and 0.5 in (before, after):
            direction = "tied"
        elif is_binary and (before > 0.5) == (after > 0.5):
            direction = "unchanged"
        elif is_binary:
            direction = "pass_to_fail" if before > 0.5 else "fail_to_pass"
        counts[direction] += 1
        if direction not in ("tied", "unchanged"):
            flips.append({"task_index": _index(row.pop("task_id")), **row, "direction": direction})
    flips.sort(key=lambda row: (row["direction"] == "fail_to_pass", -abs(row["delta"])))
    known = ("pass_to_fail", "fail_to_pass", "tied")
    net = counts["fail_to_pass"] - counts["pass_to_fail"]
    return {
        "candidate_index": 0,
        "mode": "unavailable" if not found else "binary" if is_binary else "continuous",
        "reason": None if found else "no common task has an index",
        "field": "reward",
        **common,
        **{f"{each}_count": counts[each] if found and is_binary else None for each in known},
        "unchanged_count": counts["unchanged"] if found else None,
        "net": net if found and is_binary else None,
        "flips": flips,
    }


def package(warehouse: Warehouse, folder: Path, timestamp: int) -> Written:
    """Per benchmark the tasks that no model passes, and the tests between models."""
    del timestamp
    benchmarks = rows(warehouse, "select distinct benchmark from runs order by all")
    for benchmark in (row["benchmark"] for row in benchmarks):
        place = f"benchmarks/{safe(benchmark)}/golden_reports"
        failed = rows(warehouse, FAILED, benchmark)
        categories = sorted({row["category"] for row in failed if row["category"] is not None})
        register = {
            "benchmark": benchmark,
            "definition": "Tasks that were scored in every model's run and passed in none of its "
            "attempts. A queue for review: that all fail does not make a task defective.",
            "models": [row["name"] for row in rows(warehouse, MODELS, benchmark)],
            "shared_never_pass_count": len(failed),
            "by_category": {
                name: sum(row["category"] == name for row in failed) for name in categories
            },
            "tasks": [{k: v for k, v in row.items() if v is not None} for row in failed],
        }
        _write(folder, f"{place}/failed_task_register.json", register)
        yield f"{place}/failed_task_register.json", len(failed)
        tests = rows(warehouse, TESTS, benchmark)
        metric = {row.pop("metric") for row in tests}
        statistics = {
            "method": "Paired by task; 95% intervals for new tasks; p of the paired test named in "
            "the relation comparisons; Benjamini-Hochberg across all tests at 0.05.",
            "unit": f"{'/'.join(sorted(metric)) or 'pass_at_1'}, model_a minus model_b",
            "tests_run": len(tests),
            "tests_significant": sum(row["significant"] for row in tests),
            "tests": tests,
        }
        _write(folder, f"{place}/model_comparison_statistics.json", statistics)
        yield f"{place}/model_comparison_statistics.json", len(tests)


def atif(warehouse: Warehouse, folder: Path, timestamp: int) -> Written:
    """Per run a trajectory of every attempt, and the manifest of Gym's own export."""
    del timestamp
    for run in rows(warehouse, "select run_id from runs order by run_id"):
        place, manifest = safe(run["run_id"]), []
        for attempt in attempts(warehouse, run["run_id"]):
            task, number = attempt["task_id"], attempt["rollout_index"]
            # Two names may be one when made safe.
            mark = "" if safe(task) == task else f"-{hashlib.sha256(task.encode()).hexdigest()[:8]}"
            name = f"{safe(task)}{mark}-{number}.json"
            content = _write(folder, f"{place}/{name}", _trajectory(attempt))
            line = {"trajectory_path": name, "_ng_task_index": _index(task)}
            line |= {"_ng_rollout_index": number}
            manifest.append(line | {"expected_sha256": hashlib.sha256(content).hexdigest()})
            yield f"{place}/{name}", 1
        _write(folder, f"{place}/manifest.jsonl", *manifest, indent=None)
        yield f"{place}/manifest.jsonl", len(manifest)


def _trajectory(attempt: Row) -> Row:
    task, number = _index(attempt["task_id"]), attempt["rollout_index"]
    steps = _steps(attempt)
    metrics = {
        "total_prompt_tokens": attempt["input_tokens"],
        "total_completion_tokens": attempt["output_tokens"],
        "total_cost_usd": attempt["cost"],
        "total_steps": len(steps),
    }
    # The format asks for a name and a version of the agent.
    agent = {"name": attempt["agent"] or "unknown", "version": "unknown"}
    agent |= {"model_name": attempt["model"]} if attempt["model"] else {}
    source = {"task_index" if isinstance(task, int) else "task_id": task, "rollout_index": number}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": attempt["run_id"],
        "trajectory_id": f"{attempt['run_id']}:{task}:{number}",
        "agent": agent,
        "steps": steps,
        "final_metrics": {name: one for name, one in metrics.items() if one is not None},
        "extra": {
            "nemo_gym": {"exporter": {"name": "blade", "version": __version__}, "source": source}
        },
    }


ORDER = {"reasoning": 0, "message": 1, "tool_call": 2, "tool_result": 3}


def _steps(attempt: Row) -> list[Row]:
    """The question, then steps whose parts stand in the order of the events.

    What a step has no place for is kept in its `extra`, where our own reader finds it.
    """
    steps: list[Row] = []
    last = len(ORDER)

    def step(source: str, message: str = "") -> Row:
        steps.append({"step_id": len(steps) + 1, "source": source, "message": message})
        return steps[-1]

    for source, words in (("system", attempt["system_prompt"]), ("user", attempt["prompt"])):
        if words:
            step(source, words)
    asked = len(steps)
    for one in attempt["events"] or []:
        kind, words = one["kind"], one["text"] or ""
        if kind == "message" and one["role"] not in (None, "assistant") and words:
            if len(steps) == asked:
                step("agent")  # what comes before the agent is the question
            step("user" if one["role"] == "user" else "system", words)
            last = len(ORDER)
            continue
        is_item = kind not in ORDER or (kind in ("reasoning", "message") and not words)
        place = -1 if is_item else ORDER[kind]
        is_next = len(steps) == asked or place < last or (place == last and place < 2)
        # Of a result that names no call the reader would make one of the step's.
        if is_next or (place == 3 and not one["call_id"] and "tool_calls" in steps[-1]):
            step("agent")
        now, last = steps[-1], place
        if is_item:
            now.setdefault("extra", {"blade": {"items": []}})["blade"]["items"].append(_item(one))
        elif kind == "reasoning":
            now["reasoning_content"] = words
        elif kind == "message":
            now["message"] = words
        elif kind == "tool_call":
            now.setdefault("tool_calls", []).append(_call(one))
        else:
            ids = {call["tool_call_id"] for call in now.get("tool_calls", [])}
            result: Row = {"content": words}
            extra = {"name": one["tool"], "source_call_id": one["call_id"]}
            if one["call_id"] in ids:
                result["source_call_id"] = extra.pop("source_call_id")
            if any(extra.values()):
                result["extra"] = {"blade": {key: given for key, given in extra.items() if given}}
            now.setdefault("observation", {"results": []})["results"].append(result)
    return steps or [step("agent")]


def _call(one: Row) -> Row:
    """A call; arguments that would come back otherwise are kept as they were written, too."""
    written = one["arguments"] or ""
    try:
        given = json.loads(written)
    except (ValueError, RecursionError):
        given = None
    call: Row = {"tool_call_id": one["call_id"] or "", "function_name": one["tool"] or ""}
    call["arguments"] = given if isinstance(given, dict) else {}
    if json.dumps(call["arguments"], ensure_ascii=False) != written:
        call["extra"] = {"blade": {"arguments": written}}
    return call


def _item(one: Row) -> Any:
    if one["kind"] == "other":
        try:
            return json.loads(one["text"] or "{}")
        except (ValueError, RecursionError):
            return {"type": "other", "text": one["text"]}
    said = {"type": one["kind"], "content": one["text"], "role": one["role"]}
    return {name: value for name, value in said.items() if value is not None}
