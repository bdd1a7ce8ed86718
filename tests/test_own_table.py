"""Tables that no harness wrote: each shape that people have is read with the right columns."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pipeline
from pipeline.artifact import Artifact, Kind
from pipeline.errors import InputError, UsageError
from pipeline.ingest import discover
from pipeline.ingest.formats import Line, Reject, Row, Setting, own_table
from pipeline.ingest.formats.table_columns import described, recognise, score_of
from pipeline.ingest.formats.table_rows import sample
from tests.lean import CHECKED, only
from tests.results import analyzed, call

N_ROWS = 12
VERDICTS = [place % 3 > 0 for place in range(N_ROWS)]
N_PASSED = sum(VERDICTS)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_cells(path: Path, rows: list[dict[str, Any]], separator: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0], delimiter=separator)
        table.writeheader()
        table.writerows(rows)


def rows_of(make: Callable[[int, bool], dict[str, Any]]) -> list[dict[str, Any]]:
    return [make(place, verdict) for place, verdict in enumerate(VERDICTS)]


def read(path: Path, **chosen: str) -> list[Any]:
    """What the only table below a folder is read as, without its settings."""
    (artifact,) = discover.artifacts((path,), table_fields=chosen)
    assert artifact.format == "own_table"
    modules = (Row, Reject, Line)
    return [entry for entry in own_table.read(artifact) if isinstance(entry, modules)]


def attempts(path: Path, **chosen: str) -> list[dict[str, Any]]:
    return [entry.value for entry in read(path, **chosen) if isinstance(entry, Row)]


def words(items: list[dict[str, Any]]) -> list[Any]:
    return [item.get("content") for item in items]


def flat(place: int, verdict: bool) -> dict[str, Any]:
    return {
        "id": f"q{place}",
        "prompt": f"What is {place}+{place}?",
        "output": str(2 * place) if verdict else "7",
        "correct": verdict,
    }


def test_no_other_column_is_called_an_extracted_answer_that_is_missing(tmp_path: Path) -> None:
    """A column of another name is null or empty under its own; an answer may be too long."""
    answers = ["so", "long " * 50, None, ""]
    rows = rows_of(
        lambda place, verdict: {**flat(place, verdict), "prediction": answers[place % 4]}
    )
    write_lines(tmp_path / "run.jsonl", rows)
    listed = attempts(tmp_path)[:4]
    assert [row.get("extracted_answer", "nothing") for row in listed] == ["so", *["nothing"] * 3]
    assert [row["prediction"] for row in listed] == [*answers[:3], None]


@pytest.mark.parametrize(
    ("whole", "extracted"),
    [("raw_output", "final_answer"), ("raw_response", "predicted_index"), ("model_output", "pred")],
)
def test_the_whole_text_is_the_output_and_what_was_taken_from_it_the_answer(
    tmp_path: Path, whole: str, extracted: str
) -> None:
    """In either order of the columns; nothing may have been taken."""
    rows = rows_of(
        lambda place, verdict: {
            "id": f"q{place}",
            "answer_index": place % 4,
            extracted: place % 4 if verdict else "",
            whole: f"First 3, then {place % 4}.",
            "correct": verdict,
        }
    )
    write_lines(tmp_path / "run.jsonl", rows)
    listed = attempts(tmp_path)[:2]
    assert [words(row["response"]["output"]) for row in listed] == [
        ["First 3, then 0."],
        ["First 3, then 1."],
    ]
    assert [row.get("extracted_answer") for row in listed] == [None, "1"]
    assert [row["expected_answer"] for row in listed] == [0, 1]


def test_an_answer_keeps_the_name_of_its_column(tmp_path: Path) -> None:
    """What is shown of it is then found in the table; the output may be the answer itself."""
    rows = rows_of(
        lambda place, verdict: {
            "id": place,
            "problem": f"Why {place}?",
            "predicted_answer": "<UNKNOWN>" if place % 2 else None,
            "correct": verdict,
        }
    )
    write_lines(tmp_path / "run.jsonl", rows)
    listed = attempts(tmp_path)[:2]
    assert [row.get("predicted_answer", "nothing") for row in listed] == [None, "<UNKNOWN>"]
    assert not any("extracted_answer" in row for row in listed)


def test_what_is_measured_below_the_row(tmp_path: Path) -> None:
    """Seconds and the cost in objects, tokens in the messages of the model."""

    def conversation(place: int, verdict: bool) -> dict[str, Any]:
        usage = {"prompt_tokens": 100 + place, "completion_tokens": 10}
        asked = {"role": "user", "content": f"Question {place}?", "usage": {"prompt_tokens": 7}}
        message = {"role": "assistant", "content": "So.", "usage": usage}
        return {
            "task_id": f"q{place}",
            "messages": [asked, message, asked, message],
            "run_info": {"duration_sec": 4.5},
            "token_usage": {"cost": 0.25},
            "correct": verdict,
        }

    write_lines(tmp_path / "mine.jsonl", rows_of(conversation))
    row = attempts(tmp_path)[3]
    assert row["total_run_time"] == 4.5
    assert row["response"]["usage"] == {"input_tokens": 206, "output_tokens": 20, "cost": 0.25}


def test_why_a_grade_was_given(tmp_path: Path) -> None:
    """Beside the grade in its object, in the grader's, or named after it; never the model's own."""
    reasons: list[dict[str, Any]] = [
        {"judge": {"reason": "off by one"}},
        {"score_reason": "off by one"},
        {"grade": {"note": "", "reason": "off by one"}},
        {"reasoning": "my own steps", "reason": "of the task"},
    ]
    rows = rows_of(lambda place, verdict: {**flat(place, verdict), **reasons[place % 4]})
    write_lines(tmp_path / "run.jsonl", rows)
    listed = [attempt["score"][0].get("explanation") for attempt in attempts(tmp_path)]
    assert listed == 3 * ["off by one", "off by one", "off by one", None]


def test_flat_jsonl(tmp_path: Path) -> None:
    """An id, a prompt, an output and a boolean need no configuration."""
    write_lines(tmp_path / "mine.jsonl", rows_of(flat))
    rows = attempts(tmp_path)
    assert [row["_ng_task_index"] for row in rows] == [f"q{place}" for place in range(N_ROWS)]
    assert [row["reward"] for row in rows] == [float(verdict) for verdict in VERDICTS]
    assert words(rows[1]["responses_create_params"]["input"]) == ["What is 1+1?"]
    assert words(rows[1]["response"]["output"]) == ["2"]


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("csv", ";"), ("tsv", "\t")])
def test_cells(tmp_path: Path, ending: str, separator: str) -> None:
    """Cells may hold separators and newlines; `answer` is the key if there is a prediction."""
    rows = rows_of(
        lambda place, verdict: {
            "question": f"Which,;\tcity\nis {place}?",
            "answer": f"city{place}",
            "prediction": f"city{place}" if verdict else "none",
            "is_correct": verdict,
        }
    )
    write_cells(tmp_path / f"results.{ending}", rows, separator)
    read_rows = attempts(tmp_path)
    assert sum(row["reward"] for row in read_rows) == N_PASSED
    assert [row["expected_answer"] for row in read_rows] == [row["answer"] for row in rows]
    assert words(read_rows[2]["responses_create_params"]["input"]) == [rows[2]["question"]]
    # The heading, and the second line of each row.
    assert sum(isinstance(entry, Line) for entry in read(tmp_path)) == 1 + N_ROWS


def test_lines_of_cells(tmp_path: Path) -> None:
    """Every line of a CSV file is counted at its place: rows, rejects and others."""
    content = 'id,output,passed\na,"two\nlines",1\n\nb,x\nc,y,0\n'
    (tmp_path / "t.csv").write_text(content)
    kinds = [type(entry).__name__ for entry in read(tmp_path)]
    assert kinds == ["Line", "Row", "Line", "Line", "Reject", "Row"]
    assert len(kinds) == content.count("\n")


def runs_of(tmp_path: Path) -> dict[str | None, list[tuple[Any, float]]]:
    """The tasks and rewards of each variant."""
    runs: dict[str | None, list[tuple[Any, float]]] = {}
    for entry in read(tmp_path):
        if isinstance(entry, Row):
            attempt = entry.value["_ng_task_index"], entry.value["reward"]
            runs.setdefault(entry.variant, []).append(attempt)
    return runs


def test_rows_of_models_in_a_document(tmp_path: Path) -> None:
    """Each model has a list of rows, beside what sums it up."""
    rows = [{"case_id": f"c{place}", "is_correct": place > 1} for place in range(4)]
    models = {name: {"summary": {"n": 4}, "results": rows} for name in ("ash", "oak")}
    (tmp_path / "all.json").write_text(json.dumps(models))
    expected = [("c0", 0), ("c1", 0), ("c2", 1), ("c3", 1)]
    assert runs_of(tmp_path) == {"ash": expected, "oak": expected}


def test_models_of_tasks_in_a_document(tmp_path: Path) -> None:
    """Each task has an object per model; a name that begins with a dash below is not a task."""
    of_models = {"ash": {"passed": True, "sql": "x"}, "oak": {"passed": False, "sql": "y"}}
    tasks = {f"t{place}": {"human": {"success": True}, "models": of_models} for place in range(3)}
    (tmp_path / "all.json").write_text(json.dumps({**tasks, "_summary": {"total": 6}}))
    assert runs_of(tmp_path) == {
        "ash": [("t0", 1), ("t1", 1), ("t2", 1)],
        "oak": [("t0", 0), ("t1", 0), ("t2", 0)],
    }


def test_a_verdict_before_a_number_of_points(tmp_path: Path) -> None:
    """Points are no score beside words for a verdict; a name that two questions share no task."""
    rows = [
        {"name": "sort", "language": language, "prompt": f"in {language}", "output": "x"}
        | {"passed": 20 + place, "total": 21, "status": "PASS" if place else "FAIL"}
        for place, language in enumerate(("python", "rust"))
    ]
    write_lines(tmp_path / "all.jsonl", rows)
    ((first, reward), (second, other)) = runs_of(tmp_path)[None]
    assert (reward, other) == (0, 1) and first != second


def test_attempts_below_their_sums(tmp_path: Path) -> None:
    """Rows that sum up a benchmark have the attempts in a list of any name."""
    scores = [{"fixture_id": f"f{place}", "passed": place > 0} for place in range(3)]
    sums = [{"benchmark": name, "total": 3, "passed": 2, "tries": scores} for name in ("x", "y")]
    (tmp_path / "all.json").write_text(json.dumps({"model": "ash", "results": sums}))
    expected = [("f0", 0), ("f1", 1), ("f2", 1)]
    assert runs_of(tmp_path) == {"ash x": expected, "ash y": expected}


def test_a_model_before_its_rows(tmp_path: Path) -> None:
    """What a document says of the model holds for every row; its own figures do not."""
    rows = [{"id": f"c{place}", "output": "x", "passed": place > 0} for place in range(3)]
    document = {"model": "ash", "accuracy": 0.6, "results": rows}
    (tmp_path / "all.json").write_text(json.dumps(document))
    assert runs_of(tmp_path) == {"ash": [("c0", 0), ("c1", 1), ("c2", 1)]}


def crossed(conditions: dict[str, str]) -> list[dict[str, Any]]:
    """Two benchmarks that number their questions alike, each question under every condition."""
    return [
        {"task": benchmark, "idx": place, "question": f"{benchmark} {place}?", "correct": place > 3}
        | {"condition": condition, "status": "late" if place == 2 else "done"}
        for benchmark in ("sums", "facts")
        for condition in conditions.values()
        for place in range(6)
    ]


def test_benchmarks_and_conditions_are_runs(tmp_path: Path) -> None:
    """What every task has as often of each value distinguishes runs; an outcome does not."""
    write_lines(tmp_path / "all.jsonl", crossed({"a": "plain", "b": "steps"}))
    runs = runs_of(tmp_path)
    assert set(runs) == {"sums plain", "sums steps", "facts plain", "facts steps"}
    assert runs["sums plain"] == runs["sums steps"] != runs["facts plain"]
    assert [reward for _, reward in runs["sums plain"]] == [0, 0, 0, 0, 1, 1]


def test_benchmarks_that_number_tasks_alike(tmp_path: Path) -> None:
    """An id identifies the task of its benchmark, though another benchmark has it as well."""
    rows = [
        {"dataset": name, "id": place, "prompt": f"{name} {place}?", "passed": place > 0}
        for name in ("sums", "facts")
        for place in range(3)
    ]
    write_lines(tmp_path / "all.jsonl", rows)
    expected = [(0, 0), (1, 1), (2, 1)]
    assert runs_of(tmp_path) == {"sums": expected, "facts": expected}


def test_names_of_single_rows_are_no_benchmarks(tmp_path: Path) -> None:
    """A column that could be of benchmarks, and names every row, distinguishes no runs."""
    rows = [{**flat(place, place > 1), "task": f"t{place}"} for place in range(6)]
    write_lines(tmp_path / "all.jsonl", rows)
    assert [len(attempts_of_run) for attempts_of_run in runs_of(tmp_path).values()] == [6]


def test_uneven_values_are_fields(tmp_path: Path) -> None:
    """A value that one task has more often than another is no condition."""
    rows = crossed({"a": "plain", "b": "steps"})
    rows[0]["condition"] = "steps"
    write_lines(tmp_path / "all.jsonl", rows)
    assert set(runs_of(tmp_path)) == {"sums", "facts"}


@pytest.mark.parametrize(("n_again", "n_runs"), [(1, 2), (4, 1)])
def test_a_row_that_was_written_again_leaves_conditions(
    tmp_path: Path, n_again: int, n_runs: int
) -> None:
    """A column distinguishes runs if nearly every task has as many rows of each value."""
    rows = [
        {"id": f"t{place}", "prompt": f"{place}?", "correct": place % 3 > 0, "search": search}
        for place in range(40)
        for search in ("web", "wiki")
    ]
    again = [{**row, "correct": None} for row in rows[:: 2 * 3][:n_again]]
    write_lines(tmp_path / "all.jsonl", rows + again)
    assert len(runs_of(tmp_path)) == n_runs


@pytest.mark.parametrize(
    ("folder", "models", "benchmark"),
    [
        ("capitals", ("alpha", "beta"), "capitals"),
        ("outputs", ("alpha", "beta"), "results"),
        ("capitals", (None, None), "capitals"),
        ("capitals", ("alpha", "alpha"), "first"),
    ],
)
def test_runs_of_different_models_are_of_the_benchmark_of_their_folder(
    tmp_path: Path, folder: str, models: tuple[str | None, str | None], benchmark: str
) -> None:
    """Where nothing names it, the folder does, or the one above `results`; runs may name models."""
    files = {
        f"{name}.jsonl": [flat(place, place > 3) | {"model": model} for place in range(6)]
        for name, model in zip(("first", "second"), models, strict=True)
    }
    results = analyzed(tmp_path / folder, files, needs=("runs",))
    assert results.rows("select run_id, benchmark from runs order by 1") == [
        ("first", benchmark),
        ("second", benchmark),
    ]


def test_sets_of_settings_are_runs(tmp_path: Path) -> None:
    """An object of settings says how attempts at the same tasks were made, each alike or not."""
    configs = [
        {"search": search, "rerank": rerank, "top_k": 5, "model": "m"}
        for search in ("web", "wiki")
        for rerank in (True, False)
    ]
    rows = [
        {"prompt": f"What is {place}?", "passed": place > 2, "run_index": repeat, "config": config}
        for config in configs
        for place in range(6)
        for repeat in (1, 2)
    ]
    write_lines(tmp_path / "all.jsonl", rows[:-8])
    counts = {name: len(attempts) for name, attempts in runs_of(tmp_path).items()}
    assert counts == {"m web rerank": 12, "m web": 12, "m wiki rerank": 12, "m wiki": 4}


def test_short_texts_and_switches_beside_rows_are_settings(tmp_path: Path) -> None:
    """What is null is not set; counts, measures, times and places do not say how rows were made."""
    rows = rows_of(lambda place, verdict: {"prompt": f"{place}?", "output": "x", "ok": verdict})
    about = {
        "adapter": "tuned",
        "judge": "gpt-4o-2024-08-06",
        "greedy": True,
        "lora": None,
        "top_p": 1,
    }
    others = {
        "accuracy": 0.5,
        "n": 12,
        "date": "2026-01-02",
        "started": "20260102T10",
        "passed": True,
    }
    document = {"model": "m", **about, **others, "log_path": "a.txt", "records": rows}
    (tmp_path / "tuned.json").write_text(json.dumps(document))
    (artifact,) = discover.artifacts((tmp_path,))
    settings = {one.name: one.value for one in own_table.read(artifact) if isinstance(one, Setting)}
    del settings["read_as"]
    assert settings == {
        "adapter": "tuned",
        "judge": "gpt-4o-2024-08-06",
        "greedy": "true",
        "lora": "not set",
        "top_p": "1",
    }


def test_settings_of_tasks_are_fields(tmp_path: Path) -> None:
    """Settings that go with the task distinguish no runs."""
    rows = [
        {**flat(place, place > 3), "config": {"level": f"level {place % 2}", "top_k": place}}
        for place in range(12)
    ]
    write_lines(tmp_path / "all.jsonl", rows)
    assert [len(attempts_of_run) for attempts_of_run in runs_of(tmp_path).values()] == [12]


def test_models_are_runs(tmp_path: Path) -> None:
    """Rows of two models are two runs of the same tasks."""
    table = {
        "question_id": [*range(N_ROWS)] * 2,
        "question": [f"Q{place}" for place in range(N_ROWS)] * 2,
        "model_name": ["x"] * N_ROWS + ["y"] * N_ROWS,
        "exact_match": [float(verdict) for verdict in VERDICTS] * 2,
    }
    pq.write_table(pa.table(table), tmp_path / "eval.parquet")
    entries = [entry for entry in read(tmp_path) if isinstance(entry, Row)]
    assert [entry.variant for entry in entries] == table["model_name"]
    assert [entry.value["_ng_task_index"] for entry in entries] == table["question_id"]


LIST = {"name": "bash", "arguments": '{"cmd": "ls"}'}


@pytest.mark.parametrize(
    "asked", [{"tool_calls": [{"id": "c1", "function": LIST}]}, {"tool_call": LIST}]
)
def test_messages(tmp_path: Path, asked: dict[str, Any]) -> None:
    """A chat is split at the first answer; its calls and results are steps."""
    chat = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "list"},
        {"role": "assistant", **asked},
        {"role": "tool", "tool_call_id": "c1", "content": "file"},
        {"role": "assistant", "content": "done"},
    ]
    rows = [
        {"instance_id": f"i{place}", "attempt": repeat, "trajectory": chat, "resolved": True}
        for place in range(3)
        for repeat in (1, 2)
    ]
    write_lines(tmp_path / "agent.jsonl.gz", rows)
    first = attempts(tmp_path)[0]
    assert first["_ng_rollout_index"] == 1
    assert words(first["responses_create_params"]["input"]) == ["be brief", "list"]
    kinds = [item["type"] for item in first["response"]["output"]]
    assert kinds == ["function_call", "function_call_output", "message"]


def test_choices(tmp_path: Path) -> None:
    """A stored chat completion is the answer to its messages."""
    message = {"role": "assistant", "content": "yes"}
    rows = rows_of(
        lambda place, verdict: {
            "custom_id": f"r{place}",
            "messages": [{"role": "user", "content": f"q{place}"}],
            "response": {"choices": [{"message": message}], "model": "m"},
            "grade": int(verdict),
        }
    )
    write_lines(tmp_path / "log.jsonl", rows)
    first = attempts(tmp_path)[0]
    assert first["_ng_task_index"] == "r0"
    assert words(first["response"]["output"]) == ["yes"]


@pytest.mark.parametrize(
    "document",
    [
        rows_of(flat),
        {"model": "m", "results": rows_of(flat)},
        {row.pop("id"): row for row in rows_of(flat)},
        {"columns": [*rows_of(flat)[0]], "data": [[*row.values()] for row in rows_of(flat)]},
        {"model": "m", "asked": rows_of(flat)},
    ],
    ids=[
        "a list",
        "a list inside an object",
        "rows by id",
        "columns and data",
        "a list under any name",
    ],
)
def test_documents(tmp_path: Path, document: Any) -> None:
    """A JSON document may have its rows in any of these shapes."""
    (tmp_path / "answers.json").write_text(json.dumps(document))
    rows = attempts(tmp_path)
    assert [row["_ng_task_index"] for row in rows] == [f"q{place}" for place in range(N_ROWS)]
    assert sum(row["reward"] for row in rows) == N_PASSED


def test_nested_score(tmp_path: Path) -> None:
    """A score inside an object is found, and other scores are kept beside it."""
    rows = rows_of(
        lambda place, verdict: {
            "task_id": f"T/{place}",
            "completion": "x",
            "metrics": {"accuracy": int(verdict), "f1": 0.5},
        }
    )
    write_lines(tmp_path / "he.jsonl", rows)
    first = attempts(tmp_path)[1]
    assert first["reward"] == 1.0
    assert first["score"] == [{"name": "metrics.accuracy", "score": 1.0}]
    assert first["scores"] == [{"name": "metrics.f1", "score": 0.5}]


def test_repeated_prompts(tmp_path: Path) -> None:
    """Ids of rows are not tasks if the same prompt has several."""
    rows = [{"id": n, "prompt": f"{n % 4}?", "response": "r", "score": 1.0} for n in range(12)]
    write_lines(tmp_path / "step.jsonl", rows)
    assert len({row["_ng_task_index"] for row in attempts(tmp_path)}) == 4


def test_wrong_numbering(tmp_path: Path) -> None:
    """A column that gives two rows of a task one number does not number its repeats."""
    rows = [{"task": f"t{n % 3}", "seed": n % 2, "passed": True} for n in range(12)]
    write_lines(tmp_path / "seeds.jsonl", rows)
    assert not any("_ng_rollout_index" in row for row in attempts(tmp_path))


def test_numbering_of_later_rows(tmp_path: Path) -> None:
    """Numbers that repeat after the rows that columns are recognised from drop no row."""
    once = [{"task": f"t{n // 2}", "trial": n % 2, "passed": True} for n in range(400)]
    write_lines(tmp_path / "trials.jsonl", once)
    assert [row["_ng_rollout_index"] for row in attempts(tmp_path)] == [0, 1] * 200
    write_lines(tmp_path / "trials.jsonl", [*once, {**once[-1], "passed": False}])
    again = attempts(tmp_path)
    assert len(again) == 401 and not any("_ng_rollout_index" in row for row in again)


def test_names_of_problems(tmp_path: Path) -> None:
    """A word for the problem is the task, and one for the kind of prompt is no prompt."""
    rows = [
        {"problem": f"p{n // 2}_sort", "prompt": "base", "sample": n % 2, "verified": n % 3 > 0}
        for n in range(12)
    ]
    write_lines(tmp_path / "x.jsonl", rows)
    columns = recognise(rows, {})
    assert columns == {"score": ("verified",), "task": ("problem",), "repeat": ("sample",)}
    assert {row["_ng_task_index"] for row in attempts(tmp_path)} == {f"p{n}_sort" for n in range(6)}


def test_other_spellings(tmp_path: Path) -> None:
    """What is measured is found however its column is spelled."""
    row = {"id": 1, "passed": True, "wallMs": 1500, "inputTokens": 7, "finishReason": "length"}
    write_lines(tmp_path / "x.jsonl", [{**row, "id": number} for number in range(3)])
    first = attempts(tmp_path)[0]
    assert first["total_run_time"] == 1.5 and first["finish_reason"] == "length"
    assert first["response"]["usage"] == {"input_tokens": 7}


@pytest.mark.parametrize(
    ("measured", "usage", "seconds"),
    [
        (
            {"runtime_sec": 2.5, "use": {"plan_prompt_tokens": 3, "prompt_tokens": 7}},
            {"input_tokens": 7},
            2.5,
        ),
        (
            {"totalLatencyMs": 500, "total_output_tokens": 9, "plan_output_tokens": 3},
            {"output_tokens": 9},
            0.5,
        ),
        ({"time_taken_seconds": 2.5}, None, 2.5),
        ({"input_tokens": 2, "cache_read_input_tokens": 5}, {"input_tokens": 7}, None),
        ({"input_tokens": 9, "cache_read_input_tokens": 5}, {"input_tokens": 9}, None),
        ({"duration_in_s": 1.5}, None, 1.5),
        ({"timeout_sec": 60, "max_output_tokens": 100, "cached_input_tokens": 5}, None, None),
        ({"first_token_latency_ms": 5}, None, None),
    ],
    ids=[
        "parts",
        "total",
        "taken",
        "beside a cache",
        "with a cache",
        "in seconds",
        "limits",
        "a part of the time",
    ],
)
def test_what_is_measured_by_the_last_words_of_names(
    tmp_path: Path, measured: dict[str, Any], usage: dict[str, int] | None, seconds: float | None
) -> None:
    """A limit is not measured, nor is one part the tokens or the time."""
    rows = [{"id": place, "passed": True, **measured} for place in range(3)]
    write_lines(tmp_path / "x.jsonl", rows)
    first = attempts(tmp_path)[0]
    assert first.get("total_run_time") == seconds
    assert first["response"].get("usage") == usage


@pytest.mark.slow
def test_tables_without_scores_are_warned_of_once(tmp_path: Path) -> None:
    """One line for all of them, with the largest."""
    write_lines(
        tmp_path / "results.jsonl", rows_of(lambda place, verdict: {"id": place, "passed": verdict})
    )
    for name in ("log_a", "log_b", "log_c"):
        write_lines(tmp_path / f"{name}.jsonl", [{"line": "one"}] * (5 if name == "log_b" else 2))
    with only(*CHECKED):
        notices = pipeline.analyze(tmp_path, out=tmp_path / "out").warnings
    (message,) = (notice.message for notice in notices if "not read" in notice.message)
    assert message == (
        "not read: it is a table without a column of scores; "
        "if one has them, name it with --field (and 2 other files, 144 bytes in all)"
    )
    (subject,) = (notice.subject for notice in notices if "not read" in notice.message)
    assert subject == "log_b.jsonl"


def test_a_table_without_scores_beside_others(tmp_path: Path) -> None:
    """It is skipped with the reason, never passed over in silence."""
    scored = rows_of(lambda place, verdict: {"id": place, "prompt": "p q", "passed": verdict})
    write_lines(tmp_path / "a.jsonl", scored)
    write_lines(tmp_path / "b.jsonl", [{"id": place, "words": "x"} for place in range(3)])
    write_lines(tmp_path / "c.jsonl", [{"id": place, "still_passes": True} for place in range(3)])
    skipped = {
        artifact.name: artifact.skipped
        for artifact in discover.artifacts((tmp_path,))
        if artifact.kind is Kind.SKIPPED
    }
    assert list(skipped) == ["b.jsonl", "c.jsonl"]
    assert "without a column" in str(skipped["b.jsonl"])
    assert "; still_passes is true or false; if" in str(skipped["c.jsonl"])


def test_a_document_without_attempts_beside_others_says_so(tmp_path: Path) -> None:
    """A model whose list is empty was to be run; what names no run is a setting."""
    for name, rows in (("a", rows_of(flat)), ("b", [])):
        document = {"model": name, "overall_pass_rate": 0.0, "results": rows}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    (tmp_path / "c.json").write_text(json.dumps({"path": "x", "items": []}))
    skipped = {one.name: one.skipped for one in discover.artifacts((tmp_path,))}
    reason = "has no attempts: its `results` are empty"
    assert skipped == {"a.json": None, "b.json": reason, "c.json": None}


@pytest.mark.parametrize("has_answers", [True, False], ids=["beside answers", "alone"])
def test_questions_and_calls_are_no_attempts_beside_answers(
    tmp_path: Path, has_answers: bool
) -> None:
    """A set of questions says who wrote them, a log that a call had no error; alone they are read.

    Where a success is more than that there was no error, it is a score, and so is that of a result.
    """
    questions = [
        {
            "id": f"q{n}",
            "question": f"Which of these is {n}?",
            "correct_answer": "AB"[n % 2],
            "suggested_answer": {"answer": "B", "is_correct": n % 2 > 0},
            "generation_method": "by hand",
            "metadata": {"model": "writer"},
        }
        for n in range(12)
    ]
    calls = [
        {
            "call_id": f"c{n}",
            "model": "m",
            "messages": [{"role": "user", "content": f"What is {n}?"}],
            "response": None if n % 4 == 0 else "So.",
            "error": "time is up" if n % 4 == 0 else None,
            "success": n % 4 > 0,
        }
        for n in range(12)
    ]
    graded = [
        {"result" if name == "suggested_answer" else name: one for name, one in row.items()}
        for row in questions
    ]
    write_lines(tmp_path / "graded.jsonl", [{**row, "id": f"g{row['id']}"} for row in graded])
    write_lines(tmp_path / "questions.jsonl", questions)
    write_lines(tmp_path / "calls.jsonl", calls)
    write_lines(
        tmp_path / "tried.jsonl", [{**row, "model": "other", "error": None} for row in calls]
    )
    if has_answers:
        write_lines(tmp_path / "answers.jsonl", rows_of(flat))
    skipped = {one.name: one.skipped for one in discover.artifacts((tmp_path,))}
    names = ("questions", "calls", "tried", "graded")
    assert [skipped.get(f"{name}.jsonl") for name in names] == (
        [own_table.QUESTIONS, own_table.CALLS, None, None] if has_answers else [None] * 4
    )


def test_words() -> None:
    """Verdicts in words are scores; other words are not, and are not zero."""
    assert [score_of(word) for word in ("PASS", "Failed", "yes", "N/A", "", None)] == [
        1.0,
        0.0,
        1.0,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize("grades", ["A B C", "CORRECT INCORRECT NOT_ATTEMPTED"])
@pytest.mark.parametrize("chosen", [{}, {"score": "grade"}])
def test_grades_of_simple_qa(tmp_path: Path, grades: str, chosen: dict[str, str]) -> None:
    """In its columns A passes, B and C do not, and which of them it was stays a field."""
    listed = [*grades.split(), None]
    rows = [
        {"problem": f"Who is {n}?", "target": "x", "predicted_answer": "y", "grade": listed[n]}
        for n in range(4)
    ]
    write_lines(tmp_path / "run.jsonl", rows)
    read_rows = attempts(tmp_path, **chosen)
    assert [row["reward"] for row in read_rows] == [1, 0, 0, None]
    assert [row.get("grade") for row in read_rows] == listed
    # With another letter, or a column less, they are no grades of SimpleQA.
    for others in (
        [*rows, {**rows[0], "grade": "D"}],
        [dict(list(row.items())[1:]) for row in rows],
    ):
        assert recognise(others, {}).get("score") != ("grade_is_correct",)


def test_words_that_are_no_scores(tmp_path: Path) -> None:
    """They are named where a user chose their column, and stay fields of the rows."""
    rows = [{"id": f"q{n}", "output": "x", "level": f"L{n % 7}"} for n in range(14)]
    rows.append({"id": "q14", "output": "x", "level": 1})
    write_lines(tmp_path / "run.jsonl", rows)
    (artifact,) = discover.artifacts((tmp_path,), table_fields={"score": "level"})
    (reading,) = own_table.readings([artifact])
    assert "score = level (number; no scores: L0, L1, L2, L3, L4 and 2 more)" in reading
    some = [{"id": n, "output": "x", "correct": "N/A" if n == 2 else n > 3} for n in range(6)]
    assert "score = correct (boolean; no scores: N/A)" in described(recognise(some, {}), [], some)
    words = [{"id": place, "status": word} for place, word in enumerate(["pass", "fail", "late"])]
    read_as = described(recognise(words, {"score": "status"}), [], words, is_word=True)
    assert "score = status (words; no pass: late)" in read_as
    read_rows = attempts(tmp_path, score="level")
    assert [(row["reward"], row["level"]) for row in read_rows[:2]] == [(None, "L0"), (None, "L1")]


def test_correct_may_be_the_key() -> None:
    """A column named `correct` with letters is the key, not the score."""
    table = [{"id": n, "answer": "A", "correct": "B", "score": n % 2} for n in range(4)]
    columns = recognise(table, {})
    assert (columns["key"], columns["score"]) == (("correct",), ("score",))


def test_what_an_output_was_taken_from_is_no_key() -> None:
    """An `answer` that has the output in it, also where that is wrong, is what the model wrote."""

    def row(place: int, verdict: bool, key: str) -> dict[str, Any]:
        return {"id": place, "question": "q", "pred": str(place), "answer": key, "correct": verdict}

    thought = "First I count them, then I add what is left. So I think that it is"
    for write in (lambda place: f"{thought} {place}.", str):
        written = rows_of(lambda place, verdict, write=write: row(place, verdict, write(place)))
        columns = recognise(written, {})
        assert (columns["output"], columns.get("key")) == (("answer",), None)
    # Another answer, several of which one was given, or mostly the same under a wrong verdict.
    for other in (lambda _: "99", lambda place: f"{place}, 99", lambda place: str(max(place, 3))):
        keys = rows_of(
            lambda place, verdict, other=other: row(
                place, verdict, str(place) if verdict else other(place)
            )
        )
        columns = recognise(keys, {})
        assert (columns["output"], columns["key"]) == (("pred",), ("answer",))


@pytest.mark.parametrize(
    ("partial", "column"), [(0.5, ("original_reward",)), (1, None)], ids=["one", "two"]
)
def test_the_only_verdict_that_is_named_like_a_score(
    partial: float, column: tuple[str, ...] | None
) -> None:
    """Of rewards with a word before, the one that is 0 or 1; none where two are."""
    table = rows_of(
        lambda place, verdict: {
            "task_id": place,
            "original_reward": float(verdict),
            "tool_reward": partial * (place % 2),
        }
    )
    assert recognise(table, {}).get("score") == column


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"refusal_correct": True, "leakage_score": 0, "style_score": 1}, ("refusal_correct",)),
        ({"leakage": {"score": 0}, "refusal_correct": True}, ("refusal_correct",)),
        ({"answer_correct": 1, "refusal_correct": True}, None),
    ],
    ids=["a verdict and points", "points in an object", "two verdicts"],
)
def test_a_verdict_is_the_score_before_points_and_what_is_worse_is_none(
    row: dict[str, Any], column: tuple[str, ...] | None
) -> None:
    """A verdict may be on a refusal; a score of what should not happen is no score."""
    opposite = {
        name: {"score": 1} if isinstance(value, dict) else not value for name, value in row.items()
    }
    table = rows_of(lambda place, verdict: {"task_id": place, **(row if verdict else opposite)})
    assert recognise(table, {}).get("score") == column


def test_the_score_is_the_column_whose_mean_a_summary_has(tmp_path: Path) -> None:
    """Of two graders, in one folder alone; the other column is named."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        rows = [{**judged_twice(n, "rule_correct", "judge"), "answer": str(n)} for n in range(30)]
        write_lines(tmp_path / folder / "all.jsonl", rows)
    with pytest.raises(InputError, match="two columns that judge attempts differently"):
        discover.artifacts((tmp_path,))
    (tmp_path / "a" / "summary.json").write_text(json.dumps({"n": 30, "share_judged": 0.5}))
    with pytest.raises(InputError, match="two columns that judge attempts differently"):
        discover.artifacts((tmp_path,))
    (tmp_path / "a" / "summary.json").write_text(json.dumps({"overall": {"accuracy": 51.85}}))
    assert all("score = judge.eval (words;" in one for one in read_as(tmp_path).values())
    (tmp_path / "a" / "summary.json").write_text(json.dumps({"accuracy": 0.5, "judged": 30}))
    readings = read_as(tmp_path)
    expected = "score = rule_correct (boolean; may be judge.eval instead)"
    assert [expected in one for one in readings.values()] == [True, True]


@pytest.mark.parametrize(
    ("row", "is_task"),
    [({"key": "x"}, False), ({"meta": {"target": 7}}, False), ({}, False), ({"trial": 0}, True)],
)
def test_a_constant_is_no_task(row: dict[str, Any], is_task: bool) -> None:
    """One word in all rows names their benchmark, unless they are numbered."""

    def differing(value: Any, n: int) -> Any:
        if isinstance(value, dict):
            return {name: differing(one, n) for name, one in value.items()}
        return f"{value}{n}" if isinstance(value, str) else value + n

    table = [
        {"task": "sums", "correct": n % 3 > 0, "output": f"so {n}"} | differing(row, n)
        for n in range(6)
    ]
    columns = recognise(table, {})
    assert columns["task" if is_task else "benchmark"] == ("task",)
    assert is_task is ("benchmark" not in columns)
    # An id of nothing but tasks stays one.
    renamed = [{"task_id": one["task"], **one, "task": "sums"} for one in table]
    assert recognise(renamed, {})["task"] == ("task_id",)


def read_as(folder: Path, **chosen: str) -> dict[str, str]:
    """How each table of a folder is read."""
    artifacts = discover.artifacts((folder,), table_fields=chosen)
    tables = [one for one in artifacts if one.format == "own_table"]
    return {
        name: description
        for description, names in own_table.readings(tables).items()
        for name in names
    }


def test_columns_are_the_same_in_all_tables_that_have_them(tmp_path: Path) -> None:
    """A verdict that is the only one to vary in one table is a part in another."""
    for name, apart in (("a", False), ("b", True)):
        rows = [
            {"task_id": place, "first_passed": not apart or place > 2, "last_passed": place > 1}
            for place in range(6)
        ]
        write_lines(tmp_path / f"{name}.jsonl", rows)
    with pytest.raises(InputError, match="several columns that may be the score"):
        discover.artifacts((tmp_path,))
    assert set(read_as(tmp_path, score="last_passed")) == {"a.jsonl", "b.jsonl"}


def test_counts_of_passes_are_no_verdicts(tmp_path: Path) -> None:
    """Not of one sample either, so that files with the same columns are read alike."""
    for n_samples in (1, 4):
        counts = [{"i": n, "extracted": ["7"] * n_samples, "n_correct": n % 2} for n in range(8)]
        counts[0]["n_correct"] = n_samples
        document = {"model": "m", "k": n_samples, "results": counts}
        (tmp_path / f"k{n_samples}.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"counts of passes \(n_correct\)"):
        discover.artifacts((tmp_path,))
    write_lines(tmp_path / "mine.jsonl", rows_of(flat))
    reasons = {one.name: one.skipped for one in discover.artifacts((tmp_path,))}
    counted = "has counts of passes (n_correct), not a verdict of each attempt"
    assert reasons == {"k1.json": counted, "k4.json": counted, "mine.jsonl": None}


def test_samples_below_a_count_of_passes_are_attempts(tmp_path: Path) -> None:
    """They are of the task that is beside the count."""
    samples = [{"output": "7", "correct": True}, {"output": "8", "correct": False}]
    counts = [{"task_id": f"t{n}", "n_correct": 1, "samples": samples} for n in range(2)]
    (tmp_path / "k2.json").write_text(json.dumps({"results": counts}))
    assert runs_of(tmp_path) == {None: [("t0", 1), ("t0", 0), ("t1", 1), ("t1", 0)]}


def test_tables_of_several_folders_are_decided_together(tmp_path: Path) -> None:
    """A word beside pass and fail is no pass, also where a table has no other; null is unscored."""
    words = {"m1": "pass fail fail pass timeout", "m2": "partial fail partial pass skipped"}
    for model, statuses in words.items():
        rows: list[dict[str, Any]] = [
            {"id": f"t{n}", "status": word, "points": 50, "judge": {"verdict": "PASS"}}
            for n, word in enumerate([*statuses.split(), None])
        ]
        rows[0]["skills"] = ["x"]
        (tmp_path / model / "office").mkdir(parents=True)
        (tmp_path / model / "office" / "summary.json").write_text(json.dumps({"results": rows}))
    artifacts = discover.artifacts((tmp_path,))
    assert [artifact.format for artifact in artifacts] == ["own_table", "own_table"]
    rewards = [
        [one.value["reward"] for one in own_table.read(artifact) if isinstance(one, Row)]
        for artifact in artifacts
    ]
    assert rewards == [[1, 0, 0, 1, 0, None], [0, 0, 0, 1, None, None]]


def test_a_table_without_any_verdict_is_read_like_its_siblings(tmp_path: Path) -> None:
    """Its attempts are unscored."""
    for name, verdict in (("a", True), ("b", None)):
        rows = [{"task_id": place, "passed": verdict, "error": "x"} for place in range(4)]
        write_lines(tmp_path / f"{name}.jsonl", rows)
    assert set(read_as(tmp_path)) == {"a.jsonl", "b.jsonl"}


def timed(model: str, places: Iterable[int]) -> list[dict[str, Any]]:
    """Attempts of two levels with five rounds each, and when they were made."""
    return [
        {"model": model, "level": place // 5, "round": place % 5, "passed": place > 3}
        | {"tokens": 99 * len(model) + place, "elapsed_seconds": place + len(model) / 7}
        | {"at": f"2026-01-0{len(model)}T10:00:{place:02}Z"}
        for place in places
    ]


def test_a_table_without_tasks_is_refused(tmp_path: Path) -> None:
    """Scores alone are not enough; the message says how to name what identifies a task."""
    write_lines(tmp_path / "all.jsonl", [*timed("ash", range(10)), *timed("maple", range(10))])
    with pytest.raises(InputError, match="neither a prompt, nor an answer") as refusal:
        read(tmp_path)
    assert "--field task=COLUMN" in str(refusal.value.hint)


def test_several_verdicts_are_refused(tmp_path: Path) -> None:
    """Nothing says which of them is the whole; both are proposed."""
    rows = [
        {"task_id": place, "build_passed": place % 4 > 0, "tests_passed": place % 4 > 1}
        for place in range(20)
    ]
    write_lines(tmp_path / "all.jsonl", rows)
    with pytest.raises(InputError, match=r"score \(build_passed, tests_passed\)"):
        read(tmp_path)


def test_a_time_is_no_task(tmp_path: Path) -> None:
    """Of one model alone nothing says what identifies a task."""
    write_lines(tmp_path / "all.jsonl", timed("ash", range(10)))
    assert "task" not in recognise(timed("ash", range(10)), {})


def test_single_rows_of_another_table_are_counted_once(tmp_path: Path) -> None:
    """Each is a reject that names the row, though that has more columns: their times are equal."""
    rows = [{**row, "task_id": place} for place, row in enumerate(timed("ash", range(14)))]
    write_lines(tmp_path / "all.jsonl", [{**row, "mode": "tool"} for row in rows[:10]])
    write_lines(tmp_path / "early.jsonl", rows[2:])
    write_lines(tmp_path / "part.jsonl", rows[:3])
    artifacts = discover.artifacts((tmp_path,))
    kinds = {one.name: one.kind for one in artifacts}
    assert kinds["part.jsonl"] is Kind.SKIPPED
    (early,) = (one for one in artifacts if one.name == "early.jsonl")
    found = [one for one in own_table.read(early) if isinstance(one, Row | Reject)]
    assert [type(one) for one in found] == [Reject] * 8 + [Row] * 4
    assert found[0] == Reject("repeats the row all.jsonl:3")


def test_a_condition_of_some_models(tmp_path: Path) -> None:
    """A model may have one condition alone; where it has two, its tasks have both."""
    rows = [
        {"task_id": f"t{place}", "model": model, "mode": mode, "passed": place > 2}
        for model, mode in (("ash", "tool"), ("ash", "text"), ("oak", "tool"))
        for place in range(6)
    ]
    write_lines(tmp_path / "all.jsonl", rows)
    assert set(runs_of(tmp_path)) == {"ash tool", "ash text", "oak tool"}


def test_conditions_in_an_object_that_are_not_alike_often(tmp_path: Path) -> None:
    """Every task once with nothing and twice with a document; one attempt broke down without it."""
    conditions = [("none", "control"), ("short", "control"), ("short", "attack")]
    rows: list[dict[str, Any]] = [
        {"task_id": f"t{n}", "metadata": {"document": document, "mode": mode}, "passed": n > 9}
        for document, mode in conditions
        for n in range(60)
    ]
    write_lines(tmp_path / "all.jsonl", [*rows, {"task_id": "t0", "passed": False}])
    n_attempts = {name: len(found) for name, found in runs_of(tmp_path).items()}
    assert n_attempts.pop("none control") == n_attempts.pop("short attack") == 60
    assert n_attempts.pop("short control") == 60 and list(n_attempts.values()) == [1]


@pytest.mark.parametrize(
    "make",
    [
        lambda place, verdict: {"id": place, "output": "x", "success": verdict},
        lambda place, _: {"task_id": place, "prompt": "p", "success": True},
        lambda place, verdict: {"task_id": place, "result": {"success": verdict}},
    ],
    ids=["an id", "all succeed", "in an object"],
)
def test_steps_and_requests_are_no_attempts(tmp_path: Path, make: Any) -> None:
    """Objects in a list under any name are attempts only if they name tasks, pass and fail."""
    steps = rows_of(make)
    (tmp_path / "session.json").write_text(json.dumps({"session": "s", "steps": steps}))
    with pytest.raises(InputError):
        discover.artifacts((tmp_path,))


@pytest.mark.parametrize("number", ["step_num", "step", "turn_idx"])
def test_numbered_steps_are_no_attempts(tmp_path: Path, number: str) -> None:
    """Rows that count the steps of one attempt are listed as not read, beside a table that is."""
    steps = [{number: n - n // 4, "action": f"click {n}", "reward": 0} for n in range(6)]
    for name, rows in {
        "a": steps,
        "b": [{**one, number: n} for n, one in enumerate(steps)],
    }.items():
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "trace.jsonl", rows)
    (tmp_path / "c").mkdir()
    write_lines(tmp_path / "c" / "trace.jsonl", steps[:1])
    with pytest.raises(InputError, match="has rows that are steps of one attempt"):
        discover.artifacts((tmp_path,))
    write_lines(tmp_path / "run.jsonl", rows_of(flat))
    artifacts = discover.artifacts((tmp_path,))
    assert [one.kind for one in artifacts] == [*[Kind.SKIPPED] * 3, Kind.ROLLOUTS]
    assert {one.skipped for one in artifacts[:3]} == {"has rows that are steps of one attempt"}


@pytest.mark.parametrize(
    "more", [{"task_id": "t"}, {"prompt": "Why?"}, {"step": 5}], ids=["task", "prompt", "jumps"]
)
def test_rows_of_training_are_attempts(tmp_path: Path, more: dict[str, Any]) -> None:
    """A number of a step beside a task or a question, or one that does not count, is a field."""

    def sampled(n: int) -> dict[str, Any]:
        row = {"step": n, "response": "so", "score": n % 2}
        return row | {k: v * (n + 1) for k, v in more.items()}

    write_lines(tmp_path / "run.jsonl", [sampled(n) for n in range(6)])
    assert [one.kind for one in discover.artifacts((tmp_path,))] == [Kind.ROLLOUTS]


@pytest.mark.parametrize("is_same", [True, False], ids=["same", "other"])
def test_a_summary_of_a_table_is_not_read_again(tmp_path: Path, is_same: bool) -> None:
    """Fewer columns with the same times; verdicts alone may be those of another run."""
    rows = rows_of(
        lambda place, verdict: {
            "id": place,
            "passed": verdict,
            "seconds": 0.1 + place,
            "task": {"query": f"What is {place}?"},
        }
    )
    write_lines(tmp_path / "results.jsonl", rows)
    shift = 0 if is_same else 0.05
    summary = [
        {"Task ID": row["id"], "Success": row["passed"], "Time": row["seconds"] + shift}
        for row in rows
    ]
    write_cells(tmp_path / "summary.csv", summary, ",")
    kinds = {one.name: one.kind for one in discover.artifacts((tmp_path,))}
    assert kinds["results.jsonl"] is Kind.ROLLOUTS
    assert kinds["summary.csv"] is (Kind.SKIPPED if is_same else Kind.ROLLOUTS)


def by_methods(n: int) -> dict[str, Any]:
    """Two methods at one question; one has its answer in the output, and fails every third."""
    return {
        "id": n,
        "question": f"What is {n}+{n}?",
        "answer": str(2 * n),
        "direct": {"generation": [f"{2 * n}"], "answer": str(2 * n), "score": 1},
        "cot": {"generation": [f"So {n}."], "answer": str(n), "score": int(n % 3 > 0)},
        "about": {"level": "easy", "source": "made", "lines": n},
    }


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_objects_of_a_row_that_are_attempts_are_of_several_runs(
    tmp_path: Path, ending: str
) -> None:
    """Each with its own output and answer, and what the row says of the task."""
    rows = [by_methods(n) for n in range(12)]
    if ending == "json":
        (tmp_path / "all.json").write_text(json.dumps(rows))
    else:
        write_lines(tmp_path / "all.jsonl", rows)
    own: dict[str | None, list[Any]] = {}
    for one in read(tmp_path):
        own.setdefault(one.variant, []).append(one.value)
    assert {name: len(values) for name, values in own.items()} == {"direct": 12, "cot": 12}
    assert [value["reward"] for value in own["cot"]] == [0, 1, 1] * 4
    cot = own["cot"][4]
    assert (cot["_ng_task_index"], cot["expected_answer"]) == (4, "8")
    assert (words(cot["response"]["output"]), cot["extracted_answer"]) == (["So 4."], "4")
    assert cot["about"] == rows[4]["about"]


@pytest.mark.parametrize(
    "change",
    [
        lambda row: {**row, "correct": True},
        lambda row: {**row, "response": "8"},
        lambda row: {**row, "cot": {"score": 1, "reason": "so"}, "direct": row["cot"]},
        lambda row: {**row, "id": None, "question": None},
    ],
    ids=["a verdict of the row", "an output of the row", "other fields", "no task"],
)
def test_other_objects_of_a_row_are_no_attempts(
    tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Judges of one answer have scores as well."""
    write_lines(tmp_path / "all.jsonl", [change(by_methods(n)) for n in range(12)])
    assert len(sample(tmp_path / "all.jsonl")) == 12


def test_the_score_of_one_object_may_be_named(tmp_path: Path) -> None:
    write_lines(tmp_path / "all.jsonl", [by_methods(n) for n in range(12)])
    rewards = [row["reward"] for row in attempts(tmp_path, score="cot.score")]
    assert rewards == [0, 1, 1] * 4


def retried(n: int, turn: int, *, n_turns: int) -> dict[str, Any]:
    """Every third task passes at once, another third when it is tried again."""
    return {
        "problem_id": f"p{n}",
        "turn": turn,
        "prompt": f"What is {n}?" if turn == 0 else "Are you sure?",
        "response": f"{n}, at turn {turn}",
        "correct": n % 3 == 0 or (n % 3 == 1 and turn == 1),
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "max_turns": n_turns,
    }


def test_rows_that_end_with_the_first_pass_are_turns_of_one_attempt(tmp_path: Path) -> None:
    """The last counts, with what was said before; what the first scored is kept."""
    rows = [
        retried(n, turn, n_turns=3)
        for turn in range(3)
        for n in range(21)
        if n % 3 == 2 or turn <= n % 3
    ]
    write_lines(tmp_path / "run.jsonl", rows)
    (table,) = discover.artifacts((tmp_path,))
    (reading,) = own_table.readings([table])
    assert "rows of one attempt are its turns (turn), and the last counts" in reading
    entries = [one for one in own_table.read(table) if isinstance(one, (Row, Line))]
    assert len(entries) == len(rows)
    own = {one.value["_ng_task_index"]: one.value for one in entries if isinstance(one, Row)}
    assert [own[f"p{n}"]["reward"] for n in range(21)] == [1, 1, 0] * 7
    assert [own[f"p{n}"]["scores"][-1]["score"] for n in range(21)] == [1, 0, 0] * 7
    assert own["p4"]["responses_create_params"]["input"][0]["content"] == "What is 4?"
    said = words(own["p4"]["response"]["output"])
    assert said == ["4, at turn 0", "Are you sure?", "4, at turn 1"]
    assert own["p2"]["response"]["usage"] == {"input_tokens": 30, "output_tokens": 9}


@pytest.mark.parametrize("n_passing", [0, 1], ids=["all have all turns", "one passes again"])
def test_rows_that_go_on_after_a_pass_are_attempts(tmp_path: Path, n_passing: int) -> None:
    """Repeats are independent; a benchmark of several turns may grade each."""
    rows = [
        retried(n, turn, n_turns=2)
        for n in range(21)
        for turn in range(2)
        if n % 3 or not n_passing or turn == 0 or n == 0
    ]
    write_lines(tmp_path / "run.jsonl", rows)
    assert len(attempts(tmp_path, task="problem_id")) == len(rows)


def test_a_table_with_several_columns_of_scores_beside_others_says_so(tmp_path: Path) -> None:
    """So does one that has scores and is no evaluation."""
    write_lines(tmp_path / "mine.jsonl", rows_of(flat))
    sums = [{"problem": f"p{n}", "final_accuracy": 0, "initial_accuracy": n % 2} for n in range(12)]
    write_lines(tmp_path / "sums.jsonl", sums)
    parts = [{"category": word, "accuracy": 0.25} for word in ("easy", "hard")]
    write_cells(tmp_path / "parts.csv", parts, ",")
    skipped = {one.name: str(one.skipped) for one in discover.artifacts((tmp_path,))}
    assert "final_accuracy, initial_accuracy may be it" in skipped["sums.jsonl"]
    assert skipped["parts.csv"] == own_table.NOT_ATTEMPTS


def answered(n: int, *, refused: bool) -> dict[str, Any]:
    words = "Sorry, I cannot help with this." if refused else f"The answer to it is {n}, I think."
    return {"task_id": f"t{n}", "raw_response": words, "correct": n % 2 > 0}


def test_a_file_with_other_grades_for_the_same_answers_is_read(tmp_path: Path) -> None:
    """A few of them differ; with the same grades it repeats the rows."""
    rows = [answered(n, refused=False) for n in range(40)]
    for name, n_differing in (("a", 0), ("b", 2), ("c", 0)):
        (tmp_path / name).mkdir()
        own = [
            {**row, "correct": row["correct"] != (n < n_differing)} for n, row in enumerate(rows)
        ]
        write_lines(tmp_path / name / "of.jsonl", own)
    skipped = {one.name: one.skipped for one in discover.artifacts((tmp_path,))}
    assert skipped["b/of.jsonl"] is None
    assert Counter(skipped.values()) == {None: 2, own_table.REPEATS: 1}


@pytest.mark.parametrize("chosen", [{}, {"score": "correct"}], ids=["guessed", "named"])
@pytest.mark.parametrize("column", ["raw_response", "response"])
def test_a_table_with_further_columns_and_one_in_another_form_are_the_same_attempts(
    tmp_path: Path, column: str, chosen: dict[str, str]
) -> None:
    """Also where most answers are alike, and where the score is named; other attempts are read."""
    rows = [answered(n, refused=n % 4 > 0) for n in range(40)]
    rows = [{column: row.pop("raw_response"), **row} for row in rows]
    for folder in ("plain", "graded", "other"):
        (tmp_path / folder).mkdir()
    write_lines(tmp_path / "plain" / "of.jsonl", rows)
    write_cells(tmp_path / "plain" / "of.csv", rows, ",")
    write_lines(tmp_path / "graded" / "of.jsonl", [{**row, "note": "seen"} for row in rows])
    others = [{**row, column: f"{row[column]} Or not."} for row in rows]
    write_lines(tmp_path / "other" / "of.jsonl", others)
    found = discover.artifacts((tmp_path,), table_fields=chosen)
    assert [one.name for one in found if not one.skipped] == ["graded/of.jsonl", "other/of.jsonl"]


@pytest.mark.parametrize(("name", "n_read"), [("scores", 1), ("more_scores", 2)])
def test_a_table_in_two_forms_is_read_once(tmp_path: Path, name: str, n_read: int) -> None:
    """The same rows under the same name, as CSV and as JSON; another name may be a repeat."""
    rows = rows_of(lambda place, verdict: {"task_id": f"t{place}", "passed": verdict})
    lines = ["task_id,passed", *(f"{row['task_id']},{row['passed']}" for row in rows)]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / f"{name}.json").write_text(json.dumps({"rows": rows}))
    artifacts = discover.artifacts((tmp_path,))
    assert sum(one.kind is Kind.ROLLOUTS for one in artifacts) == n_read


def test_a_question_may_be_inside_an_object() -> None:
    """Sentences are one, a word is none."""
    table = rows_of(lambda place, verdict: {"id": place, "passed": verdict, "of": {"query": "a b"}})
    assert recognise(table, {})["prompt"] == ("of", "query")
    table = rows_of(lambda place, verdict: {"id": place, "passed": verdict, "of": {"query": "ab"}})
    assert "prompt" not in recognise(table, {})


def test_no_score(tmp_path: Path) -> None:
    """Two values alone make no score: the message lists the columns, and how to name one."""
    rows = rows_of(lambda place, verdict: {"id": place, "prompt": "p", "is_right": verdict})
    write_lines(tmp_path / "x.jsonl", rows)
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    assert "id, prompt, is_right" in str(refusal.value)
    assert str(refusal.value.hint).endswith("--field score=is_right")
    assert len(attempts(tmp_path, score="is_right")) == N_ROWS


@pytest.mark.parametrize(
    "name",
    "failed is_wrong hasError loss not_solved leakage_score toxicity_reward fabricated_citation "
    "error_rate fabrication_rate refund_rate".split(),
)
def test_the_opposite_of_a_score_is_not_proposed(name: str, tmp_path: Path) -> None:
    """A column whose name says that an attempt is worse is no example."""
    rows = rows_of(lambda place, verdict: {"id": place, "prompt": "p", name: not verdict})
    write_lines(tmp_path / "x.jsonl", rows)
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    assert "--field score=" not in str(refusal.value.hint)
    both = (
        {"test_passed": True, "code_correct": False},
        {"test_passed": False, "code_correct": True},
    )
    write_lines(tmp_path / "x.jsonl", [{**row, **both[row["id"] % 2]} for row in rows])
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    assert str(refusal.value.hint).endswith("--field score=test_passed")


@pytest.mark.parametrize(
    ("row", "reading"),
    [
        (
            {"q": "1+1?", "a": "2", "ok": True, "level": "easy", "note": "x"},
            "prompt = q, output = a, score = ok (boolean), one task per prompt, "
            "repeats not numbered, other columns: level, note",
        ),
        (
            {"question": "1+1?", "response": "2", "expected": "2", "passed": 1},
            "prompt = question, output = response, key = expected, score = passed (number), "
            "one task per prompt, repeats not numbered",
        ),
    ],
)
def test_columns_of_questions_and_answers(row: dict[str, Any], reading: str) -> None:
    """Short names are recognised; a column without a role is named."""
    table = [row, {**row, next(iter(row)): "2+2?"}]
    assert described(recognise(table, {}), [], table) == reading


def test_a_named_score_makes_tables_of_a_folder(tmp_path: Path) -> None:
    """Columns of names that say nothing: a folder with the score's name is read like its file."""
    write_lines(tmp_path / "r.jsonl", [{"q": "1+1?", "a": "2", "ok": True}])
    for results in (tmp_path, tmp_path / "r.jsonl"):
        (found,) = discover.artifacts((results,), table_fields={"score": "ok"})
        assert found.format == "own_table"


def test_beside_results(tmp_path: Path) -> None:
    """A table beside results of a harness is not a run: it may be a summary of them."""
    (tmp_path / "a_rollouts.jsonl").write_text('{"responses_create_params": {}, "reward": 1}\n')
    write_lines(tmp_path / "summary.jsonl", rows_of(flat))
    write_lines(tmp_path / "few.jsonl", rows_of(flat)[:3])
    (tmp_path / "below.json").write_text(json.dumps({"of": "m", "task_results": rows_of(flat)}))
    artifacts = {one.name: one for one in discover.artifacts((tmp_path,))}
    assert {one.format for one in artifacts.values()} == {None}
    # Many rows with scores are said to be there.
    skipped = {name for name, one in artifacts.items() if one.skipped}
    assert skipped == {"summary.jsonl", "below.json"}


def test_a_document_whose_rows_all_fail(tmp_path: Path) -> None:
    """It is a run as others are, and what it says of itself is of no other file."""
    for name, stated, n_passed in (
        ("good.json", {"model": "one", "grader_model": "judge"}, 9),
        # What has a meaning of ours is not taken from it.
        ("bad.json", {"model": "two", "pass_threshold": 0, "log_status": "ended"}, 0),
    ):
        details = [
            {"question": f"Which is {n}?", "gold_answer": "a", "predicted_answer": "b"}
            | {"is_correct": n < n_passed}
            for n in range(12)
        ]
        metrics = {"total": 12, "correct": n_passed}
        content = {"config": stated, "metrics": metrics, "details": details}
        (tmp_path / name).write_text(json.dumps(content))
    artifacts = discover.artifacts((tmp_path,))
    assert [one.kind for one in artifacts] == [Kind.ROLLOUTS, Kind.ROLLOUTS]
    settings_of = [
        {one.name: one.value for one in own_table.read(artifact) if isinstance(one, Setting)}
        for artifact in artifacts
    ]
    bad, good = ({name: one[name] for name in one if name != "read_as"} for one in settings_of)
    assert bad == {"model": "two"}
    assert good == {"model": "one", "grader_model": "judge"}


def test_list_of_benchmarks(tmp_path: Path) -> None:
    """A list of names with accuracies is no table of attempts, unless it is named."""
    rows = [{"task": "mmlu", "score": 0.71}, {"task": "gsm8k", "score": 0.9}]
    (tmp_path / "scores.json").write_text(json.dumps(rows))
    with pytest.raises(InputError):
        discover.artifacts((tmp_path,))
    assert len(attempts(tmp_path / "scores.json")) == 2


CELL = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=8), st.floats())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["id", "prompt", "output", "score"]), CELL)))
def test_nothing_is_lost(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    """With any cells, each line is a row, a reject or blank."""
    path = tmp_path_factory.mktemp("table") / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    artifact = Artifact(path, "x.jsonl", Kind.ROLLOUTS, fields=(("score", "score"),))
    entries = [
        entry for entry in own_table.read(artifact) if isinstance(entry, (Row, Reject, Line))
    ]
    assert len(entries) == len(rows)


def test_one_document_per_attempt(tmp_path: Path) -> None:
    """A folder of JSON documents is one run; their parts are not attempts, an index is none."""
    folder = tmp_path / "sweep" / "tasks"
    folder.mkdir(parents=True)
    for place, verdict in enumerate(VERDICTS):
        document = {
            "task_id": f"t{place}",
            "messages": [
                {"role": "assistant", "content": "hello"},
                {"role": "user", "content": f"do {place}"},
            ],
            "grade": {"reward": float(verdict), "reason": "checked"},
            "run_info": {"reward": None, "reason": "other"},
        }
        (folder / f"task_{place}.json").write_text(json.dumps(document))
    (folder / "index.json").write_text('{"total": 12}')
    artifacts = discover.artifacts((tmp_path,))
    tables = [one for one in artifacts if one.format == "own_table"]
    assert {one.run_name for one in tables} == {"tasks"}
    rows = [
        entry.value for one in tables for entry in own_table.read(one) if isinstance(entry, Row)
    ]
    assert "responses_create_params" not in rows[0]  # the first words are an answer
    assert {row["_ng_task_index"]: row["reward"] for row in rows} == {
        f"t{place}": float(verdict) for place, verdict in enumerate(VERDICTS)
    }


def write_documents(root: Path, attempts: Iterable[tuple[str, dict[str, Any]]]) -> None:
    for name, row in attempts:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(row))


def attempts_of_runs(root: Path) -> dict[str | None, list[tuple[Any, Any]]]:
    """The tasks and rewards of each run that is read, with its model."""
    found: dict[str | None, list[tuple[Any, Any]]] = {}
    for artifact in discover.artifacts((root,)):
        for one in own_table.read(artifact) if artifact.format == "own_table" else ():
            if isinstance(one, Row):
                run = " ".join(filter(None, (artifact.run_name, one.variant)))
                found.setdefault(run, []).append((one.value["_ng_task_index"], one.value["reward"]))
    return found


def test_documents_of_models_in_folders_of_tasks(tmp_path: Path) -> None:
    """The runs are the models; a document alone in its folder is an attempt, too."""
    root = tmp_path / "sweep"
    rows = [("a", "m1", True), ("a", "m2", False), ("b", "m1", False), ("b", "m1", True)]
    rows += [("c", "m2", True)]
    write_documents(
        root,
        [
            (f"{scenario}/{place}-{model}.json", {"scenario": scenario, "model": model, "ok": ok})
            for place, (scenario, model, ok) in enumerate(rows)
        ],
    )
    assert attempts_of_runs(root) == {
        "sweep m1": [("a", 1.0), ("b", 0.0), ("b", 1.0)],
        "sweep m2": [("a", 0.0), ("c", 1.0)],
    }


def test_documents_of_runs_in_folders(tmp_path: Path) -> None:
    """A run is what distinguishes the documents of a task; words beside pass are no pass."""
    words = {"x/run-1": "pass error", "x/run-2": "fail pass", "y/run-1": "pass fail"}
    rows = [
        (f"{run}/t{n}/meta.json", {"task_name": f"t{n}", "model": "m", "of": {"result": word}})
        for run, written in words.items()
        for n, word in enumerate(written.split())
    ]
    summaries = [
        (f"{run}/summary.json", {"name": "z", "model": "m", "correct": 3}) for run in words
    ]
    write_documents(tmp_path, [*rows, *summaries])
    assert attempts_of_runs(tmp_path) == {
        "x-run-1 m": [("t0", 1.0), ("t1", 0.0)],
        "run-2 m": [("t0", 0.0), ("t1", 1.0)],
        "y-run-1 m": [("t0", 1.0), ("t1", 0.0)],
    }
    (artifact, *_) = [
        one
        for one in discover.artifacts((tmp_path,), table_fields={"score": "of.result"})
        if one.format == "own_table"
    ]
    assert ("score", "of.result") in artifact.fields
    with pytest.raises(InputError, match=r"no column named `of\.none`"):
        discover.artifacts((tmp_path,), table_fields={"score": "of.none"})
    with pytest.raises(InputError, match="no column named `none`"):
        discover.artifacts((tmp_path,), table_fields={"task": "none"})


@pytest.mark.parametrize(
    ("numbers", "runs"),
    [
        (range(4), {"A": 24, "B": 24}),
        ((7, 11, 30, 31), {f"{agent}-{n}": 6 for agent in "AB" for n in (7, 11, 30, 31)}),
    ],
    ids=["the repeat", "names of runs"],
)
def test_documents_of_repeats_in_folders_of_agents(
    tmp_path: Path, numbers: Sequence[int], runs: dict[str, int]
) -> None:
    """A number from 0 on is the repeat within the folder of a run, whose time says nothing more."""
    rows = [
        (
            f"{agent}/{time}/t{n}/{number}/results.json",
            {"task_id": f"t{n}", "run_id": number, "success": (n + number) % 3 > 0},
        )
        for agent, time in (("A", 5), ("B", 6))
        for n in range(6)
        for number in numbers
    ]
    write_documents(tmp_path, rows)
    assert {run: len(listed) for run, listed in attempts_of_runs(tmp_path).items()} == runs
    artifacts = discover.artifacts((tmp_path,))
    repeats = {
        one.value.get("_ng_rollout_index")
        for artifact in artifacts
        for one in own_table.read(artifact)
        if isinstance(one, Row)
    }
    assert repeats == (set(numbers) if "A" in runs else {None})


def test_documents_under_conditions_are_of_several_runs(tmp_path: Path) -> None:
    """Each task of a model has each of them once; what goes with them is not said again."""
    conditions = {
        "cot": ("plain", "v1.chain"),
        "tot": ("search", "v1.tree"),
        "one": ("plain", "v0"),
    }
    of_run = [
        (
            f"demo/{model}/{condition}-{n}.json",
            {
                "item_id": f"g{n}",
                "model_name": model,
                "algorithm": f"algorithm.{conditions[condition][1]}",
                "condition_id": condition,
                "kind": conditions[condition][0],
                "final_answer": str(n),
                "metrics": {"success": int(condition == "tot"), "latency_ms": n},
            },
        )
        for model in ("ash", "oak")
        for condition in conditions
        for n in range(6)
    ]
    write_documents(tmp_path, of_run)
    runs = attempts_of_runs(tmp_path)
    assert {name: len(rows) for name, rows in runs.items()} == {
        f"demo {model} {condition}": 6 for model in ("ash", "oak") for condition in conditions
    }
    assert {reward for _, reward in runs["demo oak tot"]} == {1.0}


def test_a_run_that_numbers_attempts_is_the_repeat(tmp_path: Path) -> None:
    """From 0 or 1 on; other numbers are ids of something."""
    for first, repeats in ((1, [1, 2, 3]), (40, [None])):
        rows = [
            {"task_id": f"t{n}", "run": first + place, "passed": (n + place) % 2}
            for n in range(5)
            for place in range(3)
        ]
        write_lines(tmp_path / "x.jsonl", rows)
        read_repeats = [row.get("_ng_rollout_index") for row in attempts(tmp_path)]
        assert read_repeats == repeats * (len(rows) // len(repeats))


def test_documents_are_attempts_and_tables_that_show_them_are_none(tmp_path: Path) -> None:
    """A folder with one document is a run as well; what a report shows of them is a copy."""
    rows = [
        (
            f"{run}/tasks/t{n}.json",
            {"task_id": f"t{n}", "prompt": f"Question {n}?", "passed": n < 2},
        )
        for run, n_tasks in (("long", 4), ("short", 1))
        for n in range(n_tasks)
    ]
    shown = [{"case_id": f"t{n}", "passed": n < 2, "file": f"tasks/t{n}.json"} for n in (1, 2)]
    of_run = {"run_id": "x", "dataset": "y", "limit": 3}
    reports = [
        ("long/report.json", {"title": "Report", "results": shown}),
        (
            "long/more.json",
            {"benchmark": "z", "sample_cases": [{**one, "why": "w"} for one in shown]},
        ),
        ("long/run.json", of_run),
        ("long/summary.json", {**of_run, **{f"n_{n}": n for n in range(5)}, "accuracy": 0.5}),
    ]
    write_documents(tmp_path, [*rows, *reports])
    assert {run: len(found) for run, found in attempts_of_runs(tmp_path).items()} == {
        "long-tasks": 4,
        "short-tasks": 1,
    }


@pytest.mark.parametrize(
    ("first", "model", "runs"),
    [
        (0, "m", {"a a": 4, "a b": 4}),
        (9, "m", {"a a": 4, "a b": 4, "traces": 3}),
        (0, "c", {"a a": 4, "a b": 4, "traces c": 3}),
    ],
    ids=["the same tasks", "other tasks", "another model"],
)
def test_documents_beside_a_table_with_their_tasks_are_not_counted(
    tmp_path: Path, first: int, model: str, runs: dict[str, int]
) -> None:
    """They are listed; the table has attempts that they have not."""
    rows = [{"task_id": str(n), "model": name, "success": n > 1} for name in "ab" for n in range(4)]
    (tmp_path / "a.json").write_text(json.dumps({"results": rows}))
    of_model = {"model": model} if model == "c" else {}
    traces = [
        (f"traces/{n}.json", {"task_id": str(first + n), "status": word, "steps": [], **of_model})
        for n, word in enumerate(("failed", "failed", "success"))
    ]
    write_documents(tmp_path, traces)
    assert {run: len(found) for run, found in attempts_of_runs(tmp_path).items()} == runs
    reasons = {one.skipped for one in discover.artifacts((tmp_path,)) if one.skipped}
    assert reasons == (set() if "traces" in " ".join(runs) else {own_table.UNDECIDED})


def test_tables_that_are_each_among_documents_but_not_together_are_read(tmp_path: Path) -> None:
    """They have more attempts than the documents, which are left aside."""
    verdicts = {"a": (True, False), "b": (False, True), "c": (True, True)}
    for name, passed in verdicts.items():
        rows = [{"task_id": f"t{n}", "passed": one} for n, one in enumerate(passed)]
        write_lines(tmp_path / f"{name}.jsonl", rows)
    traces = [
        (f"traces/{n}-{one}.json", {"task_id": f"t{n}", "success": one, "steps": []})
        for n in range(2)
        for one in (True, False)
    ]
    write_documents(tmp_path, traces)
    assert {run: len(found) for run, found in attempts_of_runs(tmp_path).items()} == dict.fromkeys(
        verdicts, 2
    )


def test_conditions_are_of_all_tables_that_have_them(tmp_path: Path) -> None:
    """Each task once under each of them, in small files together; a verdict is no condition."""
    for number in range(4):
        rows = [
            {"task_id": str(n), "framework": word, "ended": "ab"[(n + len(word)) % 2], "ok": n > 0}
            for word in ("graph", "plan", "saga")[: 3 if number else 1]
            for n in range(2)
        ]
        for row in rows if number % 2 else ():
            row["tokens"] = 7
        (tmp_path / f"{number}.json").write_text(json.dumps({"results": rows}))
    assert {run: len(found) for run, found in attempts_of_runs(tmp_path).items()} == {
        f"{number} {word}": 2
        for number in range(4)
        for word in ("graph", "plan", "saga")[: 3 if number else 1]
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("score=is_right,task=name", "one ROLE=COLUMN each: --field score=is_right --field task="),
        ("score,task=is_right", "repeat --field"),
    ],
)
def test_a_list_of_fields_says_to_repeat_the_option(fields: str, message: str) -> None:
    """A comma does not separate them: a column may have one in its name."""
    outcome = call("analyze", "any.csv", "--field", fields)
    assert outcome.code == 2 and message in " ".join(outcome.stderr.split())


def test_of_several_tables_the_one_like_an_evaluation_is_named(tmp_path: Path) -> None:
    """Not a single object that comes first, nor rows without anything that could be a score."""
    (tmp_path / "a.json").write_text('{"seed": 1, "rule": "best"}')
    (tmp_path / "b.jsonl").write_text('{"id": "x", "loss": 0.5}\n{"id": "y", "loss": 0.7}\n')
    rows = [{"id": str(n), "text": f"answer {n}", "is_exact": n > 1} for n in range(4)]
    (tmp_path / "c.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    answer = call("analyze", tmp_path, "--out", tmp_path / "out")
    assert answer.code == 3
    assert "c.jsonl: a table with no column of scores" in answer.stderr


def test_an_id_of_another_name_is_the_task() -> None:
    """Scenarios are tasks; ids of requests are not."""
    table = rows_of(
        lambda place, verdict: {
            "trace_id": f"t{place}",
            "scenario_id": place % 4,
            "success": verdict,
        }
    )
    assert recognise(table, {})["task"] == ("scenario_id",)


def test_rows_of_another_file_are_counted_once(tmp_path: Path) -> None:
    """A file whose every row is in a larger one is not read; one row of its own is enough."""
    said = "So this is what comes out:"
    rows = rows_of(
        lambda place, verdict: {"id": place, "passed": verdict, "output": f"{said} {place}"}
    )
    write_lines(tmp_path / "all.jsonl", rows)
    write_lines(tmp_path / "part.jsonl", rows[4:8])
    write_lines(tmp_path / "other.jsonl", [*rows[4:8], {**rows[8], "output": "another"}])
    write_lines(tmp_path / "copy.jsonl", rows[::-1])
    kinds = {one.name: one.kind for one in discover.artifacts((tmp_path,))}
    read_files = {name for name, kind in kinds.items() if kind is Kind.ROLLOUTS}
    assert read_files == {"all.jsonl", "other.jsonl"}


def sampled(place: int, *, shift: int = 0) -> dict[str, Any]:
    return {"id": f"t{place}", "output": "x", "passed": (place + shift) % 3 > 0}


def test_rows_below_a_list_of_runs(tmp_path: Path) -> None:
    """Texts of a run are columns of its rows."""
    runs = [
        {"model": model, "note": "", "pass_rate": 0.5, "when": f"day {shift}"}
        | {"samples": [sampled(place, shift=shift) for place in range(6 - shift)]}
        for shift, model in enumerate(("ash", "oak"))
    ]
    tests = [{"id": f"t{place}", "input": f"{place}?", "expected": "y"} for place in range(6)]
    (tmp_path / "r.json").write_text(json.dumps({"eval": "e", "tests": tests, "runs": runs}))
    tasks = [f"t{place}" for place in range(6)]
    assert runs_of(tmp_path) == {
        "ash": list(zip(tasks, [0, 1, 1, 0, 1, 1], strict=True)),
        "oak": list(zip(tasks[:5], [1, 1, 0, 1, 1], strict=True)),
    }
    assert attempts(tmp_path)[-1]["when"] == "day 1"


def test_runs_of_one_model_have_names(tmp_path: Path) -> None:
    """The first text that distinguishes the objects of a list is the run."""
    runs = [
        {"model": "ash", "name": name, "cases": [sampled(place) for place in range(4)]}
        for name in ("first", "second")
    ]
    (tmp_path / "r.json").write_text(json.dumps({"runs": runs}))
    assert set(runs_of(tmp_path)) == {"first ash", "second ash"}


def test_attempts_below_a_list_of_tasks(tmp_path: Path) -> None:
    """An object with the question has attempts at it; a number of its own is no score."""
    tasks = [
        {"question_id": f"q{place}", "question": f"{place}?", "mean": 0.5}
        | {"tries": [{"output": "x", "passed": verdict} for verdict in (True, False)]}
        for place in range(3)
    ]
    (tmp_path / "r.json").write_text(json.dumps({"asked": tasks}))
    expected = [(f"q{place}", reward) for place in range(3) for reward in (1, 0)]
    assert runs_of(tmp_path) == {None: expected}


@pytest.mark.parametrize(("n_tasks", "runs"), [(3, {"a", "b"}), (6, {None})])
def test_lists_of_the_same_tasks_are_of_runs(
    tmp_path: Path, n_tasks: int, runs: set[str | None]
) -> None:
    """What is above lists of other tasks each is a group of tasks."""
    lists = {
        name: {
            "of": 3,
            "asked": [{"question": f"{n % n_tasks}?", "correct": n % 2} for n in range(6)],
        }
        for name in "ab"
    }
    for name, listed in lists.items() if n_tasks == 6 else ():
        for row in listed["asked"]:
            row["question"] = f"{name}{row['question']}"
    (tmp_path / "r.json").write_text(json.dumps({"n": 1, "by_kind": lists}))
    assert set(runs_of(tmp_path)) == runs


def test_steps_below_a_list_are_no_attempts(tmp_path: Path) -> None:
    """Names and verdicts below objects that are neither runs nor tasks."""
    steps = [{"name": name, "passed": name > "a"} for name in "abc"]
    jobs = [{"label": str(place), "steps": steps} for place in range(3)]
    (tmp_path / "r.json").write_text(json.dumps({"jobs": jobs}))
    with pytest.raises(InputError):
        discover.artifacts((tmp_path,))


@pytest.mark.parametrize("name", ["runs", "by_case"])
@pytest.mark.parametrize("is_graded", [True, False], ids=["graded", "one of two files is"])
def test_lists_of_attempts_by_their_tasks(tmp_path: Path, name: str, *, is_graded: bool) -> None:
    """The key is the task, the place in the list the repeat; below an attempt are its parts."""
    for model in "ab":
        lists = {
            f"C{task}": [
                {
                    "content": f"So {task}.",
                    "checks": {"passed": (model == "a" or is_graded) and (task + n) % 3 > 0},
                    "judges": {judge: {"score": 1, "rationale": "good"} for judge in "xy"},
                }
                for n in range(1 + task % 3)
            ]
            for task in range(12)
        }
        document = {"model_name": model, "created": "2026-02-07T21:05:15", name: lists}
        (tmp_path / f"{model}.json").write_text(json.dumps(document))
    artifacts = [one for one in discover.artifacts((tmp_path,)) if one.format]
    rows = [row for one in artifacts for row in own_table.read(one) if isinstance(row, Row)]
    listed = [
        (row.variant, row.value["_ng_task_index"], row.value["_ng_rollout_index"]) for row in rows
    ]
    assert listed == [
        (model, f"C{task}", n) for model in "ab" for task in range(12) for n in range(1 + task % 3)
    ]
    (description,) = own_table.readings(artifacts)
    assert "task = task_id, score = checks.passed (boolean), repeat = attempt" in description


@pytest.mark.parametrize("is_csv", [True, False])
@pytest.mark.parametrize("form", ["{method}_{field}", "{field}_{method}"])
def test_columns_of_methods_beside_each_other_are_attempts(
    tmp_path: Path, form: str, *, is_csv: bool
) -> None:
    """`base_pred, base_judge_score, ft_pred, ft_judge_score`: one run per method."""

    def row(n: int, methods: Sequence[str]) -> dict[str, Any]:
        own = {
            form.format(method=method, field=field): value
            for method in methods
            for field, value in (("pred", f"{method} says {n}"), ("judge_score", 1 + (n % 3)))
        }
        return {"question": f"What is {n}?", "reference": f"It is {n}.", **own}

    write = (lambda path, rows: write_cells(path, rows, ",")) if is_csv else write_lines
    path = tmp_path / f"wide.{'csv' if is_csv else 'jsonl'}"
    write(path, [row(n, ["base", "ft"]) for n in range(12)])
    rows = [entry for entry in read(path) if isinstance(entry, Row)]
    assert [(one.variant, words(one.value["response"]["output"])) for one in rows[:3]] == [
        ("base", ["base says 0"]),
        ("ft", ["ft says 0"]),
        ("base", ["base says 1"]),
    ]
    assert [one.value["reward"] for one in rows[:4]] == [1, 1, 2, 2]
    # Who names a column has it as it is.
    score = form.format(method="ft", field="judge_score")
    assert len(attempts(path, score=score)) == 12
    # What is expected is no attempt, and one method is the table itself.
    for methods in (["expected", "ft"], ["ft"]):
        write(path, [row(n, methods) for n in range(12)])
        with pytest.raises(InputError):
            read(path)


def conversation(n: int, *, ends: str = "judged") -> list[dict[str, Any]]:
    """Lines of one attempt at a task: its settings, a criterion, two turns, perhaps a verdict."""
    turns = [
        {"round": turn, "user": f"Ask {n}.{turn}?", "assistant": "No.", "score": 5}
        for turn in (1, 2)
    ]
    own = {"target_model": f"m{n % 2}", "test_case": f"t{n // 2 % 6}", "judge_model": "j"}
    lines = [own, {"criteria": "Does it?"}, *turns, {"goal_achieved": n % 3 > 0}]
    return lines[: {"judged": 5, "in a turn": 4, "at once": 1}[ends]]


def test_files_of_settings_turns_and_a_verdict_are_one_attempt_each(tmp_path: Path) -> None:
    """Every line is accounted for; one that broke off is unscored."""
    for n in range(24):
        ends = {5: "in a turn", 6: "at once"}.get(n, "judged")
        write_lines(tmp_path / f"talk_{n:02}.jsonl", conversation(n, ends=ends))
    artifacts = [one for one in discover.artifacts((tmp_path,)) if one.kind is Kind.ROLLOUTS]
    kinds = (Row, Reject, Line)
    entries = [
        [one for one in own_table.read(artifact) if isinstance(one, kinds)]
        for artifact in artifacts
    ]
    counted = [Counter(type(one).__name__ for one in listed) for listed in entries]
    assert [counts.total() for counts in counted] == [
        4 if n == 5 else 1 if n == 6 else 5 for n in range(24)
    ]
    assert all(counts["Row"] == 1 for counts in counted)
    rows = [listed[-1] for listed in entries]
    assert all(isinstance(one, Row) for one in rows)
    assert [one.value["reward"] for one in rows] == [
        None if n in (5, 6) else float(n % 3 > 0) for n in range(24)
    ]
    first = rows[0].value
    assert words(first["responses_create_params"]["input"]) == ["Ask 0.1?"]
    assert words(first["response"]["output"]) == ["No.", "Ask 0.2?", "No."]
    assert (first["_ng_task_index"], rows[0].variant) == ("t0", "m0")
    assert first["turns"] == [{"round": 1, "score": 5}, {"round": 2, "score": 5}]


def test_a_line_before_rows_of_questions_and_answers_leaves_them_rows(tmp_path: Path) -> None:
    """They are tasks of their own: nothing numbers them or judges them as one."""
    asked = [{"user": f"What is {n}?", "assistant": "So.", "correct": n % 2 > 0} for n in range(9)]
    for name in "ab":
        write_lines(tmp_path / f"{name}.jsonl", [{"made": "today"}, *asked, {"mean": 0.4}])
        assert len(sample(tmp_path / f"{name}.jsonl")) == 11


def test_lists_of_rows_with_tasks_of_their_own_are_of_no_task(tmp_path: Path) -> None:
    """Nor is a chat in a document of one attempt, or a list of words."""
    rows = rows_of(flat)
    lists = {"all": rows, "wrong": [row for row in rows if not row["correct"]]}
    (tmp_path / "some.json").write_text(json.dumps({"n": 2, "by_kind": lists}))
    with pytest.raises(InputError):
        discover.artifacts((tmp_path,))
    said = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    talks = {"talks": {"a": said, "b": said}, "words": {"a": ["so"], "b": ["why"]}}
    document = {"task_id": "t", **talks, "points": 7}
    path = tmp_path / "one.json"
    path.write_text(json.dumps(document))
    assert sample(path) == [document]


def test_lists_of_objects_are_not_columns(tmp_path: Path) -> None:
    """Nothing says what two lists of rows are of; their document is listed."""
    rows = rows_of(flat)
    wrong = [{**row, "output": "8"} for row in rows[:9:3]]
    (tmp_path / "all.json").write_text(json.dumps({"asked": rows}))
    (tmp_path / "some.json").write_text(json.dumps({"wrong": wrong, "sure": rows[1:4]}))
    artifacts = {one.name: one for one in discover.artifacts((tmp_path,))}
    assert artifacts["all.json"].kind is Kind.ROLLOUTS
    assert str(artifacts["some.json"].skipped).startswith("has lists of rows")
    assert artifacts["some.json"].kind is Kind.SKIPPED


def test_a_refusal_is_about_the_table_of_rows(tmp_path: Path) -> None:
    """It says how many files have it, and names each column of numbers that may be the score."""
    for model in "abc":
        lists = {
            f"C{task}": [
                {"text": "x", "checks": {"passed": task % 3 > 0}, "judge_score_avg": 1 + task / 3}
            ]
            for task in range(12)
        }
        own = {"updated": "2026-02-07"} if model == "b" else {}
        (tmp_path / f"{model}.json").write_text(json.dumps({"model": model, "runs": lists, **own}))
    (tmp_path / "sums.json").write_text(json.dumps({"models": ["a", "b"], "overall": 3.2}))
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    assert str(refusal.value).splitlines() == [
        "b.json and 2 more: a table with several columns that may be the score (checks.passed, "
        "judge_score_avg); its columns are model, task_id, attempt, text, checks, judge_score_avg, "
        "checks.passed.",
        "       sums.json: models, overall",
    ]
    hint = str(refusal.value.hint)
    assert "--field score=checks.passed; columns of numbers" in hint
    assert hint.endswith("named like scores: judge_score_avg")
    assert len(attempts(tmp_path / "a.json", score="judge_score_avg")) == 12


def test_what_only_some_rows_have_is_not_proposed_as_the_score(tmp_path: Path) -> None:
    """A switch of half of the rows is an option of these."""
    rows = rows_of(lambda place, verdict: {"id": place, "prompt": "p", "explains": verdict})
    for row in rows[: N_ROWS // 2]:
        del row["explains"]
    write_lines(tmp_path / "x.jsonl", rows)
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    assert "score=" not in str(refusal.value.hint)


LABELS = ("supported", "invented", "off topic", "supported", None)


def labelled(n: int) -> dict[str, Any]:
    label = LABELS[(n + n // len(LABELS)) % len(LABELS)]
    return {"id": n % 6, "prompt": f"p{n % 6}", "answer_label": label}


def test_the_word_that_passes_is_chosen(tmp_path: Path) -> None:
    """Other words fail, nothing is unscored, and the word stays a field of the row."""
    rows = [labelled(n) for n in range(30)]
    write_lines(tmp_path / "x.jsonl", rows)
    read_rows = attempts(tmp_path, score="answer_label", **{"pass": "supported"})
    expected = {"supported": 1.0, "invented": 0.0, "off topic": 0.0, None: None}
    assert [row["reward"] for row in read_rows] == [expected[row["answer_label"]] for row in rows]
    assert [row.get("answer_label") for row in read_rows] == [row["answer_label"] for row in rows]
    description = "score = answer_label is supported (other words fail)"
    (artifact,) = discover.artifacts(
        (tmp_path,), table_fields={"score": "answer_label", "pass": "supported"}
    )
    assert description in next(iter(own_table.readings([artifact])))


@pytest.mark.parametrize(
    ("words_of_row", "is_read"),
    [
        (("PASS", "SOFT_FAIL", "HARD_FAIL"), True),
        (("correct", "made_up", "hedged_wrong"), True),
        (("pass", "passed", "SOFT_FAIL"), False),
        (("supported", "hedged_wrong", "made_up"), False),
    ],
    ids=["pass", "correct", "two words", "none"],
)
@pytest.mark.parametrize("has_model", [True, False])
def test_a_word_for_a_pass_makes_its_column_the_score(
    tmp_path: Path, words_of_row: tuple[str, ...], *, is_read: bool, has_model: bool
) -> None:
    """Of one column alone, which is no other score; what no model did is no attempt."""
    rows = [
        {"case_id": f"q{n}", "model": "m", "kind": f"k{n % 2}", "finding": words_of_row[n % 3]}
        for n in range(30)
    ]
    if not has_model:
        rows = [{**row, "model": None} for row in rows]
    write_lines(tmp_path / "x.jsonl", rows)
    if not (is_read and has_model):
        with pytest.raises(InputError, match="no column of scores"):
            discover.artifacts((tmp_path,))
        return
    (artifact,) = discover.artifacts((tmp_path,))
    (description,) = own_table.readings([artifact])
    assert f"score = finding is {words_of_row[0]} (other words fail)" in description
    listed = attempts(tmp_path)
    assert [row["reward"] for row in listed] == [float(n % 3 == 0) for n in range(30)]
    assert [row["finding"] for row in listed] == [words_of_row[n % 3] for n in range(30)]
    assert not any(row.get("scores") for row in listed)


def test_the_word_that_passes_in_documents_of_one_attempt(tmp_path: Path) -> None:
    """A word may have a dot, as a version has."""
    for n in range(12):
        label = "v1.2" if n % 3 else "v1.1"
        row = {"task_id": f"t{n}", "prompt": f"p{n}", "judge": {"label": label}}
        (tmp_path / f"{n}.json").write_text(json.dumps(row))
    chosen = {"score": "judge.label", "pass": "v1.2"}
    artifacts = discover.artifacts((tmp_path,), table_fields=chosen)
    rewards = [
        entry.value["reward"]
        for artifact in artifacts
        for entry in own_table.read(artifact)
        if isinstance(entry, Row)
    ]
    assert Counter(rewards) == {1.0: 8, 0.0: 4}


@pytest.mark.parametrize("chosen", [{}, {"pass": "suported"}], ids=["no pass", "no such word"])
def test_a_chosen_score_without_any_is_refused(tmp_path: Path, chosen: dict[str, str]) -> None:
    """The message has the words of the column, and how to name one."""
    write_lines(tmp_path / "x.jsonl", [labelled(n) for n in range(30)])
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,), table_fields={"score": "answer_label", **chosen})
    assert "answer_label, which has invented, off topic, supported" in str(refusal.value)
    assert str(refusal.value.hint).endswith("--field score=answer_label --field pass=WORD")


def test_a_word_that_passes_needs_its_column(tmp_path: Path) -> None:
    """Without one the call is wrong."""
    write_lines(tmp_path / "x.jsonl", [labelled(n) for n in range(30)])
    with pytest.raises(UsageError, match="its column is not named"):
        discover.artifacts((tmp_path,), table_fields={"pass": "supported"})


def test_a_column_of_words_that_judge_is_proposed(tmp_path: Path) -> None:
    """What is the same in all rows of a task, or has the words of an answer, judges nothing."""
    rows = [labelled(n) | {"answer_label": LABELS[(n + n // 6) % 3]} for n in range(40)]
    rows = [row | {"topic_label": f"topic {row['id'] % 3}"} for row in rows]
    write_lines(tmp_path / "x.jsonl", rows)
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    hint = "--field score=answer_label --field pass=WORD, one of invented, off topic, supported"
    assert str(refusal.value.hint).endswith(hint)
    answers = [{**row, "guess": LABELS[(row["id"] + 1) % 3]} for row in rows]
    write_lines(tmp_path / "x.jsonl", answers)
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    assert "pass=WORD" not in str(refusal.value.hint)


@pytest.mark.parametrize("name", ["__expected", "goldLabel", "correct_answer", "expected_passed"])
def test_what_is_expected_is_never_proposed_as_the_score(name: str, tmp_path: Path) -> None:
    """A key may be true and false, and is no verdict; other kinds of files are listed once."""
    rows = rows_of(lambda place, verdict: {"id": place, "words": "p", name: verdict})
    write_lines(tmp_path / "x.jsonl", rows)
    for other in "yz":
        write_lines(tmp_path / f"{other}.jsonl", [{"seed": 1}, {"seed": 2}])
    with pytest.raises(InputError) as refusal:
        discover.artifacts((tmp_path,))
    assert "score=" not in str(refusal.value.hint)
    assert "y.jsonl and 1 more: seed" in str(refusal.value)


def _run(n_rows: int, **more: Any) -> dict[str, Any]:
    log = [{"step": 1, "args": {"query": "x"}, "compile_passed": True}]
    rows = [
        {"fixture": "form", "run_number": place + 1, "final_score": 10.0 * (place % 2), "log": log}
        for place in range(n_rows)
    ]
    return {"model": "m", "runs": rows, **more}


def test_attempts_come_before_their_logs(tmp_path: Path) -> None:
    """The outermost list that has scores has the rows; tables of one task each are one run."""
    for name in ("form", "list"):
        content = json.dumps(_run(10)).replace('"form"', f'"{name}"')
        (tmp_path / f"{name}.json").write_text(content)
    artifacts = discover.artifacts((tmp_path,))
    assert {one.run_name for one in artifacts} == {"m"}
    rows = [row for one in artifacts for row in own_table.read(one) if isinstance(row, Row)]
    assert sorted(row.value["reward"] for row in rows) == [0.0] * 10 + [10.0] * 10
    assert {row.value["_ng_task_index"] for row in rows} == {"form", "list"}


def test_objects_that_have_their_ids_again_are_tasks(tmp_path: Path) -> None:
    """Their lists are attempts at them, though each of these has an id, too."""
    samples = [
        {"sample_id": f"5e{n:06x}-{n}", "solution": f"return {n}", "passed": n % 2 == 0}
        for n in range(12)
    ]
    tasks = {
        f"T/{task}": {"task_id": f"T/{task}", "results": samples[4 * task : 4 * task + 4]}
        for task in range(3)
    }
    content = json.dumps({"config": {"model": "org/m"}, "eval": tasks})
    results = analyzed(tmp_path, {"run.json": content}, needs=("rollouts",))
    query = "select task_id, count(*), count(*) filter (where is_pass) from rollouts group by all"
    assert results.rows(f"{query} order by all") == [(f"T/{task}", 4, 2) for task in range(3)]
    assert results.one("select count(*) from runs") == 1


def test_objects_by_ids_are_rows(tmp_path: Path) -> None:
    """The key is the task; a column of them is found by its own name."""
    rows = {str(place): {"q": f"Why {place}?", "binary_correct": place % 2} for place in range(6)}
    (tmp_path / "m.json").write_text(json.dumps({"model": "m", "time": 1, "questions": rows}))
    assert [row["reward"] for row in attempts(tmp_path)] == [0, 1] * 3
    chosen = attempts(tmp_path, score="binary_correct")
    assert [row["_ng_task_index"] for row in chosen] == [str(place) for place in range(6)]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (
            lambda place: {"question": f"Why {place}?", "judge": {"success": True}},
            "no column of scores",
        ),
        (
            lambda place: {"task_id": place, "a_correct": place % 2, "b_correct": place % 3 % 2},
            "several columns that may be the score (a_correct, b_correct)",
        ),
        (
            lambda place: {"question": f"Why {place}?", "check": {"f1": 1.0} if place < 9 else {}},
            "no column of scores",
        ),
    ],
)
def test_weak_evidence_is_refused(
    tmp_path: Path, make: Callable[[int], dict[str, Any]], reason: str
) -> None:
    write_lines(tmp_path / "t.jsonl", [make(place) for place in range(30)])
    with pytest.raises(InputError) as error:
        discover.artifacts((tmp_path,))
    assert reason in str(error.value)


def judged_twice(n: int, claim: str, judge: str) -> dict[str, Any]:
    """Of 30 rows the judge contradicts 2 claims of each kind, and does not know in 3."""
    claims = n % 2 > 0
    verdict = claims != (n in (4, 5, 6, 7))
    word = "unknown" if n < 3 else "success" if verdict else "failure"
    return {"task_id": f"t{n}", claim: claims, judge: {"eval": word, "reason": "as seen"}}


@pytest.mark.parametrize("is_documents", [False, True])
def test_two_verdicts_that_disagree_are_refused(tmp_path: Path, *, is_documents: bool) -> None:
    """One may be the agent's own claim; both are proposed, and what the judge left open is open."""
    rows = [judged_twice(n, "success", "eval") for n in range(30)]
    if is_documents:
        write_documents(tmp_path, [(f"{row['task_id']}/of.json", row) for row in rows])
    else:
        write_lines(tmp_path / "t.jsonl", rows)
    with pytest.raises(InputError) as error:
        discover.artifacts((tmp_path,))
    assert "(success, eval.eval: not the same in 4 of 27 rows" in str(error.value)
    assert "--field score=success or --field score=eval.eval" in str(error.value.hint)
    rewards = Counter(
        row.value["reward"]
        for one in discover.artifacts((tmp_path,), table_fields={"score": "eval.eval"})
        for row in own_table.read(one)
        if isinstance(row, Row)
    )
    assert rewards == {1.0: 14, 0.0: 13, None: 3}


@pytest.mark.parametrize(
    ("names", "change"),
    [
        (("correct", "status"), {}),
        (("success", "eval"), {5: True, 7: True}),
        (("success", "checks"), {}),
    ],
    ids=["a graded score", "one that implies the other", "a check"],
)
def test_columns_beside_a_score_that_are_no_second_verdict(
    tmp_path: Path, names: tuple[str, str], change: dict[int, bool]
) -> None:
    (score, other) = names
    judge = "eval" if other == "eval" else "format"
    rows = [
        {**(row := judged_twice(n, score, other)), other: {judge: row[other]["eval"]}}
        for n in range(30)
    ]
    for n in change:
        rows[n][other][judge] = "success"
    write_lines(tmp_path / "t.jsonl", rows)
    assert [row["reward"] for row in attempts(tmp_path)] == [0.0, 1.0] * 15


def test_a_disputed_table_beside_others_is_listed(tmp_path: Path) -> None:
    write_lines(tmp_path / "mine.jsonl", rows_of(flat))
    write_lines(tmp_path / "two.jsonl", [judged_twice(n, "success", "eval") for n in range(30)])
    reasons = {one.name: one.skipped for one in discover.artifacts((tmp_path,))}
    assert reasons["mine.jsonl"] is None
    assert "(success, eval.eval: not the same" in str(reasons["two.jsonl"])


def test_the_proposal_of_a_refusal_is_read(tmp_path: Path) -> None:
    """It is tried before it is printed, and the rows may be below lists and objects."""
    rows = [{"name": f"n{place}", "a_success": place % 2, "b_success": 1} for place in range(4)]
    rows[0]["b_success"] = 0
    document = {"site": {"items": [{"label": "x", "members": rows}]}}
    (tmp_path / "t.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as error:
        discover.artifacts((tmp_path,))
    assert error.value.hint and "--field score=a_success" in error.value.hint
    assert [row["reward"] for row in attempts(tmp_path, score="a_success")] == [0, 1, 0, 1]


def test_attempts_that_three_tables_have_are_read_once(tmp_path: Path) -> None:
    """Rounded, and in other folders they are the same."""
    rows = [
        {"model": "m", "case_id": f"c{place}", "score": place / 8, "seconds": place / 7 + 0.1}
        for place in range(1, 9)
    ]
    rounded = [{**row, "seconds": round(row["seconds"], 2)} for row in rows]
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "records.json").write_text(json.dumps(rows))
    others = [{**row, "model": "n", "seconds": row["seconds"] + 1} for row in rounded]
    write_cells(tmp_path / "all.csv", rounded + others, ",")
    (tmp_path / "results.json").write_text(json.dumps({"records": rounded + others}))
    read_files = [one.name for one in discover.artifacts((tmp_path,)) if not one.skipped]
    assert read_files == ["results.json"]


def test_copies_of_files_whose_clock_is_coarse(tmp_path: Path) -> None:
    """A draft beside each file is no run; equal readings of two runs make no copy of a row."""
    for model in ("small", "large"):
        rows = [
            {
                "question": f"What is {task}?",
                "response": f"It is {task}, as {model if task > 2 else 'anyone'} knows.",
                "is_correct": task % 3 > (model == "small"),
                "latency": 0.125 * (task % 5) + 0.25,
            }
            for task in range(40)
        ]
        for end in ("checkpoint", "results"):
            write_lines(tmp_path / f"{model}_{end}.jsonl", rows)
    found = discover.artifacts((tmp_path,))
    assert [one.path.name for one in found if one.format == "own_table"] == [
        "large_results.jsonl",
        "small_results.jsonl",
    ]
    for one in found:
        if one.format == "own_table":
            assert sum(isinstance(each, Row) for each in own_table.read(one)) == 40


def test_a_summary_among_the_rows(tmp_path: Path) -> None:
    """Numbers of a file behind its rows are a reject; a row without an answer is an attempt."""
    rows = rows_of(lambda place, verdict: {"question": f"q{place}", "correct": verdict})
    write_lines(tmp_path / "a.jsonl", [*rows, {"question": "more", "note": 1}, {"accuracy": 0.5}])
    entries = read(tmp_path)
    assert sum(isinstance(each, Row) for each in entries) == N_ROWS + 1
    assert sum(isinstance(each, Reject) for each in entries) == 1


def test_sums_beside_attempts_are_none(tmp_path: Path) -> None:
    """Bins with their counts and rates, beside answers with verdicts."""
    rows = rows_of(
        lambda place, verdict: {"question": f"q{place}", "answer": "x", "correct": verdict}
    )
    write_lines(tmp_path / "rows.jsonl", rows)
    bins = [{"low": place / 8, "accuracy": place / 9, "count": place} for place in range(8)]
    text = json.dumps({name: {"bins": bins, "error": 0.1} for name in ("before", "after")})
    (tmp_path / "bins.json").write_text(text)
    found = discover.artifacts((tmp_path,))
    assert [one.path.name for one in found if one.format == "own_table"] == ["rows.jsonl"]


def test_choices_of_a_question_are_no_output() -> None:
    """Those of an API's answer are."""
    asked = [
        {"question": f"q{place}", "choices": ["a", "b"], "correct": True} for place in range(5)
    ]
    assert "output" not in recognise(asked, {})
    answers = [{**row, "choices": [{"message": {"content": "a"}}]} for row in asked]
    assert recognise(answers, {})["output"] == ("choices",)
