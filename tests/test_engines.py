"""Shards: the same rows wherever they are read, also where a node is lost on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

from pipeline import engines, warehouse
from pipeline.artifact import Artifact, Kind
from pipeline.engines import local
from pipeline.errors import InputError, UsageError
from pipeline.ingest import discover, load
from pipeline.ingest.load import shards
from pipeline.ingest.load.lines import Span
from pipeline.settings import SQL_DIR, Settings
from tests.conftest import DEMO
from tests.results import BLADE, rollout, write

ODD = [
    b"\xef\xbb\xbf" + json.dumps(rollout(0, 0)).encode() + b"\n",
    b"\xef\xbb\xbf" + json.dumps(rollout(1, 0)).encode() + b"\n",  # a mark in the midst of a file
    b"\n",
    b"{]\n",
    b"  \r\n",
    b'{"reward": "\xff"}\n',
    json.dumps(rollout(2, 0, note="x" * 300)).encode() + b"\n",
    json.dumps(rollout(3, 0)).encode(),
]


def in_turn(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """The plainest engine."""
    return map(work, items)


def loaded(results: Path, path: Path, engine: Any) -> dict[str, list[tuple[Any, ...]]]:
    """The raw tables, as one stream or an engine reads them."""
    path.unlink(missing_ok=True)
    settings = Settings((results,), path.parent, max_line_bytes=1000)
    actual = discover.artifacts((results,))
    with warehouse.build(path, threads=1) as db:
        warehouse.create_macros(db, SQL_DIR)
        load.artifacts(db, actual, settings, spool=path.parent / "spool", engine=engine)
    return raw(path)


def raw(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every raw table, sorted."""
    with duckdb.connect(str(path), read_only=True) as db:
        names = db.sql("select table_name from duckdb_tables() where schema_name = 'raw'")
        return {
            name: db.sql(f"from raw.{name} order by all").fetchall() for (name,) in names.fetchall()
        }


@pytest.mark.parametrize("size", [pytest.param(100, marks=pytest.mark.slow), 700])
def test_shards_give_the_rows_of_one_stream(tmp_path: Path, size: int) -> None:
    """Wherever a file is cut: rows, rejects, blank lines, their numbers and the file's hash."""
    files = {"a_rollouts.jsonl": b"".join(ODD), "b_rollouts.jsonl": b"".join(ODD[::-1])}
    results = write(tmp_path / "results", files)
    whole = loaded(results, tmp_path / "whole.duckdb", None)
    with mock.patch.object(shards, "SHARD_BYTES", size):
        assert loaded(results, tmp_path / "parts.duckdb", in_turn) == whole
    # Of one a mark in its midst, `{]` and `\\xff`; of the other also two rows in a line, two marks.
    assert len(whole["rejects"]) == 3 + 5


def test_a_file_is_cut_where_lines_end(tmp_path: Path) -> None:
    """Each span ends with a line, and the last with the file."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"aaaa\n" * 4 + b"bb")
    artifact = Artifact(path, path.name, Kind.ROLLOUTS)
    with mock.patch.object(shards, "SHARD_BYTES", 7):
        spans = shards.cut(artifact)
    assert [(span.start, span.end) for span in spans] == [(0, 10), (10, 20), (20, None)]
    assert shards.cut(Artifact(path, "x.jsonl.gz", Kind.ROLLOUTS)) == [Span()]


def test_threads_do_it_where_they_are_few() -> None:
    """Processes only where one could not feed all threads."""
    assert engines.engine("local", jobs=None, address="") is None
    assert engines.engine("local", jobs=8, address="") is None
    assert engines.engine("local", jobs=9, address="") is not None


def ends(_item: int) -> None:
    """Work that a process does not survive."""
    os._exit(1)


@pytest.mark.slow
def test_processes_answer_in_order_and_their_end_is_told() -> None:
    """Numbers back in their order; a process that dies ends the reading with a message."""
    assert list(local.answers(str, range(5), jobs=2)) == list("01234")
    with pytest.raises(InputError, match="was killed"):
        list(local.answers(ends, [1], jobs=2))


@pytest.mark.slow
def test_ray_is_imported_only_where_it_is_asked_for() -> None:
    """Nothing of ours needs it; without it, or without a cluster, a message says what to do."""
    code = "import sys, pipeline.run, pipeline.cli.analyze; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with mock.patch.dict(sys.modules, {"ray": None}):
        read = engines.engine("ray", jobs=None, address="auto")
        assert read is not None
        with pytest.raises(UsageError, match="not installed"):
            list(read(str, [1]))


@pytest.mark.slow
def test_a_cluster_is_started_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local one, which ends with the reading; a named one that does not answer is an error."""
    ray = pytest.importorskip("ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    read = engines.engine("ray", jobs=None, address="auto")
    assert read is not None and list(read(lambda number: str(number), range(3))) == list("012")
    assert not ray.is_initialized()
    for address, variable in (("127.0.0.1:1", None), ("auto", "127.0.0.1:1")):
        if variable is not None:
            monkeypatch.setenv("RAY_ADDRESS", variable)
        read = engines.engine("ray", jobs=None, address=address)
        assert read is not None
        with pytest.raises(UsageError, match=r"127\.0\.0\.1:1"):
            list(read(str, [1]))


@pytest.mark.slow
def test_a_cluster_loses_a_node_and_nothing_else(tmp_path: Path, demo: Path) -> None:
    """Two nodes, one taken away while it reads: what is written is the same to the byte."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    import ray

    environment = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
    with mock.patch.dict(os.environ, environment):
        cluster = cluster_utils.Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        second = cluster.add_node(num_cpus=1)
        ask = [BLADE, "analyze", DEMO, "--out", tmp_path / "ray"]
        # Small shards: many tasks, so that both nodes have some when one is lost.
        setup = "import sys; from pipeline.ingest.load import shards; shards.SHARD_BYTES = 20_000; "
        main = "from pipeline.cli import main; main()"
        try:
            words = [*map(str, ask), "--engine", "ray", "--address", cluster.address]
            running = subprocess.Popen(
                [sys.executable, "-c", setup + f"sys.argv = {words!r}; " + main],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(5)
            cluster.remove_node(second)
            _, message = running.communicate(timeout=240)
        finally:
            ray.shutdown()
            cluster.shutdown()
    assert running.returncode == 0, message
    for name in ("report.md", "report.html", "metrics.json", "manifest.json"):
        assert (tmp_path / "ray" / name).read_bytes() == demo.with_name(name).read_bytes(), name
    with duckdb.connect(str(tmp_path / "ray/warehouse.duckdb"), read_only=True) as db:
        assert db.sql("select count(*) from raw.events").fetchall() > [(0,)]
