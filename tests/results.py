"""Small results folders written by hand, for tests that need to know every row."""

from __future__ import annotations

import atexit
import io
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pipeline
from pipeline.cli import main
from tests.lean import only

Row = dict[str, Any]
Content = str | bytes | Iterable[Row]
_ids = itertools.count()
BLADE = Path(sys.executable).with_name("blade")
SAMPLES = Path(__file__).resolve().parent.parent / "data_samples"


def rollout(
    task: int | None = None,
    index: int | None = None,
    *,
    ask: str | None = None,
    reward: Any = 1.0,
    agent: str | None = None,
    model: str | None = None,
    output: list[Any] | None = None,
    **fields: Any,
) -> Row:
    """A scored row. Unless `ask` says otherwise, tasks of one number ask one question."""
    answer = {"type": "message", "role": "assistant", "content": "done"}
    response: Row = {"output": [answer] if output is None else output}
    if model is not None:
        response["model"] = model
    row = {**asked(task, index, ask=ask, agent=agent), "response": response, "reward": reward}
    return {**row, **fields}


def tried(n_tasks: int, passes: Callable[[int], Any], **fields: Any) -> list[Row]:
    """A row per task, which passes or not; a field that is a function is one of the task."""
    return [
        rollout(
            task,
            0,
            reward=float(passes(task)),
            **{name: each(task) if callable(each) else each for name, each in fields.items()},
        )
        for task in range(n_tasks)
    ]


def asked(
    task: int | None = None,
    index: int | None = None,
    *,
    ask: str | None = None,
    agent: str | None = None,
    **fields: Any,
) -> Row:
    """An input row: what is asked, with neither reward nor response."""
    row: Row = {}
    if task is not None:
        row["_ng_task_index"] = task
    if index is not None:
        row["_ng_rollout_index"] = index
    if agent is not None:
        row["agent_ref"] = {"name": agent}
    question = ask if ask is not None else f"question {task}"
    row["responses_create_params"] = {"input": [{"role": "user", "content": question}]}
    return {**row, **fields}


def called(tool: str | None, arguments: Any = None, result: str | None = "ok") -> list[Row]:
    """A call and its result, joined by an id of their own; no result where it is None."""
    name = f"call_{next(_ids)}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    made: Row = {"type": "function_call", "arguments": text, "call_id": name}
    if tool is not None:
        made["name"] = tool
    answer = {"type": "function_call_output", "call_id": name, "output": result}
    return [made] if result is None else [made, answer]


def wrote(text: str) -> list[Row]:
    """The agent's own words."""
    return [{"type": "message", "role": "assistant", "content": text}]


def steps(*given: Any) -> list[Row]:
    """The items of an output: words, calls as lists of tool, arguments and answer, or items.

    A call without an answer was never answered; a list of steps is each of them.
    """
    items: list[Row] = []
    for step in given:
        if isinstance(step, str):
            items += wrote(step)
        elif isinstance(step, dict):
            items += thought(step["think"]) if "think" in step else [step]
        elif step and not isinstance(step[0], str):
            items += steps(*step)
        else:
            items += called(*step) if len(step) == 3 else called(*step, None)
    return items


def thought(text: str) -> list[Row]:
    """What the agent says to itself."""
    return [{"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}]


def failure(task: int, index: int, kind: str, **fields: Any) -> Row:
    """A row of a failures file, with the placeholder reward that Gym writes."""
    return {**rollout(task, index, reward=0.0), "_ng_failure_class": kind, **fields}


def lines(rows: Iterable[Row]) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(folder: Path, files: Mapping[str, Content]) -> Path:
    """Files by name below the folder: text and bytes as they are, rows as JSON lines."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else lines(content)
            path.write_text(text, encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


# Warehouses that were asked last: to open one takes longer than ten queries.
_open: dict[tuple[object, ...], pipeline.Warehouse] = {}
MOST_OPEN = 6


def opened(path: Path) -> pipeline.Warehouse:
    """A warehouse for reading, which stays open for whoever asks next; others must not close it."""
    status = path.stat()
    key = (path, status.st_ino, status.st_mtime_ns)
    if key not in _open:
        for old in list(_open)[: 1 - MOST_OPEN]:
            _open.pop(old).close()
        _open[key] = pipeline.open_warehouse(path)
    return _open[key]


def rows_of(warehouse: Path, query: str) -> list[tuple[Any, ...]]:
    """What a query gives of a warehouse for reading."""
    return opened(warehouse).execute(query).fetchall()


@atexit.register
def _close_all() -> None:
    # What is still open at the very end is reported as a leak.
    while _open:
        _open.popitem()[1].close()


class Results:
    """An analysed folder."""

    def __init__(self, out: Path) -> None:
        self.path = out / "warehouse.duckdb"

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, as tuples."""
        return opened(self.path).sql(query).rows()

    def column(self, query: str) -> list[Any]:
        """The first column of a query."""
        return [row[0] for row in self.rows(query)]

    def one(self, query: str) -> Any:
        """The only value of a query."""
        ((value,),) = self.rows(query)
        return value


def analyzed(
    folder: Path, files: Mapping[str, Content], *, needs: Sequence[str] = (), **options: Any
) -> Results:
    """Write the files to `folder/results`, analyse them into `folder/out`.

    Where a test `needs` certain relations only, they and what they read are all that is made.
    """
    results = write(folder / "results", files)
    with only(*needs) if needs else nullcontext():
        pipeline.analyze(results, out=folder / "out", **options)
    return Results(folder / "out")


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and how it ended."""

    code: int
    stdout: str
    stderr: str


def call(*arguments: str | Path, stdin: str = "") -> Outcome:
    """Run `blade` in this process: fast, and a bug's traceback fails the test."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["blade", *map(str, arguments)]
    code = 0
    patched = mock.patch.multiple("sys", argv=argv, stdin=io.StringIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), patched:
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return Outcome(code, out.getvalue(), err.getvalue())


def blade(*arguments: str | Path, **options: Any) -> Outcome:
    """Run `blade` as a person does, in a process of its own."""
    ended = subprocess.run(
        [BLADE, *arguments], capture_output=True, timeout=60, encoding="utf-8", **options
    )
    return Outcome(ended.returncode, ended.stdout, ended.stderr)


def run_document(path: Path, folder: Path) -> str:
    """Run the shell blocks of a document in order, beside the samples; what they print."""
    (folder / "data_samples").symlink_to(SAMPLES)
    blocks = re.findall(r"```bash\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    return run_script(blocks, folder)


def run_script(lines: list[str], folder: Path) -> str:
    """Run lines of a shell in a folder; what they print."""
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env={"PATH": f"{BLADE.parent}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-2000:]
    return ended.stdout
