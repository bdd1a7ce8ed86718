"""The warehouse holds, row by row, what a plain reading of the files says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import loaded, reference
from tests.case_files import cases
from tests.conftest import CORPUS, needs_corpus
from tests.results import write
from tests.simulated import simulator

Row = dict[str, Any]
simulate = simulator()


READINGS = {
    "general": (),
    "sniffed": (("pipeline.ingest.load.records.LARGE_FILE", 0),),
    "small blocks": (("pipeline.ingest.load.lines.BLOCK_BYTES", 50_021),),
}


def set_reading(name: str, patch: pytest.MonkeyPatch) -> None:
    """Read as a small file is, as a large one is, or with lines across the borders of blocks."""
    for target, value in READINGS[name]:
        patch.setattr(target, value)


def check(results: Path, out: Path) -> loaded.Loaded:
    actual = loaded.load(results, out)
    agree(loaded.differences(actual, results))
    return actual


def agree(wrong: list[str]) -> None:
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(w[:300] for w in wrong[:20])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> loaded.Loaded:
    return loaded.load(CORPUS, tmp_path_factory.mktemp("corpus"))


@needs_corpus
def test_corpus_is_loaded_as_read(corpus: loaded.Loaded):
    """Every line of every public file is the row, reject or blank that a plain reading finds."""
    agree(loaded.differences(corpus, CORPUS))
    assert sum(a["kind"] == "rollouts" for a in corpus.artifacts.values()) >= 70
    assert len(corpus.rollouts) > 400


@pytest.mark.slow
@needs_corpus
@pytest.mark.parametrize(
    "reading", ["sniffed", pytest.param("small blocks", marks=pytest.mark.slow)]
)
def test_corpus_is_the_same_however_read(
    reading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Sniffed fields and lines cut by the borders of blocks change nothing."""
    set_reading(reading, monkeypatch)
    check(CORPUS, tmp_path)


@needs_corpus
def test_corpus_inputs_are_what_is_expected(corpus: loaded.Loaded):
    """A materialized inputs file's keys are exactly what its run expects."""
    inputs = {p: a for p, a in corpus.artifacts.items() if a["kind"] == "inputs"}
    assert len(inputs) >= 8
    for path, artifact in inputs.items():
        rows = [line.row for line in reference.lines((CORPUS / path).read_bytes(), "inputs")]
        keys = {(str(row["_ng_task_index"]), row["_ng_rollout_index"]) for row in rows if row}
        runs = {artifact["run_id"], *(artifact.get("run_ids") or [])}
        stored = {(task, index) for run, task, index in corpus.expected if run in runs}
        assert stored == keys, path


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the simulator writes, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("simulated")
    places = {name: folder / name for name in ("demo", "schema", "trajectory", "mixed", "many")}
    for place in places.values():
        place.mkdir()
    simulate.write_demo(places["demo"], seed=3)
    for shape in ("schema", "trajectory", "mixed"):
        simulate.write_bench(
            places[shape], shape=shape, n_bytes=1_000_000, row_bytes=9_000, dirty=0.1, seed=5
        )
    simulate.write_many(places["many"], n_files=30, seed=2)
    return folder


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
def test_simulated_results_are_loaded_as_read(
    reading: str, simulated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Every line the simulator writes, spoilt ones included, is loaded as it is read."""
    set_reading(reading, monkeypatch)
    actual = check(simulated, tmp_path / "out")
    folders = {path.name for path in simulated.iterdir()}
    assert {place.partition("/")[0] for place, _ in actual.rollouts} == folders
    spoilt = {place.partition("/")[0] for place, _ in actual.rejects}
    assert spoilt >= {"schema", "trajectory", "mixed"}, "a tenth of the rows is spoilt"
    assert actual.failures and actual.expected


SHAPES: dict[str, object] = {
    **cases("load_shapes", "shapes"),
    "NUL": {"output": [{"type": "function_call_output", "output": "a\0b"}]},
    "half a character": {"output": [{"type": "function_call_output", "output": "a\ud800b"}]},
}


def check_rows(rows: list[bytes], folder: Path) -> loaded.Loaded:
    """Check one file of these rows."""
    results = write(folder / "results", {"shapes_rollouts.jsonl": b"\n".join(rows) + b"\n"})
    return check(results, folder / "out")


def indexed(number: int, rest: str) -> bytes:
    return f'{{"_ng_task_index": {number}, "_ng_rollout_index": 0, {rest}}}'.encode()


@dataclass
class Odd:
    """A folder of odd rows, and what the warehouse made of it."""

    results: Path
    loaded_rows: loaded.Loaded

    def check(self, name: str) -> list[Row]:
        """The rollouts of one file, once it agrees with the reference."""
        path = f"{name}_rollouts.jsonl"
        read = reference.lines((self.results / path).read_bytes())
        agree(loaded.file_differences(self.loaded_rows, self.loaded_rows.artifacts[path], read))
        return [row for (file, _), row in self.loaded_rows.rollouts.items() if file == path]


SCORES = "0 1 -0.0 0.9999999999999998 1e-320 -100 3 12345678901234567890123".split()
NO_SCORES = 'null NaN Infinity -Infinity 1e999 true "1.0" [1] {"a":1}'.split()
REWARDS = [*SCORES, *NO_SCORES, "9" * 400]

FIELDS = cases("load_reference", "fields")


ODD_ROWS = {
    "dup-output": '"reward": 1, "response": {"output": [], "output": ["text"]}',
    "dup-item-field": (
        '"reward": 1, "response": {"output": [{"type": "message", "content": "a", "content": "b"}]}'
    ),
    "dup-agent": '"reward": 1, "agent_ref": {"name": "a", "name": "b"}',
    "dup-usage": (
        '"reward": 1, "response": {"output": [], "usage": {"input_tokens": 1, "input_tokens": 2}}'
    ),
    "bare-item": '"reward": 1, "response": {"output": [5]}',
    "typeless-item": '"reward": 1, "response": {"output": [{"foo": 1}]}',
    "numbered-type": '"reward": 1, "response": {"output": [{"type": 5, "x": 1}]}',
    "token-fraction": '"reward": 1, "response": {"output": [], "usage": {"input_tokens": 5.5}}',
    "surrogate-keys": '"reward": 1, "\\ud800": 1, "\\ud801": 2',
    "many-digits": f'"reward": 1, "x": {"9" * 4301}',
    "too-deep": f'"reward": 1, "x": {"[" * 5000 + "]" * 5000}',
    "many-tokens": '"reward": 1, "response": {"output": [], "usage": {"input_tokens": 1e30}}',
    "many-turns": '"reward": 1, "ng_perf": {"num_turns": 1e30}',
    "empty-key": '"reward": 1, "response": "r", "": 1',
    "surrogate-key": '"reward": 1, "response": "r", "\\ud800": 1',
    "space-before-answer": (
        '"reward": 1, "response": {"output": '
        '[{"type": "function_call_output", "output": " {\\"exit_code\\": 1}"}]}'
    ),
}

# Where we differ from Python's json, as ARCHITECTURE.md says.
DIFFERENT = {
    "dup-output": "of a key given twice below the top of a row the first counts",
    "dup-item-field": "of a key given twice below the top of a row the first counts",
    "dup-agent": "of a key given twice below the top of a row the first counts",
    "dup-usage": "of a key given twice below the top of a row the first counts",
    "many-digits": "Python refuses an integer of more than 4300 digits; the row is kept",
    "too-deep": "Python refuses deep nesting by the depth of its own stack; the row is kept",
}


@pytest.fixture(
    scope="module",
    params=[
        "general",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("sniffed", "small blocks")),
    ],
)
def odd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Odd:
    """Rows of every odd shape in three files, and odd rows in a file each, read in one way."""
    results = tmp_path_factory.mktemp("odd")
    rests = {
        "shapes": [f'"reward": 1, "response": {json.dumps(inputs)}' for inputs in SHAPES.values()],
        "rewards": [f'"reward": {inputs}' for inputs in REWARDS],
        "fields": [f'"reward": 1, "response": "r", {inputs}' for inputs in FIELDS],
    }
    for name, inputs in rests.items():
        rows = [indexed(number, rest) for number, rest in enumerate(inputs)]
        (results / f"{name}_rollouts.jsonl").write_bytes(b"\n".join(rows))
    for name, rest in ODD_ROWS.items():
        (results / f"{name}_rollouts.jsonl").write_bytes(indexed(1, rest))
    with pytest.MonkeyPatch.context() as patch:
        set_reading(request.param, patch)
        actual = loaded.load(results, tmp_path_factory.mktemp("out"))
    return Odd(results, actual)


def test_any_shape_of_response_is_loaded_as_read(odd: Odd):
    """Items, texts, calls and tokens come out the same from every shape of response."""
    assert len(odd.check("shapes")) == len(SHAPES)


def test_any_reward_is_loaded_as_read(odd: Odd):
    """Only a finite number is a score; anything else leaves the row unscored, never zero."""
    assert sum(row["is_scored"] for row in odd.check("rewards")) == len(SCORES)


def test_odd_fields_survive_whole(odd: Odd):
    """Fields the format does not own come back as they were, with any names and types."""
    assert len(odd.check("fields")) == len(FIELDS)


@pytest.mark.slow
def test_line_over_16_mb_is_a_reject(tmp_path: Path):
    """A line of 16 MB is a row, one byte more is a reject, and the lines around are untouched."""
    head = b'{"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 1, "x": "'
    fits = head + b"a" * (reference.LONGEST_LINE - len(head) - 2) + b'"}'
    too_long = fits.replace(b'index": 1,', b'index": 22,')
    small = indexed(3, '"reward": 0')
    actual = check_rows([small, too_long, fits], tmp_path)
    assert len(actual.rollouts) == 2


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[pytest.mark.xfail(strict=True, reason=DIFFERENT[name])]
            if name in DIFFERENT
            else [],
        )
        for name in ODD_ROWS
    ],
)
def test_odd_row_is_loaded_as_read(name: str, odd: Odd):
    """Keys given twice, items without a type and numbers beyond all measure are as json says."""
    odd.check(name)


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "n_bytes"), [(40, 1 << 21), (2, 15 << 20)])
def test_long_texts_are_loaded_in_bounded_memory(n_rows: int, n_bytes: int, tmp_path: Path):
    """Rows whose one message is long are loaded within the memory limit."""
    message = json.dumps({"type": "message", "role": "assistant", "content": "a" * n_bytes})
    rest = f'"reward": 1, "response": {{"output": [{message}]}}'
    actual = check_rows([indexed(number, rest) for number in range(n_rows)], tmp_path)
    assert len(actual.rollouts) == n_rows
