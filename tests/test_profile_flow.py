"""What a blade.toml says is what an analysis does; what is wrong in it is refused, by key."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import pipeline
from pipeline.profile import ROLLOUT_COLUMNS
from tests import results
from tests.case_files import cases
from tests.fact_files import fact
from tests.lean import CHECKED, only
from tests.results import Content, Results, asked, call, called, rollout, rows_of, write

analyzed = partial(results.analyzed, needs=("rollouts", "runs", "expected"))

ROWS = [
    rollout(
        task,
        index,
        ask=f"q{task}",
        reward=float(index),
        score={"points": 10.0 * task + index},
        instance={"id": f"i{task}", "repo": "ab"[task // 2]},
        choice="XY"[index],
        hard=f"h{task % 2}",
        reward_components={"style": 0.5 * index},
    )
    for task in range(4)
    for index in range(2)
]


def with_profile(folder: Path, text: str, rows: Content = ROWS, **options: Any) -> Results:
    """The rows analysed with a profile beside them."""
    return analyzed(folder, {"a_rollouts.jsonl": rows, "blade.toml": text}, **options)


@pytest.mark.slow
def test_the_command_line_has_the_last_word(tmp_path: Path) -> None:
    """--benchmark and --pass-threshold go before the profile; --profile before the one beside."""
    other = tmp_path / "other.toml"
    other.write_text('benchmark = "other"\npass_threshold = 0.0\n')
    results = with_profile(
        tmp_path, 'benchmark = "beside"\n', profile=other, benchmark="named", pass_threshold=0.5
    )
    assert results.rows("select benchmark, pass_threshold from runs") == [("named", 0.5)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["settings"]["profile"]["path"] == "other.toml"


FLOWS = [
    pytest.param(flow, id=flow["says"], marks=() if "is_quick" in flow else pytest.mark.slow)
    for flow in cases("profile_flow", "flows")
]


@pytest.mark.parametrize("flow", FLOWS)
def test_what_a_profile_says_is_done(tmp_path: Path, flow: dict[str, str]) -> None:
    """As tests/cases/profile_flow.toml has it."""
    actual = with_profile(tmp_path, flow["profile"], needs=flow["needs"].split())
    fact(flow["says"], flow["asks"]).check(actual)


@pytest.mark.slow
def test_rows_with_nothing_but_the_named_reward_are_rollouts(tmp_path: Path) -> None:
    """Neither `reward` nor `response`: without the profile they would be inputs."""
    rows = [asked(0, 0, grade=1), asked(1, 0, grade=0), asked(2, 0)]
    rows_of = {"a_rollouts.jsonl": rows, "blade.toml": '[fields]\nreward = "grade"\n'}
    results = analyzed(tmp_path, rows_of)
    assert results.rows("select task_id, reward from rollouts order by all") == [
        ("0", 1.0),
        ("1", 0.0),
    ]


@pytest.mark.slow
def test_a_nested_field_may_have_any_name(tmp_path: Path) -> None:
    """However long its path is, it is looked up, and nothing else is."""
    rows = [{**row, "verifier_metadata": {"difficulty_level": "x"}} for row in ROWS]
    profile = '[fields]\ngroup = "verifier_metadata.difficulty_level"\n'
    assert with_profile(tmp_path, profile, rows).rows("select count(*) from rollouts") == [(8,)]


@pytest.mark.slow
def test_inputs_say_better_what_is_expected(tmp_path: Path) -> None:
    """Where there are materialized inputs the profile's numbers are not used."""
    files = {
        "a_rollouts.jsonl": [rollout(0, 0)],
        "a_rollouts_materialized_inputs.jsonl": [asked(0, 0), asked(1, 0)],
        "blade.toml": "[expected]\ntasks = 9\nrepeats = 9\n",
    }
    results = analyzed(tmp_path, files)
    assert results.rows("select n_expected, expected_source from runs") == [(2, "inputs")]


@pytest.mark.slow
def test_repeats_with_other_numbers_are_the_expected_ones(tmp_path: Path) -> None:
    """Rollouts 8 and 13 of four repeats: the two that are not there get the lowest free numbers."""
    rows = [rollout(0, 8), rollout(0, 13)]
    results = with_profile(tmp_path, "[expected]\nrepeats = 4\n", rows)
    assert results.column("select rollout_index from expected order by all") == [0, 1, 8, 13]


def test_predicates_see_the_columns_of_rollouts(demo: Path) -> None:
    """The columns a predicate is checked against are those of the relation."""
    rows = rows_of(demo, "describe rollouts")
    assert {name: type_ for name, type_, *_ in rows} == ROLLOUT_COLUMNS


@pytest.mark.parametrize(
    ("profile", "message", "hint"), cases("profile_flow", "what_is_wrong_is_reported_with_its_key")
)
def test_what_is_wrong_is_reported_with_its_key(
    tmp_path: Path, profile: str, message: str, hint: str
) -> None:
    """Exit code 2, the key, what is allowed; and no output is written."""
    folder = write(tmp_path / "results", {"a_rollouts.jsonl": ROWS, "blade.toml": profile})
    outcome = call("analyze", folder, "--out", tmp_path / "out")
    assert (outcome.code, outcome.stdout) == (2, "")
    assert f"blade.toml{message}" in outcome.stderr and hint in outcome.stderr
    assert not (tmp_path / "out" / "warehouse.duckdb").exists()


def test_predicates_are_checked_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is loaded for a profile that cannot be used."""

    def read(*_: object, **__: object) -> None:
        raise AssertionError("rows were read")

    monkeypatch.setattr("pipeline.ingest.load.artifacts", read)
    with pytest.raises(pipeline.UsageError):
        with_profile(tmp_path, '[[funnel]]\nstage = "x"\nwhen = "1"\n')


@pytest.mark.slow
def test_profiles_that_do_not_count(tmp_path: Path) -> None:
    """One deeper down is listed and not read; two beside the results are refused."""
    deeper = {"a_rollouts.jsonl": ROWS, "deep/blade.toml": 'benchmark = "no"\n'}
    results = analyzed(tmp_path / "one", deeper)
    assert results.rows("select benchmark from runs") == [("a",)]
    assert results.rows("select kind from artifacts where path = 'deep/blade.toml'") == [
        ("profile",)
    ]
    folders = [
        write(tmp_path / name, {f"{name}_rollouts.jsonl": ROWS, "blade.toml": ""}) for name in "xy"
    ]
    outcome = call("analyze", *folders, "--out", tmp_path / "out")
    assert (
        outcome.code == 2
        and "several blade.toml" in outcome.stderr
        and "--profile" in outcome.stderr
    )


@pytest.mark.slow
def test_a_file_named_alone_has_its_profile_beside_it(tmp_path: Path) -> None:
    """As it has its sidecars."""
    folder = write(tmp_path, {"a_rollouts.jsonl": ROWS, "blade.toml": 'benchmark = "b"\n'})
    with only("runs"):
        out = pipeline.analyze(folder / "a_rollouts.jsonl", out=tmp_path / "out").out
    assert Results(out).column("select benchmark from runs") == ["b"]


@pytest.mark.slow
def test_unsettled_rewards_say_the_line_to_add(tmp_path: Path) -> None:
    """And that line settles them."""
    rows = [rollout(task, 0, reward=float(2 * task)) for task in range(3)]
    folder = write(tmp_path / "results", {"a_rollouts.jsonl": rows})
    with only(*CHECKED):
        (warning,) = pipeline.analyze(folder, out=tmp_path / "out").warnings
    assert "pass_threshold = NUMBER" in f"{warning.message} {warning.hint}"
    (folder / "blade.toml").write_text("pass_threshold = 4\n")
    with only("run_metrics"):
        pipeline.analyze(folder, out=tmp_path / "out")
    assert Results(tmp_path / "out").one("select pass_at_1 from run_metrics") == pytest.approx(
        1 / 3
    )


@pytest.mark.slow
def test_a_column_of_nulls_can_be_compared(tmp_path: Path) -> None:
    """An optimizer of the engine fails on it; it is off, in the build and for readers."""
    profile = """
        [[funnel]]
        stage = "x"
        when = "case when agent is not null then 'a' end = 'x'"
    """
    results = with_profile(tmp_path, profile, needs=["rollouts", "funnel"])
    query = "select count(*) from rollouts where case when agent is not null then 'a' end = 'x'"
    assert results.one(query) == 0
    with duckdb.connect(str(results.path), read_only=True) as plain, pytest.raises(duckdb.Error):
        plain.execute(query)


def test_a_mode_may_ask_which_tools_answered(tmp_path: Path) -> None:
    """A call that was answered with an error, or not at all, is none that a tool accepted."""
    attempts = [
        [*called("search", {}, "ok"), *called("book", {}, "Error: no seat")],
        [*called("search", {}, "ok"), *called("book", {}, None)],
        [*called("book", {}, "Error: no seat"), *called("book", {}, "ok")],
        [],
    ]
    rows = [rollout(task, 0, reward=0.0, output=output) for task, output in enumerate(attempts)]
    actual = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, needs=["rollout_features"])
    answered = actual.column("select answered_tools from rollout_features order by task_id")
    assert answered == [["search"], ["search"], ["book"], []]
