"""The draft report and the sidecars: complete, true, inert, and each figure with its source."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

import pipeline
from pipeline import report
from pipeline.answers.runs import first_comparisons
from pipeline.cli.analyze import print_summary
from pipeline.package.blocks import read
from pipeline.package.compare import compared
from pipeline.package.findings import CONTRADICTED, VERIFIED, Finding, fixed
from pipeline.package.queries import Answers
from pipeline.report import templates
from pipeline.run import Analysis
from pipeline.warehouse import open_warehouse
from tests.conftest import ROOT, needs_corpus
from tests.results import Results, analyzed, asked, call, failure, rollout

SCHEMA = json.loads((ROOT / "docs" / "metrics.schema.json").read_text(encoding="utf-8"))
DEFINITIONS = {"definitions": SCHEMA["definitions"]}
COMMENT = re.compile(r"[ ]*<!--.*?-->\n?", re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def pages(out: Path) -> list[Path]:
    """Every Markdown report of an output."""
    return sorted(out.rglob("report.md"))


def plain(path: Path) -> str:
    """A report without its comments."""
    return COMMENT.sub("", path.read_text(encoding="utf-8"))


def whole(out: Path) -> str:
    """All benchmarks' reports one after the other, without comments."""
    return "\n".join(plain(page) for page in pages(out) if page.parent.parent.name != "runs")


def unverified(out: Path, drafts: Sequence[Path] = ()) -> list[Finding]:
    """The figures of drafts, by default all of them, that their sources do not bear out."""
    with pipeline.open_warehouse(out / "warehouse.duckdb") as warehouse:
        answers = Answers(warehouse)
        return [
            replace(found, file=str(page))
            for page in drafts or pages(out)
            for found in compared(read(page.read_text(encoding="utf-8")), answers)
            if found.status != VERIFIED
        ]


def over_budget(page: Path) -> list[str]:
    """What of a draft is longer than a person would read and edit."""
    text, bare = page.read_text(encoding="utf-8"), plain(page)
    reported = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "<!--"))]
    summary = bare.partition("## Executive Summary")[2].partition("\n## ")[0]
    sentences = Counter(
        sentence
        for line in bare.splitlines()
        if not line.startswith(("|", "#"))
        for sentence in re.findall(r"[A-Z][^.:;]*\.(?= |$)", CODE.sub("", line))
        if len(sentence.split()) > 6
    )
    # Sources have full names, where the text has short ones.
    share = 100 * (1 - len(bare.encode()) / len(text.encode())) if "## Overview" not in text else 0
    shorter = "list less, or fold the table: `section` and `columns` of its [table...]"
    measured = {
        "words": (len(bare.split()), 3000, shorter),
        "lines": (len(text.splitlines()), 400, shorter),
        "characters of a line": (max(map(len, reported)), 400, "list less in one line"),
        "words of the summary": (len(summary.split()), 200, "leave out what a section says too"),
        "% of the bytes in comments": (share, 42, "name the source of a table once, above it"),
        "times the same sentence": (max(sentences.values(), default=0), 1, _repeated(sentences)),
    }
    return [
        f"{page}: {name}: {round(n, 1):,} of {most:,}; {remedy}"
        for name, (n, most, remedy) in measured.items()
        if n > most
    ]


def _repeated(sentences: Counter[str]) -> str:
    """The remedy for a sentence that is printed twice."""
    return "print it once: " + ", ".join(each for each, n in sentences.items() if n > 1)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every kind: ragged, single, graded, unbounded, empty, hostile, with losses."""
    hostile = "--><script>alert(1)</script> | [x](http://x.example) `code` **b** \u202e\x1b[2J"
    files = {
        "ragged_rollouts.jsonl": [
            rollout(
                task,
                index,
                reward=float((task + index) % 2),
                category="ab"[task % 2],
                ask=f"r{task}",
            )
            for task in range(6)
            for index in range(2 + task % 3)
        ],
        "ragged_rollouts_materialized_inputs.jsonl": [
            asked(task, index, ask=f"r{task}") for task in range(7) for index in range(4)
        ],
        "ragged_rollouts_failures.jsonl": [failure(6, 0, "transient"), failure(6, 1, "skipped")],
        "single_rollouts.jsonl": [rollout(t, 0, reward=float(t), ask=f"s{t}") for t in range(2)],
        "graded_rollouts.jsonl": [
            rollout(0, i, reward=i / 3, ask="g", reward_components={"style": i / 4})
            for i in range(4)
        ],
        "unbounded_rollouts.jsonl": [rollout(t, 0, reward=-9.5 * t, ask=f"u{t}") for t in range(3)],
        "empty_rollouts.jsonl": "",
        "blade.toml": """
            [[failure_mode]]
            mode = "STEP_2"
            when = "n_turns is null or n_turns >= 0"
        """,
        "hostile_rollouts.jsonl": [
            rollout(
                None,
                index,
                ask=hostile,
                reward=float(index),
                task_id=f"{hostile}{task}",
                category=f"{hostile}{task % 2}",
                model=hostile,
            )
            for task in range(4)
            for index in range(2)
        ],
    }
    return analyzed(tmp_path_factory.mktemp("mixed"), files).path.parent


@pytest.mark.slow
def test_every_figure_is_verified_by_its_source(demo: Path) -> None:
    """On the demo: hundreds of figures, each recomputed by the comment below its block."""
    assert unverified(demo.parent) == []
    assert sum(page.read_text().count("<!-- from") for page in pages(demo.parent)) > 150


@pytest.mark.slow
def test_every_figure_of_odd_runs_too(mixed: Path) -> None:
    """One repeat, graded, unbounded, empty and hostile runs: figures are true or n/a."""
    assert unverified(mixed) == []


@needs_corpus
def test_real_results(corpus: Path) -> None:
    """On the corpus: each draft within its budgets; of benchmarks and some runs each figure."""
    drafts = pages(corpus.parent)
    assert len(drafts) > 100
    of_runs = [page for page in drafts if "runs" in page.parts]
    of_benchmarks = [page for page in drafts if page not in of_runs]
    assert unverified(corpus.parent, [*of_benchmarks, *of_runs[::3]]) == []
    assert [each for page in drafts for each in over_budget(page)] == []


def test_budgets(demo: Path) -> None:
    """The demo's drafts are read in minutes and edited in an editor."""
    assert [each for page in pages(demo.parent) for each in over_budget(page)] == []


@pytest.mark.slow
def test_changed_figures_are_named_and_fixed(demo: Path) -> None:
    """Change any figure: its line is contradicted with the value; the fix restores the bytes."""
    text = (demo.parent / "benchmarks/quick_math/report.md").read_text(encoding="utf-8")
    chance = random.Random(7)
    with pipeline.open_warehouse(demo) as warehouse:
        answers = Answers(warehouse)
        figures = [
            found
            for found in compared(read(text), answers)
            if found.span
            and re.fullmatch(r"[+-]?[\d.,]+%?(?: points)?", found.claim)
            # A task may be called by a number.
            and "`" not in text[found.span[0] - 1 : found.span[1]]
        ]
        for figure in chance.sample(figures, 15):
            assert figure.span is not None
            start, end = figure.span
            digit = chance.choice([at for at in range(start, end) if text[at].isdecimal()])
            other = chance.choice([each for each in "123456789" if each != text[digit]])
            changed = f"{text[:digit]}{other}{text[digit + 1 :]}"
            findings = compared(read(changed), answers)
            wrong = [each for each in findings if each.status == CONTRADICTED]
            assert {each.line for each in wrong} == {figure.line}, figure
            assert figure.claim in {each.expected for each in wrong}
            # Where two figures are alike, which of them was changed is not known.
            assert fixed(changed, findings) in (text, changed)


def test_sections_are_in_order(demo: Path) -> None:
    """One benchmark's report has all sections in their order; of several there is an overview."""
    ours = [section.title for section in report.SECTIONS.values()]
    for page in pages(demo.parent):
        wanted = ["Overview"] if page.parent == demo.parent else ours
        assert re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE) == wanted


def test_every_section_has_a_template() -> None:
    """Each other template is included by one, or is the title, the opening or the account."""
    names = {path.name.removesuffix(".md.j2") for path in (templates.OURS / "markdown").iterdir()}
    for name in {*report.SECTIONS, "overview"} - names:
        pytest.fail(f"write report_templates/markdown/{name}.md.j2, the template of the section")
    others = names - {*report.SECTIONS, "overview", "account", "modes", "opening", "title", "words"}
    assert not others, f"declare in declared.toml: {[f'[section.{name}]' for name in others]}"


def test_a_report_has_what_a_package_needs() -> None:
    """The sections of a golden report are a contract of their own; a draft has them all."""
    golden = (
        "Executive Summary, Artifact Inventory, Aggregate Results, Workflow Funnel, "
        "Task Outcome Buckets, Dominant Failure Modes, Sometimes-Pass Deep Dives, "
        "Never-Pass Deep Dives, Cross-Model Comparison, Recommendations, Reproducibility Notes"
    ).split(", ")
    titles = [section.title for section in report.SECTIONS.values()]
    assert [title for title in titles if title in golden] == golden


def test_benchmarks_have_their_folders(demo: Path, mixed: Path) -> None:
    """One each where there are several, named by plain characters; none where there is one."""
    names = [page.parent.name for page in pages(demo.parent / "benchmarks")]
    assert names == ["office_desk", "quick_math"]
    assert all((page.parent / "report.html").exists() for page in pages(mixed / "benchmarks"))


def test_odd_runs_have_their_own_words(mixed: Path) -> None:
    """One repeat, graded and unbounded rewards, and no rollout at all are put in words."""
    text = whole(mixed)
    for phrase in (
        "Every task has one scored attempt, so no task can pass only sometimes.",
        "25.0% of attempts reach the pass threshold of 1.",
        "no pass threshold is set and rewards go from -19 to 0, so pass figures are n/a.",
        "`empty` has no scored attempt.",
        "What was expected is not recorded, so missing attempts are unknown.",
        "Set a pass threshold first: nothing can be called a failure without one (`blade analyze",
        "One attempt passes 50.0% of the time.",
        "The mean reward is 0.5; one attempt passes 25.0% of the time, at least one of 4 attempts",
        "1 of 2 tasks passed in the only scored attempt, 1 failed.",
        "| `STEP_2` | 9 of 9 | 9 of 9 | 6 | the profile |",
    ):
        assert phrase in text, phrase


def test_the_terminal_has_no_k_where_nothing_is_scored(mixed: Path, capsys) -> None:
    """What is undefined is n/a alone; folders are named where there are such."""
    print_summary(Analysis(mixed, ()))
    printed = capsys.readouterr().out
    (row,) = (line for line in printed.splitlines() if line.startswith("empty "))
    assert row.split()[2:] == ["0", *["n/a"] * 5] and "None" not in printed
    assert "metrics.json, benchmarks/, runs/, warehouse.duckdb" in printed


def test_every_heading_has_a_body_and_every_line_its_words(demo: Path, mixed: Path) -> None:
    """No heading is over the next, no sentence has a hole, and one thing is not many."""
    holes = re.compile(
        r"\b1 (?:task|run|rollout|attempt|failure|call|check)s\b|,,|, \.|; \.| ,|\(\)|  "
    )
    for page in [*pages(demo.parent), *pages(mixed)]:
        text = CODE.sub("``", plain(page))
        blocks = [block for block in text.split("\n\n") if block.strip()]
        levels = [len(re.match("#*", block)[0]) for block in blocks]  # type: ignore[index]
        # A deeper heading is a body; one of the same level, or the end, is none.
        bodies = zip(levels, [*levels[1:], 1], strict=True)
        assert [here for here, after in bodies if here > 1 and 0 < after <= here] == [], page
        reported = [line for line in text.splitlines() if not line.startswith("|")]
        assert [line for line in reported if holes.search(line) or line.endswith(" ")] == [], page


def test_sidecars_keep_to_their_schema(demo: Path, mixed: Path) -> None:
    """metrics.json of all runs and of each validate; the run's is the same object."""
    validate = fastjsonschema.compile(SCHEMA)
    # Names the key that differs: often one that docs/schema.md should call null.
    validate_run = fastjsonschema.compile({**SCHEMA["oneOf"][1], **DEFINITIONS})
    for out in (demo.parent, mixed):
        whole = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
        for run in whole["runs"]:
            path = out / "runs" / run["run_id"] / "metrics.json"
            assert json.loads(path.read_text(encoding="utf-8")) == run
            validate_run(run)
        validate(whole)


def test_a_sidecar_begins_as_published_ones_do(demo: Path) -> None:
    """With these keys, in this order; the others follow as the schema lists them."""
    whole = json.loads((demo.parent / "metrics.json").read_text(encoding="utf-8"))
    first = "model_name benchmark pass_at_1 pass_at_k k total_tasks total_rollouts".split()
    assert list(whole["runs"][0])[:7] == first
    for name, objects in (("run", whole["runs"]), ("comparison", whole["comparisons"])):
        keys = tuple(SCHEMA["definitions"][name]["properties"])
        assert {tuple(each) for each in objects} == {keys}


@pytest.mark.slow
def test_a_comparison_asked_for_keeps_to_the_schema(demo: Path) -> None:
    """Of any runs: with a verdict, and where every task is refused."""
    validate = fastjsonschema.compile({**SCHEMA, "oneOf": [{"$ref": "#/definitions/comparison"}]})
    names = ("quick_math_aster-8b", "quick_math_birch-70b", "office_desk_aster-8b")
    reported = json.loads(call("compare", *names, "--warehouse", demo, "--json").stdout)[
        "comparisons"
    ]
    for comparison in reported:
        validate(comparison)
    leads = [each for each in reported if each["is_lead"]]
    assert [(each["verdict"], each["n_common_tasks"]) for each in leads] == [
        ("improved", 25),
        ("not comparable", 0),
    ]
    assert (leads[1]["pairing"]["contradicted"], leads[1]["ledgers"]) == (22, {})


@pytest.mark.slow
@needs_corpus
def test_the_sidecar_of_the_corpus_keeps_to_its_schema(corpus: Path) -> None:
    """With comparisons of graded rewards, and of a single task."""
    whole = json.loads((corpus.parent / "metrics.json").read_text(encoding="utf-8"))
    fastjsonschema.compile(SCHEMA)(whole)
    assert {each["n_common_tasks"] for each in whole["comparisons"]} >= {1, 5}


def test_the_sidecar_is_the_relations(demo: Path) -> None:
    """Its figures are those of run_metrics, pass_curve and bucket_counts, to twelve digits."""
    results = Results(demo.parent)
    for run in json.loads((demo.parent / "metrics.json").read_text(encoding="utf-8"))["runs"]:
        name = run["run_id"]
        curve = results.rows(f"select k, pass_at, pass_hat from pass_curve where run_id = '{name}'")
        assert run["pass_at"] == {str(k): pytest.approx(value, abs=1e-11) for k, value, _ in curve}
        assert run["pass_hat"] == {str(k): pytest.approx(value, abs=1e-11) for k, _, value in curve}
        buckets = dict(
            results.rows(f"select bucket, n_tasks from bucket_counts where run_id = '{name}'")
        )
        assert buckets == {
            "always": run["always_pass_tasks"],
            "sometimes": run["sometimes_pass_tasks"],
            "never": run["never_pass_tasks"],
            "missing": run["missing_tasks"],
        }
        assert sum(buckets.values()) == run["total_tasks"]


@pytest.mark.parametrize("format_", ["json", "table"])
def test_metrics_command(demo: Path, format_: str) -> None:
    """`blade metrics` prints what the sidecar of a run holds, in any format."""
    run = "quick_math_birch-70b"
    phrase = call("metrics", run, "--format", format_, "--warehouse", demo)
    assert phrase.code == 0
    if format_ == "json":
        path = demo.with_name("runs") / run / "metrics.json"
        assert json.loads(phrase.stdout) == json.loads(path.read_text(encoding="utf-8"))
    else:
        assert "pass_at_1" in phrase.stdout.replace("\\", "") and "0.648" in phrase.stdout


def test_metrics_of_all_runs(demo: Path) -> None:
    """Without a run, `blade metrics` prints the sidecar of all."""
    whole = call("metrics", "--warehouse", demo).stdout
    assert whole == (demo.parent / "metrics.json").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "sentences"),
    [
        (
            {
                "a_rollouts.jsonl": [rollout(t, 0, reward=float(t % 2)) for t in range(4)],
                "a_rollouts_materialized_inputs.jsonl": [
                    asked(t, i) for t in range(4) for i in range(3)
                ],
            },
            [
                "`a` passes 50.0% of scored attempts",
                "over 4 tasks; 4 attempts scored, 8 not; 16.7% if those fail.",
                '"recorded" loses the most attempts: 8 of 12 (66.7%).',
                "2 of 4 scored tasks of `a` failed in their only scored attempt",
            ],
        ),
        (
            {
                "a_rollouts.jsonl": "",
                "a_rollouts_materialized_inputs.jsonl": [asked(0, 0), asked(1, 0)],
                "a_rollouts_failures.jsonl": [failure(0, 0, "transient")],
            },
            [
                "`a` has no scored attempt.",
                "No attempt is scored: there is nothing to aggregate.",
                "**Find out why these attempts have no row**: `no row recorded` in 2 of 2 attempts",
            ],
        ),
        (
            {
                f"{name}_rollouts.jsonl": [
                    rollout(t, 0, reward=float(t < 3), seed=name) for t in range(6)
                ]
                for name in "ab"
            },
            [
                "`b` vs `a` on 6 common tasks: pass@1 +0.0 points (95% CI -45.9 to +45.9), not "
                "shown to differ.",
                "6 failures; no mode is listed.",
                "No setting that was read differs",
                "None: no sign sets enough failures apart, and no failure is at a task that half",
            ],
        ),
        (
            {
                "a_rollouts.jsonl": [
                    rollout(t, 0, reward=float(t < 6), **({} if t < 6 else {"fault": "late"}))
                    for t in range(12)
                ]
            },
            [
                "Of the signs that were looked at none is clearly commoner in failures than in",
                "Same as the score, and left out: `fault = late`.",
            ],
        ),
        (
            {
                "a_rollouts.jsonl": [
                    *(rollout(0, index, reward=1.0) for index in range(6)),
                    rollout(1, 0, reward=0.0),
                ]
            },
            ["`a` has pass@1 50.0%"],
        ),
        (
            {"a_rollouts.jsonl": [rollout(t, 0, reward=0.0, output=[]) for t in range(3)]},
            ["3 of 3 scored tasks of `a` failed in their only scored attempt.", "### Task `0`"],
        ),
        (
            {"a_rollouts.jsonl": [rollout(t, i) for t in range(4) for i in range(2)]},
            ["No attempt failed.", "No task passes only sometimes.", "nothing to compare"],
        ),
    ],
)
def test_sentences_hold(tmp_path: Path, files: dict[str, Any], sentences: list[str]) -> None:
    """What was lost, left out or never asked for is reported as it is."""
    out = analyzed(tmp_path, files).path.parent
    for sentence in sentences:
        assert sentence in plain(out / "report.md")


@pytest.mark.slow
def test_runs_that_are_equal_are_not_ranked(tmp_path: Path) -> None:
    """Nobody leads where all have one score, nor of one task; two of three may share the place."""
    scored: dict[str, dict[str, list[float | None]]] = {
        "two": {"a": [1, 0], "b": [0, 1]},
        "three": {"a": [1, 0], "b": [0, 1], "c": [0, 0]},
        # Of one task any score may be the highest, and any share of attempts lost.
        "small": {
            "a": [1] * 21 + [0] * 19,
            "b": [1] * 18 + [0] * 18 + [None] * 4,
            "c": [1],
            "d": [None, 0],
        },
    }
    files = {
        f"{benchmark}_{name}_rollouts.jsonl": [
            rollout(task, 0, ask=f"{benchmark} {task}", reward=reward)
            for task, reward in enumerate(rewards)
        ]
        for benchmark, runs in scored.items()
        for name, rewards in runs.items()
    }
    # Two runs with half of their tasks in common; of these one failed to be scored in one of them.
    for name, start in (("a", 0), ("b", 5)):
        files[f"apart_{name}_rollouts.jsonl"] = [
            rollout(
                task,
                0,
                ask=f"apart {task}",
                reward=None if (name, task) in (("b", 6), ("b", 14)) else float(task % 3 == 0),
            )
            for task in range(start, start + 10)
        ]
    out = analyzed(tmp_path, files).path.parent

    def opened(benchmark: str) -> str:
        text = (out / "benchmarks" / benchmark / "report.md").read_text(encoding="utf-8")
        return text.partition("## Aggregate Results")[2].strip().partition("\n")[0]

    assert opened("small") == (
        "`small_a` has the highest pass@1 of the runs with at least half as many tasks as the "
        "largest, but is not shown to be above `small_b`."
    )
    small = plain(out / "benchmarks" / "small" / "report.md")
    assert '"scored" loses the most attempts of `small_b`: 4 of 40' in small
    assert opened("two") == "All runs have the same pass@1."
    assert opened("three") == "Too few tasks to rank the runs."
    assert opened("apart") == (
        "The runs were given different tasks, so their pass@1 does not rank them."
    )
    apart = plain(out / "benchmarks" / "apart" / "report.md")
    # 5 and 9 and 1 are all of the 15.
    assert (
        "Over all runs, 5 of 15 tasks always pass, 0 sometimes, 9 never; 1 has no scored" in apart
    )
    assert "attempt. Of all 15 tasks, 2 have no scored attempt in some run." in apart


@pytest.mark.slow
def test_pairs_of_few_tasks_are_one_line(tmp_path: Path) -> None:
    """Beside a pair that may show something; alone they are listed."""
    tasks = {"a": range(12), "b": range(12), "c": range(5, 14)}
    files = {
        f"desk_{name}_rollouts.jsonl": [
            rollout(task, 0, model=name, reward=float(task % 3 == 0)) for task in own
        ]
        for name, own in tasks.items()
    }
    actual = analyzed(tmp_path, files)
    text = plain(actual.path.parent / "report.md")
    line = "2 pairs share fewer than 10 tasks, too few to speak for others: `blade compare` lists"
    assert text.count(line) == 2
    assert "`desk_b` vs `desk_a`" in text and "`desk_c` vs" not in text
    with open_warehouse(actual.path) as warehouse:
        compared, n_small = first_comparisons(warehouse, 4)
    assert ([row["candidate"] for row in compared], n_small) == (["desk_b"], 2)
    del files["desk_b_rollouts.jsonl"]
    alone = analyzed(tmp_path / "alone", files).path.parent / "report.md"
    assert "`desk_c` vs `desk_a` on 7 common tasks" in plain(alone)


@pytest.mark.slow
def test_of_many_runs_the_best_are_listed_first(tmp_path: Path) -> None:
    """A run of a few tasks, which is first by its name, does not head the summary."""
    passes = {"a": (2, 2), "b": (1, 12), "c": (9, 12), "d": (5, 12), "e": (7, 12)}
    files = {
        f"desk_{name}_rollouts.jsonl": [
            rollout(task, 0, model=name, reward=float(task < n)) for task in range(n_tasks)
        ]
        for name, (n, n_tasks) in passes.items()
    }
    text = plain(analyzed(tmp_path, files).path.parent / "report.md")
    assert re.findall(r"^- `desk_(\w)` passes", text, re.MULTILINE) == ["c", "e"]
    assert "The highest of the larger runs; all 5 are under Aggregate Results." in text
