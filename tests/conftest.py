"""Paths and small results folders that many tests share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.warehouse import Warehouse

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
DEMO = ROOT / "data_samples" / "demo"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="../shared/corpus is not here")


def rollout(
    task: int | None, repeat: int | None, reward: Any = 1.0, **fields: Any
) -> dict[str, Any]:
    """A small rollout row; a field given as ... is left out."""
    row = {
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "reward": reward,
        "responses_create_params": {"input": [{"role": "user", "content": f"question {task}"}]},
        "response": {"output": [{"type": "message", "role": "assistant", "content": "an answer"}]},
        **fields,
    }
    return {name: value for name, value in row.items() if value is not None and value is not ...}


def write_rows(path: Path, rows: Iterable[Any]) -> Path:
    """One JSON value a line; bytes and text are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for row in rows:
        if isinstance(row, str):
            row = row.encode()
        lines.append(row if isinstance(row, bytes) else json.dumps(row).encode())
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


@pytest.fixture
def analyzed(tmp_path: Path) -> Callable[..., Warehouse]:
    """Analyze a path and open what came out."""
    number = 0

    def analyze(results: Path | list[Path], **options: Any) -> Warehouse:
        nonlocal number
        number += 1
        out = tmp_path / f"out-{number}"
        return pipeline.open_warehouse(pipeline.analyze(results, out=out, **options).warehouse)

    return analyze


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, analyzed once: the path of its warehouse."""
    return pipeline.analyze(DEMO, out=tmp_path_factory.mktemp("demo")).warehouse


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus, analyzed once: the path of its warehouse."""
    return pipeline.analyze(CORPUS, out=tmp_path_factory.mktemp("corpus")).warehouse
