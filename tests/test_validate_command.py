"""`blade validate` as a person calls it: whole analyses of small packages."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DEMO
from tests.packages import METRICS, REPORT, facts, rows, write_package
from tests.results import blade, call, failure, lines

GOLDEN = "golden_reports/model_a"
SEVEN = 7


def statuses(folder: Path, *options: str) -> dict[str, set[str]]:
    """The statuses of each check, by id."""
    answer = json.loads(call("validate", "--benchmark-dir", folder, "--json", *options).stdout)
    found: dict[str, set[str]] = {}
    for each in answer["checks"]:
        found.setdefault(each["id"], set()).add(each["status"])
    return found


def failed(folder: Path, *options: str) -> set[str]:
    """The checks that fail."""
    return {each for each, found in statuses(folder, *options).items() if "FAIL" in found}


@pytest.mark.slow
def test_good_package(tmp_path: Path) -> None:
    """No check of the good package fails, phase by phase and as a whole."""
    folder = write_package(tmp_path)
    for phase in ("skill", "rollouts", "golden"):
        outcome = call("validate", "--benchmark-dir", folder, "--phase", phase)
        assert (outcome.code, "[FAIL]" in outcome.stdout) == (0, False)
        assert "Readiness" not in outcome.stdout
    outcome = call("validate", "--benchmark-dir", folder, "--phase", "all")
    assert (outcome.code, outcome.stdout.splitlines()[-1]) == (0, "BLADE-ready.")
    checklist = outcome.stdout.partition("Readiness checklist\n")[2].splitlines()
    assert [line[:6] for line in checklist[:SEVEN]] == ["[PASS]"] * SEVEN


@pytest.mark.slow
def test_what_verify_and_sanitize_find(tmp_path: Path) -> None:
    """A figure that the rollouts contradict fails, and so does a key that nobody took out."""
    key = "AKIA" + "Q3EGRIZ7XK2LPWVT"
    wrong = REPORT.replace("It gains task 1 whole", f"Its key was {key}. It gains task 1 whole")
    wrong = wrong.replace("3 of 8 rollouts (37.5%)", "3 of 8 rollouts (47.5%)")
    folder = write_package(tmp_path, **{f"{GOLDEN}_golden_report.md": wrong})
    outcome = call("validate", "--benchmark-dir", folder)
    line = next(n for n, text in enumerate(wrong.splitlines(), 1) if "47.5%" in text)
    assert (
        f"[FAIL] report agrees with the rollouts: model_a_golden_report.md:{line}" in outcome.stdout
    )
    assert f"[FAIL] sanitization: {GOLDEN}_golden_report.md:" in outcome.stdout
    assert key not in outcome.stdout


@pytest.mark.slow
def test_hollow_package(tmp_path: Path) -> None:
    """A package of which only the shape is right fails on each count, by name."""
    headings = [line for line in REPORT.splitlines() if line.startswith("#")]
    changes: dict[str, Any] = {
        "skill/SKILL.md": "---\nname: desk\ndescription: a skill\n---\n\n# Desk\n\n## Overview\n\n",
        "rollouts/model_a_rollouts.jsonl": [
            {**row, "reward": str(row["reward"])} for row in rows("model_a")
        ],
        "rollouts/model_b_rollouts.jsonl": [failure(task, 0, "skipped") for task in range(9)],
        f"{GOLDEN}_golden_report.md": "\n\n".join(headings),
        f"{GOLDEN}_golden_report_metrics.json": json.dumps({**METRICS, "pass_at_1": 99.9}),
        f"{GOLDEN}_anchor_facts.json": json.dumps(
            facts(("The model fails because it fails.",) * 8)
        ),
    }
    folder = write_package(tmp_path, **changes)
    outcome = call("validate", "--benchmark-dir", folder)
    assert outcome.code == 1
    assert "Not BLADE-ready" in outcome.stdout
    for line in (
        "[FAIL] YAML frontmatter: skill/SKILL.md: a description of 2 words",
        "[FAIL] skill section: Overview (line 8) is blank",
        "[FAIL] At least two scored rollout files: 0 scored runs",
        "runs: rollouts/model_b_rollouts.jsonl: of 9 rows 9 failed attempts and 0 inputs",
        "number: rollouts/model_a_rollouts.jsonl: 8 of 8 rows without a number, 8 of them texts",
        "[FAIL] report sections substantive: golden_reports/model_a_golden_report.md: blank: Exec",
        "[FAIL] report cites task-level evidence: golden_reports/model_a_golden_report.md: 0",
        "_metrics.json: pass_at_1 is 99.9, expected no value",
        "_facts.json: f2, f3, f4, f5, f6 and 2 more repeat f1",
        "[FAIL] anchor facts are concrete: golden_reports/model_a_anchor_facts.json: f1",
    ):
        assert line in outcome.stdout


@pytest.mark.slow
@pytest.mark.parametrize("how", ["bytes", "shuffled", "renamed", "failures"])
def test_one_run_twice(how: str, tmp_path: Path) -> None:
    """A copy of a run under another name is no second run."""
    copied = rows("model_a")
    if how == "shuffled":
        random.Random(3).shuffle(copied)
    if how == "renamed":
        copied = json.loads(json.dumps(copied).replace('"model": "model_a"', '"model": "model_b"'))
    if how == "failures":
        copied = [{**row, "_ng_failure_class": "transient", "reward": 0.0} for row in copied]
    folder = write_package(tmp_path, **{"rollouts/model_b_rollouts.jsonl": copied})
    expected = (
        {"rollouts.sidecars", "rollouts.scored"} if how == "failures" else {"rollouts.different"}
    )
    assert failed(folder, "--phase", "rollouts") == expected


@pytest.mark.slow
def test_runs_of_other_questions(tmp_path: Path) -> None:
    """Two runs that asked different things cannot be compared, though their indices match."""
    other = [
        {**row, "responses_create_params": {"input": f"another {row['_ng_task_index']}"}}
        for row in rows("model_b")
    ]
    folder = write_package(tmp_path, **{"rollouts/model_b_rollouts.jsonl": other})
    assert failed(folder, "--phase", "rollouts") == {"rollouts.comparable"}


@pytest.mark.slow
def test_rollouts_in_folders_and_packed(tmp_path: Path) -> None:
    """Rollouts that lie deeper, or are packed, are the package's too."""
    packed = gzip.compress(lines(rows("model_b")).encode())
    changes = {
        "rollouts/model_a_rollouts.jsonl": None,
        "rollouts/model_b_rollouts.jsonl": None,
        "rollouts/model_a/rollouts.jsonl": rows("model_a"),
        "rollouts/model_b_rollouts.jsonl.gz": packed,
    }
    found = failed(write_package(tmp_path, **changes))
    assert found == {"sanitized.clean"}, "nobody can look for private data in what is packed"


@pytest.mark.slow
def test_layouts(tmp_path: Path) -> None:
    """A skill at the root, rollouts under data/ and names with dashes are read too."""
    folder = write_package(tmp_path)
    (folder / "skill" / "SKILL.md").rename(folder / "SKILL.md")
    (folder / "rollouts").rename(folder / "data")
    (folder / "rollouts").mkdir()
    (folder / "data" / "train.jsonl").write_text("not a rollout\n")
    reports = folder / "golden_reports"
    for path in sorted(reports.iterdir()):
        path.rename(reports / path.name.replace("_", "-").replace("model-a", "model_a"))
    assert failed(folder) == set()


def odd_package(folder: Path) -> Path:
    """Everything that a folder can do to a reader."""
    deep = "[" * 50_000
    package = write_package(
        folder,
        **{
            "skill/SKILL.md": b"---\nname: \x1b[31m\xff\n---\n",
            "rollouts/a_rollouts.jsonl": '[1]\n"x"\nnull\n{"reward": NaN}\n' + deep + "\n{}\n",
            "rollouts/b_rollouts.jsonl": b"\xff\xfe\x00\n" * 3,
            "rollouts/c_rollouts.jsonl": "",
            "rollouts/d_rollouts.jsonl": lines(rows("model_b")).replace(
                "task", "\\u001b]0;x\\u0007"
            ),
            f"{GOLDEN}_golden_report.md": "# \x1b[2J\n"
            + "x" * 3_000_000
            + "\n"
            + "> " * 500
            + "a\n",
            f"{GOLDEN}_golden_report_metrics.json": '{"pass_at_1": ' + deep,
            f"{GOLDEN}_anchor_facts.json": '{"anchor_facts": [[], {"fact": "\\u001b[31m"}, 3]}',
            f"{GOLDEN}_shallow.md": None,
            ".github/workflows/x.yml": "on: push\n",
        },
    )
    (package / f"{GOLDEN}_shallow.md").mkdir()
    (package / "golden_reports" / "b_golden_report.md").mkdir()
    (package / "golden_reports" / "c_golden_report.md").symlink_to("c_golden_report.md")
    (package / "golden_reports" / "loop").symlink_to("..")
    (package / "rollouts" / "loop").symlink_to("..")
    (package / "rollouts" / "e_rollouts.jsonl").mkdir()
    return package


@pytest.mark.slow
def test_odd_files(tmp_path: Path) -> None:
    """Whatever stands in a folder, each line is plain text, and the command ends with 1."""
    outcome = call("validate", "--benchmark-dir", odd_package(tmp_path))
    assert outcome.code == 1
    assert not any(ord(character) < 32 and character != "\n" for character in outcome.stdout)
    told = [line for line in outcome.stdout.splitlines() if line.startswith("[FAIL]")]
    for words in ("SKILL.md is not UTF-8", "b_golden_report.md is a folder", "nested too deeply"):
        assert any(words in line for line in told)


@pytest.mark.slow
def test_same_answer_whatever_the_hash_seed(tmp_path: Path) -> None:
    """The answer does not depend on the order of sets."""
    folder = odd_package(tmp_path)
    answers = {
        blade(
            *("validate", "--benchmark-dir", folder, "--json"),
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    (answer,) = answers
    assert json.loads(answer)["summary"]["failed"]
    assert str(tmp_path) not in answer


def test_folders_that_are_no_package(tmp_path: Path) -> None:
    """An empty folder lacks three things, by name; an absent one is an error."""
    assert failed(tmp_path) == {"skill.present", "rollouts.present", "golden.present"}
    told = call("validate", "--benchmark-dir", tmp_path).stdout
    assert "D1 skill missing" in told
    assert "Not BLADE-ready: 6 of 7" in told
    absent = call("validate", "--benchmark-dir", tmp_path / "absent")
    assert (absent.code, "no such folder" in absent.stderr) == (3, True)
    (tmp_path / "file").touch()
    assert call("validate", "--benchmark-dir", tmp_path / "file").code == 3
    policy = call("validate", "--benchmark-dir", tmp_path, "--policy", tmp_path / "absent.toml")
    assert (policy.code, "absent.toml" in policy.stderr) == (3, True)


def test_results_folder() -> None:
    """Of a results folder it says how to make a package of it."""
    told = call("validate", "--benchmark-dir", DEMO, "--phase", "rollouts").stdout
    assert "office_desk_aster-8b_rollouts.jsonl" in told
    assert "blade init --benchmark-dir PACKAGE --benchmark NAME --results THIS_FOLDER" in told
