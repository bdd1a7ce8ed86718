"""Anchor facts: their file, and drafts of them from what has a form in a golden report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import open_warehouse
from pipeline.errors import InputError
from pipeline.package.fact_drafts import draft
from pipeline.package.facts import Fact, Subject, document, facts_file, read_facts
from pipeline.package.score import score, standard
from pipeline.package.verify import verify
from pipeline.warehouse import Warehouse
from tests.case_files import cases
from tests.package_reports import written
from tests.results import call


def drafted(text: str, most: int = 12) -> list[Fact]:
    return list(draft(text, model="mason 3b", most=most).facts)


CARD = """# r_x

## Executive Summary

`r_x` passes 44.0% of attempts over 21 tasks.
<!-- from run_metrics where run_id = 'r_x': run_id, pass_at_1 = 44.0%, n_scored_tasks = 21 -->

An opinion about 12 things that nothing is behind, see `r_x/1:0`.

## Modes

| mode | failures | open |
| --- | ---: | --- |
| `MODE_A` (KG, one might think) | 17 of 106 | `r_x/4:0#3` |
| `MODE_B` | 5 of 106 | `r_x/5:0` |
<!-- from report.modes where benchmark = 'b' by mode: n_failures, citations[1] as open -->

## Dives

### Task `4`

- fail: `r_x/4:0#3` `MODE_A` `crm_update {"id": "00017"} was refused`
- pass: `r_x/4:1#2` `it looked the customer up first`
- `crm_update expected, never called: {"id": "00018"}`
- cause: behaviour (BI), given by a person

### Task `5`

- fail: `r_x/5:0`

It says "I have to stop here" (`r_x/5:0#9`).

| task | cause |
| --- | --- |
| `6` | KG |
"""


def test_facts_come_from_what_is_bound() -> None:
    """Pairs, keyed rows, labels, cards and quotations; an opinion or a citation alone is none."""
    facts = {(fact.predicate, fact.subject.task, fact.value): fact for fact in drafted(CARD, 40)}
    assert set(facts) == {
        ("rate", None, 0.44), ("count", None, 17), ("count", None, 5), ("cause", "4", "BI"),
        ("cause", "6", "KG"), ("other", "4", None),
        ("other", "5", None),
    }  # fmt: skip
    rate = facts["rate", None, 0.44]
    assert rate.sql == "select pass_at_1 from run_metrics where run_id = 'r_x'"
    assert facts["count", None, 17].sql == (
        "select n_failures from report.modes where benchmark = 'b' "
        "and mode = 'MODE_A (KG, one might think)'"
    )
    assert facts["other", "5", None].quotes == ("I have to stop here",)
    assert all("r_x/1:0" not in fact.citations for fact in facts.values())


def test_a_cause_comes_from_its_label_alone() -> None:
    """Not from an example citation in a table of modes, with anything in its cells."""
    causes = {fact.subject.task: fact for fact in drafted(CARD, 40) if fact.predicate == "cause"}
    assert {task: fact.value for task, fact in causes.items()} == {"4": "BI", "6": "KG"}
    assert causes["4"].sql == "select cause from root_causes where run_id = 'r_x' and task_id = '4'"


EXAMPLES = """# r_x

## Modes

| mode | cause | failures | example |
| --- | --- | ---: | --- |
| `MODE_A` | BI | 17 of 106 | task 0, `r_x/0:1#4` |

## Dives

### Task `0`

- fail: `r_x/0:1#4`
- cause: knowledge (KG), given by a person
"""


def test_a_cause_beside_an_example_is_not_the_examples() -> None:
    """A mode is called BI and cites an attempt at task 0, which a person has labelled KG."""
    found = {(fact.subject.task, fact.value) for fact in drafted(EXAMPLES, 40)}
    assert found == {("0", "KG")}


def test_what_is_counted_of_is_no_fact() -> None:
    """Nor is what anybody would guess, and a figure is looked for in no citation."""
    text = (
        "Of 15 failures with several checks 4 fail one; see `r_x/4:15`.\n"
        "<!-- from near_misses: n_failures = 15, n_one = 4 -->\n\n"
        "Not found: empty answers (0 of 5).\n<!-- from run_metrics: n_empty = 0 -->\n\n"
        "| run | tasks | change |\n| - | - | - |\n| `r_x` | 80 | +26.2% |\n"
        "<!-- from comparisons by run_id as run: n_common_tasks as tasks, delta as change -->\n"
    )
    assert [(fact.value, fact.fact[:10]) for fact in drafted(text)] == [
        (4, "Of 15 fail"), (0.262, "Run: `r_x`"),
    ]  # fmt: skip


PARAPHRASE = """# r_x

The first of the tasks that r_x never manages, see `r_x/4:0#3`: it was informed that
`crm_update {"id": "00017"} was refused`. Where it gets through (`r_x/4:1#2`)
`it looked the customer up first`.

| what | n |
| --- | ---: |
| MODE_A (KG, one might think), out of 106 | 17 |
| MODE_B, out of 106 | 5 |

- In task 4 nobody called `crm_update`.
- I put task 4 down as BI.
- Task 6: KG.
- Only 44.0% of what r_x tries works out.
- Somebody at task 5 gave up: "I have to stop here".
"""


def test_a_true_paraphrase_meets_the_drafted_facts() -> None:
    """Other words, another order, prose for tables: ids and figures are all that is kept."""
    own = standard(CARD, drafted(CARD, 40))
    assert score(CARD, own).final == 1.0
    assert score(PARAPHRASE, own).final >= 0.9


def test_no_table_gives_more_than_a_third() -> None:
    """Of twelve facts at most four are rows of one table."""
    rows = "".join(f"| `MODE_{n}` | {n + 3} of 106 | `r/1:{n}` |\n" for n in range(20))
    head = "## Modes\n\n| mode | failures | open |\n| --- | ---: | --- |\n"
    source = "<!-- from report.modes by mode: n_failures as failures -->\n\n"
    assert len(drafted(f"{head}{rows}{source}", 12)) == 4


def test_drafts_wait_for_a_person() -> None:
    """The file says so until somebody removes the mark."""
    assert document(drafted(CARD), benchmark="b", model="m")["review_required"] is True


def test_too_few_facts_are_explained(tmp_path: Path) -> None:
    """Nothing is written; the message says how many there are and why the rest are none."""
    found = written(tmp_path, thin="## Summary\n\nOf 40 rollouts 18 pass. All is well.\n")
    out = tmp_path / "facts_of_thin.json"
    flags = ["--benchmark", "b", "--model-name", "m", "--output", out]
    outcome = call("extract-anchor-facts", "--golden", found["thin"], *flags)
    assert outcome.code == 1
    assert "0 facts found, 8 needed; nothing written" in outcome.stderr
    assert "left out: has no source, label or citation" in outcome.stderr
    assert not out.exists()
    outcome = call("extract-anchor-facts", "--golden", found["golden"], *flags, "--min-facts", "13")
    assert outcome.code == 2


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


@pytest.mark.parametrize("entry", cases("anchor_facts", "a_field_of_another_kind_is_refused"))
def test_a_field_of_another_kind_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    """The error names the file and the fact."""
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"anchor_facts": [{"fact": "Task 3 passes twice.", **entry}]}))
    with pytest.raises(InputError, match=r"facts\.json: fact 1 has"):
        read_facts(path)


BAD = [
    ({"value": 26}, "25", "fact"),
    ({"value": "BI", "sql": "select 'x' where false"}, "no row", "fact"),
    ({"value": 0.5, "sql": "select 0.5405"}, "0.5405", "fact"),
    ({"value": 1e999, "sql": "select 7"}, "7", "fact"),
    ({"sql": "select nothing from no_table"}, "a query that can be run", "fact"),
    ({"citations": ["office_desk_aster-8b/99:0"]}, "tasks of this run", "citation"),
    ({"citations": ["task 3"]}, "RUN/TASK:ROLLOUT", "citation"),
    ({"citations": ["office_desk_aster-8b/17:0#1"]}, "it is at #3", "quote"),
    ({"quotes": ["I shall send it at once"]}, "not in the cited text", "quote"),
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
    outcome = json.dumps({"anchor_facts": [{**TRUE, **change}]}, indent=1)
    path.write_text(outcome.replace("Infinity", "1e999"))
    found = verify("# Report\n", "r.md", data, None, facts_file(path))
    wrong = [each for each in found if each.status == "contradicted"]
    assert [(each.file, each.line, each.check) for each in wrong] == (
        [(path.name, 3, check)] if check else []
    )
    assert all(expected in (each.expected or "") for each in wrong)
    assert check or {each.status for each in found} == {"verified"}


def test_a_cause_that_nobody_labelled_is_not_wrong(data: Warehouse, tmp_path: Path) -> None:
    """The message is the label to write."""
    path = tmp_path / "m_anchor_facts.json"
    fact = {
        "fact": "Task 17 fails by refusing.", "predicate": "cause", "value": "BI",
        "subject": {"run": "office_desk_aster-8b", "task": "17"},
        "sql": "select cause from labels where run_id = 'no'",
    }  # fmt: skip
    path.write_text(json.dumps({"anchor_facts": [fact]}))
    (found,) = verify("# Report\n", "r.md", data, None, facts_file(path))
    assert found.status == "unchecked" and '"task": "17", "cause": "BI"' in found.source


def test_verify_says_what_it_cannot_check(data: Warehouse, tmp_path: Path) -> None:
    """A fact of text alone is unchecked, so is any without data, and a broken file is wrong."""
    path = tmp_path / "m_anchor_facts.json"
    path.write_text(json.dumps({"anchor_facts": [{"fact": "Half of the failures time out."}]}))
    (alone,) = verify("# Report\n", "r.md", data, None, facts_file(path))
    (apart,) = verify("# Report\n", "r.md", None, None, facts_file(path))
    assert [(each.status, each.source) for each in (alone, apart)] == [
        ("unchecked", "nothing to check"),
        ("unchecked", "no data"),
    ]
    path.write_text("{")
    (broken,) = verify("# Report\n", "r.md", None, None, facts_file(path))
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
        ("it wrote so",),
        0.25,
    )
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(document([fact], benchmark="b", model="m")))
    assert read_facts(path) == [fact]
    assert fact.is_structured
