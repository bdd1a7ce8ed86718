"""What was planted between two runs is found again: its verdict, its size, and its cause first."""

from __future__ import annotations

import json

import pytest

from tests.planted_pairs import BASE, PLANTED, Planted, every_run, files
from tests.results import Row, analyzed, call

# 100 tasks, 8 repeats: two standard errors of a change, three of a part of it, are less.
NEAR = 0.05
CALLED = ("improved", "regressed")
# What `blade compare` goes by, of all that an analysis makes.
NEEDED = (
    "comparisons comparison_tasks comparison_metrics comparison_settings ledger flips run_health "
    "run_metrics runs tasks".split()
)


# Dozens of runs of a hundred tasks: they take longer than all else.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """Every planted run against the same base by pass@1, as `blade compare --json` tells it."""
    rows = files(every_run(n_same=3), seed=1)
    # With a baseline there are fewer pairs, which are then made once more.
    folder = tmp_path_factory.mktemp("planted")
    results = analyzed(folder, rows, needs=NEEDED, baselines=[BASE])
    outcome = call("compare", BASE, "--json", "--warehouse", results.path)
    assert outcome.code == 0, outcome.stderr
    return {
        row["candidate"].removeprefix("desk_"): row
        for row in json.loads(outcome.stdout)["comparisons"]
        if row["metric"] == "pass_at_1"
    }


def change_and_lines(planted: Planted, reported: Row) -> tuple[float, list[Row]]:
    """The change that the ledger which should name it explains, and its lines, largest first."""
    ledger = reported["ledgers"][planted.ledger.replace(" ", "_")]
    if planted.ledger == "slices":
        ledger = ledger["category"]
    change = reported["total_change" if planted.ledger == "task mix" else "delta"]
    return change, sorted(ledger["lines"], key=lambda line: -abs(line["amount"]))


@pytest.mark.parametrize("name", PLANTED)
def test_planted_verdict(name: str, compared: dict[str, Row]) -> None:
    """What was made worse regressed, what was mended improved; other tasks change no verdict."""
    assert compared[name]["verdict"] in PLANTED[name].verdicts


@pytest.mark.parametrize("name", PLANTED)
def test_planted_cause_is_the_top_line(name: str, compared: dict[str, Row]) -> None:
    """The ledger's largest line is what was planted, by its size; all others are near 0."""
    planted = PLANTED[name]
    change, (top, *others) = change_and_lines(planted, compared[name])
    assert change == pytest.approx(planted.size, abs=NEAR)
    assert top["line"] == planted.line
    assert top["amount"] == pytest.approx(planted.size, abs=NEAR)
    for line in others:
        assert line["amount"] == pytest.approx(0, abs=NEAR), line["line"]


@pytest.mark.parametrize("name", PLANTED)
def test_example_shows_the_planted_cause(name: str, compared: dict[str, Row]) -> None:
    """The line cites a rollout of the run that has it: of a mode that was mended, the base's."""
    planted = PLANTED[name]
    if planted.ledger == "funnel":
        pytest.skip("a step of the funnel cites no rollout")
    run = BASE if planted.size > 0 else f"desk_{name}"
    assert change_and_lines(planted, compared[name])[1][0]["example"].startswith(f"{run}/")


def test_lines_cite_what_went_their_way(compared: dict[str, Row]) -> None:
    """What a mode gave or took, one of its rollouts shows: the base's, or the candidate's."""
    for name in (*PLANTED, "fewer", "same_0", "same_1", "same_2"):
        for line in compared[name]["ledgers"]["failure_modes"]["lines"]:
            run = BASE if line["amount"] > 0 else f"desk_{name}"
            assert line["amount"] == 0 or line["example"].startswith(f"{run}/")


def test_nothing_planted_is_not_called(compared: dict[str, Row]) -> None:
    """Runs drawn alike are neither better nor worse, by any mode, nor with fewer repeats."""
    alike = [compared[name] for name in compared if name.startswith(("same", "fewer", "whole"))]
    assert [each["verdict"] for each in alike if each["verdict"] in CALLED] == []
    for each in alike:
        for line in each["ledgers"]["failure_modes"]["lines"]:
            assert line["amount"] == pytest.approx(0, abs=NEAR)
