"""blade verify: true reports hold, planted errors are found on their lines, anything is read."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pipeline.package.verify import sidecar, verify
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.summary import summary
from pipeline.package.verify.wording import is_within
from pipeline.warehouse import open_warehouse
from tests.conftest import ROOT
from tests.generated_runs import odd
from tests.golden_plants import GOLDEN, sidecar_figure
from tests.plants import KINDS
from tests.results import analyzed, call, rollout

RUN = "office_desk_aster-8b"
SAMPLE = ROOT / "data_samples" / "benchmarks" / "office_desk"


@pytest.fixture(scope="module")
def report(demo: Path) -> Path:
    """The draft on one run of the demo."""
    return demo.parent / "runs" / RUN / "report.md"


def found(text: str, demo: Path | None = None, name: str = "report.md") -> list[Finding]:
    if demo is None:
        return verify(text, name)
    with open_warehouse(demo) as warehouse:
        return verify(text, name, warehouse)


def wrong_lines(findings: list[Finding]) -> list[int]:
    return sorted({each.line for each in findings if each.status == CONTRADICTED})


def test_a_draft_of_blade_holds_against_its_own_warehouse(demo: Path, report: Path) -> None:
    """Every marked figure is verified, nothing contradicted, and hardly a number unknown."""
    text = report.read_text()
    findings = found(text, demo, f"runs/{RUN}/report.md")
    marked = [each for each in findings if each.check == "marked"]
    assert wrong_lines(findings) == []
    assert len(marked) == text.count("<!--blade:") and {each.status for each in marked} == {
        VERIFIED
    }
    assert summary(findings)["share_unverifiable"] < 0.05


def test_errors_are_reported_on_their_lines_and_nowhere_else(demo: Path, report: Path) -> None:
    """One error of each kind that can stand beside others, each on a line of its own."""
    text, chance = report.read_text(), random.Random(1)
    lines: list[int] = []
    for kind, plant in KINDS.items():
        if kind in ("unmarked figure", "swapped rollout"):
            continue
        for _ in range(50):
            planted = plant(text, chance)
            if planted.line not in lines:
                break
        text, lines = planted.text, [*lines, planted.line]
    assert wrong_lines(found(text, demo, f"runs/{RUN}/report.md")) == sorted(lines)


def test_numbers_without_marks_are_known_by_their_words(demo: Path) -> None:
    """Right figures are verified, wrong ones contradicted where the words leave no doubt."""
    text = (
        "# aster-8b on office_desk\n\n"
        "pass@1 is 44.0%, and 14 tasks pass sometimes.\n\n"
        "pass@1 is 45.0%.\n\n"
        "15 tasks pass sometimes.\n\n"
        "In task 10, 3 of 4 attempts pass.\n\n"
        "In task 10, 2 of 4 attempts pass.\n\n"
        "| mode | rollouts | share of failures |\n| --- | --- | --- |\n"
        "| SKIPPED_LOOKUP | 5 | 8.8% |\n| THRASH | 4 | 5.3% |\n\n"
        "SKIPPED_LOOKUP (5 rollouts) comes before GAVE_UP (33 rollouts).\n\n"
        f"`{RUN}/10:3` makes 5 tool calls; `{RUN}/10:0` passes.\n\n"
        f"`{RUN}/10:3` makes 6 tool calls.\n\n"
        f"`{RUN}/10:3` passes.\n\n"
        "With 44.7% more luck it could be better.\n"
    )
    findings = found(text, demo)
    assert wrong_lines(findings) == [5, 7, 11, 16, 18, 22, 24]
    assert {each.status for each in findings if each.line in (3, 9, 15, 20)} == {VERIFIED}
    assert [each.status for each in findings if each.line == 26] == [UNVERIFIABLE]


def test_a_wrong_value_comes_with_the_right_one_in_the_same_form(demo: Path) -> None:
    """The expected figure is printed as the report prints it, with its source."""
    mark = f"<!--blade:run_metrics?run_id={RUN}#pass_at_1-->"
    (finding,) = found(f"It passes 45.0%{mark} of the time.\n", demo)
    assert (finding.status, finding.expected) == (CONTRADICTED, "44.0%")
    assert finding.source == f"run_metrics?run_id={RUN}#pass_at_1"


def test_what_does_not_exist_is_named_with_what_does(demo: Path) -> None:
    """Unknown runs, tasks, rollouts, events and rows: the nearest that there are."""
    text = (
        f"See `{RUN}/10:9`.\n\nSee `{RUN}/99:0`.\n\nSee `{RUN}/10:3#99`.\n\n"
        "See `office_desk_aster-9b/10:3`.\n\nTask 77 fails.\n\n"
        f"It is 5<!--blade:task_outcomes?run_id={RUN}&task_id=99#n_passed-->.\n"
    )
    findings = found(text, demo)
    told = {each.line: each.expected or "" for each in findings if each.status == CONTRADICTED}
    assert sorted(told) == [1, 3, 5, 7, 9, 11]
    assert "0, 1, 2, 3" in told[1] and "1 to 12" in told[5] and RUN in told[7]


def test_quotes_must_be_said_where_they_are_cited(demo: Path) -> None:
    """The words of another rollout, or of nobody, are contradicted; cuts match anything."""
    cite = f"(`{RUN}/10:3`)"
    text = (
        f'It says "the meetings with Omar are gone" {cite}.\n\n'
        f'It says "Sorry for the wait … Omar are gone" {cite}.\n\n'
        f'It says "the meetings with Omar are kept" {cite}.\n\n'
        f'It says "so I have to stop here" {cite}.\n'
    )
    assert wrong_lines(found(text, demo)) == [5, 7]


def test_what_is_said_of_cited_events_holds_of_them(demo: Path) -> None:
    """Speaking, looking and writing, listed and counted, buckets, ids: odd lines true, even not."""
    a = f"`{RUN}/10:3"
    tool = "calls `calendar_delete`"
    true_and_false = [
        (f"{a}#12` says that it is done.", f"{a}#10` says that it is done."),
        (f"{a}#10` deletes a meeting.", f"{a}#1` deletes a meeting."),
        (f"It {tool} ({a}#10`).", f"It {tool} ({a}#1`)."),
        (f"See {a}#9`, {a}#10`.", f"See {a}#10`, {a}#10`."),
        (f"{a}#10` deletes 00090852.", f"{a}#10` deletes 00090853."),
        (
            f'It writes "While I am at it" ({a}#9`).',
            f'It writes "While I am at it" ({a}#12`).',
        ),
        (f"3 of 45 scored failures err ({a}`).", f"3 of 45 scored failures err (`{RUN}/10:0`)."),
        (f"In task 10 one errs ({a}`).", f"In task 10 one errs (`{RUN}/9:0`)."),
    ]
    lines = [line for pair in true_and_false for line in pair]
    rows = "| task | bucket |\n| --- | --- |\n| `10` | sometimes |\n| `9` | always |\n"
    text = "# aster-8b on office_desk\n\n" + rows + "\n" + "\n\n".join(lines) + "\n"
    last = [
        f"| last words of failures | see |\n| --- | --- |\n| done | {a}#12` |",
        f"| done | {a}#10` |\n| done | `{RUN}/10:0` |",
    ]
    text += "\n" + "\n".join(last) + "\n"
    first = 8
    wrong = [6, *range(first + 2, first + 2 * len(lines), 4)]
    end = first + 2 * len(lines)
    assert wrong_lines(found(text, demo)) == [*wrong, end + 3, end + 4]


def test_a_column_of_a_whole_is_held_against_its_counts() -> None:
    """`of 57` beside rollouts and tasks; stages are no parts of their whole."""
    text = (
        "| mode | rollouts | tasks | of 57 |\n| --- | --- | --- | --- |\n"
        "| A_B | 5 | 2 | 8.8% |\n| C_D | 4 | 1 | 7.5% |\n\n"
        "| stage | reached | of 88 |\n| --- | --- | --- |\n"
        "| expected | 88 | 100.0% |\n| recorded | 77 | 87.5% |\n"
    )
    assert wrong_lines(found(text)) == [4]


def test_a_report_is_held_against_itself_without_any_data() -> None:
    """Totals, wholes of percentages, ratios, and one count told twice."""
    text = (
        "## Dominant Failure Modes\n\n"
        "LOOP_THRASH (70 rollouts) leads.\n\n"
        "| mode | rollouts | % of 1056 |\n| --- | --- | --- |\n"
        "| WRONG_TOOL | 969 | 91.8% |\n| LOOP_THRASH | 75 | 7.1% |\n\n"
        "## Task Outcome Buckets\n\n"
        "| category | passed | scored |\n| --- | --- | --- |\n"
        "| a | 100 | 400 |\n| b | 205 | 410 |\n| total | 285 | 810 |\n\n"
        "Of these 14 of 57 (25.6%) fail.\n\nAnd 60 of 57 rollouts do.\n\n"
        "But 14 of 57 (24.6%) hold.\n"
    )
    findings = found(text)
    assert wrong_lines(findings) == [3, 5, 16, 18, 20]
    (total,) = [each for each in findings if each.line == 16 and each.status == CONTRADICTED]
    assert (total.claim, total.expected) == ("passed: 285", "305")


def test_equal_marks_with_unequal_numbers_need_no_data() -> None:
    """The place that differs from the others is named, with a line that says otherwise."""
    mark = "<!--blade:run_metrics?run_id=a#n_tasks-->"
    text = f"There are 21{mark} tasks.\n\nOf 21{mark} tasks.\n\nAll 22{mark} tasks.\n"
    (wrong,) = [each for each in found(text) if each.status == CONTRADICTED]
    assert (wrong.line, wrong.expected, "line 1" in wrong.source) == (5, "21", True)


def test_a_figure_of_the_sidecar_alone_is_found_both_ways(demo: Path, report: Path) -> None:
    """The sidecar's line against the data, and the report's lines against the sidecar."""
    mark = f"<!--blade:run_metrics?run_id={RUN}#n_always_tasks-->"
    text = f"# `{RUN}`\n\nOf them 2{mark} always pass.\n\nSo 2 tasks always pass.\n"
    metrics = report.with_name("metrics.json").read_text()
    changed = metrics.replace('"always_pass_tasks": 2', '"always_pass_tasks": 9')
    line = next(no for no, each in enumerate(changed.split("\n"), 1) if '_pass_tasks": 9' in each)
    with open_warehouse(demo) as warehouse:
        true = verify(text, "r.md", warehouse, sidecar.read(metrics, "r_metrics.json"))
        findings = verify(text, "r.md", warehouse, sidecar.read(changed, "r_metrics.json"))
    assert wrong_lines(true) == []
    wrong = {(each.file, each.line) for each in findings if each.status == CONTRADICTED}
    assert wrong == {("r.md", 3), ("r.md", 5), ("r_metrics.json", line)}


def test_a_sidecar_alone_speaks_for_what_it_holds(report: Path) -> None:
    """Marks and labels that a sidecar has a key for; all else is unverifiable."""
    metrics = sidecar.read(report.with_name("metrics.json").read_text(), "metrics.json")
    mark = f"<!--blade:run_metrics?run_id={RUN}#pass_at_1-->"
    text = f"It is 44.0%{mark}.\n\nIt is 43.0%{mark}.\n\npass@1 is 41.0%.\n\nSo 3 of 4.\n"
    findings = verify(text, "report.md", None, metrics)
    assert [(each.line, each.status) for each in findings] == [
        (1, VERIFIED), (3, CONTRADICTED), (5, CONTRADICTED), (7, UNVERIFIABLE), (7, UNVERIFIABLE),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["[", "5", "{" * 50_000, '{"runs": [1, {"run_id": 7}]}', "{}"])
def test_any_sidecar_is_read(text: str) -> None:
    """What is no sidecar, or of no run, is said and crashes nothing."""
    runs = {"a": {"model_name": "m", "benchmark": "b", "pass_at_1": 0.5}}
    findings = list(sidecar.check(sidecar.read(text, "metrics.json"), runs))
    assert {each.status for each in findings} == {CONTRADICTED}


def test_marks_are_looked_up_and_never_executed(demo: Path) -> None:
    """Names are checked against the schema, values are bound."""
    text = (
        '5<!--blade:runs"; drop table runs; --?run_id=a#n_tasks-->\n\n'
        "5<!--blade:run_metrics?run_id=a' or '1'='1#n_tasks-->\n\n"
        '5<!--blade:run_metrics?run_id=a#n_tasks" from runs; ---->\n\n'
        "5<!--blade:run_metrics?#n_tasks-->\n"
    )
    statuses = {each.line: each.status for each in found(text, demo) if each.check == "marked"}
    assert statuses[3] == CONTRADICTED and CONTRADICTED not in (statuses.get(1), statuses.get(7))


def test_placeholders_match_whatever_was_there() -> None:
    """In the quote, in the text, and equal ones in both."""
    assert is_within("mail to [redacted-email-1] went", "The mail to ann@x.example went out.")
    assert is_within("mail to ann@x.example went", "The mail to [redacted-email-1] went out.")
    assert is_within("to [redacted-email-1]", "mail to [redacted-email-1] went")
    assert is_within("Hit:<n> <url> jammy <u\u2026", "Hit:1 http://x.example jammy http://y")
    assert not is_within("mail to [redacted-email-1] came", "The mail to ann@x.example went out.")


def test_the_command_says_what_is_wrong_and_exits_with_1(demo: Path, tmp_path: Path) -> None:
    """JSON keeps its contract; a wrong call exits with 2, an absent report with 3."""
    path = tmp_path / "report.md"
    path.write_bytes(b"# aster-8b on office_desk\n\npass@1 is 45.0%. \xff\x00 5 tasks\n")
    asked = call("verify", str(path), "--warehouse", str(demo), "--json")
    content = json.loads(asked.stdout)
    first = content["findings"][0]
    assert asked.code == 1 and {"line", "status", "claim", "expected", "source"} <= set(first)
    assert content["summary"]["numbers"]["contradicted"] == 1
    shown = call("verify", str(path), "--warehouse", str(demo))
    assert f"{path}:3: contradicted" in shown.stdout and "44.0%" in shown.stdout
    assert "not UTF-8" in shown.stderr
    both = call("verify", str(path), "--warehouse", str(demo), "--results", str(tmp_path))
    assert both.code == 2
    assert call("verify", str(tmp_path)).code == 3
    alone = call("verify", str(path))
    assert alone.code == 0 and "nothing but the report itself" in alone.stderr


@pytest.mark.slow
def test_data_are_found_where_an_analysis_leaves_them(report: Path) -> None:
    """A run's report finds the warehouse two folders up and the metrics beside it."""
    asked = call("verify", str(report), "--json")
    content = json.loads(asked.stdout)
    assert asked.code == 0 and "warehouse.duckdb" in asked.stderr
    assert content["summary"]["sidecar"]["verified"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_planted_errors_are_caught(kind: str, demo: Path, report: Path) -> None:
    """Where the text says something checkable every one is caught, on exactly its line."""
    least = {"unmarked figure": 0.4, "swapped rollout": 0.7}.get(kind, 1.0)
    text, chance, n_caught = report.read_text(), random.Random(3), 0
    for _ in range(N_PLANTS):
        plant = KINDS[kind](text, chance)
        lines = wrong_lines(found(plant.text, demo, f"runs/{RUN}/report.md"))
        n_caught += plant.line in lines
        assert set(lines) <= {plant.line}, plant.what
    assert n_caught >= int(N_PLANTS * least)


N_PLANTS = 3
# Of a report that a person wrote: what its words do not tell apart cannot be caught.
FLOORS = {
    "total": 0.9, "total, no marks": 0.8, "row of a total": 0.9, "row of a total, no marks": 0.4,
    "percentage": 0.9, "percentage, no marks": 0.9, "percentage of a column": 0.6,
    "part": 0.5, "part, no marks": 0.2, "whole": 0.7, "whole, no marks": 0.3,
    "figure, no marks": 0.0, "absent task": 0.9, "absent task in a heading": 1.0,
    "absent task in a citation": 1.0, "swapped for another outcome": 0.4,
    "swapped within a task": 0.1, "swapped for another task": 0.2, "changed event": 0.05,
    "changed quote": 0.8, "changed mode": 0.5, "changed bucket": 1.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of the sample package."""
    out = tmp_path_factory.mktemp("sample")
    assert call("analyze", str(SAMPLE / "rollouts"), "--out", str(out)).code == 0
    return out / "warehouse.duckdb"


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(GOLDEN))
def test_errors_in_the_golden_report_are_caught(kind: str, golden: Path) -> None:
    """At least as many as said, on their lines; and no other line is blamed."""
    path = SAMPLE / "golden_reports" / "aster-8b_golden_report.md"
    text, chance, n_caught = path.read_text(), random.Random(5), 0
    with open_warehouse(golden) as warehouse:
        rollouts = {
            (run, task, index): (is_pass if is_scored else None, n_events or 0)
            for run, task, index, is_pass, is_scored, n_events in warehouse.execute(
                "select run_id, task_id, rollout_index, is_pass, is_scored, n_events "
                "from rollouts order by all"
            ).fetchall()
        }
        for _ in range(N_PLANTS):
            plant = GOLDEN[kind](text, chance, rollouts)
            lines = wrong_lines(verify(plant.text, path.name, warehouse))
            n_caught += plant.line in lines
            assert set(lines) <= {plant.line} or "row of a total" in kind, plant.what
    assert n_caught >= int(N_PLANTS * FLOORS[kind])


@pytest.mark.slow
def test_any_figure_of_the_sidecar_alone_is_caught(golden: Path) -> None:
    """A changed number of the sidecar, on its own line of it."""
    report = SAMPLE / "golden_reports" / "aster-8b_golden_report.md"
    text = report.with_name("aster-8b_golden_report_metrics.json").read_text()
    chance = random.Random(5)
    with open_warehouse(golden) as warehouse:
        for _ in range(8):
            plant = sidecar_figure(text, chance)
            metrics = sidecar.read(plant.text, "metrics.json")
            findings = verify("# Nothing\n", report.name, warehouse, metrics)
            wrong = {
                each.line
                for each in findings
                if each.status == CONTRADICTED and each.file == "metrics.json"
            }
            assert plant.line in wrong, plant.what


@pytest.mark.slow
def test_long_and_odd_reports_take_no_more_than_their_length(demo: Path) -> None:
    """Ten thousand marks, deep nesting, endless tokens: all of it is read in seconds."""
    mark = f"5<!--blade:run_metrics?run_id={RUN}#n_tasks--> "
    for text in (
        mark * 10_000, "a." * 500_000, "\u201c" * 300_000, "<!--curate:" * 100_000, "9" * 1_000_000,
        "> " * 3_000 + "x", "`" * 200_000, "[" * 50_000, "tasks 1, " * 20_000, "1 of " * 2_000,
    ):  # fmt: skip
        found(text, demo)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_draft_of_any_folder_holds_against_its_own_warehouse(seed: int, tmp_path: Path) -> None:
    """Whatever rows say and are called: nothing in any draft on them is contradicted."""
    wrong = contradicted(analyzed(tmp_path, odd(seed)).path.parent)
    assert wrong == []


@pytest.mark.slow
def test_equal_outputs_with_different_rewards_cite_failures(tmp_path: Path) -> None:
    """What is suspected of failures is cited by one; errors are quoted in their own words."""
    rows = [rollout(task, index, reward=float(index)) for task in range(3) for index in range(2)]
    said = {"type": "function_call_output", "call_id": "c", "output": '{"success": false}'}
    tool = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
    rows += [rollout(3, index, reward=0.0, output=[tool, said]) for index in range(2)]
    del rows[-1]["reward"]
    out = analyzed(tmp_path, {"run_rollouts.jsonl": rows}).path.parent
    assert contradicted(out) == []
    draft = (out / "report.md").read_text(encoding="utf-8")
    assert '{"success": false}' in draft.replace("\\", "")
    assert "may come from the task or its verifier (TI)" in draft and "such as `run/0:0`" in draft


def contradicted(out: Path) -> list[object]:
    """What `blade verify` finds wrong in all drafts of an analysis."""
    drafts = [out / "report.md", *sorted(out.glob("runs/*/report.md"))]
    told = [json.loads(call("verify", draft, "--json").stdout) for draft in drafts]
    return [each for one in told for each in one["findings"] if each["status"] == CONTRADICTED]
