"""The documents say what the product does, and nothing a reader must not see."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from functools import cache
from itertools import chain
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from pipeline import __version__
from pipeline.cli import COMMANDS, PACKAGE, blade
from tests import lean
from tests.conftest import ROOT
from tests.results import Row, analyzed, asked, failure, rollout

METRICS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SHELL_BLOCK = re.compile(r"```\n(\$ blade sql .*?)```", re.DOTALL)


def queries(document: str) -> list[tuple[str, str]]:
    """Each query of a document with the answer printed below it."""
    found = []
    for block in SHELL_BLOCK.findall((ROOT / document).read_text(encoding="utf-8")):
        command, quote, answer = block.partition('"\n')
        found.append((command + quote.strip(), answer))
    return found


@cache
def answered(command: str, warehouse: Path) -> list[str]:
    """The lines that a command of a document prints."""
    words = shlex.split(command.removeprefix("$ blade "))
    printed = CliRunner().invoke(blade, [*words, "--warehouse", str(warehouse)])
    return [line.rstrip() for line in printed.output.splitlines()]


@pytest.mark.parametrize(("command", "answer"), queries("docs/schema.md"))
def test_schema_answers(command: str, answer: str, demo: Path) -> None:
    """The examples of docs/schema.md are answers about the demo."""
    assert answered(command, demo) == answer.splitlines()


SAMPLES = [
    (document, command, answer)
    for document in ("README.md", "docs/cli.md")
    for command, answer in re.findall(
        r"```\n(\$ blade (?:[^\n]*\n {5,})*[^\n]*)\n(.*?)```",
        (ROOT / document).read_text(encoding="utf-8"),
        re.DOTALL,
    )
]


@pytest.mark.parametrize(("document", "command", "answer"), SAMPLES)
def test_samples_are_what_is_printed(
    document: str, command: str, answer: str, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a document shows of a command are lines that it prints of the demo, in this order."""
    monkeypatch.chdir(demo.parent)
    lines = (ROOT / "tests" / "golden" / "analyze.txt").read_text(encoding="utf-8").splitlines()
    if "blade analyze" not in command:
        lines = answered(command, demo)
    printed = iter(lines)
    lacking = [line for line in answer.splitlines() if line and line not in printed]
    assert lacking == [], document


def test_the_readme_is_short() -> None:
    """At most 200 lines, with five questions answered by the commands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 200
    shown = [command for document, command, _ in SAMPLES if document == "README.md"]
    assert len(shown) == 6 and (ROOT / "docs" / "report.png").stat().st_size < 300_000


def example_rows() -> dict[str, list[Row]]:
    """The runs that docs/metrics.md describes: one from its table, two from its words."""
    table = re.findall(r"^\| (\d) \| (.*) \|$", METRICS, re.MULTILINE)
    rows: dict[str, list[Row]] = {"rollouts": [], "failures": [], "inputs": []}
    for task, repeats in table:
        for index, entry in enumerate(repeats.split(" | ")):
            rows["inputs"].append(asked(int(task), index))
            if entry in ("1", "0", "unscored"):
                reward = None if entry == "unscored" else float(entry)
                rows["rollouts"].append(rollout(int(task), index, reward=reward))
            elif entry != "killed":
                rows["failures"].append(failure(int(task), index, entry))
    return rows


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three runs of docs/metrics.md, analyzed."""
    rows = example_rows()
    graded = zip((0.2, 0.5, 1), (0.4, 0.6, 0.8), strict=True)
    votes = zip("AAB", (10, 20, 60), strict=True)
    files = {
        "example_rollouts.jsonl": rows["rollouts"],
        "example_rollouts_failures.jsonl": rows["failures"],
        "example_rollouts_materialized_inputs.jsonl": rows["inputs"],
        "graded_rollouts.jsonl": [
            {
                **rollout(0, index, ask="g", reward=reward, reward_components={"style": style}),
                "mask_sample": index == 0,
            }
            for index, (reward, style) in enumerate(graded)
        ],
        "votes_rollouts.jsonl": [
            {
                **rollout(0, index, ask="v", reward=float(answer == "A"), extracted_answer=answer),
                "response": {
                    "output": [],
                    "usage": {"input_tokens": 1, "output_tokens": tokens},
                    "status": "completed" if answer == "A" else "incomplete",
                },
            }
            for index, (answer, tokens) in enumerate(votes)
        ],
        "votes_rollouts_aggregate_metrics.json": json.dumps(
            [{"agent_ref": {"name": "a"}, "agent_metrics": {"mean/reward": 0.5}}]
        ),
    }
    needs = (*lean.METRICS, *lean.DIAGNOSIS)
    return analyzed(tmp_path_factory.mktemp("example"), files, needs=needs).path


@pytest.fixture(scope="module")
def series_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three checkpoints of docs/metrics.md, analyzed."""
    table = re.findall(r"^\| task (\d) \| (.*) \|$", METRICS, re.MULTILINE)
    passed = {int(task): [int(count) for count in counts.split(" | ")] for task, counts in table}
    files = {
        f"tiny_step_{step}_rollouts.jsonl": [
            rollout(task, index, reward=float(index < counts[place]))
            for task, counts in passed.items()
            for index in range(2)
        ]
        for place, step in enumerate((500, 1000, 1500))
    }
    needs = ("series", "series_tasks", "series_counts")
    return analyzed(tmp_path_factory.mktemp("series_example"), files, needs=needs).path


@pytest.fixture(scope="module")
def many_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three runs that docs/metrics.md ranks, from its table and the words below it."""
    table = re.findall(r"^\| r(\d) \| (.*) \|$", METRICS, re.MULTILINE)
    passed = {int(task): [int(count) for count in counts.split(" | ")] for task, counts in table}
    runs = {"a": ("m", 100_000, 100_000), "b": ("m", 100_000, 50_000), "c": ("n", 50_000, 50_000)}
    files: dict[str, list[Row] | str] = {
        f"many_{run}_rollouts.jsonl": [
            {
                **rollout(task, index, reward=float(index < counts[place])),
                "response": {
                    "output": [],
                    "model": model,
                    "usage": {"input_tokens": n_read, "output_tokens": n_written},
                },
            }
            for task, counts in passed.items()
            for index in range(2)
        ]
        for place, (run, (model, n_read, n_written)) in enumerate(runs.items())
    }
    files["blade.toml"] = '[[price]]\nmodel = "n"\ninput = 1\noutput = 3\n'
    return analyzed(tmp_path_factory.mktemp("many_example"), files, needs=lean.METRICS).path


ENDINGS = {"1": "done", "0": "not done", "cut": "so let me"}


def compared_rows(task: int, kind: str, entries: str, question: str) -> list[list[Row]]:
    """The rollouts and inputs of one task in one run of the two that are compared."""
    rollouts, inputs = [], []
    for index, entry in enumerate(filter(None, entries.split(", "))):
        inputs.append(asked(task, index, ask=question, kind=kind))
        if entry != "lost":
            message = {"type": "message", "role": "assistant", "content": ENDINGS[entry]}
            response: Row = {"output": [message]}
            if entry == "cut":
                response["incomplete_details"] = {"reason": "max_output_tokens"}
            row = rollout(task, index, ask=question, reward=float(entry == "1"), kind=kind)
            rollouts.append({**row, "response": response})
    return [rollouts, inputs]


@pytest.fixture(scope="module")
def compared_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two runs that docs/metrics.md compares, from its table and the words above it."""
    table = re.findall(r"^\| q(\d) \| (\w+) \| ?(.*?) \| ?(.*?) ?\|$", METRICS, re.MULTILINE)
    files: dict[str, list[Row] | str] = {"blade.toml": 'baseline = "tiny_base"\n'}
    for run, side in (("base", 2), ("candidate", 3)):
        other = {"3": "", "5": f"another question of the {run}"}
        tasks = [
            compared_rows(int(row[0]), row[1], row[side], other.get(row[0], f"question {row[0]}"))
            for row in table
        ]
        for kind, rows in zip(("", "_materialized_inputs"), zip(*tasks, strict=True), strict=True):
            files[f"tiny_{run}_rollouts{kind}.jsonl"] = list(chain.from_iterable(rows))
    needs = ("comparisons", "ledger", "comparison_metrics")
    return analyzed(tmp_path_factory.mktemp("compared_example"), files, needs=needs).path


@pytest.fixture(scope="module")
def signed_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of docs/metrics.md whose attempts bear a sign."""
    table = re.findall(r"^\| s(\d) \| (.*) \|$", METRICS, re.MULTILINE)
    tasks = [compared_rows(int(task), "", entries, f"s{task}")[0] for task, entries in table]
    files = {"signed_rollouts.jsonl": list(chain.from_iterable(tasks))}
    needs = ("failure_modes",)
    return analyzed(tmp_path_factory.mktemp("signed_example"), files, needs=needs).path


@pytest.mark.slow
@pytest.mark.parametrize(("command", "answer"), queries("docs/metrics.md"))
def test_metrics_answers(
    command: str,
    answer: str,
    example: Path,
    many_example: Path,
    series_example: Path,
    compared_example: Path,
    signed_example: Path,
) -> None:
    """The queries of docs/metrics.md print what is below them."""
    asked_of = {"series": series_example, "compar": compared_example, "ledger": compared_example}
    asked_of |= {"failur": signed_example}
    named = re.search(r" from (series|compar|ledger|failur)", command)
    warehouse = asked_of[named[1]] if named else many_example if "'many" in command else example
    assert answered(command, warehouse) == answer.splitlines()


@pytest.mark.slow
def test_plan_sample(many_example: Path) -> None:
    """What docs/metrics.md shows of a plan is what the command prints."""
    ((command, answer),) = re.findall(r"```\n(\$ blade plan .*)\n((?:.*\n)*?)```", METRICS)
    assert answered(command, many_example) == answer.splitlines()


@pytest.mark.parametrize("section", re.split(r"^### ", METRICS, flags=re.MULTILINE)[1:])
def test_metrics_worked_out_by_hand(section: str) -> None:
    """Each figure has its edges and a query, which prints what was worked out by hand."""
    text, _, printed = section.partition("```\n$ blade sql")
    by_hand = re.findall(r"\*\*([\w.]+)\*\*", text.partition("By hand")[2])
    assert by_hand and "\nEdges: " in text
    words = set(printed.split())
    for figure in by_hand:
        assert figure in words or f"{float(figure):.6g}" in words, figure


@pytest.mark.parametrize("name", COMMANDS)
def test_command_documented(name: str) -> None:
    """The documents have every command with every option, and its help has an example."""
    command = blade.get_command(click.Context(blade), name)
    assert command is not None
    document = "package.md" if name in PACKAGE else "cli.md"
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    section = text.partition(f"## blade {name}\n")[2].partition("\n## ")[0]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in section
    assert f"blade {name} " in (command.help or "").partition("Examples:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_no_defaults_of_the_library(name: str) -> None:
    """A flag prints no default, and an option without limits no range."""
    command = blade.get_command(click.Context(blade), name)
    assert command is not None
    text = command.get_help(click.Context(command, info_name=name, show_default=True))
    for words in ("default: True", "default: False", "None", "FLOAT RANGE"):
        assert words not in text


def test_nothing_private_committed() -> None:
    """No tracked file names a package index or a path of some machine."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    # Written in pieces, so that this file does not name them either.
    forbidden = re.compile(
        "|".join(["index" + "-url", "pypi" + r"\.org", "/ro" + "ot/", "/wo" + "rk/"])
    )
    # A link to a folder is none of the files.
    for name in filter(lambda name: (ROOT / name).is_file(), tracked.split("\0")):
        content = (ROOT / name).read_bytes().decode("utf-8", "replace")
        assert not forbidden.search(content), name


def test_the_citation_is_of_this_version() -> None:
    """CITATION.cff names the version that the package has."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (__version__, "Apache-2.0")
    yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
