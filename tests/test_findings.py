"""What matters most, what a report cannot say, and how an analysis tells how far it is."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline import open_warehouse, report
from pipeline.cli.analyze import finding_command, finding_objects, with_commands
from pipeline.cli.options import shown_progress
from pipeline.cli.terminal import PLAIN, print_page
from pipeline.report import filters, sentences
from pipeline.report.comparisons import Comparison, leading
from pipeline.report.figures import Row
from pipeline.report.sentences import Benchmark
from pipeline.run import Progress, run
from pipeline.settings import SQL_DIR, Settings
from pipeline.text import is_redacted
from pipeline.warehouse import create_macros
from tests.case_files import cases
from tests.lean import only
from tests.results import Results, asked, called, rollout, write, wrote

MARKER = re.compile(r"<!--.*?-->")
LONGEST = 220
# The columns of a doubt or change, and of a finding on failures; a test names what it is about.
OF_RUNS = (
    "subject base verdict value ours low high n_concerned n_total n_tasks n_all_tasks n_alike "
    "n_lacking n_runs fewest_lacking most_lacking example"
).split()
OF_FAILURES = (
    "mode reason n_failures n_failures_observed n_passes n_passes_observed n_tasks n_all_tasks "
    "n_not_run_tasks n_attempts n_all_attempts reward_with reward_without example_task citation"
).split()
ALONE = Benchmark(runs=[None], modes=[], mode_parts=[], concentrations=[])


def finding(kind: str, **values: Any) -> Row:
    """A doubt or a change by hand."""
    common = {"finding_no": 1, "tier": 1, "kind": kind, "run_id": "a", "metric": "pass_at_1"}
    given = dict.fromkeys(OF_RUNS) | {"unlike": []} | common | values
    return Row("report.findings", ("finding_no",), given)


def observation(kind: str, **values: Any) -> Row:
    """A finding on the failures of a benchmark, by hand."""
    common = {"finding_no": 1, "kind": kind, "benchmark": "desk", "run_id": None}
    flags = dict.fromkeys(("is_of_some", "is_of_runs", "is_of_scores", "has_ungraded"), False)
    flags["has_grades"] = True
    given = (
        dict.fromkeys(OF_FAILURES)
        | common
        | flags
        | {
            "top_tasks": [],
            "other_runs": [],
            "other_values": [],
        }
    )
    return Row("findings", ("benchmark", "finding_no"), given | values)


MADE = {"sentences": finding, "observations": observation}
SENTENCES = [(made, case) for made in MADE for case in cases("sentences", made)]


@pytest.mark.parametrize(("made", "case"), SENTENCES, ids=[each["kind"] for _, each in SENTENCES])
def test_sentence(made: str, case: dict[str, Any]) -> None:
    """One sentence with the denominator of every share, and what to run to see more."""
    row, words = MADE[made](case["kind"], **case["values"]), case["command"]
    assert PLAIN.finding(row, ALONE) == case["said"]
    assert finding_command(row) == (words.split(" ", 1) if words[:3] == "sql" else words.split())


def test_beside_other_benchmarks_a_finding_names_its_own() -> None:
    """Where its sentence names no run."""
    row = observation("slice", mode="part = b", n_failures=2, n_failures_observed=3)
    assert PLAIN.finding(row, ALONE, is_of_several=True).startswith("desk: 2 of 3 failures")
    of_run = finding("unscored", n_total=1, n_alike=0)
    assert PLAIN.finding(of_run, ALONE, is_of_several=True) == "a has no scored attempt."


def test_what_holds_for_other_runs_is_reported_once() -> None:
    """The first of a kind counts the others; of other kinds each has its sentence."""
    ranked = [
        finding(kind, run_id=name)
        for name in ("a", "b")
        for kind in ("unscored", "reported", "change")
    ]
    shown = [(row.kind, row.run_id) for row in sentences.foremost(ranked, [], 5)]
    assert shown == [("unscored", "a"), ("reported", "a"), ("change", "a"), ("change", "b")]
    assert len(sentences.foremost(ranked, [], 2)) == 2


def test_doubts_leave_a_place_to_what_failures_show() -> None:
    """Benchmarks take turns; doubts and changes of the last tier come after."""
    ranked = [finding("change", run_id=name) for name in ("a", "b", "c")]
    small = finding("missing", tier=3)
    seen = [
        observation("never", benchmark=name, finding_no=no) for name in ("x", "y") for no in (1, 2)
    ]
    shown = sentences.foremost([*ranked, small], seen, 3)
    assert shown == [ranked[0], ranked[1], seen[0]]
    every = sentences.foremost([ranked[0], small], seen, 9)
    assert every == [ranked[0], seen[0], seen[2], seen[1], seen[3], small]
    # A longer list begins with the shorter, and the benchmark of most failures comes first.
    assert sentences.foremost([*ranked, small], seen, 5)[:4] == [*shown, ranked[2]]
    large = observation("never", benchmark="z", n_failures=9)
    assert sentences.foremost(ranked, [*seen, large], 3)[2] == large
    alike = [observation("mode", benchmark=name, mode="late") for name in ("x", "y")]
    last = sentences.foremost([], [*alike, *seen], 9)[-1]
    assert last == alike[1]


def test_what_scores_mean_comes_before_changes_of_them() -> None:
    """Once; of another benchmark it takes its turn."""
    change = finding("change")
    doubts = [observation("graders", benchmark=name, is_of_scores=True) for name in ("x", "y")]
    never = observation("never", benchmark="z")
    assert sentences.foremost([change], [never, *doubts], 4) == [
        doubts[0],
        change,
        doubts[1],
        never,
    ]


@pytest.mark.parametrize(
    ("relation", "made"), [("report/findings", "sentences"), ("findings/findings", "observations")]
)
def test_every_kind_has_a_sentence(relation: str, made: str) -> None:
    """The kinds of the relation and of the sentences are the same, and each is tried above."""
    files = [f"{relation}.sql", *(["findings/_copied_runs.sql"] if made == "observations" else [])]
    query = "".join((SQL_DIR / file).read_text(encoding="utf-8") for file in files)
    kinds = set(re.findall(r"'(\w+)' as kind,", query))
    assert kinds == {case["kind"] for case in cases("sentences", made)}


@pytest.fixture(scope="module")
def content(demo: Path) -> Iterator[report.Content]:
    """What the pages of the demo are made of."""
    with open_warehouse(demo) as warehouse:
        yield report.collect(warehouse)


def test_a_page_says_what_a_terminal_says(content: report.Content) -> None:
    """The same words but for markup, short enough to be read, each figure with its place."""
    for row in [*content.findings, *content.observations]:
        beside = content.of_benchmark(row.benchmark)
        page = filters.VOICE.finding(row, beside)
        plain = PLAIN.finding(row, beside)
        assert re.sub(r"[`\\]", "", MARKER.sub("", page)) == plain
        assert len(plain) <= LONGEST and plain.count(". ") == 0
        assert f"{row.relation}?" in page


def test_examples_can_be_opened(content: report.Content, demo: Path) -> None:
    """Every rollout that a finding cites was recorded."""
    examples = [row.values["example"] for row in content.findings]
    examples += [row.values["citation"] for row in content.observations]
    cited = {each.partition("#")[0] for each in examples if each}
    known = set(Results(demo.parent).column("select run_id || '/' || rollout_id from rollouts"))
    assert len(cited) > 5 and cited <= known


def summary(content: report.Content) -> str:
    """The executive summary alone, without marks."""
    section = report.SECTIONS["executive_summary"]
    text = report.document(content, sections=[section]).sections[section]
    return MARKER.sub("", text)


def test_without_a_base_the_tests_of_a_verdict_decide(content: report.Content) -> None:
    """An interval that leaves out no change is not enough, as it is not for `blade compare`."""
    (pair,) = content.of_benchmark("office_desk").comparisons
    clear = {"ci_new_tasks_low": 0.1, "ci_new_tasks_high": 0.2}
    for is_changed, text in ((False, "not shown to differ."), (True, ", differs.")):
        values = {**pair.lead.row.values, **clear, "is_changed": is_changed}
        assert values["verdict_holm"] is None
        changes = [replace(pair.lead, row=replace(pair.lead.row, values=values))]
        assert PLAIN.says("headline")(replace(pair, changes=changes)).endswith(text)


def test_a_change_between_graders_says_so(content: report.Content) -> None:
    """In the sentence of the change, wherever it is printed; not where one run records none."""
    (pair,) = content.of_benchmark("office_desk").comparisons
    values = {"setting": "grader", "base_value": "x", "candidate_value": "y", "n_tasks": None}
    values["gives_rewards"] = True
    values["is_only"] = False
    key = ("base", "candidate", "setting")
    for unrecorded_by, words in ((None, " (different graders)"), (pair.base, "")):
        setting = Row("comparison_settings", key, {**values, "unrecorded_by": unrecorded_by})
        sentence = PLAIN.says("headline")(replace(pair, settings=[setting]))
        assert f"{pair.base}{words} on " in sentence


@pytest.mark.parametrize("n_runs", [1, 2, 40])
def test_the_summary_is_short(content: report.Content, n_runs: int) -> None:
    """With any number of runs: the first of them, and where the others are."""
    desk = content.of_benchmark("office_desk")
    text = summary(replace(desk, runs=(desk.runs * 20)[:n_runs]))
    assert len(text.split()) <= 200
    assert ("are under Aggregate Results" in text) == (n_runs > 4)


def test_the_summary_says_what_health_checks_flag(content: report.Content) -> None:
    """All attempts, not those of the worst run alone; without any, runs with a finding."""
    desk = content.of_benchmark("office_desk")
    two = "flag 6 attempts of `office_desk_birch-70b` and 3 of `office_desk_aster-8b`."
    assert two in summary(desk)
    several = summary(replace(desk, runs=[*desk.runs, desk.runs[0]]))
    assert "flag 12 attempts in 3 runs, most in `office_desk_birch-70b` (6)." in several
    healthy = replace(desk.runs[0], tables={**desk.runs[0].tables, "health": []})
    text = summary(replace(desk, runs=[healthy]))
    assert "Health checks flag no attempt, but the run (`run_incomplete`)" in text


def test_no_regression_is_left_out_of_the_summary(content: report.Content) -> None:
    """However many comparisons come before it."""
    (pair,) = content.of_benchmark("office_desk").comparisons
    row = pair.lead.row

    def decided(verdict: str, name: str) -> Comparison:
        values = {**row.values, "candidate": name, "is_named": True, "verdict_holm": verdict}
        changes = [replace(pair.lead, row=replace(row, values=values))]
        return replace(pair, changes=changes, candidate=name)

    many = [*[decided("improved", "better")] * 5, *[decided("regressed", "worse")] * 3]
    text = summary(replace(content.of_benchmark("office_desk"), comparisons=many))
    assert (text.count("- `better`"), text.count("- `worse`")) == (0, 3)


def test_what_was_tried_with_one_model_leads(content: report.Content) -> None:
    """Of changes without a verdict, before a larger one of another model."""
    (pair,) = content.of_benchmark("office_desk").comparisons
    row = pair.lead.row

    def changed(by: float, name: str, settings: list[Row]) -> Comparison:
        values = {**row.values, "delta": by, "is_named": False, "is_changed": True}
        changes = [replace(pair.lead, row=replace(row, values={**values, "verdict_holm": None}))]
        return replace(pair, changes=changes, candidate=name, settings=settings)

    of_models = Row("comparison_settings", ("base", "candidate", "setting"), {"setting": "model"})
    pairs = [changed(0.5, "other model", [of_models]), changed(-0.2, "other prompt", [])]
    assert [each.candidate for each in leading(pairs)] == ["other prompt", "other model"]


PLACEHOLDERS = cases("findings", "placeholders")


def test_redaction_is_seen_alike_in_sql_and_python() -> None:
    """The macro and the function agree on what a placeholder is."""
    with duckdb.connect() as db:
        create_macros(db, SQL_DIR)
        for text, is_so in PLACEHOLDERS:
            (found,) = db.execute("select is_redacted(?)", [text]).fetchone() or (None,)
            assert (found, is_redacted(text)) == (is_so, is_so), text


def test_redacted_evidence_is_marked() -> None:
    """After the excerpt; not where the placeholder lies beyond it."""
    assert filters.excerpt("key [REDACTED]") == "`key [REDACTED]` (redacted)"
    assert filters.excerpt("all of it") == "`all of it`"
    assert not filters.excerpt("x" * 300 + "[REDACTED]").endswith("(redacted)")


def test_progress_is_plain_lines_where_no_one_watches() -> None:
    """One a stage on stderr, without control characters; stdout stays clean."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), shown_progress() as progress:
        progress.stage("reading 2 files, 1.5 MB")
        progress.read(10, 20)
        progress.stage("checking x\x1b[2J.toml")
    assert (out.getvalue(), err.getvalue()) == (
        "",
        "reading 2 files, 1.5 MB\nchecking x\\x1b[2J.toml\n",
    )


def test_the_end_names_three_findings(
    content: report.Content, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbered, each with a command; for a program there are all of them."""
    ranked = sentences.foremost(content.findings, content.observations, 3)
    beside = {name: content.of_benchmark(name) for name in content.benchmarks}
    print_page("findings", findings=with_commands(ranked, beside, " --warehouse w"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "What matters most" and max(map(len, lines)) <= 100
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert (
        lines.count("    blade compare quick_math_aster-8b quick_math_birch-70b --warehouse w") == 1
    )
    objects = finding_objects([*content.findings, *content.observations], beside)
    assert len(objects) == len(content.findings) + len(content.observations)
    assert list(objects[0]) == ["kind", "benchmark", "run_id", "sentence", "example"]
    assert json.loads(json.dumps(objects)) == objects


def attempts(
    name: str,
    reward: Callable[[int], float],
    answer: Callable[[int, int], list[Any]],
    *,
    question: str = "",
) -> dict[str, Any]:
    """A run of eight tasks tried twice, that knows what was expected of it."""
    pairs = [(task, index) for task in range(8) for index in range(2)]
    ask = question or name
    return {
        f"{name}_rollouts.jsonl": [
            rollout(t, i, ask=f"{ask} {t}", reward=reward(t), output=answer(t, i)) for t, i in pairs
        ],
        f"{name}_rollouts_materialized_inputs.jsonl": [
            asked(t, i, ask=f"{ask} {t}") for t, i in pairs
        ],
    }


def acted(task: int, index: int) -> list[dict[str, Any]]:
    """A call, and an answer."""
    return [*called("look", {"x": [task, 0]}), *wrote(f"answer {task}{index}")]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, list[str]]:
    """Runs with one thing each that matters most, and what was printed while they were analyzed."""
    lossy = attempts("lossy", lambda _: 1.0, acted)
    recorded = lossy["lossy_rollouts.jsonl"]
    lossy["lossy_rollouts.jsonl"] = [row for row in recorded if row["_ng_task_index"] < 4]
    reported = [{"agent_ref": {"name": "agent"}, "agent_metrics": {"mean/reward": 0.9}}]
    files = {
        **attempts("odd", lambda task: float(task < 2), acted),
        **lossy,
        **attempts("lying", lambda task: float(task < 4), acted),
        "lying_rollouts_aggregate_metrics.json": json.dumps(reported),
        **attempts("loose", float, acted),
        "empty_rollouts.jsonl": "",
        **attempts("hills_old", lambda task: float(task > 0), acted, question="hills"),
        **attempts("hills_new", lambda task: float(task > 6), acted, question="hills"),
        "blade.toml": 'baseline = "hills_old"\n',
    }
    folder, stages = tmp_path_factory.mktemp("planted"), list[str]()
    settings = Settings(results=(write(folder / "results", files),), out=folder / "out")
    with only("report.findings", "report.gaps"):
        run(settings, progress=Progress(stage=stages.append))
    return Results(folder / "out"), stages


PLANTED = {
    "lossy": "missing",
    "lying": "reported",
    "loose": "unsettled",
    "empty": "unscored",
    "hills_new": "change",
}


@pytest.mark.slow
def test_what_is_planted_comes_first(planted: tuple[Results, list[str]]) -> None:
    """Of each run what was planted, of odd failures nothing; of all the three doubts."""
    results, _ = planted
    assert dict(results.rows("select run_id, kind from report.findings")) == PLANTED
    first = results.column("select kind from report.findings where finding_no <= 3")
    assert first == ["unscored", "unsettled", "reported"]


@pytest.mark.slow
def test_gaps_are_there_where_something_is_missing(planted: tuple[Results, list[str]]) -> None:
    """Rows without a failures file, rewards without a threshold, and no run that was expected."""
    results, _ = planted
    for gap, names in (
        ("failures", ["lossy"]),
        ("settled", ["loose"]),
        ("expected", []),
        ("redacted", []),
        ("rejects", []),
    ):
        query = f"select run_id from report.gaps where gap = '{gap}' order by run_id"
        assert results.column(query) == names


@pytest.mark.slow
def test_an_analysis_tells_its_stages(planted: tuple[Results, list[str]]) -> None:
    """In order, each once."""
    _, stages = planted
    words = [re.sub(r"[\d.]+ kB|\d+", "N", stage) for stage in stages]
    assert words == [
        "finding files",
        "reading N files, N",
        "checking blade.toml",
        "creating N relations",
        "checking them",
        "writing the report",
    ]


@pytest.mark.slow
def test_what_runs_lack_is_a_range_and_comes_last(tmp_path: Path) -> None:
    """Where nothing records what was expected: after what failures show, not before it."""
    files = {
        f"{name}_rollouts.jsonl": [rollout(task, 0, reward=float(task % 2)) for task in range(n)]
        for name, n in (("a", 10), ("b", 9), ("c", 6))
    }
    with only("report.findings"):
        run(Settings(results=(write(tmp_path / "results", files),), out=tmp_path / "out"))
    columns = "run_id, tier, n_tasks, n_all_tasks, n_lacking, n_runs, fewest_lacking, most_lacking"
    found = Results(tmp_path / "out").rows(
        f"select {columns} from report.findings where kind = 'unknown' order by run_id"
    )
    assert found == [("b", 3, 1, 10, 2, 3, 1, 4), ("c", 3, 4, 10, 2, 3, 1, 4)]


@pytest.mark.slow
def test_other_runs_without_scores_are_counted_with_and_without_a_pass_rate(tmp_path: Path) -> None:
    """One lacks some scores, one all of them, one none."""
    unscored = {"a": (3,), "b": (5, 6), "c": range(10), "d": ()}
    files = {
        f"{name}_rollouts.jsonl": [
            rollout(task, 0, reward=None if task in lacking else float(task % 2))
            for task in range(10)
        ]
        for name, lacking in unscored.items()
    }
    with only("report.findings"):
        run(Settings(results=(write(tmp_path / "results", files),), out=tmp_path / "out"))
    found = Results(tmp_path / "out").rows("""
        select run_id, n_concerned, n_alike
        from report.findings where kind = 'missing' order by run_id
    """)
    assert found == [("a", 1, 2), ("b", 2, 2)]


@pytest.mark.slow
def test_a_run_of_a_tenth_of_the_rollouts_leads_nothing(tmp_path: Path) -> None:
    """What two runs lack weighs as much, but one of them is only a try."""
    asked = [{"_ng_task_index": task, "_ng_rollout_index": 0} for task in range(40)]
    files = {
        "all_rollouts.jsonl": [rollout(task, 0, reward=float(task % 2)) for task in range(22)],
        "all_rollouts_materialized_inputs.jsonl": asked,
        "try_rollouts.jsonl": [rollout(task, 0, reward=float(task % 2)) for task in range(2)],
        "try_rollouts_materialized_inputs.jsonl": asked[:3],
    }
    with only("report.findings"):
        run(Settings(results=(write(tmp_path / "results", files),), out=tmp_path / "out"))
    found = Results(tmp_path / "out").rows("select run_id, kind, tier from report.findings")
    assert ("all", "missing", 2) in found
    assert ("try", "missing", 3) in found
