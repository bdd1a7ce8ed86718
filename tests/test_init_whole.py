"""Packages that blade init lays out, analyzed again: nothing moves, and every command runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pipeline import open_warehouse
from pipeline.citation import parse
from pipeline.cli import COMMANDS
from pipeline.package.blocks import Comment
from pipeline.package.sources import parsed
from pipeline.report.registers import REGISTERS
from tests import hostile
from tests.conftest import DEMO
from tests.markdown_read import complaints
from tests.results import Outcome, Row, call, contents, rollout, write
from tests.test_init import PART_MARK

pytestmark = pytest.mark.slow


def init(folder: Path, benchmark: str, *words: str | Path) -> Outcome:
    """Run blade init."""
    return call("init", "--benchmark-dir", folder, "--benchmark", benchmark, *words)


def figures(results: Path, out: Path, *words: str | Path) -> str:
    """All figures of an analysis."""
    ended = call("analyze", results, "--out", out, *words)
    assert ended.code == 0, ended.stderr
    return figures_of(out)


def figures_of(out: Path) -> str:
    """What an analysis wrote."""
    return (out / "metrics.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's office_desk as a package, and an analysis of its rollouts beside it."""
    folder = tmp_path_factory.mktemp("office")
    ended = init(folder / "office_desk", "office_desk", "--results", DEMO)
    assert ended.code == 0, ended.stderr
    (folder / "printed.txt").write_text(ended.stdout, encoding="utf-8")
    figures(folder / "office_desk" / "rollouts", folder / "blade_out")
    return folder


def test_profile_changes_no_figure(office: Path) -> None:
    """With the drafted profile and without any, of the rollouts and of the whole package."""
    (office / "empty.toml").touch()
    with_it = figures_of(office / "blade_out")
    without = figures(
        office / "office_desk" / "rollouts",
        office / "without",
        *("--profile", office / "empty.toml", "--benchmark", "office_desk"),
    )
    assert with_it == without
    assert with_it == figures(office / "office_desk", office / "whole")


def test_package_is_read_as_rollouts_and_documents(office: Path) -> None:
    """Of the whole folder, drafts and skill are reports: no row and no run comes of them."""
    call("analyze", office / "office_desk", "--out", office / "whole")
    with open_warehouse(office / "whole" / "warehouse.duckdb") as warehouse:
        found = warehouse.execute(
            "select kind, n_rows from artifacts "
            "where path like 'golden_reports/%' or path like 'skill/%'"
        ).fetchall()
        runs = warehouse.execute("select run_id from runs order by run_id").fetchall()
    assert {kind for kind, _ in found} == {"report"}
    assert not any(n_rows for _, n_rows in found)
    assert runs == [("office_desk_aster-8b",), ("office_desk_birch-70b",)]


def test_drafts_are_what_an_analysis_writes(office: Path) -> None:
    """Byte for byte, so that every mark resolves, but for the links that init follows."""
    drafts = office / "office_desk" / "golden_reports" / "drafts"
    for model in ("aster-8b", "birch-70b"):
        run = office / "blade_out" / "runs" / f"office_desk_{model}"
        draft = (drafts / f"{model}_draft_report.md").read_bytes()
        assert draft.replace(b" --follow-links`", b"`") == (run / "report.md").read_bytes()
        metrics = (drafts / f"{model}_draft_report_metrics.json").read_bytes()
        assert metrics == (run / "metrics.json").read_bytes()


def test_next_commands_are_printed(office: Path) -> None:
    """In the order a package is made in, for the first model."""
    printed = (office / "printed.txt").read_text(encoding="utf-8").partition("Next:\n")[2]
    words = [shlex.split(line, comments=True) for line in printed.splitlines()]
    assert [line[1] for line in words if line[0] == "blade"] == [
        *("verify", "extract-anchor-facts", "make-shallow", "calibrate", "sanitize", "validate")
    ]
    copied = [Path(line[1]) for line in words if line[0] == "cp"]
    assert len(copied) == 2
    assert all(path.is_file() for path in copied)


def test_same_command_changes_nothing(office: Path) -> None:
    """With the rollouts in the package as the results."""
    package = office / "office_desk"
    before = contents(package)
    ended = init(package, "office_desk", "--results", package / "rollouts")
    assert ended.code == 0, ended.stderr
    assert contents(package) == before


def test_citations_of_the_skill_exist(office: Path) -> None:
    """Every rollout and event that it cites was expected, or is an event of the warehouse."""
    text = (office / "office_desk" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    cited = [found for code in re.findall(r"`([^`\n]+)`", text) if (found := parse(code))]
    cited = [found for found in cited if found.run_id.startswith("office_desk_")]
    assert len(cited) > 5
    with open_warehouse(office / "blade_out" / "warehouse.duckdb") as warehouse:
        expected = set(
            warehouse.execute("select run_id, task_id, rollout_index from expected").fetchall()
        )
        events = set(
            warehouse.execute("select run_id, task_id, rollout_index, seq from events").fetchall()
        )
    for found in cited:
        key = (found.run_id, found.task_id, found.rollout_index)
        assert key in expected
        assert found.seq is None or (*key, found.seq) in events


def test_commands_of_the_skill_run(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those without a placeholder, as written, in the folder that it names."""
    monkeypatch.chdir(office)
    text = (office / "office_desk" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    fenced = "\n".join(re.findall(r"```\n(.*?)```", text, re.DOTALL))
    commands = [line.strip() for line in fenced.splitlines() if line.strip().startswith("blade ")]
    commands += re.findall(r"`(blade [^`]*)`", text)
    runnable = [line for line in commands if not re.search("RUN|MODE|TASK", line)]
    assert len(runnable) > 10
    for line in runnable:
        words = shlex.split(line)
        assert words[1] in COMMANDS
        if words[1:] in (["verify"], ["mcp"]):  # named, not called
            continue
        ended = call(*words[1:])
        assert ended.code == 0, f"{line}: {ended.stderr}"


def test_refresh_makes_drafts_again(tmp_path: Path) -> None:
    """First nothing but a name, then rollouts; a person's words stay, a draft is made again."""
    package = tmp_path / "quick_math"
    assert init(package, "quick_math").code == 0
    grown = init(package, "quick_math", "--results", DEMO)
    assert grown.code == 0, grown.stderr
    drafted = contents(package)
    draft = package / "golden_reports" / "drafts" / "aster-8b_draft_report.md"
    skill = package / "skill" / "SKILL.md"
    draft.write_text("stale\n", encoding="utf-8")
    skill.write_text("by hand\n", encoding="utf-8")
    kept = init(package, "quick_math")
    assert "SKILL.md, golden_reports/drafts/aster-8b_draft_report.md; --refresh" in kept.stderr
    assert draft.read_text(encoding="utf-8") == "stale\n"
    made_again = init(package, "quick_math", "--refresh")
    assert "-stale" in made_again.stdout
    assert "no place for the generated part `fields`" in made_again.stderr
    name = skill.relative_to(package).as_posix()
    assert contents(package) == {**drafted, name: b"by hand\n"}


def test_profile_of_the_results_is_taken(tmp_path: Path) -> None:
    """A blade.toml beside the results becomes the package's; one that is wrong is named there."""
    rows = [rollout(task, 0, reward=task / 4) for task in range(4)]
    results = write(
        tmp_path / "results",
        {"a_rollouts.jsonl": rows, "blade.toml": 'benchmark = "x"\npass_threshold = 0.5\n'},
    )
    assert init(tmp_path / "x", "x", "--results", results).code == 0
    assert (tmp_path / "x/blade.toml").read_text() == (results / "blade.toml").read_text()
    assert "A rollout passes from 0.5 (" in (tmp_path / "x/skill/SKILL.md").read_text()
    (tmp_path / "x/blade.toml").write_text("pass_threshold = 'high'\n")
    ended = init(tmp_path / "x", "x")
    assert ended.code == 2
    assert f"{tmp_path / 'x' / 'blade.toml'}: pass_threshold" in ended.stderr


def test_hostile_results(tmp_path: Path) -> None:
    """With any text in rollouts, the skill is inert and the package can be analyzed."""
    results = write(tmp_path / "results", hostile.files())
    ended = init(tmp_path / "bad", "bad", "--results", results)
    assert ended.code == 0, ended.stderr
    text = (tmp_path / "bad" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    body = PART_MARK.sub("", text.split("---\n", 2)[2])
    assert [message for message in complaints(body) if not message.startswith("fence:")] == []
    assert len(re.findall(r"^\s*```\w*$", text, re.MULTILINE)) == 6
    figures(tmp_path / "bad", tmp_path / "out")


def checked(task: int, index: int, *, met: str) -> Row:
    """An attempt of which the verifier checks three things; it passes where all are met."""
    tests = {name: name in met for name in "abc"}
    return rollout(task, index, reward=float(all(tests.values())), tests=tests)


def test_registers_are_made_of_the_rollouts(tmp_path: Path) -> None:
    """Every failing task with what fails it; one that is stale is reported, and made again."""
    one = [checked(0, 0, met="abc"), checked(0, 1, met="ab"), checked(1, 0, met="a")]
    two = [checked(0, 0, met="abc"), checked(0, 1, met="abc"), checked(1, 0, met="b")]
    results = write(tmp_path / "results", {"one_rollouts.jsonl": one, "two_rollouts.jsonl": two})
    package = tmp_path / "desk"
    assert init(package, "desk", "--results", results).code == 0
    reports = package / "golden_reports"
    register = json.loads((reports / "failed_task_register.json").read_text("utf-8"))
    assert (register["failing_task_count"], register["shared_never_pass_count"]) == (2, 1)
    message = {
        task["task_id"]: [
            (
                each["run_id"],
                each["bucket"],
                (each["n_passed"], each["n_scored"]),
                parse(each["citation"]).rollout,
                {check["name"]: (check["n_failed"], check["n_checked"])
                 for check in each["failed_checks"]},
            )
            for each in task["runs"]
        ]
        for task in register["tasks"]
    }  # fmt: skip
    assert message == {
        "0": [("one", "sometimes", (1, 2), ("one", "0", 1), {"c": (1, 2)})],
        "1": [
            ("one", "never", (0, 1), ("one", "1", 0), {"b": (1, 1), "c": (1, 1)}),
            ("two", "never", (0, 1), ("two", "1", 0), {"a": (1, 1), "c": (1, 1)}),
        ],
    }
    statistics = json.loads((reports / "model_comparison_statistics.json").read_text("utf-8"))
    (test,) = statistics["tests"]
    assert (test["matched_cells"], test["mean_difference"]) == (2, 0.25)
    assert call("verify", reports / "model_comparison_report.md").code == 0

    def stale() -> set[str]:
        answer = json.loads(call("validate", "--benchmark-dir", package, "--json").stdout)
        return {
            each["file"]
            for each in answer["checks"]
            if (each["id"], each["status"]) == ("golden.registers", "FAIL")
        }

    assert stale() == set()
    write(package / "rollouts", {"two_rollouts.jsonl": [checked(0, 1, met=""), *two[::2]]})
    assert stale() == {f"golden_reports/{name}" for name in REGISTERS}
    assert init(package, "desk", "--refresh").code == 0
    assert stale() == set()


def test_the_report_template_names_forms_that_exist(office: Path) -> None:
    """Every form of a source that the skill names is read as one, and each of ours is named."""
    text = (office / "office_desk" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    section = text.partition("## Report Template\n")[2]
    forms = re.findall(r"`((?:from|sql:) [^`]+)`", section)
    assert len(forms) == 4
    for form in forms:
        asked = form.replace("sql: QUERY", "sql: select 1")
        (source,) = parsed(Comment(1, 0, asked), is_table=" as HEAD:" in form)
        assert not source.fault and (source.pairs or source.columns), form


def test_the_draft_of_a_run_compares_it(office: Path) -> None:
    """With the other run of the package, whichever is the base."""
    for model in ("aster-8b", "birch-70b"):
        path = office / "office_desk/golden_reports/drafts" / f"{model}_draft_report.md"
        section = path.read_text(encoding="utf-8").partition("## Cross-Model Comparison\n")[2]
        assert "| `office_desk_aster-8b` | `office_desk_birch-70b` |" in section
        assert "nothing to compare" not in section.partition("\n## ")[0]


def test_drafts_hold_nothing_private(office: Path) -> None:
    """That an attempt is a pass is no password."""
    found = json.loads(call("sanitize", office / "office_desk", "--check", "--json").stdout)
    files = {each["file"] for each in found["findings"]}
    assert not [file for file in files if file.startswith("golden_reports/drafts/")], files
