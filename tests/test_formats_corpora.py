"""Public results of other harnesses: the figures that each is known by."""

from __future__ import annotations

import json
import re
import shutil
import struct
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pipeline
from tests.conftest import ROOT
from tests.fact_files import check
from tests.lean import CHECKED, only
from tests.results import Results

CORPUS = ROOT.parent / "shared" / "formats_corpus"
NEEDS = (*CHECKED, "checks", "events", "expected", "task_prompts")
# Of one harness a part is of others, or no results.
PARTS = {"every_eval_ever": ["public"], "harbor": ["jobs", "public/atif"]}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here"),
]


@pytest.mark.parametrize(
    "name", "every_eval_ever harbor inspect lm_eval nemo_skills tau2 verifiers".split()
)
def test_corpus(name: str, tmp_path: Path) -> None:
    """As tests/facts/<name>_corpus.test says."""
    folders = [CORPUS / name / part for part in PARTS.get(name, [""])]
    if name == "nemo_skills":
        # Its files have an ending that keeps them from being read as results there.
        folders = [tmp_path / "skills"]
        for file in (CORPUS / name).rglob("*-test"):
            copy = folders[0] / file.relative_to(CORPUS / name).with_name(
                file.name[: -len("-test")]
            )
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    with only(*NEEDS):
        pipeline.analyze(folders, out=tmp_path / "out")
    check(Results(tmp_path / "out"), f"{name}_corpus")


FOLDERS = ["verifiers/v0.4.0", "inspect/public", "lm_eval", "tau2"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_of_other_names(folder: str, tmp_path: Path) -> None:
    """Under a name that says nothing a file has the same attempts, scores and passes."""
    renamed = tmp_path / "renamed"
    for number, file in enumerate(sorted(filter(Path.is_file, (CORPUS / folder).rglob("*")))):
        copy = renamed / file.relative_to(CORPUS / folder).with_name(f"a{number}{file.suffix}")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    counts = "select count(*), count(*) filter (is_scored), count(*) filter (is_pass) from rollouts"
    with only("rollouts"):
        pipeline.analyze(CORPUS / folder, out=tmp_path / "usual")
        pipeline.analyze(renamed, out=tmp_path / "other")
    (usual,) = Results(tmp_path / "usual").rows(counts)
    assert Results(tmp_path / "other").rows(counts) == [usual] and usual[2] > 0


def packed_member(path: Path, info: zipfile.ZipInfo) -> bytes:
    """A member of an archive; zstd (93) is none of the methods that `zipfile` knows."""
    if info.compress_type != 93:
        with zipfile.ZipFile(path) as archive:
            return archive.read(info)
    with path.open("rb") as file:
        file.seek(info.header_offset)
        head = file.read(30)
        file.seek(info.header_offset + 30 + sum(struct.unpack("<HH", head[26:30])))
        content = file.read(info.compress_size)
    return bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read())


def samples_of(path: Path) -> list[dict[str, Any]]:
    """The samples of a log, straight from its file; none where it is damaged."""
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
        names = [name for name in members if name.startswith("samples/")]
        return [json.loads(packed_member(path, members[name])) for name in names]
    try:
        return json.loads(path.read_bytes()).get("samples") or []
    except ValueError:
        return []


def words(content: Any) -> str:
    """What a message says, without reasoning."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def messages_of(sample: dict[str, Any]) -> list[tuple[str, ...]]:
    """Messages, calls and answers of tools, in order, without the system's and the question."""
    actual: list[tuple[str, ...]] = []
    for one in sample["messages"]:
        if one["role"] == "tool":
            actual.append(("tool_result", one.get("tool_call_id") or ""))
        elif one["role"] == "assistant":
            if words(one["content"]):
                actual.append(("message", words(one["content"])))
            actual += [
                ("tool_call", call["id"], call["function"], json.dumps(call["arguments"]))
                for call in one.get("tool_calls") or []
            ]
    return actual


LOGS = sorted(
    path
    for folder in ("formats_corpus/inspect", "findings_corpus")
    for path in (CORPUS.parent / folder).rglob("*")
    if path.suffix in (".eval", ".json", ".txt") and re.search(r"/inspect/|/scout_", str(path))
)


def test_inspect_logs_lose_nothing(tmp_path: Path) -> None:
    """Every log at hand, message by message and call by call, equals its events."""
    by_name = {f"{number}/{path.name}": samples_of(path) for number, path in enumerate(LOGS)}
    for (name, samples), path in zip(by_name.items(), LOGS, strict=True):
        if samples:
            (tmp_path / "logs" / name).parent.mkdir(parents=True)
            shutil.copy(path, tmp_path / "logs" / name)
    with only("events", "rollouts", "rejects"):
        pipeline.analyze(tmp_path / "logs", out=tmp_path / "out")
    actual = Results(tmp_path / "out")
    events = defaultdict(list)
    for file, task, index, kind, call_id, tool, arguments, text in actual.rows("""
        select source_file, task_id, rollout_index, kind, call_id, tool, arguments, text
        from events
        inner join rollouts using (run_id, task_id, rollout_index)
        where kind in ('tool_call', 'tool_result') or kind = 'message' and role = 'assistant'
        order by source_file, task_id, rollout_index, seq
    """):
        message = {"message": (text,), "tool_result": (call_id,)}.get(kind)
        if kind == "tool_call":
            message = (call_id, tool, json.dumps(json.loads(arguments)))
        events[file, task, index].append((kind, *message))
    superseded = actual.column("select source_file from rejects where reason like 'superseded%'")
    n_samples = 0
    for name in by_name.keys() - set(superseded):
        for sample in by_name[name]:
            n_samples += 1
            place = (name, str(sample["id"]), sample["epoch"] - 1)
            assert events[place] == messages_of(sample), place
    assert n_samples >= 300
