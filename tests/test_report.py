"""The draft report and the sidecars: complete, true, inert, and each figure with its source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import fastjsonschema
import jinja2
import pytest

import pipeline
from pipeline import report
from pipeline.report import templates
from pipeline.report.figures import Row
from tests.conftest import ROOT, needs_corpus
from tests.results import Results, analyzed, asked, call, failure, rollout

SCHEMA = json.loads((ROOT / "docs" / "metrics.schema.json").read_text(encoding="utf-8"))
MARKED = re.compile(r"((?:below )?[^\s|()]+)<!--blade:([\w.]+)\?(.*?)#(\w+)-->")
# Figures, charts, tables, and places for a curator.
MARKER = re.compile(
    r"<!--blade:[\w.]+\?[^<>\s]*#\w+-->|<!--blade-chart:[^<>\s]*-->|<!--blade-table-->"
    r"|<!-- curate: [^<>]* -->"
)
# In the order of the whole report; those that are missing wait for their relations.
ORDER = (
    "Executive Summary, Artifact Inventory, Aggregate Results, Workflow Funnel, "
    "Task Outcome Buckets, Dominant Failure Modes, Sometimes-Pass Deep Dives, "
    "Never-Pass Deep Dives, Cross-Model Comparison, Recommendations, Reproducibility Notes"
).split(", ")


def pages(out: Path) -> list[Path]:
    """The report of all runs and of each."""
    return sorted(out.rglob("report.md"))


def asked_again(out: Path, sources: set[tuple[str, ...]]) -> dict[tuple[str, ...], object]:
    """What each marker points at: all rows of a relation read once, then looked up by key."""
    found: dict[tuple[str, ...], object] = {}
    with pipeline.open_warehouse(out / "warehouse.duckdb") as warehouse:
        for relation in sorted({relation for relation, _, _ in sources}):
            columns, rows = _rows(warehouse, relation)
            by_key: dict[tuple[tuple[str, str], ...], list[dict[str, object]]] = {}
            keys = {
                tuple(name for name, _ in _pairs(key))
                for named, key, _ in sources
                if named == relation
            }
            for names in keys:
                for row in rows:
                    pairs = tuple((name, str(row[name])) for name in names)
                    by_key.setdefault(pairs, []).append(row)
            for named, key, column in sources:
                if named == relation:
                    assert column in columns, (relation, column)
                    (row,) = by_key[_pairs(key)]
                    found[named, key, column] = row[column]
    return found


def _pairs(key: str) -> tuple[tuple[str, str], ...]:
    return tuple(parse_qsl(key, keep_blank_values=True, strict_parsing=True))


def _rows(
    warehouse: pipeline.warehouse.Warehouse, relation: str
) -> tuple[list[str], list[dict[str, object]]]:
    result = warehouse.execute(f"from {relation}")
    columns = [column[0] for column in result.description or []]
    return columns, [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def agrees(printed: str, value: object) -> bool:
    """The printed text is the value, to the digits it shows."""
    if value is None:
        return printed.removesuffix("%") == "n/a"
    assert isinstance(value, (int, float))
    if printed.startswith("below "):
        return value < float(printed.removeprefix("below "))
    text = printed.replace(",", "")
    is_percent = text.endswith("%")
    shown = float(text.removesuffix("%"))
    digits = len(text.removesuffix("%").partition(".")[2])
    # Zeros at the end are left out, but never more than four digits are shown.
    error = abs(shown - value * (100 if is_percent else 1))
    return error <= 0.5 * 10 ** -(digits if is_percent else max(digits, 1)) + 1e-9


def check_figures(out: Path) -> int:
    """Every figure of every page is the value its marker points at; how many there are."""
    figures = [
        (page, printed, tuple(source))
        for page in pages(out)
        for printed, *source in MARKED.findall(page.read_text(encoding="utf-8"))
    ]
    values = asked_again(out, {source for _, _, source in figures})
    for page, printed, source in figures:
        # Points are a rate's difference, without the sign of a percentage.
        text, value = printed.lstrip("+"), values[source]
        assert agrees(text, value) or agrees(f"{text}%", value), (page, printed, source, value)
    return len(figures)


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


def test_every_figure_is_what_its_marker_points_at(demo: Path) -> None:
    """On the demo: hundreds of figures, each recomputed from the relation it names."""
    assert check_figures(demo.parent) > 1000


def test_every_figure_of_odd_runs_too(mixed: Path) -> None:
    """One repeat, graded, unbounded, empty and hostile runs: figures are true or n/a."""
    assert check_figures(mixed) > 300


@pytest.mark.slow
@needs_corpus
def test_every_figure_on_the_corpus(corpus: Path) -> None:
    """And on real results."""
    assert check_figures(corpus.parent) > 5000


def test_a_wrong_figure_would_be_noticed() -> None:
    """The comparison above tells a wrong digit from a rounded one."""
    assert agrees("44.0%", 0.4404761) and not agrees("44.1%", 0.4404761)
    assert agrees("1,234", 1234) and not agrees("1,235", 1234)
    assert agrees("n/a", None) and not agrees("0", None)


def test_sections_stand_in_order(demo: Path) -> None:
    """Each page has the sections whose relations exist, in BLADE's order, each from a file."""
    ours = [section.title for section in report.SECTIONS]
    assert ours == [title for title in ORDER if title in ours]
    for page in pages(demo.parent):
        assert re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE) == ours
    files = {path.name for path in (templates.OURS / "markdown").iterdir()}
    assert files == {f"{section.name}.md.j2" for section in report.SECTIONS} | {"opening.md.j2"}


def test_citations_exist(demo: Path) -> None:
    """Every rollout a page cites can be opened."""
    text = (demo.parent / "report.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"`([\w.-]+/\d+:\d+)`", text))
    known = set(Results(demo.parent).column("select run_id || '/' || rollout_id from rollouts"))
    assert len(cited) > 40 and cited <= known


def test_untrusted_text_is_inert(mixed: Path) -> None:
    """Nothing of a row can be markup: no tag, no comment but ours, no link, no extra cell."""
    for page in pages(mixed):
        text = page.read_text(encoding="utf-8")
        bare = MARKER.sub("", text)
        assert "<" not in bare.replace("\\<", "") and "\x1b" not in text and "\u202e" not in text
        assert "](http" not in bare and "http://" not in bare
        for block in re.findall(r"(?:^\|.*\n)+", bare, re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(cells) == 1, block


def test_odd_runs_have_their_own_words(mixed: Path) -> None:
    """One repeat, graded and unbounded rewards, and no rollout at all are said in words."""
    text = MARKER.sub("", (mixed / "report.md").read_text(encoding="utf-8"))
    assert "`single`** tried each task once: 1 passed, 1 failed" in text
    assert "One scored attempt a task says nothing of retries or consistency" in text
    assert "counting 1 and more as a pass, pass@1 is 25.0%" in text
    assert "Rewards go from -19 to 0, so what passes is not settled" in text
    assert "add to blade.toml, for example: `pass_threshold = 0.0`" in text
    assert "`empty`** has no scored rollout: 0 tasks, 0 rollouts recorded" in text
    assert "| what was expected: no materialized inputs, no `[expected]` in blade.toml |" in text
    assert "`graded` on `graded` has a pass@1 of 25.0% over 1 scored task" in text
    assert "Rewards are graded: their mean is 0.5, and 1 and more counts as a pass." in text
    assert "These are 3 of 6 benchmarks; the table has all." in text
    assert "What passes is not settled, so nothing can be called a failure." in text


def test_every_heading_has_a_body_and_every_line_its_words(demo: Path, mixed: Path) -> None:
    """No heading stands over the next, no sentence has a hole, and one thing is not many."""
    holes = re.compile(
        r"\b1 (?:task|run|rollout|attempt|failure|call|check)s\b|,,|, \.|; \.| ,|\(\)"
    )
    for page in [*pages(demo.parent), *pages(mixed)]:
        text = re.sub(r"`[^`]*`", "``", MARKER.sub("", page.read_text(encoding="utf-8")))
        blocks = [block for block in text.split("\n\n") if block.strip()]
        levels = [len(re.match("#*", block)[0]) for block in blocks]  # type: ignore[index]
        # A deeper heading is a body; one of the same level, or the end, is none.
        bodies = zip(levels, [*levels[1:], 1], strict=True)
        assert [here for here, after in bodies if here > 1 and 0 < after <= here] == [], page
        told = [line for line in text.splitlines() if not line.startswith("|")]
        assert [line for line in told if holes.search(line) or line.endswith(" ")] == [], page


def test_sidecars_keep_to_their_schema(demo: Path, mixed: Path) -> None:
    """metrics.json of all runs and of each validate; the run's is the same object."""
    validate = fastjsonschema.compile(SCHEMA)
    for out in (demo.parent, mixed):
        whole = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
        validate(whole)
        for run in whole["runs"]:
            path = out / "runs" / run["run_id"] / "metrics.json"
            assert json.loads(path.read_text(encoding="utf-8")) == run
            validate(run)


def test_the_schema_names_every_key(demo: Path) -> None:
    """In the order they are written; a key that one of them lacks fails here."""
    (run, *_) = json.loads((demo.parent / "metrics.json").read_text(encoding="utf-8"))["runs"]
    assert list(run) == list(SCHEMA["definitions"]["run"]["properties"])
    first = "model_name benchmark pass_at_1 pass_at_k k total_tasks total_rollouts".split()
    assert list(run)[:7] == first
    (slice_,) = list(run["slices"]["category"].values())[:1]
    assert list(slice_) == list(SCHEMA["definitions"]["slice"]["properties"])


def test_the_schema_names_every_key_of_a_comparison(demo: Path) -> None:
    """In the order they are written, in the parts of a comparison too."""
    whole = json.loads((demo.parent / "metrics.json").read_text(encoding="utf-8"))
    assert len(whole["comparisons"]) == 4
    found, *_ = whole["comparisons"]
    (mix, *_), (metric, *_) = found["ledgers"].values(), found["metrics"].values()
    parts = {
        "comparison": found,
        "changed_task": found["gains"][0],
        "transition": found["transitions"]["sometimes"]["always"],
        "ledger": mix,
        "ledger_line": mix["lines"][0],
        "setting": found["differs_in"]["model"],
        "compared_metric": metric,
        "flip": found["flips"][0],
    }
    for name, part in parts.items():
        assert list(part) == list(SCHEMA["definitions"][name]["properties"]), name


def test_a_comparison_asked_for_keeps_to_the_schema(demo: Path) -> None:
    """Whatever runs it is of: with a verdict, and where every task is refused."""
    validate = fastjsonschema.compile({**SCHEMA, "oneOf": [{"$ref": "#/definitions/comparison"}]})
    names = ("quick_math_aster-8b", "quick_math_birch-70b", "office_desk_aster-8b")
    told = json.loads(call("compare", *names, "--warehouse", demo, "--json").stdout)["comparisons"]
    for comparison in told:
        validate(comparison)
    leads = [each for each in told if each["is_lead"]]
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


def test_rewards_that_are_passes_are_told_once(demo: Path) -> None:
    """By pass@1 alone: a mean reward that differs in its last bit says nothing more."""
    with pipeline.open_warehouse(demo) as warehouse:
        found = report.comparisons(warehouse)
    assert [[change.metric for change in each.told] for each in found] == [["pass_at_1"]] * 2


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


@pytest.mark.parametrize("format_", ["json", "jsonl", "csv", "table", "markdown"])
def test_metrics_command(demo: Path, format_: str) -> None:
    """`blade metrics` prints what the sidecar of a run holds, in any format."""
    run = "quick_math_birch-70b"
    said = call("metrics", run, "--format", format_, "--warehouse", demo)
    assert said.code == 0
    if format_ in ("json", "jsonl"):
        path = demo.with_name("runs") / run / "metrics.json"
        assert json.loads(said.stdout) == json.loads(path.read_text(encoding="utf-8"))
    else:
        assert "pass_at_1" in said.stdout.replace("\\", "") and "0.648" in said.stdout


def test_metrics_of_all_runs(demo: Path) -> None:
    """Without a run, `blade metrics` prints the sidecar of all."""
    whole = call("metrics", "--warehouse", demo).stdout
    assert whole == (demo.parent / "metrics.json").read_text(encoding="utf-8")


def test_metrics_of_no_such_run(demo: Path) -> None:
    """Exit code 2, and the runs there are."""
    said = call("metrics", "nobody", "--warehouse", demo)
    assert (said.code, said.stdout) == (2, "")
    assert "nobody: no such run" in said.stderr and "quick_math_birch-70b" in said.stderr


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
                "has one scored attempt a task: 2 passed, 2 failed",
                "Scored: 4 of 12 expected rollouts",
                'is at "recorded": 8 of 12 rollouts (66.7%) come no further.',
                "No task has two scored attempts, so none can pass sometimes.",
                "2 of 4 scored tasks never pass.",
                "one scored attempt per task, which cannot tell luck from knowledge.",
            ],
        ),
        pytest.param(
            {
                "a_rollouts.jsonl": [rollout(t, 0) for t in range(4)],
                "a_rollouts_materialized_inputs.jsonl": [asked(0, 0)],
            },
            [
                "3 recorded rollouts were not expected",
                "| 1 of 1 |",
                "4 of 4 scored rollouts pass",
                "No rollout is lost at any stage.",
                "Every scored task passes at least once.",
                "No attempt failed, so there is nothing to fix; collect repeats",
            ],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {
                "a_rollouts.jsonl": "",
                "a_rollouts_materialized_inputs.jsonl": [asked(0, 0), asked(1, 0)],
                "a_rollouts_failures.jsonl": [failure(0, 0, "transient")],
            },
            [
                "has no scored rollout",
                "1 with failed attempts only, 1 without a trace",
                "No rollout of `a` is scored: there is nothing to aggregate.",
                "No rollout is scored, so no task can be said to never pass.",
                "**Fix the machinery and run the lost rows again**: 2 of 2 failures",
            ],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {
                "a_rollouts.jsonl": [
                    rollout(t, i, reward=[1.0, None][i]) for t in range(3) for i in (0, 1)
                ]
            },
            ["Scored: 3 of 6 recorded rollouts", "3 scored, 3 without a usable reward"],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {
                "a_rollouts.jsonl": [
                    rollout(t, i, reward=float((t + i) % 3 > 0)) for t in range(6) for i in range(3)
                ]
            },
            ["All tasks have one and the same pass rate"],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {
                f"{name}_rollouts.jsonl": [rollout(t, 0, reward=float(t < 3)) for t in range(6)]
                for name in "abc"
            },
            [
                "Highest on `a`: 3 of 3 runs, such as **`a`** with a pass@1 of 50.0%",
                "Of 6 scored tasks of `a`, 3 pass in every scored attempt of its 3 runs",
                "\n\nNothing on record explains 9 of 9 attempts that did not pass (100.0%).",
                "3 of 6 scored tasks never pass. No rule names a mode of them.",
                "pass@1 does not move: +0.0 points (95% interval for new tasks -45.9 to +45.9 "
                "points), on 6 tasks of both.",
                "Nothing on record says what to do about the failures: read some of them;",
            ],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {
                "a_rollouts.jsonl": [rollout(t, i, reward="?") for t in range(3) for i in (0, 1)],
                "b_rollouts.jsonl": [
                    rollout(t, i, reward=t - 2.5) for t in range(3) for i in (0, 1)
                ],
            },
            [
                "| a usable reward | `a` (6 of 6 rollouts) |",
                "What passes is not settled, so no task can be said to pass sometimes.",
                "What passes is not settled, so no task can be said to never pass.",
                "**Grade again**: 6 of 6 failures (100.0%), at 3 tasks, were never graded",
            ],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_sentences_hold(tmp_path: Path, files: dict[str, Any], sentences: list[str]) -> None:
    """What was lost, left out or never asked for is said as it is."""
    out = analyzed(tmp_path, files).path.parent
    text = MARKER.sub("", (out / "report.md").read_text(encoding="utf-8"))
    for sentence in sentences:
        assert sentence in text
    assert check_figures(out) > 20


def test_a_template_cannot_print_what_it_was_not_given() -> None:
    """An unknown name, or a figure without a format, is an error and not an empty place."""
    environment = templates.markdown()
    row = Row("runs", ("run_id",), {"run_id": "a", "n": 1})
    for template, error in (
        ("{{ row.nothing }}", jinja2.UndefinedError),
        ("{{ row.n }}", TypeError),
    ):
        with pytest.raises(error):
            environment.from_string(template).render(row=row)


@pytest.mark.slow
def test_analysis_from_python_writes_the_same(demo: Path, tmp_path: Path) -> None:
    """`pipeline.analyze` writes what the command does."""
    out = pipeline.analyze(ROOT / "data_samples" / "demo", out=tmp_path / "out").out
    assert (out / "report.md").read_bytes() == (demo.parent / "report.md").read_bytes()
