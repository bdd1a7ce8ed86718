"""Modes of a folder in which every count is known: what is listed, of how many, and where."""

from __future__ import annotations

from collections import defaultdict
from math import comb

import pyarrow as pa
import pytest

from pipeline.analysis.concentration import at_least, concentrations, size_contrasts
from tests.results import Results, Row, analyzed, asked, called, rollout, wrote
from tests.together import Batch, together

TASKS, N_REPEATS = range(20), 2
NEEDS = (
    "failure_modes rollout_modes mode_slices size_contrasts stuck_checks findings "
    "recommendations root_causes rollouts health_findings"
).split()


def fails(run: str, task: int, index: int) -> bool:
    """Second attempts, the first ones at five tasks, and in run `a` at one more."""
    return index == 1 or task >= 15 or (run == "a" and task == 14)


# Who was not graded, timed out, or had an error, by run.
UNGRADED = {"a": {(0, 1), (1, 1)}, "b": {(2, 1)}}
TIMEOUTS = {"a": {(0, 0), *((task, 1) for task in range(3, 9))}, "b": {(t, 1) for t in range(3, 7)}}
ERRORS = {(task, 1) for task in range(9, 17)}
COUNTS = {
    "no row recorded": (1, 0),
    "results is null": (3, 0),
    "stop = timeout": (10, 1),
    "error: quota <n> exceeded": (16, 0),
    "no shared sign": (22, 0),
}
N_FAILURES, N_PASSES = 52, 29


def row(run: str, task: int, index: int) -> Row:
    key = (task, index)
    is_failing = fails(run, task, index)
    graded = {"t1": "failed" if is_failing else "passed", "t2": "passed"}
    answer = f"Error: quota {task} exceeded" if key in ERRORS else "ok"
    return rollout(
        task,
        index,
        reward=float(not is_failing),
        area="x" if task < 10 else "y",
        results=None if key in UNGRADED[run] else graded,
        stop="timeout" if key in TIMEOUTS[run] else "done",
        response={
            "output": [*called("write", {"n": index}, answer), *wrote("Done.")],
            "usage": {"input_tokens": 9, "output_tokens": 150 + task if is_failing else 100},
        },
    )


def files() -> dict[str, list[Row]]:
    """Two runs of twenty tasks, twice each; of run `b` one more attempt was expected."""
    keys = [(task, index) for task in TASKS for index in range(N_REPEATS)]
    return {
        "a_rollouts.jsonl": [row("a", *key) for key in keys],
        "b_rollouts.jsonl": [row("b", *key) for key in keys],
        "b_rollouts_materialized_inputs.jsonl": [asked(*key) for key in [*keys, (20, 0)]],
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The folder, analyzed."""
    return analyzed(tmp_path_factory.mktemp("modes"), files(), needs=NEEDS)


def test_counts_over_all_runs(found: Results) -> None:
    """Failures of failures and passes of passes, in the order of the list."""
    rows = found.rows("""
        select mode, n_failures, n_passes, n_failures_observed, n_passes_observed
        from failure_modes where run_id is null and parent is null order by rank nulls last
    """)
    # The missing attempt has no grade, and no error of a tool.
    n_failures = dict.fromkeys(COUNTS, N_FAILURES) | {"error: quota <n> exceeded": N_FAILURES - 1}
    assert rows == [(m, *counts, n_failures[m], N_PASSES) for m, counts in COUNTS.items()]


def test_runs_add_up(found: Results) -> None:
    """Counts of the runs add up to those over all runs, parts included."""
    columns = "n_failures, n_passes, n_failures_observed, n_passes_observed, n_primary"
    summed = ", ".join(f"sum({name})::bigint" for name in columns.split(", "))
    of_runs = found.rows(f"""
        select mode, parent, {summed} from failure_modes where run_id is not null
        group by mode, parent order by mode, parent
    """)
    over_all = found.rows(f"""
        select mode, parent, {columns} from failure_modes where run_id is null
        order by mode, parent
    """)
    assert of_runs == over_all
    assert len(over_all) > len(COUNTS)


def test_primary_modes_are_a_partition(found: Results) -> None:
    """Every failure has one primary mode, and no pass has any."""
    per_attempt = found.column("""
        select count(*) filter (where is_primary) from rollout_modes
        group by run_id, task_id, rollout_index
    """)
    assert per_attempt == [1] * N_FAILURES
    n_primary = found.rows("""
        select run_id, sum(n_primary)::bigint from failure_modes where parent is null
        group by run_id order by run_id nulls last
    """)
    assert n_primary == [("a", 26), ("b", 26), (None, N_FAILURES)]
    n_passing = "rollout_modes inner join rollouts using (run_id, task_id, rollout_index)"
    assert found.one(f"select count(*) from {n_passing} where is_pass") == 0


def test_a_terminal_field_has_all_its_values(found: Results) -> None:
    """The usual end is beside the one that leans to failing, on both sides."""
    assert found.rows("""
        select mode, parent, n_failures, n_passes, reason from failure_modes
        where run_id is null and reason = 'terminal' order by parent nulls first
    """) == [
        ("stop = timeout", None, 10, 1, "terminal"),
        # All recorded failures but ten, all passes but one.
        ("stop = done", "stop = timeout", 41, 28, "terminal"),
    ]


def test_the_verdict_is_listed_apart(found: Results) -> None:
    """The check that fails in every failure is the score again, and no mode."""
    assert found.rows("""
        select mode, reason from staging.modes where reason like '%score' order by all
    """) == [("results: t1", "same as score")]


def test_reasons(found: Results) -> None:
    """Why each mode is listed, and only what is tested has a p-value."""
    reasons = dict(
        found.rows("""
            select distinct mode, (reason, p_adjusted < 0.05)::varchar from failure_modes
            where parent is null
        """)
    )
    assert reasons == {
        "no row recorded": "(ungraded, NULL)",
        "results is null": "(ungraded, NULL)",
        "stop = timeout": "(terminal, NULL)",
        "error: quota <n> exceeded": "(tested, true)",
        "no shared sign": "(none, NULL)",
    }


def test_what_to_open(found: Results) -> None:
    """Two failures and a pass that bear it; the error is cited where it was answered."""
    failing, passing = found.rows("""
        select failing_citations, passing_citation from failure_modes
        where run_id is null and mode = 'stop = timeout'
    """)[0]
    assert failing == ["a/3:1", "a/4:1", "a/5:1"] and passing == "a/0:0"
    assert (
        found.one("""
        select citations[1] from failure_modes where run_id = 'b' and mode like 'error%'
    """)
        == "b/10:1#2"
    )
    assert found.rows("""
        select evidence_seq, snippet from rollout_modes
        where run_id = 'b' and task_id = '10' and mode like 'error%'
    """) == [(2, "Error: quota 10 exceeded")]


def test_tasks(found: Results) -> None:
    """Tasks that nobody passes, that one run always fails on one check, and near misses."""
    assert found.rows("""
        select n_tasks, n_all_tasks, n_failures from findings where kind = 'never'
    """) == [(5, 20, 20)]
    assert found.rows("""
        select run_id, task_id, check_name, n_attempts, n_passing_runs from stuck_checks
    """) == [("a", "14", "t1", 2, 1)]
    # Of two checks one says the score again, and the other is no one of several.
    assert found.rows("from findings where kind = 'near'") == []


def test_recommendations(found: Results) -> None:
    """One per mode: what was not graded, then the harness, then the rest by failures."""
    assert found.rows("""
        select rank, mode, look_at, would_show from recommendations order by rank
    """) == [
        (1, "results is null", "verifier or harness", "fewer than 3 of 52"),
        (2, "stop = timeout", "harness", "fewer than 10 of 52"),
        (3, "error: quota <n> exceeded", "tool, prompt or training", "fewer than 16 of 51"),
    ]


@together.each(
    *(
        (models, answers, expected if models == "xyy" or answers.endswith("AAA") else [])
        for models in ("xxx", "xyy")
        for answers, expected in (
            # Tasks 0 and 1 get one wrong answer three times, task 2 two of them.
            ("DDD BBB CBC AAA", [("key", 6, 2, 3, "A", 4)]),
            ("DDD BBB CBC CCC", [("key", 6, 2, 3, None, None)]),
            # Where nearly all answers are one of two, wrong ones are the same anyway.
            ("BBB BBB AAA AAA", []),
            ("DBD BDB CBC AAA", []),
        )
    )
)
def test_keys_that_every_attempt_contradicts(
    models: str, answers: str, expected: list[tuple[object, ...]]
) -> Batch:
    """Tasks that nobody passes, all attempts of which agree on an answer other than the key.

    One model that says the same again and again is no witness, unless there is one key for all.
    """
    tasks = answers.split()
    keys = ["A"] * 3 + [tasks[3][0]]
    inputs: dict[str, list[Row]] = {model: [] for model in models}
    for task, given in enumerate(tasks):
        for index, (answer, model) in enumerate(zip(given, models, strict=True)):
            verdict = {"reward": float(answer == keys[task]), "expected_answer": keys[task]}
            inputs[model].append(rollout(task, index, output=wrote(answer), model=model, **verdict))
    found = yield inputs
    assert (
        found.rows("""
        select reason, n_failures, n_tasks, n_never_tasks, only_key, n_only_key_tasks
        from recommendations where reason = 'key'
    """)
        == expected
    )


@together.each(
    (
        {"calls": 15, "error": None},
        "limit that ended the attempts",
        [("tool calls at 15, the largest of the run", 2)],
    ),
    (
        {"calls": 2, "error": "Error code: 429 - quota exceeded"},
        "recorded error",
        [("error = Error code: 429 - quota exceeded", 2)],
    ),
    ({"calls": 2, "error": None}, "verifier or harness", [("no error recorded", 2)]),
    # A word may be the verifier's own.
    ({"calls": 2, "error": "timeout"}, "verifier or harness", [("error = timeout", 2)]),
)
def test_what_ended_attempts_without_a_grade(
    ungraded: Row, look_at: str, parts: list[tuple[str, int]]
) -> Batch:
    """Who ran into a limit, or met an error, was never seen by a verifier."""

    def attempt(task: int) -> Row:
        is_graded = task > 1
        words = {"error": ungraded["error"]} if not is_graded and ungraded["error"] else {}
        n_calls = 2 + task % 7 if is_graded else ungraded["calls"]
        calls = [item for n in range(n_calls) for item in called("look", {"n": n})]
        results = {"t1": "passed", "t2": "passed" if task % 2 else "failed"} if is_graded else None
        return rollout(
            task,
            0,
            reward=float(is_graded and task % 2),
            output=[*calls, *wrote("Done.")],
            results=results,
            **words,
        )

    # Each run alone has one attempt at its largest number.
    found = yield {
        "a": [attempt(task) for task in range(24) if task != 1],
        "b": [attempt(task) for task in range(24) if task != 0],
    }
    assert found.rows("""
        select look_at from failure_modes where run_id is null and mode = 'results is null'
    """) == [(look_at,)]
    assert (
        found.rows("""
        select mode, n_failures from failure_modes
        where run_id is null and parent = 'results is null'
    """)
        == parts
    )


@together
def test_attempts_that_record_it_count() -> Batch:
    """A part that some tasks are asked for, of those; a field of failures alone, of all."""

    def attempt(task: int, index: int) -> Row:
        is_pass = index == 0 and task >= 4
        note = "as asked" if is_pass else "in part"
        fields: Row = {"info": {"note": note}} if task % 2 else {}
        if not is_pass and task < 12:
            fields["trouble"] = "network"
        return rollout(task, index, reward=float(is_pass), **fields)

    found = yield [attempt(task, index) for task in range(24) for index in range(2)]
    counts = found.rows("""
        select mode, n_failures, n_failures_observed, n_passes, n_passes_observed
        from failure_modes where run_id is null and parent is null and reason = 'tested'
        order by mode
    """)
    # Odd tasks: 12 of 24, of which two never pass. Trouble: eight of 28 failures twice.
    assert counts == [("info.note = in part", 14, 14, 0, 10), ("trouble = network", 16, 28, 0, 20)]


def test_causes_are_only_what_the_record_states(found: Results) -> None:
    """Tasks whose failures were not graded; of all others no cause is known."""
    assert found.rows("""
        select run_id, task_id, cause, source, note from root_causes where cause = 'TI'
        order by all
    """) == [
        ("a", "0", "TI", "record", "results is null"),
        ("a", "1", "TI", "record", "results is null"),
        ("b", "2", "TI", "record", "results is null"),
    ]
    assert set(found.column("select distinct source from root_causes")) == {"record"}


def test_rewards_without_a_verdict_are_unhealthy(found: Results) -> None:
    """A reward where the verifier recorded nothing has no verdict behind it."""
    assert found.rows("""
        select run_id, task_id, rollout_index from health_findings
        where check_id = 'verdict_unsupported' order by all
    """) == [("a", "0", 1), ("a", "1", 1), ("b", "2", 1)]


# --- where it concentrates


def test_concentration(found: Results) -> None:
    """Failures of a mode in a slice, its share of attempts, and the chance of so many."""
    rows = found.rows("""
        select n_failures, n_mode_failures, n_attempts, n_all_attempts, share, lift, p_value
        from mode_slices where mode like 'error%' and slice_key = 'area' and slice_value = 'y'
    """)
    # Seven of eight tasks with the error in each run are of area y, as are 40 of 81 attempts.
    assert rows == [
        (
            14,
            16,
            40,
            81,
            14 / 16,
            pytest.approx((14 / 16) / (40 / 81)),
            pytest.approx(upper_tail(14, 16, 40, 81)),
        )
    ]
    p_values = defaultdict(list)
    for benchmark, p_value, adjusted in found.rows(
        "select benchmark, p_value, p_adjusted from mode_slices"
    ):
        p_values[benchmark].append((p_value, adjusted))
    for pairs in p_values.values():
        largest = 0.0
        for place, (p_value, adjusted) in enumerate(sorted(pairs)):
            largest = max(largest, min(1.0, (len(pairs) - place) * p_value))
            assert adjusted == pytest.approx(largest)


def upper_tail(k: int, n: int, size: int, total: int) -> float:
    """The chance of k or more of a part among n that are drawn from all."""
    ways = sum(comb(size, hits) * comb(total - size, n - hits) for hits in range(k, n + 1))
    return ways / comb(total, n)


@pytest.mark.parametrize(
    ("k", "n", "size", "total"), [(0, 5, 3, 9), (3, 5, 3, 9), (26, 29, 40, 400), (5, 5, 5, 5)]
)
def test_chance_of_so_many(k: int, n: int, size: int, total: int) -> None:
    """The upper tail of the hypergeometric distribution."""
    assert at_least(k, n, size, total) == pytest.approx(upper_tail(k, n, size, total))


def test_benchmarks_are_adjusted_apart() -> None:
    """The number of slices of one benchmark does not touch another."""
    slices = pa.table(
        {
            "benchmark": ["a", "a", "b"],
            "n_failures": [3, 1, 3],
            "n_mode_failures": [3, 3, 3],
            "n_attempts": [5, 5, 5],
            "n_all_attempts": [20, 20, 20],
        }
    )
    # 10 of 1,140 ways to draw three of twenty; at least one of five: 1 - 455 / 1,140.
    rare, usual = 10 / 1140, 1 - 455 / 1140
    adjusted = concentrations(slices)["p_adjusted"].to_pylist()
    assert adjusted == pytest.approx([2 * rare, usual, rare])


# --- sizes


def test_sizes_of_failures_and_passes(found: Results) -> None:
    """The median of tasks that both pass and fail in a run, with the interval of its signs."""
    # Fourteen tasks of run `a` and fifteen of `b`: failures are longer by 50% and 1% per number.
    assert found.rows("""
        select n_tasks, difference, low, high from size_contrasts where measure = 'output tokens'
    """) == [(29, pytest.approx(0.57), pytest.approx(0.54), pytest.approx(0.60))]
    # The ninth of 29 from either end: 1.2% lie beyond it by chance, 3.1% beyond the tenth.
    lower_tails = [sum(comb(29, k) for k in range(most + 1)) / 2**29 for most in (8, 9)]
    assert lower_tails[0] < 0.025 < lower_tails[1]


@pytest.mark.parametrize(
    ("n", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (12, 3, 10)], ids=str
)
def test_interval_of_a_median(n: int, low: int, high: int) -> None:
    """Order statistics beyond which at most 2.5% lie on either side."""
    tasks = sized([number / 100 for number in range(1, n + 1)])
    (row,) = size_contrasts(tasks).to_pylist()
    assert (row["n_tasks"], row["low"], row["high"]) == (
        n,
        pytest.approx(low / 100),
        pytest.approx(high / 100),
    )
    assert row["difference"] == pytest.approx((n + 1) / 200)


def test_five_tasks_show_no_interval() -> None:
    """Their range holds the median in 94 of 100 samples."""
    assert size_contrasts(sized([0.1] * 5)).num_rows == 0
    assert size_contrasts(sized([])).num_rows == 0


def sized(differences: list[float]) -> pa.Table:
    """Tasks whose failures differ from passes of size 200 by these shares."""
    n = len(differences)
    return pa.table(
        {
            "benchmark": ["b"] * n,
            "measure": ["turns"] * n,
            "run_id": ["r"] * n,
            "task_id": [str(number) for number in range(n)],
            "failing": [200 * (1 + share) for share in differences],
            "passing": [200.0] * n,
        },
        schema=pa.schema(
            [(name, pa.string()) for name in ("benchmark", "measure", "run_id", "task_id")]
            + [(name, pa.float64()) for name in ("failing", "passing")]
        ),
    )


@together.each(("abcd", 0), ("ad", 2))
def test_a_check_that_most_runs_fail_is_not_one_runs(names: str, n_tasks: int) -> Batch:
    """Of four runs three never pass two tasks, on one check each: none is named for it."""

    def rows(*, is_passing: bool) -> list[Row]:
        return [
            rollout(
                *(task, index),
                reward=float(is_passing or task > 1),
                tests={"a": is_passing or task != 0, "b": is_passing or task != 1},
            )
            for task in range(6)
            for index in range(2)
        ]

    found = yield {name: rows(is_passing=name == "d") for name in names}
    query = "select coalesce(max(n_tasks), 0) from findings where kind = 'stuck'"
    assert found.one(query) == n_tasks


@together
def test_graded_failures_are_cited_first() -> Batch:
    """An attempt without a grade has a mode too, but shows less of it."""
    rows = [
        rollout(task, 0, reward=float(task > 11), source="hard" if task < 16 else "easy")
        for task in range(40)
    ]
    del rows[0]["reward"]
    found = yield rows
    citations = [f"{found.name}/{task}:0" for task in (1, 10, 11)]
    assert found.rows("""
        select n_failures, failing_citations from failure_modes
        where mode = 'source = hard' and run_id is null
    """) == [(12, citations)]
