"""The documents say what the product does, and nothing a reader must not see."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pipeline import open_warehouse
from pipeline.cli import COMMANDS, blade
from tests.conftest import ROOT

SHELL_BLOCK = re.compile(r"```\n(\$ blade sql .*?)```", re.DOTALL)


def readme_queries() -> list[tuple[str, str]]:
    """Each query of the README with the answer printed below it."""
    found = []
    for block in SHELL_BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        command, quote, answer = block.partition('"\n')
        found.append((command + quote.strip(), answer))
    return found


@pytest.mark.parametrize(("command", "answer"), readme_queries())
def test_readme_answers(command: str, answer: str, demo: Path) -> None:
    """The README's questions have the answers it prints."""
    words = shlex.split(command.removeprefix("$ blade "))
    printed = CliRunner().invoke(blade, [*words, "--warehouse", str(demo)])
    lines = [line.rstrip() for line in printed.output.splitlines()]
    assert lines == answer.splitlines()


def documented_columns() -> dict[str, list[str]]:
    """Columns by relation, as docs/schema.md lists them."""
    text = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {
        section.split("\n", 1)[0].strip(): re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
        for section in sections
    }


def test_schema_documented(demo: Path) -> None:
    """docs/schema.md lists every public relation and column, in order, and no other."""
    with open_warehouse(demo) as warehouse:
        rows = warehouse.execute("""
            select table_name, column_name from information_schema.columns
            where table_schema = 'main' order by table_name, ordinal_position
        """).fetchall()
    actual: dict[str, list[str]] = {}
    for table, column in rows:
        actual.setdefault(table, []).append(column)
    assert documented_columns() == actual


def test_schema_purposes_documented() -> None:
    """The line that opens each relation's section is the one in its SQL file."""
    text = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "sql" / "main").glob("*.sql")):
        purpose = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("-- ")
        assert f"## {path.stem}\n\n{purpose}\n" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_command_documented(name: str) -> None:
    """docs/cli.md has every command with every option, and its help has an example."""
    command = blade.get_command(click.Context(blade), name)
    assert command is not None
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    section = text.partition(f"## blade {name}\n")[2].partition("\n## ")[0]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in section
    assert f"blade {name} " in (command.help or "").partition("Examples:")[2]


def test_nothing_private_committed() -> None:
    """No tracked file names a package index or a path of some machine."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    # Written in pieces, so that this file does not name them either.
    forbidden = re.compile(
        "|".join(["index" + "-url", "pypi" + r"\.org", "/ro" + "ot/", "/wo" + "rk/"])
    )
    for name in filter(None, tracked.split("\0")):
        content = (ROOT / name).read_bytes().decode("utf-8", "replace")
        assert not forbidden.search(content), name
