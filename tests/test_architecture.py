"""The import table of ARCHITECTURE.md is the code's."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "pipeline"
HOMES = {
    **{"click": {"cli"}, "rich": {"cli"}, "jinja2": {"report", "package"}},
    **{"starlette": {"view"}, "uvicorn": {"view"}, "mcp": set[str](), "ray": {"engines"}},
}


def allowed() -> dict[str, set[str]]:
    """The table: module to the modules of ours it may import."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("## Who may import whom")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|(.*)\|$", table, re.MULTILINE)
    return {
        name: set(re.findall(r"\w+", imports))
        for names, imports in rows
        for name in re.findall(r"\w+", names)
    }


@cache
def parsed(path: Path) -> ast.Module:
    """A module, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> set[str]:
    """Dotted names a module imports, wherever in it; relative ones with the names above them."""
    found = set()
    above = path.relative_to(ROOT).parts
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = above[: -node.level] if node.level else ()
            names = [*package, *([node.module] if node.module else [])]
            found |= {".".join([*names, alias.name]) for alias in node.names}
    return found


def modules() -> list[tuple[str, Path]]:
    """Every module below the package with the stage it belongs to."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        stage = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if stage != "__init__":
            found.append((stage, path))
    return found


def test_import_table() -> None:
    """Each stage imports exactly what the table grants it, and the table has every stage."""
    used: dict[str, set[str]] = {stage: set() for stage, _ in modules()}
    for stage, path in modules():
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "pipeline" and len(parts) > 1 and parts[1] in used:
                used[stage].add(parts[1])
        used[stage].discard(stage)
    assert used == allowed()


def test_modules_of_the_report_form_no_circle() -> None:
    """None imports, wherever in it, one that imports it; a package's own module is no other."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for stage, path in modules()
        if stage == "report"
    }
    graph = {
        name: {
            module
            for imported in imports(path)
            for module in (imported if imported in names else imported.rpartition(".")[0],)
            if module in names and not f"{name}.".startswith(f"{module}.")
        }
        for name, path in names.items()
    }
    TopologicalSorter(graph).prepare()


def test_libraries_have_homes() -> None:
    """Each library is imported in its home alone."""
    for stage, path in modules():
        for name in imports(path):
            home = HOMES.get(name.split(".")[0])
            assert home is None or stage in home, f"{path.name} imports {name}"


def test_modules_open_with_their_purpose() -> None:
    """Every module opens with a sentence that says what it is for."""
    for _, path in modules():
        docstring = ast.get_docstring(parsed(path))
        assert docstring and docstring.splitlines()[0].endswith((".", "!")), path
