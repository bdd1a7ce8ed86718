"""The sample package: its rollouts, its labels, and what its golden report counted by reading."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pipeline.report.sections import SECTIONS
from tests import results
from tests.conftest import DEMO, ROOT

PACKAGE = ROOT / "data_samples" / "benchmarks" / "office_desk"
ROLLOUTS = PACKAGE / "rollouts"
GOLDEN = PACKAGE / "golden_reports" / "aster-8b_golden_report.md"
SIDECAR = PACKAGE / "golden_reports" / "aster-8b_golden_report_metrics.json"
RUN = "office_desk_aster-8b"
CITED = re.compile(r"`(office_desk_[a-z0-9-]+)/(\d+):(\d+)(?:#(\d+))?`")
READS = {"directory_find_email"} | {
    f"{kind}_search" for kind in ("calendar", "crm", "mail", "tickets")
}
VALUE = re.compile(r"\b\d{8}\b|[\w.]+@[\w.]+")
FAILED = re.compile(r"Error|Traceback|JSONDecodeError|\{\"(?:error|status\":\"error|output\":null)")


@dataclass(frozen=True)
class Call:
    """A call of a rollout: the place of its item, and the text of its result."""

    seq: int
    tool: str
    arguments: str
    result: str

    @property
    def is_write(self) -> bool:
        """Whether it changes something."""
        return self.tool not in READS

    @property
    def is_error(self) -> bool:
        """Whether it did not go through."""
        return bool(FAILED.match(self.result))


@lru_cache(maxsize=2)
def rows(run: str) -> dict[tuple[int, int], Any]:
    """The readable rows of a run by task and rollout, the first of each."""
    found: dict[tuple[int, int], Any] = {}
    for line in (ROLLOUTS / f"{run}_rollouts.jsonl").read_bytes().splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            found.setdefault((row["_ng_task_index"], row["_ng_rollout_index"]), row)
    return found


def failures(run: str) -> list[Any]:
    """The rows that were scored and did not pass."""
    return [row for row in rows(run).values() if row["reward"] == 0]


def calls(row: Any) -> list[Call]:
    """The calls of a row with their results."""
    items = row["response"]["output"]
    outputs = {
        item["call_id"]: item["output"] for item in items if item["type"] == "function_call_output"
    }
    return [
        Call(seq, item["name"], item["arguments"], outputs[item["call_id"]])
        for seq, item in enumerate(items, start=1)
        if item["type"] == "function_call"
    ]


def has_accepted_write(row: Any) -> bool:
    """Whether any change went through."""
    return any(call.is_write and not call.is_error for call in calls(row))


def acts_on_unread_value(row: Any) -> bool:
    """Whether a call names an id or address that neither the prompt nor a result had shown."""
    seen = json.dumps(row["responses_create_params"]["input"])
    for call in calls(row):
        if not set(VALUE.findall(call.arguments)) <= set(VALUE.findall(seen)):
            return True
        seen += call.result
    return False


def expected(row: Any) -> list[tuple[str, Any]]:
    """The writes that the task wants."""
    return [(action["name"], action["kwargs"]) for action in row["expected_actions"]]


def repeats(row: Any) -> list[tuple[int, bool]]:
    """Of each call that erred how often it was made again at once, and whether it cleared."""
    made, found, place = calls(row), [], 0
    while place < len(made):
        start, call = place, made[place]
        while made[place].is_error and place + 1 < len(made):
            following = made[place + 1]
            if (following.tool, following.arguments) != (call.tool, call.arguments):
                break
            place += 1
        if call.is_error:
            found.append((place - start, not made[place].is_error))
        place += 1
    return found


def report() -> str:
    """The golden report without its marks."""
    return re.sub(r"<!--blade:.*?-->", "", GOLDEN.read_text(encoding="utf-8"))


def test_rollouts_are_those_of_the_demo() -> None:
    """Every file of the package's runs is the demo's, but for two lines that no reader takes there.

    These hold the same row as a text in a list: valid JSON, and still no rollout.
    """
    names = {path.name for path in DEMO.glob("office_desk_*")}
    found = {path.name: path for path in ROLLOUTS.rglob("*") if path.is_file()}
    assert set(found) == names
    for name in names:
        mine, theirs = (path.read_bytes().split(b"\n") for path in (found[name], DEMO / name))
        differing = [
            n for n, pair in enumerate(zip(mine, theirs, strict=True), 1) if len({*pair}) > 1
        ]
        assert differing == ([58, 82] if name == f"{RUN}_rollouts.jsonl" else [])
        for n in differing:
            (_, row) = json.loads(mine[n - 1])
            assert row.encode() == theirs[n - 1].replace(b"\xff", b"")


def test_every_task_that_fails_is_labelled_with_events_that_exist() -> None:
    """One label for each task that fails or has no score at all; its evidence is there."""
    lines = (PACKAGE / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    labels = [json.loads(line) for line in lines]
    assert {label["run"] for label in labels} == {RUN}
    failing = {row["_ng_task_index"] for row in failures(RUN)}
    assert sorted(label["task"] for label in labels) == sorted({*failing, 13})
    for label in labels:
        assert_cited("".join(f"`{place}`" for place in label["evidence"]))


def test_golden_report_cites_what_exists_in_the_sections_of_blade() -> None:
    """The eleven sections in order, nothing left to a curator, every rollout and event there."""
    text = GOLDEN.read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert titles == [section.title for section in SECTIONS]
    assert "curate:" not in text
    assert_cited(text)


def assert_cited(text: str) -> None:
    """Each citation is of an event that is there, or of a rollout that was expected."""
    for run, task, index, seq in CITED.findall(text):
        row = rows(run).get((int(task), int(index)))
        if seq:
            assert row is not None
            assert 1 <= int(seq) <= len(row["response"]["output"])
        else:
            assert 0 <= int(task) < 22
            assert 0 <= int(index) < 4


@pytest.mark.parametrize(
    ("run", "n_failures", "n_without_write", "n_unread"),
    [(RUN, 45, 25, 8), ("office_desk_birch-70b", 43, 26, 7)],
)
def test_golden_report_counts_failures_by_what_would_have_caught_them(
    run: str, n_failures: int, n_without_write: int, n_unread: int
) -> None:
    """Failures without an accepted write, and others that act on a value never read; no pass."""
    failing = failures(run)
    without = [row for row in failing if not has_accepted_write(row)]
    unread = [row for row in failing if has_accepted_write(row) and acts_on_unread_value(row)]
    assert (len(failing), len(without), len(unread)) == (n_failures, n_without_write, n_unread)
    assert f"{n_without_write} of {n_failures} scored failures" in report()
    passing = [row for row in rows(run).values() if row["reward"] == 1]
    assert all(has_accepted_write(row) and not acts_on_unread_value(row) for row in passing)


def test_golden_report_counts_wrong_writes_and_repeated_errors() -> None:
    """Every write off the list was accepted; of calls repeated after an error 14 of 17 cleared."""
    wrong = [
        call
        for row in rows(RUN).values()
        for call in calls(row)
        if call.is_write
        and not call.tool.endswith(("_execute", "_bulk_update"))
        and call.arguments.startswith('{"')
        and (call.tool, json.loads(call.arguments)) not in expected(row)
    ]
    assert len(wrong) == 22
    assert not any(call.is_error for call in wrong)
    erred = [each for row in rows(RUN).values() for each in repeats(row)]
    again = [(n, cleared) for n, cleared in erred if n]
    assert (len(erred), len(again)) == (25, 17)
    assert sorted(n for n, cleared in again if cleared) == [1] * 12 + [2] * 2
    assert "14 of 17 cleared: twelve at the first repeat, two at the second" in report()


def test_golden_report_counts_rollouts_that_were_right_and_not_counted() -> None:
    """Scored again, four rollouts of task 15 and three others make 10.5 of 21 tasks."""
    right = [
        key
        for key, row in rows(RUN).items()
        if row["reward"] != 1
        and [
            (call.tool, json.loads(call.arguments))
            for call in calls(row)
            if call.is_write and not call.is_error and call.arguments.startswith('{"')
        ]
        == expected(row)
    ]
    assert sorted(right) == [(3, 3), (15, 0), (15, 1), (15, 2), (15, 3)]
    lines = (ROLLOUTS / f"{RUN}_rollouts.jsonl").read_bytes().splitlines()
    row = json.loads(json.loads(lines[57])[1])
    assert (row["_ng_task_index"], row["_ng_rollout_index"]) == (4, 3)
    assert (row["reward"], row["num_matched"]) == (1.0, 4)
    rewards: dict[int, list[float]] = {}
    for (task, _), row in rows(RUN).items():
        rewards.setdefault(task, []).append(row["reward"])
    rewards[15], rewards[3] = [1.0] * 4, [1.0] * 4
    # 4:3 is the line with the bad byte, 17:2 the attempt whose judge failed.
    rewards[4].append(1.0)
    rewards[17].append(1.0)
    assert sum(sum(each) / len(each) for each in rewards.values()) == pytest.approx(10.5)
    assert len(rewards) == 21


@pytest.mark.slow
def test_sidecar_and_skill_agree_with_the_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The analysis writes the sidecar to the byte, and the skill's commands run on it as written.

    They run where a person would: in the folder that holds the package's.
    """
    shutil.copytree(PACKAGE, tmp_path / "office_desk")
    monkeypatch.chdir(tmp_path)
    skill = Path("office_desk", "skill", "SKILL.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in skill.splitlines() if line.strip().startswith("blade ")]
    assert len(commands) > 8
    # All others ask what this one writes.
    for command in sorted(commands, key=lambda each: not each.startswith("blade analyze")):
        if not command.startswith("blade verify"):
            ended = results.call(*shlex.split(command)[1:])
            assert ended.code == 0, (command, ended.stderr)
    assert Path("blade_out", "runs", RUN, "metrics.json").read_bytes() == SIDECAR.read_bytes()
    there = (path for path in Path("office_desk").rglob("*") if path.is_file())
    before = {path: path.read_bytes() for path in there if ".blade_cache" not in path.parts}
    given = ("--benchmark-dir", "office_desk", "--benchmark", "office_desk", "--refresh")
    assert results.call("init", *given).code == 0
    assert {path: path.read_bytes() for path in before} == before
