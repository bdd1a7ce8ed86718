"""The relations of metrics against their definitions, on many random runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tests import metrics_reference as reference
from tests import uncertainty_reference
from tests.generated_runs import Written, folder
from tests.lean import LOADED, METRICS
from tests.reference_run import Run
from tests.results import Results, analyzed

SEED, N_RUNS = 21, 36
NAMED_INTERVALS = ("ci_new_tasks", "ci_same_tasks")
Rows = dict[tuple[Any, ...], dict[str, Any]]


class Checked:
    """An analysed folder of random runs, with what each run is by definition."""

    def __init__(self, results: Results, runs: Mapping[str, Written]) -> None:
        self.results = results
        self.runs = {name: written.run for name, written in runs.items()}
        self.slices = {name: written.slices for name, written in runs.items()}

    def rows(self, relation: str, *key: str) -> Rows:
        """The rows of a relation by their key."""
        names = [
            row[0] for row in self.results.rows(f"select column_name from (describe {relation})")
        ]
        found = [
            dict(zip(names, row, strict=True)) for row in self.results.rows(f"from {relation}")
        ]
        return {tuple(row[name] for name in key): row for row in found}

    def suites(self) -> Iterator[tuple[str, dict[str, Run]]]:
        """Benchmarks with their runs; a run alone is a benchmark of its own."""
        together: dict[str, dict[str, Run]] = defaultdict(dict)
        for name, run in self.runs.items():
            together[name.split("_")[0]][name] = run
        yield from together.items()


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Random runs, analysed once."""
    files, runs = folder(SEED, N_RUNS)
    made = analyzed(tmp_path_factory.mktemp("metrics"), files, needs=(*LOADED, *METRICS))
    return Checked(made, runs)


def agree(found: Mapping[str, Any], expected: Mapping[str, Any], where: Any) -> None:
    """Every figure is the expected one: null for None, numbers to the last digits."""
    for name, value in expected.items():
        got = found[name]
        if value is None or got is None or isinstance(value, bool | str | dict):
            assert got == value, (where, name)
        else:
            tolerance = 1e-9 if "se_" in name or "ci_" in name else 1e-12
            # The root of a difference that is 0 but for the last digit.
            tolerance = 1e-8 if "se_with" in name else tolerance
            close = pytest.approx(float(value), rel=tolerance, abs=tolerance)
            assert float(got) == close, (where, name)


def test_the_runs_hold_every_case(checked: Checked) -> None:
    """One task and many, one repeat, ragged repeats, with and without expectation or threshold."""
    runs = checked.runs.values()
    repeats = [sorted(map(len, run.rewards().values())) for run in runs]
    ends = {run.outcome(key) for run in runs for key in run.grid() if run.expected is not None}
    assert ends == {"scored", "unscored", "failed attempt", "missing"}
    assert any(len(run.tasks()) == 1 for run in runs) and any(len(run.tasks()) > 15 for run in runs)
    assert any(found and found[-1] == 1 for found in repeats)
    assert any(found and found[0] < found[-1] for found in repeats)
    assert {run.threshold for run in runs} == {1.0, None}
    assert any(run.votes() for run in runs) and not all(run.votes() for run in runs)
    assert any(run.expected and set(run.rollouts) - run.expected for run in runs)
    lost = {run.failures[key] for run in runs for key in run.failures if key not in run.rollouts}
    assert len(lost) == 7
    assert any(
        e.n_mixed_tasks >= 10 for run in runs for e in uncertainty_reference.estimates(run).values()
    )


def test_run_metrics(checked: Checked) -> None:
    """Every headline figure and count is what its definition gives."""
    found = checked.rows("run_metrics", "run_id")
    assert {run_id for (run_id,) in found} == set(checked.runs)
    for name, run in checked.runs.items():
        row = found[name,]
        agree(row, reference.run_metrics(run), name)
        estimates = uncertainty_reference.estimates(run)
        for column, estimate in (
            ("pass_at_1", estimates.get(("pass_at", 1))),
            ("mean_reward", estimates.get(("mean_reward", 1))),
        ):
            expected = {
                f"{column}_{part}": value
                for part, value in flat(estimate).items()
                if f"{column}_{part}" in row
            }
            agree(row, expected, name)
        k = reference.modal_repeats(run)
        hat = estimates.get(("pass_hat", k or 0))
        agree(row, {"pass_hat_k": hat.value if hat else None}, name)


def flat(estimate: uncertainty_reference.Estimate | None) -> dict[str, Any]:
    """An estimate by the names of its columns; none is undefined in every one."""
    columns: dict[str, Any] = {}
    for name in ("value", "n_tasks", "n_mixed_tasks", "n_groups", "se_new_tasks", "se_same_tasks"):
        columns[name] = getattr(estimate, name, None)
    for name in NAMED_INTERVALS:
        low, high = getattr(estimate, name, (None, None))
        columns |= {f"{name}_low": low, f"{name}_high": high}
    return columns


def estimated(run: Run) -> dict[tuple[str, int], dict[str, Any]]:
    return {key: flat(found) for key, found in uncertainty_reference.estimates(run).items()}


# The key of each relation within a run, and what it holds by definition.
BY_RUN: dict[str, tuple[str, Callable[[Run], Mapping[Any, Mapping[str, Any]]]]] = {
    "pass_curve": ("k", reference.curve),
    "task_outcomes": ("task_id", reference.task_outcomes),
    "bucket_counts": ("bucket", reference.bucket_counts),
    "denominators": ("policy", reference.denominators),
    "estimates": ("metric k", estimated),
    "resource_stats": ("outcome measure", reference.resource_stats),
    "reward_components": ("component", reference.reward_components),
}


@pytest.mark.parametrize("relation", BY_RUN)
def test_definitions(checked: Checked, relation: str) -> None:
    """Every row is what its definition gives, by counting subsets, and there is no other row."""
    names, defined = BY_RUN[relation]
    found = checked.rows(relation, "run_id", *names.split())
    expected = {
        (name, *(key if isinstance(key, tuple) else (key,))): row
        for name, run in checked.runs.items()
        for key, row in defined(run).items()
    }
    assert set(found) == set(expected)
    for key, row in expected.items():
        agree(found[key], row, key)


def test_bucket_matrix(checked: Checked) -> None:
    """A task's bucket over all runs of its benchmark is as defined, missing ones included."""
    found = checked.rows("bucket_matrix", "benchmark", "task_id")
    n_rows = 0
    for benchmark, runs in checked.suites():
        for task, row in reference.bucket_matrix(runs).items():
            got = found[benchmark, task]
            agree(got, row, (benchmark, task))
            n_rows += 1
    assert n_rows == len(found)


def test_inferred_missing(checked: Checked) -> None:
    """A run that says nothing of its tasks lacks what its benchmark has, where it covers half."""
    found = checked.rows("run_metrics", "run_id")
    for _, runs in checked.suites():
        union = {task for run in runs.values() for task in run.tasks()}
        for name, run in runs.items():
            own = run.tasks()
            lacks = (
                0
                if run.expected is not None or 2 * len(own) < len(union)
                else len(union) - len(own)
            )
            assert found[name,]["n_inferred_missing_tasks"] == lacks, name


def test_slice_metrics(checked: Checked) -> None:
    """A slice's figures are those of a run that holds its tasks alone."""
    found = checked.rows("slice_metrics", "run_id", "slice_key", "slice_value")
    n_rows = 0
    for _, runs in checked.suites():
        tasks = {(name, task) for name, run in runs.items() for task in run.tasks()}
        values = {checked.slices[name][task] for name, task in tasks}
        if len(values) < 2:
            continue  # one value sorts nothing
        for name, run in runs.items():
            own = checked.slices[name]
            for value in sorted({own[task] for task in run.tasks()}):
                part = run.only(task for task in run.tasks() if own[task] == value)
                agree(found[name, "category", value], slice_figures(part), (name, value))
                n_rows += 1
    assert n_rows == len(found)


def slice_figures(part: Run) -> dict[str, Any]:
    """What slice_metrics says of a run cut down to a slice."""
    figures = reference.run_metrics(part)
    columns = flat(uncertainty_reference.estimates(part).get(("pass_at", 1)))
    names = "n_tasks n_scored_tasks n_rollouts n_scored n_passed pass_at_1 mean_reward".split()
    return {
        **{name: figures[name] for name in names},
        **{n: columns[n] for n in ("se_new_tasks", "ci_new_tasks_low", "ci_new_tasks_high")},
        **{f"n_{name}": figures[f"n_{name}_tasks"] for name in reference.BUCKETS},
    }
