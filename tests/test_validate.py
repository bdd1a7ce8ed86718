"""What `blade validate` finds in a package: each fault by the name of its rule."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.package.layout import package
from pipeline.package.validate import (
    FAIL,
    PASS,
    RULES,
    SKIP,
    WARN,
    Check,
    Subject,
    findings,
    readiness,
    validate,
)
from pipeline.run import part
from pipeline.settings import Settings
from pipeline.warehouse import Warehouse
from tests.conftest import DEMO, REPORTS, ROOT
from tests.lean import LOADED, only
from tests.results import Row, asked, blade, call, called, failure, lines, rollout, write, wrote

BENCHMARK = "desk"
# Rewards by task and repeat: model_a has pass@1 (1 + 0.5 + 0 + 0) / 4 and any pass 2 of 4.
REWARDS = {
    "model_a": ((1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
    "model_b": ((1.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)),
}
METRICS: Row = {
    "model_name": "model_a",
    "benchmark": BENCHMARK,
    "pass_at_1": 0.375,
    "pass_at_k": 0.5,
    "total_tasks": 4,
    "total_rollouts": 8,
}

SKILL = (REPORTS / "desk/SKILL.md").read_text(encoding="utf-8")
REPORT = (REPORTS / "desk/golden_report.md").read_text(encoding="utf-8")
SHALLOW = (REPORTS / "desk/shallow.md").read_text(encoding="utf-8")

FACTS = tuple((REPORTS / "desk/facts.txt").read_text(encoding="utf-8").splitlines())


def rows(model: str) -> list[Row]:
    """The rollouts of a model: what it says differs by model, task and repeat."""
    return [
        _row(model, task, index, reward)
        for task, rewards in enumerate(REWARDS[model])
        for index, reward in enumerate(rewards)
    ]


def facts(texts: tuple[str, ...] = FACTS, **fields: Any) -> Row:
    """A file of anchor facts."""
    listed = [
        {"id": f"f{place}", "fact": text, "difficulty": "high", "mean_score": None}
        for place, text in enumerate(texts, 1)
    ]
    return {"benchmark": BENCHMARK, "model": "model_a", "anchor_facts": listed, **fields}


def files() -> dict[str, Any]:
    """All files of the package by name."""
    golden = "golden_reports/model_a"
    return {
        "skill/SKILL.md": SKILL,
        "rollouts/model_a_rollouts.jsonl": rows("model_a"),
        "rollouts/model_b_rollouts.jsonl": rows("model_b"),
        f"{golden}_golden_report.md": REPORT,
        f"{golden}_golden_report_metrics.json": json.dumps(METRICS),
        f"{golden}_anchor_facts.json": json.dumps(facts()),
        f"{golden}_shallow.md": SHALLOW,
    }


def write_package(folder: Path, **changes: Any) -> Path:
    """The package below `folder`, with files by name replaced, or left out where None."""
    content = {**files(), **changes}
    return write(folder / BENCHMARK, {k: v for k, v in content.items() if v is not None})


def _row(model: str, task: int, index: int, reward: float) -> Row:
    return rollout(
        task,
        index,
        reward=reward,
        model=model,
        output=_output(model, task, index),
        category="mail" if task % 2 else "crm",
        num_matched=int(reward),
    )


def _output(model: str, task: int, index: int) -> list[Row]:
    """What the report tells: who searches first, who guesses an id, and who gives up."""
    guessed = {(1, 1): "00017", (2, 0): "00099", (2, 1): "00099"} if model == "model_a" else {}
    attempt = f"This was attempt {index} of {model} at task {task}."
    if task == 3:
        return [*_called("crm_search", {"name": "Smiht"}, []), *wrote(f"{attempt} I stop here.")]
    customer = guessed.get((task, index), f"0001{task}")
    search = (
        [] if (task, index) in guessed else _called("crm_search", {"name": "Smith"}, [customer])
    )
    update = _called("crm_update", {"customer_id": customer}, "ok")
    return [*search, *update, *wrote(f"{attempt} I changed customer {customer}.")]


def _called(name: str, arguments: Row, answer: Any) -> list[Row]:
    return called(name, arguments, json.dumps({"result": answer}))


GOLDEN = "golden_reports/model_a"
REPORT_FILE, METRICS_FILE = f"{GOLDEN}_golden_report.md", f"{GOLDEN}_golden_report_metrics.json"
FACTS_FILE, SHALLOW_FILE = f"{GOLDEN}_anchor_facts.json", f"{GOLDEN}_shallow.md"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """What is known of the rollouts of the good package."""
    folder = write_package(tmp_path_factory.mktemp("good"))
    made = part(Settings(results=(folder / "rollouts",), out=folder.parent / "out"))
    return pipeline.open_warehouse(made)


def found(folder: Path, data: Warehouse | None, *phases: str, **changes: Any) -> list[Check]:
    """The checks of the package with some files changed."""
    read = package(write_package(folder, **changes))
    reported = findings(read, data) if "golden" in phases else {}
    return validate(Subject(read, data, "", 8, [], reported), phases)


def ids(checks: list[Check], status: str = FAIL) -> set[str]:
    """The checks with a status."""
    return {each.id for each in checks if each.status == status}


def failed(folder: Path, *options: str) -> set[str]:
    """The rules that fail, by a whole call."""
    answer = json.loads(call("validate", "--benchmark-dir", folder, "--json", *options).stdout)
    return {each["id"] for each in answer["checks"] if each["status"] == FAIL}


def test_every_rule_is_documented() -> None:
    """docs/package.md has a row for every rule, and for no other; each says what to do."""
    text = (ROOT / "docs" / "package.md").read_text(encoding="utf-8")
    section = text.partition("## blade validate\n")[2].partition("\n## ")[0]
    written = re.findall(r"^\| `(\w+\.\w+)` \|", section, re.MULTILINE)
    assert written == list(RULES)
    assert all(rule.meaning.endswith(".") and rule.fix.endswith(".") for rule in RULES.values())


@pytest.mark.slow
def test_good_package(good: Warehouse, tmp_path: Path) -> None:
    """A whole package passes every rule and every item of the checklist."""
    checks = found(tmp_path, good, "skill", "rollouts", "golden", "sharing")
    assert {each.status for each in checks} == {PASS}
    reported = {each.id for each in checks}
    silent = {"golden.orphans", "golden.registers", "facts.reviewed"}
    assert reported == set(RULES) - silent
    assert [item["status"] for item in readiness(checks)] == [PASS] * 7


CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "no skill": ({"skill/SKILL.md": None}, {"skill.present"}),
    "no frontmatter": ({"skill/SKILL.md": SKILL.partition("---\n\n")[2]}, {"skill.frontmatter"}),
    "blank section": (
        {"skill/SKILL.md": SKILL + "\n## More\n\n<!-- nothing -->\n"},
        {"skill.sections"},
    ),
    "other fields": (
        {"skill/SKILL.md": SKILL.replace("`_ng_task_index`", "`sample`")},
        {"skill.fields"},
    ),
    "skill draft": ({"skill/SKILL.md": SKILL + "<!-- curate: why -->\n"}, {"skill.curated"}),
    "headings alone": (
        {REPORT_FILE: "\n\n".join(re.findall(r"^#.*", REPORT, re.MULTILINE))},
        {"golden.sections", "golden.evidence", "shallow.shallow"},
    ),
    "blank before an indented heading": (
        {REPORT_FILE: REPORT + "\n## Blank\n\n  ## Not blank\n\nThanks.\n"},
        {"golden.sections"},
    ),
    "no citations": (
        {REPORT_FILE: REPORT.replace("`model_a/", "`").replace("`model_b/", "`")},
        {"golden.evidence"},
    ),
    "no such rollout": (
        {REPORT_FILE: REPORT.replace("`model_a/1:0`, which", "`model_a/1:7`, which")},
        {"golden.verified"},
    ),
    "wrong sum": (
        {REPORT_FILE: REPORT.replace("3 of 8 rollouts (37.5%)", "3 of 8 rollouts (47.5%)")},
        {"golden.verified"},
    ),
    "draft": ({REPORT_FILE: REPORT + "\n<!-- curate: say why -->\n"}, {"golden.curated"}),
    "not UTF-8": ({REPORT_FILE: b"# \xe9t\xe9\n"}, {"golden.present"}),
    "pass@1 of 99.9": (
        {METRICS_FILE: json.dumps({**METRICS, "pass_at_1": 99.9})},
        {"metrics.keys", "metrics.values"},
    ),
    "another run": (
        {METRICS_FILE: json.dumps({**METRICS, "model_name": "model_z"})},
        {"metrics.values"},
    ),
    "public names": (
        {
            METRICS_FILE: json.dumps(
                {**METRICS, "model": "model_a", "num_tasks": 4, "num_rollouts": 8}
            )
        },
        set(),
    ),
    "few facts": ({FACTS_FILE: json.dumps(facts(FACTS[:7]))}, {"facts.count"}),
    "one fact eight times": (
        {FACTS_FILE: json.dumps(facts(FACTS[:1] * 8))},
        {"facts.distinct", "facts.count"},
    ),
    "short fact": ({FACTS_FILE: json.dumps(facts((*FACTS, "Task 3.")))}, {"facts.shape"}),
    "fact of no rollout": (
        {FACTS_FILE: json.dumps(facts((*FACTS, "In `model_a/9:0` the agent stops.")))},
        {"facts.exist"},
    ),
    "no baseline": ({SHALLOW_FILE: None}, {"shallow.present"}),
    "deep baseline": ({SHALLOW_FILE: SHALLOW + REPORT}, {"shallow.shallow"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_package_with_a_fault(case: str, good: Warehouse, tmp_path: Path) -> None:
    """A package that lacks one thing fails by the name of that thing, and by no other."""
    changes, expected = CASES[case]
    assert ids(found(tmp_path, good, "skill", "golden", **changes)) == expected


@pytest.mark.slow
def test_what_fails_nothing(good: Warehouse, tmp_path: Path) -> None:
    """Drafted facts and files of no report are to be looked at."""
    changes = {
        FACTS_FILE: json.dumps(facts(review_required=True)),
        "golden_reports/old_shallow.md": "# x",
    }
    checks = found(tmp_path, good, "golden", **changes)
    assert (ids(checks), ids(checks, WARN)) == (set(), {"facts.reviewed", "golden.orphans"})


@pytest.mark.slow
def test_names_and_comparisons(good: Warehouse, tmp_path: Path) -> None:
    """Hyphens and underscores pair; a comparison needs neither metrics, facts nor baseline."""
    changes: dict[str, Any] = {
        "golden_reports/model_a-golden-report.md": REPORT,
        "golden_reports/model_a_vs_model_b_golden_report.md": REPORT,
        REPORT_FILE: None,
    }
    assert ids(found(tmp_path, good, "golden", **changes), FAIL) == set()
    drafts: dict[str, Any] = {
        **dict.fromkeys((REPORT_FILE, METRICS_FILE, FACTS_FILE, SHALLOW_FILE)),
        "golden_reports/drafts/model_a_golden_report.md": REPORT,
    }
    checks = found(tmp_path / "drafts", good, "golden", **drafts)
    assert [(each.id, each.message[-16:]) for each in checks] == [
        ("golden.present", "1 file in drafts")
    ]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> list[Check]:
    """Rollout files that are each wrong in one way, in one package."""

    def asking(what: str, **changes: Any) -> list[dict[str, Any]]:
        """The rollouts of other questions: no copies of anything."""
        return [
            {**row, "responses_create_params": {"input": f"{what} {row['_ng_task_index']}"}}
            | changes
            for row in rows("model_b")
        ]

    shuffled = [{**row, "_ng_task_index": row["_ng_task_index"] + 40} for row in rows("model_a")]
    random.Random(1).shuffle(shuffled)
    content: dict[str, Any] = {
        "model_a": rows("model_a"),
        "model_b": rows("model_b"),
        "shuffled": shuffled,
        "rescored": [{**row, "reward": 1 - row["reward"]} for row in rows("model_b")],
        "cut": rows("model_b")[:-1],
        "text": asking("text", reward="1.0"),
        "failed": [failure(task, 0, "timeout_exceeded") for task in range(4)],
        "inputs": [asked(task, 0) for task in range(4)],
        "nameless": [
            {key: value for key, value in row.items() if not key.startswith("_ng_")}
            for row in asking("no")
        ],
        "batch": asking("one", reward=0.37),
        "bare": asking("bare", response={"output": []}),
        "broken": '[1, 2]\n"text"\nnot json\n' + lines(asking("b")),
    }
    folder = tmp_path_factory.mktemp("odd") / BENCHMARK
    write(folder, {f"rollouts/{name}_rollouts.jsonl": given for name, given in content.items()})
    with only(*LOADED):
        made = pipeline.analyze(folder / "rollouts", out=folder.parent / "out").warehouse
    return validate(Subject(package(folder), pipeline.open_warehouse(made)), ["rollouts"])


@pytest.mark.slow
def test_rollout_files(odd: list[Check]) -> None:
    """Each wrong file fails for what is wrong with it, and no other does; copies are one run."""
    wrong = {(each.id, each.file.partition("_rollouts")[0]) for each in odd if each.status == FAIL}
    assert {each for each in wrong if each[1]} == {
        ("rollouts.reward", "text"),
        ("rollouts.sidecars", "failed"),
        ("rollouts.sidecars", "inputs"),
        ("rollouts.task_id", "nameless"),
        ("rollouts.rollout_id", "nameless"),
        ("rollouts.reward_varies", "batch"),
        ("rollouts.output", "bare"),
        ("rollouts.usable", "broken"),
    }
    assert ids(odd, WARN) >= {"rollouts.comparable"}
    reported = [each.message for each in odd if each.id == "rollouts.different"]
    assert {message.partition(" share")[0] for message in reported} == {
        *("model_a and shuffled", "cut and model_b", "cut and rescored", "model_b and rescored")
    }


@pytest.mark.slow
def test_hollow_package(tmp_path: Path) -> None:
    """A package of which only the shape is right fails on each count, by name, and is no error."""
    changes: dict[str, Any] = {
        "skill/SKILL.md": "---\nname: desk\ndescription: a skill\n---\n\n# Desk\n\n## Overview\n",
        "rollouts/model_a_rollouts.jsonl": [{**row, "reward": "1"} for row in rows("model_a")],
        "rollouts/model_b_rollouts.jsonl": [failure(task, 0, "skipped") for task in range(9)],
        REPORT_FILE: "\n\n".join(re.findall(r"^#.*", REPORT, re.MULTILINE)),
        METRICS_FILE: json.dumps({**METRICS, "pass_at_1": 99.9}),
        FACTS_FILE: json.dumps(facts(("The model fails because it fails.",) * 8)),
        "notes.md": "key " + "AKIA" + "Q3EGRIZ7XK2LPWVT",
    }
    folder = write_package(tmp_path, **changes)
    outcome = call("validate", "--benchmark-dir", folder)
    assert (outcome.code, "Not BLADE-ready" in outcome.stdout) == (1, True)
    assert "Q3EGRIZ7" not in outcome.stdout
    assert failed(folder) == {
        *("skill.sections", "skill.parts", "skill.fields", "rollouts.scored", "rollouts.sidecars"),
        *("rollouts.reward", "golden.sections", "golden.evidence", "metrics.keys"),
        *("metrics.values", "facts.distinct", "facts.count", "shallow.shallow", "sanitized.clean"),
    }
    # A second call reads the warehouse that the first one kept, and says the same by any seed.
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    again = blade("validate", "--benchmark-dir", folder, env=env)
    assert (again.stdout, "making" in again.stderr) == (outcome.stdout, False)


@pytest.mark.slow
def test_odd_files(tmp_path: Path) -> None:
    """With anything in a folder, each line is plain text, and the command ends with 1."""
    deep = "[" * 50_000
    changes: dict[str, Any] = {
        "skill/SKILL.md": b"---\nname: \x1b[31m\xff\n---\n",
        "rollouts/a_rollouts.jsonl": '[1]\n"x"\nnull\n{"reward": NaN}\n' + deep + "\n{}\n",
        "rollouts/b_rollouts.jsonl": b"\xff\xfe\x00\n" * 3,
        REPORT_FILE: "# \x1b[2J\n" + "x" * 3_000_000 + "\n" + "> " * 500 + "a\n",
        METRICS_FILE: '{"pass_at_1": ' + deep,
        FACTS_FILE: '{"anchor_facts": [[], {"fact": "\\u001b[31m"}, 3]}',
    }
    folder = write_package(tmp_path, **changes)
    (folder / "golden_reports" / "b_golden_report.md").mkdir()
    (folder / "golden_reports" / "c_golden_report.md").symlink_to("c_golden_report.md")
    (folder / "rollouts" / "loop").symlink_to("..")
    outcome = call("validate", "--benchmark-dir", folder)
    assert outcome.code == 1
    assert not any(ord(character) < 32 and character != "\n" for character in outcome.stdout)
    reported = [line for line in outcome.stdout.splitlines() if line.startswith("[FAIL]")]
    for words in ("SKILL.md: is not UTF-8", "b_golden_report.md: is a folder", "nested too deeply"):
        assert any(words in line for line in reported)


def test_without_rollouts(tmp_path: Path) -> None:
    """What depends on rollouts is reported as not checked; an empty folder lacks three things."""
    assert failed(tmp_path) == {"skill.present", "rollouts.present", "golden.present"}
    assert "Not BLADE-ready: 6 of 7" in call("validate", "--benchmark-dir", tmp_path).stdout
    absent = call("validate", "--benchmark-dir", tmp_path / "absent")
    assert (absent.code, "no such folder" in absent.stderr) == (3, True)
    folder = write_package(tmp_path / "in")
    checks = validate(Subject(package(folder), None, "why not"))
    assert ids(checks) == {"rollouts.present"}
    assert ids(checks, SKIP) == {
        *("skill.fields", "golden.verified", "metrics.values", "facts.exist", "sanitized.clean")
    }
    reported = call("validate", "--benchmark-dir", DEMO, "--phase", "rollouts").stdout
    assert "blade init --benchmark-dir PACKAGE --benchmark NAME --results THIS_FOLDER" in reported


def test_what_verify_finds_without_rollouts_fails(tmp_path: Path) -> None:
    """A sidecar of 0.3581 beside a report of 27.81%, and rows that do not give their total."""
    text = (
        "# model_a on desk\n\n## Overall\n\nmodel_a has a **pass@1 of 27.81%**.\n\n"
        "## Failures\n\n| kind | passed |\n| - | -: |\n| a | 90 |\n| b | 48 |\n"
        "| **Total** | 135 |\n\n## Next steps\n\nRead.\n"
    )
    reported = {**METRICS, "pass_at_1": 0.3581}
    changes = {REPORT_FILE: text, METRICS_FILE: json.dumps(reported)}
    checks = found(tmp_path, None, "golden", **changes)
    assert ids(checks) >= {"golden.verified", "metrics.values"}
    (values,) = [each for each in checks if each.id == "metrics.values"]
    assert "0.3581, expected 27.81%" in values.message
    right = json.dumps({**METRICS, "pass_at_1": 0.2781})
    true = {REPORT_FILE: text.replace("135", "138"), METRICS_FILE: right}
    assert not ids(found(tmp_path / "true", None, "golden", **true)) & {
        *("golden.verified", "metrics.values")
    }


def test_parts_that_a_skill_lacks_are_named(tmp_path: Path) -> None:
    """The six of the public guide, by any words of their headings."""
    short = re.sub(r"## Report template.*", "", SKILL, flags=re.DOTALL)
    changes = {"skill/SKILL.md": short.replace("## Workflow funnel", "## Where they are lost")}
    checks = found(tmp_path, None, "skill", **changes)
    (reported,) = [
        each.message for each in checks if (each.id, each.status) == ("skill.parts", FAIL)
    ]
    assert reported.endswith("no heading names Workflow Funnel, Report Template")
    other = SKILL.replace("## Report template", "## Output structure")
    assert ids(found(tmp_path / "b", None, "skill", **{"skill/SKILL.md": other})) == set()
