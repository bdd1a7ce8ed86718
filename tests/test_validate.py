"""What `blade validate` finds in a package, without the cost of whole analyses."""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
import re
from pathlib import Path
from typing import Any

import pytest

import pipeline.package.validate
from pipeline.package.layout import package
from pipeline.package.validate import (
    FAIL,
    PASS,
    SKIP,
    WARN,
    Check,
    Data,
    Leak,
    readiness,
    validate,
)
from pipeline.package.validate.check import Rule
from pipeline.report.sources import CONTRADICTED, Finding
from tests.checked_packages import GOLDEN, found, good_rollouts, ids, known
from tests.conftest import ROOT
from tests.packages import (
    BENCHMARK,
    SKILL,
    rows,
    write_package,
)
from tests.results import asked, failure, lines, write


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The rollouts of the good package."""
    return good_rollouts(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> list[Check]:
    """Rollout files that are each wrong in one way, in one package."""
    shuffled = [{**row, "_ng_task_index": row["_ng_task_index"] + 40} for row in rows("model_a")]
    random.Random(1).shuffle(shuffled)
    renamed = [json.loads(lines([row]).replace("model_a", "model_q")) for row in rows("model_b")]
    content: dict[str, Any] = {
        "copied_rollouts.jsonl": rows("model_a"),
        "shuffled_rollouts.jsonl": shuffled,
        "renamed_rollouts.jsonl": [
            {**row, "response": {**row["response"], "model": "other"}} for row in renamed
        ],
        "rescored_rollouts.jsonl": [
            {**row, "reward": 1 - row["reward"]} for row in rows("model_b")
        ],
        "cut_rollouts.jsonl": rows("model_b")[:-1],
        "unsafe_x_rollouts.jsonl": _asking("unsafe", rows("model_b")),
        "text_rollouts.jsonl": [
            {**row, "reward": str(row["reward"])} for row in _asking("text", rows("model_a"))
        ],
        "failed_rollouts.jsonl": [failure(task, 0, "timeout_exceeded") for task in range(4)],
        "inputs_rollouts.jsonl": [asked(task, 0) for task in range(4)],
        "nameless_rollouts.jsonl": [
            _without(row, "_ng_") for row in _asking("no", rows("model_b"))
        ],
        "batch_rollouts.jsonl": [
            {**row, "reward": 0.37} for row in _asking("one", rows("model_b"))
        ],
        "bare_rollouts.jsonl": [
            _without({**row, "response": {"output": []}}, "category", "num_matched")
            for row in _asking("bare", rows("model_b"))
        ],
        "broken_rollouts.jsonl": '[1, 2]\n"text"\nnot json\n'
        + lines(_asking("b", rows("model_b"))),
        ".hidden_rollouts.jsonl": rows("model_a"),
    }
    folder = tmp_path_factory.mktemp("odd") / BENCHMARK
    write(folder, {f"rollouts/{name}": given for name, given in content.items()})
    write(folder, {"rollouts/model_a_rollouts.jsonl": rows("model_a")})
    write(folder, {"rollouts/model_b_rollouts.jsonl": rows("model_b")})
    return validate(package(folder), known(folder), phases=["rollouts"])


def _asking(what: str, given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rollouts of other questions: no copies of anything."""
    return [
        {**row, "responses_create_params": {"input": f"{what} {row['_ng_task_index']}"}}
        for row in given
    ]


def _without(row: dict[str, Any], *starts: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if not key.startswith(starts)}


def test_every_check_is_documented() -> None:
    """docs/package.md has a row for every check there is, and for no other."""
    modules = [
        importlib.import_module(f"pipeline.package.validate.{each.name}")
        for each in pkgutil.iter_modules(pipeline.package.validate.__path__)
    ]
    rules = {
        each.id for module in modules for each in vars(module).values() if isinstance(each, Rule)
    }
    text = (ROOT / "docs" / "package.md").read_text(encoding="utf-8")
    section = text.partition("## blade validate\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+\.\w+)` \|", section, re.MULTILINE)) == rules


def test_good_package(good: Data, tmp_path: Path) -> None:
    """A whole package passes every check and every item of the checklist."""
    checks = found(tmp_path, good, "skill", "rollouts", "golden", "sharing")
    assert {each.status for each in checks} == {PASS}
    assert [item.status for item in readiness(checks)] == [PASS] * 7


SKILLS = {
    "absent": (None, {"skill.present"}),
    "blank": (" \n\n", {"skill.present"}),
    "bytes": (b"\xff\xfe\x00", {"skill.present"}),
    "no frontmatter": (SKILL.partition("---\n\n")[2], {"skill.frontmatter"}),
    "frontmatter not ended": (SKILL.replace("---\n\n", "\n", 1), {"skill.frontmatter"}),
    "no name": (SKILL.replace("name: desk-analysis\n", ""), {"skill.frontmatter"}),
    "empty description": (
        SKILL.replace("  How to analyze rollouts of the desk benchmark,\n", "").replace(
            "  and which labels its failures get.\n", ""
        ),
        {"skill.frontmatter"},
    ),
    "strange name": (SKILL.replace("desk-analysis", "../../etc"), {"skill.frontmatter"}),
    "no taxonomy": (SKILL.replace("## Failure taxonomy", "## Odds and ends"), {"skill.section"}),
    "labels without rules": (
        SKILL.partition("| label")[0]
        + "Failures are sorted by whoever reads them, in whatever way seems fit to them that day: "
        "some are bad, some are worse, and a few of them are hard to tell from passes at all.\n\n"
        + SKILL[SKILL.index("## Analysis workflow") :],
        {"skill.labels"},
    ),
    "fields of another benchmark": (
        SKILL.replace("`_ng_task_index`", "`sample`").replace("`num_matched`", "`verdict`"),
        {"skill.fields"},
    ),
    "a template of another report": (
        SKILL.partition("- Executive")[0]
        + "- Title\n- Score of the model in words\n" * 3
        + "- Everything else that came to mind while it was written, in any order at all\n",
        {"skill.template"},
    ),
    "no stages": (
        SKILL.partition("1. started")[0]
        + "A rollout goes from its start to its end in the way that the agent chose for it, and on "
        "the way some of them are lost while others get through to be scored in the end.\n\n"
        + SKILL[SKILL.index("## Failure taxonomy") :],
        {"skill.stages"},
    ),
    "a draft": (SKILL + "\n<!-- curate: say why -->\n", {"skill.curated"}),
    "filler": (
        SKILL.replace("The desk benchmark asks", "TODO: say more. The desk benchmark asks"),
        {"skill.section"},
    ),
}


@pytest.mark.parametrize("case", SKILLS)
def test_skill(case: str, good: Data, tmp_path: Path) -> None:
    """A skill that lacks one thing fails by the name of that thing, and by no other."""
    content, expected = SKILLS[case]
    assert ids(found(tmp_path, good, "skill", **{"skill/SKILL.md": content})) == expected


def test_generic_skill(good: Data, tmp_path: Path) -> None:
    """A skill that could be any benchmark's is not this one's."""
    generic = SKILL
    for name in ("desk", "crm_search", "crm_update", "num_matched", "category", "crm"):
        generic = generic.replace(name, "thing")
    failed = ids(found(tmp_path, good, "skill", **{"skill/SKILL.md": generic}))
    assert failed == {"skill.specific", "skill.fields"}


def test_repeated_sentences(good: Data, tmp_path: Path) -> None:
    """A sentence that stands in every section is one section's worth of words."""
    said = (
        "Read each failing trajectory slowly, compare its calls with those of a passing attempt, "
        "write down the first difference, name a cause, and cite the rollout that shows it best. "
    )
    titles = (
        *("Overview", "Input schema", "Workflow funnel"),
        *("Failure taxonomy", "Analysis workflow"),
    )
    hollow = SKILL.partition("# Desk")[0] + "".join(f"## {name}\n\n{said}\n\n" for name in titles)
    checks = found(tmp_path, good, "skill", **{"skill/SKILL.md": hollow})
    thin = [each.message for each in checks if each.id == "skill.section" and each.status == FAIL]
    assert [message.split(" (")[0].split(":")[0] for message in thin] == [
        *titles[1:],
        "Report template",
    ]


def test_rollout_files(odd: list[Check]) -> None:
    """Each wrong file fails for what is wrong with it, and no other does."""
    failed = {
        (each.id, each.file.removeprefix("rollouts/").partition("_rollouts")[0])
        for each in odd
        if each.status == FAIL
    }
    assert {each for each in failed if each[1]} == {
        ("rollouts.reward", "text"),
        ("rollouts.sidecars", "failed"),
        ("rollouts.sidecars", "inputs"),
        ("rollouts.task_id", "nameless"),
        ("rollouts.rollout_id", "nameless"),
        ("rollouts.reward_varies", "batch"),
        ("rollouts.output", "bare"),
        ("rollouts.verifier", "bare"),
        ("rollouts.usable", "broken"),
    }
    looked_at = {(each.id, each.file) for each in odd if each.status == WARN}
    assert {
        ("rollouts.metadata", "rollouts/bare_rollouts.jsonl"),
        ("rollouts.trusted", ""),
    } <= looked_at


def test_copies_of_a_run(odd: list[Check]) -> None:
    """Same bytes, and rows in another order under other indices, are the same run."""
    told = [each.message for each in odd if each.id == "rollouts.different"]
    pairs = {tuple(sorted(message.partition(" share")[0].split(" and "))) for message in told}
    assert pairs == {
        ("copied", "model_a"),
        ("copied", "shuffled"),
        ("model_a", "shuffled"),
        ("cut", "model_b"),
        ("cut", "renamed"),
        ("cut", "rescored"),
        ("model_b", "renamed"),
        ("model_b", "rescored"),
        ("renamed", "rescored"),
    }


def test_what_others_found(good: Data, tmp_path: Path) -> None:
    """Contradictions and leaks that are handed in fail, each where it stands."""
    wrong = Finding(12, CONTRADICTED, "3 of 9", "3 of 8", "", "ratio", "model_a_golden_report.md")
    report = tmp_path / BENCHMARK / f"{GOLDEN}_golden_report.md"
    checks = found(tmp_path, good, "golden", contradictions={report: [wrong]})
    (told,) = [each for each in checks if each.status == FAIL]
    assert (told.id, told.line) == ("golden.verified", 12)
    leaks = [Leak("rollouts/a.jsonl", 7, "e-mail"), Leak("rollouts/a.jsonl", 3, "path")]
    shared = validate(package(tmp_path / BENCHMARK), good, phases=["sharing"], leaks=leaks)
    assert [(each.status, each.file, each.line) for each in shared] == [
        (FAIL, "rollouts/a.jsonl", 3)
    ]


def test_nothing_is_passed_unchecked(tmp_path: Path) -> None:
    """Without rollouts what depends on them is told as not checked, and is not ready."""
    folder = write_package(tmp_path, **{"rollouts/model_b_rollouts.jsonl": None})
    checks = validate(package(folder), None, reason="why not")
    assert ids(checks) == {"rollouts.readable"}
    assert ids(checks, SKIP) == {
        *("skill.fields", "skill.specific", "golden.evidence", "golden.verified"),
        *("metrics.values", "facts.exist", "sanitized.clean"),
    }
    assert PASS not in {item.status for item in readiness(checks)[:3]}
