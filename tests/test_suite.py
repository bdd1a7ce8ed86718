"""Suites: changes by hand, tests by enumeration, claims by simulation, and what is stated."""

from __future__ import annotations

import itertools
import json
import re
import statistics
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.compute as pc
import pytest

import blade as api
from pipeline import report
from pipeline.analysis import suites
from pipeline.errors import UsageError
from tests.bench.suites import any_difference, coverage, drawn, tasks_table
from tests.lean import all_empty_but
from tests.results import Results, Row, analyzed, call, rollout

NEEDS = "suite_cells suite_standings suite_comparisons suite_notes suite_modes run_metrics".split()


def attempts(
    model: str | None, passes: dict[int, list[int]], *, ask: str = "", **fields: object
) -> list[Row]:
    """The rows of a run: by task which of its repeats passed."""
    return [
        rollout(
            task, index, model=model, reward=float(passed), ask=f"{ask}question {task}", **fields
        )
        for task, own in passes.items()
        for index, passed in enumerate(own)
    ]


def test_changes_by_hand() -> None:
    """The change of a suite is the mean over benchmarks, its error the root of their squares."""
    random = np.random.default_rng(8)
    rates = [random.random((3, size)) for size in (12, 40, 25)]
    passed, scored = drawn(random, rates, [[4, 4, 4]] * 3)
    rows = suites.comparisons(tasks_table(passed, scored)).to_pylist()
    by_key = {(row["base"], row["candidate"], row["scope"], row["benchmark"]): row for row in rows}
    for one, other in itertools.combinations(range(3), 2):
        pair = (f"e{one:02}", f"e{other:02}")
        means, errors = [], []
        for place, own in enumerate(passed):
            change = [(b - a) / 4 for a, b in zip(own[one], own[other], strict=True)]
            means.append(statistics.mean(change))
            errors.append(statistics.stdev(change) / len(change) ** 0.5)
            row = by_key[*pair, "benchmark", f"b{place:02}"]
            assert row["delta"] == pytest.approx(means[-1], abs=1e-12)
            assert row["se_new_tasks"] == pytest.approx(errors[-1], abs=1e-12)
        whole = by_key[*pair, "suite", ""]
        assert whole["n_benchmarks"] == 3
        assert whole["delta"] == pytest.approx(statistics.mean(means), abs=1e-12)
        assert whole["se_new_tasks"] == pytest.approx(sum(e**2 for e in errors) ** 0.5 / 3)


def test_flips_by_enumeration() -> None:
    """The p-value of the suite is the share of all signs, up to what draws leave open."""
    random = np.random.default_rng(9)
    for _ in range(4):
        passed, scored = drawn(random, [random.random((2, 5)), random.random((2, 7))], [[3, 3]] * 2)
        rows = suites.comparisons(tasks_table(passed, scored)).to_pylist()
        changes = [
            (own[1, task] - own[0, task]) / 3 / own.shape[1]
            for own in passed
            for task in range(own.shape[1])
        ]
        signs = np.array(list(itertools.product((-1, 1), repeat=len(changes))))
        sums = np.abs(signs @ np.array(changes))
        exact = float(np.mean(sums >= abs(sum(changes)) - 1e-9))
        whole = next(row for row in rows if row["scope"] == "suite")
        assert whole["p_value"] == pytest.approx(exact, abs=4 * 0.5 / 9_999**0.5)


def test_order_of_entrants_changes_nothing() -> None:
    """Turned round, a change has the other sign and the same p-value."""
    random = np.random.default_rng(10)
    passed, scored = drawn(random, [random.random((2, 30)), random.random((2, 20))], [[2, 2]] * 2)
    turned = [own[::-1] for own in passed]
    one, other = (
        suites.comparisons(tasks_table(own, scored)).to_pylist() for own in (passed, turned)
    )
    for row, back in zip(one, other, strict=True):
        assert (row["delta"], row["p_value"]) == (-back["delta"], back["p_value"])


def test_a_benchmark_that_decides() -> None:
    """A suite that one benchmark moves alone says which: without it nothing is shown."""
    random = np.random.default_rng(11)
    flat = random.random((1, 60)).repeat(2, axis=0)
    moved = np.stack([np.full(60, 0.1), np.full(60, 0.8)])
    passed, scored = drawn(random, [flat, moved, flat], [[4, 4]] * 3)
    rows = suites.comparisons(tasks_table(passed, scored)).to_pylist()
    assert [row["verdict"] for row in rows if row["scope"] == "suite"] == ["improved"]
    decisive = [row["benchmark"] for row in rows if row["is_decisive"]]
    assert decisive == ["b01"]


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [(2,), (1, 2, 4)])
def test_false_alarms(repeats: tuple[int, ...]) -> None:
    """Any two of ten equal entrants on five benchmarks differ in at most 5% of suites.

    The rate is near 4%: of 200 suites it is seldom above 8%. `make bench` counts 1,000.
    """
    assert any_difference(200, repeats=repeats) <= 0.08


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shapes", "sizes", "repeats"),
    [
        ([(1, 1), (2, 1), (0.5, 0.5), (1, 2), (2, 2)], (50, 114, 30, 100, 15), 2),
        ([(1, 1), (2, 1), (0.5, 0.5), (1, 2), (2, 2)], (12, 20, 30, 15, 40), 4),
        ([(19, 1), (10, 1), (30, 1), (9, 1), (20, 1)], (50, 50, 50, 50, 50), 2),
        ([(1, 1), (2, 2), (1, 2)], (1000, 20, 20), 1),
    ],
)
def test_coverage_of_the_average(
    shapes: list[tuple[float, float]], sizes: tuple[int, ...], repeats: int
) -> None:
    """The interval of the average has the truth in 93 to 97% of 2,000 suites."""
    assert 0.93 <= coverage(1000, shapes, sizes, repeats) <= 0.97


def test_what_is_stated(tmp_path: Path) -> None:
    """Missing cells, unequal tasks, other questions and repeated runs are stated, not averaged."""
    full = {task: [task % 2, 1] for task in range(8)}
    files = {
        "x_one_rollouts.jsonl": attempts("one", full, ask="x "),
        "x_two_rollouts.jsonl": attempts("two", {**full, 0: [1, 1]}, ask="x "),
        "x_three_rollouts.jsonl": attempts("three", {k: full[k] for k in range(5)}, ask="x "),
        "x_four_rollouts.jsonl": [
            *attempts("four", {k: full[k] for k in range(6)}, ask="x "),
            *attempts("four", {k: full[k] for k in (6, 7)}, ask="another version: "),
        ],
        "x_two_run-2_rollouts.jsonl": attempts("two", {task: [0, 0] for task in full}, ask="x "),
        "y_one_rollouts.jsonl": attempts("one", full, ask="y "),
        "y_two_rollouts.jsonl": attempts("two", full, ask="y "),
        "y_three_rollouts.jsonl": attempts("three", full, ask="y "),
    }
    actual = analyzed(tmp_path, files, needs=NEEDS)
    notes = {
        (kind, entrant): message
        for kind, entrant, message in actual.rows("select kind, entrant, message from suite_notes")
    }
    assert notes["missing", "four"] == "has no result: nothing is filled in"
    assert notes["unequal tasks", "three"].startswith("scored 5 of the 8 tasks")
    assert notes["other version", "four"].startswith("2 tasks ask another question")
    assert "alone they score 0.0% to 81.2%" in notes["pooled", "two"]
    # Half of the benchmarks is enough to be compared: then the other is in nobody's average.
    cells = actual.rows("select entrant, value is null, is_counted from suite_cells order by all")
    assert ("four", True, False) in cells
    assert actual.column(
        "select distinct n_benchmarks from suite_standings where benchmark is null"
    ) == [1]
    # Tasks that ask something else are not paired, and those of one alone are counted.
    query = """
        select n_tasks, n_other_questions, n_base_only from suite_comparisons
        where base = '{}' and candidate = '{}' and benchmark like '%x%'
    """
    assert actual.rows(query.format("four", "one")) == [(6, 2, 0)]
    assert actual.rows(query.format("one", "three")) == [(5, 0, 3)]


def test_very_many_are_compared_with_one_alone() -> None:
    """Pairs with one entrant have the changes that they have among all pairs."""
    random = np.random.default_rng(11)
    passed, scored = drawn(random, [random.random((5, 12)), random.random((5, 9))], [[2] * 5] * 2)
    tasks = tasks_table(passed, scored)
    every = suites.comparisons(tasks).to_pylist()
    is_second = pc.equal(tasks["entrant"], "e01")
    place = tasks.column_names.index("is_with_all")
    some = suites.comparisons(tasks.set_column(place, "is_with_all", is_second)).to_pylist()
    names = ("scope", "benchmark", "delta", "se_new_tasks", "ci_new_tasks_low", "bound_high")
    among_all = {
        frozenset({row["base"], row["candidate"]}): abs(row["delta"])
        for row in every
        if row["scope"] == "suite"
    }
    assert len(among_all) == 10
    whole = [row for row in some if row["scope"] == "suite"]
    assert [(row["base"], row["candidate"]) for row in whole] == [
        ("e01", other) for other in ("e00", "e02", "e03", "e04")
    ]
    for row in whole:
        assert abs(row["delta"]) == among_all[frozenset({row["base"], row["candidate"]})]
    alike = [[row[name] for name in names] for row in every if row["base"] == "e01"]
    others = [row for row in some if row["candidate"] != "e00"]
    assert sorted(alike) == sorted([row[name] for name in names] for row in others)


@pytest.mark.slow
def test_a_suite_of_very_many(tmp_path: Path) -> None:
    """Of more than 100 entrants each is compared with one, without ranks; a note says so."""
    files = {
        f"{benchmark}_{number:03}_rollouts.jsonl": attempts(
            f"m{number:03}", {task: [(number + task) % 3 == 0] for task in range(2)}, ask=benchmark
        )
        for benchmark in "xy"
        for number in range(101)
    }
    files |= {f"z_{name}_rollouts.jsonl": attempts(name, {0: [1]}, ask="z") for name in ("a", "b")}
    actual = analyzed(tmp_path, files, needs=NEEDS)
    assert actual.rows("select entrant, message from suite_notes where kind = 'many entrants'") == [
        (
            None,
            "103 entrants are more than 100: 2 have fewer than half of the 3 benchmarks and are "
            "not in the suite; each of the others is compared with m000 alone, and none has a rank",
        )
    ]
    assert actual.one("select count(*) from suite_cells") == 2 * 101
    pairs = "select count(*), count(distinct candidate), any_value(distinct base) from {}"
    assert actual.rows(pairs.format("suite_comparisons where benchmark is null")) == [
        (100, 100, "m000")
    ]
    assert actual.rows("select distinct rank_low, rank_high from suite_standings") == [(None, None)]
    assert actual.one("select count(*) from suite_standings where value is not null") == 3 * 101


@pytest.mark.slow
def test_a_suite_of_as_many_as_are_all_compared(tmp_path: Path) -> None:
    """Of 100 entrants all pairs are compared, those with one benchmark alone are listed too."""
    files = {
        f"{number:03}_{benchmark}_rollouts.jsonl": attempts(
            f"m{number:03}", {task: [(number + task) % 3 == 0] for task in range(2)}, ask=benchmark
        )
        for number in range(100)
        for benchmark in ("x" if number else "xyz")
    }
    actual = analyzed(tmp_path, files, needs=NEEDS)
    assert actual.rows("from suite_notes where kind = 'many entrants'") == []
    assert actual.one("select count(*) from suite_cells") == 3 * 100
    query = "select count(*) from suite_comparisons where benchmark is null"
    assert actual.one(query) == 100 * 99 // 2
    ranks = "select count(rank_low) from suite_standings where benchmark = 'x'"
    assert actual.one(ranks) == 100


@pytest.mark.slow
def test_entrants_of_a_benchmark_each(tmp_path: Path) -> None:
    """More than 100 entrants that share no benchmark are no suite, and the command says why."""
    files = {
        f"run{number:03}_rollouts.jsonl": attempts(None, {0: [1]}, ask=f"{number} ")
        for number in range(101)
    }
    actual = analyzed(tmp_path, files, needs=NEEDS)
    assert actual.rows("from suite_cells") == []
    reason = (
        "101 entrants are more than 100: 101 have fewer than half of the 101 benchmarks and are "
        "not in the suite"
    )
    assert actual.column("select message from suite_notes") == [reason]
    assert repr(api.suite(actual.path)).startswith(f"There is no suite: {reason}.")


def overview(folder: Path, files: dict[str, list[Row]], *, is_whole: bool = False) -> str:
    """The report on several benchmarks, without its sources: on suites alone, or whole."""
    # And no other page.
    drafted = mock.patch(
        "pipeline.run.report.texts",
        lambda _source, content, **_: {"report.md": report.document(content).text},
    )
    with drafted, nullcontext() if is_whole else all_empty_but(*NEEDS, "report.headlines"):
        text = (analyzed(folder, files).path.parent / "report.md").read_text(encoding="utf-8")
    return re.sub(r" *<!--.*?-->\n?", "", text, flags=re.DOTALL)


def test_what_cannot_be_averaged_has_no_leaderboard(tmp_path: Path) -> None:
    """Of models with a benchmark each nothing is compared, and notes of a kind are one line."""
    files = {
        f"{name}_rollouts.jsonl": attempts(name, {0: [1], 1: [0]}, ask=f"{name} ") for name in "abc"
    }
    text = overview(tmp_path, files)
    assert "| entrant |" not in text
    assert "No leaderboard: no entrant has scores at half of the benchmarks." in text
    assert "is in no average: no entrant has a result at half of the benchmarks" in text
    assert "a single task" not in text
    assert "Nothing can be compared: no two entrants have several tasks" in text
    assert text.count("has no result: nothing is filled in") == 1
    assert "- 6 notes (missing), for example `a` at `" in text


@pytest.mark.slow
def test_rewards_of_another_scale_are_compared_at_their_benchmark(tmp_path: Path) -> None:
    """They are in no average, which is not to say that entrants have no task in common."""
    files = {
        f"{name}_rollouts.jsonl": [
            rollout(task, 0, model=name, reward=task * 1.5, ask=f"question {task}")
            for task in range(4)
        ]
        for name in "ab"
    }
    files["other_rollouts.jsonl"] = attempts("a", {0: [1], 1: [0]}, ask="other ")
    text = overview(tmp_path, files)
    assert "No two entrants can be compared over the suite, but at single benchmarks" in text
    assert "have several tasks of a benchmark in common" not in text
    assert "no benchmark has several tasks, with rewards from 0 to 1, of every" in text


@pytest.mark.slow
def test_conditions_are_entrants(tmp_path: Path) -> None:
    """Without models, what the names of runs say besides their benchmarks is who was run."""
    rows = [
        {"dataset": dataset, "idx": idx, "prompt": f"{dataset} {idx}?", "variant": variant}
        | {"response": f"{variant} {idx}", "correct": (idx + len(variant)) % 3 == 0}
        for dataset in ("sums", "facts")
        for variant in ("plain", "stepwise")
        for idx in range(20)
    ]
    text = overview(tmp_path, {"graded.jsonl": rows})
    assert re.search(r"^\| `plain` \| .* \| 2 \| 40 \|$", text, re.MULTILINE)
    assert re.search(r"^\| `stepwise` \| .* \| 2 \| 40 \|$", text, re.MULTILINE)
    assert "No leaderboard" not in text


@pytest.mark.slow
def test_a_benchmark_in_which_nothing_passes(tmp_path: Path) -> None:
    """It is a finding of the overview, the one with most failures; not of a few attempts."""
    sizes = {"a": 12, "b": 30, "c": 3}
    files = {
        f"{name}_rollouts.jsonl": attempts(name, {t: [0] for t in range(n)}, ask=f"{name} ")
        for name, n in sizes.items()
    }
    files["d_rollouts.jsonl"] = attempts("d", {task: [task % 2] for task in range(12)}, ask="d ")
    text = overview(tmp_path, files, is_whole=True)
    sentence = "`b`: all 30 scored attempts fail; the same holds for 1 other benchmark."
    assert f"1. {sentence}" in text


def test_where_no_entrant_is_the_baseline_one_differs(tmp_path: Path) -> None:
    """Neither of two models came before the other, so none has regressed."""
    files = {
        f"{name}_{bench}_rollouts.jsonl": attempts(
            name, {task: [int(task % 10 < n_passed)] for task in range(40)}, ask=f"{bench} "
        )
        for name, n_passed in (("m1", 9), ("m2", 2))
        for bench in "xy"
    }
    text = overview(tmp_path, files)
    assert "- `m2` vs `m1` over 2 benchmarks: differs, -70.0 points" in text


def test_one_entrant_has_no_rank(tmp_path: Path) -> None:
    """Of one model the average is beside the share over all its attempts."""
    files = {
        "x_rollouts.jsonl": attempts("a", {task: [1, 0] for task in range(4)}, ask="x "),
        "y_rollouts.jsonl": attempts("a", {task: [1, 1] for task in range(12)}, ask="y "),
    }
    text = overview(tmp_path, files)
    assert "| entrant |" not in text
    assert "over 2 benchmarks, each weighed alike; they have 4 to 12 tasks." in text
    assert "Of its attempts at these 28 of 32 pass (87.5%)." in text


@pytest.mark.slow
def test_one_benchmark_is_no_suite(tmp_path: Path) -> None:
    """Of one benchmark there is no suite, unless suite.toml names entrants."""
    files = {
        "x_one_rollouts.jsonl": attempts("one", {0: [1], 1: [0]}),
        "x_two_rollouts.jsonl": attempts("two", {0: [1], 1: [1]}),
    }
    actual = analyzed(tmp_path, files, needs=NEEDS)
    assert actual.rows("from suite_cells") == []
    none = api.suite(actual.path)
    assert repr(none).startswith("There is no suite: one benchmark")
    assert none["entrants"] == [] and none.standings.is_empty() and none.comparisons.is_empty()
    with pytest.raises(UsageError, match="no suite"):
        api.suite(actual.path, "one")
    patterns = {"first": "*_one", "lost": "no*"}
    toml = "".join(
        f'[[entrant]]\nname = "{name}"\nruns = ["{own}"]\n' for name, own in patterns.items()
    )
    named = analyzed(tmp_path / "named", {**files, "suite.toml": toml}, needs=NEEDS)
    assert named.column("select entrant from suite_cells") == ["first"]
    assert named.rows("select kind, message from suite_notes") == [
        ("no run", "no scored run is called no*")
    ]


@pytest.mark.slow
def test_a_shared_mode_is_listed_once(tmp_path: Path) -> None:
    """What fails alike in several benchmarks is one row, with its lowest and highest share."""
    files = {}
    for bench, n_late in (("x", 4), ("y", 9), ("z", 0)):
        passed = attempts("one", {task: [1] for task in range(20)}, ask=bench, exit_status="done")
        failed = [
            rollout(
                20 + task,
                0,
                model="one",
                reward=0.0,
                ask=f"{bench} late {task}",
                exit_status="agent_timeout" if task < n_late else f"other {task}",
            )
            for task in range(12)
        ]
        files[f"{bench}_one_rollouts.jsonl"] = [*passed, *failed]
    actual = analyzed(tmp_path, files, needs=[*NEEDS, "failure_modes"])
    rows = actual.rows("""
        select n_benchmarks, n_suite_benchmarks, n_failures, lowest_share, highest_share
        from suite_modes where mode like '%agent_timeout%'
    """)
    assert rows == [(2, 3, 13, pytest.approx(4 / 12), pytest.approx(9 / 12))]


@pytest.mark.slow
def test_benchmarks_that_do_not_list_a_shared_mode_are_counted(tmp_path: Path) -> None:
    """A sign of two modes that failures of a third benchmark have, and its passes too."""
    files = {
        f"{bench}_rollouts.jsonl": [
            rollout(
                task,
                0,
                model="one",
                reward=float(task < 20),
                ask=f"{bench} {task}",
                exit_status="late" if task >= 22 or bench == "z" else f"other {max(task, 19)}",
            )
            for task in range(32)
        ]
        for bench in "xyz"
    }
    text = overview(tmp_path, files)
    assert "late`: 83.3% of failures in 2 of 3 benchmarks; not listed in 1 other where" in text


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two models on two benchmarks: one loses a benchmark, and a third has one benchmark alone."""
    always = {task: [1, 1] for task in range(80)}
    passes = {
        ("x", "old"): always,
        ("x", "new"): {task: [task > 24, 1] for task in always},
        ("y", "old"): always,
        ("y", "new"): always,
        ("x", "half"): always,
    }
    files = {
        f"{bench}_{model}_rollouts.jsonl": attempts(model, own, ask=f"{bench} ")
        for (bench, model), own in passes.items()
    }
    return analyzed(tmp_path_factory.mktemp("suite"), files, needs=NEEDS)


@pytest.mark.slow
def test_ranks_are_places(tmp_path: Path) -> None:
    """Entrants of one benchmark alone have no place in the suite, and lower nobody's rank."""
    always, never = ({task: [reward] for task in range(60)} for reward in (1, 0))
    passes = dict.fromkeys([("x", "old"), ("y", "old"), ("z", "far")], always)
    passes |= dict.fromkeys([("x", "bad"), ("x", "worse")], never)
    files = {
        f"{bench}_{model}_rollouts.jsonl": attempts(model, own, ask=f"{bench} ")
        for (bench, model), own in passes.items()
    }
    ranks = analyzed(tmp_path, files, needs=NEEDS).rows("""
        select entrant, rank_low, rank_high from suite_standings
        where benchmark is null and value is not null
    """)
    assert ranks == [("old", 1, 1)]


def test_cells_are_the_figures_of_their_runs(suite: Results) -> None:
    """A cell of one run has its score and interval."""
    query = """
        select
            count(*),
            max(abs(value - pass_at_1)),
            max(abs(ci_new_tasks_low - pass_at_1_ci_new_tasks_low)),
            max(abs(ci_new_tasks_high - pass_at_1_ci_new_tasks_high))
        from suite_cells inner join run_metrics on run_metrics.run_id = run_ids[1]
    """
    ((count, *apart),) = suite.rows(query)
    assert count == 5
    assert max(apart) < 1e-12


def test_command(suite: Results) -> None:
    """The command prints averages, what a base lost and where; JSON has the same."""
    text = call("suite", "old", "new", "--warehouse", suite.path)
    assert text.code == 0
    assert "regressed" in text.stdout and "missing" in text.stdout
    assert "half at y: has no result: nothing is filled in" in " ".join(text.stdout.split())
    content = json.loads(call("suite", "old", "new", "--json", "--warehouse", suite.path).stdout)
    changes = {row["benchmark"]: row for row in content["comparisons"]}
    assert changes[None]["delta"] == pytest.approx(-25 / 160 / 2)
    assert changes[None]["is_named"]
    assert [row["entrant"] for row in content["entrants"]][-1] == "new"
    page = call("suite", "--format", "markdown", "--warehouse", suite.path).stdout
    assert "| old |" in page


def test_named_entrants(suite: Results, tmp_path: Path) -> None:
    """A suite.toml renames and restricts on the spot, without another analysis."""
    file = tmp_path / "suite.toml"
    file.write_text(
        'benchmarks = ["x"]\n[[entrant]]\nname = "A"\nruns = ["*_old"]\n'
        '[[entrant]]\nname = "B"\nruns = ["*_new"]\n'
    )
    answer = call("suite", "--suite", file, "--json", "--warehouse", suite.path)
    content = json.loads(answer.stdout)
    names = suite.column("select distinct benchmark from suite_cells order by all")
    x = next(name for name in names if "x" in name)
    file.write_text(file.read_text().replace('"x"', f'"{x}"'))
    content = json.loads(call("suite", "--suite", file, "--json", "--warehouse", suite.path).stdout)
    assert (content["benchmarks"], len(content["comparisons"])) == ([x], 2)
    assert {row["entrant"] for row in content["entrants"]} == {"A", "B"}


POLICY = """
unseen = 0
[suite]
margin = {margin}
benchmark_margin = {each}
"""


@pytest.mark.parametrize(
    ("names", "margin", "each", "code", "words"),
    [
        (("old", "new"), 0.2, 0.3, 0, "PASS"),
        (("old", "new"), 0.01, 0.3, 1, "suite average non-inferior: FAIL"),
        # The average passes, and one benchmark fails.
        (("old", "new"), 0.2, 0.05, 1, "non-inferior: FAIL"),
        (("old", "half"), 0.2, 0.3, 3, "half has no result at"),
    ],
)
def test_policy(
    suite: Results,
    tmp_path: Path,
    names: tuple[str, str],
    margin: float,
    each: float,
    code: int,
    words: str,
) -> None:
    """A policy decides on the average and on each benchmark; a missing cell never passes."""
    file = tmp_path / "policy.toml"
    file.write_text(POLICY.format(margin=margin, each=each))
    form = "markdown" if margin == 0.01 else "text"
    answer = call("suite", *names, "--policy", file, "--format", form, "--warehouse", suite.path)
    assert answer.code == code, answer.stdout
    assert words in " ".join(answer.stdout.split())


def test_policy_without_a_suite(suite: Results, tmp_path: Path) -> None:
    """A policy about metrics alone, or a call without a base, is refused."""
    file = tmp_path / "policy.toml"
    file.write_text('[[metric]]\nmetric = "pass_at_1"\n')
    answer = call("suite", "old", "new", "--policy", file, "--warehouse", suite.path)
    assert answer.code == 2
    assert "says nothing about a suite" in answer.stderr
    file.write_text(POLICY.format(margin=0.1, each=0.1))
    answer = call("suite", "--policy", file, "--warehouse", suite.path)
    assert (answer.code, "no base is named" in answer.stderr) == (2, True)
