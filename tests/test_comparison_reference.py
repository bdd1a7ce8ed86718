"""Comparisons and their ledgers against the definitions, on many random pairs of runs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pipeline.answers import gate, recomputed
from pipeline.profile.policy import Policy
from pipeline.warehouse import Warehouse, open_warehouse
from tests import comparison_reference as reference
from tests import ledger_reference
from tests.comparison_reference import Pair, Side
from tests.generated_pairs import KINDS, Settings, Written, pair, shuffled
from tests.ledger_reference import UNITS
from tests.metrics_reference import modal_repeats
from tests.results import Results, analyzed

NEEDS = (
    "comparisons comparison_tasks comparison_metrics comparison_settings ledger flips "
    "rollout_modes rollout_stages funnel run_health tasks".split()
)
RELATIONS = {
    "comparisons": "base candidate metric".split(),
    "comparison_tasks": "base candidate task_id".split(),
    "comparison_metrics": "base candidate metric".split(),
    "ledger": "base candidate metric policy ledger slice_key line effect".split(),
}
PROFILED = Settings(threshold=0.3, has_groups=True, has_gaps=True)
PROFILE = """
pass_threshold = 0.3
slices = ["category"]
fields.group = "family"
"""
MARGIN, OTHER_MARGIN = 0.02, 0.3
Row = dict[str, Any]
Rows = dict[tuple[Any, ...], Row]


@dataclass(frozen=True)
class Compared:
    """A pair, the value that each task has of a field, and the stages that both runs have."""

    pair: Pair
    slices: Mapping[str, str] | None
    stages: Sequence[str]


@dataclass(frozen=True)
class Checked:
    """Pairs by the names of their runs, and the relations that were made of them."""

    path: Path
    pairs: dict[tuple[str, str], Compared]
    rows: dict[str, Rows]
    margin: float | None


def relations(opened: Warehouse) -> dict[str, Rows]:
    """The rows of every relation by their key."""
    by_name = {}
    for relation, key in RELATIONS.items():
        rows = opened.sql(f"from {relation}").to_dicts()
        by_name[relation] = {tuple(row[name] for name in key): row for row in rows}
        assert len(by_name[relation]) == len(rows), relation
    return by_name


def checked(folder: Path, written: Sequence[Written], *, is_profiled: bool) -> Checked:
    """Analyse the pairs; with a profile their bases are named."""
    files: dict[str, Any] = {path: rows for own in written for path, rows in own.files.items()}
    names = {own.name: (f"{own.name}_base", f"{own.name}_candidate") for own in written}
    if is_profiled:
        files["blade.toml"] = PROFILE
    baselines = [base for base, _ in names.values()] if is_profiled else []
    results = analyzed(folder, files, needs=NEEDS, baselines=baselines)
    reported = _rows_by_run(results)
    pairs = {
        names[own.name]: _compared(own, names[own.name], reported, is_profiled) for own in written
    }
    with open_warehouse(results.path) as opened:
        return Checked(results.path, pairs, relations(opened), MARGIN if is_profiled else None)


def _rows_by_run(created: Results) -> dict[str, dict[str, list[Row]]]:
    """What the warehouse says of each run: primary modes, stages, and what rollouts show."""
    queries = {
        "modes": "from rollout_modes where is_primary",
        "stages": "from funnel order by run_id, stage_no",
        "facts": "from rollout_stages",
    }
    by_name: dict[str, dict[str, list[Row]]] = {name: defaultdict(list) for name in queries}
    with open_warehouse(created.path) as opened:
        for name, query in queries.items():
            for row in opened.sql(query).to_dicts():
                by_name[name][row["run_id"]].append(row)
    return by_name


def _compared(
    written: Written, runs: tuple[str, str], reported: dict[str, Any], is_profiled: bool
) -> Compared:
    numbers, others = (
        {r["stage"]: r["stage_no"] for r in reported["stages"][name]} for name in runs
    )
    # What was scored was recorded, and whether it was expected is no step.
    stages = [s for s in numbers if s in others and s not in ("expected", "recorded")]
    sides = [
        replace(
            side,
            modes={_key(row): row["mode"] for row in reported["modes"][name]},
            ends={
                _key(row): _end(side, row, [numbers[stage] for stage in stages])
                for row in reported["facts"][name]
            },
        )
        for name, side in zip(runs, written.sides, strict=True)
    ]
    actual = Pair(*sides)
    slices = {task: value for task, value in written.slices.items() if task in actual.tasks}
    # A field of one value sorts nothing, unless it is asked for.
    is_slice = bool(slices) if is_profiled else len(set(slices.values())) > 1
    return Compared(actual, slices if is_slice else None, stages)


def _key(row: Row) -> tuple[str, int]:
    return row["task_id"], row["rollout_index"]


def _end(side: Side, row: Row, numbers: list[int]) -> int:
    """After how many stages a rollout ends; a pass has gone through all."""
    reward = side.scored.get(_key(row))
    if reward is None:
        return 0
    if side.run.threshold is not None and side.run.passes(float(reward)):
        return len(numbers)
    return [*(row["facts"][number - 1] == "1" for number in numbers), False].index(False)


def seeded(seed: str, settings: Settings, *, n_pairs: int = 30, n_twins: int = 8) -> list[Written]:
    """Random pairs, the first few with a twin: the same rows in another order."""
    kinds = dict(enumerate(KINDS))
    own = [
        pair(Random(f"{seed} {n}"), f"p{n}", settings, kind=kinds.get(n)) for n in range(n_pairs)
    ]
    return [*own, *(shuffled(Random(one.name), one, f"{one.name}x") for one in own[:n_twins])]


# Profiled pairs hold all that plain ones do, and more.
PLAIN = pytest.param("plain", marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Pairs without a profile and without a baseline."""
    return checked(tmp_path_factory.mktemp("p"), seeded("plain", Settings()), is_profiled=False)


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Pairs with a threshold, groups of tasks, named slices with gaps, and baselines."""
    return checked(tmp_path_factory.mktemp("p"), seeded("profiled", PROFILED), is_profiled=True)


def compared_again(
    stored: Checked, *, is_swapped: bool, margin: float, is_named: bool
) -> dict[str, Rows]:
    """The relations that `blade compare` makes for the pairs of a warehouse."""
    benchmarks = {key[:2]: row["benchmark"] for key, row in stored.rows["comparisons"].items()}
    wanted = [
        recomputed.Pair(benchmarks[runs], *(runs[::-1] if is_swapped else runs), is_named, margin)
        for runs in stored.pairs
    ]
    with recomputed.compare(stored.path, wanted) as opened:
        return relations(opened)


@pytest.fixture(scope="module")
def swapped(profiled: Checked) -> Checked:
    """The profiled pairs, asked for the other way round and with another margin."""
    turned = {
        (candidate, base): replace(own, pair=Pair(*own.pair.sides[::-1]))
        for (base, candidate), own in profiled.pairs.items()
    }
    rows = compared_again(profiled, is_swapped=True, margin=OTHER_MARGIN, is_named=True)
    return Checked(profiled.path, turned, rows, OTHER_MARGIN)


@pytest.fixture(scope="module", params=[PLAIN, "profiled", "swapped"])
def checked_pairs(request: pytest.FixtureRequest) -> Checked:
    """Each of these."""
    own: Checked = request.getfixturevalue(request.param)
    return own


def agree(got: Mapping[str, Any], expected: Mapping[str, Any], where: Any) -> None:
    """Every figure is the expected one: null for None, numbers to 1e-9."""
    for name, value in expected.items():
        own = got[name]
        if value is None or own is None or isinstance(value, bool | str | int):
            assert own == value, (where, name, own, value)
        else:
            assert own == pytest.approx(float(value), rel=1e-9, abs=1e-9), (where, name)


def same_rows(got: Rows, expected: Mapping[tuple[Any, ...], Mapping[str, Any]]) -> None:
    """The same keys, and what is expected of each."""
    assert sorted(got.keys() - expected.keys()) == []
    assert sorted(expected.keys() - got.keys()) == []
    for key, row in expected.items():
        agree(got[key], row, key)


def check_tasks(actual: Checked) -> None:
    expected = {
        (*runs, task): row
        for runs, own in actual.pairs.items()
        for task, row in reference.comparison_tasks(own.pair).items()
    }
    same_rows(actual.rows["comparison_tasks"], expected)


def check_comparisons(actual: Checked) -> None:
    expected = {}
    for runs, own in actual.pairs.items():
        for metric in reference.METRICS if own.pair.is_settled() else ("mean_reward",):
            row = reference.comparison(own.pair, metric)
            got = actual.rows["comparisons"][*runs, metric]
            p_values = (got["p_mean"], got["p_any"])
            is_named = actual.margin is not None
            reported = reference.verdict(own.pair, metric, p_values, actual.margin or 0.02)
            row |= {"could_reverse": reported[1], "is_named": is_named}
            row["verdict"] = reported[0] if is_named else None
            by_holm = reference.verdict(own.pair, metric, [got["p_holm"]], actual.margin or 0.02)
            row["verdict_holm"] = by_holm[0] if is_named else None
            expected[*runs, metric] = row
    same_rows(actual.rows["comparisons"], expected)


def check_p_values(actual: Checked) -> None:
    for (*runs, metric), row in actual.rows["comparisons"].items():
        own = actual.pairs[runs[0], runs[1]].pair
        mean, method = reference.p_mean(own, metric)
        assert row["test"] == method
        assert (row["p_any"] is None) == (not own.common)
        for name, p, n_draws in (
            ("p_mean", mean, row["n_draws"]),
            ("p_any", reference.p_any(own, metric), row["n_draws_any"]),
        ):
            if p is not None:
                slack = 5 * math.sqrt(p * (1 - p) / n_draws) + 1 / n_draws if n_draws else 1e-9
                assert row[name] == pytest.approx(p, abs=slack), (runs, metric, name)


def check_holm(actual: Checked) -> None:
    """Over all candidates of all benchmarks, by the metric that decides, where a base is named."""
    for is_lead in (True, False):
        rows = [row for row in actual.rows["comparisons"].values() if row["is_lead"] == is_lead]
        tested = [
            (max(row["p_mean"], row["p_any"]), row) for row in rows if row["p_mean"] is not None
        ]
        tested.sort(key=lambda each: each[0])
        largest = 0.0
        for place, (p_value, row) in enumerate(tested):
            largest = max(largest, min((len(tested) - place) * p_value, 1))
            assert row["p_holm"] == (pytest.approx(largest) if row["is_named"] else None)


def check_metrics(actual: Checked) -> None:
    expected = {
        (*runs, metric): row
        for runs, own in actual.pairs.items()
        for metric, row in reference.metrics(own.pair).items()
    }
    rows = actual.rows["comparison_metrics"]
    # Health is another matter; it must only be there.
    clean = {key: row for key, row in rows.items() if key[2] == "clean_rate"}
    assert {key[:2] for key in clean} == actual.pairs.keys()
    for row in clean.values():
        assert row["delta"] == row["candidate_value"] - row["base_value"]
    same_rows({key: row for key, row in rows.items() if key not in clean}, expected)


def check_ledgers(actual: Checked) -> None:
    expected = {}
    for runs, own in actual.pairs.items():
        lines, totals = ledger_reference.ledgers(own.pair, own.slices, own.stages)
        for key, line in lines.items():
            n_noise, noise = line.noise or (None, None)
            expected[*runs, *key] = {
                "amount": line.amount,
                "n_tasks": line.n_tasks,
                "ci_low": line.ci[0],
                "ci_high": line.ci[1],
                "n_tasks_by_noise": n_noise,
                "amount_by_noise": noise,
                "is_reversal": line.is_reversal,
                "total": totals[key[:3]],
            }
    same_rows(actual.rows["ledger"], expected)


def check_sums(actual: Checked) -> None:
    ledgers: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for key, row in actual.rows["ledger"].items():
        ledgers[key[:6]].append(row)
    for key, lines in ledgers.items():
        unit = UNITS[key[2]]
        (total,) = {row["total"] for row in lines}
        (total_shown,) = {row["total_shown"] for row in lines}
        assert math.fsum(row["amount"] for row in lines) == pytest.approx(total, abs=1e-9), key
        shown = [round(row["shown"] * unit) for row in lines]
        assert [number / unit for number in shown] == [row["shown"] for row in lines], key
        assert sum(shown) / unit == total_shown, key
        assert abs(total_shown - total) * unit <= 0.5 + 1e-9, key
        assert max(abs(row["shown"] - row["amount"]) for row in lines) < 1 / unit, key
        assert sorted(row["line_no"] for row in lines) == list(range(1, len(lines) + 1)), key


CHECKS = (
    check_tasks,
    check_comparisons,
    check_p_values,
    check_holm,
    check_metrics,
    check_ledgers,
    check_sums,
)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_definitions(check: Callable[[Checked], None], checked_pairs: Checked) -> None:
    """Every relation of every pair is what its definition gives."""
    check(checked_pairs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "profiled"])
def test_what_a_gate_goes_by(name: str, request: pytest.FixtureRequest) -> None:
    """A policy goes by what the verdict goes by: missing as failures, bounds, unseen tasks."""
    stored: Checked = request.getfixturevalue(name)
    chosen = {runs: own for runs, own in list(stored.pairs.items())[5:20] if own.pair.paired}
    query = [recomputed.Pair("x", *runs, is_named=True, margin=MARGIN) for runs in chosen]
    with recomputed.compare(stored.path, query) as opened:
        measured = gate.measured(opened, Policy("p", ()), query)
    for runs, own in chosen.items():
        rows = {each.metric: each for each in measured[runs]}
        for metric in reference.METRICS if own.pair.is_settled() else ["mean_reward"]:
            change, reported = rows[metric], reference.comparison(own.pair, metric)
            agree(vars(change), {"delta": reported["delta_counted_as_fail"]}, runs)
            assert change.n_tasks == len(own.pair.paired)
            assert change.n_unshared == len(reference.lost(own.pair))
            every = reference.every_end(own.pair, metric)
            if None in every:
                assert change.evidence(0.95).verdict(MARGIN) == "inconclusive"
                continue
            for place, got in enumerate((change.interval, change.bounds, change.with_unseen)):
                ends = [each[place] for each in every if each is not None]
                expected = min(low for low, _ in ends), max(high for _, high in ends)
                assert got == pytest.approx(expected, abs=1e-9), (runs, metric)


@pytest.mark.slow
def test_on_these_tasks(checked_pairs: Checked) -> None:
    """The second sentence: the interval of the same tasks, else a test within them, by repeats."""
    for key, row in checked_pairs.rows["comparisons"].items():
        low, high, p_value = row["ci_same_tasks_low"], row["ci_same_tasks_high"], row["p_any"]
        pair = checked_pairs.pairs[key[:2]].pair
        n_repeated = sum(all(len(s.rewards(t)) > 1 for s in pair.sides) for t in pair.common)
        if row["se_same_tasks"] is None or 10 * n_repeated < len(pair.common):
            assert row["on_these_tasks"] is None, key
            continue
        is_clear = p_value <= 0.05 if low is None else low > 0 or high < 0
        reported = ("higher" if row["delta"] > 0 else "lower") if is_clear else "not significant"
        assert row["on_these_tasks"] == reported, key


@pytest.mark.slow
def test_every_case_is_there(plain: Checked, profiled: Checked) -> None:
    """The pairs hold what a comparison may meet."""
    for actual in (plain, profiled):
        pairs = [own.pair for own in actual.pairs.values()]
        states = {own.pairing(task) for own in pairs for task in own.tasks}
        assert states == {
            *("verified", "unverified", "contradicted"),
            *("base only", "candidate only"),
        }
        sizes = {len(own.common) for own in pairs}
        assert {0, 1} <= sizes and max(sizes) > 20
        assert any(len(own.common) < len(own.paired) for own in pairs)
        assert any(own.base.run == own.candidate.run for own in pairs)
        ends = {s.run.outcome(key) for own in pairs for s in own.sides for key in s.run.grid()}
        assert ends == {"scored", "unscored", "failed attempt", "missing"}
        assert len({tuple(s.run.expected is None for s in own.sides) for own in pairs}) == 4
        assert any(modal_repeats(s.run) == 1 for own in pairs for s in own.sides)
        assert {own.base.run.is_bounded for own in pairs} == {True, False}
        rows = actual.rows["comparisons"].values()
        assert any(row["ci_same_tasks_low"] is not None for row in rows)
        assert {row["is_lead"] for row in rows if row["metric"] == "mean_reward"} == {True, False}
        assert any(row["is_reversal"] for row in actual.rows["ledger"].values())
    assert {own.pair.is_settled() for own in plain.pairs.values()} == {True, False}
    tests = {
        row["test"] for actual in (plain, profiled) for row in actual.rows["comparisons"].values()
    }
    assert tests == {None, "signs of tasks", "signs of groups", "t of tasks' differences"}
    policies = {key[3] for key in profiled.rows["ledger"]}
    assert policies == {"dropped", "counted_as_fail"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [PLAIN, "profiled"])
def test_asked_for(name: str, request: pytest.FixtureRequest) -> None:
    """`blade compare BASE CANDIDATE` tells what the analysis stored, to the last digit."""
    stored: Checked = request.getfixturevalue(name)
    is_named = stored.margin is not None
    rows = compared_again(stored, is_swapped=False, margin=MARGIN, is_named=is_named)
    for relation, own in stored.rows.items():
        assert own.keys() == rows[relation].keys()
        for key, row in own.items():
            # The first pair asked for is the first.
            assert without(rows[relation][key], "pair_no") == without(row, "pair_no"), key


def without(row: Row, column: str) -> Row:
    return {name: value for name, value in row.items() if name != column}


@pytest.mark.slow
def test_order_of_rows(plain: Checked, profiled: Checked) -> None:
    """A pair whose rows stand in another order gives the same, to the last digit."""
    for actual in (plain, profiled):
        twins = [base.removesuffix("_base") for base, _ in actual.pairs if base.endswith("x_base")]
        assert len(twins) == 8
        for twin in twins:
            for relation in RELATIONS:
                own = printed_rows(actual, relation, twin.removesuffix("x"))
                assert own == printed_rows(actual, relation, twin), (twin, relation)


def printed_rows(actual: Checked, relation: str, name: str) -> list[str]:
    """A pair's rows without its name."""
    rows = [row for key, row in actual.rows[relation].items() if key[0] == f"{name}_base"]
    return sorted(repr(row).replace(f"'{name}'", "''").replace(f"'{name}_", "'") for row in rows)
