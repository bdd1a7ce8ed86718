"""Files that are too large, no files at all, or hold what no table can: named, never a crash."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pipeline
from pipeline.ingest import discover
from tests.case_files import cases
from tests.lean import CHECKED, LOADED, only
from tests.results import BLADE, Results, analyzed, call, rollout, write

ROWS = [rollout(0, 0)]
MEGABYTE = gzip.compress(bytes(1 << 20))
# A process starts with the peak of the one it was forked from: pytest's own must not count.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_is_bounded_beside_the_rollouts(tmp_path: Path) -> None:
    """3 GB of zeros in 3 MB, a log of short lines: each is named, a few hundred MB are taken."""
    bomb = MEGABYTE * 3_000
    log = b"ab\n" * (24 << 20)
    files = {"a_rollouts.jsonl": ROWS, "a_aggregate_metrics.json.gz": bomb, "job.log": log}
    results = write(tmp_path / "results", files)
    command = [BLADE, "analyze", results, "--out", tmp_path / "out"]
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, *command], stdout=subprocess.PIPE, check=True, text=True
    )
    assert int(ran.stdout) < 700 * 1024
    actual = Results(tmp_path / "out")
    assert actual.rows("select path, n_lines, n_rejects from artifacts order by path") == [
        ("a_aggregate_metrics.json.gz", 1, 1),
        ("a_rollouts.jsonl", 1, 0),
        ("job.log", None, 0),
    ]
    assert actual.column("select reason from rejects") == ["has more than 64 MB"]


@pytest.mark.slow
def test_metrics_that_no_table_can_hold(tmp_path: Path) -> None:
    """Half characters are shown, numbers beyond all measure are null, deep nesting is a reject."""
    odd = {"agent_ref": {"name": "\ud800"}, "a\udc00": 0.5, "large": 10**400, "n": {"m": 10**60}}
    deep = '{"a": ' * 950 + "1" + "}" * 950
    task = {"_ng_task_index": 10**400, "mean/reward": 10**300}
    files = {
        "a_rollouts.jsonl": ROWS,
        "a_rollouts_aggregate_metrics.json": json.dumps([odd]),
        "a_rollouts_agent_metrics.json": deep,
        "a_rollouts_reward_profiling.jsonl": "\n".join([json.dumps(odd), json.dumps(task), deep]),
        "b_rollouts.jsonl": ROWS,
        "b_rollouts_aggregate_metrics.json": b"",
        "b_rollouts_agent_metrics.json": b" \n\n",
        "b_rollouts_reward_profiling.jsonl": b"\xff{}\n",
    }
    results = analyzed(tmp_path, files, needs=LOADED)
    assert (0.5, "a\\udc00") in results.rows("select value, metric from raw.figures")
    assert results.one("select count(*) from raw.figures where value > 1e50") == 0
    query = "select path from artifacts where n_rejects > 0 or least(n_other, n_rows) < 0"
    assert results.column(f"{query} order by path") == [
        "a_rollouts_agent_metrics.json",
        "a_rollouts_reward_profiling.jsonl",
        "b_rollouts_reward_profiling.jsonl",
    ]


@pytest.mark.slow
def test_what_is_no_file(tmp_path: Path) -> None:
    """Pipes and links that lead out are listed with the reason and not opened, unless asked."""
    outside = write(tmp_path / "outside", {"b_rollouts.jsonl": ROWS, "deep/c.log": "c\n"})
    results = write(tmp_path / "results", {"a_rollouts.jsonl": ROWS, "real/notes.md": "x"})
    os.mkfifo(results / "pipe.jsonl")
    os.mkfifo(results / "manifest.json")
    (results / "b_rollouts.jsonl").symlink_to(outside / "b_rollouts.jsonl")
    (results / "deep").symlink_to(outside / "deep")
    (results / "inside.md").symlink_to("real/notes.md")
    (results / "missing").symlink_to("nothing")
    with only(*CHECKED):
        analysis = pipeline.analyze(results, out=tmp_path / "out")
    by_name = {notice.subject: notice.message for notice in analysis.warnings}
    assert by_name["b_rollouts.jsonl"].startswith("not read: it is a link that leads")
    reasons = dict(Results(tmp_path / "out").rows("select source_file, reason from rejects"))
    link, pipe = "is a link that leads out of the results; --follow-links reads it", "is a pipe"
    assert reasons.pop("b_rollouts.jsonl") == reasons.pop("deep") == link
    assert reasons.pop("missing") == "is a broken link"
    assert set(reasons) == {"manifest.json", "pipe.jsonl"}
    assert all(reason.startswith(pipe) for reason in reasons.values())
    query = "select path, kind from artifacts where kind <> 'skipped' order by path"
    assert Results(tmp_path / "out").rows(query) == [
        ("a_rollouts.jsonl", "rollouts"),
        ("inside.md", "report"),
    ]
    followed = discover.artifacts((results,), follow_links=True)
    assert {"b_rollouts.jsonl", "deep/c.log"} <= {
        each.name for each in followed if not each.skipped
    }


@pytest.mark.parametrize("arguments", cases("unreadable", "a_pipe_or_a_device_is_refused"))
def test_a_pipe_or_a_device_is_refused(tmp_path: Path, demo: Path, arguments: list[str]) -> None:
    """Exit code 2 or 3 with the reason, at once."""
    write(tmp_path, {"a_rollouts.jsonl": ROWS})
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        reported = [each.format(path, folder=tmp_path, warehouse=demo) for each in arguments]
        ended = call(*reported)
        assert ended.code in (2, 3) and str(path) in ended.stderr, ended


@pytest.mark.parametrize("name", ["warehouse.duckdb/x", ".blade", "runs"])
def test_an_output_folder_that_holds_something_else(tmp_path: Path, name: str) -> None:
    """A folder where a file is to be, or a file for a folder: reported at once, and left alone."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": ROWS})
    out = write(tmp_path / "out", {name: "mine"})
    ended = call("analyze", results, "--out", out)
    assert ended.code == 3 and "in the way" in ended.stderr and "--out" in ended.stderr
    assert (out / name).read_text() == "mine" and len(list(out.iterdir())) == 1
