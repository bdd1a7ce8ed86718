"""The warehouse in files of other tools: every row of it, in one go, and over nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import polars
import pytest

import pipeline
from pipeline.warehouse import grains, reader
from tests.lean import LOADED, METRICS
from tests.results import analyzed, call, rollout


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with tools, slices, checks, and texts that a table of commas must quote."""
    said = 'one "quoted", line\r\nand \u00fcber, \u202e=1+1'
    output = [
        {"type": "function_call", "name": "add", "arguments": '{"a": [1]}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
        {"type": "message", "role": "assistant", "content": said},
    ]
    runs = {
        f"{name}_rollouts.jsonl": [
            rollout(task, index, reward=float((task + index) % 3 > least), output=output)
            | {"level": f"level {task % 2}", "tests": {"first": True, "a,b": task > 1}}
            for task in range(3)
            for index in range(2)
        ]
        for name, least in (("007", 0), ("sums", 1))
    }
    return analyzed(tmp_path_factory.mktemp("export"), runs, needs=(*LOADED, *METRICS)).path


@pytest.mark.parametrize("which", ["results", pytest.param("demo", marks=pytest.mark.slow)])
@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_every_row_of_every_public_relation_is_read_back(
    format_: str, which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """By DuckDB and by Polars: as in the warehouse, in the order of the grain; JSON is text."""
    path, out = request.getfixturevalue(which), tmp_path / "with space"
    ended = call("export", "--format", format_, "--out", out, "--warehouse", path)
    assert ended.code == 0 and f"{out}/runs.{format_}: " in ended.stdout
    with pipeline.open_warehouse(path) as warehouse:
        for (name,) in warehouse.execute("show tables").fetchall():
            order = f"order by {', '.join(grains()[name])}"
            columns = warehouse.execute(f"describe {name}").fetchall()
            types = {column[0]: column[1] for column in columns}
            file = out / (f"events/*/events.{format_}" if name == "events" else f"{name}.{format_}")
            if format_ == "parquet":
                found = duckdb.sql(
                    f"select {', '.join(types)} from read_parquet('{file}', "
                    "hive_types_autocast = false)"
                )
                told = [str(type_) for type_ in found.types]
                assert told == [type_.replace("JSON", "VARCHAR") for type_ in types.values()], name
                expected = warehouse.execute(f"from {name} {order}").fetchall()
                hive = {"run_id": polars.String} if name == "events" else None
                again = polars.scan_parquet(file, hive_schema=hive).select(*types).collect().rows()
                assert again == warehouse.sql(f"from {name} {order}").rows(), name
            else:
                texts = ", ".join(
                    f"coalesce({column}{'::json' if type_[-1] in ')]' else ''}::varchar, '')"
                    for column, type_ in types.items()
                )
                expected = warehouse.execute(f"select {texts} from {name} {order}").fetchall()
                found = duckdb.sql(
                    f"select coalesce(columns(*), '') from (select {', '.join(types)} "
                    f"from read_csv('{file}', all_varchar = true, hive_types_autocast = false, "
                    "quote = '\"'))"
                )
                if name != "events":
                    again = polars.read_csv(file, infer_schema=False).fill_null("").rows()
                    assert again == expected, name
            assert found.fetchall() == expected, name


@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_the_same_warehouse_gives_the_same_bytes(
    format_: str, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many threads there are, and whatever stood there of an earlier export."""
    other = "csv" if format_ == "parquet" else "parquet"
    for out, formats in (("first", [format_]), ("second", [other, format_])):
        for each in formats:
            arguments = ("export", "--format", each, "--out", tmp_path / out)
            assert call(*arguments, "--warehouse", results).code == 0
        monkeypatch.setattr(reader, "LOCKED_DOWN", {"threads": "1", **reader.LOCKED_DOWN})
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_only_an_earlier_export_is_overwritten(results: Path, tmp_path: Path) -> None:
    """Another file of that name stays, and nothing else is written; others are left alone."""
    arguments = ("export", "--format", "csv", "--out", tmp_path, "--warehouse", results)
    (tmp_path / "runs.csv").write_text("mine")
    (tmp_path / "notes.md").write_text("mine")
    ended = call(*arguments)
    assert ended.code == 2 and "runs.csv: is not of an earlier export" in ended.stderr
    assert contents(tmp_path) == {"runs.csv": b"mine", "notes.md": b"mine"}
    (tmp_path / "runs.csv").unlink()
    assert call(*arguments).code == 0 and call(*arguments).code == 0
    listing = json.loads((tmp_path / "export.json").read_text())
    listing["n_rows"]["../outside.csv"] = 1
    (tmp_path / "export.json").write_text(json.dumps(listing))
    (tmp_path.parent / "outside.csv").write_text("mine")
    assert call(*arguments).code == 0
    assert (tmp_path / "notes.md").exists() and (tmp_path.parent / "outside.csv").exists()


def test_a_folder_that_cannot_be_written_is_said(results: Path, tmp_path: Path) -> None:
    """A file for the folder, and a folder for a file."""
    arguments = ("export", "--format", "csv", "--warehouse", results, "--out")
    (tmp_path / "file").write_text("mine")
    assert call(*arguments, tmp_path / "file").code == 2
    (tmp_path / "runs.csv").mkdir()
    assert call(*arguments, tmp_path).code in (2, 3)
    assert (tmp_path / "runs.csv").is_dir() and not (tmp_path / "tasks.csv").exists()


def test_a_view_reads_no_other_file(results: Path, tmp_path: Path) -> None:
    """Whoever made the warehouse may have made its views too."""
    path = tmp_path / "made.duckdb"
    path.write_bytes(results.read_bytes())
    (tmp_path / "secret.txt").write_text("secret")
    with duckdb.connect(str(path)) as db:
        db.execute(f"create view main.spy as from read_text('{tmp_path}/secret.txt')")
    ended = call("export", "--format", "csv", "--out", tmp_path / "out", "--warehouse", path)
    assert ended.code == 2 and "Permission Error" in ended.stderr
    assert list((tmp_path / "out").iterdir()) == []
