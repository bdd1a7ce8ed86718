"""What `blade validate` finds in golden reports and what belongs to them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.package.validate import FAIL, WARN, Data
from tests.checked_packages import DRAFT, GOLDEN, found, good_rollouts, ids
from tests.packages import BENCHMARK, FACTS, METRICS, RECOMPUTED, REPORT, SHALLOW, facts


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The rollouts of the good package."""
    return good_rollouts(tmp_path_factory.getbasetemp())


HOLLOW = "# model_a on desk\n\n" + "".join(
    f"{line}\n\n" for line in REPORT.splitlines() if line.startswith("## ")
)
REPORTS = {
    "headings alone": (
        HOLLOW,
        {
            "golden.substance",
            "golden.curated",
            "golden.evidence",
            "metrics.report",
            "facts.reported",
            "shallow.shallow",
        },
    ),
    "no recommendations": (
        REPORT.replace("## Recommendations", "## Thanks"),
        {"golden.sections"},
    ),
    "no citations": (
        REPORT.replace("`model_a/", "`").replace("`model_b/", "`"),
        {"golden.evidence", "facts.reported"},
    ),
    "no citation of a task that never passes": (
        REPORT[: REPORT.index("## Never-Pass")]
        + "## Never-Pass Deep Dives\n\nTwo tasks fail in both repeats, since the agent writes to a "
        "customer that no search returned, or stops at a name that is spelled wrongly.\n\n"
        + REPORT[REPORT.index("## Cross-Model") :],
        {"golden.evidence", "facts.reported"},
    ),
    "a rollout that is not there": (
        REPORT.replace("`model_a/1:0`, which searches", "`model_a/1:7`, which searches"),
        {"golden.citations"},
    ),
    "an event that is not there": (
        REPORT.replace("`model_a/1:0`, which searches", "`model_a/1:0#6`, which searches"),
        {"golden.citations"},
    ),
    "a percentage of nothing": (
        REPORT.replace(
            "## Workflow Funnel\n", "## Workflow Funnel\n\nIt stops early 40% of the time.\n"
        ),
        {"golden.denominators"},
    ),
    "a draft": (REPORT + "\n<!-- curate: say why -->\n", {"golden.curated"}),
    "a draft without its comments": (
        DRAFT + "## Thanks\n\nAll is well. It will be.\n",
        {"golden.curated"},
    ),
    "filler": (REPORT.replace("Both runs used", "TBD. Both runs used"), {"golden.substance"}),
    "not UTF-8": (b"# \xe9t\xe9\n", {"golden.present"}),
}


@pytest.mark.parametrize("case", REPORTS)
def test_report(case: str, good: Data, tmp_path: Path) -> None:
    """A report that lacks one thing fails by the name of that thing."""
    content, expected = REPORTS[case]
    assert (
        ids(found(tmp_path, good, "golden", **{f"{GOLDEN}_golden_report.md": content})) == expected
    )


SIDECARS = {
    "absent": (None, {"metrics.present"}),
    "no object": ("[1]", {"metrics.present"}),
    "not a number": ('{"pass_at_1": NaN}', {"metrics.present"}),
    "nested": ("[" * 100_000, {"metrics.present"}),
    "no keys": ("{}", {"metrics.keys"}),
    "a figure as text": (
        json.dumps({**METRICS, "pass_at_1": "0.375"}),
        {"metrics.keys", "metrics.values"},
    ),
    "a figure beyond all floats": (
        json.dumps({**METRICS, "pass_at_1": 10**400}),
        {"metrics.keys", "metrics.values"},
    ),
    "wrong": (json.dumps({**METRICS, "pass_at_1": 99.9}), {"metrics.values", "metrics.report"}),
    "off in the third digit": (
        json.dumps({**METRICS, "pass_at_1": 0.379}),
        {"metrics.values", "metrics.report"},
    ),
    "percent for a rate": (
        json.dumps({**METRICS, "pass_at_1": 37.5}),
        {"metrics.values", "metrics.report"},
    ),
    "one rollout more": (
        json.dumps({**METRICS, "total_rollouts": 9}),
        {"metrics.values", "metrics.report"},
    ),
    "wrong beside the headline": (
        json.dumps({**METRICS, "failed_rollouts": 6}),
        {"metrics.values"},
    ),
    "another run": (
        json.dumps({**METRICS, "model_name": "model_z", "run_id": "model_z"}),
        {"metrics.run"},
    ),
    "the other run's": (
        json.dumps({**METRICS, "model_name": "model_b"}),
        {"metrics.run", "metrics.values"},
    ),
    "another benchmark, which is to be looked at": (
        json.dumps({**METRICS, "benchmark": "chair"}),
        set(),
    ),
}


@pytest.mark.parametrize("case", SIDECARS)
def test_metrics_sidecar(case: str, good: Data, tmp_path: Path) -> None:
    """A sidecar is held to its keys, to the rollouts and to the report."""
    content, expected = SIDECARS[case]
    name = f"{GOLDEN}_golden_report_metrics.json"
    assert ids(found(tmp_path, good, "golden", **{name: content})) == expected


def test_sanitized_package(good: Data, tmp_path: Path) -> None:
    """Where texts were redacted, counts of failure modes may differ; scores may not."""
    known = replace(good, metrics={"model_a": {**RECOMPUTED, "failure_modes": {"X": 1}}})
    content = {**METRICS, "failure_modes": {"X": 2}}
    changes = {f"{GOLDEN}_golden_report_metrics.json": json.dumps(content)}
    assert ids(found(tmp_path, known, "golden", **changes)) == {"metrics.values"}
    checks = found(tmp_path, known, "golden", **changes, **{"redactions.json": "{}"})
    assert (ids(checks), ids(checks, WARN)) == (set(), {"metrics.values"})
    content["total_tasks"] = 77
    changes = {f"{GOLDEN}_golden_report_metrics.json": json.dumps(content)}
    assert ids(found(tmp_path, known, "golden", **changes)) == {"metrics.values", "metrics.report"}


def test_published_names(good: Data, tmp_path: Path) -> None:
    """A sidecar with the names that published ones use is read as well."""
    content = {
        "model": "model_a",
        "benchmark": BENCHMARK,
        "pass_at_1": 0.38,
        "pass_at_k": 0.5,
        "num_tasks": 4,
        "num_rollouts": 8,
    }
    name = f"{GOLDEN}_golden_report_metrics.json"
    failed = ids(found(tmp_path, good, "golden", **{name: json.dumps(content)}))
    assert failed == {"metrics.report"}, "0.38 is 0.375 to two digits, but not what the report says"


FILES_OF_FACTS = {
    "absent": (None, {"facts.present"}),
    "a list": ("[]", {"facts.present"}),
    "empty": (json.dumps(facts(())), {"facts.present"}),
    "too few": (json.dumps(facts(FACTS[:7])), {"facts.count"}),
    "one fact eight times": (json.dumps(facts(FACTS[:1] * 8)), {"facts.distinct", "facts.count"}),
    "the same in other words": (
        json.dumps(facts((*FACTS, FACTS[0].replace("explains", "explained")))),
        {"facts.distinct"},
    ),
    "short": (json.dumps(facts((*FACTS, "Task 3 fails."))), {"facts.length"}),
    "a total": (
        json.dumps(facts((*FACTS, "The run has 8 rollouts of all the tasks."))),
        {"facts.concrete"},
    ),
    "an aggregate": (
        json.dumps(facts((*FACTS, "The overall pass@1 is 37.5% over 4 tasks."))),
        {"facts.concrete"},
    ),
    "a task that is not there": (
        json.dumps(
            facts((*FACTS, "Task 7 fails in both repeats because they write to a customer."))
        ),
        {"facts.exist", "facts.reported"},
    ),
    "a claim of no report": (
        json.dumps(
            facts((*FACTS, "`model_a/3:1` deletes the calendar of a colleague by mistake."))
        ),
        {"facts.reported"},
    ),
    "another number": (
        json.dumps(facts((*FACTS[1:], FACTS[0].replace("3 of 5", "4 of 5")))),
        {"facts.reported"},
    ),
    "no difficulty": (json.dumps(facts()).replace('"high"', '"hard"'), {"facts.shape"}),
    "another benchmark": (json.dumps(facts(benchmark="chair")), {"facts.shape"}),
    "another model": (json.dumps(facts(model="model_b")), {"facts.shape"}),
    "no objects": (json.dumps(facts(anchor_facts=[1, None, "x"])), {"facts.shape", "facts.count"}),
}


@pytest.mark.parametrize("case", FILES_OF_FACTS)
def test_anchor_facts(case: str, good: Data, tmp_path: Path) -> None:
    """Facts must be enough, whole, concrete, distinct, true to rollouts and report."""
    content, expected = FILES_OF_FACTS[case]
    name = f"{GOLDEN}_anchor_facts.json"
    assert ids(found(tmp_path, good, "golden", **{name: content})) == expected


def test_facts_nobody_reviewed(good: Data, tmp_path: Path) -> None:
    """Drafted facts are to be looked at; they fail nothing."""
    content = {f"{GOLDEN}_anchor_facts.json": json.dumps(facts(review_required=True))}
    checks = found(tmp_path, good, "golden", **content)
    assert (ids(checks), ids(checks, WARN)) == (set(), {"facts.reviewed"})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "present"),
        ("no heading", "present"),
        (REPORT, "shallow"),
        (SHALLOW + REPORT, "shallow"),
    ],
)
def test_shallow_baseline(content: str | None, expected: str, good: Data, tmp_path: Path) -> None:
    """A baseline must be there, and be no report."""
    checks = found(tmp_path, good, "golden", **{f"{GOLDEN}_shallow.md": content})
    assert ids(checks) == {f"shallow.{expected}"}


def test_comparison_report(good: Data, tmp_path: Path) -> None:
    """A comparison needs neither metrics, facts nor baseline; files of no report are told."""
    changes: dict[str, Any] = {"golden_reports/model_a_vs_model_b_golden_report.md": REPORT}
    changes |= {f"{GOLDEN}_golden_report.md": None, "golden_reports/.keep_shallow.md": ""}
    checks = found(tmp_path, good, "golden", **changes)
    assert ids(checks) == set()
    orphans = sorted(each.file for each in checks if each.id == "golden.orphans")
    assert orphans == [
        f"{GOLDEN}_anchor_facts.json",
        f"{GOLDEN}_golden_report_metrics.json",
        f"{GOLDEN}_shallow.md",
    ]


def test_drafts_are_not_golden(good: Data, tmp_path: Path) -> None:
    """Reports among the drafts count for nothing."""
    names = ("golden_report.md", "golden_report_metrics.json", "anchor_facts.json", "shallow.md")
    changes: dict[str, Any] = {f"{GOLDEN}_{name}": None for name in names}
    changes["golden_reports/drafts/model_a_golden_report.md"] = REPORT
    checks = found(tmp_path, good, "golden", **changes)
    assert [(each.id, each.status) for each in checks] == [("golden.present", FAIL)]
    assert "1 file in drafts" in checks[0].message


def test_task_of_a_heading() -> None:
    """A fact that names the task of a heading is in the report where the sentence is below it."""
    from pipeline.package.reading import read
    from pipeline.package.statements import of_text, statements
    from pipeline.package.validate.fact_matching import is_in_report

    lines = "The agent asks for a refund of the fare.\nThe commonest error is that the card is low."
    told = list(statements(read(f"## Never-Pass Deep Dives\n\n### Task `31`\n\n{lines}\n")))
    fact = "Task `{}`: The commonest error is that the card is low."
    assert is_in_report(of_text(fact.format(31)), told)
    assert not is_in_report(of_text(fact.format(32)), told)


def test_nothing_to_compare(good: Data, tmp_path: Path) -> None:
    """Where there is one run, a line is enough for the comparison; with two it is not."""
    start, end = REPORT.index("## Cross-Model"), REPORT.index("## Recommendations")
    line = "## Cross-Model Comparison\n\nThere is one run: nothing can be compared.\n\n"
    content = {f"{GOLDEN}_golden_report.md": REPORT[:start] + line + REPORT[end:]}
    alone = replace(good, runs=good.runs[:1])
    assert "golden.substance" not in ids(found(tmp_path / "a", alone, "golden", **content))
    assert "golden.substance" in ids(found(tmp_path / "b", good, "golden", **content))


@pytest.mark.parametrize(
    ("text", "is_filler"),
    [
        ("TODO: say more.", True),
        ("Here comes <your text>.", True),
        ('Answer with {"answer": "<your answer>"} and nothing else.', False),
        ("The task is to write a TODO list.", False),
    ],
)
def test_filler(text: str, is_filler: bool) -> None:
    """What waits to be written is filler; what a quoted prompt says is not."""
    from pipeline.package.validate.prose import FILLER

    assert (FILLER.search(text) is not None) == is_filler
