"""The warehouse in files of other tools: every row of it, in one go, and over nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import polars
import pytest

import pipeline
from pipeline.export.gym import flips
from pipeline.warehouse import grains, reader
from tests.health_rows import call as health_call
from tests.health_rows import observed, turn
from tests.lean import LOADED, METRICS, only
from tests.results import Results, Row, analyzed, call, contents, rollout, write

HEALTH = "health_findings rollout_health task_health run_health".split()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with tools, slices, checks, and texts that a table of commas must quote."""
    message = 'one "quoted", line\r\nand \u00fcber, \u202e=1+1'
    output = [
        {"type": "function_call", "name": "add", "arguments": '{"a": [1]}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
        {"type": "message", "role": "assistant", "content": message},
    ]
    runs = {
        f"{name}_rollouts.jsonl": [
            rollout(task, index, reward=float((task + index) % 3 > least), output=output)
            | {"level": f"level {task % 2}", "tests": {"first": True, "a,b": task > 1}}
            for task in range(3)
            for index in range(2)
        ]
        for name, least in (("007", 0), ("sums", 1))
    }
    return analyzed(tmp_path_factory.mktemp("export"), runs, needs=(*LOADED, *METRICS)).path


@pytest.mark.parametrize(
    ("format_", "which"),
    [
        ("csv", "results"),
        *(
            pytest.param(format_, which, marks=pytest.mark.slow)
            for format_, which in (("parquet", "results"), ("csv", "demo"), ("parquet", "demo"))
        ),
    ],
)
def test_every_row_of_every_public_relation_is_read_back(
    format_: str, which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """By DuckDB and by Polars: as in the warehouse, in the order of the grain; JSON is text."""
    path, out = request.getfixturevalue(which), tmp_path / "with space"
    ended = call("export", "--format", format_, "--out", out, "--warehouse", path)
    assert ended.code == 0 and f"{out}/runs.{format_}: " in ended.stdout
    with pipeline.open_warehouse(path) as warehouse:
        for (name,) in warehouse.execute("show tables").fetchall():
            order = f"order by {', '.join(grains()[name])}"
            columns = warehouse.execute(f"describe {name}").fetchall()
            types = {column[0]: column[1] for column in columns}
            file = out / (f"events/*/events.{format_}" if name == "events" else f"{name}.{format_}")
            if format_ == "parquet":
                actual = duckdb.sql(
                    f"select {', '.join(types)} from read_parquet('{file}', "
                    "hive_types_autocast = false)"
                )
                reported = [str(type_) for type_ in actual.types]
                assert reported == [type_.replace("JSON", "VARCHAR") for type_ in types.values()], (
                    name
                )
                expected = warehouse.execute(f"from {name} {order}").fetchall()
                hive = {"run_id": polars.String} if name == "events" else None
                again = polars.scan_parquet(file, hive_schema=hive).select(*types).collect().rows()
                assert again == warehouse.sql(f"from {name} {order}").rows(), name
            else:
                texts = ", ".join(
                    f"coalesce({column}{'::json' if type_[-1] in ')]' else ''}::varchar, '')"
                    for column, type_ in types.items()
                )
                expected = warehouse.execute(f"select {texts} from {name} {order}").fetchall()
                actual = duckdb.sql(
                    f"select coalesce(columns(*), '') from (select {', '.join(types)} "
                    f"from read_csv('{file}', all_varchar = true, hive_types_autocast = false, "
                    "quote = '\"'))"
                )
                if name != "events":
                    again = polars.read_csv(file, infer_schema=False).fill_null("").rows()
                    assert again == expected, name
            assert actual.fetchall() == expected, name


@pytest.mark.parametrize("format_", ["parquet", pytest.param("csv", marks=pytest.mark.slow)])
def test_the_same_warehouse_gives_the_same_bytes(
    format_: str, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many threads there are, and with anything left there of an earlier export."""
    other = "csv" if format_ == "parquet" else "parquet"
    for out, formats in (("first", [format_]), ("second", [other, format_])):
        for each in formats:
            arguments = ("export", "--format", each, "--out", tmp_path / out)
            assert call(*arguments, "--warehouse", results).code == 0
        monkeypatch.setattr(reader, "LOCKED_DOWN", {"threads": "1", **reader.LOCKED_DOWN})
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


@pytest.mark.slow
def test_only_an_earlier_export_is_overwritten(results: Path, tmp_path: Path) -> None:
    """Another file of that name stays, and nothing else is written; others are left alone.

    A listing that names a file elsewhere is not that of an export.
    """
    arguments = ("export", "--format", "csv", "--out", tmp_path, "--warehouse", results)
    (tmp_path / "runs.csv").write_text("mine")
    (tmp_path / "notes.md").write_text("mine")
    ended = call(*arguments)
    assert ended.code == 2 and "runs.csv: is not from an earlier export" in ended.stderr
    assert contents(tmp_path) == {"runs.csv": b"mine", "notes.md": b"mine"}
    (tmp_path / "runs.csv").unlink()
    assert call(*arguments).code == 0 and call(*arguments).code == 0
    listing = json.loads((tmp_path / "export.json").read_text())
    listing["n_rows"]["../outside.csv"] = 1
    (tmp_path / "export.json").write_text(json.dumps(listing))
    (tmp_path.parent / "outside.csv").write_text("mine")
    assert call(*arguments).code == 2
    assert (tmp_path / "notes.md").exists() and (tmp_path.parent / "outside.csv").exists()


def test_a_folder_that_cannot_be_written_is_reported(results: Path, tmp_path: Path) -> None:
    """A file for the folder, and a folder for a file."""
    arguments = ("export", "--format", "csv", "--warehouse", results, "--out")
    (tmp_path / "file").write_text("mine")
    assert call(*arguments, tmp_path / "file").code == 2
    (tmp_path / "runs.csv").mkdir()
    assert call(*arguments, tmp_path).code in (2, 3)
    assert (tmp_path / "runs.csv").is_dir() and not (tmp_path / "tasks.csv").exists()


def test_a_view_reads_no_other_file(results: Path, tmp_path: Path) -> None:
    """The author of a warehouse may have made its views too."""
    path = tmp_path / "made.duckdb"
    path.write_bytes(results.read_bytes())
    (tmp_path / "secret.txt").write_text("secret")
    with duckdb.connect(str(path)) as db:
        db.execute(f"create view main.spy as from read_text('{tmp_path}/secret.txt')")
    ended = call("export", "--format", "csv", "--out", tmp_path / "out", "--warehouse", path)
    assert ended.code == 2 and "Permission Error" in ended.stderr
    assert list((tmp_path / "out").iterdir()) == []


def three_runs() -> dict[str, list[Row]]:
    """A base and two candidates at five tasks; one turn of the base is hollow."""
    rewards = {
        "base": ([1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0], [0, 0]),
        "better": ([0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1], [0, 0]),
        "worse": ([0, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0], [0, 0]),
    }
    runs = {
        f"{name}_rollouts.jsonl": [
            observed([turn(("c",))], [health_call("c")])
            | rollout(task, index, reward=float(reward), model=f"org/{name}", agent="agent")
            for task, own in enumerate(tasks)
            for index, reward in enumerate(own)
        ]
        for name, tasks in rewards.items()
    }
    first = runs["base_rollouts.jsonl"][0]
    first["ng_trajectory"] |= {"turns": [turn(("c",), answer=None)], "tool_calls": []}
    del runs["worse_rollouts.jsonl"][-1]["ng_trajectory"]
    return runs


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three runs, compared with the base."""
    needs = (*LOADED, *METRICS, *HEALTH, "comparisons", "comparison_tasks")
    folder = tmp_path_factory.mktemp("compared")
    return analyzed(folder, three_runs(), needs=needs, baselines="base").path


def exported(format_: str, warehouse: Path, out: Path) -> Path:
    """The folder that a format was written to."""
    ended = call("export", "--format", format_, "--out", out, "--warehouse", warehouse)
    assert (ended.code, ended.stderr) == (0, "")
    return out


@pytest.mark.slow
def test_junit(demo: Path, tmp_path: Path) -> None:
    """A task that does not always pass is a failing test, one without a score an error."""
    out = exported("junit", demo, tmp_path)
    with duckdb.connect(str(demo), read_only=True) as db:
        counted = db.execute("""
            select
                run_id,
                count(*),
                count(*) filter (n_scored > 0 and n_passed < coalesce(n_expected, n_rollouts)),
                count(*) filter (n_scored = 0)
            from task_outcomes
            group by all
        """).fetchall()
    for run_id, *counts in counted:
        suite = ElementTree.parse(out / run_id / "junit.xml").getroot()[0]
        assert [int(suite.get(name, "")) for name in ("tests", "failures", "errors")] == counts
        tags = [outcome.tag for case in suite for outcome in case]
        assert [len(suite), tags.count("failure"), tags.count("error")] == counts
    case = ElementTree.parse(out / "office_desk_aster-8b/junit.xml").find(".//testcase[@name='0']")
    assert case is not None and case.get("classname") == "office_desk"
    assert case[0].get("message") == "1 of 4 attempts passed"
    assert [line.split("  ")[0] for line in (case[0].text or "").splitlines()] == [
        f"office_desk_aster-8b/0:{rollout}" for rollout in (0, 1, 3)
    ]


@pytest.mark.slow
def test_junit_of_hostile_names_and_open_rewards(tmp_path: Path) -> None:
    """Characters that XML has no place for are replaced; a reward alone is no verdict."""
    rows = [
        {"task_id": "a\x01<b>&", "reward": 0.0, "response": {"output": []}},
        {"task_id": "c", "reward": 1.0, "response": {"output": []}},
    ]
    for name, factor in (("binary", 1.0), ("open", 40.0)):
        results = tmp_path / name
        results.mkdir()
        lines = [json.dumps({**row, "reward": row["reward"] * factor}) for row in rows]
        (results / "x_rollouts.jsonl").write_text("\n".join(lines) + "\n")
        assert call("analyze", results, "--out", tmp_path / f"{name}_out").code == 0
    binary = exported("junit", tmp_path / "binary_out", tmp_path / "binary_xml")
    names = [
        case.get("name") for case in ElementTree.parse(binary / "x/junit.xml").iter("testcase")
    ]
    assert sorted(filter(None, names)) == ["a\ufffd<b>&", "c"]
    open_rewards = exported("junit", tmp_path / "open_out", tmp_path / "open_xml")
    assert len(list(ElementTree.parse(open_rewards / "x/junit.xml").iter("skipped"))) == 2


@pytest.mark.slow
def test_gym_health(compared: Path, tmp_path: Path) -> None:
    """Verdicts by the checks that Gym knows: a finding, none, or no evidence; totals of them."""
    out = exported("gym", compared, tmp_path)
    lines = (out / "base/rollout_verdicts.jsonl").read_text("utf-8").splitlines()
    first, second = map(json.loads, lines[:2])
    names = ("_ng_task_index", "_ng_rollout_index", "rollout_id")
    assert [first[name] for name in names] == [0, 0, "0:0"]
    assert first["verdict"] == "unhealthy"
    assert [list(each) for each in first["findings"]] == [["check", "detail"]]
    assert first["findings"][0]["check"] == "agent_turn_hollow"
    assert list(second)[3:] == ["verdict", "findings", "unobserved"]
    summary = json.loads((out / "base/quality_summary.json").read_text("utf-8"))
    run = summary["run"]
    assert run["artifacts"]["records"] == len(lines) == 13
    assert run["issues"]["agent_turn_hollow"] == 1 and sum(run["issues"].values()) == 1
    assert summary["tasks"]["0"]["unhealthy"] == 1 and summary["tasks"]["0"]["flags"] == []
    last = json.loads((out / "worse/rollout_verdicts.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["verdict"] == "unobserved" and "agent_turn_hollow" in last["unobserved"]
    assert not any(check.startswith("response_") for check in last["unobserved"])


@pytest.mark.slow
def test_gym_comparison(compared: Path, tmp_path: Path) -> None:
    """Means over rollouts, and tasks that went over to the other side of one half."""
    out = exported("gym", compared, tmp_path)
    report = json.loads((out / "better/compare_report.json").read_text("utf-8"))
    assert not (out / "base/compare_report.json").exists()
    (compared_agent,) = report["comparisons"]
    mean = compared_agent["metrics"][0]
    assert (mean["metric"], mean["present_in"]) == ("mean/reward", ["baseline", "candidate[0]"])
    assert mean["baseline"] == {"value": pytest.approx(6 / 13)}
    moved = {"value": 9 / 13, "delta": 3 / 13, "delta_pct": 50.0}
    assert mean["candidates"] == [pytest.approx(moved)]
    (flips,) = compared_agent["flips"]
    names = ("pass_to_fail", "fail_to_pass", "tied", "unchanged")
    assert [flips[f"{name}_count"] for name in names] == [1, 1, 1, 2]
    assert (flips["mode"], flips["net"], flips["common_task_count"]) == ("binary", 0, 5)
    assert [(each["task_index"], each["direction"]) for each in flips["flips"]] == [
        (0, "pass_to_fail"),
        (1, "fail_to_pass"),
    ]
    assert flips["flips"][0]["baseline_rewards"] == [1.0, 1.0, 0.0]
    assert report["baseline"]["rollouts_jsonl_fpath"] == "base_rollouts.jsonl"
    assert (report["baseline"]["label"], report["baseline"]["agent_names"]) == ("base", ["agent"])


@pytest.mark.parametrize(
    ("rewards", "mode", "directions"),
    [
        ([([0.25], [0.75]), ([0.5], [0.5])], "continuous", ["changed"]),
        ([([1, 0], [1, 1]), ([1, 1], [0, 0])], "binary", ["pass_to_fail"]),
        ([], "unavailable", []),
    ],
)
def test_gym_flips(
    rewards: list[tuple[list[float], list[float]]], mode: str, directions: list[str]
) -> None:
    """A graded reward just changes; one half is on neither side; without an index there is none."""
    rollouts, tasks = [], [("a", "b", "no index", 1.0, 0.0, True)]
    for task, sides in enumerate(rewards):
        means = [sum(side) / len(side) for side in sides]
        tasks.append(("a", "b", str(task), *means, True))
        for run, side in zip("ab", sides, strict=True):
            rollouts += [(run, str(task), n, reward, True) for n, reward in enumerate(side)]
    db = duckdb.connect(":memory:")
    db.execute("""
        create table rollouts (
            run_id varchar, task_id varchar, rollout_index int, reward double, is_scored boolean
        );
        create table comparison_tasks (
            base varchar, candidate varchar, task_id varchar, base_mean_reward double,
            candidate_mean_reward double, is_common boolean
        );
        create view comparisons as select
            'a' as base, 'b' as candidate, true as is_lead, 2 as n_common_tasks,
            0 as n_base_only, 0 as n_candidate_only
    """)
    for name, rows in (("rollouts", rollouts), ("comparison_tasks", tasks)):
        for row in rows:
            db.execute(f"insert into {name} values {row}")
    actual = flips(reader.Warehouse(db), "a", "b")
    assert (actual["mode"], [each["direction"] for each in actual["flips"]]) == (mode, directions)
    assert actual["net"] == (-1 if mode == "binary" else None)
    assert actual["unchanged_count"] == {"continuous": 1, "binary": 0}.get(mode)


@pytest.mark.slow
def test_package(tmp_path: Path) -> None:
    """Tasks that no model passes, and paired tests, corrected over all of them."""
    results = write(tmp_path / "results", three_runs())
    out = tmp_path / "out"
    assert call("analyze", results, "--out", out, "--baseline", "base").code == 0
    (place,) = exported("package", out, tmp_path / "to").glob("benchmarks/*/golden_reports")
    register = json.loads((place / "failed_task_register.json").read_text("utf-8"))
    shared = [each["task_id"] for each in register["tasks"] if each["is_shared_never_pass"]]
    assert (shared, register["shared_never_pass_count"]) == (["4"], 1)
    assert (place / "model_comparison_report.md").read_text("utf-8").startswith("# Evaluation")
    assert register["models"] == ["org/base", "org/better", "org/worse"]
    answer = json.loads((place / "model_comparison_statistics.json").read_text("utf-8"))
    assert (answer["tests_run"], answer["unit"]) == (2, "pass_at_1, model_a minus model_b")
    better, worse = answer["tests"]
    assert (better["model_a"], better["model_b"]) == ("org/better", "org/base")
    assert better["mean_difference"] == pytest.approx((-1 / 3 + 1 + 1 / 2) / 5, abs=1e-6)
    assert worse["mean_difference"] == pytest.approx((-2 / 3 - 1 / 2) / 5, abs=1e-6)
    low, high = sorted((better, worse), key=lambda each: each["p_raw"])
    assert high["p_adjusted"] == high["p_raw"]
    assert low["p_adjusted"] == pytest.approx(min(2 * low["p_raw"], high["p_raw"]), abs=2e-6)
    assert not low["significant"] and answer["tests_significant"] == 0


# What a step of ATIF has no place for: a lone result, a late one, what is empty or of another kind.
ODD = [
    {"type": "message", "role": "user", "content": "first"},
    {"type": "function_call_output", "call_id": "", "output": "lone"},
    {"type": "reasoning", "content": "one"},
    {"type": "reasoning", "content": "two"},
    {"type": "message", "role": "assistant", "content": ""},
    {"type": "function_call", "name": "a", "arguments": "{broken", "call_id": "x"},
    {"type": "function_call", "name": "b", "arguments": '{"k": NaN}', "call_id": "y"},
    {"type": "function_call_output", "call_id": "y", "output": ""},
    {"type": "message", "role": "assistant", "content": "meanwhile"},
    {"type": "function_call_output", "call_id": "x", "output": "late", "name": "a"},
    {"type": "function_call_output", "call_id": "", "output": "nameless"},
    {"type": "web_search_call", "status": "done", "id": "w"},
    {"type": "message", "role": "system", "content": "go on"},
    {"type": "message", "role": "assistant", "content": "\ud7ff end\u0000"},
]
STEP = {"step_id", "source", "message", "extra"}
AGENT_STEP = {*STEP, "reasoning_content", "tool_calls", "observation"}


@pytest.mark.slow
def test_trajectories_are_read_back(tmp_path: Path) -> None:
    """To the same events, in files that are valid: numbered steps, results of their own calls."""
    needs = ("events", "rollouts", "task_prompts", "tasks", "runs", "artifacts", "rejects")
    system = {
        "input": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "q"}]
    }
    rows = [
        rollout(0, 0, output=ODD, model="m"),
        rollout(1, 0, output=[]) | {"responses_create_params": system},
        rollout(2, 1, output=ODD[::-1], reward=None),
    ]
    first = analyzed(tmp_path, {"run_rollouts.jsonl": rows}, needs=needs)
    out = exported("atif", first.path, tmp_path / "atif")
    manifest = (out / "run/manifest.jsonl").read_text("utf-8").splitlines()
    for line in map(json.loads, manifest):
        content = (out / "run" / line["trajectory_path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == line["expected_sha256"]
        steps = json.loads(content)["steps"]
        assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
        for step in steps:
            assert set(step) <= (AGENT_STEP if step["source"] == "agent" else STEP)
            calls = {call["tool_call_id"] for call in step.get("tool_calls", [])}
            for each in step.get("observation", {}).get("results", []):
                assert each.get("source_call_id") in {None, *calls}
    with only(*needs):
        pipeline.analyze(out, out=tmp_path / "again")
    again = Results(tmp_path / "again")
    events = "select * exclude (run_id) from events order by task_id, rollout_index, seq"
    assert again.rows(events) == first.rows(events) and len(again.rows(events)) == 2 * len(ODD)
    request = "select task_id, system_prompt, prompt from task_prompts order by all"
    assert again.rows(request) == first.rows(request)
    assert again.column("select distinct kind from artifacts order by 1") == ["report", "rollouts"]


@pytest.mark.slow
def test_odd_task_names_are_files_of_their_own(tmp_path: Path) -> None:
    """Names that differ only in what no file name can hold; nothing is written elsewhere."""
    needs = ("events", "rollouts", "task_prompts", "tasks", "runs")
    names = ("../a/b", "a-b", "a/b", "..")
    rows = [rollout(index=0, ask=name) | {"task_id": name} for name in names]
    warehouse = analyzed(tmp_path, {"run_rollouts.jsonl": rows}, needs=needs).path
    out = exported("atif", warehouse, tmp_path / "atif")
    written = [path.name for path in (out / "run").iterdir()]
    assert len(written) == 5 and {"a-b-0.json", "manifest.jsonl"} < set(written)
    assert sorted(path.name for path in out.iterdir()) == ["export.json", "run"]
