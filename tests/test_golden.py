"""What a person reads, compared whole. Accept a new output with `make golden`, after looking."""

from __future__ import annotations

import ast
import hashlib
import html
import json
import os
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

import blade as api
from pipeline import open_warehouse
from pipeline.answers.gate import decide
from pipeline.cli import blade
from pipeline.cli.gates import print_gate
from pipeline.ingest import formats
from pipeline.profile.policy import Criterion, Policy, Requirements
from pipeline.text import json_text
from tests import documents
from tests.conftest import ROOT
from tests.gate_cases import FAILS, HOLDS, KNOWN, compared

GOLDEN, DOCS = ROOT / "tests" / "golden", ROOT / "docs"


def compare(name: str, got: str, folder: Path = GOLDEN) -> None:
    """A difference leaves what was got beside the expected file, and says how to accept it."""
    path = folder / name
    beside = path.with_name(f"{path.name}.got")
    if os.environ.get("BLADE_ACCEPT"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(got, encoding="utf-8")
        beside.unlink(missing_ok=True)
    expected = path.read_text(encoding="utf-8") if path.exists() else ""
    if got != expected:
        beside.write_text(got, encoding="utf-8")
    assert got == expected, f"see {beside}; accept it with: make golden"


def test_analyze(demo: Path) -> None:
    """`blade analyze` on the demo prints its inventory, a row a run, and what to know."""
    compare("analyze.txt", demo.parent.with_suffix(".done").read_text(encoding="utf-8"))


def test_manifest(demo: Path) -> None:
    """The manifest lists inputs and outputs with their hashes, and no clock, host or full path."""
    manifest = json.loads(demo.with_name("manifest.json").read_text(encoding="utf-8"))
    hashes = manifest.pop("outputs_sha256")
    assert hashes == {
        name: hashlib.sha256((demo.parent / name).read_bytes()).hexdigest()
        for name in manifest["outputs"]
        if name != "manifest.json"
    }
    compare("manifest.json", json.dumps(manifest, indent=2) + "\n")


@pytest.mark.parametrize("name", ["report.md", "benchmarks/office_desk/report.md"])
def test_report(demo: Path, name: str) -> None:
    """The overview, and the draft report on a benchmark, whole."""
    path = demo.parent / name
    compare(f"{path.parent.name}.md" if "/" in name else name, path.read_text("utf-8"))


def test_page(demo: Path) -> None:
    """The page on another benchmark, as it is read: a line per block, rows as cells."""
    page = (demo.parent / "benchmarks/quick_math/report.html").read_text(encoding="utf-8")
    body = re.sub(r"<(style|script)\b.*?</\1>", "", page.partition("<body>")[2], flags=re.DOTALL)
    cells = re.sub(r"</t[dh]>\s*(?=<t[dh])", " | ", body.replace("\n", " "))
    blocks = re.split(r"</?(?:p|h\d|li|tr|div|figure|svg|summary|section|dl|pre)\b[^>]*>", cells)
    words = (" ".join(html.unescape(re.sub(r"<[^>]*>", " ", block)).split()) for block in blocks)
    compare("quick_math.txt", "\n".join(filter(None, words)) + "\n")


def test_metrics(demo: Path) -> None:
    """The sidecar of one run, whole."""
    path = demo.parent / "runs" / "quick_math_aster-8b" / "metrics.json"
    compare("metrics.json", path.read_text(encoding="utf-8"))


def test_show(demo: Path) -> None:
    """`blade show` prints one rollout from prompt to verifier."""
    done = CliRunner().invoke(blade, ["show", "office_desk_aster-8b/3:0", "--warehouse", str(demo)])
    assert done.exit_code == 0
    compare("show.txt", done.output)


@pytest.fixture
def here(demo: Path, tmp_path: Path, monkeypatch) -> None:
    """A folder in which the demo was analyzed: no path is printed then."""
    (tmp_path / "blade_out").symlink_to(demo.parent, target_is_directory=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
def test_failures() -> None:
    """`blade failures` ranks the modes of a run, its errors and its causes."""
    done = CliRunner().invoke(blade, ["failures", "office_desk_aster-8b"])
    assert done.exit_code == 0
    compare("failures.txt", done.output)


@pytest.mark.usefixtures("here")
def test_why() -> None:
    """`blade why` tells the story of one task from its question to what to run next."""
    done = CliRunner().invoke(blade, ["why", "office_desk_aster-8b/0"])
    assert done.exit_code == 0
    compare("why.txt", done.output)


@pytest.mark.usefixtures("here")
def test_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells of docs/notebook.ipynb show what is stored below them."""
    monkeypatch.setattr(api, "analyze", lambda *_, **__: None)
    book = json.loads((DOCS / "notebook.ipynb").read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        *statements, last = ast.parse("".join(cell["source"])).body
        assert isinstance(last, ast.Expr)
        with redirect_stdout(StringIO()) as printed:
            exec(compile(ast.Module(statements, []), "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        shown = {"data": {"text/plain": repr(value).splitlines(keepends=True)}, "metadata": {}}
        result = {"execution_count": number, "output_type": "execute_result"}
        lines = printed.getvalue().splitlines(keepends=True)
        stream = {"name": "stdout", "output_type": "stream", "text": lines}
        cell["outputs"] = [stream] if value is None else [shown | result]
        cell["execution_count"] = number
    compare("notebook.ipynb", json.dumps(book, indent=1, ensure_ascii=False) + "\n", DOCS)


def test_schema(demo: Path) -> None:
    """`blade sql --schema` lists the public relations and their columns, with types."""
    done = CliRunner().invoke(
        blade, ["sql", "--schema", "--format", "json", "--warehouse", str(demo)]
    )
    assert done.exit_code == 0
    columns: dict[str, list[str]] = {}
    for row in json.loads(done.output):
        columns.setdefault(row["relation"], []).append(f"{row['column']} {row['type']}")
    compare("schema.txt", "".join(f"{name}: {', '.join(columns[name])}\n" for name in columns))


def test_gate(capsys: pytest.CaptureFixture[str]) -> None:
    """A page begins with the verdict; as JSON each metric is with and without waived tasks."""
    seconds = Criterion("duration_s", margin=1, direction="lower", level="tracked")
    print_gate([decide(Policy("policy.toml", (Criterion("pass_at_1"), seconds)), compared(FAILS))])
    compare("gate.txt", capsys.readouterr().out)
    policy = Policy("policy.toml", (Criterion("pass_at_1"),), Requirements(0.9, None, 20), KNOWN)
    compare("gate.json", json_text(decide(policy, compared(replace(FAILS, bound_low=None), HOLDS))))


def test_documented_columns(demo: Path) -> None:
    """docs/schema.md has the purpose and columns of every public relation, each with a meaning."""
    text = (DOCS / "schema.md").read_text(encoding="utf-8")
    with open_warehouse(demo) as warehouse:
        got = documents.columns(text, warehouse)
    for (relation, column), meaning in documents.meanings(got).items():
        where = (
            f"declare [figure.{column}] in pipeline/report/declared.toml, or add to docs/schema.md"
        )
        assert meaning, f"what is {column} of {relation}? {where}: | `{column}` | ... |"
    compare("schema.md", got, DOCS)


@pytest.mark.parametrize(
    ("name", "mark", "table"),
    [
        ("metrics.md", "figures", documents.figures),
        ("report.md", "sections", documents.sections),
        ("report.md", "lists", documents.lists),
        ("formats.md", "formats", formats.table),
    ],
)
def test_documented_declarations(name: str, mark: str, table: Callable[[], str]) -> None:
    """Documents list every declared figure, section, list of rows and format."""
    text = (DOCS / name).read_text(encoding="utf-8")
    compare(name, documents.between(text, mark, table()), DOCS)


def test_schema_of_metrics(demo: Path) -> None:
    """docs/metrics.schema.json is what the code writes, with what docs/schema.md says of it."""
    meanings = documents.meanings((DOCS / "schema.md").read_text(encoding="utf-8"))
    with open_warehouse(demo) as warehouse:
        compare("metrics.schema.json", documents.metrics_schema(warehouse, meanings), DOCS)


def test_rejects(demo: Path) -> None:
    """Lines that could not be used are listed with file, line and reason."""
    query = "select source_file, source_line, reason from rejects"
    done = CliRunner().invoke(blade, ["sql", query, "--warehouse", str(demo)])
    compare("rejects.txt", done.output)
