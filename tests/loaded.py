"""What a warehouse holds, by file and line: the other side of every comparison with `reference`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pipeline
from tests import reference
from tests.lean import only

Row = dict[str, Any]
Place = tuple[str, int]


@dataclass
class Loaded:
    """The public relations of one analysis, keyed by where each row was."""

    artifacts: dict[str, Row] = field(default_factory=dict)
    rollouts: dict[Place, Row] = field(default_factory=dict)
    events: dict[Place, list[Row]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[Place, Row] = field(default_factory=dict)
    rejects: dict[Place, str] = field(default_factory=dict)
    expected: set[tuple[str, str, int]] = field(default_factory=set)


def load(results: Path, out: Path, **options: Any) -> Loaded:
    """Analyze a folder and read everything back through the public schema."""
    with only("rollouts", "events", "failures", "rejects", "expected"):
        pipeline.analyze(results, out=out, **options)
    actual = Loaded()
    with pipeline.open_warehouse(out / "warehouse.duckdb") as warehouse:

        def rows(query: str) -> list[Row]:
            return warehouse.arrow(query).to_pylist()

        actual.artifacts = {row["path"]: row for row in rows("from artifacts")}
        for row in rows("from rollouts"):
            place = (row["source_file"], row["source_line"])
            assert place not in actual.rollouts, f"{place} is two rollouts"
            actual.rollouts[place] = row
        events = """
            select rollouts.source_file, rollouts.source_line, events.*
            from events
            inner join rollouts
                on events.run_id = rollouts.run_id
                and events.task_id is not distinct from rollouts.task_id
                and events.rollout_index = rollouts.rollout_index
            order by rollouts.source_file, rollouts.source_line, events.seq
        """
        for row in rows(events):
            actual.events[row["source_file"], row["source_line"]].append(row)
        for row in rows("from failures"):
            actual.failures[row["source_file"], row["source_line"]] = row
        for row in rows("from rejects"):
            place = (row["source_file"], row["source_line"])
            assert place not in actual.rejects, f"{place} is two rejects"
            actual.rejects[place] = row["reason"]
        for row in rows("from expected where source = 'inputs'"):
            actual.expected.add((row["run_id"], row["task_id"], row["rollout_index"]))
    return actual


def differences(actual: Loaded, results: Path) -> list[str]:
    """Every way in which the warehouse and a plain reading of its files disagree."""
    wrong = []
    for path, artifact in actual.artifacts.items():
        if artifact["kind"] in ("rollouts", "inputs", "failures"):
            data = (results / path).read_bytes()
            wrong += file_differences(actual, artifact, reference.lines(data, artifact["kind"]))
        counted = [artifact[name] for name in ("n_rows", "n_rejects", "n_other", "n_blank")]
        if sum(counted) != artifact["n_lines"] or min(counted) < 0:
            wrong.append(f"{path}: {counted} of {artifact['n_lines']} lines")
    return wrong


def file_differences(actual: Loaded, artifact: Row, read: list[reference.Line]) -> list[str]:
    """The same for one file, row by row."""
    path, kind = artifact["path"], artifact["kind"]
    wrong = []
    duplicates = {n for (file, n), why in actual.rejects.items() if file == path and is_repeat(why)}
    lost = reference.losers(read)
    if not lost <= duplicates:
        wrong.append(f"{path}: lines {sorted(lost - duplicates)} repeat a key")
    wrong += [
        f"{path}:{line.number}: is no duplicate"
        for line in read
        if line.number in duplicates - lost and not may_repeat(line, read)
    ]
    used = [line for line in read if line.number not in duplicates]
    own = {"rollouts": "rollout", "inputs": "input", "failures": "failure"}[kind]
    counts = {
        "n_lines": len(read),
        "n_blank": sum(line.verdict == "blank" for line in used),
        "n_rejects": sum(line.verdict == "reject" for line in used) + len(duplicates),
        "n_rows": sum(line.verdict == own for line in used),
        "n_other": sum(line.verdict not in ("blank", "reject", own) for line in used),
    }
    wrong += [
        f"{path}: {name} is {artifact[name]}, expected {count}"
        for name, count in counts.items()
        if artifact[name] != count
    ]
    for line in used:
        place = (path, line.number)
        by_name = {
            "rollout": place in actual.rollouts,
            "failure": place in actual.failures,
            "reject": place in actual.rejects,
        }
        as_read = {name: name == line.verdict for name in by_name}
        if by_name != as_read:
            why = actual.rejects.get(place)
            wrong.append(f"{path}:{line.number}: {line.verdict}, held as {by_name} {why or ''}")
        elif line.verdict == "rollout":
            assert line.row is not None
            row, events = actual.rollouts[place], actual.events[place]
            wrong += [f"{path}:{line.number}: {w}" for w in row_differences(line.row, row, events)]
    return wrong


def is_repeat(reason: str) -> bool:
    return reason.startswith("duplicate of ")


def may_repeat(line: reference.Line, read: list[reference.Line]) -> bool:
    """Where a task is named by other means than its index, two rows may still share a key."""
    if line.row is None:
        return False
    index = reference.integer(line.row.get("_ng_rollout_index"))
    return index is not None and any(
        other.row is not None
        and other.number != line.number
        and other.verdict == line.verdict
        and reference.integer(other.row.get("_ng_rollout_index")) == index
        for other in read
    )


def row_differences(row: Row, stored: Row, events: list[Row]) -> list[str]:
    """How a rollout in the warehouse differs from its row."""
    input_tokens, output_tokens = reference.tokens(row)
    expected = {
        "reward": reference.reward(row),
        "is_scored": reference.reward(row) is not None,
        "agent": reference.agent(row),
        "model": reference.model(row),
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
    }
    index = row.get("_ng_rollout_index")
    # A number below 0 could not be cited: such a row is numbered by what it says.
    if type(index) is int and index >= 0:
        expected["rollout_index"] = index
        expected["rollout_id"] = f"{stored['task_id']}:{index}"
    task = row.get("_ng_task_index")
    if type(task) is int and "stage_index" not in row:
        expected["task_id"] = str(task)
    if reference.finish_reason(row) is not None:
        expected["finish_reason"] = reference.finish_reason(row)
    wrong = [
        f"{name} is {stored[name]!r}, expected {value!r}"
        for name, value in expected.items()
        if stored[name] != value
    ]
    if not reference.same(reference.verifier(row), reference.parse(stored["verifier"])):
        wrong.append(f"verifier is {stored['verifier']}, expected {reference.verifier(row)}")
    if not reference.agrees(reference.final_text(row), stored["final_text"]):
        wrong.append(f"final_text is {stored['final_text']!r}")
    return wrong + event_differences(reference.events(row), events, stored)


def event_differences(expected: list[reference.Event], stored: list[Row], row: Row) -> list[str]:
    """How the events in the warehouse differ from the items of the output."""
    if [event["seq"] for event in stored] != list(range(1, len(expected) + 1)):
        return [f"{len(stored)} events, expected {len(expected)}"]
    wrong = []
    n_calls = sum(event.kind == "tool_call" for event in expected)
    if (row["n_tool_calls"] or 0) != n_calls:
        wrong.append(f"n_tool_calls is {row['n_tool_calls']}, expected {n_calls}")
    for event, got in zip(expected, stored, strict=True):
        if event.kind != got["kind"]:
            wrong.append(f"#{got['seq']}: {got['kind']}, expected {event.kind}")
        for name in ("role", "tool", "call_id", "arguments", "text"):
            value = getattr(event, name)
            if not reference.agrees(value, got[name]):
                wrong.append(f"#{got['seq']}: {name} is {got[name]!r}, expected {value!r}")
        is_error = reference.is_tool_error(event.text) if event.kind == "tool_result" else None
        if is_error is not None and got["is_error"] != is_error:
            wrong.append(f"#{got['seq']}: is_error is {got['is_error']}, expected {is_error}")
    return wrong
