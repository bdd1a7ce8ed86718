"""What a verdict needs: rows that are there, tasks of both runs, all candidates allowed for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pipeline.report.wording import points
from tests.lean import LOADED
from tests.results import Results, Row, analyzed, asked, call, rollout
from tests.uncertainty_reference import clustered_variance, degrees

COMPARED = (*LOADED, "main.comparisons")


def run_of(passes: Sequence[Sequence[float]], *, first: int = 0, **fields: str) -> list[Row]:
    """A row for each reward, task by task."""
    return [
        rollout(first + task, index, reward=reward, **fields)
        for task, rewards in enumerate(passes)
        for index, reward in enumerate(rewards)
    ]


def compared(folder: Path, *, needs: Sequence[str] = COMPARED, **runs: Sequence[Row]) -> Results:
    """Runs held against the one called base; files of inputs keep their ending."""
    files = {}
    for name, rows in runs.items():
        kind = "_materialized_inputs" if name.endswith("_inputs") else ""
        files[f"x_{name.removesuffix('_inputs')}_rollouts{kind}.jsonl"] = rows
    return analyzed(folder, files, needs=needs, baselines=("x_base",))


def said(found: Results, columns: str) -> tuple[object, ...]:
    return found.rows(f"select {columns} from comparisons where is_lead")[0]


def test_a_stray_second_attempt_makes_nothing_missing(tmp_path: Path) -> None:
    """Of 40 tasks tried once, one was tried twice: the others lack nothing."""
    base = run_of([[1.0, 1.0]] + [[1.0]] * 39)
    candidate = run_of([[0.0]] * 20 + [[1.0]] * 20)
    found = compared(tmp_path, base=base, candidate=candidate)
    assert said(found, "verdict, bound_low = bound_high") == ("regressed", True)


def test_lost_repeats_may_have_been_anything(tmp_path: Path) -> None:
    """Where repeats are 4, 3 and 2 nothing says which were lost: up to the fullest may be."""
    base = run_of([[1.0, 0.0, 1.0, 0.0]] * 30)
    candidate = run_of([[1.0, 1.0]] * 10 + [[1.0, 1.0, 0.0]] * 10 + [[1.0, 0.0, 1.0, 0.0]] * 10)
    found = compared(tmp_path, base=base, candidate=candidate)
    delta, counted, high = said(found, "delta, delta_counted_as_fail, bound_high")
    assert (delta, counted) == (pytest.approx(2 / 9), pytest.approx(0))
    assert high == pytest.approx((0.5 + 0.25) / 3)


@pytest.mark.slow
def test_tasks_of_one_run_can_undo_a_verdict(tmp_path: Path) -> None:
    """Forty tasks gained; more that the base passed are gone, perhaps lost for failing."""
    base = run_of([[0.0]] * 40 + [[1.0]] * 45)
    candidate = run_of([[1.0]] * 40)
    found = compared(tmp_path, needs=(), base=base, candidate=candidate)
    assert said(found, "verdict, could_reverse, n_base_only") == ("inconclusive", True, 45)
    page = call("compare", "x_base", "--warehouse", found.path).stdout
    assert "INCONCLUSIVE: THE TASKS THAT ONLY ONE RUN HAS COULD REVERSE IT" in page


def test_tasks_that_were_never_expected_undo_nothing(tmp_path: Path) -> None:
    """The same, where inputs say that the candidate was never asked them."""
    base = run_of([[0.0]] * 40 + [[1.0]] * 45)
    candidate = run_of([[1.0]] * 40)
    found = compared(
        tmp_path,
        base=base,
        candidate=candidate,
        base_inputs=[asked(task, 0) for task in range(85)],
        candidate_inputs=[asked(task, 0) for task in range(40)],
    )
    assert said(found, "verdict, could_reverse") == ("improved", False)


def test_several_candidates_are_allowed_for(tmp_path: Path) -> None:
    """Seven of seven gained is 1 in 64 once; of five candidates it is nothing."""
    base = run_of([[0.0]] * 7 + [[1.0]] * 30)
    better = run_of([[1.0]] * 37)
    alone = compared(tmp_path / "one", base=base, a=better)
    assert said(alone, "verdict, verdict_holm, p_mean = p_holm") == ("improved", "improved", True)
    several = compared(tmp_path / "five", base=base, a=better, b=base, c=base, d=base, e=base)
    row = several.rows("""
        select verdict, verdict_holm, is_changed, p_mean, p_holm from comparisons
        where is_lead and candidate = 'x_a'
    """)[0]
    assert row[:3] == ("improved", "inconclusive", False)
    assert row[3:] == (pytest.approx(2 / 2**7), pytest.approx(5 * 2 / 2**7))


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
    (tmp_path / "blade.toml").write_text('baseline = "x_base"\n')
    found = analyzed(tmp_path, files, profile=tmp_path / "blade.toml")
    told = call("analyze", tmp_path / "results", "--baseline", "x_base", "--out", tmp_path / "two")
    assert "x_g vs x_base" in told.stdout.split("wrote")[0]
    report = (found.path.parent / "report.md").read_text(encoding="utf-8")
    summary = report.split("## Artifact Inventory")[0]
    assert summary.index("`x_g` vs `x_base`") < summary.index("`x_a` vs `x_base`")
    page = call("compare", "x_base", "--warehouse", found.path).stdout
    assert page.index("REGRESSED") < page.index("INCONCLUSIVE")


def test_one_row_less_moves_no_test_far(tmp_path: Path) -> None:
    """Fifty tasks by four and four: without one row p_mean is told by t, and hardly moves."""
    random = np.random.default_rng(4)
    rates = random.random(50)
    base, candidate = (
        run_of((random.random((50, 4)) < (rates + shift)[:, None]).astype(float).tolist())
        for shift in (0, 0.05)
    )
    whole = compared(tmp_path / "whole", base=base, candidate=candidate)
    less = compared(tmp_path / "less", base=base, candidate=candidate[:-1])
    columns = "p_mean, p_any, test"
    (p, q, by), (p_less, q_less, by_less) = said(whole, columns), said(less, columns)
    assert (by, by_less) == ("signs of tasks", "t of tasks' differences")
    for one, other in ((p, p_less), (q, q_less)):
        assert isinstance(one, float) and isinstance(other, float)
        assert 1 / 2.5 < one / other < 2.5


def test_bounds_are_unknown_where_nothing_says_what_was_expected(tmp_path: Path) -> None:
    """Of a run without inputs worst and best are null; with them they are figures."""
    rows = run_of([[1.0, 0.0]] * 5)
    found = analyzed(
        tmp_path,
        {
            "a/x_rollouts.jsonl": rows,
            "b/y_rollouts.jsonl": rows[:-1],
            "b/y_rollouts_materialized_inputs.jsonl": [
                asked(task, index) for task in range(5) for index in range(2)
            ],
        },
        needs=(*LOADED, "main.denominators"),
    )
    bounds = found.rows("""
        select distinct run_id, pass_at_1_worst is null, pass_at_1_best is null from denominators
        order by all
    """)
    assert bounds == [("x", True, True), ("y", False, False)]


def test_rounding_does_not_grade_a_reward(tmp_path: Path) -> None:
    """0.9999999999999998 is a pass in every place: passes lead, and nothing is graded."""
    base = run_of([[0.9999999999999998], [0.0]] * 8)
    candidate = run_of([[0.9999999999999998], [1.0]] * 8)
    found = compared(tmp_path, base=base, candidate=candidate)
    assert found.column("select metric from comparisons where is_lead") == ["pass_at_1"]
    assert found.rows(
        "select run_id, count(*) from rollouts where is_pass group by all order by 1"
    ) == [
        ("x_base", 8),
        ("x_candidate", 16),
    ]


def test_a_scale_of_its_own_has_no_failures(tmp_path: Path) -> None:
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
    # One in ten full is a benchmark that is passed and failed.
    some = analyzed(
        tmp_path / "some", {"x_rollouts.jsonl": run_of([[0.97]] * 9 + [[1.0]])}, needs=LOADED
    )
    assert some.one("select pass_threshold from runs") == 1


@pytest.mark.slow
def test_a_field_that_looks_like_a_group_is_named(tmp_path: Path) -> None:
    """Ten repositories, half of them hard: the notice gives the line; with it there is none."""
    rows = [
        rollout(task, index, reward=float(task % 10 < 5 or task == 17), repo=f"r{task % 10}")
        for task in range(60)
        for index in range(2)
    ]
    files = {"x_rollouts.jsonl": rows}
    query = "select hint from assertions.warn where check_name = 'warn_groups_unnamed'"
    found = analyzed(tmp_path / "unnamed", files)
    assert found.column(query) == [
        'Where they belong together, say so in blade.toml: fields.group = "repo"'
    ]
    profile = tmp_path / "blade.toml"
    profile.write_text('fields.group = "repo"\n')
    assert analyzed(tmp_path / "named", files, profile=profile).column(query) == []
    mixed = [{**row, "repo": f"r{int(row['_ng_task_index']) // 6}"} for row in rows]
    assert analyzed(tmp_path / "mixed", {"x_rollouts.jsonl": mixed}).column(query) == []


@pytest.mark.parametrize("sizes", [[1] * 6, [3, 3, 3], [5, 2, 1, 1], [9, 1, 1, 1, 4]])
def test_unequal_groups(sizes: list[int]) -> None:
    """Bell and McCaffrey's adjustment and Satterthwaite's degrees, from the matrices themselves."""
    n = sum(sizes)
    ends = np.cumsum(sizes)
    groups = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    residual = np.eye(n) - 1 / n
    contrasts = []
    for own in groups:
        values, vectors = np.linalg.eigh(residual[np.ix_(own, own)])
        adjusted = vectors @ np.diag(values**-0.5) @ vectors.T
        contrasts.append(residual[:, own] @ adjusted @ np.ones(len(own)) / n)
    together = np.stack(contrasts)
    spread = np.linalg.eigvalsh(together @ together.T)
    assert degrees(sizes) == pytest.approx(spread.sum() ** 2 / (spread**2).sum())
    y = np.random.default_rng(n).random(n)
    exact = clustered_variance([[Fraction(value) for value in y[own]] for own in groups])
    assert exact is not None
    assert float(exact) == pytest.approx(sum((contrast @ y) ** 2 for contrast in contrasts))


def test_borderline_bounds_keep_their_side() -> None:
    """A bound just above 0 is not printed as 0."""
    assert [points(rate) for rate in (0.0004, 0.00004, -0.00004, 0.0, 0.1234)] == [
        *("+0.04", "+0.004", "-0.004", "+0.0", "+12.3")
    ]


@pytest.mark.slow
def test_json_has_both_tests(tmp_path: Path) -> None:
    """`p_value` is `p_mean`; both are named."""
    found = analyzed(
        tmp_path,
        {"x_a_rollouts.jsonl": run_of([[1.0]] * 9), "x_b_rollouts.jsonl": run_of([[0.0]] * 9)},
    )
    told = call("compare", "x_a", "x_b", "--json", "--warehouse", found.path).stdout
    for each in json.loads(told)["comparisons"]:
        assert each["p_value"] == each["p_mean"] == pytest.approx(2 / 2**9)
        assert each["p_any"] == pytest.approx(2 / 2**9)
