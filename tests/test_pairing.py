"""Tasks are paired by id where ids agree with the questions, else by question."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.results import Results, Row, analyzed, call, rollout
from tests.together import Batch, together

NEEDED = "comparisons comparison_tasks paired_tasks bucket_matrix runs expected rollouts".split()
FIGURES = (
    "comparison_settings comparison_metrics ledger flips flip_signs run_health run_metrics tasks "
    "series series_counts series_tasks report.ledgers report.changed_tasks "
    "report.transitions".split()
)
N_TASKS = 24
SHARED = Path(__file__).parents[2] / "shared"
SONNET = SHARED / "findings_corpus/tau2_sonnet"
AIRLINE = SHARED / "formats_corpus/tau2"


def question(number: int) -> str:
    """What a task asks, under any id."""
    return f"Book seat {number}\nfor passenger {number * 7} and reply."


def passes(number: int, *, is_base: bool) -> bool:
    """Outcomes that differ by question, so that a wrong pair changes the counts."""
    return number % 3 == 0 if is_base else number % 4 != 1


def run(
    ids: Mapping[int, int], *, is_base: bool, ask: Mapping[int, str] | None = None
) -> list[Row]:
    """One row per question under the id that the run gives it."""
    request = ask or {}
    return [
        rollout(
            task,
            0,
            ask=request.get(number, question(number)),
            reward=float(passes(number, is_base=is_base)),
        )
        for number, task in ids.items()
    ]


BASE = run({number: number for number in range(N_TASKS)}, is_base=True)


def pair(candidate: list[Row], base: list[Row] | None = None) -> dict[str, list[Row]]:
    """A base beside a candidate, both of one benchmark."""
    return {"a": base or BASE, "b": candidate}


def counts(numbers: range | list[int]) -> dict[str, int]:
    """How often both runs pass a question, one of them or none."""
    both = [(passes(each, is_base=True), passes(each, is_base=False)) for each in numbers]
    return {
        "both": both.count((True, True)),
        "neither": both.count((False, False)),
        "base": both.count((True, False)),
        "candidate": both.count((False, True)),
    }


def pass_counts(results: Results) -> dict[str, int]:
    """The same of the common tasks of a comparison."""
    names = ("both", "neither", "base", "candidate")
    query = """
        select
            count(*) filter (base_n_passed + candidate_n_passed = 2),
            count(*) filter (base_n_passed + candidate_n_passed = 0),
            count(*) filter (base_n_passed > candidate_n_passed),
            count(*) filter (base_n_passed < candidate_n_passed)
        from comparison_tasks where is_common
    """
    ((*values,),) = results.rows(query)
    return dict(zip(names, values, strict=True))


def shuffled(numbers: range) -> list[int]:
    """The numbers in an order of their own, none at its place."""
    places = list(numbers)
    random.Random(5).shuffle(places)
    return places


RENUMBERED = {
    "from 1": {number: number + 1 for number in range(N_TASKS)},
    "another order": dict(zip(range(N_TASKS), shuffled(range(N_TASKS)), strict=True)),
    "a subset": {number: place for place, number in enumerate(range(3, N_TASKS, 2))},
    "more": {number: N_TASKS + 5 - number for number in range(N_TASKS + 6)},
}


@together.each(*((ids,) for ids in RENUMBERED.values()))
def test_other_numbers(ids: Mapping[int, int]) -> Batch:
    """Questions that stand under other ids are paired with themselves."""
    results = yield pair(run(ids, is_base=False))
    common = [number for number in ids if number < N_TASKS]
    assert pass_counts(results) == counts(common)
    n_moved = sum(ids[number] != number for number in common)
    query = "select n_verified, n_by_question, n_contradicted from comparisons where is_lead"
    assert results.rows(query) == [(len(common), n_moved, 0)]
    # Every task of either run is in the matrix once.
    n_questions = len({*range(N_TASKS), *ids})
    assert results.one("select count(*) from bucket_matrix") == n_questions
    n_both = results.one("select count(*) from bucket_matrix where len(map_keys(buckets)) = 2")
    assert n_both == len(common)


@together
def test_recorded_ids_can_be_asked() -> Batch:
    """A relation names, for each task that is called otherwise, the id that its rows have."""
    results = yield pair(run(RENUMBERED["from 1"], is_base=False))
    rows = results.rows("select run_id, task_id, recorded_task_id from paired_tasks order by all")
    expected = [(f"{results.name}_b", str(number), str(number + 1)) for number in range(N_TASKS)]
    assert rows == sorted(expected)
    assert results.one("select count(*) from expected where source = 'inferred'") == 0


@together
def test_an_id_for_another_question_is_another_task() -> Batch:
    """A run that numbers otherwise, and asks some questions in other words."""
    reworded = {number: f"Reserve seat {number}." for number in range(12, N_TASKS)}
    results = yield pair(run(RENUMBERED["from 1"], is_base=False, ask=reworded))
    assert pass_counts(results) == counts(range(12))
    assert results.one("select count(*) from bucket_matrix") == N_TASKS + len(reworded)


@together
def test_ids_that_agree_decide() -> Batch:
    """Where each id asks one question, tasks are paired by id; nothing is renamed."""
    results = yield pair(run({n: n for n in range(4, N_TASKS)}, is_base=False))
    assert pass_counts(results) == counts(range(4, N_TASKS))
    assert results.rows("from paired_tasks") == []
    assert results.one("select n_by_question from comparisons where is_lead") == 0


@together.each((0,), (1,))
def test_white_space_is_no_difference(shift: int) -> Batch:
    """A trailing blank or other white space changes no question, under any id."""
    changed = {
        number: question(number).replace("\n", "\r\n  ") + " " * (number % 3)
        for number in range(0, N_TASKS, 2)
    }
    ids = {number: number + shift for number in range(N_TASKS)}
    results = yield pair(run(ids, is_base=False, ask=changed))
    assert pass_counts(results) == counts(range(N_TASKS))
    query = "select count(*) from comparison_tasks where pairing = 'verified'"
    assert results.one(query) == N_TASKS


@together.each(("root@66fa1f9b2400:/app#", "verified"), ("commit 66fa1f9b2400", "contradicted"))
def test_the_name_of_a_container_is_no_difference(shown: str, pairing: str) -> Batch:
    """A shell shows it beside what is asked; any other hash may be what is asked about."""
    runs = (
        run({0: 0, 1: 1}, is_base=is_base, ask={1: f"wget [file]. {words}"})
        for is_base, words in ((False, shown), (True, shown.replace("66fa", "9a81")))
    )
    results = yield pair(*runs)
    query = "select pairing from comparison_tasks order by task_id"
    assert results.column(query) == ["verified", pairing]


@together
def test_words_are_distinguished() -> Batch:
    """Questions that are equal only without any blank are different ones."""
    base = run({0: 0, 1: 1, 2: 2}, is_base=True, ask={1: "add 1 11", 2: "add 3"})
    other = run({0: 0, 1: 1, 2: 2}, is_base=False, ask={1: "add 11 1", 2: "add  3"})
    results = yield pair(other, base)
    query = "select pairing from comparison_tasks order by task_id"
    assert results.column(query) == ["verified", "contradicted", "verified"]


@together
def test_another_key_is_another_question() -> Batch:
    """White space is overlooked only where the ground truth is the same."""
    base = [rollout(task, 0, ask=f"sum {task}", expected_answer="4") for task in range(3)]
    other = [rollout(task, 0, ask=f"sum {task} ", expected_answer="4") for task in range(3)]
    other[1]["expected_answer"] = "5"
    results = yield pair(other, base)
    query = "select pairing from comparison_tasks order by task_id"
    assert results.column(query) == ["verified", "contradicted", "verified"]


@together
def test_a_key_that_is_not_recorded_contradicts_none() -> Batch:
    """An attempt that was never graded has no key; its question is the same."""
    base = [rollout(task, 0, ask=f"sum {task}", expected_answer="4") for task in range(3)]
    other = [{**row, "reward": 0.0} for row in base]
    other[1] = {**other[1], "expected_answer": None}
    del other[2]["expected_answer"]
    results = yield pair(other, base)
    query = "select pairing from comparison_tasks order by task_id"
    assert results.column(query) == ["verified"] * 3


@together
def test_pictures_are_distinguished() -> Batch:
    """Equal words around different pictures are different questions, with any blanks."""

    def shown(picture: str, words: str) -> Row:
        image = {"type": "input_image", "image_url": f"data:{picture}"}
        content = [{"type": "input_text", "text": words}, image]
        row = rollout(1, 0)
        row["responses_create_params"] = {"input": [{"role": "user", "content": content}]}
        return row

    base = [rollout(0, 0), shown("cat", "What is it?")]
    results = yield pair([rollout(0, 0), shown("dog", "What is it? ")], base)
    query = "select pairing from comparison_tasks order by task_id"
    assert results.column(query) == ["verified", "contradicted"]


@together
def test_a_question_asked_twice_is_not_paired_by_question() -> Batch:
    """Two tasks of one run with one question are never guessed apart."""
    twice = {0: question(1)}
    base = run({n: n for n in range(N_TASKS)}, is_base=True, ask=twice)
    other = run({n: n + 1 for n in range(N_TASKS)}, is_base=False, ask=twice)
    results = yield pair(other, base)
    # The base's 0 and 1 ask what the candidate's 1 and 2 do: only 1 is an id of both.
    assert results.one("select count(*) from comparison_tasks where is_common") == N_TASKS - 1
    by_question = results.rows("select task_id, recorded_task_id from paired_tasks order by all")
    assert ("0", "1") not in by_question and ("1", "2") not in by_question


@together
def test_without_a_question_renumbered_ids_pair_nothing() -> Batch:
    """Where the ids of a run mean other tasks, an id alone pairs no task."""
    empty = {5: ""}
    base = run({n: n for n in range(N_TASKS)}, is_base=True, ask=empty)
    other = run({n: (n + 3) % N_TASKS for n in range(N_TASKS)}, is_base=False, ask=empty)
    results = yield pair(other, base)
    assert results.one("select count(*) from comparison_tasks where is_common") == N_TASKS - 1
    assert results.one("select count(*) from comparison_tasks where pairing = 'unverified'") == 0


@together
def test_tasks_without_ids_are_paired_by_question() -> Batch:
    """A run that gives no ids has tasks by their content: they are those of the other's ids."""
    nameless = run({n: n for n in range(4)}, is_base=False)
    for row in nameless:
        del row["_ng_task_index"]
    results = yield {"a": nameless, "b": BASE, "c": [dict(row) for row in nameless]}
    query = "select candidate, n_verified from comparisons where is_lead order by all"
    assert [n for _, n in results.rows(query)] == [4, 4, 4]
    names = "select distinct task_id from paired_tasks order by all"
    assert results.column(names) == [str(n) for n in range(4)]


@together
def test_most_runs_name_the_tasks() -> Batch:
    """Of three runs the two that agree keep their ids, under any names."""
    plain = run({n: n for n in range(N_TASKS)}, is_base=False)
    moved = run({n: n + 1 for n in range(N_TASKS)}, is_base=False)
    files = {"a": moved, "b": BASE, "c": plain}
    results = yield files
    assert results.column("select distinct run_id from paired_tasks") == [f"{results.name}_a"]
    query = "select base, candidate, n_by_question from comparisons where is_lead order by all"
    assert results.rows(query) == [
        (f"{results.name}_{base}", f"{results.name}_{candidate}", n_by_question)
        for base, candidate, n_by_question in (
            ("a", "b", N_TASKS),
            ("a", "c", N_TASKS),
            ("b", "c", 0),
        )
    ]


@pytest.mark.slow
def test_compare_tells_it(tmp_path: Path) -> None:
    """One line of `blade compare` says by what tasks are paired, and so does its JSON."""
    rows = run(RENUMBERED["from 1"], is_base=False)
    files = {"desk_a_rollouts.jsonl": BASE, "desk_b_rollouts.jsonl": rows}
    results = analyzed(tmp_path, files, needs=[*NEEDED, *FIGURES])
    text = call("compare", "desk_a", "desk_b", "--warehouse", results.path).stdout
    line = f"{N_TASKS} tasks with the same question, paired by question ({N_TASKS} have another id"
    assert line in " ".join(text.split())
    every = " ".join(call("compare", "--warehouse", results.path).stdout.split())
    assert f"tasks are paired by question, {N_TASKS} have another id in the other run" in every
    output = call("compare", "desk_a", "desk_b", "--json", "--warehouse", results.path).stdout
    assert json.loads(output)["comparisons"][0]["pairing"]["by_question"] == N_TASKS


@pytest.mark.slow
def test_expected_attempts_are_renamed_too(tmp_path: Path) -> None:
    """What a run was asked for has the names of what it did."""
    rows = run(RENUMBERED["from 1"], is_base=False)
    request = [{key: row[key] for key in row if key not in ("reward", "response")} for row in rows]
    files = {
        "desk_a_rollouts.jsonl": BASE,
        "desk_b_rollouts.jsonl": rows,
        "desk_b_materialized_inputs.jsonl": request,
    }
    results = analyzed(tmp_path, files, needs=[*NEEDED, "task_outcomes"])
    query = "select n_scored, count(*) from task_outcomes where run_id = 'desk_b' group by all"
    assert results.rows(query) == [(1, N_TASKS)]


@pytest.mark.slow
def test_reported_figures_are_renamed_too(tmp_path: Path) -> None:
    """A figure that the harness reports of a task is compared with that task's own."""
    rows = run(RENUMBERED["from 1"], is_base=False)
    profile = [
        {"_ng_task_index": row["_ng_task_index"], "mean/reward": row["reward"]} for row in rows
    ]
    files = {
        "desk_a_rollouts.jsonl": BASE,
        "desk_b_rollouts.jsonl": rows,
        "desk_b_reward_profiling.jsonl": profile,
    }
    results = analyzed(tmp_path, files, needs=[*NEEDED, "reported_metrics", "reported_checks"])
    query = "select status, count(*) from reported_checks where task_id is not null group by all"
    assert results.rows(query) == [("equal", N_TASKS)]


@pytest.mark.slow
@pytest.mark.skipif(not (SONNET.exists() and AIRLINE.exists()), reason="needs the corpora")
def test_airline_submissions(tmp_path: Path) -> None:
    """Two public submissions number the airline tasks differently; their questions are the same.

    Counted from the files' own tasks: 27 both, 13 neither, 9 only Sonnet, 1 only the other.
    """
    (tmp_path / "results").mkdir()
    for path in (*SONNET.glob("*.json"), *AIRLINE.rglob("*airline*.json")):
        (tmp_path / "results" / path.name).write_bytes(path.read_bytes())
    results = analyzed(tmp_path, {})
    report = (tmp_path / "out/report.md").read_text(encoding="utf-8")
    assert "50 tasks with the same question, paired by question (49 have another id" in report
    assert "+0.0 points" not in report
    reported = pass_counts(results)
    assert (reported["both"], reported["neither"]) == (27, 13)
    query = """
        select n_common_tasks, n_verified, n_by_question, n_contradicted, abs(delta), p_mean
        from comparisons where metric = 'pass_at_1'
    """
    ((n_common, n_verified, n_by_question, n_contradicted, change, p),) = results.rows(query)
    assert (n_common, n_verified, n_by_question, n_contradicted) == (50, 50, 49, 0)
    assert change == pytest.approx(0.16)
    # Exact: 2 * (C(10, 0) + C(10, 1)) / 2^10.
    assert p == pytest.approx(22 / 1024)
    assert sorted((reported["base"], reported["candidate"])) == [1, 9]


@pytest.mark.slow
def test_a_task_is_shown_with_its_recorded_id(tmp_path: Path) -> None:
    """`blade show` and `blade why` give the id that the rows of a run have."""
    files = {
        "desk_a_rollouts.jsonl": BASE,
        "desk_b_rollouts.jsonl": run(RENUMBERED["from 1"], is_base=False),
    }
    results = analyzed(tmp_path, files)
    shown = call("show", "desk_b/3:0", "--warehouse", results.path).stdout
    assert "task 4 in its own rows" in shown
    assert "id 4 in its own rows" in call("why", "desk_b/3", "--warehouse", results.path).stdout
