"""Inspect AI: archives and documents, their scores and figures, and what is wrong with some."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipeline.artifact import Artifact, Kind
from pipeline.ingest import formats
from pipeline.ingest.formats import Expected, Reject, Row, inspect_ai, inspect_sample, packed
from tests.case_files import filled
from tests.fact_files import facts_of
from tests.results import Results, analyzed, rollout


def sample(task: Any, epoch: int = 1, value: Any = "C", **more: Any) -> dict[str, Any]:
    """A sample that was answered and scored."""
    return {**filled("formats", "inspect_sample", task=task, epoch=epoch, value=value), **more}


def header(*ids: Any, epochs: int = 1, **more: Any) -> dict[str, Any]:
    """What a finished log says before its samples."""
    return {**filled("formats", "inspect_header", ids=list(ids), epochs=epochs), **more}


def published(scorer: str, name: str | None = None, **metrics: float) -> dict[str, Any]:
    """Figures of one score."""
    values = {key: {"name": f"inspect_ai/{key}", "value": value} for key, value in metrics.items()}
    return {"name": name or scorer, "scorer": scorer, "metrics": values}


def archive(members: Mapping[str, Any], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of JSON members; what is bytes already goes in as it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as created:
        for name, value in members.items():
            created.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return out.getvalue()


def log(*samples: dict[str, Any], head: dict[str, Any] | None = None) -> dict[str, Any]:
    """The members of a log."""
    named = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    ids = dict.fromkeys(one["id"] for one in samples)
    return {"_journal/start.json": header(*ids), **named, "header.json": head or header(*ids)}


def zstd(members: Mapping[str, Any]) -> bytes:
    """The same archive with members packed by zstd, which `zipfile` cannot write."""
    out, directory = b"", b""
    for name, value in members.items():
        plain, label = json.dumps(value).encode(), name.encode()
        body = pa.Codec("zstd").compress(plain, asbytes=True)
        sizes = (packed.zlib.crc32(plain), len(body), len(plain), len(label), 0)
        local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 63, 0, 93, 0, 0, *sizes)
        central = struct.pack("<4s6H3L2H", b"PK\x01\x02", 63, 63, 0, 93, 0, 0, *sizes)
        directory += central + struct.pack("<3H2L", 0, 0, 0, 0, len(out)) + label
        out += local + label + body
    sizes = (len(members), len(members), len(directory), len(out), 0)
    return out + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, *sizes)


def read(tmp_path: Path, content: bytes, name: str = "a.eval") -> list[formats.Reading]:
    """What the format finds in a file."""
    path = tmp_path / name
    path.write_bytes(content)
    return list(inspect_ai.read(Artifact(path, name, Kind.ROLLOUTS, format="inspect_ai")))


def rows(actual: list[formats.Reading]) -> list[dict[str, Any]]:
    """The rows among it."""
    return [one.value for one in actual if isinstance(one, Row)]


def reasons(actual: list[formats.Reading]) -> list[str]:
    """Why parts of it cannot be used."""
    return [one.reason for one in actual if isinstance(one, Reject)]


def files() -> dict[str, Any]:
    """Two tasks at two epochs by one model: an error, a limit, two scorers, and a later retry."""
    multi = {"match": {"value": "P"}, "multi": {"value": {"length": 3, "polite": True}}}
    call = {"id": "c1", "function": "add", "arguments": {"x": 1}}
    failed = {"type": "timeout", "message": "too slow"}
    reported = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "question a", "source": "input"},
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "hm"}],
            "tool_calls": [call],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "", "error": failed},
        {"role": "assistant", "content": "attachment://abc"},
    ]
    samples = [
        sample("a", 1, "C"),
        sample("a", 2, scores=multi, messages=reported, attachments={"abc": "seven"}),
        sample(5, 1, "I", limit={"type": "message", "limit": 9}),
        sample(5, 2, scores=None, messages=[], error={"message": "RuntimeError('died')"}),
    ]
    figures = [
        published("match", accuracy=0.375, stderr=0.375, bootstrap=1.0),
        published("multi", "length", mean=3.0),
    ]
    head = header("a", 5, epochs=2, results={"scores": figures})
    head["eval"]["dataset"]["sample_ids"].append("never")
    return {
        "logs/one.eval": archive(log(*samples, head=head)),
        "logs/earlier.json": json.dumps(
            {**header("a"), "eval": {**header("a")["eval"], "created": "2026-01-01T00:00:00"}}
        ),
    }


test_log = facts_of(files(), "inspect")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *(("C", 1), ("P", 0.5), ("I", 0), ("N", 0), ("yes", 1), (False, 0), ("0.25", 0.25), (2, 2)),
        *((float("nan"), None), ("who knows", None), ([1], None), (None, None)),
    ],
)
def test_scores_as_numbers(value: Any, number: float | None, tmp_path: Path) -> None:
    """Letters, words and numbers by declared rules; all else is unscored, never 0."""
    (row,) = rows(read(tmp_path, archive(log(sample(1, 1, value)))))
    assert row["reward"] == number
    assert row.get("grade") == ("who knows" if value == "who knows" else None)


@pytest.mark.parametrize(
    ("words", "reward"),
    [("Grade not found in model output: hm", None), ("The grade was not found", 0.0)],
)
def test_a_judge_that_gave_no_grade(words: str, reward: float | None, tmp_path: Path) -> None:
    """Inspect writes an I for it, and why: its own figures count a 0, no verdict was given."""
    graded = {"model_graded_qa": {"value": "I", "explanation": words}}
    (row,) = rows(read(tmp_path, archive(log(sample(1, scores=graded)))))
    assert (row["reward"], row["score"][0]["score"]) == (reward, 0.0)
    reason = None if reward is not None else "Grade not found in model output"
    assert row.get("explanation") == reason


def test_what_users_say_besides_the_input(tmp_path: Path) -> None:
    """A second question before the first answer is part of the transcript."""
    users = [{"role": "user", "content": words} for words in ("question 1", "and why?")]
    answer = {"role": "assistant", "content": "because"}
    (row,) = rows(read(tmp_path, archive(log(sample(1, messages=[*users, answer])))))
    assert [item["content"] for item in row["response"]["output"]] == ["and why?", "because"]
    assert [item["content"] for item in row["responses_create_params"]["input"]] == ["question 1"]


def test_events_are_passed_over_or_read(tmp_path: Path) -> None:
    """A sample is the same with its events skipped or not; they speak where no message does."""
    event = {
        "event": "model",
        "output": {"choices": [{"message": {"role": "assistant", "content": "x"}}]},
    }
    silent = sample(1, messages=[{"role": "user", "content": "question 1"}], events=[event])
    (messages,) = rows(read(tmp_path, archive(log(silent))))
    assert [item["content"] for item in messages["response"]["output"]] == ["x"]
    usual = sample(1, store={"events": [], "model_usage": {}}, tail={"model_usage": {"a": 1}})
    (row,) = rows(read(tmp_path, archive(log(usual))))
    (same,) = rows(read(tmp_path, json.dumps({**header(1), "samples": [usual]}).encode(), "a.json"))
    assert row == same and row["response"]["usage"]["output_tokens"] == 2


def model_event(model: str, words: str, **more: Any) -> dict[str, Any]:
    """One call of a model and its answer."""
    message = {"role": "assistant", "content": words, "model": model.rpartition("/")[2]}
    output = {"model": model, "choices": [{"message": message, "stop_reason": words}]}
    return {"event": "model", "model": model, "output": output, **more}


SCORERS = [
    {"event": "span_begin", "id": "s", "type": "scorers"},
    {"event": "span_begin", "id": "t", "type": "scorer", "parent_id": "s"},
    {"event": "span_begin", "id": "u", "type": "agent", "parent_id": "t"},
]
OTHER_MODELS = {
    "a role": [model_event("org/judge", "GRADE: I", role="grader")],
    "a role of the same model": [model_event("org/m", "GRADE: I", role="monitor")],
    "another model": [model_event("org/judge", "GRADE: I")],
    "a scorer, at any depth": [*SCORERS, model_event("org/m", "GRADE: I", span_id="u")],
    "a scorer of an older log": [
        {"event": "step", "action": "begin", "type": "scorer"},
        model_event("org/m", "GRADE: I"),
        {"event": "step", "action": "end", "type": "scorer"},
    ],
}


@pytest.mark.parametrize("case", OTHER_MODELS)
def test_what_another_model_answers_is_no_answer(case: str, tmp_path: Path) -> None:
    """Where the events have the answer, only those of the evaluated model are turns."""
    request = [{"role": "user", "content": "question 1", "source": "input"}]
    events = [model_event("org/m", "it is 7", span_id="solver"), *OTHER_MODELS[case]]
    attempt = sample(1, messages=request, output={"choices": []}, events=events)
    (row,) = rows(read(tmp_path, archive(log(attempt))))
    assert [item["content"] for item in row["response"]["output"]] == ["it is 7"]
    assert row["stop_reason"] == "it is 7"


def test_models_of_other_roles(tmp_path: Path) -> None:
    """Neither a message nor an output nor tokens of theirs are the attempt's."""
    head = header(1)
    head["eval"]["model_roles"] = {"monitor": {"model": "org/judge"}, "self": {"model": "org/m-2"}}
    turns = [
        {"role": "user", "content": "question 1", "source": "input"},
        {"role": "assistant", "content": "it is 7", "model": "m-2"},
        {"role": "assistant", "content": "looks safe", "model": "judge"},
    ]
    judged = {"model": "judge", "completion": "looks safe", "choices": [{"stop_reason": "x"}]}
    spent = {"org/judge": {"input_tokens": 9}}
    attempt = sample(1, messages=turns, output=judged, model_usage=spent)
    (row,) = rows(read(tmp_path, archive(log(attempt, head=head))))
    assert [(item["role"], item["content"]) for item in row["response"]["output"]] == [
        ("assistant", "it is 7"),
        ("user", "looks safe"),
    ]
    assert row["stop_reason"] is None and "usage" not in row["response"]
    silent = sample(1, messages=[*turns[:1], *turns[2:]], output=judged)
    (row,) = rows(read(tmp_path, archive(log(silent, head=head))))
    assert [item["role"] for item in row["response"]["output"]] == ["user"]


@pytest.mark.parametrize(
    ("words", "answer"), [("GRADE: I, too vague", None), ("answer to 1", "answer to 1")]
)
def test_an_answer_that_explains_the_score(words: str, answer: str | None, tmp_path: Path) -> None:
    """What the grader says twice, as answer and as explanation, is not what the model answered."""
    graded = {"match": {"value": "I", "answer": words, "explanation": words}}
    (row,) = rows(read(tmp_path, archive(log(sample(1, scores=graded)))))
    assert row.get("extracted_answer") == answer


@pytest.mark.parametrize(
    ("words", "recorded", "extracted"),
    [("I cannot say", "", ""), ("I cannot say", None, None), ("", "", None), ("B", "B", "B")],
)
def test_an_empty_answer_of_a_score_was_not_extracted(
    words: str, recorded: str | None, extracted: str | None, tmp_path: Path
) -> None:
    """Where the attempt has words; without these, or without the field, nothing is known of it."""
    graded = {"choice": {"value": "I", "answer": recorded, "explanation": words}}
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": words}]
    content = archive(log(sample(1, messages=messages, scores=graded)))
    (row,) = rows(read(tmp_path, content))
    assert row.get("extracted_answer") == extracted
    assert ("extracted_answer" in row) == (extracted is not None)


def test_a_log_that_evaluates_its_roles(tmp_path: Path) -> None:
    """Where the named model is never called, those of roles answer, but no grader."""
    request = [{"role": "user", "content": "question 1", "source": "input"}]
    events = [
        model_event("org/a", "one", role="red"),
        model_event("org/b", "two", role="blue"),
        model_event("org/c", "GRADE: C", role="grader"),
    ]
    attempt = sample(1, messages=request, output={"choices": []}, events=events)
    (row,) = rows(read(tmp_path, archive(log(attempt))))
    assert [item["content"] for item in row["response"]["output"]] == ["one", "two"]


def test_two_logs_of_one_second_are_two_runs(tmp_path: Path) -> None:
    """The time a log was begun may not tell it from another; its file then does."""
    actual = []
    for name, task in (("x.eval", "t1"), ("y.eval", "t2")):
        head = header("a")
        head["eval"]["task_id"] = task
        (tmp_path / name).write_bytes(archive(log(sample("a"), head=head)))
        actual.append(formats.ListedFile(tmp_path / name, name))
    assert len({(claim.stem, claim.mark) for claim in inspect_ai.claims(actual)}) == 2


def of_one_run(**members: Any) -> dict[str, Any]:
    """The header of a log that names its run."""
    head = header("a", "b", **members)
    head["eval"]["run_id"] = "r1"
    return head


WHOLE = archive(log(sample("a"), sample("b", value="I"), head=of_one_run()))
COPIES = {
    "its samples in another order": (
        "x.eval",
        archive(log(sample("b", value="I"), sample("a"), head=of_one_run())),
        "holds the same as whole.eval",
    ),
    "an earlier state of it": (
        "x.eval",
        archive(log(sample("b", value="I"), head=of_one_run(status="started"))),
        "holds a part of whole.eval",
    ),
    "its header": (
        "x.json",
        json.dumps(of_one_run()).encode(),
        "is the header of whole.eval, without its samples",
    ),
    "the same as a document": (
        "x.json",
        json.dumps({**of_one_run(), "samples": [sample("b", value="I"), sample("a")]}).encode(),
        "holds the same as whole.eval",
    ),
    "other scores of its samples": (
        "scored-again.eval",
        archive(log(sample("a"), sample("b", value="C"), head=of_one_run())),
        None,
    ),
    "a document of other scores": (
        "scored-again.json",
        json.dumps({**of_one_run(), "samples": [sample("a"), sample("b")]}).encode(),
        None,
    ),
    "another run at the same second": ("other.json", json.dumps(header("a", "b")).encode(), None),
}


@pytest.mark.parametrize("case", COPIES)
def test_copies_of_a_log(case: str, tmp_path: Path) -> None:
    """Of one run and task the log with all samples is read, and its name is that of the run."""
    name, content, reason = COPIES[case]
    for file, written in ((name, content), ("whole.eval", WHOLE)):
        (tmp_path / file).write_bytes(written)
    files = [formats.ListedFile(tmp_path / file, file) for file in (name, "whole.eval")]
    other, whole = inspect_ai.claims(files)
    assert (other.skipped, whole.skipped) == (reason, None)
    assert ("whole.eval" in whole.mark) == (reason is None)


def claimed(tmp_path: Path, **documents: Any) -> list[str]:
    """The stems of the JSON files that are taken for logs."""
    actual = []
    for name, value in documents.items():
        path = tmp_path / f"{name}.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
        actual.append(formats.ListedFile(path, path.name))
    return [claim.file.path.stem for claim in inspect_ai.claims(actual)]


def test_documents_that_are_logs(tmp_path: Path) -> None:
    """A log may have no version or be cut off early; a listing of logs is none."""
    whole = {**header("a"), "samples": [sample("a")]}
    unversioned = {name: value for name, value in whole.items() if name != "version"}
    cut = json.dumps(whole)[:120]
    other = {"version": 1, "eval": {"metric": "accuracy"}}
    listing = {"2026-01-02_sums.json": header("a")}
    names = claimed(tmp_path, unversioned=unversioned, cut=cut, other=other, logs=listing)
    assert names == ["unversioned", "cut"]
    with pytest.raises(ValueError, match="not JSON"):  # which is the file's reject
        read(tmp_path, cut.encode(), "cut.json")


def test_the_only_score_of_the_oldest_logs(tmp_path: Path) -> None:
    """Version 1 has one score per sample, which has its name in the results."""
    metrics = {"accuracy": {"name": "accuracy", "value": 1.0}}
    head = header("a", version=1, results={"scorer": {"name": "match"}, "metrics": metrics})
    old = {**sample("a"), "score": {"value": "C", "answer": "7"}, "scores": None}
    actual = read(tmp_path, json.dumps({**head, "samples": [old]}).encode(), "old.json")
    (row,) = rows(actual)
    assert (row["reward"], row["score"][0]["name"], row["extracted_answer"]) == (1.0, "match", "7")
    figures = [one.means for one in actual if isinstance(one, formats.Figure)]
    assert figures == ["task_mean/scores.match"]


def cut_down() -> dict[str, Any]:
    """Where not all samples are in the log, its figures are not compared with those that are."""
    results = {"total_samples": 9, "scores": [published("match", accuracy=0.25)]}
    cut = {**header("a", "b", "c", results=results), "samples": [sample("a")]}
    return {"cut.json": json.dumps(cut)}


test_figures_of_a_log_that_was_cut_down = pytest.mark.slow(facts_of(cut_down(), "inspect_cut"))


def test_a_log_of_part_of_its_dataset(tmp_path: Path) -> None:
    """A whole log was to run the samples that it ran, however many its dataset lists."""
    part = {**header("a", "b", "c", results={"total_samples": 1}), "samples": [sample("a")]}
    actual = read(tmp_path, json.dumps(part).encode(), "part.json")
    assert [one for one in actual if isinstance(one, formats.Expected)] == [
        formats.Expected("a", 0)
    ]
    ended = {**part, "status": "error"}
    actual = read(tmp_path, json.dumps(ended).encode(), "ended.json")
    assert formats.Expected("c", 0) in actual


def gym_and_inspect() -> dict[str, Any]:
    """Questions with the same words are one task, under any names; then runs are compared."""
    own = [rollout(n, 0, ask=f"question s{n}", reward=float(n > 0), expected="7") for n in range(4)]
    samples = [sample(f"s{n}", value="C" if n < 3 else "I") for n in (2, 0, 1, 3)]
    ids = header("s0", "s1", "s2", "s3", "lost")
    return {"gym_rollouts.jsonl": own, "other.eval": archive(log(*samples, head=ids))}


test_a_run_of_gym_and_one_of_inspect_compare = pytest.mark.slow(
    facts_of(gym_and_inspect(), "inspect_compared")
)


def test_zstd_members(tmp_path: Path) -> None:
    """Members packed by zstd read as those packed by deflate."""
    assert read(tmp_path, zstd(log(sample("a")))) == read(tmp_path, archive(log(sample("a"))))


def test_unfinished_logs(tmp_path: Path) -> None:
    """Without a header the journal's beginning counts; of two members of a name the last."""
    members = log(sample("a"), sample("b", value="I"))
    del members["header.json"]
    actual = read(tmp_path, archive(members))
    assert [row["reward"] for row in rows(actual)] == [1, 0]
    assert formats.Expected("b", 0) in actual
    twice = io.BytesIO(archive(members))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(twice, "a") as created:
        created.writestr("samples/a_epoch_1.json", json.dumps(sample("a", value="P")))
    assert sorted(row["reward"] for row in rows(read(tmp_path, twice.getvalue()))) == [0, 0.5]


def test_damaged_archives(tmp_path: Path) -> None:
    """What is damaged, cut off or no sample is a reject that names its member; the rest is read."""
    members = log(sample("a"), sample("b"))
    whole = archive({**members, "samples/x_epoch_1.json": b"{", "samples/y_epoch_1.json": b"[]"})
    actual = read(tmp_path, whole)
    assert len(rows(actual)) == 2
    assert [reason.partition(":")[0] for reason in reasons(actual)] == [
        "samples/x_epoch_1.json",
        "samples/y_epoch_1.json",
    ]
    # Half of it was written: no directory, and the second sample is not whole.
    place = whole.index(b"samples/b_epoch_1.json")
    actual = read(tmp_path, whole[: place + 100])
    assert [row["_ng_task_index"] for row in rows(actual)] == ["a"]
    assert reasons(actual) == ["not a whole zip archive: File is not a zip file"]
    flipped = bytearray(whole)
    flipped[place + 60] ^= 0xFF
    actual = read(tmp_path, bytes(flipped))
    assert len(rows(actual)) == 1 and reasons(actual)[0].startswith(
        "samples/b_epoch_1.json: is damaged"
    )


def test_members_that_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member is unpacked no further than it says, and than the limit."""
    monkeypatch.setattr(packed, "MOST_BYTES", 1 << 20)
    members = log(sample("a"))
    bomb = archive({**members, "samples/b_epoch_1.json": b"[" + b"0," * (1 << 20) + b"0]"})
    actual = read(tmp_path, bomb)
    assert len(rows(actual)) == 1 and "has more than" in reasons(actual)[0]
    monkeypatch.undo()
    monkeypatch.setattr(packed, "MOST_VALUES", 50)
    deep = archive({**members, "samples/b_epoch_1.json": b"[" * 60 + b"]" * 60})
    assert reasons(read(tmp_path, deep)) == [
        "samples/b_epoch_1.json: has more than 50 lists and objects"
    ]
    monkeypatch.undo()
    whole = io.BytesIO(archive({**members, "samples/b_epoch_1.json": b"x" * 90}))
    with zipfile.ZipFile(whole, "a") as created:
        created.filelist += [copy(created.filelist[-1]) for _ in range(9)]
        for number, one in enumerate(created.filelist[-9:]):
            one.filename = f"samples/c{number}_epoch_1.json"
            one.compress_size = 1 << 20
        created.writestr("last", b"")
    actual = read(tmp_path, whole.getvalue())
    assert len(rows(actual)) == 1 and "overlap" in reasons(actual)[-1]
    lying = bytearray(archive({**members, "samples/b_epoch_1.json": b" " * 5000}))
    place = lying.rindex(b"PK\x01\x02", 0, lying.rindex(b"samples/b_epoch_1.json"))
    struct.pack_into("<L", lying, place + 24, 10)
    assert "is damaged: its size or" in reasons(read(tmp_path, bytes(lying)))[0]


@pytest.mark.parametrize("cut", [10, 300, 900, 1500])
def test_documents_that_are_cut_off(cut: int, tmp_path: Path) -> None:
    """What could be read of a cut document is read; the file's end is its reject."""
    whole = json.dumps({**header(1, 2), "samples": [sample(1), sample(2)]}).encode()
    (tmp_path / "a.json").write_bytes(whole[:-cut])
    artifact = Artifact(tmp_path / "a.json", "a.json", Kind.ROLLOUTS, format="inspect_ai")
    actual: list[formats.Reading] = []
    with pytest.raises(ValueError, match="not JSON"):
        for one in inspect_ai.read(artifact):
            actual.append(one)
    assert len(rows(actual)) == int(cut < 900)


def items_of(tmp_path: Path, **more: Any) -> list[dict[str, Any]]:
    """The output of the only sample of a log."""
    (row,) = rows(read(tmp_path, archive(log(sample(1, **more)))))
    return row["response"]["output"]


def test_how_a_sample_ended_is_in_its_events(tmp_path: Path) -> None:
    """Where a solver leaves no output: why the model stopped last, and the time of all events."""

    def event(seconds: int, reason: str) -> dict[str, Any]:
        answer = {"message": {"role": "assistant", "content": "7"}, "stop_reason": reason}
        stamp = f"2026-01-01T00:00:{seconds:02}+00:00"
        return {"event": "model", "timestamp": stamp, "output": {"choices": [answer]}}

    request = [{"role": "user", "content": "question 1", "source": "input"}]
    events = [event(1, "stop"), event(9, "max_tokens")]
    bare = {"messages": request, "output": {"choices": []}, "total_time": None, "events": events}
    (row,) = rows(read(tmp_path, archive(log(sample(1, **bare)))))
    assert (row["stop_reason"], row["total_run_time"]) == ("max_tokens", 8.0)


def ended(reason: str, model: str = "org/m", call: str = "") -> dict[str, Any]:
    """An event of a model that stopped for a reason, as Inspect writes it."""
    message = {"role": "assistant", "content": "7", "tool_calls": [{"id": call}]}
    choice = {"message": message, "stop_reason": reason}
    return {"event": "model", "model": model, "output": {"choices": [choice]}}


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([ended("tool_calls"), ended("max_tokens"), ended("stop", "org/watcher")], "max_tokens"),
        # Its calls were written beforehand: only a monitor was asked.
        ([ended("stop", "org/watcher")], None),
        # A call that is in the messages is the attempt's, any model may have made it.
        (
            [ended("length", "org/weak", "c1"), ended("stop"), ended("stop", "org/watcher")],
            "length",
        ),
    ],
)
def test_why_a_model_stopped_beside_its_messages(
    events: list[Any], reason: str | None, tmp_path: Path
) -> None:
    """A sample whose messages have the answer may have an output without a choice."""
    request = {"role": "user", "content": "question 1", "source": "input"}
    answer = {"role": "assistant", "content": "7", "tool_calls": [{"id": "c1", "function": "f"}]}
    silent = {
        "messages": [request, answer],
        "output": {"choices": []},
        "events": events,
        "model_usage": {"org/m": {"output_tokens": 2}},
    }
    (row,) = rows(read(tmp_path, archive(log(sample(1, **silent)))))
    assert row["stop_reason"] == reason


@pytest.mark.slow
def test_how_answers_usually_end_is_no_field(tmp_path: Path) -> None:
    """A stop and a call are ends of any answer; a filter and a limit are what rows differ in."""
    reasons = ("stop", "tool_calls", "content_filter", "max_tokens")
    samples = [
        sample(task, output={"choices": [{"stop_reason": reasons[task % 4]}]}) for task in range(8)
    ]
    results = analyzed(tmp_path, {"one.eval": archive(log(*samples))})
    assert results.rows(
        "select finish_reason, count(*) from rollouts group by all order by all"
    ) == [(reason, 2) for reason in sorted(reasons)]
    assert results.column(
        "select distinct value from signs where name = 'stop_reason' order by all"
    ) == ["content_filter", "max_tokens"]
    assert results.rows("select n_at_limit, limit_kinds from report.looked") == [
        (2, ["message", "token"])
    ]


def test_an_answer_outside_the_messages(tmp_path: Path) -> None:
    """What a sample gives for its output is the answer where no message is one."""
    request = [{"role": "user", "content": "question 1", "source": "input"}]
    assert items_of(tmp_path, messages=request, output={"completion": "it is 7"}) == [
        {"type": "message", "role": "assistant", "content": "it is 7"}
    ]


def test_a_tool_of_the_models_own_server(tmp_path: Path) -> None:
    """A call among the parts of a message is read, with its answer, in its place."""
    search = {"type": "tool_use", "tool_type": "web_search", "id": "w", "name": "web_search"}
    parts = [
        {"type": "text", "text": "I look."},
        {**search, "arguments": '{"query": "7"}', "result": "[found]", "error": None},
        {**search, "id": "x", "arguments": {}, "result": "", "error": "too_many_requests"},
        {"type": "text", "text": "It is 7."},
    ]
    message = [{"role": "assistant", "content": parts, "source": "generate"}]
    assert [
        (item["type"], item.get("call_id")) for item in items_of(tmp_path, messages=message)
    ] == [
        ("message", None),
        ("function_call", "w"),
        ("function_call_output", "w"),
        ("function_call", "x"),
        ("function_call_output", "x"),
        ("message", None),
    ]
    created = items_of(tmp_path, messages=message)
    assert (created[1]["name"], created[1]["arguments"]) == ("web_search", '{"query": "7"}')
    assert (created[2]["output"], created[4]["output"]) == (
        "[found]",
        '{"error": "too_many_requests"}',
    )


GRADERS = {
    "the evaluated model grades itself": ([{"name": "model_graded_qa"}], {}, "m/x"),
    "the role": ([{"name": "inspect_ai/model_graded_fact"}], {"grader": {"model": "m/y"}}, "m/y"),
    "the scorer's own": (
        [{"name": "own", "options": {"model": ["m/b", "m/a"]}}],
        {"grader": {"model": "m/y"}},
        "m/a, m/b",
    ),
    "no model": ([{"name": "match"}], {}, None),
}


@pytest.mark.parametrize("case", GRADERS)
def test_the_model_that_grades_is_a_setting(case: str) -> None:
    """Who grades is read from the scorers and the roles of the log."""
    scorers, roles, expected = GRADERS[case]
    evaluation = {"model": "m/x", "scorers": scorers, "model_roles": roles}
    assert inspect_ai._grader(evaluation) == expected


# Who graded each run of a benchmark, and what is shown of it.
GRADED: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {
    "own": (("m/a", "m/b", "m/c"), [(1, "own", 3, 3, True)]),
    "two": (("m/a", "m/b", "m/a"), [(1, None, 3, 2, True)]),
    # One that grades all, and two runs, whose comparison says it.
    "one": (("m/a", "m/a", "m/a"), []),
    "pair": (("m/a", "m/b"), []),
}


@pytest.fixture(scope="module")
def several_graders(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A benchmark for each case, with runs of several models."""
    logs = {}
    for benchmark, (graders, _) in GRADED.items():
        for name, grader in zip("abc", graders, strict=False):
            head = header(*(f"{benchmark} {one}" for one in "xy"))
            head["eval"] |= {
                "task": benchmark,
                "model": f"m/{name}",
                "model_roles": {"grader": {"model": grader}},
                "scorers": [{"name": "model_graded_qa"}],
            }
            samples = [sample(f"{benchmark} x", value="C"), sample(f"{benchmark} y", value="I")]
            logs[f"{benchmark}_{name}.eval"] = archive(log(*samples, head=head))
    return analyzed(tmp_path_factory.mktemp("graders"), logs, needs=["findings"])


@pytest.mark.parametrize("benchmark", GRADED)
def test_runs_that_several_graders_scored(benchmark: str, several_graders: Results) -> None:
    """It comes before any change between them, and whether each graded itself."""
    rows = several_graders.rows(f"""
        select finding_no, reason, n_attempts, n_all_attempts, is_of_scores
        from findings
        where kind = 'graders' and benchmark = '{benchmark}'
    """)
    assert rows == GRADED[benchmark][1]
    assert several_graders.one("select count(distinct benchmark) from runs") == len(GRADED)


def test_numbers_of_rows_are_no_ids(tmp_path: Path) -> None:
    """A header that counts its rows where samples have names expects nobody."""
    head = header(1, 2)
    actual = read(tmp_path, archive(log(sample("first"), sample("second"), head=head)))
    assert not [one for one in actual if isinstance(one, Expected)]
    actual = read(tmp_path, archive(log(sample("first"), sample("second"))))
    assert len([one for one in actual if isinstance(one, Expected)]) == 2


def test_the_value_that_is_published_is_the_reward(tmp_path: Path) -> None:
    """Of a scorer that gives several values, one of which has a mean of its own."""
    values = {"correct": 1, "steps": 3}
    head = header("a")
    head["results"] = {
        "scores": [
            published("steps_scorer", share=0.4),
            published("steps_scorer", "correct", mean=1),
        ]
    }
    scored = sample("a", scores={"steps_scorer": {"value": values}})
    rows = [one for one in read(tmp_path, archive(log(scored, head=head))) if isinstance(one, Row)]
    assert [one.value["reward"] for one in rows] == [1.0]


def test_a_log_without_results_has_the_first_value_of_its_scorer() -> None:
    """A cancelled log publishes nothing; its scorer has metrics by value, or for all."""
    scorer = {"name": "checks", "metrics": {"done": [], "safe": []}}
    assert inspect_ai._headline({"eval": {"scorers": [scorer]}}) == ("checks.done", "checks")
    scorer = {"name": "checks", "metrics": []}
    assert inspect_ai._headline({"eval": {"scorers": [scorer]}}) == ("checks",)
    assert inspect_ai._headline({"eval": {}}) == ()


@pytest.mark.parametrize(
    ("ids", "total", "expected"),
    [
        # Numbered again after one was taken out of the dataset: nothing is missing or foreign.
        ([1, 2, 3], 3, ["1", "2", "4"]),
        (["x", "y", "z"], 3, ["1", "2", "4"]),
        # A log that does not say that it is complete lists what it was asked for.
        ([1, 2, 3], None, ["1", "2", "3"]),
        ([1, 2, 4], 3, ["1", "2", "4"]),
    ],
)
def test_ids_that_were_numbered_again(
    ids: list[Any], total: int | None, expected: list[str], tmp_path: Path
) -> None:
    """A complete log with as many samples as it lists asked for the samples that it has."""
    head = header(*ids, results={"total_samples": total, "scores": []})
    actual = read(tmp_path, archive(log(sample(1), sample(2), sample(4), head=head)))
    assert [one.task for one in actual if isinstance(one, Expected)] == expected


@pytest.mark.slow
def test_what_a_cancelled_log_lacks_says_so(tmp_path: Path) -> None:
    """Samples that were never run are no failures; the end of a run is reported once."""
    head = header("a", "b", "c", status="cancelled")
    failed = header("a", "b", "c", status="error")
    failed["eval"] |= {"model": "m/two", "task_id": "other"}
    failed["error"] = {"message": "Error code: 429 - You exceeded your current quota"}
    logs = {
        "one.eval": archive(log(sample("a", value="I"), sample("b"), head=head)),
        "two.eval": archive(log(sample("a", value="I"), head=failed)),
    }
    results = analyzed(tmp_path, logs)
    query = "select n_attempts, n_all_attempts, mode from findings where kind = 'ended'"
    assert results.rows(f"{query} order by finding_no") == [
        (1, 3, "Error code: 429 - You exceeded your current quota"),
        (2, 3, "log_status = cancelled"),
    ]
    assert results.column(
        "select distinct n_all_failures from failure_modes where run_id is null"
    ) == [2]
    assert not results.rows("from failure_modes where mode = 'no row recorded' and n_failures > 0")
    assert results.column("select n_rows from report.gaps where gap = 'failures'") == [1]
    # Each call of the model is an event of the log, a failed one, too.
    assert not results.rows("from report.gaps where gap = 'trajectory'")
    text = (results.path.parent / "report.md").read_text(encoding="utf-8")
    assert "has 1 of 3 expected attempts; its log ended with: `Error code: 429" in text
    assert "no row recorded" not in text


@pytest.mark.slow
def test_logs_that_ended_with_an_error(tmp_path: Path) -> None:
    """Logs without samples are runs of the benchmark that they name, each with its own error."""
    logs = {"whole.eval": archive(log(sample("a"), sample("b", value="I")))}
    errors = {
        "none": "RuntimeError: quota <b>1</b>",
        "same": "RuntimeError: quota <b>1</b>",
        "all": "ValueError: no scorer",
    }
    for model, error in errors.items():
        head = header("a", "b", status="error", error={"message": error})
        head["eval"] |= {"model": f"org/{model}", "task_id": model, "dataset": {}}
        samples = [sample("a"), sample("b")] if model == "all" else []
        logs[f"{model}.eval"] = archive(log(*samples, head=head))
    results = analyzed(tmp_path, logs)
    assert results.column("select distinct benchmark from runs") == ["sums"]
    assert results.rows("""
        select run_id, other_runs, n_attempts, mode from findings where kind = 'ended' order by all
    """) == [
        ("sums-all", [], 2, "ValueError: no scorer"),
        ("sums-none", ["sums-same"], None, "RuntimeError: quota <b>1</b>"),
    ]
    assert results.rows("""
        select run_id, evidence from health_findings where check_id = 'run_log_ended' order by all
    """) == [(f"sums-{model}", error) for model, error in sorted(errors.items())]
    text = (results.path.parent / "report.md").read_text(encoding="utf-8")
    assert "`sums-none` has no attempt; its log ended with: `RuntimeError: quota <b>1</b>`" in text
    assert "so does `sums-same`." in text
    assert "`sums-all` has 2 attempts; its log ended with: `ValueError: no scorer`." in text
    page = (results.path.parent / "report.html").read_text(encoding="utf-8")
    assert "quota <b>" not in page


@pytest.mark.slow
@pytest.mark.parametrize("n_letters", [0, 4])
def test_grades_that_are_words(n_letters: int, tmp_path: Path) -> None:
    """They count as scored, and are no missing grades; what each is worth is not known."""
    samples = [
        *(sample(f"w{n}", value="refused" if n % 3 else "complied") for n in range(6)),
        *(sample(f"l{n}", value="CI"[n % 2]) for n in range(n_letters)),
    ]
    results = analyzed(tmp_path, {"one.eval": archive(log(*samples))})
    n_all = 6 + n_letters
    stages = dict(results.rows("select stage, n_reached from funnel"))
    assert (stages["scored"], stages["graded"]) == (n_all, n_all)
    assert stages.get("passed") == (2 if n_letters else None)
    assert results.rows("select n_attempts, n_all_attempts, mode from findings") == [
        (6, n_all, "refused (4), complied (2)")
    ]
    text = (results.path.parent / "report.md").read_text(encoding="utf-8")
    assert f"6 of {n_all} attempts have grades that are words: `refused (4), complied (2)`" in text
    assert "lost at" not in text and "attempt is not graded" not in text


@pytest.mark.slow
def test_every_score_is_reported(tmp_path: Path) -> None:
    """Each with its mean and its attempts; the summary says which one is the reward."""
    samples = [
        sample(task, scores={"useful": {"value": value}, "attack": {"value": attack}})
        for task, value, attack in (("a", 1.0, 0.0), ("b", 0.0, 1.0), ("c", 1.0, 0.0))
    ]
    del samples[2]["scores"]["attack"]
    scored = {"total_samples": 3, "scores": [published("useful", mean=0.5)]}
    head = header("a", "b", "c", results=scored)
    results = analyzed(tmp_path, {"one.eval": archive(log(*samples, head=head))})
    assert results.rows("""
        select component, is_reward, n_rollouts, mean_value from reward_components order by all
    """) == [("attack", False, 2, 0.5), ("useful", True, 3, 2 / 3)]
    text = (results.path.parent / "report.md").read_text(encoding="utf-8")
    assert "The score is `useful`; rows record `attack` too." in text
    assert "| `attack` | 2 | 2 | 0.5 | 0 | 1 |" in text


@pytest.mark.slow
def test_what_a_grader_says_of_several_attempts(tmp_path: Path) -> None:
    """How its words begin is counted, unless they put the verdict; details behind it differ."""
    logs = {}
    for model in ("one", "two", "three"):
        head = header(*range(8))
        head["eval"] |= {"model": f"org/{model}", "task_id": model}
        samples = []
        for task in range(8):
            is_lost = model != "three"
            words = f"Failed to set up tests: no image {task}" if is_lost else "The tests ran"
            value = "C" if task % 2 and not is_lost else "I"
            scores = {"match": {"value": value, "explanation": words}}
            samples.append(sample(task, scores=scores))
        logs[f"{model}.eval"] = archive(log(*samples, head=head))
    results = analyzed(tmp_path, logs)
    assert results.rows("""
        select mode, n_failures, n_failures_observed, n_passes, look_at
        from failure_modes
        where run_id is null and kind = 'explanation'
    """) == [("explanation begins with Failed to set up tests", 16, 20, 0, "verifier")]
    assert results.column(
        "select distinct sign from signs where kind = 'explanation' order by all"
    ) == ["explanation begins with Failed to set up tests", "explanation begins with The tests ran"]


@pytest.mark.slow
@pytest.mark.parametrize("is_reached", [True, False])
def test_limits_that_were_looked_for(is_reached: bool, tmp_path: Path) -> None:
    """Those that a log sets and those that a response shows; what a pass reached, too."""
    limit = {"limit": {"type": "message", "limit": 34}} if is_reached else {}
    samples = [sample(task, value="I" if task < 4 else "C") for task in range(8)]
    samples[7] |= limit
    head = header(*range(8))
    head["eval"]["config"] |= {"message_limit": 34, "time_limit": 420}
    results = analyzed(tmp_path, {"one.eval": archive(log(*samples, head=head))})
    assert results.rows("""
        select limit_kinds, n_at_limit, n_passes_at_limit, limits_reached from report.looked
    """) == [
        (
            ["message", "time", "token"],
            int(is_reached),
            int(is_reached),
            ["recorded limit = message"] * is_reached,
        )
    ]
    text = (results.path.parent / "report.md").read_text(encoding="utf-8")
    sentence = "1 attempt of 8 ends at a limit (`recorded limit = message`), 1 of them a pass."
    absent = "Not found: attempts at a message or time or token limit (0 of 8)"
    assert ((sentence in text), (absent in text)) == (is_reached, not is_reached)


CACHED = "input_tokens_cache_read"


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        # An output that only the total counts.
        ({"input_tokens": 104, "output_tokens": 0, "total_tokens": 268}, (104, 164)),
        # Cached input that is counted apart, and as a part of the input.
        ({"input_tokens": 30, CACHED: 100, "output_tokens": 7, "total_tokens": 137}, (130, 7)),
        ({"input_tokens": 130, CACHED: 100, "output_tokens": 7, "total_tokens": 137}, (130, 7)),
        # Nothing says which.
        ({"input_tokens": 30, CACHED: 100, "output_tokens": 7}, (30, 7)),
    ],
)
def test_tokens(usage: dict[str, int], tokens: tuple[int, int], tmp_path: Path) -> None:
    """All that the model read and all that it wrote, whichever way its provider counts."""
    used = {"mockllm/model": usage}
    (row,) = (
        one
        for one in read(tmp_path, archive(log(sample("a", model_usage=used))))
        if isinstance(one, Row)
    )
    actual = row.value["response"]["usage"]
    assert (actual["input_tokens"], actual["output_tokens"]) == tokens


def more_logs() -> dict[str, bytes]:
    """A task with arguments, two models under one id, and a log that was packed again."""
    head = header(1)
    arguments = {"shots": 5, "level": "007", "api_key": "s", "seed": None}
    head["eval"] |= {"task": "arguments", "task_id": "own", "task_args": arguments}
    head["eval"]["revision"] = {"type": "git", "origin": "o", "commit": "1a2b3c4", "dirty": True}
    head["eval"]["packages"] = {"inspect_ai": "0.3.150"}
    logs = {"args.eval": archive(log(sample(1), head=head))}
    for day, model in enumerate(("m/one", "m/two"), start=1):
        head = header("a")
        created = f"2025-01-0{day}T00:00:00+00:00"
        head["eval"] |= {"task": "models", "model": model, "created": created, "task_id": "same"}
        logs[f"logs/{model[2:]}.eval"] = archive(log(sample("a"), head=head))
    members = log(sample("a"), sample("b", value="I"))
    logs["packed/one.eval"] = archive(members)
    logs["packed/two.eval"] = archive(members, method=zipfile.ZIP_STORED)
    return logs


test_more_logs = pytest.mark.slow(facts_of(more_logs(), "inspect_more"))


def prompted_logs() -> dict[str, bytes]:
    """One dataset as tasks without a system prompt, with one, and with a solver of their own."""
    guide = {"role": "system", "content": "Be careful.", "source": "task"}
    steps = {
        "asked": ["generate"],
        "asked_guided": ["system_message", "inspect_ai/generate"],
        "asked_own": ["my_agent"],
    }
    logs = {}
    for place, (name, solvers) in enumerate(steps.items()):
        mode = name.partition("_")[2] or "unprompted"
        samples = []
        for task in range(6):
            messages = [
                *([guide] if mode == "guided" else []),
                {"role": "user", "content": f"Is claim {task} true?", "source": "input"},
                {"role": "assistant", "content": "no", "source": "generate"},
            ]
            question = {"input": f"Is claim {task} true?", "messages": messages}
            samples.append(sample(f"t{task}", value="C" if task % 2 else "I", **question))
        head = header(*(one["id"] for one in samples), epochs=1)
        head["plan"] = {"name": "plan", "steps": [{"solver": one, "params": {}} for one in solvers]}
        head["eval"] |= {
            "task": name,
            "task_id": name,
            "created": f"2025-01-0{place + 1}T00:00:00+00:00",
            "tags": ["b", "a", mode],
            "metadata": {
                "prompt_mode": mode,
                "nested": {"x": 1},
                "created_by": name,
                "api_key": name,
                "shots": 0,
            },
        }
        logs[f"{name}.eval"] = archive(log(*samples, head=head))
    return logs


test_what_the_author_of_a_task_wrote = facts_of(prompted_logs(), "inspect_prompted")


@pytest.mark.slow
def test_asked_instead_of_the_input(tmp_path: Path) -> None:
    """A question that a solver put in place of a dummy input is shown; tasks are paired by id."""
    files = {}
    # A solver may also write its question into the message of the input.
    for run, source in (("a", {}), ("b", {"source": "input"})):
        samples = []
        for task in range(6):
            question = f"Find the flag of machine {task}."
            messages = [
                {"role": "user", "content": question, "id": "u1", **source},
                {"role": "assistant", "content": "done", "source": "generate", "id": "a1"},
            ]
            value = "C" if task % 2 else "I"
            samples.append(sample(f"t{task}", value=value, input="placeholder", messages=messages))
        head = header(*(one["id"] for one in samples), epochs=1)
        head["eval"]["model"] = f"openai/{run}"
        files[f"{run}.eval"] = archive(log(*samples, head=head))
    results = analyzed(tmp_path, files, needs=("comparisons", "task_prompts"))
    prompts = results.rows("select distinct task_id, prompt from task_prompts order by all")
    assert prompts == [(f"t{task}", f"Find the flag of machine {task}.") for task in range(6)]
    paired = results.rows(
        "select distinct n_common_tasks, n_verified, n_unverified from comparisons"
    )
    assert paired == [(6, 0, 6)]


def test_encrypted_reasoning_is_not_shown() -> None:
    """In its place is a note that it is redacted, with the summary where there is one."""
    hidden = {"type": "reasoning", "reasoning": "gAAAAABpl_HG", "redacted": True}
    shown = []
    for more in ({}, {"summary": "I add."}, {"redacted": False, "summary": "I add."}):
        content = [{**hidden, **more}, {"type": "text", "text": "7"}]
        turn = {"role": "assistant", "content": content}
        (thought, _) = inspect_sample.turn_items(turn, {})
        shown.append(thought["summary"][0]["text"])
    note = "(reasoning redacted by its provider)"
    assert shown == [note, f"I add.\n\n{note}", "gAAAAABpl_HG"]
