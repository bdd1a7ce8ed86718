"""The run that others are held against: how it is named, written down, and what it decides."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

import pipeline
from pipeline.answers.recomputed import COMPARED
from pipeline.errors import InputError, UsageError
from pipeline.profile import Profile, read
from pipeline.provenance import command
from pipeline.settings import Settings
from tests.lean import CHECKED, only
from tests.results import Content, Results, analyzed, call, rollout


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs a benchmark, the baseline of one in the profile; one has rewards without bounds."""
    files: dict[str, Content] = {
        f"{benchmark}_{model}_rollouts.jsonl": [
            rollout(task, index, ask=f"{benchmark} {task}", reward=float(task + index < limit))
            for task in range(4)
            for index in range(2)
        ]
        for benchmark in ("hills", "lakes")
        for model, limit in (("new", 3), ("old", 2))
    }
    files |= {
        f"seas_{model}_rollouts.jsonl": [
            rollout(task, index, ask=f"seas {task}", reward=9.0 + task)
            for task in range(4)
            for index in range(2 if task else n_first)
        ]
        for model, n_first in (("new", 1), ("old", 2))
    }
    files["blade.toml"] = 'baseline = ["hills_old", "nobody"]\n'
    return analyzed(tmp_path_factory.mktemp("baseline"), files, needs=COMPARED).path


@pytest.mark.slow
def test_the_baseline_of_the_profile_is_the_base(warehouse: Path) -> None:
    """Without a name: a verdict against the baseline, a matrix of the benchmark without one."""
    output = call("compare", "--warehouse", warehouse, "--json").stdout
    actual = [
        (each["base"], each["candidate"], each["verdict"], each["margin"])
        for each in json.loads(output)["comparisons"]
        if each["is_lead"]
    ]
    assert actual == [
        ("hills_old", "hills_new", "inconclusive", 0.02),
        ("lakes_new", "lakes_old", None, 0.02),
        ("seas_new", "seas_old", None, 0.02),
    ]
    page = call("compare", "--warehouse", warehouse).stdout
    assert "hills_new vs hills_old" in page
    assert "lakes_new   lakes_old" in page and "so there is no verdict" in page


@pytest.mark.slow
def test_a_policy_decides_by_it(warehouse: Path, tmp_path: Path) -> None:
    """About the candidates of the baseline, and of no other pair; so do false alarms."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[[metric]]\nmetric = "pass_at_1"\n', encoding="utf-8")
    outcome = call(
        *("compare", "--warehouse", warehouse, "--policy", policy, "--false-alarms", "--json")
    )
    answer = json.loads(outcome.stdout)
    assert outcome.code == 3
    assert [gate["candidate"] for gate in answer["gates"]] == ["hills_new"]
    assert [alarm["candidate"] for alarm in answer["false_alarms"]] == ["hills_new"]


@pytest.mark.slow
def test_missing_rewards_without_bounds_decide_nothing(warehouse: Path, tmp_path: Path) -> None:
    """A row of the candidate is missing, and could have had any reward."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[[metric]]\nmetric = "mean_reward"\nmargin = 0.5\n', encoding="utf-8")
    request = ("compare", "seas_old", "seas_new", "--warehouse", warehouse, "--policy", policy)
    (gate,) = json.loads(call(*request, "--json").stdout)["gates"]
    (metric,) = gate["metrics"]
    assert (gate["verdict"], metric["delta"], metric["bounds"]) == ("INCONCLUSIVE", None, None)


def profiled(folder: Path, text: str) -> tuple[str, ...]:
    """The baselines that a profile names."""
    path = folder / "blade.toml"
    path.write_text(text, encoding="utf-8")
    return read(path).baselines


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ('baseline = "base"', ("base",)),
        ('baseline = ["b", "a"]', ("b", "a")),
        ('baseline = ["a", "a"]', ("a",)),
        ("baseline = []", ()),
    ],
)
def test_profile(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    """One name or a list of them, each once and in the order given."""
    assert profiled(tmp_path, text) == names


@pytest.mark.parametrize(
    "value", ["1", "true", '""', '["a", 2]', '[""]', "{ run = 'a' }", '[["a"]]', "2024-01-01"]
)
def test_profile_of_a_wrong_type(tmp_path: Path, value: str) -> None:
    """Anything but names is refused, with the key and an example."""
    with pytest.raises(UsageError, match=r"blade\.toml: baseline") as error:
        profiled(tmp_path, f'benchmark = "x"\nbaseline = {value}\n')
    assert 'baseline = "office_desk_aster-8b"' in error.value.hint


@pytest.mark.slow
def test_it_is_written_down(warehouse: Path, tmp_path: Path) -> None:
    """The notes and the manifest tell it; of a name that no run has there is a notice."""
    out = pipeline.analyze(warehouse.parent.parent / "results", out=tmp_path).out
    overview, own = (
        (out / name).read_text(encoding="utf-8")
        for name in ("report.md", "benchmarks/hills/report.md")
    )
    assert "hills_old, nobody" in own.partition("## Reproducibility Notes")[2]
    assert "is named as the baseline, and no run has this name" in overview
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["baselines"] == ["hills_old", "nobody"]


@pytest.mark.slow
def test_the_call_goes_before_the_profile(warehouse: Path, tmp_path: Path) -> None:
    """Named twice it counts once; with a baseline in a benchmark there is no other pair of it."""
    names = ["lakes_old", "hills_new", "lakes_old"]
    folder = warehouse.parent.parent / "results"
    with only("comparisons"):
        analysis = pipeline.analyze(folder, out=tmp_path / "out", baselines=names)
    assert "nobody" not in [notice.subject for notice in analysis.warnings]
    query = "select base, candidate, is_named from comparisons where is_lead order by all"
    assert Results(analysis.out).rows(query) == [
        ("hills_new", "hills_old", True),
        ("lakes_old", "lakes_new", True),
        ("seas_new", "seas_old", False),
    ]


def test_the_option(tmp_path: Path) -> None:
    """It may be given several times, and is part of the command that makes the output again."""
    request: list[Settings] = []

    def run(settings: Settings, **_: object) -> None:
        request.append(settings)
        raise InputError("far enough.")

    with mock.patch("pipeline.run.run", run):
        call("analyze", tmp_path, "--baseline", "a", "--baseline", "b c")
        with pytest.raises(InputError):
            pipeline.analyze(tmp_path, baselines="one")
    assert [settings.baselines for settings in request] == [("a", "b c"), ("one",)]
    reported = command(Profile(), request[0])
    assert reported == "blade analyze RESULTS --out DIR --baseline a --baseline 'b c'"
    empty = call("analyze", tmp_path, "--baseline", " ")
    assert empty.code == 2 and "--baseline: the name is empty." in empty.stderr


@pytest.mark.slow
@pytest.mark.parametrize("ask", ["", "at {run} o'clock: task {task}"])
def test_a_baseline_that_nothing_is_compared_with_is_named(tmp_path: Path, ask: str) -> None:
    """Empty prompts, or such as hold a clock, pair no task: a notice says so, with what helps."""
    files: dict[str, Content] = {
        f"x_{run}_rollouts.jsonl": [
            rollout(task, 0, ask=ask.format(run=run, task=task)) for task in range(4)
        ]
        for run in ("old", "new")
    }
    query = "select subject, hint from assertions.warn where check_name = 'warn_baseline_alone'"
    needs = ("comparisons", *CHECKED)
    results = analyzed(tmp_path / "alone", files, needs=needs, baselines=["x_old"])
    ((subject, hint),) = results.rows(query)
    assert subject == "x_old" and "--benchmark NAME" in hint
    if ask:
        return
    together = analyzed(
        tmp_path / "together", files, needs=needs, baselines=["x_old"], benchmark="x"
    )
    assert together.rows(query) == []
    assert together.one("select max(n_common_tasks) from comparisons") == 4


def test_runs_too_many_for_all_pairs(tmp_path: Path) -> None:
    """Of more than 20 runs without a baseline each is compared with the first; a notice says so.

    Few runs of one model are compared with each other, too.
    """
    files: dict[str, Content] = {
        f"{name}_{run:02}_rollouts.jsonl": [
            rollout(task, 0, ask=f"{name} {task}", model="often" if run < 18 else "thrice")
            for task in range(2)
        ]
        for name, n_runs in (("few", 20), ("lot", 21))
        for run in range(n_runs)
    }
    results = analyzed(tmp_path, files, needs=("comparisons", *CHECKED))
    pairs = "select count(distinct (base, candidate)) from comparisons where base like '{}_%'"
    assert results.one(pairs.format("few")) == 20 * 19 // 2
    assert results.one(pairs.format("lot")) == 20 + 3
    bases = "select distinct base from comparisons where base like 'lot%' order by all"
    assert results.column(bases) == ["lot_00", "lot_18", "lot_19"]
    query = "select subject, message from assertions.warn where check_name = 'warn_many_runs'"
    assert results.rows(query) == [
        (
            "lot",
            "has 21 runs and no baseline: of more than 20, each is compared with lot_00 and, where "
            "its model has at most 6, with the others of that",
        )
    ]


@pytest.mark.slow
def test_parts_of_one_run_are_named(tmp_path: Path) -> None:
    """Runs of one model without a task in common: a notice says how to pool them."""
    files: dict[str, Content] = {
        f"{run}_rollouts.jsonl": [
            # What an attempt does not record says nothing of its run.
            {
                **rollout(task, 0, model=model),
                "agent_ref": {"name": "solver"} if task != 1 else None,
            }
            for task in tasks
        ]
        for run, model, tasks in (
            ("a", "m", (0, 1)),
            ("b", "m", (2, 3)),
            ("other", "n", (0, 1)),
            ("same", "n", (1, 2)),
            # They were set up differently.
            ("slow/c", "o", (0, 1)),
            ("fast/c", "o", (2, 3)),
        )
    }
    for folder, limit in (("slow", 9), ("fast", 3)):
        files[f"{folder}/config.yaml"] = f"max_turns: {limit}\n"
    query = "select subject, message, hint from assertions.warn where check_name = 'warn_parts'"
    ((subject, message, hint),) = analyzed(
        tmp_path / "parts", files, needs=CHECKED, benchmark="x"
    ).rows(query)
    assert (subject, message) == (
        "a",
        "is of the same model as b; no two of these runs have a task in common",
    )
    assert "--run NAME=FOLDER" in hint
