"""Runs with long names are called by an alias on pages; links, files and JSON keep the name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.analysis.run_names import LONGEST, aliases
from tests.conftest import analyzed_once, shared_folder
from tests.results import call, rollout
from tests.viewed import viewed

SHARED = "claude-sonnet-4-20250514_airline_2025-05-22T10-11-12"
BASE, CANDIDATE = f"{SHARED}_trial1", f"{SHARED}_trial2"
WORD = st.text("ab1_.-", min_size=1, max_size=45)


def alias_of(model: str | None = None, **benchmarks: list[str]) -> dict[str, str]:
    """Each run with its alias; all are of one model."""
    pairs = sorted((name, run) for name, runs in benchmarks.items() for run in runs)
    table = pa.table(
        {
            "run_id": [run for _, run in pairs],
            "benchmark": [name for name, _ in pairs],
            "model": pa.array([model] * len(pairs), pa.string()),
        }
    )
    return {row["run_id"]: row["alias"] for row in aliases(table).to_pylist()}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([BASE, CANDIDATE], ["trial1", "trial2"]),
        (["office_desk_aster-8b", "office_desk_birch-70b"], None),
        # A version is one word, and a number keeps the word before it.
        (
            ["openai_gpt-4.1_airline_default_base", "openai_gpt-4.5_airline_default_base"],
            ["gpt-4.1", "gpt-4.5"],
        ),
        (
            [
                "a_model_of_many_words_and_more_step_100_s1",
                "a_model_of_many_words_and_more_step_200_s1",
            ],
            ["step_100", "step_200"],
        ),
        # A name that the other goes on from keeps its last word.
        (
            ["agent_of_many_words_and_more_retries", "agent_of_many_words_and_more_retries_two"],
            ["retries", "retries_two"],
        ),
        (["x" * 20 + "y" * 20], ["x" * 13 + ".." + "y" * 13]),
        (["short", "a_long_name_of_a_run_that_goes_on"], ["short", "a_long_name_o.._that_goes_on"]),
    ],
)
def test_what_distinguishes_runs_is_kept(names: list[str], expected: list[str] | None) -> None:
    """Words that all runs of a benchmark begin or end with are left out, if the name is long."""
    assert [alias_of(airline=names)[name] for name in names] == (expected or names)


def test_models_are_not_cut_and_times_are_short() -> None:
    """Names that logs have: the task, the model and a time; of times what distinguishes them."""
    logs = [
        "popularity-gpt-4o-mini",
        "popularity-gpt-4o-mini-2025-02-11T15-17-00-05-00",
        "popularity-gpt-4o-mini-2025-05-12T20-28-13-04-00",
    ]
    web = "websearch_addition_problem-claude-sonnet-4-5"
    chosen = alias_of("openai/gpt-4o-mini", popularity=logs)
    assert [chosen[name] for name in logs] == [
        "popularity-gpt-4o-mini",
        "gpt-4o-mini-2025-02-11T15-17",
        "gpt-4o-mini-2025-05-12T20-28",
    ]
    assert alias_of("anthropic/claude-sonnet-4-5", web=[web])[web] == "claude-sonnet-4-5"
    within = [f"popularity-gpt-4o-mini-2025-02-11T15-17-0{second}-05-00" for second in (1, 2)]
    assert sorted(alias_of("gpt-4o-mini", popularity=[*logs[:1], *within]).values()) == [
        "gpt-4o-mini-02-11T15-17-01",
        "gpt-4o-mini-02-11T15-17-02",
        "popularity-gpt-4o-mini",
    ]


def test_words_in_the_middle_are_kept() -> None:
    """A name that is too long keeps the words that others lack, and times only if it must."""
    end = "0.0_range_0--1_user-flash-2.0-llm"
    names = [
        f"tool-calling-gpt-4.1-{end}_0609163729",
        f"tool-calling-gpt-4.1-mini-{end}_0610135038",
        f"act-flash-2.0-{end}_0605165341",
        f"act-flash-2.0-{end}_0605165116",
    ]
    for order in (names, names[::-1]):
        chosen = alias_of(airline=order)
        assert "gpt-4.1" in chosen[names[0]] and "mini" not in chosen[names[0]]
        assert "mini" in chosen[names[1]]
        assert [chosen[name][-10:] for name in names[2:]] == ["0605165341", "0605165116"]
        assert not any(".." in alias for alias in chosen.values())


def test_benchmarks_may_share_what_distinguishes_their_runs() -> None:
    """Then what distinguishes all runs is kept."""
    runs = {name: [f"results_for_{name}_model_one_trial{n}" for n in (1, 2)] for name in ("a", "b")}
    assert sorted(alias_of(**runs).values()) == [
        f"{name}_model_one_trial{n}" for name in ("a", "b") for n in (1, 2)
    ]


def test_models_at_several_benchmarks_keep_their_names() -> None:
    """Where benchmarks share what distinguishes their runs, the benchmark follows the model."""
    names = {
        benchmark: [
            f"{model}-{benchmark}-summary" for model in ("open_gemini-3-flash", "open_gpt-5.3")
        ]
        for benchmark in ("google-workspace-gws-cli", "web-browsing-hard-pinchtab")
    }
    called = alias_of(**names)
    for run, alias in called.items():
        assert ("gemini" in alias) == ("gemini" in run) and ".." not in alias, alias


@given(st.sets(WORD, min_size=1, max_size=8), st.sets(WORD, max_size=8))
def test_aliases_are_short_and_no_two_are_alike(one: set[str], other: set[str]) -> None:
    """Short names are their own alias, and no run is called by the name of another."""
    # Names of runs differ in more than their case, as the folders of files do.
    chosen = alias_of(one=sorted(one), other=sorted(other - one))
    assert len({alias.lower() for alias in chosen.values()}) == len(chosen)
    assert all(0 < len(alias) <= LONGEST for alias in chosen.values())
    assert all(name == alias for name, alias in chosen.items() if len(name) <= LONGEST)


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with long names: the warehouse."""
    folder = shared_folder(tmp_path_factory)
    rewards = {BASE: (1, 1, 0, 0), CANDIDATE: (1, 0, 0, 1)}
    files = {
        f"{name}_rollouts.jsonl": [
            rollout(task, index, reward=float(reward), error="no seat" if not reward else None)
            for task, reward in enumerate(own)
            for index in range(2)
        ]
        for name, own in rewards.items()
    }
    return analyzed_once(folder / "long_names", folder / "long_names_out", files=files)


@pytest.mark.slow
def test_report_calls_runs_by_their_aliases(long_names: Path) -> None:
    """One table has the full names; every figure and citation is verified."""
    out = long_names.parent
    text = (out / "report.md").read_text(encoding="utf-8")
    shown = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    assert [line for line in shown.splitlines() if SHARED in line] == [
        f"| `trial1` | {BASE} | 4 |",
        f"| `trial2` | {CANDIDATE} | 4 |",
    ]
    assert "`trial2` vs `trial1`" in shown
    assert "`trial1/2:0`" in shown
    report = out / "report.md"
    verified = json.loads(call("verify", report, "--warehouse", long_names, "--json").stdout)
    assert verified["summary"]["contradicted"] == 0
    assert verified["summary"]["citations"]["verified"] > 0
    wrong = out / "wrong.md"
    wrong.write_text(text.replace("`trial1/2:0`", "`trial1/77:0`"), encoding="utf-8")
    assert call("verify", wrong, "--warehouse", long_names).code == 1
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    assert [run["run_id"] for run in metrics["runs"]] == [BASE, CANDIDATE]


@pytest.mark.slow
def test_pages_print_aliases_and_link_by_full_names(long_names: Path) -> None:
    """In the report as HTML, and in the explorer."""
    html = (long_names.parent / "report.html").read_text(encoding="utf-8")
    assert f'href="#{BASE}/2:0"><code>trial1/2:0</code></a>' in html
    printed = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
    # But for commands and files the table of full names alone has it.
    assert len(re.findall(rf"(?<!blade show ){BASE}(?!_rollouts)", printed)) == 1
    with viewed(long_names) as reader:
        for path in ("/", "/rollouts", "/compare"):
            page = reader.get(path)
            assert page.status == 200
            assert "trial1" in page.words
            assert BASE not in page.words
        assert any(BASE in link for link in reader.get("/").links)
        assert BASE in reader.get("/sql", query="from runs").words


@pytest.mark.slow
def test_commands_print_and_accept_aliases(long_names: Path) -> None:
    """JSON and the commands to run next have full names."""
    where = ("--warehouse", long_names)
    for command in (("failures", "trial2"), ("why", "trial2/1"), ("health",)):
        ended = call(*command, *where)
        assert ended.code == 0, ended.stderr
        page = ended.stdout.partition("\nnext ")[0]
        assert "trial" in page
        assert SHARED not in page
    compared = call("compare", "trial1", "trial2", *where).stdout.partition("\nnext ")[0]
    assert "trial2 vs trial1" in compared
    assert SHARED not in compared
    assert SHARED not in call("compare", "--format", "markdown", *where).stdout
    story = json.loads(call("why", "trial2/1", "--json", *where).stdout)
    assert story["run_id"] == CANDIDATE
    assert f"# `{CANDIDATE}`" in call("report", "--run", "trial2", *where).stdout
    assert "trial2/1:0" in call("show", "trial2/1:0", *where).stdout
