"""What separates passes from failures, from rollouts' behaviours to the clearest of a run."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import duckdb
import numpy as np
import pytest

from pipeline.analysis import separation
from pipeline.report.tables import EVERY
from pipeline.settings import SQL_DIR
from pipeline.warehouse import create_macros
from tests import separation_reference as reference
from tests.behaviours import Seen, acts, drawn_runs, measured, separators
from tests.results import analyzed, rollout
from tests.separation_reference import Table

# Admissions to Berkeley, 1973, six departments: men admitted and rejected, women likewise. The
# example of R's mantelhaen.test.
BERKELEY: list[Table] = [
    (512, 313, 89, 19),
    (353, 207, 17, 8),
    (120, 205, 202, 391),
    (138, 279, 131, 244),
    (53, 138, 94, 299),
    (22, 351, 24, 317),
]
RATIO_ENDS = ("odds_ratio_low", "odds_ratio_high")


def scipy_stats() -> Any:
    """Imported by who runs these tests, not by all that only collect them: it takes a second."""
    from scipy import stats

    return stats


def test_berkeley() -> None:
    """The published example comes out of the relations as R prints it."""
    (row,) = separators(acts(BERKELEY)).values()
    found = row["odds_ratio"], row["odds_ratio_low"], row["odds_ratio_high"]
    assert found == pytest.approx((0.9046968, 0.7719074, 1.0603298), abs=5e-8)
    assert row["p_value"] == row["q_value"] == pytest.approx(0.2169, abs=5e-5)
    assert (row["n_tasks"], row["n_informative"]) == (6, 6)
    assert (row["n_with_passed"], row["n_passed"]) == (1198, 1198 + 1493)
    assert (row["n_with_failed"], row["n_failed"]) == (557, 557 + 1278)
    assert row["rate_when_passed"] == pytest.approx(1198 / 2691)
    # Over all departments men are admitted far more often; within them, rather less.
    assert row["rate_when_passed"] > row["rate_when_failed"]
    assert (row["direction"], row["is_separating"], row["is_unbounded"]) == ("fails", False, False)


def by_feature(seen: Iterable[Seen]) -> dict[tuple[str, str], dict[str, list[tuple[bool, float]]]]:
    """Known values by run and feature, then by task, of tasks that know both sides."""
    found: dict[Any, dict[str, list[tuple[bool, float]]]] = defaultdict(lambda: defaultdict(list))
    for run, task, _, is_pass, feature, _, value in seen:
        if value is not None:
            found[run, feature][task].append((is_pass, value))
    return {
        key: {task: own for task, own in tasks.items() if len({side for side, _ in own}) == 2}
        for key, tasks in found.items()
    }


def expected_binary(tasks: list[list[tuple[bool, float]]]) -> dict[str, Any]:
    tables = [
        (own.count((True, 1)), own.count((True, 0)), own.count((False, 1)), own.count((False, 0)))
        for own in tasks
    ]
    ratio, ends = reference.odds_ratio(tables), reference.interval(tables)
    excess = sum(a - (a + b) * (a + c) / (a + b + c + d) for a, b, c, d in tables)
    found = {
        "n_informative": sum(len({value for _, value in own}) > 1 for own in tasks),
        "n_with_passed": sum(a for a, *_ in tables),
        "n_with_failed": sum(c for _, _, c, _ in tables),
        "odds_ratio": None if ratio is None or ratio == math.inf else float(ratio),
        "is_unbounded": None if ratio is None else ratio == math.inf,
        "p_value": reference.p_value(reference.cmh(tables)),
        "direction": direction(excess),
    }
    return found | ({} if ends is None else dict(zip(RATIO_ENDS, ends, strict=True)))


def expected_number(tasks: list[list[tuple[bool, float]]]) -> dict[str, Any]:
    def mean(own: list[tuple[bool, float]], side: bool) -> float:
        values = [value for is_pass, value in own if is_pass == side]
        return math.fsum(values) / len(values)

    differences = [mean(own, True) - mean(own, False) for own in tasks]
    n_informative = sum(len({value for _, value in own}) > 1 for own in tasks)
    found: dict[str, Any] = {
        "n_informative": n_informative,
        "mean_difference": math.fsum(differences) / len(differences),
        "direction": direction(math.fsum(differences)),
    }
    if len(tasks) < 2 or not n_informative:
        return found | {"p_value": None, "difference_low": None, "difference_high": None}
    if max(differences) - min(differences) < 1e-9:
        return found
    exact = scipy_stats().ttest_1samp(differences, 0)
    ends = exact.confidence_interval(0.95)
    return found | {
        "p_value": exact.pvalue,
        "difference_low": ends.low,
        "difference_high": ends.high,
    }


def direction(excess: float) -> str:
    return "none" if abs(excess) < 1e-9 else "passes" if excess > 0 else "fails"


def test_random_runs() -> None:
    """Every feature that varies has the figures that tables one by one and scipy give it."""
    seen = drawn_runs(7, 60)
    found = separators(seen)
    kinds = {feature: kind for _, _, _, _, feature, kind, _ in seen}
    varying = {
        key: list(tasks.values())
        for key, tasks in by_feature(seen).items()
        if len({value for own in tasks.values() for _, value in own}) > 1
    }
    assert set(found) == set(varying)
    assert {feature for _, feature in found} == set(kinds) - {"constant", "same"}
    for key, tasks in varying.items():
        row, is_binary = found[key], kinds[key[1]] == "binary"
        counts = {
            "kind": kinds[key[1]],
            "n_tasks": len(tasks),
            "n_passed": sum(side for own in tasks for side, _ in own),
            "n_failed": sum(not side for own in tasks for side, _ in own),
        }
        agree(row, counts | (expected_binary(tasks) if is_binary else expected_number(tasks)), key)
        null = ("mean_difference", "difference_low") if is_binary else ("odds_ratio", *RATIO_ENDS)
        assert all(row[name] is None for name in null), key
    assert any(row["is_unbounded"] for row in found.values())
    assert any(row["odds_ratio"] == 0 for row in found.values())
    assert any(row["p_value"] is None for row in found.values())
    assert any(row["is_separating"] for row in found.values())


def agree(row: dict[str, Any], expected: dict[str, Any], where: Any) -> None:
    for name, value in expected.items():
        if isinstance(value, float) and row[name] is not None:
            assert row[name] == pytest.approx(value, rel=1e-8, abs=1e-12), (where, name)
        else:
            assert row[name] == value, (where, name)


def test_q_within_the_run() -> None:
    """Each run's tests are corrected among themselves; the untested take no part."""
    found = separators(drawn_runs(8, 20))
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in found.values():
        runs[row["run_id"]].append(row)
    for rows in runs.values():
        tested = [row for row in rows if row["p_value"] is not None]
        assert all(row["q_value"] is None for row in rows if row["p_value"] is None)
        if tested:
            exact = scipy_stats().false_discovery_control([row["p_value"] for row in tested])
            assert [row["q_value"] for row in tested] == pytest.approx(list(exact))
        for row in tested:
            assert row["is_separating"] == (row["q_value"] <= 0.05)


def test_edges() -> None:
    """An infinite ratio is null and says so, with an exact lower end; one of 0 has an upper."""
    tables = [(3, 0, 0, 2), (2, 1, 0, 4)] * 2
    never = [(b, a, d, c) for a, b, c, d in tables]
    found = separators([*acts(tables), *acts(never, feature="lacks")])
    top, bottom = found["run", "acts"], found["run", "lacks"]
    assert (top["odds_ratio"], top["odds_ratio_high"], top["is_unbounded"]) == (None, None, True)
    assert reference.most_chance(tables, top["odds_ratio_low"]) == pytest.approx(0.025)
    assert (bottom["odds_ratio"], bottom["odds_ratio_low"], bottom["is_unbounded"]) == (0, 0, False)
    assert bottom["odds_ratio_high"] == pytest.approx(1 / top["odds_ratio_low"])
    assert (top["direction"], bottom["direction"]) == ("passes", "fails")
    assert top["p_value"] == pytest.approx(bottom["p_value"])


@pytest.mark.parametrize("table", [(5, 0, 0, 5), (2, 0, 1, 3), (4, 0, 0, 1), (7, 1, 0, 9)])
def test_edge_of_one_task(table: Table) -> None:
    """The bound of one task is Fisher's conditional one, as scipy has it."""
    a, b, c, d = table
    exact = scipy_stats().contingency.odds_ratio([[a, b], [c, d]]).confidence_interval(0.95)
    (row,) = separators(acts([table])).values()
    assert (exact.high, row["odds_ratio_high"]) == (math.inf, None)
    assert row["odds_ratio_low"] == pytest.approx(exact.low, rel=1e-9)


@pytest.mark.parametrize(
    ("values", "p"),
    [([3.0] * 5, 2 / 2**5), ([-1.0, -1.0], 0.5), ([0.1 + 0.2, 0.3, 0.3], 0.25)],
)
def test_differences_without_spread(values: list[float], p: float) -> None:
    """Differences that are all alike are judged by their signs, and have no interval."""
    (row,) = separators(measured([([value], [0.0]) for value in values])).values()
    assert (row["p_value"], row["difference_low"], row["difference_high"]) == (p, None, None)


def test_nothing_to_tell() -> None:
    """Features that vary between tasks only have a row, no test, and no direction."""
    tables: list[Table] = [(1, 0, 1, 0), (0, 1, 0, 1)]
    found = separators([*acts(tables), *measured([([1.0], [1.0]), ([2.0], [2.0])])])
    for row in found.values():
        assert (row["n_informative"], row["p_value"], row["q_value"]) == (0, None, None)
        assert (row["direction"], row["is_separating"]) == ("none", None)


def test_sums_are_exact() -> None:
    """Sums within a task are those of exact arithmetic, whatever the order."""
    draw = random.Random(3)
    values = [draw.choice([1, 1e-3, 1e9]) * draw.uniform(-1, 1) for _ in range(300)]
    with duckdb.connect() as db:
        create_macros(db, SQL_DIR)
        for given in (values, sorted(values), [0.1, 0.2, 0.3], [1e12, 1e-3, -1e12]):
            query = "select exact_sum(v), steady_sum(v) from (select unnest(?) as v)"
            assert db.execute(query, [given]).fetchone() == (math.fsum(given),) * 2


def test_sums_of_any_size() -> None:
    """Numbers beyond what whole parts can hold are summed too, and nothing sums to nothing."""
    with duckdb.connect() as db:
        create_macros(db, SQL_DIR)
        query = "select steady_sum(v) from (select unnest(?::double[]) as v)"
        for given in ([1e300, 0.5, -1e300], [3e12, 2e12, 0.25], [-0.5, None]):
            total = math.fsum(value for value in given if value is not None)
            assert db.execute(query, [given]).fetchone() == (total,)
        assert db.execute(query, [[None]]).fetchone() == (None,)


def test_clearest_first() -> None:
    """A report has twelve features a run at most: by q, then by size, then by name."""
    seen: list[Seen] = []
    for number in range(9):
        seen += acts([(2, 0, 0, 2)] * 4, feature=f"as clear {number}")
    seen += acts([(2, 0, 0, 2)] * 9, feature="clearest")
    seen += acts([(2, 0, 0, 2)] * 4 + [(1, 0, 1, 0)], feature="a nearer one")
    seen += measured([([3.0], [1.0])] * 2 + [([3.0], [1.5])] * 2, feature="number")
    seen += acts([(1, 1, 1, 1)] * 4, feature="level")
    seen += acts([(1, 2, 1, 1)] * 4, feature="nearly level")
    seen += measured([([3.0], [1.0])], feature="untested")
    rows = list(separators(seen, EVERY["separators"].select).values())
    order = ["clearest", *(f"as clear {number}" for number in range(9)), "a nearer one"]
    assert [row["feature"] for row in rows] == [*order, "number"]
    assert [row["rank"] for row in rows] == list(range(1, 13))


@pytest.mark.slow
def test_behaviours_of_rollouts(tmp_path) -> None:
    """Only scored rollouts of sometimes-pass tasks are compared; a hostile number is no number."""
    tokens = {0: [10, 30], 1: [20, 50], 2: [5, 5]}
    rows = [
        {
            **rollout(task, index, reward=float(task == 2 or index == 0), total_run_time=seconds),
            "response": {"output": [], "usage": {"input_tokens": 1, "output_tokens": number}},
        }
        for task, numbers in tokens.items()
        for index, (number, seconds) in enumerate(zip(numbers, (1.5, 1e300), strict=True))
    ]
    files = {"x_rollouts.jsonl": [*rows, rollout(0, 2, reward=None)]}
    results = analyzed(tmp_path, files, needs=["separators"])
    found = results.rows(
        "select feature, n_tasks, n_passed, n_failed, mean_difference from separators"
    )
    assert found == [("output_tokens", 2, 2, 2, -25.0)]


N_TRIALS, N_TASKS, N_REPEATS = 2000, 30, 6


def chance_trials(seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Passes of sometimes-pass tasks, and how readily each task does what is looked at."""
    random = np.random.default_rng(seed)
    shape = (N_TRIALS, N_TASKS, N_REPEATS)
    passed = random.random(shape) < random.uniform(0.2, 0.8, size=shape[:2])[..., None]
    is_mixed = passed.any(axis=2) & ~passed.all(axis=2)
    return passed, is_mixed, random


def test_false_finds_of_behaviours() -> None:
    """A behaviour that has nothing to do with passing is found at the 5% level in about 5%."""
    passed, is_mixed, random = chance_trials(1)
    does = random.random(passed.shape) < random.uniform(0.1, 0.9, size=passed.shape[:2])[..., None]
    a, c = (does & passed).sum(axis=2), (does & ~passed).sum(axis=2)
    b, d = (~does & passed).sum(axis=2), (~does & ~passed).sum(axis=2)
    n = N_REPEATS
    variance = (a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))
    up, down, total = (
        np.where(is_mixed, part, 0).sum(axis=1) for part in (a * d / n, b * c / n, variance)
    )
    rate = (separation.association_p_value(up, down, total) <= 0.05).mean()
    assert 0.035 <= rate <= 0.065


def test_false_finds_of_numbers() -> None:
    """A number that has nothing to do with passing likewise, skewed as token counts are."""
    passed, is_mixed, random = chance_trials(2)
    value = random.lognormal(5, 1, size=passed.shape)
    n_passed = passed.sum(axis=2)
    with np.errstate(all="ignore"):
        of_passes = np.where(passed, value, 0).sum(axis=2) / n_passed
        of_failures = np.where(passed, 0, value).sum(axis=2) / (N_REPEATS - n_passed)
    difference = np.where(is_mixed, of_passes - of_failures, np.nan)
    mean, n = np.nanmean(difference, axis=1), is_mixed.sum(axis=1).astype(float)
    se = np.nanstd(difference, axis=1, ddof=1) / np.sqrt(n)
    scale = np.full(N_TRIALS, float(value.max()))
    p, _, _ = separation.paired_test(mean, se, n, scale=scale)
    assert 0.035 <= (p <= 0.05).mean() <= 0.065
