"""Draft facts are single claims of the golden report, with what they cite and count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import InputError
from pipeline.package.fact_drafts import document, draft
from pipeline.package.facts import Fact, Subject, read_facts
from pipeline.package.facts import document as facts_document
from tests.package_reports import GOLDEN, TEXTS, written
from tests.results import call


def drafted(text: str, *, most: int = 12, least: int = 0) -> list[dict[str, Any]]:
    found = document(draft(text, most=most, least=least), benchmark="b", model="mason 3b")
    facts: list[dict[str, Any]] = found["anchor_facts"]
    return facts


def test_claims_of_the_diagnosis_are_found() -> None:
    """Every finding that names a task, rollout, tool or mode is drafted, in the report's words."""
    found = [fact["fact"] for fact in drafted(GOLDEN)]
    assert set(TEXTS[:7]) <= set(found)


def test_what_restates_an_aggregate_is_left_out() -> None:
    """Totals, buckets, tables' totals and how the report was made are no facts."""
    told = " ".join(fact["fact"] for fact in drafted(GOLDEN, most=50, least=50))
    for said in (
        "18 pass",
        "2 tasks always",
        "40 of 40",
        "blade analyze",
        "45.0%",
        "nothing is comp",
    ):
        assert said not in told


def test_a_fact_says_where_it_is_from() -> None:
    """Section, line, tasks, rollouts, numbers as written and names; a person must look at it."""
    (fact,) = [fact for fact in drafted(GOLDEN) if fact["fact"] == TEXTS[6]]
    line = GOLDEN[: GOLDEN.index("4 of 4 attempts send")].count("\n") + 1
    assert fact == {
        "id": fact["id"],
        "fact": TEXTS[6],
        "difficulty": "high",
        "difficulty_reason": "cites an event and gives a cause: "
        "found by reading the trajectory only",
        "section": "Never-Pass Deep Dives",
        "line": line,
        "tasks": ["8"],
        "rollouts": ["desk_mason-3b/8:0#4"],
        "numbers": ["4", "4", "17", "71"],
        "entities": ["depot_find"],
        "mean_score": None,
        "review_required": True,
    }


def test_ids_follow_the_report() -> None:
    """They are numbered in the order of the report, and safe in a file's name."""
    facts = drafted(GOLDEN)
    assert [fact["line"] for fact in facts] == sorted(fact["line"] for fact in facts)
    assert [fact["id"] for fact in facts][:2] == ["mason-3b-01", "mason-3b-02"]


def test_a_sentence_takes_the_task_of_its_heading() -> None:
    """What stands below "Task `a:1`" is about it, though it does not say so."""
    told = '## Never pass\n\n### Task `a:1`: lost\n\nThe verifier says "no such label" 3 times.'
    (fact,) = drafted(told)
    assert fact["fact"] == 'Task `a:1`: The verifier says "no such label" 3 times.'
    assert fact["tasks"] == ["a:1"]


def test_marks_are_no_part_of_a_fact() -> None:
    """Comments are dropped, numbers stay, and two sentences are never one fact."""
    told = (
        "## Failure modes\n\nTask 3 fails in 7<!--blade:modes?run_id=a#n--> of 9 attempts because "
        "of `tool_x`. Task 4 calls\n`tool_y` twice after 2 errors."
    )
    assert [(fact["fact"], fact["numbers"]) for fact in drafted(told)] == [
        ("Task 3 fails in 7 of 9 attempts because of `tool_x`.", ["7", "9"]),
        ("Task 4 calls `tool_y` twice after 2 errors.", ["2"]),
    ]


def test_a_finding_that_is_told_twice_is_one_fact() -> None:
    """The same task, the same numbers and nearly the same words."""
    once = "Task 3 fails in 7 of 9 attempts because `tool_x` times out."
    again = "Task 3 fails in 7 of 9 attempts since `tool_x` times out."
    assert len(drafted(f"## Summary\n\n{once}\n\n## Failure modes\n\n{again}")) == 1


def test_facts_are_spread_over_tasks() -> None:
    """With room for two, the second is of another task."""
    told = "\n\n".join(
        f'Task {task} ends with "{said}" because `tool_{task}` fails in {n} of 4 attempts.'
        for task, said, n in ((3, "all is done", 2), (3, "it went well", 3), (5, "no more now", 2))
    )
    assert [fact["tasks"] for fact in drafted(f"## Failure modes\n\n{told}", most=2)] == [
        ["3"],
        ["5"],
    ]


def test_rows_fill_up_only_what_is_lacking() -> None:
    """A table's row is a fact where sentences are too few."""
    told = (
        "## Failure modes\n\n| mode | rollouts |\n| --- | ---: |\n| TIME_OUT of the depot | 7 |\n"
    )
    assert drafted(told) == []
    (row,) = drafted(told, least=1)
    assert (row["fact"], row["difficulty"]) == ("mode: TIME_OUT of the depot; rollouts: 7", "low")


def test_the_file_is_the_same_for_any_hash_seed(tmp_path: Path) -> None:
    """Neither the clock nor the order of sets is in it."""
    found = written(tmp_path)
    made = []
    for seed in ("0", "1"):
        out = tmp_path / f"facts{seed}.json"
        code = "from pipeline.cli import main; main()"
        flags = ["--golden", found["golden"], "--benchmark", "b", "--model-name", "m"]
        arguments = ["extract-anchor-facts", *map(str, flags), "--output", str(out)]
        subprocess.run(
            [sys.executable, "-c", code, *arguments],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        made.append(out.read_bytes())
    assert made[0] == made[1]
    assert json.loads(made[0])["benchmark"] == "b"


def test_too_few_facts_are_explained(tmp_path: Path) -> None:
    """Nothing is written; the message says how many there are and why the rest are none."""
    found = written(tmp_path, thin="## Summary\n\nOf 40 rollouts 18 pass. All is well.\n")
    out = tmp_path / "facts_of_thin.json"
    flags = ["--benchmark", "b", "--model-name", "m", "--output", out]
    told = call("extract-anchor-facts", "--golden", found["thin"], *flags)
    assert told.code == 1
    assert "0 facts found, 8 needed; nothing written" in told.stderr
    assert "1 left out: restates an aggregate" in told.stderr
    assert not out.exists()
    told = call("extract-anchor-facts", "--golden", found["golden"], *flags, "--min-facts", "13")
    assert told.code == 2


def test_the_public_toolkits_file_is_read(tmp_path: Path) -> None:
    """Facts of text alone, with keys that are not ours, have a place for an id and no structure."""
    path = tmp_path / "facts.json"
    path.write_text(
        json.dumps(
            {
                "benchmark": "b",
                "model": "m",
                "generated_at": "2026-01-01",
                "anchor_facts": [
                    {"fact": "Task 3 never compiles: cc is missing.", "mean_score": 0.5},
                    {"id": "x", "fact": "Half of the failures time out.", "difficulty": "high"},
                ],
            }
        )
    )
    first, second = read_facts(path)
    assert (first.id, first.difficulty, first.mean_score) == ("fact-01", "medium", 0.5)
    assert (second.id, second.difficulty, second.is_structured) == ("x", "high", False)


def test_facts_survive_their_file(tmp_path: Path) -> None:
    """What is written is read back the same."""
    fact = Fact(
        "m-01",
        "Task 3 passes 1 of 4 rollouts.",
        "low",
        "Aggregate Results",
        Subject("run", "3", (0, 2)),
        "count",
        1,
        "select 1",
        ("run/3:0#1",),
        ("it said so",),
        ("compile",),
        0.25,
    )
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(facts_document([fact], benchmark="b", model="m")))
    assert read_facts(path) == [fact]
    assert fact.is_structured


@pytest.mark.parametrize(
    "entry",
    [
        {"predicate": "guess"},
        {"subject": "task 3"},
        {"subject": {"rollouts": ["0"]}},
        {"value": [1]},
        {"sql": 1},
        {"citations": "run/3:0"},
    ],
)
def test_a_field_of_another_kind_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    """The error names the file and the fact."""
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"anchor_facts": [{"fact": "Task 3 passes twice.", **entry}]}))
    with pytest.raises(InputError, match=r"facts\.json: fact 1 has"):
        read_facts(path)
