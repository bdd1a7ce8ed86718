"""blade verify: what holds is verified, errors are named on their lines, the rest is unchecked."""

from __future__ import annotations

import json
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.package import sidecar
from pipeline.package.evidence import is_within
from pipeline.package.findings import CONTRADICTED, VERIFIED, Finding
from pipeline.package.verify import summary, verify
from pipeline.run import part
from pipeline.settings import Settings
from pipeline.warehouse import open_warehouse
from tests.conftest import REPORTS, ROOT
from tests.generated_runs import odd
from tests.results import analyzed, call, rollout, write

RUN = "office_desk_aster-8b"
SAMPLE = ROOT / "data_samples" / "benchmarks" / "office_desk"
GOLDEN = SAMPLE / "golden_reports" / "aster-8b_golden_report.md"
TITLE = "# aster-8b on office_desk\n\n"


def found(text: str, demo: Path | None = None, name: str = "report.md") -> list[Finding]:
    if demo is None:
        return verify(text, name)
    with open_warehouse(demo) as warehouse:
        return verify(text, name, warehouse)


def wrong_lines(findings: list[Finding]) -> list[int]:
    return sorted({each.line for each in findings if each.status == CONTRADICTED})


def wrong(findings: list[Finding]) -> list[tuple[int, str, str | None]]:
    reported = [each for each in findings if each.status == CONTRADICTED]
    return [(each.line, each.claim, each.expected) for each in reported]


def test_what_does_not_exist_is_named_with_what_does(demo: Path) -> None:
    """Unknown runs, tasks, rollouts and events: the nearest that there are."""
    text = (
        f"See `{RUN}/10:9`.\n\nSee `{RUN}/99:0`.\n\nSee `{RUN}/10:3#99`, {RUN}/10:3#98.\n\n"
        "See `office_desk_aster-9b/10:3`.\n\nTask `77` fails, task `7` too.\n\n### Task 78\n\n"
        f"`src/a.py:12`, `blade show {RUN}/99:1`, 07/17/2024 11:00 and `{RUN}/10:3` are not.\n"
    )
    reported = {each.line: each.expected or "" for each in found(text, demo) if each.expected}
    findings = found(text, demo)
    assert wrong_lines(findings) == [1, 3, 5, 7, 9, 11]
    assert [each.line for each in findings if each.status == CONTRADICTED].count(5) == 2
    assert "0, 1, 2, 3" in reported[1] and "1 to 12" in reported[5] and RUN in reported[7]


def test_quotes_must_be_where_they_are_cited(demo: Path) -> None:
    """In the event that the bracket behind, or the code before, cites; cuts match anything."""
    cite = f"(`{RUN}/10:3`)"
    text = (
        f'It says "the meetings with Omar are gone" {cite}.\n\n'
        f'It says "Sorry for the wait … Omar are gone" {cite}.\n\n'
        f'It says "the meetings with Omar are kept" {cite}.\n\n'
        f'It says "so I have to stop here" {cite}.\n\n'
        f'It writes "While I am at it" (`{RUN}/10:3#9`).\n\n'
        f'It writes "While I am at it" (`{RUN}/10:3#12`).\n\n'
        f"`{RUN}/10:3#12`: `While I am at it`\n\n"
        f'Expected "something else altogether", got "While I am at it" (`{RUN}/10:3#9`).\n\n'
    )
    findings = found(text, demo)
    assert wrong_lines(findings) == [5, 7, 11, 13]
    reported = {each.line: each.expected for each in findings if each.status == CONTRADICTED}
    assert reported[11] == "it is at #9"


def test_forms_bind_words_to_what_is_cited(demo: Path) -> None:
    """Columns of outcomes and buckets, and labels before citations."""
    a, b = f"`{RUN}/10:3`", f"`{RUN}/10:0`"
    text = (
        f"{TITLE}- pass: {b}\n- fail: {a}\n- pass: {a}\n\n"
        f"| rollout | outcome |\n| - | - |\n| {a} | failed |\n| {b} | **fail** |\n\n"
        f"| pass | fail |\n| - | - |\n| {b} | {a} |\n| {a} | {b} |\n\n"
        "| task | bucket |\n| - | - |\n| `10` | sometimes |\n| `9` | always |\n\n"
    )
    findings = found(text, demo)
    assert wrong_lines(findings) == [5, 10, 15, 20]
    assert len(wrong(findings)) == 5


@pytest.mark.slow
def test_causes_are_compared_with_labels(sample: Path) -> None:
    """In a column of causes, task by task; a run without labels has nothing to say."""
    text = (
        "# aster-8b\n\n| cause | which |\n| - | - |\n| UK | tasks 5, 6 and 9 |\n| BI | task 9 |\n\n"
        "| task | root cause |\n| - | - |\n| `0` | BI+IR |\n| `0` | BI |\n| `9` | UK, not KG |\n"
        "\n| mode | cause | example |\n| - | - | - |\n| `M` | BI | task 9 |\n"
    )
    findings = found(text, sample)
    assert wrong(findings) == [(6, "task 9: BI", "UK"), (11, "task 0: BI", "BI+IR")]
    assert wrong_lines(found(text.replace("aster-8b", "birch-70b"), sample)) == []


PUBLISHED = (REPORTS / "contradictions.md").read_text(encoding="utf-8")


def test_errors_of_a_published_report_are_named() -> None:
    """A whole that its rows do not give, two totals, one count given thrice, and ratios."""
    findings = found(PUBLISHED)
    assert wrong(findings) == [
        (5, "% of 1056", "1,044"),
        (17, "passed: 285", "305"),
        (23, "passed: 135", "140"),
        (29, "70", "75"),
        (36, "64", "75"),
        (38, "14 of 57 (25.6%)", "24.6%"),
        (38, "60 of 57", "at most 57"),
    ]
    right = {each.claim for each in findings if each.status == VERIFIED}
    assert {"100 of 400 (25.0%)", "14 of 57 (24.6%)", "passed: 810", "marked: 135"} <= right


def test_arithmetic_leaves_alone_what_need_not_add_up() -> None:
    """Stages, distinct tasks, rates, tables on two runs, percentages of something else."""
    text = (
        "| stage | reached | of 88 |\n| - | - | - |\n| expected | 88 | 100.0% |\n"
        "| recorded | 77 | 87.5% |\n\n"
        "| mode | rollouts | tasks | of 57 |\n| - | - | - | - |\n| A_BCD | 5 | 2 | 8.8% |\n"
        "| C_DEF | 4 | 2 | 7.0% |\n| total | 9 | 3 | |\n\n"
        "| a | pass@1 | rank |\n| - | - | - |\n| b | 4% | 1 |\n| c | 5% | 2 |\n| all | 4% | 1 |\n\n"
        "## aster\n\n### Modes\n\n| mode | n |\n| - | - |\n| LOOP | 5 |\n\n"
        "## birch\n\n### Modes\n\n| mode | n |\n| - | - |\n| LOOP | 7 |\n\n"
        "31 of 76 pass (44.0% mean of tasks, 95% CI 3% to 5%), best 5 of 3, 2 of 9 (95% CI).\n"
    )
    assert wrong(found(text)) == []


@pytest.mark.slow
def test_a_figure_of_the_sidecar_is_found_on_its_line(demo: Path) -> None:
    """Against the data, and alone against the report's own sources."""
    path = demo.parent / "runs" / RUN / "metrics.json"
    asked = f"from run_metrics where run_id = '{RUN}': n_always_tasks = 2"
    text = f"Of them 2 always pass.\n<!-- {asked} -->\n"
    metrics = path.read_text()
    changed = metrics.replace('"always_pass_tasks": 2', '"always_pass_tasks": 9')
    line = next(no for no, each in enumerate(changed.split("\n"), 1) if '_pass_tasks": 9' in each)
    with open_warehouse(demo) as warehouse:
        true = verify(text, "r.md", warehouse, sidecar.read(metrics, "m.json"))
        findings = verify(text, "r.md", warehouse, sidecar.read(changed, "m.json"))
    assert wrong(true) == []
    reported = [(each.file, each.line) for each in findings if each.status == CONTRADICTED]
    assert reported == [("m.json", line)]
    alone = verify(text, "r.md", None, sidecar.read(changed, "m.json"))
    assert wrong(alone) == [(1, "2", "9")]


def test_a_sidecar_is_compared_with_the_report_itself() -> None:
    """Without any data: what the report calls pass@1 or total tasks is what the sidecar has."""
    text = (
        "# m on b\n\nThe pass@1 is 27.8%.\n\n| metric | value |\n| - | - |\n"
        "| total tasks | 302 |\n\n"
        "| run | pass@1 |\n| - | - |\n| m | 0.2781 |\n| n | 0.3011 |\n"
    )
    metrics = '{\n"model_name": "m",\n"pass_at_1": 0.2781,\n"total_tasks": 302\n}'
    true = verify(text, "r.md", None, sidecar.read(metrics, "m.json"))
    assert wrong(true) == []
    for old, new, line in (("0.2781", "0.3581", 3), ("302", "320", 4)):
        changed = sidecar.read(metrics.replace(old, new), "m.json")
        (finding,) = [e for e in verify(text, "r.md", None, changed) if e.status == CONTRADICTED]
        assert (finding.file, finding.line, finding.check) == ("m.json", line, "sidecar")


def test_one_total_given_twice_is_found() -> None:
    """By its name, anywhere in the report."""
    text = "We read 1,024 total rollouts.\n\n| total rollouts | 1,056 |\n| - | - |\n| a | 1 |\n"
    text += "\n- total rollouts: 1,056\n"
    assert wrong(found(text)) == [(7, "1,056", "1,024")]


REPEATED = """## 2. Overview
Of 1,090 failed rollouts most are wrong.

| Failure Type | Count | % of 1090 Failed Rollouts |
| --- | ---: | ---: |
| SIMULATION_MISMATCH | 1024 | 93.9% |
| SYNTAX_ERROR | 29 | 2.7% |

All 26 syntax errors in one category have one cause, and **all 75 lint-check failures** do.

## 4. Details

### 4a. Simulation Mismatches (1024 rollouts, 93.9% of failures)

| Sub-Category | Count | % of 1056 Sim Mismatches |
| --- | ---: | ---: |
| Lint check failure (one category) | 64 | 6.1% |
| ValueError (conversion failure) | 35 | 3.3% |

All 75 lint failures are of one kind.

#### ValueError Failures (35 rollouts)

Some are not set.

### 5.3 Flaky vs. Always-Fail

| Error Sub-Type | Always-Fail (of 800) | Flaky (of 290) |
| --- | ---: | ---: |
| Lint failure | 46 (5.8%) | 24 (8.3%) |
| ValueError (X/Z) | 21 (2.6%) | 19 (6.6%) |
| Syntax error | 20 (2.5%) | 9 (3.1%) |
"""


def test_one_count_given_twice_is_found_wherever_it_is() -> None:
    """1,024 and 1,056; 64, 75 and 46 + 24; 35 and 21 + 19: in tables, headings and prose."""
    found_ = [each for each in found(REPEATED) if each.check == "repeated"]
    assert wrong(found_) == [
        (15, "1,056", "1,024"), (17, "64", "75"), (30, "70", "75"), (31, "40", "35"),
    ]  # fmt: skip


def test_counts_of_parts_and_of_two_runs_are_not_one_count() -> None:
    """A name with a place behind it, rows of two runs side by side, categories beside kinds."""
    text = (
        "## Modes\n\n| mode | failures |\n| - | - |\n| lint | 9 |\n\n"
        "All 4 lint failures of task 3 are alike.\n\n"
        "## Slices\n\n| tool | failures |\n| - | - |\n| lint | 5 |\n\n"
        "## aster vs birch\n\n| mode | aster (of 40) | birch (of 20) |\n| - | - | - |\n"
        "| lint | 9 (22.5%) | 7 (35.0%) |\n"
    )
    assert wrong(found(text)) == []


def test_cards_are_compared_with_what_they_cite(demo: Path) -> None:
    """The task of a heading, its counts, outcome, mode, words, question and notes."""
    with open_warehouse(demo) as warehouse:
        text = (demo.parent / "benchmarks/office_desk/report.md").read_text(encoding="utf-8")
        start = text.index("## Never-Pass"), text.index("## Cross-Model")
        card = re.sub(r" *<!--.*?-->\n?", "", text[start[0] : start[1]])
        card += "\n### Task `10` of `office_desk_aster-8b`: 3 of 4 attempts pass\n"
        assert wrong(verify(card, "r.md", warehouse)) == []
        first, other = "office_desk_aster-8b/9:0", "office_desk_aster-8b/18:0"
        for old, new in (
            ("### Task `9`", "### Task `99`"),
            (f"- fail: `{first}`", f"- pass: `{first}`"),
            (f"- fail: `{other}`", f"- fail: `{first}`"),
            ("calendar_create called otherwise", "calendar_delete called otherwise"),
            ("Asked: `Book 15 minutes", "Asked: `Book 45 minutes"),
            ('"duration":15}', '"duration":45}'),
            ("3 of 4 attempts pass", "2 of 4 attempts pass"),
        ):
            changed = card.replace(old, new, 1)
            assert changed != card, old
            line = card[: card.index(old)].count("\n") + 1
            assert line in wrong_lines(verify(changed, "r.md", warehouse)), new


@pytest.mark.parametrize("text", ["[", "5", "{" * 50_000, '{"runs": [1, {"run_id": 7}]}', "{}"])
def test_any_sidecar_is_read(text: str) -> None:
    """What is no sidecar, or of no run, is reported and crashes nothing."""
    runs = {"a": {"model_name": "m", "benchmark": "b", "pass_at_1": 0.5}}
    findings = list(sidecar.check(sidecar.read(text, "metrics.json"), runs))
    assert {each.status for each in findings} == {CONTRADICTED}


def test_placeholders_match_anything() -> None:
    """In the quote, in the text, and equal ones in both."""
    assert is_within("mail to [redacted-email-1] went", "The mail to ann@x.example went out.")
    assert is_within("to [redacted-email-1]", "mail to [redacted-email-1] went")
    assert is_within("Hit:<n> <url> jammy <u\u2026", "Hit:1 http://x.example jammy http://y")
    assert is_within('run "x" now', 'it says: run \\"x\\" now') and is_within("a b", "`a` b")
    assert not is_within("mail to [redacted-email-1] came", "The mail to ann@x.example went out.")


def test_the_command_says_what_is_wrong_and_fixes_it(demo: Path, tmp_path: Path) -> None:
    """JSON keeps its contract; --fix restores the bytes; exit codes are 1, 2 and 3."""
    path = tmp_path / "report.md"
    source = f"<!-- from run_metrics where run_id = '{RUN}': pass_at_1 = 44.0% -->"
    text = f"# A\r\n\r\nIt passes 45.0% of 12.\r\n{source}\r\n"
    path.write_bytes(text.encode())
    given = ("verify", path, "--warehouse", demo)
    asked = call(*given, "--json")
    content = json.loads(asked.stdout)
    assert asked.code == 1 and content["findings"] == [
        {
            "line": 3, "status": "contradicted", "claim": "45.0%", "expected": "44.0%",
            "source": f"pass_at_1 from run_metrics where run_id = '{RUN}'", "check": "source",
            "file": "report.md",
        },
        {
            "line": 3, "status": "unchecked", "claim": "12", "expected": None,
            "source": "no pair of its source", "check": "source", "file": "report.md",
        },
    ]  # fmt: skip
    assert content["summary"]["numbers"] == {"verified": 0, "contradicted": 1, "unchecked": 1}
    shown = call(*given)
    assert f"{path}:3: contradicted" in shown.stdout and ": unchecked" not in shown.stdout
    assert shown.stdout.endswith("\n1 unchecked: list them with --unchecked\n")
    listing = call(*given, "--unchecked").stdout
    assert f"{path}:3: unchecked  12" in listing and "list them" not in listing
    mended = call(*given, "--fix")
    assert (mended.code, path.read_bytes()) == (0, text.replace("45.0%", "44.0%").encode())
    assert "-It passes 45.0%" in mended.stdout and "no contradiction" in mended.stdout
    assert (call(*given).code, call(*given, "--strict").code) == (0, 1)
    path.write_bytes(b"It is 5 \xff\n")
    assert "not UTF-8" in call(*given).stderr
    refused = call(*given, "--fix")
    assert refused.code == 3 and "byte 8" in refused.stderr
    assert call(*given, "--results", tmp_path).code == 2
    assert call("verify", tmp_path).code == 3
    alone = call("verify", path)
    assert alone.code == 0 and "nothing but the report itself" in alone.stderr


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of the sample package."""
    out = tmp_path_factory.mktemp("sample")
    path = part(Settings(results=(SAMPLE / "rollouts",), out=out / "out"))
    return path


def four_rollouts(folder: Path, claim: str) -> tuple[Path, list[dict[str, Any]]]:
    """The golden report of a package in which 3 of 4 rollouts pass, and its rows."""
    part, whole = claim.split(" of ")
    source = (
        f"<!-- from run_metrics where run_id = 'a': n_passed = {part}, n_scored = {whole} -->\n"
    )
    report = f"{claim} pass.\n{source}"
    report += '\nIt says "The mail to ann@x.example went out" (`a/0:0#1`).\n'
    message = {
        "type": "message",
        "role": "assistant",
        "content": "The mail to [redacted-email-1] w",
    }
    rows = [rollout(task, 0, reward=float(task > 0), output=[message]) for task in range(4)]
    files = {"golden_reports/a_golden_report.md": report, "rollouts/a_rollouts.jsonl": rows}
    return write(folder, files) / "golden_reports" / "a_golden_report.md", rows


@pytest.mark.slow
def test_the_warehouse_of_a_package_is_cached(tmp_path: Path) -> None:
    """The next call builds nothing, until a byte changes; nothing is written into the package.

    What is quoted of redacted text may have stood there: it is unchecked.
    """
    package = tmp_path / "package"
    path, rows = four_rollouts(package, "3 of 4")
    before = sorted(package.rglob("*"))
    first, second = call("verify", path), call("verify", path)
    assert (first.code, second.code, first.stdout) == (0, 0, second.stdout)
    assert "quotes 1 unchecked" in first.stdout
    assert "creating" in first.stderr and "creating" not in second.stderr
    assert sorted(package.rglob("*")) == before
    rollouts = package / "rollouts" / "a_rollouts.jsonl"
    state, content = rollouts.stat(), rollouts.read_bytes()
    rollouts.write_bytes(content.replace(b'"reward": 1.0', b'"reward": 0.0', 1))
    os.utime(rollouts, ns=(state.st_atime_ns, state.st_mtime_ns))
    third = call("verify", path)
    assert third.code == 1 and "creating" in third.stderr
    write(package, {"rollouts/a_rollouts.jsonl": rows})
    assert call("verify", path).code == 0
    assert call("clean", package).stdout != call("clean", package).stdout
    assert "creating" in call("verify", path).stderr


@pytest.mark.slow
def test_a_cache_that_came_with_a_package_is_not_believed(tmp_path: Path) -> None:
    """A warehouse in the package's own folder that says what the report says changes nothing."""
    package = tmp_path / "package"
    path, _ = four_rollouts(package, "4 of 4")
    time.sleep(0.1)  # a file that was just written may be written again within a step of its clock
    planted = part(
        Settings((package / "rollouts",), package / ".blade_cache/rollouts", follow_links=True)
    )
    state = planted.stat()
    with duckdb.connect(str(planted)) as db:
        db.execute("update main.run_metrics set n_passed = 4")
    with planted.open("ab") as file:
        file.write(bytes(1 << 20))  # as long as the engine takes it to be
    os.utime(planted, ns=(state.st_atime_ns, state.st_mtime_ns))
    for command in (("verify", path), ("validate", "--benchmark-dir", package)):
        assert call(*command).code == 1
    assert "3" in call("verify", path).stdout
    # It is a file of the package like any other: what is shared is looked into.
    assert "blade_cache" in call("sanitize", package, "--check").stdout


@pytest.mark.slow
def test_other_errors_of_the_golden_report_are_caught(sample: Path) -> None:
    """Citations, quotes, buckets, causes, totals and percentages: all of those that are tried."""
    text, chance = GOLDEN.read_text(), random.Random(7)
    plants = {
        r"`(?P<old>office_desk_aster-8b)/": "office_desk_ashen-8b",
        r"`office_desk_aster-8b/(?P<old>\d+):": "77",
        r"`office_desk_aster-8b/\d+:(?P<old>\d)[`#]": "9",
        r":\d#(?P<old>\d+)`": "99",
        r'"(?P<old>[^"\n]{16,})" \(`': "what nobody ever wrote",
        r"^\| `\d+` [^|]*\| (?P<old>sometimes) ": "always",
        r"^\| (?P<old>BI) \|": "KG",
        r"^### Tasks? (?P<old>\d+)": "88",
        r"\d+ of \d+[^|(\n\d]{0,30}\((?P<old>\d+\.\d)%\) ": "1.5",
        r"^\| total \|(?: \|)? (?P<old>18|20) \|": "19",
    }
    with open_warehouse(sample) as warehouse:
        assert wrong(verify(text, GOLDEN.as_posix(), warehouse)) == []
        for pattern, new in plants.items():
            places = [match.span("old") for match in re.finditer(pattern, text, re.MULTILINE)]
            for start, end in chance.sample(places, min(len(places), 1)):
                line = text.count("\n", 0, start) + 1
                changed = text[:start] + new + text[end:]
                findings = verify(changed, GOLDEN.as_posix(), warehouse)
                assert wrong_lines(findings) == [line], (pattern, line)


@pytest.mark.slow
def test_long_and_odd_reports_take_no_more_than_their_length(demo: Path) -> None:
    """Ten thousand sources, deep nesting, endless tokens: all of it is read in seconds."""
    source = f"5 tasks\n<!-- from run_metrics where run_id = '{RUN}': n_tasks = 5 -->\n\n"
    for text in (
        source * 4_000, "a." * 500_000, "\u201c" * 300_000, "<!--curate:" * 100_000,
        "9" * 1_000_000,
        "> " * 3_000 + "x", "`" * 200_000, "[" * 50_000, "tasks 1, " * 20_000, "1 of " * 2_000,
        "- <!-- from a: b -->\n" * 5_000, "|" * 100_000 + "\n|-|\n", "5 " * 9_000 + source,
    ):  # fmt: skip
        found(text, demo)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_a_draft_of_any_folder_holds_against_its_own_warehouse(seed: int, tmp_path: Path) -> None:
    """With any rows and names: nothing in any draft on them is contradicted."""
    assert contradicted(analyzed(tmp_path, odd(seed)).path.parent) == []


@pytest.mark.slow
def test_drafts_of_the_demo_hold(demo: Path) -> None:
    """The report on all runs and on each, with the sidecars beside them."""
    assert contradicted(demo.parent) == []


def contradicted(out: Path) -> list[object]:
    """What `blade verify` finds wrong in all drafts of an analysis."""
    drafts = [out / "report.md", *sorted(out.glob("runs/*/report.md"))]
    reported = [json.loads(call("verify", draft, "--json").stdout) for draft in drafts]
    assert all(each["summary"]["sidecar"]["verified"] > 20 for each in reported)
    return [each for one in reported for each in one["findings"] if each["status"] == CONTRADICTED]


def test_the_summary_counts_each_finding_once(demo: Path) -> None:
    """By group and in all."""
    counts = summary(found(f"{TITLE}See `{RUN}/10:3`, 5 of 10 (50%).\n", demo))
    assert counts["citations"]["verified"] == counts["arithmetic"]["verified"] == 1
    assert (counts["verified"], counts["unchecked"], counts["contradicted"]) == (2, 3, 0)


def test_links_out_of_the_rollouts_are_not_followed_unasked(tmp_path: Path) -> None:
    """As an analysis does: where nothing else is there, the option is named."""
    outside = write(tmp_path / "outside", {"a_rollouts.jsonl": [rollout(0, 0)]})
    results = write(tmp_path, {"report.md": "# Report\n\nSee a/0:0.\n"}) / "results"
    results.mkdir()
    (results / "a_rollouts.jsonl").symlink_to(outside / "a_rollouts.jsonl")
    for command in ("verify", "analyze"):
        given = [tmp_path / "report.md", "--results"] if command == "verify" else []
        ended = call(command, *given, results)
        assert ended.code == 3 and "--follow-links reads 1 more" in ended.stderr


@pytest.mark.slow
def test_links_out_of_the_rollouts_are_followed_where_asked(tmp_path: Path) -> None:
    """Else what they lead to is not known, and they are named."""
    outside = write(tmp_path / "outside", {"b_rollouts.jsonl": [rollout(0, 0)]})
    results = write(tmp_path / "results", {"a_rollouts.jsonl": [rollout(0, 0)]})
    (results / "b_rollouts.jsonl").symlink_to(outside / "b_rollouts.jsonl")
    report = write(tmp_path, {"report.md": "# Report\n\nSee `a/0:0` and `b/0:0`.\n"}) / "report.md"
    ended = call("verify", report, "--results", results)
    assert ended.code == 1 and "b/0:0" in ended.stdout
    assert "links that lead out of the rollouts are not read: b_rollouts.jsonl" in ended.stderr
    ended = call("verify", report, "--results", results, "--follow-links")
    assert ended.code == 0 and "not read" not in ended.stderr
