"""Same inputs, same bytes: with any threads, hash seed, place, or order of files and rows."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pipeline import open_warehouse
from pipeline.resources import SMALL_BYTES
from pipeline.run import run
from pipeline.settings import Settings
from tests.conftest import CORPUS, DEMO, ROOT, needs_corpus
from tests.results import BLADE, call

KEYS = {
    "events": "order by run_id, task_id, rollout_index, seq",
    "rollout_stages": "order by run_id, task_id, rollout_index",
}
DESK = ("office_desk_aster-8b", "office_desk_birch-70b")
ROWS = ("_rollouts.jsonl", "_failures.jsonl", "_inputs.jsonl")


def contents(path: Path) -> dict[str, list[Any]]:
    """Every public relation as a plain select prints it; views in the order of their key."""
    with open_warehouse(path / "warehouse.duckdb") as warehouse:
        tables = warehouse.execute(
            "select table_name from information_schema.tables where table_schema = 'main' "
            "and table_catalog = current_database() order by all"
        ).fetchall()
        return {
            name: warehouse.execute(f"from {name} {KEYS.get(name, '')}").fetchall()
            for (name,) in tables
        }


def texts(out: Path) -> dict[str, str]:
    """Every text output by its path."""
    return {
        str(path.relative_to(out)): path.read_text(encoding="utf-8")
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.suffix != ".duckdb"
    }


def compared(out: Path, *runs: str) -> str:
    """What `blade compare` prints of these runs for a program."""
    outcome = call("compare", *runs, "--json", "--warehouse", out / "warehouse.duckdb")
    assert outcome.code == 0, outcome.stderr
    return outcome.stdout


@pytest.fixture
def one_thread(demo: Path) -> Path:
    """The demo, analyzed on one thread, as all that is small: its output folder."""
    assert sum(path.stat().st_size for path in DEMO.iterdir()) < SMALL_BYTES
    return demo.parent


def test_every_text_output_is_compared(one_thread: Path) -> None:
    """A report, its page and a sidecar for all runs, both for each of the four, the manifest."""
    assert len(texts(one_thread)) == 4 + 2 * 2 + 2 * 4
    assert "## Cross-Model Comparison" in texts(one_thread)["benchmarks/quick_math/report.md"]
    assert json.loads(texts(one_thread)["metrics.json"])["comparisons"]


@pytest.mark.exhaustive
@pytest.mark.slow
def test_threads_change_nothing(one_thread: Path, tmp_path: Path) -> None:
    """Every relation is equal row by row, and every text byte by byte."""
    other = run(Settings((DEMO,), tmp_path / "out", threads=8)).out
    assert contents(other) == contents(one_thread)
    assert texts(other) == texts(one_thread)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_hash_seeds_change_nothing(one_thread: Path, tmp_path: Path) -> None:
    """Nor do locale, time zone and the day of the process, nor where the folder is."""
    copied = shutil.copytree(DEMO, tmp_path / "deep" / "elsewhere")
    environment = {**os.environ, "PYTHONHASHSEED": "1", **elsewhere(tmp_path)}
    command = [BLADE, "analyze", copied, "--out", tmp_path / "out"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert texts(tmp_path / "out") == texts(one_thread)
    again = [BLADE, "compare", *DESK, "--json", "--warehouse", tmp_path / "out/warehouse.duckdb"]
    reported = subprocess.run(
        again, env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    assert reported.stdout == compared(one_thread, *DESK)
    for ending in ("md", "html"):
        rendered = [BLADE, "report", "--warehouse", tmp_path / "out/warehouse.duckdb"]
        rendered += ["--out", tmp_path / f"again.{ending}"]
        subprocess.run(rendered, env=environment, check=True, capture_output=True)
        page = (tmp_path / f"again.{ending}").read_text(encoding="utf-8")
        assert page == texts(one_thread)[f"report.{ending}"]


def elsewhere(folder: Path) -> dict[str, str]:
    """Another time zone, language and, where the machine can pretend so, another day."""
    inputs = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "LANGUAGE": "tr", "COLUMNS": "40"}
    if shutil.which("localedef"):
        # Turkish: commas in numbers, and an i that is no I.
        created = ["localedef", "-i", "tr_TR", "-f", "UTF-8", folder / "locales/tr_TR.UTF-8"]
        (folder / "locales").mkdir()
        if subprocess.run(created, capture_output=True).returncode == 0:
            inputs |= {"LOCPATH": str(folder / "locales"), "LC_ALL": "tr_TR.UTF-8"}
    for library in Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"):
        inputs |= {"LD_PRELOAD": str(library), "FAKETIME": "+100d"}
    return inputs


CLOCKS = re.compile(
    r"^\s*(import|from) (time|locale|getpass|socket|platform|secrets)\b"
    # To read a time that is stated, and to write an id from a hash, asks nobody.
    r"|\b(utcnow|fromtimestamp|uuid[14]|getnode)\b|\bdate(time)?\.(now|today)\b"
    r"|\b(now|today|random|uuid|gen_random_uuid|get_current_time|current_user)\(\)"
    r"|\bcurrent_(date|time|timestamp)\b(?! is)",
    re.MULTILINE | re.IGNORECASE,
)


# Whether files are older than an output, when to look again, when a query is killed, the key of a
# page in a browser, whether a cluster listens, when a request came, and the name that a file has
# until it is whole: nothing of it is in an output.
TIMED = {
    "pipeline/earlier.py",
    "pipeline/engines/ray.py",
    "pipeline/files.py",
    "pipeline/ingest/load/shards.py",
    "pipeline/query_worker.py",
    "pipeline/watch.py",
    "pipeline/view/protocol.py",
    "pipeline/view/server.py",
}


def test_nothing_asks_the_time() -> None:
    """Neither code nor SQL knows of a clock, a host, a user, a language or chance."""
    paths = [*ROOT.glob("pipeline/**/*.py"), *ROOT.glob("sql/**/*.sql")]
    assert len(paths) > 250
    asking = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if CLOCKS.search(path.read_text(encoding="utf-8"))
    }
    assert asking == TIMED


def without_places(relations: dict[str, Any]) -> dict[str, Any]:
    """What rows say, without their places."""
    return {
        name: sorted(re.sub(r"[.]jsonl:\d+", ".jsonl:LINE", repr(row)) for row in rows)
        for name, rows in relations.items()
        if name not in ("artifacts", "rejects", "failures", "rollouts", "events")
    }


def in_another_order(source: Path, folder: Path) -> Path:
    """A copy whose files were written in another order, with their rows shuffled."""
    shuffle = random.Random(7)
    for path in sorted(source.rglob("[!.]*"), reverse=True):
        if path.is_dir():
            continue
        content = path.read_bytes()
        if path.name.endswith(ROWS):
            *rows, rest = content.split(b"\n")
            content = b"".join(row + b"\n" for row in _shuffled(rows, shuffle)) + rest
        place = folder / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


@needs_corpus
@pytest.mark.slow
def test_order_changes_nothing_on_the_corpus(corpus: Path, tmp_path: Path) -> None:
    """Real rows with and without ids: every text, hashes and line numbers aside."""
    folder = in_another_order(CORPUS, tmp_path / "shuffled")
    other = texts(run(Settings((folder,), tmp_path / "out")).out)
    expected = texts(corpus.parent)
    assert {name: _unhashed(other[name]) for name in other} == {
        name: _unhashed(expected[name]) for name in expected
    }


@pytest.mark.slow
def test_order_changes_nothing(one_thread: Path, tmp_path: Path) -> None:
    """Files written in another order, rows shuffled: only hashes and line numbers differ."""
    folder = in_another_order(DEMO, tmp_path / "shuffled")
    other = run(Settings((folder,), tmp_path / "out")).out
    assert without_places(contents(other)) == without_places(contents(one_thread))
    expected = {name: _unhashed(text) for name, text in texts(one_thread).items()}
    assert {name: _unhashed(text) for name, text in texts(other).items()} == expected
    assert texts(other) != texts(one_thread)


def _shuffled(rows: list[bytes], shuffle: random.Random) -> list[bytes]:
    """In any order; but of rows with one key the first stays so: it is the one that counts."""
    by_key: dict[object, list[bytes]] = {}
    for place, row in enumerate(rows):
        key = re.findall(rb'"_ng_(?:task|rollout)_index": ?\d+', row) or place
        by_key.setdefault(str(key), []).append(row)
    groups = list(by_key.values())
    shuffle.shuffle(groups)
    return [row for group in groups for row in group]


def _unhashed(text: str) -> str:
    unplaced = re.sub(r"[.]jsonl:\d+", ".jsonl:LINE", text)
    return re.sub(r"\b[0-9a-f]{64}\b", "HASH", unplaced)
