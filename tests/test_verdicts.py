"""What a verdict needs: rows that are there, tasks of both runs, all candidates allowed for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pipeline.analysis import stats
from pipeline.analysis.claims import Evidence
from pipeline.answers.recomputed import COMPARED
from pipeline.report.wording import points
from tests.case_files import cases
from tests.fact_files import Fact, facts
from tests.lean import CHECKED, LOADED
from tests.results import Results, Row, analyzed, asked, call, rollout, write

pytestmark = pytest.mark.slow

COMPARISON = [name.removeprefix("main.") for name in COMPARED]
ALMOST = 0.9999999999999998


def run_of(passes: Sequence[Sequence[float]], *, about: str = "x") -> list[Row]:
    """A row for each reward, task by task."""
    return [
        rollout(task, index, reward=reward, ask=f"{about} {task}")
        for task, rewards in enumerate(passes)
        for index, reward in enumerate(rewards)
    ]


def drawn(shift: float) -> list[list[float]]:
    """Fifty tasks by four, of rates of their own; those of the candidate are higher."""
    rates = np.random.default_rng(4).random((50, 1)) + shift
    return (np.random.default_rng(5).random((50, 4)) < rates).astype(float).tolist()


ALIKE = [[0.0, 0.0]] * 20 + [[1.0, 1.0]] * 10
# Benchmarks of a base and its candidates: the rewards of each task, and what was asked of how many.
RUNS: dict[str, dict[str, Sequence[Sequence[float]]]] = {
    "stray": {"base": [[1.0, 1.0]] + [[1.0]] * 39, "new": [[0.0]] * 20 + [[1.0]] * 20},
    "ragged": {
        "base": [[1.0, 0.0, 1.0, 0.0]] * 30,
        "new": [[1.0, 1.0]] * 10 + [[1.0, 1.0, 0.0]] * 10 + [[1.0, 0.0, 1.0, 0.0]] * 10,
    },
    # As many repeats of a task in both runs, however many: none is missing.
    "planned": {
        "base": [[0.0] * 3] * 20 + [[0.0] * 6] * 20 + [[1.0] * 9] * 2,
        "new": [[1.0] * 3] * 20 + [[0.0] * 6] * 20 + [[1.0] * 9] * 2,
    },
    "gone": {"base": [[0.0]] * 40 + [[1.0]] * 45, "new": [[1.0]] * 40},
    "never": {"base": [[0.0]] * 40 + [[1.0]] * 45, "new": [[1.0]] * 40},
    "whole": {"base": drawn(0), "new": drawn(0.05)},
    "less": {"base": drawn(0), "new": [*drawn(0.05)[:-1], drawn(0.05)[-1][:-1]]},
    "rounded": {"base": [[ALMOST], [0.0]] * 8, "new": [[ALMOST], [1.0]] * 8},
    "seven": {
        "new": [[1.0]] * 37,
        **dict.fromkeys(("base", "b", "c", "d", "e"), [[0.0]] * 7 + [[1.0]] * 30),
    },
    # Five gained and none lost: the interval leaves out 0, and 2 of 32 signs agree.
    "five": {"base": [[0.0]] * 5 + [[1.0]] * 25, "new": [[1.0]] * 30},
    # One in ten full is a benchmark that is passed and failed.
    "tenth": {"base": [[0.97]] * 9 + [[1.0]]},
    **{
        f"rounding{n_gained}": {
            "base": [[float(task >= n_gained)] for task in range(80)] + [[1.0]] * n_base_only,
            "new": [[1.0]] * 80,
        }
        for n_gained, n_base_only in ((8, 7), (9, 1), (11, 3), (5, 13))
    },
    "even": {"base": ALIKE, "new": [[1.0, 1.0]] * 30},
    "odd": {
        "base": ALIKE,
        "new": [[1.0, 0.0]] * 4 + [[1.0, 1.0]] + [[1.0, 0.0]] * 15 + [[1.0, 1.0]] * 10,
    },
}
EXPECTED_TASKS = {"never": {"base": 85, "new": 40}}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Each benchmark's candidates against its base."""
    files: dict[str, list[Row]] = {}
    for name, runs in RUNS.items():
        for run, rewards in runs.items():
            files[f"{name}_{run}_rollouts.jsonl"] = run_of(rewards, about=name)
            if n := EXPECTED_TASKS.get(name, {}).get(run):
                files[f"{name}_{run}_rollouts_materialized_inputs.jsonl"] = [
                    asked(task, 0, ask=f"{name} {task}") for task in range(n)
                ]
    needs = (*LOADED, *COMPARISON, "denominators", "report.findings")
    bases = [f"{name}_base" for name in RUNS]
    return analyzed(tmp_path_factory.mktemp("verdicts"), files, needs=needs, baselines=bases)


def lead(actual: Results, name: str, columns: str) -> tuple[object, ...]:
    query = f"select {columns} from comparisons where is_lead and candidate = '{name}_new'"
    return actual.rows(query)[0]


@facts("verdicts")
def test_compared(compared: Results, fact: Fact) -> None:
    """As tests/facts/verdicts.test says."""
    fact.check(compared)


@pytest.mark.slow
def test_tasks_of_one_run_can_undo_a_verdict(compared: Results) -> None:
    """The page says that they could reverse it."""
    page = call("compare", "gone_base", "--warehouse", compared.path).stdout
    assert "INCONCLUSIVE: THE TASKS THAT ONLY ONE RUN HAS COULD REVERSE IT" in page


@pytest.mark.slow
def test_several_candidates_are_allowed_for(compared: Results) -> None:
    """Seven of seven gained is 1 in 64 once; among many candidates it is nothing."""
    p_mean, p_holm, *verdicts = lead(
        compared, "seven", "p_mean, p_holm, verdict, verdict_holm, is_changed"
    )
    assert p_mean == pytest.approx(2 / 2**7)
    # Times as many as are no clearer: these five, and others.
    n_left = compared.one(
        "select count(*) from comparisons where is_lead and greatest(p_mean, p_any) > 0.0156"
    )
    assert n_left >= 5 and p_holm == pytest.approx(n_left * 2 / 2**7)
    assert verdicts == ["improved", "inconclusive", False]
    alone = json.loads(
        call("compare", "seven_base", "seven_new", "--json", "--warehouse", compared.path).stdout
    )["comparisons"][0]
    assert (alone["verdict_holm"], alone["p_holm"]) == ("improved", alone["p_mean"])
    # `p_value` is `p_mean`; both tests are named.
    assert alone["p_value"] == alone["p_mean"] == alone["p_any"] == pytest.approx(2 / 2**7)


@pytest.mark.slow
def test_the_test_that_decides_is_named(compared: Results) -> None:
    """Where the interval leaves out 0 and nothing is decided, the p that prevents it is."""
    low, *decided = lead(compared, "five", "ci_new_tasks_low, p_mean, verdict, decided_by")
    assert low > 0
    assert decided == [pytest.approx(2 / 2**5), "inconclusive", "p_mean"]
    page = call("compare", "five_base", "five_new", "--warehouse", compared.path).stdout
    sentence = " ".join(page.split())
    reported = "decided by the sign-flip test over tasks: the 95% CI leaves out 0, but p = 0.0625"
    assert reported in sentence
    markdown = ("--format", "markdown", "--warehouse", compared.path)
    assert "inconclusive (sign-flip test over tasks, p = 0.0625)" in call(
        "compare", "five_base", "five_new", *markdown
    ).stdout.replace("`", "")


def test_one_row_less_moves_no_test_far(compared: Results) -> None:
    """Fifty tasks by four and four: without one row p_mean is by t, and hardly moves."""
    columns = "p_mean, p_any, test"
    (*whole, by), (*less, by_less) = (lead(compared, name, columns) for name in ("whole", "less"))
    assert (by, by_less) == ("signs of tasks", "t of tasks' differences")
    for one, other in zip(whole, less, strict=True):
        assert 1 / 3 < one / other < 3


@pytest.mark.slow
def test_a_scale_of_its_own_has_no_failures(compared: Results, tmp_path: Path) -> None:
    """Rewards around 0.97 with one in thirty full: mean reward leads, a threshold is asked for."""
    rewards = [[0.9 + 0.003 * task] for task in range(29)] + [[1.0]]
    results = analyzed(tmp_path, {"x_rollouts.jsonl": run_of(rewards)})
    assert results.one("select pass_threshold from runs") is None
    assert results.one("select count(*) from rollout_modes") == 0
    warned = results.rows("select subject, message, hint from assertions.warn")
    assert [row[0] for row in warned] == ["x"]
    assert "hardly one 1" in warned[0][1] and "pass_threshold" in warned[0][2]
    report = (results.path.parent / "report.md").read_text(encoding="utf-8")
    assert "has a mean reward of" in report
    tenth = "select pass_threshold from runs where run_id = 'tenth_base'"
    assert compared.one(tenth) == 1


@pytest.mark.slow
def test_a_regression_is_never_left_out(tmp_path: Path) -> None:
    """Of seven candidates the one that fell is named in every summary, before what is open."""
    base = run_of([[1.0]] * 40)
    slightly = run_of([[0.0]] + [[1.0]] * 39)
    files = {f"x_{name}_rollouts.jsonl": slightly for name in "abcdef"}
    files |= {
        "x_base_rollouts.jsonl": base,
        "x_g_rollouts.jsonl": run_of([[0.0]] * 25 + [[1.0]] * 15),
    }
    results, out = write(tmp_path / "results", files), tmp_path / "out"
    outcome = call("analyze", results, "--baseline", "x_base", "--out", out)
    assert "x_g vs x_base" in outcome.stdout.split("wrote")[0]
    report = (out / "report.md").read_text(encoding="utf-8")
    summary = report.split("## Artifact Inventory")[0]
    assert summary.index("`x_g` vs `x_base`") < summary.index("`x_a` vs `x_base`")
    page = call("compare", "x_base", "--warehouse", out).stdout
    assert page.index("REGRESSED") < page.index("INCONCLUSIVE")


@pytest.mark.slow
def test_a_field_that_looks_like_a_group_is_named(tmp_path: Path) -> None:
    """Ten repositories, half of them hard: the notice gives the line; with it there is none."""
    rows = [
        rollout(task, index, reward=float(task % 10 < 5 or task == 17), repo=f"r{task % 10}")
        for task in range(60)
        for index in range(2)
    ]
    files = {"x_rollouts.jsonl": rows}
    warned = partial(analyzed, needs=CHECKED)
    query = "select hint from assertions.warn where check_name = 'warn_groups_unnamed'"
    actual = warned(tmp_path / "unnamed", files)
    assert actual.column(query) == [
        'Where they belong together, say so in blade.toml: fields.group = "repo"'
    ]
    profile = tmp_path / "blade.toml"
    profile.write_text('fields.group = "repo"\n')
    assert warned(tmp_path / "named", files, profile=profile).column(query) == []
    mixed = [{**row, "repo": f"r{int(row['_ng_task_index']) // 6}"} for row in rows]
    assert warned(tmp_path / "mixed", {"x_rollouts.jsonl": mixed}).column(query) == []


@pytest.mark.parametrize(("given_values", "verdict"), cases("verdicts", "verdict"))
def test_verdict(given_values: tuple[float, float, float, float], verdict: str) -> None:
    """Interval and bounds both have to be clear; a value on a limit is not beyond it."""
    low, high, bound_low, bound_high = map(np.asarray, given_values)
    ends = (low, high, bound_low, bound_high, low, high)
    assert Evidence(*ends, p_value=np.asarray(0.01)).verdict(0.02) == verdict


def test_detectable_is_seen_four_times_in_five() -> None:
    """A true change of that size is found by the interval in 80% of simulated comparisons."""
    random = np.random.default_rng(5)
    se = 0.5 / np.sqrt(50)
    size = np.full(4000, 50.0)
    drawn = random.normal(stats.detectable(np.array([se]), size[:1] - 1)[0], 0.5, (4000, 50))
    mean, error = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(50)
    low, _ = stats.change_interval(mean, error, size, size - 1, is_bounded=np.full(4000, False))
    assert np.mean(low > 0) == pytest.approx(0.8, abs=0.03)


def test_borderline_bounds_keep_their_side() -> None:
    """A bound just above 0 is not printed as 0."""
    assert [points(rate) for rate in (0.0004, 0.00004, -0.00004, 0.0, 0.1234)] == [
        *("+0.04", "+0.004", "-0.004", "+0.0", "+12.3")
    ]


def test_one_change_has_one_rounding(compared: Results) -> None:
    """The change on shared tasks is +11.2 in a ledger where it is +11.2 above, and lines add up."""
    lines = compared.rows("""
        select candidate, line, shown, amount, total_shown, delta
        from ledger inner join comparisons using (base, candidate, metric)
        where ledger = 'task mix' and policy = 'dropped' and is_lead
            and candidate like 'rounding%' order by all
    """)
    assert len(lines) >= 8
    for candidate in {line[0] for line in lines}:
        own = [line for line in lines if line[0] == candidate]
        assert sum(line[2] for line in own) == pytest.approx(own[0][4])
        for _, line, shown, amount, _, delta in own:
            assert abs(shown - amount) < 0.0021
            if line == "tasks of both":
                assert points(shown) == points(delta)


def test_most_is_reported_of_a_task_that_leads_alone(compared: Results) -> None:
    """Of twenty tasks that gained alike none is named; one that gained more is."""
    query = """
        select run_id, example from report.findings
        where kind = 'change' and run_id in ('even_new', 'odd_new') order by run_id
    """
    assert compared.rows(query) == [("even_new", None), ("odd_new", "odd_new/4:0")]
