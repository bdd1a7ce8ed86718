"""Tests that share one analysis: each gives its rows first, and gets what became of them.

    @together
    def test_notes() -> Batch:
        found = yield [rollout(1, 0, reward=0.0)]
        assert found.rows("select note from failure_notes") == []

An analysis of a few rows takes about a second, nearly all of it to plan queries. The rows of a
test are runs of a benchmark of their own, so that those of other tests change nothing for them.
"""

from __future__ import annotations

import fcntl
import inspect
import json
import re
from collections.abc import Callable, Generator
from functools import cache, partial
from hashlib import md5
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import pipeline
from pipeline import report
from tests.conftest import shared_folder
from tests.lean import DIAGNOSIS, LOADED, METRICS, only
from tests.results import Results, Row, opened, write

# The rows of one run, or of several by name.
Files = list[Row] | dict[str, list[Row]]
RELATION = re.compile(r"\b(from|join) ((?:main\.|report\.|staging\.)?[a-z_]+)(?![a-z_.(])")


@cache
def _columns(path: Path, schema: str, table: str) -> list[str]:
    """The columns of a relation, or none where a query names a step of its own."""
    query = """
        select column_name from information_schema.columns
        where table_schema = ? and table_name = ?
    """
    return [name for (name,) in opened(path).sql(query, [schema, table]).rows()]


class Case(Results):
    """The runs of one test, as if they had been analyzed alone."""

    def __init__(self, out: Path, name: str) -> None:
        super().__init__(out)
        self.name = name

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, which sees no other run and no other benchmark."""
        return opened(self.path).sql(RELATION.sub(self._own, query)).rows()

    def _own(self, match: re.Match[str]) -> str:
        """The rows of a relation that are about this test."""
        word, relation = match.groups()
        schema, _, table = relation.rpartition(".")
        columns = _columns(self.path, schema or "main", table)
        if "benchmark" in columns:
            return f"{word} (from {relation} where benchmark = '{self.name}')"
        for name in ("run_id", "candidate"):
            if name in columns:
                own = f"select run_id from runs where benchmark = '{self.name}'"
                return f"{word} (from {relation} where {name} in ({own}))"
        return match[0]

    def alias(self, run: str) -> str:
        """What the draft calls a run."""
        return str(self.one(f"select alias from runs where run_id = '{self.name}_{run}'"))

    @property
    def report(self) -> str:
        """The draft report on these runs, without its comments."""
        out = self.path.parent
        # Where a test runs alone there is one benchmark, and no folder for each.
        folder = out / "benchmarks" / self.name
        page = (folder if folder.exists() else out) / "report.md"
        return re.sub("<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


Batch = Generator[Files, Case, None]


class Together:
    """Tests whose rows are analyzed at once, with these relations, or with all and their pages."""

    def __init__(self, *needs: str) -> None:
        self.needs = needs
        self.tests: dict[str, Callable[[], Batch]] = {}
        self.out: Path | None = None

    def __call__(self, test: Callable[[], Batch]) -> Any:
        """A test with one set of rows."""
        return self.each(())(test)

    def each(self, *inputs: tuple[Any, ...]) -> Callable[[Callable[..., Batch]], Any]:
        """A test with each of these arguments, each time with rows of its own."""

        def registered(test: Callable[..., Batch]) -> Any:
            assert inspect.isgeneratorfunction(test)
            own = {
                f"{test.__name__}{f'_{number}' if number else ''}": partial(test, *arguments)
                for number, arguments in enumerate(inputs)
            }
            assert not self.tests.keys() & own.keys(), f"two tests are called {test.__name__}"
            self.tests |= own

            def run(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
                self.out = self.out or self._once(shared_folder(tmp_path_factory))
                started = own[name]()
                next(started)
                with pytest.raises(StopIteration):
                    started.send(Case(self.out, name))

            run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, __name__
            return pytest.mark.parametrize("name", own)(run)

        return registered

    def _once(self, shared: Path) -> Path:
        """The analysis of whichever worker comes first: others have the same tests."""
        names = " ".join([*self.needs, *self.tests])
        folder = shared / f"together_{md5(names.encode()).hexdigest()[:12]}"
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return folder / "out" if (folder / "out").exists() else self.analyzed(folder)

    def analyzed(self, folder: Path) -> Path:
        """All rows of all tests: a file per run, and questions that no other test asks."""
        files: dict[str, list[Row]] = {}
        for name, test in self.tests.items():
            inputs = next(test())
            runs = inputs if isinstance(inputs, dict) else {"": inputs}
            for run, rows in runs.items():
                # The folder above `rollouts` names the benchmark.
                file = f"{name}/rollouts/{name}{'_' if run else ''}{run}_rollouts.jsonl"
                files[file] = [_with_question(row, name) for row in rows]
        results = write(folder / "results", files)
        out = folder / "out"
        if self.needs:
            with only("runs", *self.needs):
                pipeline.analyze(results, out=out)
        else:
            with mock.patch("pipeline.run.report.texts", _drafts):
                pipeline.analyze(results, out=out)
        return out


def _drafts(_source: Any, content: report.Content, **_: Any) -> dict[str, str]:
    """The draft of each benchmark and no other page."""
    folders = content.folders if len(content.benchmarks) > 1 else {content.benchmarks[0]: ""}
    return {
        f"{f'benchmarks/{to}/' if to else ''}report.md": report.markdown.document(
            content.of_benchmark(name)
        ).text
        for name, to in folders.items()
    }


# Of all files: every relation, and the drafts on them.
with_pages = Together()
# Without pages and suites, which take longest with many benchmarks.
together = Together(
    *LOADED,
    *METRICS,
    *DIAGNOSIS,
    "comparisons",
    "comparison_settings",
    "comparison_tasks",
    "paired_tasks",
    "report.check_contrasts",
    "report.contrasts",
    "report.dives",
    "report.gaps",
    "report.looked",
    "staging.ungraded",
)


def _with_question(row: Row, name: str) -> Row:
    """The row with the name of its test before its question."""
    copy: Row = json.loads(json.dumps(row))
    request = copy.get("responses_create_params") or {}
    for message in request.get("input", [])[:1]:
        content = message["content"]
        if isinstance(content, str):
            message["content"] = f"{name}: {content}" if content else ""
        else:
            content[0]["text"] = f"{name}: {content[0]['text']}"
    return copy
