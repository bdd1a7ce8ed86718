"""What modes are worth, and whom a run is held against, on runs small enough to see through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.generated_runs import scored
from tests.rebuilt import Checked, rebuilt
from tests.results import diagnosed
from tests.value_reference import Match, Modes


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checked]:
    """A run that fails a task always in one way; two runs of which one asks something else."""
    files = {
        "alone_rollouts.jsonl": [
            *scored(0, [0.0, 0.0], suite="alone"),
            *scored(1, [1.0, 1.0], suite="alone"),
        ],
        "pair_a_rollouts.jsonl": [row for task in range(4) for row in scored(task, [0.0, 1.0])],
        "pair_b_rollouts.jsonl": [
            *(row for task in range(3) for row in scored(task, [1.0, 1.0])),
            *scored(3, [1.0, 1.0], suite="elsewhere"),
        ],
    }
    results = diagnosed(tmp_path_factory.mktemp("by_hand"), files)
    loop = [Match("LOOP", 2, "harness", is_primary=True)]
    modes: dict[str, Modes] = {"alone": {("0", 0): loop, ("0", 1): loop}}
    with rebuilt(results.path, modes) as db:
        yield Checked(db, {}, modes)


def test_a_mode_of_every_attempt_shows_no_ablation_gain(by_hand: Checked) -> None:
    """Where a mode is in all attempts of a task that never passes, only the bracket shows it."""
    steps = by_hand.rows("ablation", "run_id", "step")
    gains = [steps["alone", step]["gain"] for step in ("without LOOP", "without all", "oracle")]
    assert gains == [0, 0, 0]
    row = by_hand.rows("interventions", "run_id", "intervention")["alone", "harness"]
    assert (row["gain_low"], row["gain_high"]) == (0, 0.5)


def test_a_reference_asks_the_same(by_hand: Checked) -> None:
    """A task is compared only with runs that ask the same question under its id."""
    found = by_hand.rows("ablation", "run_id", "step")
    told = [found[name, "reference run"] for name in ("pair_a", "pair_b")]
    assert [row["reference_run_id"] for row in told] == ["pair_b", "pair_a"]
    assert [(row["n_tasks"], row["pass_at_1"], row["gain"]) for row in told] == [
        (3, 1, 0.5),
        (3, 0.5, -0.5),
    ]
    assert ("alone", "reference run") not in found
