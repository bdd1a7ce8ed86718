"""Writes the demo: two models on two benchmarks, with sidecars and planted failures."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from simulator import dirt, metrics, observed
from simulator.benchmarks import PER_FLAW, office_tasks, sums_tasks
from simulator.episode import Attempt, Item, Task
from simulator.failure_rows import failure_rows, transient_row
from simulator.modes import LOST_CAUSES, OFFICE_MODES, SUMS_MODES, Mode
from simulator.outcomes import Decks, Run, attempts, make_decks
from simulator.phrases import dumps, generator
from simulator.response import MAX_OUTPUT_TOKENS, TEMPERATURE, TOP_P
from simulator.rows import Rollout, input_row, rollout

# Limits have one name; whose fault they are shows in the cause.
NAMED = dict.fromkeys(("truncated", "limit_too_low", "timeout"), "CUT_OFF")
NAMED["verifier_error"] = "UNGRADED"
CAUSES = {mode.code: mode.cause for mode in OFFICE_MODES + SUMS_MODES} | LOST_CAUSES
IN_SIDECAR = ("infra_failure", "judge_failed", "timeout")
# Among the first hundred seeds, one whose small demo shows every failure mode.
DEFAULT_SEED = 55
N_OFFICE_TASKS, N_SUMS_TASKS = 22, 25
WEAK, STRONG = "aster-8b", "birch-70b"


def write_demo(
    out: Path, *, seed: int = DEFAULT_SEED, n_tasks: int | None = None, n_repeats: int | None = None
) -> Path:
    """Write the results folder, and beside it in .planted/ what is wrong with each rollout."""
    planted: list[Item] = []
    faults: list[Item] = []
    out.mkdir(parents=True, exist_ok=True)
    for tasks, modes, runs in _benchmarks(seed, n_tasks, n_repeats):
        decks = make_decks(generator("decks", seed, runs[0].name), modes)
        for run in runs:
            causes, found = _write_run(out, seed, run, tasks, decks)
            planted += causes
            faults += found
    _write_lines(out / ".planted" / "planted_causes.jsonl", planted)
    _write_lines(out / ".planted" / "planted_health.jsonl", faults)
    return out


def _benchmarks(
    seed: int, n_tasks: int | None, n_repeats: int | None
) -> list[tuple[list[Task], tuple[Mode, ...], list[Run]]]:
    rng = generator("runs", seed)
    weak, strong = round(rng.uniform(0.4, 0.5), 2), round(rng.uniform(0.75, 0.88), 2)
    n_lost = rng.randint(3, 6) * max(1, (n_tasks or 1) // PER_FLAW)

    office = office_tasks(seed, n_tasks or N_OFFICE_TASKS)
    odd, repeats = _odd_category(rng, office), n_repeats or 4
    office_runs = [
        Run(f"office_desk_{WEAK}", WEAK, weak, odd, 0.2, repeats, is_dirty=True, n_lost=n_lost),
        Run(
            f"office_desk_{STRONG}", STRONG, strong, odd, -0.6, repeats, is_observed=True, n_lost=2
        ),
    ]
    sums = sums_tasks(seed, n_tasks or N_SUMS_TASKS)
    odd, repeats = _odd_category(rng, sums), n_repeats or 5
    sums_runs = [
        Run(f"quick_math_{WEAK}", WEAK, weak, odd, 0.2, repeats, is_ragged=True, n_lost=n_lost),
        Run(f"quick_math_{STRONG}", STRONG, strong, odd, -0.6, repeats),
    ]
    return [(office, OFFICE_MODES, office_runs), (sums, SUMS_MODES, sums_runs)]


def _odd_category(rng: random.Random, tasks: list[Task]) -> str:
    """Where the stronger model will be the weaker one: in one of the two biggest categories."""
    counted = Counter(task.category for task in tasks if task.flaw is None)
    biggest = sorted(counted, key=lambda category: (-counted[category], category))[:2]
    return rng.choice(biggest)


def _write_run(
    out: Path, seed: int, run: Run, tasks: list[Task], decks: Decks
) -> tuple[list[Item], list[Item]]:
    """Write one run's files; return its planted causes and its planted trajectory faults."""
    rng = generator("files", seed, run.name)
    planned = attempts(seed, run, tasks, decks)
    played = [
        rollout(seed, attempt)
        for attempt in planned
        if attempt.mode not in IN_SIDECAR and attempt.mode != "missing_row"
    ]
    failures = [row for a in planned if a.mode in IN_SIDECAR for row in failure_rows(rng, seed, a)]
    failures += _retry(rng, played)
    faults = _observe(seed, run, played)
    stem = out / f"{run.name}_rollouts"
    inputs = [input_row(attempt.task, attempt.repeat) for attempt in planned]
    _write_lines(_beside(stem, "_materialized_inputs.jsonl"), inputs)
    rng.shuffle(played)
    stem.with_name(stem.name + ".jsonl").write_bytes(_rollout_file(rng, run, played))
    if failures:
        rng.shuffle(failures)
        _write_lines(_beside(stem, "_failures.jsonl"), failures)
    _write_metrics(stem, run, planned, played, inputs)
    if run.is_observed:
        _write_config(out, run)
    return [_cause(a, played) for a in planned if a.mode is not None], faults


def _retry(rng: random.Random, played: list[Rollout]) -> list[Item]:
    """Failed first attempts at rollouts that were scored the second time."""
    retried = rng.sample(played, k=len(played) // 40)
    for done in retried:
        done.row["_ng_attempt_index"] = 1
    return [transient_row(rng, done.attempt, 0) for done in retried]


def _observe(seed: int, run: Run, played: list[Rollout]) -> list[Item]:
    if not run.is_observed:
        return []
    for done in played:
        observed.observe(done)
    return observed.plant_faults(seed, run.name, played)


def _cause(attempt: Attempt, played: list[Rollout]) -> Item:
    mine = [done for done in played if done.attempt is attempt]
    assert attempt.mode is not None
    return {
        "run": attempt.run,
        "_ng_task_index": attempt.task.index,
        "_ng_rollout_index": attempt.repeat,
        "mode": NAMED.get(attempt.mode, attempt.mode.upper()),
        "cause": CAUSES[attempt.mode],
        "event_seq": mine[0].event_seq if mine else None,
        "also_seq": mine[0].also_seq if mine else [],
    }


def _rollout_file(rng: random.Random, run: Run, played: list[Rollout]) -> bytes:
    lines = [dumps(done.row).encode() for done in played if done.attempt.mode != "unreadable_row"]
    if not run.is_dirty:
        return b"".join(line + b"\n" for line in lines)
    broken = [dumps(done.row).encode() for done in played if done.attempt.mode == "unreadable_row"]
    # A line from elsewhere, a blank one, and a rollout that a resumed collector wrote twice.
    strays = [b'["resumed from checkpoint", 1]', b"", rng.choice(lines)]
    strays += [dirt.bad_utf8(line) for line in broken[:1]]
    for stray in strays:
        lines.insert(rng.randrange(len(lines)), stray)
    # The writer was killed in the middle of its last line.
    killed = b"".join(dirt.bad_json(line) for line in broken[1:])
    return b"".join(line + b"\n" for line in lines) + killed


def _write_metrics(
    stem: Path, run: Run, planned: list[Attempt], played: list[Rollout], inputs: list[Item]
) -> None:
    """The metrics a reader of the files can recompute: of every readable row, each once."""
    rows = [done.row for done in played if done.attempt.mode != "unreadable_row"]
    n_expected: dict[int, int] = {}
    for attempt in planned:
        n_expected[attempt.task.index] = n_expected.get(attempt.task.index, 0) + 1
    found = metrics.aggregate_metrics(rows, n_expected)
    text = json.dumps(found, indent=0) + "\n"
    _beside(stem, "_aggregate_metrics.json").write_text(text, encoding="utf-8")
    if run.name == f"quick_math_{STRONG}":
        _write_lines(_beside(stem, "_reward_profiling.jsonl"), metrics.reward_profile(rows, inputs))
        profile = dumps(metrics.agent_profile(rows))
        _beside(stem, "_agent_metrics.json").write_text(profile, encoding="utf-8")


def _write_config(out: Path, run: Run) -> None:
    config = (
        f"policy_model_name: {run.model}\n"
        "agent_name: office_desk_simple_agent\n"
        f"num_repeats: {run.n_repeats}\n"
        "responses_create_params:\n"
        f"  temperature: {TEMPERATURE}\n"
        f"  top_p: {TOP_P}\n"
        f"  max_output_tokens: {MAX_OUTPUT_TOKENS}\n"
    )
    (out / f"{run.name}_config.yaml").write_text(config, encoding="utf-8")
    notes = (
        f"# Notes\n\nBoth models ran with the same sampling settings. `{run.name}` is the "
        f"candidate; it was collected with trajectory capture on. `{WEAK}` is the baseline and was "
        "resumed once after the node went away.\n"
    )
    (out / "notes.md").write_text(notes, encoding="utf-8")


def _beside(stem: Path, ending: str) -> Path:
    return stem.with_name(stem.name + ending)


def _write_lines(path: Path, rows: list[Item]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(dumps(row).encode() + b"\n" for row in rows))
