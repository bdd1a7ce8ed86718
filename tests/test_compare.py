"""`blade compare` as people and programs call it: what it says, what it refuses, how it ends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest

from pipeline import run
from pipeline.answers.recomputed import COMPARED, FOLLOWED
from pipeline.cli.terminal import PLAIN
from pipeline.report.figures import Figure
from pipeline.settings import Settings
from pipeline.text import counted
from pipeline.warehouse import Warehouse
from tests.case_files import cases
from tests.lean import all_empty_but
from tests.results import (
    Content,
    Outcome,
    Row,
    analyzed,
    asked,
    call,
    called,
    rollout,
    write,
    wrote,
)

Say = Callable[..., Outcome]
ASTER, BIRCH = "quick_math_aster-8b", "quick_math_birch-70b"
NEEDS = (*COMPARED, *FOLLOWED, "rollouts", "events")
CONTRACT = (
    "base candidate metric n_common_tasks pairing delta se_new_tasks se_same_tasks ci_new_tasks "
    "ci_same_tasks p_value mde bounds verdict transitions ledgers".split()
)


N_TASKS, N_REPEATS = 30, 4
HOSTILE = "--><script>alert(1)</script> | [x](http://x.example) `code` **b** \u202e\x1b[2J"

Passes = Callable[[int], int]


def tries(passes: Passes, **fields: Any) -> list[Row]:
    """A run that passes so many repeats of each task."""
    return [
        rollout(task, index, reward=float(index < passes(task)), **fields)
        for task in range(N_TASKS)
        for index in range(N_REPEATS)
    ]


def middling(task: int) -> int:
    """From never to always and all between."""
    return task % 5


def better(task: int) -> int:
    """Two more of every task that can have them."""
    return min(middling(task) + 2, N_REPEATS)


def worse(task: int) -> int:
    """Two fewer."""
    return max(middling(task) - 2, 0)


def nearly(task: int) -> int:
    """One pass fewer of one task."""
    return middling(task) - (task == 7)


def gappy() -> list[Row]:
    """The same as the base, but that the failures of every third task were lost."""
    return [
        row
        for row in tries(middling)
        if row["reward"] == 1.0 or row["_ng_task_index"] % 3 or row["_ng_task_index"] % 5 == 0
    ]


def grid(n_tasks: int) -> list[Row]:
    """What was asked: every repeat of so many tasks."""
    return [asked(task, index) for task in range(n_tasks) for index in range(N_REPEATS)]


def walk(place: int) -> list[Row]:
    """A checkpoint: of 12 tasks the first three are learned, the others stay."""
    return [
        rollout(task, index, ask=f"walk {task}", reward=float(index < _walked(task, place)))
        for task in range(12)
        for index in range(N_REPEATS)
    ]


def _walked(task: int, place: int) -> int:
    return (0, 2, 4)[place] if task < 3 else (4, 0, 2)[task % 3]


def unsettled(shift: float) -> list[Row]:
    """Rewards beyond 0..1, so that nothing says what passes."""
    return [
        rollout(task, index, ask=f"unsettled {task}", reward=3.0 * task - 9 + shift + 0.25 * index)
        for task in range(8)
        for index in range(2)
    ]


def hostile_run(model: str, n_passed: int) -> list[Row]:
    """Ids, questions, slices and models that would be markup, or steer a terminal."""
    return [
        rollout(
            None,
            index,
            ask=f"{HOSTILE}{task}",
            reward=float(index < (task + n_passed) % 3),
            task_id=f"{HOSTILE}{task}",
            category=f"{HOSTILE}{task % 2}",
            model=f"{HOSTILE}{model}",
        )
        for task in range(6)
        for index in range(2)
    ]


def tuned(model: str, effort: str, temperature: float) -> list[Row]:
    """A run that says what it was asked with."""
    asks = {"input": [{"role": "user", "content": "What is it?"}], "temperature": temperature}
    return [
        rollout(
            0, 0, model=model, responses_create_params={**asks, "reasoning": {"effort": effort}}
        )
    ]


def runs() -> dict[str, Content]:
    """All of them, by file."""
    elsewhere = [
        rollout(task + 1000, index, ask=f"elsewhere {task}", reward=float(index))
        for task in range(3)
        for index in range(2)
    ]
    return {
        "base_rollouts.jsonl": tries(middling),
        "better_rollouts.jsonl": tries(better),
        "nearly_rollouts.jsonl": tries(nearly),
        "rerun_rollouts.jsonl": tries(lambda task: (middling(task) + (task % 3 == 0)) % 5),
        "worse_rollouts.jsonl": tries(worse),
        "worse_rollouts_materialized_inputs.jsonl": grid(N_TASKS + 1),
        "gappy_rollouts.jsonl": gappy(),
        "gappy_rollouts_materialized_inputs.jsonl": grid(N_TASKS),
        "other_rollouts.jsonl": tries(better, ask="quite another question"),
        "elsewhere_rollouts.jsonl": elsewhere,
        "empty_rollouts.jsonl": "",
        "hostile_a_rollouts.jsonl": hostile_run("a", 0),
        "hostile_b_rollouts.jsonl": hostile_run("b", 1),
        "tuned_aster_rollouts.jsonl": tuned("aster", "low", 1.0),
        "tuned_aster_config.yaml": "top_k: 40\n",
        "tuned_birch_rollouts.jsonl": tuned("birch", "high", 1),
        "tuned_birch_config.yaml": "top_k: 20\n",
        "unsettled_a_rollouts.jsonl": unsettled(0.0),
        "unsettled_b_rollouts.jsonl": unsettled(0.5),
        "walk_step_500_rollouts.jsonl": walk(0),
        "walk_step_1000_rollouts.jsonl": walk(1),
        "walk_step_1500_rollouts.jsonl": walk(2),
    }


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that improved, regressed, lost rows, ask other questions, are unsettled or hostile."""
    return analyzed(tmp_path_factory.mktemp("compare"), runs(), needs=NEEDS).path


class Shared(Warehouse):
    """A warehouse that stays open for the next who asks the same."""

    def close(self) -> None:
        """Not yet."""


@pytest.fixture(scope="module")
def say(warehouse: Path) -> Iterator[Say]:
    """The command on these runs; relations that were made again for some pairs are made once."""
    overlays: dict[str, Shared] = {}
    recompute = run.warehouse.recompute

    def recompute_once(
        path: Path, *others: Any, replaced: dict[str, pa.Table], **more: Any
    ) -> Shared:
        key = repr((path, {name: table.to_pydict() for name, table in replaced.items()}))
        if key not in overlays:
            overlays[key] = Shared(recompute(path, *others, replaced=replaced, **more)._connection)
        return overlays[key]

    with mock.patch.object(run.warehouse, "recompute", recompute_once):
        yield lambda *words: call("compare", *words, "--warehouse", warehouse)
    for each in overlays.values():
        Warehouse.close(each)


def parsed(outcome: Outcome) -> dict[str, Any]:
    """The JSON that was printed."""
    assert (outcome.code, outcome.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(outcome.stdout)
    return answer


def refused(outcome: Outcome, *words: str, code: int = 2) -> bool:
    """It printed no result, wrote what is wrong and what to do, and ended with this code."""
    assert (outcome.code, outcome.stdout) == (code, ""), outcome
    assert outcome.stderr.startswith("blade: ") and outcome.stderr.count("\n") == 2, outcome.stderr
    return all(word in outcome.stderr for word in words)


def words(text: str) -> str:
    """Text without the places where its lines were wrapped."""
    return " ".join(text.split())


def test_all_runs_without_a_base(say: Say) -> None:
    """One row per pair of a benchmark, by its leading metric, and no verdict; below, what next."""
    outcome = say()
    rows = [re.split(r" {2,}", line) for line in outcome.stdout.splitlines()]
    assert outcome.code == 0
    by_name = {(row[0], row[1]): row[2:5] for row in rows if len(row) > 5}
    # 30 tasks of five kinds: two passes more are 35 points, one pass of one task is 0.8.
    assert by_name["base", "better"] == ["pass@1, points", "30", "+35.0"]
    assert by_name["better", "nearly"] == ["pass@1, points", "30", "-35.8"]
    assert by_name["unsettled_a", "unsettled_b"][::2] == ["mean reward", "+0.5"]
    assert "No base is named, so there is no verdict." in outcome.stdout
    assert "next  blade compare base --warehouse" in outcome.stdout
    assert not re.search("(?i)improved|regressed|inconclusive", outcome.stdout)


@pytest.mark.slow
def test_base_alone(say: Say) -> None:
    """Every other run of its benchmark is held against it, each with a verdict and Holm's p."""
    outcome = say("base")
    lines = [re.split(r" {2,}", line) for line in outcome.stdout.splitlines()]
    table = {line[1]: line for line in lines if line[0] == "base" and len(line) == 10}
    table.pop("candidate")
    assert {name: line[-1] for name, line in table.items()} == {
        "better": "improved",
        "gappy": "inconclusive",
        "nearly": "inconclusive",
        "rerun": "inconclusive",
        "worse": "regressed",
    }
    # What is decided is printed whole, before what is not.
    assert "3 of 5, what is decided first; name fewer candidates to see theirs" in outcome.stdout
    assert outcome.stdout.index("REGRESSED") < outcome.stdout.index("IMPROVED")


@pytest.mark.slow
def test_what_runs_differ_in_is_named(say: Say) -> None:
    """Models that the rows name, though their runs are called after them, and each setting."""
    text = words(say("tuned_aster", "tuned_birch").stdout)
    assert (
        "settings that differ: model aster -> birch, reasoning_effort low -> high, "
        "top_k 40 -> 20 " in text
    )


def test_base_and_candidate(say: Say) -> None:
    """The verdict, the change with its intervals, the tasks, and why, add up."""
    outcome = say("base", "better")
    text = words(outcome.stdout)
    assert outcome.code == 0
    assert "better vs base no setting that was read differs; neither run records its model" in text
    assert "IMPROVED pass@1 change +35.0 points on 30 common tasks, from 50.0% to 85.0%" in text
    assert "pairing 30 tasks with the same question" in text
    assert "tasks, 0 worse, 24 better" in text
    assert "next blade why better/" in text and "blade compare base better --full" in text
    # Of 30 tasks a fifth has each number of passes: 0, 1, 2, 3 and 4 become 2, 3, 4, 4 and 4.
    cell, whole = r" \([\d.]+\) +", say("base", "better", "--full").stdout
    assert re.search(rf"sometimes +12{cell}6{cell}0", whole)
    assert re.search(rf"never +0{cell}6{cell}0", whole)
    assert "the candidate is higher" in words(whole)
    # Rewards are passes: printed once.
    assert "mean reward" not in text


@pytest.mark.slow
def test_several_candidates(say: Say) -> None:
    """In the order given, a table first; the verdict of each is its own, Holm's p is over all."""
    actual = parsed(say("base", "worse", "better", "--json"))["comparisons"]
    assert [each["candidate"] for each in actual] == ["worse", "worse", "better", "better"]
    assert [each["verdict"] for each in actual] == ["regressed"] * 2 + ["improved"] * 2
    assert [each["p_holm"] / each["p_value"] for each in actual] == pytest.approx([2] * 4, rel=1e-4)
    alone = parsed(say("base", "better", "--json"))["comparisons"]
    assert [each["p_holm"] / each["p_value"] for each in alone] == [1, 1]
    assert say("base", "worse", "better").stdout.startswith("base   candidate   by ")


@pytest.mark.slow
def test_a_change_within_the_margin(say: Say) -> None:
    """One pass of 120 is inconclusive for two points, and no change beyond twenty."""
    assert "INCONCLUSIVE  pass@1" in say("base", "nearly").stdout
    outcome = say("base", "nearly", "--margin", "0.2")
    assert "NO CHANGE BEYOND 20.0 POINTS  pass@1" in outcome.stdout
    (actual, _) = parsed(say("base", "nearly", "--margin", "0.2", "--json"))["comparisons"]
    assert (actual["verdict"], actual["margin"]) == ("no change", 0.2)


@pytest.mark.slow
def test_lost_failures_improve_nothing(say: Say) -> None:
    """A candidate without some of its failures looks better; with them as failures it does not."""
    (actual, _) = parsed(say("base", "gappy", "--json"))["comparisons"]
    # Of eight tasks only passes are left: three tasks' worth of failures, of 30.
    assert actual["delta"] == pytest.approx(0.1) and actual["ci_new_tasks"][0] > 0
    bounds = actual["bounds"]
    assert (bounds["counted_as_fail"], bounds["low"]) == (0, 0)
    assert bounds["high"] == pytest.approx(0.1)
    assert actual["verdict"] == "inconclusive"
    assert "failure_modes_counted_as_fail" not in actual["ledgers"]
    text = words(say("base", "gappy").stdout)
    assert "+0.0 points if all missing attempts count as failed" in text
    assert "the verdict uses this" in text


def test_json_keeps_the_contract(say: Say) -> None:
    """One object a candidate and metric, the leading one first, with the keys that others read."""
    first, second = parsed(say("base", "better", "--json"))["comparisons"]
    assert [first["metric"], second["metric"]] == ["pass_at_1", "mean_reward"]
    for actual in (first, second):
        assert set(CONTRACT) <= set(actual)
        assert {"verified", "unverified", "contradicted"} <= set(actual["pairing"])
        for ledger in ("task_mix", "bucket_transitions", "failure_modes", "funnel"):
            lines = actual["ledgers"][ledger]["lines"]
            total = actual["ledgers"][ledger]["total"]
            assert sum(line["amount"] for line in lines) == pytest.approx(total)
            shown = actual["ledgers"][ledger]["total_shown"]
            assert sum(line["shown"] for line in lines) == pytest.approx(shown, abs=1e-9)
    other = parsed(say("base", "better", "--format", "json"))
    assert other == {"comparisons": [first, second], "flip_signs": []}


@pytest.mark.slow
def test_flips_are_counted_by_sign(crashing: Path) -> None:
    """What a run shows on tasks that it alone fails, and on how many others; the rest is silent.

    Of 12 tasks the candidate alone fails 0 to 3, of which 0 to 2 end in an error; so does task 4,
    which it passes. Every attempt calls `look`, and the base never fails.
    """
    pair = ("compare", "flip_base", "flip_candidate", "--warehouse", crashing)
    (sign,) = parsed(call(*pair, "--json"))["flip_signs"]
    assert (sign["side"], sign["sign"]) == ("lost", "error: the disk is full")
    assert [sign[name] for name in ("n_tasks", "n_of", "n_others", "n_others_of")] == [3, 4, 1, 8]
    assert sign["examples"] == [f"flip_candidate/{task}" for task in range(3)]
    assert (
        "in 3 of the 4 tasks that only flip_candidate fails, and 1 of the 8 others, "
        "flip_candidate: error: the disk is full (flip_candidate/0)" in words(call(*pair).stdout)
    )


def test_json_is_what_the_analysis_wrote(demo: Path) -> None:
    """For the same pair the command and metrics.json say the same, but for what a base decides."""
    written = json.loads((demo.parent / "metrics.json").read_text(encoding="utf-8"))["comparisons"]
    stored = [each for each in written if each["base"] == ASTER]
    request = parsed(call("compare", ASTER, BIRCH, "--json", "--warehouse", demo))["comparisons"]
    assert len(stored) == len(request) == 2
    for one, other in zip(stored, request, strict=True):
        for name in ("verdict", "verdict_holm"):
            assert (one.pop(name), other.pop(name)) == (None, "improved")
        assert (one.pop("p_holm"), other.pop("p_holm")) == (None, other["p_value"])
        assert one == other


@pytest.mark.slow
def test_unsettled_rewards(say: Say) -> None:
    """Only rewards are printed, and their tables have no bucket; pass@1 is refused in words."""
    actual = parsed(say("unsettled_a", "unsettled_b", "--json"))["comparisons"]
    assert [(each["metric"], each["delta"]) for each in actual] == [("mean_reward", 0.5)]
    assert actual[0]["transitions"] == {} and "failure_modes" not in actual[0]["ledgers"]
    outcome = say("unsettled_a", "unsettled_b", "--metric", "pass_at_1")
    assert refused(outcome, "cannot be compared by pass_at_1", "--pass-threshold")


@pytest.mark.slow
def test_other_questions_are_refused(say: Say) -> None:
    """Under the same indices, asked by another run: no task is paired, none flips."""
    (actual, _) = parsed(say("base", "other", "--json"))["comparisons"]
    assert (actual["n_common_tasks"], actual["delta"], actual["p_value"]) == (0, None, None)
    assert actual["pairing"]["contradicted"] == 30
    assert actual["pairing"]["refused_tasks"] == [str(task) for task in range(20)]
    assert (actual["gains"], actual["losses"], actual["flips"], actual["ledgers"]) == (
        [],
        [],
        [],
        {},
    )
    text = words(say("base", "other").stdout)
    assert "refused one id, different questions: tasks 0, 1, 2" in text and "and 10 more" in text
    assert "NOT COMPARABLE pass@1 nothing shared the runs have no task in common" in text


@pytest.mark.slow
def test_nothing_in_common(say: Say) -> None:
    """Runs of other tasks, or of none, share nothing: the page says so, and nothing is invented."""
    actual = parsed(say("base", "elsewhere", "empty", "--json"))["comparisons"]
    actual += parsed(say("empty", "base", "--json"))["comparisons"]
    assert len(actual) == 6
    for each in actual:
        assert each["verdict"] == "not comparable" and each["ci_new_tasks"] is None
        assert (each["pairing"]["contradicted"], each["ledgers"]) == (0, {})
    text = words(say("empty", "base").stdout)
    assert "NOT COMPARABLE pass@1 nothing shared the runs have no task in common" in text
    assert "--full" not in text


def test_hostile_text_is_inert(say: Say) -> None:
    """Ids, questions, slices and models steer no terminal, and are no markup on a page."""
    for outcome in (say("hostile_a", "hostile_b"), say("hostile_a", "hostile_b", "--full")):
        assert outcome.code == 0 and "\\x1b[2J" in outcome.stdout
        assert not {"\x1b", "\u202e"} & set(outcome.stdout)
    page = say("hostile_a", "hostile_b", "--format", "markdown").stdout
    assert not {"\x1b", "\u202e"} & set(page)
    # Between backquotes nothing is markup; of the rest nothing is theirs.
    assert not re.search("[<>\\[]|http", re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", page))
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    text = say("hostile_a", "hostile_b", "--json").stdout
    assert not {"\x1b", "\u202e"} & set(text)
    first = json.loads(text)["comparisons"][0]["losses"][0]
    assert HOSTILE in first["task_id"]


def test_markdown(say: Say) -> None:
    """The section of the report, for these runs alone."""
    outcome = say("base", "better", "--format", "markdown")
    assert outcome.code == 0 and outcome.stdout.startswith("# Cross-Model Comparison\n")
    assert "### `better` vs `base`" in outcome.stdout and "| +35.0 |" in outcome.stdout
    assert "<!--" not in outcome.stdout and "worse" not in outcome.stdout
    assert outcome.stdout.endswith("|\n")


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose failures end in an error but for three tasks: one has few, one nearly as many.

    `near` has lost the rows of its first task, and its last three tasks are its own. Of the runs
    of flips, one fails four tasks.
    """

    def flip(task: int, *, is_candidate: bool) -> Row:
        fails = is_candidate and task < 4
        answer = "Error: the disk is full" if is_candidate and task in (0, 1, 2, 4) else "ok"
        output = [*called("look"), *called("save", {}, answer), *wrote("done")]
        return rollout(task, 0, ask=f"flip {task}", reward=float(not fails), output=output)

    def attempts(n_failing: int, tasks: range) -> list[Row]:
        def attempt(task: int, index: int) -> Row:
            fails = index < (task < n_failing) + (task < n_failing // 2)
            answer = "Error: the disk is full" if fails and task > 2 else "ok"
            return rollout(task, index, reward=float(not fails), output=called("save", {}, answer))

        return [attempt(task, index) for task in tasks for index in range(2)]

    files: dict[str, Any] = {
        "desk_base_rollouts.jsonl": attempts(30, range(40)),
        "desk_sound_rollouts.jsonl": attempts(2, range(40)),
        "desk_near_rollouts.jsonl": attempts(29, range(43))[2:],
        "flip_base_rollouts.jsonl": [flip(task, is_candidate=False) for task in range(12)],
        "flip_candidate_rollouts.jsonl": [flip(task, is_candidate=True) for task in range(12)],
    }
    for name, n_tasks in (("base", 40), ("sound", 40), ("near", 43)):
        files[f"desk_{name}_rollouts_materialized_inputs.jsonl"] = [
            asked(task, index) for task in range(n_tasks) for index in range(2)
        ]
    return analyzed(tmp_path_factory.mktemp("crashing"), files, needs=NEEDS).path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidate", "n_ledgers", "is_decided"), [("desk_sound", 1, True), ("desk_near", 2, False)]
)
def test_parts_add_up_and_noise_has_no_cause(
    crashing: Path, candidate: str, n_ledgers: int, is_decided: bool
) -> None:
    """Parts sum to the change above them, with tasks that one run lacks; noise has no cause."""
    pair = ("compare", "desk_base", candidate, "--warehouse", crashing)
    page = call(*pair, "--format", "markdown").stdout
    ledgers = re.findall(r": (\S+) points, the sum of .*\n\n((?:\|.*\n)+)", page)
    assert len(ledgers) == n_ledgers
    for total, table in ledgers:
        parts = [line.split(" |")[-2] for line in table.splitlines()[2:]]
        assert sum(map(float, parts)) == pytest.approx(float(total), abs=1e-9)
    assert ("so no part is a cause" in page) == (not is_decided)
    assert bool(re.search("^ *why ", call(*pair, "--full").stdout, re.M)) == is_decided


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [*cases("compare", "refused"), (["base", "x" * 5000], ["xxx…: no such run"])],
)
def test_wrong_calls(say: Say, arguments: list[str], parts: list[str]) -> None:
    """Refused with what is wrong and what there is."""
    assert refused(say(*arguments), *parts)


POLICY = """
[[metric]]
metric = "pass_at_1"
margin = {margin}
"""
TRACKED = """
[[metric]]
metric = "pass_at_1"
rule = "superior"
margin = 0.9
level = "tracked"
"""


def policy(folder: Path, text: str) -> Path:
    """A policy.toml."""
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("candidate", "more", "verdict", "code"),
    [
        ("better", "", "PASS", 0),
        ("better", TRACKED, "WARN", 0),
        pytest.param("nearly", "", "INCONCLUSIVE", 3, marks=pytest.mark.slow),
    ],
)
def test_policy(
    say: Say, tmp_path: Path, candidate: str, more: str, verdict: str, code: int
) -> None:
    """The verdict comes first, and the exit code says whether the candidate may go on."""
    path = policy(tmp_path, POLICY.format(margin=0.02) + more)
    outcome = say("base", candidate, "--policy", path)
    assert outcome.code == code
    assert outcome.stdout.startswith(f"{verdict}  {candidate} vs base, by ")
    # The story follows.
    assert f"\n{candidate} vs base\n" in outcome.stdout


@pytest.mark.slow
def test_policy_for_a_program(say: Say, tmp_path: Path) -> None:
    """All candidates must pass: the worst decides; the comparisons stand beside the gates."""
    path = policy(tmp_path, POLICY.format(margin=0.02))
    outcome = say("base", "worse", "better", "--policy", path)
    assert outcome.code == 1
    assert outcome.stdout.startswith("FAIL  1 of 2 candidates pass; all of them must\n")
    outcome = say("base", "worse", "better", "--policy", path, "--json")
    answer = json.loads(outcome.stdout)
    assert outcome.code == 1
    assert [(each["verdict"], each["exit_code"]) for each in answer["gates"]] == [
        ("FAIL", 1),
        ("PASS", 0),
    ]
    assert [each["candidate"] for each in answer["comparisons"][::2]] == ["worse", "better"]


@pytest.mark.slow
def test_waived_tasks(say: Say, tmp_path: Path) -> None:
    """Each verdict with and without them, and their reasons; one that is no task is a warning."""
    waived = '[[waive]]\ntask_id = "{task}"\nreason = "the key is wrong"\n'
    path = policy(tmp_path, POLICY.format(margin=0.2) + waived.format(task=7))
    outcome = say("base", "nearly", "--policy", path)
    assert outcome.code == 0 and outcome.stdout.startswith("PASS  ")
    assert "task 7  the key is wrong" in outcome.stdout
    assert re.search(r"pass_at_1 non-inferior +PASS +29 +PASS +30\n", outcome.stdout)
    (metric,) = parsed(say("base", "nearly", "--policy", path, "--json"))["gates"][0]["metrics"]
    assert (metric["delta"], metric["n_tasks"]) == (0, 29)
    assert metric["with_waived"]["delta"] == pytest.approx(-1 / 120)
    path = policy(tmp_path, POLICY.format(margin=0.2) + waived.format(task=77))
    outcome = say("base", "nearly", "--policy", path)
    assert outcome.code == 0 and outcome.stdout.startswith("WARN  ")
    assert "waived, but not among the common tasks: 77" in outcome.stdout


@pytest.mark.slow
def test_a_page_has_one_verdict(say: Say, tmp_path: Path) -> None:
    """With a policy it is the policy's: PASS is not followed by a verdict without one."""
    loose = policy(tmp_path, POLICY.format(margin=0.3))
    assert "INCONCLUSIVE" in say("base", "nearly").stdout
    page = say("base", "nearly", "--policy", loose).stdout
    assert page.startswith("PASS  ") and "\nPASS BY THE POLICY  pass@1\n" in page
    assert "INCONCLUSIVE" not in page.replace("INCONCLUSIVE: the interval", "").replace(
        "INCONCLUSIVE:\nthe interval", ""
    )
    markdown = say("base", "nearly", "--policy", loose, "--format", "markdown").stdout
    assert "**PASS** `nearly`" in markdown and "inconclusive" not in markdown
    # The comparison itself is what it was.
    (actual, *_) = parsed(say("base", "nearly", "--policy", loose, "--json"))["comparisons"]
    assert actual["verdict"] == "inconclusive"


def test_policy_that_cannot_be_used(say: Say, tmp_path: Path) -> None:
    """Without a base there is nothing to decide; a file that is absent or wrong says so."""
    path = policy(tmp_path, POLICY.format(margin=0.02))
    assert refused(say("--policy", path), "no base is named", "blade compare BASE CANDIDATE")
    absent = say("base", "better", "--policy", tmp_path / "absent.toml")
    assert refused(absent, "absent.toml: no such file", code=3)
    wrong = policy(tmp_path, "margins = 1\n")
    assert call("compare", "base", "better", "--policy", wrong, "--warehouse", "x").code == 3
    outcome = say("base", "better", "--policy", wrong)
    assert (outcome.code, outcome.stdout) == (
        2,
        "",
    ) and "policy.toml: margins is not a key" in outcome.stderr


def test_false_alarms(say: Say, tmp_path: Path) -> None:
    """How often the rules would fire on equal runs: a few in a hundred, and the policy's too."""
    path = policy(tmp_path, POLICY.format(margin=0.02))
    outcome = say("base", "better", "--false-alarms", "--policy", path)
    text = words(outcome.stdout)
    assert "false alarms, if nothing had changed better: the rule would say improved in" in text
    assert "from shrunken pass rates, 30 tasks); the policy's rule at -2.0 points" in text
    (actual,) = parsed(say("base", "better", "--false-alarms", "--json"))["false_alarms"]
    assert (actual["source"], actual["rerun"], actual["n_tasks"]) == ("simulation", None, 30)
    assert 0.01 < actual["rates"]["either"] < 0.1


@pytest.mark.slow
def test_a_rerun_of_the_base(say: Say) -> None:
    """Its rollouts stand in for the simulation; it is no candidate, and alters nothing else."""
    plain = parsed(say("base", "better", "--json"))["comparisons"]
    actual = parsed(say("base", "better", "--false-alarms", "--rerun", "rerun", "--json"))
    assert actual["comparisons"] == plain
    assert [(each["candidate"], each["source"]) for each in actual["false_alarms"]] == [
        ("better", "rerun")
    ]
    twice = parsed(say("base", "better", "--false-alarms", "--rerun", "better", "--json"))
    assert twice["comparisons"] == plain
    assert "rollouts of rerun and the base shuffled" in words(
        say("base", "better", "--false-alarms", "--rerun", "rerun").stdout
    )


@pytest.mark.slow
def test_series_in_the_order_given(say: Say) -> None:
    """Forwards three tasks are learned, backwards they are forgotten."""
    steps = ["walk_step_500", "walk_step_1000", "walk_step_1500"]
    (forth,) = parsed(say("--series", *steps, "--json"))["series"]
    (back,) = parsed(say("--series", *reversed(steps), "--json"))["series"]
    assert (forth["n_learned"], forth["n_forgotten"]) == (3, 0)
    assert (back["n_learned"], back["n_forgotten"]) == (0, 3)
    assert [run["run_id"] for run in back["runs"]] == steps[::-1]
    assert [task["task_id"] for task in forth["learned"]] == ["0", "1", "2"]
    assert "learned 3 tasks" in say("--series", *steps).stdout


@pytest.mark.slow
def test_results_given_last(tmp_path: Path) -> None:
    """They are analyzed for the occasion, and nothing is left behind."""
    files = {
        f"{name}_rollouts.jsonl": [
            rollout(task, index, reward=float(index < task + shift))
            for task in range(3)
            for index in range(2)
        ]
        for name, shift in (("one", 0), ("two", 1))
    }
    results = write(tmp_path / "results", files)
    before = sorted(tmp_path.rglob("*"))
    outcome = call("compare", "one", "two", results)
    # 0, 1 and 2 of 2 pass, then 1, 2 and 2.
    assert outcome.code == 0 and "+33.3 points on 3 common tasks" in outcome.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_results_are_the_last_word(warehouse: Path, tmp_path: Path, say: Say) -> None:
    """What is there as a path is analyzed; the words before it are runs."""
    request = []

    def analyze(settings: Settings, **_: Any) -> run.Analysis:
        request.append(settings.results)
        return run.Analysis(warehouse.parent, ())

    with mock.patch.object(run, "run", analyze):
        outcome = call("compare", "base", "better", tmp_path)
        assert outcome.code == 0 and "better vs base" in outcome.stdout
        assert "so there is no verdict" in call("compare", tmp_path).stdout
    assert request == [(tmp_path,), (tmp_path,)]
    assert refused(say("base", tmp_path), "and --warehouse: one or the other")
    # No path and no warehouse: a run that cannot be looked up.
    absent = call("compare", "base", tmp_path / "nothing", "--warehouse", tmp_path / "x.duckdb")
    assert refused(absent, "no warehouse here", code=3)


def test_a_run_goes_before_a_folder_of_its_name(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results often lie in folders named after runs: a name that is a run's is the run."""
    (tmp_path / "better").mkdir()
    monkeypatch.chdir(tmp_path)
    outcome = say("base", "better")
    assert outcome.code == 0 and "better vs base" in outcome.stdout


def test_a_warehouse_of_an_older_version(tmp_path: Path) -> None:
    """It lacks what a comparison asks of it; the message says what to do."""
    path, runs = tmp_path / "warehouse.duckdb", "(values ('a', 'x'), ('b', 'x'))"
    with duckdb.connect(str(path)) as db:
        db.execute("create schema raw; create table raw.events (i int)")
        db.execute(f"create table main.runs as from {runs} as t(run_id, benchmark)")
    reported = ("another version of blade", "Analyze the results again.")
    assert refused(call("compare", "a", "b", "--warehouse", path), *reported, code=3)


@pytest.mark.slow
def test_one_question_that_occurs_twice_gives_no_repeats(tmp_path: Path) -> None:
    """Of a tenth of the tasks, repeats speak for the others; of fewer nothing is claimed."""
    said = {}
    for n_repeated in (2, 4):
        files = {
            f"{name}_rollouts.jsonl": [
                rollout(task, index, reward=float(task >= n_failed))
                for task in range(N_TASKS)
                for index in range(1 + (task < n_repeated))
            ]
            for name, n_failed in (("base", 15), ("better", 0))
        }
        path = analyzed(tmp_path / str(n_repeated), files, needs=NEEDS).path
        outcome = call("compare", "base", "better", "--full", "--warehouse", path)
        said[n_repeated] = words(outcome.stdout)
    assert "same tasks n/a: fewer than a tenth of the common tasks have repeats" in said[2]
    assert "same tasks the candidate is higher (repeats compared task by task" in said[4]


def test_a_change_that_is_not_shown_says_so_beside_its_interval(tmp_path: Path) -> None:
    """In the words of the report: the interval leaves out 0, a test does not."""
    files = {
        f"{name}_rollouts.jsonl": [rollout(t, 0, reward=float(t >= n)) for t in range(10)]
        for name, n in (("a", 4), ("b", 0))
    }
    with all_empty_but("comparisons", "report.headlines"):
        outcome = call("analyze", write(tmp_path / "results", files), "--out", tmp_path / "out")
    decision = "not shown to differ (sign-flip test over tasks, p = 0.125)"
    assert f"(95% CI +3.1 to +76.9), {decision}\n" in outcome.stdout
    assert f"(95% CI +3.1 to +76.9), {decision}." in (tmp_path / "out" / "report.md").read_text()


def test_a_count_of_passes() -> None:
    assert [counted(n, "pass") for n in (1, 2)] == ["1 pass", "2 passes"]
    assert PLAIN.many(Figure(23, ""), "pass") == "23 passes"
