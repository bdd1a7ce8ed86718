"""Formats of other harnesses: one file adds one, and processes convert many files."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pipeline.artifact import Artifact, Kind, ListedFile
from pipeline.ingest import formats
from pipeline.ingest.load import foreign
from tests.conftest import ROOT
from tests.fact_files import check
from tests.results import Content, analyzed, write

CORPUS = ROOT.parent / "shared" / "formats_corpus"

TOY = '''
"""A toy: a line per attempt, `task repeat score`."""
import re
from pipeline.artifact import Kind
from pipeline.ingest.formats import Claim, Expected, Figure, Line, Reject, Row, Setting, message

TITLE, FILES, SCORE, NOTES = "Toy", "`*.toy.txt`", "the last word", "For tests."
GIVES = "transcript"
NAMES = re.compile(r"[.]toy[.]txt$")

def claims(files):
    for file in files:
        if file.path.read_bytes().startswith(b"toy"):
            yield Claim(file, Kind.ROLLOUTS, file.folder, file.base.split(".")[0])

def read(artifact):
    for line in artifact.path.read_text().splitlines():
        match line.split():
            case ["toy", model, mean]:
                yield Line()
                yield Setting("model", model)
                yield Figure(None, None, None, "their mean", float(mean), means="mean/reward")
            case [task, repeat, score]:
                row = {
                    "_ng_task_index": task,
                    "_ng_rollout_index": int(repeat),
                    "reward": None if score == "?" else float(score),
                    "responses_create_params": {"input": [message(f"do {task}", "user")]},
                    "response": {"output": [message("done")]},
                }
                yield Row(row, benchmark="toys")
            case []:
                yield Line()
            case _:
                yield Reject("not three words", line)
    yield Expected("b", 1)
'''
CONTENT = "toy wooden 0.5\na 0 1\na 1 0\n\nb 0 ?\nwhat is this line\n"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more file in the folder of formats."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "toy.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(folder)])
    formats.modules.cache_clear()
    yield
    formats.modules.cache_clear()


@pytest.mark.usefixtures("toy")
def test_one_file_adds_a_format(tmp_path: Path) -> None:
    """Rows, rejects, blanks, expected attempts, figures and settings arrive where Gym's do."""
    results = analyzed(
        tmp_path,
        {"box/wood.toy.txt": CONTENT, "box/note.toy.txt": "nothing\n"},
        needs=("rollouts", "rejects", "runs", "expected", "reported_checks", "artifacts"),
    )
    check(results, "toy")


def test_a_folder_of_gym_asks_no_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rollout files, their sidecars and plain documents import no module of a format."""
    monkeypatch.setattr(formats, "modules", lambda: pytest.fail("a format was imported"))
    names = ("a.yaml", "notes.md", "x.log")
    assert formats.claims([ListedFile(Path(name), name) for name in names]) == {}


@pytest.mark.slow
def test_processes_convert_what_one_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spools of other processes hold the same lines, even if a process ended meanwhile."""
    row = '{"doc_id": %d, "filter": "none", "metrics": ["acc"], "acc": 1.0, "filtered_resps": []}\n'
    files = []
    for number in range(4):
        path = tmp_path / f"samples_t{number}_2026-01-01T00-00-00.jsonl"
        path.write_text("".join(row % doc for doc in range(number + 1)), encoding="utf-8")
        files.append((number, Artifact(path, path.name, Kind.ROLLOUTS, format="lm_eval")))

    def lines(n_processes: int) -> list[tuple[int, object]]:
        actual = foreign.spooled(files, tmp_path / "spool", n_processes, max_line_bytes=1 << 20)
        return [
            (number, batch.to_pydict(), converted.tally)
            for number, converted, batches in actual
            for batch in batches
        ]

    alone = lines(1)
    monkeypatch.setattr(foreign, "WORTH_PROCESSES", 0)
    assert lines(2) == alone
    assert list((tmp_path / "spool").iterdir()) == []
    remaining = foreign.spooled(files, tmp_path / "spool", 2, max_line_bytes=1 << 20)
    next(remaining)
    remaining.close()
    monkeypatch.setattr(foreign, "WORKER", "import os; os._exit(9)")
    assert all("was killed" in batch["fault"][0] for _, batch, _ in lines(2))


def mutated(content: bytes, random: Random) -> bytes:
    """A file cut off, with a piece gone, doubled or overwritten, or with values of other types."""
    start = random.randrange(len(content))
    end = min(len(content), start + random.randrange(1, 3000))
    match random.randrange(5):
        case 0:
            return content[:start]
        case 1:
            return content[:start] + content[end:]
        case 2:
            return content[:end] + content[start:]
        case 3:
            return content[:start] + random.randbytes(end - start) + content[end:]
    odd = (b"null", b"-1", b'"x"', b"[]", b"{}", b"1e400", b"[[{}]]", b"NaN")
    values = re.split(rb'(?<=[:\[,])( ?(?:"[^"\\]*"|[0-9.]+|true|null))', content)
    places = random.sample(range(len(values)), k=min(len(values), 1 + len(values) // 100))
    for place in places:
        values[place] = random.choice(odd) if place % 2 else values[place]
    return b"".join(values)


def is_accounted_for(claim: formats.Claim, name: str) -> bool:
    """Whether reading a file raises nothing, and its lines are rows, rejects or blank."""
    into = foreign.Converted()
    artifact = Artifact(claim.file.path, name, claim.kind, format=claim.format, beside=claim.beside)
    batches = foreign.batches(artifact, 0, into, max_line_bytes=1 << 24)
    ids = [number for batch in batches for number in batch["record_id"].to_pylist()]
    return len(set(ids)) == len(ids) == into.tally.n_lines - into.tally.n_blank


def check_mutations(folder: Path, files: Mapping[str, Content], n_mutations: int = 200) -> None:
    """Each mutation damages one file of a folder, which is recognised and read again as a whole."""
    random = Random(20)
    write(folder, files)
    listed = [ListedFile(folder / name, name) for name in sorted(files)]
    whole = {file.name: file.path.read_bytes() for file in listed}
    undamaged = [claim for claim in formats.claims(listed).values() if claim.format]
    assert undamaged
    for number in range(n_mutations):
        file = listed[number % len(listed)]
        file.path.write_bytes(mutated(whole[file.name], random))
        again = [claim for claim in formats.claims(listed).values() if claim.format]
        # What is no longer recognised is read as well, as if it had been damaged meanwhile.
        assert all(is_accounted_for(claim, claim.file.name) for claim in (*again, *undamaged))
        file.path.write_bytes(whole[file.name])


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_mutated_files_are_accounted_for(tmp_path: Path) -> None:
    """With anything wrong in a file of any format, nothing is raised and every line has an end."""
    random = Random(20)
    whole = [path for path in sorted(CORPUS.rglob("*")) if path.is_file()]
    actual = [ListedFile(path, str(path.relative_to(CORPUS))) for path in whole]
    claimed = [claim for claim in formats.claims(actual).values() if claim.format]
    for claim in claimed:
        for number in range(4):
            folder = tmp_path / f"{number}"
            folder.mkdir(exist_ok=True)
            path = folder / claim.file.base
            path.write_bytes(mutated(claim.file.path.read_bytes(), random))
            list(formats.claims([ListedFile(path, path.name)]))
            damaged = replace(claim, file=ListedFile(path, path.name))
            assert is_accounted_for(damaged, path.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", "alone bfcl evalscope gym_export helm lighteval".split())
def test_mutated_folders_are_accounted_for(tmp_path: Path, name: str) -> None:
    """The files that a test of a format has, each damaged beside the others."""
    check_mutations(tmp_path, importlib.import_module(f"tests.test_formats_{name}").FILES)
