"""The funnel: what rollouts show, and how far each of them got."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests import results
from tests.conftest import needs_corpus
from tests.fact_files import Fact, facts
from tests.generated_runs import folder
from tests.results import Results, asked, rollout, wrote

analyzed = partial(
    results.analyzed, needs=("expected", "funnel", "rollout_stages", "rollouts", "runs")
)


def check_funnels(actual: Results) -> int:
    """Hold funnels to what is true of all of them; returns how many stages there are.

    What is in order and what is not is worked out by hand in tests/cases/main.funnel.
    """
    runs: dict[str, list[tuple]] = {}
    for run, *row in actual.rows("""
        select run_id, stage, n_reached, n_lost, n_observed, n_implied, n_out_of_order, reach_rate
        from funnel order by run_id, stage_no
    """):
        runs.setdefault(run, []).append(tuple(row))
    passed = dict(actual.rows("select run_id, count(*) from rollouts where is_pass group by all"))
    ends = actual.rows("select run_id, last_stage, count(*) from rollout_stages group by all")
    n_ends = {(run, stage): n for run, stage, n in ends}
    for run, stages in runs.items():
        whole, before = stages[0][1], stages[0][1]
        # Who reached a stage ended there or reached the next.
        beyond = [stage[1] for stage in stages[1:]] + [0]
        for (stage, n, n_lost, seen, implied, odd, rate), n_next in zip(
            stages, beyond, strict=True
        ):
            assert n == seen + implied - odd == before - n_lost <= whole, (run, stage)
            assert rate == (pytest.approx(n / whole) if whole else None), (run, stage)
            assert n - n_next == n_ends.get((run, stage), 0), (run, stage)
            before = n
        if stages[-1][0] == "passed":
            assert stages[-1][3] == passed.get(run, 0), run
    return sum(map(len, runs.values()))


def test_demo_funnels(demo: Path) -> None:
    """What is reached is observed or implied, what is lost is gone, and passes are the passes."""
    assert check_funnels(Results(demo.parent)) > 20


@needs_corpus
def test_corpus_funnels(corpus: Path) -> None:
    """So it is with real results."""
    assert check_funnels(Results(corpus.parent)) > 200


@pytest.mark.slow
def test_random_funnels(tmp_path: Path) -> None:
    """So it is where rollouts are missing, unscored or were never expected."""
    files, _ = folder(7, 27)
    assert check_funnels(analyzed(tmp_path, files)) > 60


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Runs of a few rows: blank texts, outputs that were cut off, rows nobody asked for."""
    blank = [wrote(text) for text in TEXTS] + [wrote(text) + wrote("") for text in TEXTS]
    cut = {"incomplete_details": {"reason": "max_output_tokens"}}
    so_far = {"output": wrote("so far")}
    responses = [
        {**so_far, "status": "incomplete"},
        {**so_far, "status": "completed", **cut},
        {**so_far, "status": "completed"},
        {**so_far, "incomplete_details": None},
        None,
    ]
    files = {
        "blank_rollouts.jsonl": [
            rollout(n, 0, ask=f"blank {n}", reward=0.0, output=output)
            for n, output in enumerate(blank)
        ],
        "cut_rollouts.jsonl": [
            rollout(n, 0, ask=f"cut {n}", response=response) for n, response in enumerate(responses)
        ],
        "strays_rollouts.jsonl": [
            rollout(0, 0, reward=0.0),
            rollout(0, 1, reward=0.0),
            rollout(1, 1),
        ],
        "strays_rollouts_materialized_inputs.jsonl": [asked(task, 0) for task in range(2)],
    }
    return analyzed(tmp_path_factory.mktemp("small"), files)


TEXTS = ["\n", " ", "\t", " \r\n", "x"]


@facts("funnel")
def test_small(small: Results, fact: Fact) -> None:
    """As tests/facts/funnel.test says."""
    fact.check(small)
