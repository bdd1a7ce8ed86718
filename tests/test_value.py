"""Ablation, retries and interventions against their definitions: random modes on random runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from tests import value_reference as reference
from tests.generated_runs import folder
from tests.rebuilt import INTERVENTIONS, Checked, random_modes, rebuilt
from tests.results import diagnosed
from tests.value_reference import UNEXPLAINED, Modes

SEED, N_RUNS = 13, 27


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checked]:
    """Random runs, alone and in suites, analysed once; modes at random."""
    files, written = folder(SEED, N_RUNS)
    results = diagnosed(tmp_path_factory.mktemp("value"), files)
    runs = {name: each.run for name, each in written.items()}
    modes = {name: random_modes(run, Random(f"modes {name}")) for name, run in runs.items()}
    with rebuilt(results.path, modes) as db:
        yield Checked(db, runs, modes)


def close(value: Any) -> Any:
    return value if value is None else pytest.approx(float(value), abs=1e-12)


def agree(found: Mapping[str, Any], expected: Mapping[str, Any], where: Any) -> None:
    """Every figure is the expected one, null for None."""
    for name, value in expected.items():
        assert found[name] == close(value), (where, name)


def test_the_runs_hold_every_case(checked: Checked) -> None:
    """One repeat and many, with and without a threshold, mixed tasks, attempts without a row."""
    runs = [run for _, run, _ in checked.settled()]
    most = {max(map(len, run.rewards().values()), default=0) for run in runs}
    assert 1 in most and max(most) > 3
    assert any(run.threshold is None for run in checked.runs.values())
    assert any(set(run.grid()) - set(run.rollouts) for run in runs)
    mixed = [v for run in runs for v in run.verdicts().values() if any(v) and not all(v)]
    assert len(mixed) > 20


def test_ablation(checked: Checked) -> None:
    """Every step counts each task's least affected attempts, ties averaged, as severity has it."""
    found = checked.rows("ablation", "run_id", "step")
    n_steps = 0
    for name, run, modes in checked.settled():
        steps = reference.ablation(run, modes)
        for step, value in steps.items():
            row = found[name, step]
            is_single = max(map(len, run.rewards().values())) == 1
            gain = None if is_single and step == "oracle" else value - steps["baseline"]
            agree(row, {"pass_at_1": value, "gain": gain}, (name, step))
            assert row["n_tasks"] == len(run.rewards()) and row["reference_run_id"] is None
            assert (row["mode"] is None) == (step.removeprefix("without ") not in INTERVENTIONS)
            n_steps += 1
    assert n_steps == sum(step != "reference run" for _, step in found) > 100


def test_ablation_order(checked: Checked) -> None:
    """Steps are numbered from 1: as it is, the modes by share, all, the oracle, another run."""
    found = checked.rows("ablation", "run_id", "step_no")
    for name, run, modes in checked.settled():
        steps = [row["step"] for (run_id, _), row in sorted(found.items()) if run_id == name]
        assert [no for run_id, no in sorted(found) if run_id == name] == list(
            range(1, len(steps) + 1)
        )
        has_repeats = max(map(len, run.rewards().values()), default=0) > 1
        names = {m.mode for matches in modes.values() for m in matches} - {UNEXPLAINED}
        ranked = sorted(names, key=lambda mode, modes=modes: rank_of(modes, mode))
        taken = [f"without {mode}" for mode in ranked] if has_repeats else []
        taken += ["without all"] if taken else []
        told = ["baseline", *taken, "oracle"] if run.rewards() else []
        assert [step for step in steps if step != "reference run"] == told
        assert "reference run" not in steps or steps[-1] == "reference run"


def test_reference_run(checked: Checked) -> None:
    """The best other run of the benchmark on the tasks both scored, against this one on them."""
    found = checked.rows("ablation", "run_id", "step")
    n_found = 0
    for name, run, _ in checked.settled():
        suite = name.split("_")[0]
        others = {
            other: pair
            for other, held in checked.runs.items()
            if other != name and other.split("_")[0] == suite and held.threshold is not None
            if (pair := reference.on_common(run, held)) is not None
        }
        row = found.get((name, "reference run"))
        assert (row is None) == (not others), name
        if row is None:
            continue
        n_common, own, theirs = others[row["reference_run_id"]]
        assert theirs == max(theirs for _, _, theirs in others.values())
        agree(row, {"pass_at_1": theirs, "gain": theirs - own, "n_tasks": n_common}, name)
        n_found += 1
    assert n_found > 5


def test_ablation_stays_below_the_oracle(checked: Checked) -> None:
    """Without failing attempts nothing is lost, and no more is gained than the best have."""
    found = checked.rows("ablation", "run_id", "step")
    for (name, step), row in found.items():
        if step == "reference run":
            continue  # another model may well do better than the best attempts of this one
        baseline, best = (found[name, other]["pass_at_1"] for other in ("baseline", "oracle"))
        assert baseline <= row["pass_at_1"] <= best + 1e-12, (name, step)
        if step.startswith("without"):
            assert row["gain"] <= found[name, "without all"]["gain"] + 1e-12


def test_selection_value(checked: Checked) -> None:
    """All figures of a k are over the tasks with so many attempts, pass@1 too."""
    found = checked.rows("selection_value", "run_id", "k")
    expected = {
        (name, k): row
        for name, run in checked.runs.items()
        for k, row in reference.selection(run).items()
    }
    assert set(found) == set(expected)
    for key, row in expected.items():
        agree(found[key], row, key)
    ragged = [key for key in found if found[key]["n_tasks"] < found[key[0], 1]["n_tasks"]]
    assert any(found[k]["pass_at_1"] != found[k[0], 1]["pass_at_1"] for k in ragged)


def test_retry_value_is_the_headline_where_no_repeat_is_lost(checked: Checked) -> None:
    """The oracle is the headline's; so is the last point where every task has as many repeats."""
    found = checked.rows("selection_value", "run_id", "k")
    steps = checked.rows("ablation", "run_id", "step")
    metrics = checked.rows("main.run_metrics", "run_id")
    n_equal = 0
    for (name,), row in metrics.items():
        if row["pass_at_1"] is not None:
            assert steps[name, "oracle"]["gain"] == close(row["retry_value"])
            if row["k_min"] == row["k_max"]:
                assert found[name, row["k"]]["retry_value"] == close(row["retry_value"])
                n_equal += 1
    assert n_equal > 5


def test_mode_value(checked: Checked) -> None:
    """Each mode's bracket weighs its attempts as the whole grid is weighed."""
    found = checked.rows("mode_value", "run_id", "mode")
    for name, run, modes in checked.settled():
        own = dict(reference.affected(run, modes, lambda match: match.mode))
        every = {match.mode for matches in modes.values() for match in matches}
        assert {mode for run_id, mode in found if run_id == name} == every
        for mode in every:
            agree(found[name, mode], reference.value(run, own.get(mode, set())), (name, mode))


def test_interventions(checked: Checked) -> None:
    """An intervention reaches all its modes at once; what has no mode has no intervention."""
    found = checked.rows("interventions", "run_id", "intervention")
    n_rows = 0
    for name, run, modes in checked.settled():
        for intervention, keys in reference.affected(run, modes, lambda match: match.intervention):
            row = found[name, intervention]
            expected = reference.value(run, keys)
            expected["baseline"] = reference.counted_as_fail(run)
            expected["n_unrecorded"] = len(keys - set(run.rollouts))
            agree(row, expected, (name, intervention))
            shares = {primary.mode: 0 for key in keys if (primary := reference.primary(modes, key))}
            order = sorted(shares, key=lambda mode: rank_of(modes, mode))
            assert row["modes"] == order
            assert row["citations"] == reference.citations(name, run, modes, keys)
            n_rows += 1
    assert n_rows == len(found) > 40


def rank_of(modes: Modes, mode: str) -> tuple[int, int, str]:
    n_primary, n_rollouts = reference.share(modes, mode)
    return -n_primary, -n_rollouts, mode


def test_interventions_are_ranked(checked: Checked) -> None:
    """The rank follows both ends of the bracket, and has no gap."""
    found = checked.rows("interventions", "run_id", "rank")
    for (name, rank), row in found.items():
        after = found.get((name, rank + 1))
        assert rank == 1 or (name, rank - 1) in found
        if after is not None:
            own, next_one = (r["gain_low"] + r["gain_high"] for r in (row, after))
            assert own >= next_one


def test_brackets_hold_together(checked: Checked) -> None:
    """The low end is not above the high; all modes gone and all passing make 1."""
    policies = checked.rows("main.denominators", "run_id", "policy")
    for row in checked.rows("interventions", "run_id", "intervention").values():
        assert 0 <= row["gain_low"] <= row["gain_high"] + 1e-12
        assert row["baseline"] == policies[row["run_id"], "counted_as_fail"]["pass_at_1"]
    total: dict[str, float] = {}
    for (name, _), row in checked.rows("mode_value", "run_id", "mode").items():
        assert 0 <= row["gain_low"] <= row["gain_high"] + 1e-12
        total[name] = total.get(name, 0) + row["gain_high"]
    for name, gains in total.items():
        assert policies[name, "counted_as_fail"]["pass_at_1"] + gains == close(1)


def test_citations_can_be_opened(checked: Checked) -> None:
    """Only rollouts that left a row are cited, none twice."""
    recorded = {
        f"{name}/{task}:{index}"
        for name, run in checked.runs.items()
        for task, index in run.rollouts
    }
    cited = [row["citations"] for row in checked.rows("interventions", "run_id", "rank").values()]
    for citations in cited:
        opened = [citation.partition("#")[0] for citation in citations]
        assert len(set(opened)) == len(opened) <= 5 and set(opened) <= recorded
    assert any("#" in citation for citations in cited for citation in citations)
    assert any(len(citations) == 5 for citations in cited)


def test_nothing_without_a_threshold(checked: Checked) -> None:
    """Where nobody said what passes there is neither ablation nor intervention; rewards remain."""
    unsettled = {name for name, run in checked.runs.items() if run.threshold is None}
    for relation in ("ablation", "mode_value", "interventions"):
        found = checked.db.execute(f"select distinct run_id from {relation}").fetchall()
        assert not unsettled & {name for (name,) in found}
    told = checked.rows("selection_value", "run_id", "k")
    for name in unsettled:
        assert told[name, 1]["best_reward"] is not None and told[name, 1]["pass_at_1"] is None
