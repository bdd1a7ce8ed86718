"""Anchor facts: their file, and drafts of them from what has a form in a golden report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import open_warehouse
from pipeline.errors import InputError
from pipeline.package.fact_drafts import draft
from pipeline.package.facts import Fact, Subject, document, read_facts
from pipeline.package.verify import verify
from pipeline.package.verify.facts import read as fact_file
from pipeline.warehouse import Warehouse
from tests.case_files import cases
from tests.conftest import REPORTS
from tests.package_reports import GOLDEN, TEXTS, written
from tests.results import call


def drafted(text: str, most: int = 12) -> list[Fact]:
    return list(draft(text, model="mason 3b", most=most).facts)


def test_findings_are_drafted_in_the_reports_words() -> None:
    """Sentences that cite an event or quote the record, each once."""
    found = [fact.fact for fact in drafted(GOLDEN, 20)]
    assert set(TEXTS[:7]) <= set(found)
    assert len(set(found)) == len(found)


def test_a_fact_has_its_structure() -> None:
    """Subject, predicate, value, citations, terms, and how hard it is to know."""
    (fact,) = [fact for fact in drafted(GOLDEN, 20) if fact.fact == TEXTS[6]]
    assert fact == Fact(
        id=fact.id,
        fact=TEXTS[6],
        difficulty="high",
        section="Never-Pass Deep Dives",
        subject=Subject("desk_mason-3b", "8", (0,)),
        predicate=fact.predicate,
        value=fact.value,
        citations=("desk_mason-3b/8:0#4",),
        terms=fact.terms,
    )
    assert fact.terms[0] == "depot_find"
    assert fact.predicate in ("count", "other")


CARD = (REPORTS / "task_card.md").read_text(encoding="utf-8")
# Predicate, task, value and query of each fact of the card; A is its first task.
CLAIMS = cases("anchor_facts", "claims")


def test_each_form_gives_its_predicate() -> None:
    """Labels before a colon, columns, sources and signs say what a fact claims."""
    claims = [
        f"{fact.predicate} | {fact.subject.task} | {fact.value} | {fact.sql}"
        for fact in drafted(CARD, 40)
    ]
    expected = CLAIMS.replace("where A", "where run_id = 'r_x' and task_id = 'a:1'")
    assert sorted(claims) == sorted(expected.splitlines())


def test_a_report_without_sources_or_labels() -> None:
    """Ids in backquotes, headings, rows, numbers and quotes are enough."""
    facts = drafted(PUBLISHED)
    assert len(facts) >= 8
    by = {(fact.subject.task, fact.predicate): fact for fact in facts}
    assert by["compile-kernel-3", "outcome"].value == "fail"
    assert by["fix-git-2", "cause"].value == "BI"
    assert by["compile-kernel-3", "other"].quotes == ("Killed signal terminated program cc1",)
    assert by["compile-kernel-3", "other"].fact.startswith("Task `compile-kernel-3`: The log ends")
    assert all(fact.subject.run is None and fact.sql is None for fact in facts)


PUBLISHED = (REPORTS / "terminal_tasks.md").read_text(encoding="utf-8")


def test_what_stands_in_code_claims_nothing() -> None:
    """A prompt may hold names like modes, and quotes; two modes in a sentence are no claim."""
    told = (
        "## Dives\n\n### Task `4`\n\n- fail: `r_b/4:0#1` `SOME_MODE`\n\n"
        'Asked: `make a TABLE_NAME with "three words here" in it`.\n\n'
        "`UNEXPLAINED` in 1 of 1 attempt. MODE_A and MODE_B meet in `r_b/4:1`.\n\n"
        "- cause: behaviour (BI)\n\n## Other\n\nSee `r_a/1:0`, `r_a/2:0` and `r_a/3:0`.\n"
    )
    facts = drafted(told)
    assert not any(fact.quotes for fact in facts)
    assert [fact.value for fact in facts if fact.predicate == "mode"] == []
    (cause,) = [fact for fact in facts if fact.predicate == "cause"]
    assert (cause.value, cause.subject) == ("BI", Subject("r_b", "4")), "the run cited there"


def test_quantities_are_at_most_half() -> None:
    """A third or more say how or why, whatever the tables hold."""
    for text in (GOLDEN, CARD, PUBLISHED):
        facts = drafted(text)
        n = sum(fact.predicate in ("count", "rate", "bucket") for fact in facts)
        assert 2 * n <= len(facts) + 1


def test_too_few_facts_are_explained(tmp_path: Path) -> None:
    """Nothing is written; the message says how many there are and why the rest are none."""
    found = written(tmp_path, thin="## Summary\n\nOf 40 rollouts 18 pass. All is well.\n")
    out = tmp_path / "facts_of_thin.json"
    flags = ["--benchmark", "b", "--model-name", "m", "--output", out]
    told = call("extract-anchor-facts", "--golden", found["thin"], *flags)
    assert told.code == 1
    assert "0 facts found, 8 needed; nothing written" in told.stderr
    assert "2 left out: names no task, rollout or mode" in told.stderr
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


@pytest.mark.parametrize(
    "entry",
    cases("anchor_facts", "a_field_of_another_kind_is_refused"),
)
def test_a_field_of_another_kind_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    """The error names the file and the fact."""
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"anchor_facts": [{"fact": "Task 3 passes twice.", **entry}]}))
    with pytest.raises(InputError, match=r"facts\.json: fact 1 has"):
        read_facts(path)


BAD = [
    ({"value": 26}, "25", "fact"),
    ({"value": "BI", "sql": "select cause from root_causes where run_id = 'no'"}, "no row", "fact"),
    ({"value": 0.5, "sql": "select 0.5405"}, "0.5405", "fact"),
    ({"value": 1e999, "sql": "select 7"}, "7", "fact"),
    ({"sql": "select nothing from nowhere"}, "a query that can be run", "fact"),
    ({"citations": ["office_desk_aster-8b/99:0"]}, "tasks of this run", "citation"),
    ({"citations": ["task 3"]}, "RUN/TASK:ROLLOUT", "citation"),
    ({"citations": ["office_desk_aster-8b/17:0#1"]}, "it stands at #3", "quote"),
    ({"quotes": ["I shall send it at once"]}, "not said there", "quote"),
]
TRUE = {
    "fact": "25 of 45 scored failures end without one accepted write.",
    "value": 25,
    "sql": "select 25",
    "citations": ["office_desk_aster-8b/17:0#3"],
    "quotes": ["Acting on someone's records would need their consent"],
}


@pytest.fixture(scope="module")
def data(demo: Path) -> Iterator[Warehouse]:
    """The demo, opened."""
    with open_warehouse(demo) as warehouse:
        yield warehouse


GOOD: list[dict[str, object]] = [
    {},
    {"value": 2884.1, "sql": "select 2884.13"},
    {"value": 0.44, "sql": "select 0.4405"},
    {"value": "BI", "sql": "select 'BI'"},
]


@pytest.mark.parametrize(
    ("change", "expected", "check"), [*((change, "", "") for change in GOOD), *BAD]
)
def test_verify_checks_facts(
    data: Warehouse, tmp_path: Path, change: dict[str, object], expected: str, check: str
) -> None:
    """The query of a fact, what it cites and what it quotes; the finding names the fact's line."""
    path = tmp_path / "m_anchor_facts.json"
    told = json.dumps({"anchor_facts": [{**TRUE, **change}]}, indent=1)
    path.write_text(told.replace("Infinity", "1e999"))
    found = verify("# Report\n", "r.md", data, None, fact_file(path))
    wrong = [each for each in found if each.status == "contradicted"]
    assert [(each.file, each.line, each.check) for each in wrong] == (
        [(path.name, 3, check)] if check else []
    )
    assert all(expected in (each.expected or "") for each in wrong)
    assert check or {each.status for each in found} == {"verified"}


def test_verify_says_what_it_cannot_check(data: Warehouse, tmp_path: Path) -> None:
    """A fact of text alone is unchecked, so is any without data, and a broken file is wrong."""
    path = tmp_path / "m_anchor_facts.json"
    path.write_text(json.dumps({"anchor_facts": [{"fact": "Half of the failures time out."}]}))
    (alone,) = verify("# Report\n", "r.md", data, None, fact_file(path))
    (apart,) = verify("# Report\n", "r.md", None, None, fact_file(path))
    assert [(each.status, each.source) for each in (alone, apart)] == [
        ("unchecked", "nothing to check"),
        ("unchecked", "no data"),
    ]
    path.write_text("{")
    (broken,) = verify("# Report\n", "r.md", None, None, fact_file(path))
    assert (broken.status, broken.check) == ("contradicted", "fact")


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
    path.write_text(json.dumps(document([fact], benchmark="b", model="m")))
    assert read_facts(path) == [fact]
    assert fact.is_structured
