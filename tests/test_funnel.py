"""The funnel: what rollouts show, from their raw lines, and how far each of them got."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline import open_warehouse
from pipeline.warehouse import Warehouse
from tests import metrics_reference, results
from tests.conftest import CORPUS, DEMO, needs_corpus
from tests.features_reference import is_observed
from tests.generated_runs import folder
from tests.metrics_reference import Facts
from tests.reference import clean, events
from tests.results import asked, rollout

analyzed = partial(
    results.analyzed, needs=("expected", "funnel", "rollout_stages", "rollouts", "runs")
)

FACTS = ("has_output", "has_action", "has_feedback", "is_truncated")
STAGES = {
    "expected": lambda cell: cell.is_expected,
    "recorded": lambda cell: cell.is_recorded,
    "produced output": lambda cell: cell.fact("has_output") is True,
    "attempted the core action": lambda cell: cell.fact("has_action") is True,
    "completed without truncation": lambda cell: cell.fact("is_truncated") is False,
    "reached the verifier": lambda cell: cell.fact("is_scored") is True,
    "received feedback": lambda cell: cell.fact("has_feedback") is True,
    "passed": lambda cell: cell.fact("is_pass") is True,
}
# Kept only where some rollout of the benchmark shows them, and nine in ten passes; what each lacks.
OPTIONAL = {
    "produced output": ("has_output", False),
    "attempted the core action": ("has_action", False),
    "completed without truncation": ("is_truncated", True),
    "received feedback": ("has_feedback", False),
}


@dataclass(frozen=True)
class Cell:
    """One expected or recorded rollout, with its row where there is one."""

    is_expected: bool
    row: dict[str, Any] | None

    @property
    def is_recorded(self) -> bool:
        """Whether there is a row."""
        return self.row is not None

    def fact(self, name: str) -> Any:
        """What the row says; nothing without a row."""
        return None if self.row is None else self.row[name]


def rows(warehouse: Warehouse, query: str) -> list[dict[str, Any]]:
    return warehouse.sql(query).to_dicts()


def cells_by_run(warehouse: Warehouse) -> dict[str, dict[tuple[str, int], Cell]]:
    """The grid of every run, built from the public relations alone."""
    key = lambda row: (row["task_id"], row["rollout_index"])  # noqa: E731 - a local shorthand
    expected, recorded = defaultdict(set), defaultdict(dict)
    for row in rows(warehouse, "from expected where source <> 'inferred'"):
        expected[row["run_id"]].add(key(row))
    names = ", ".join(("run_id", "task_id", "rollout_index", "is_scored", "is_pass", *FACTS))
    for row in rows(warehouse, f"select {names} from rollouts"):
        recorded[row["run_id"]][key(row)] = row
    return {
        run_id: {
            at: Cell(at in expected[run_id], recorded[run_id].get(at))
            for at in sorted(expected[run_id] | set(recorded[run_id]))
        }
        for run_id in sorted({*expected, *recorded})
    }


def kept_stages(run: dict[str, Any], cells: Iterable[Cell]) -> list[str]:
    """The stages of a run, given every cell of its benchmark."""
    every = list(cells)
    kept = []
    for stage, shows in STAGES.items():
        if stage in OPTIONAL:
            name, lack = OPTIONAL[stage]
            passes = [cell for cell in every if cell.fact("is_pass") is True]
            n_without = sum(cell.fact(name) is lack for cell in passes)
            if not any(map(shows, every)) or 10 * n_without > len(passes):
                continue
        if stage == "expected" and run["n_expected"] is None:
            continue
        if stage == "passed" and run["pass_threshold"] is None:
            continue
        kept.append(stage)
    return kept


def check_funnels(warehouse: Warehouse) -> int:
    """Hold every run's funnel, and every rollout's last stage, to a count by hand."""
    grid = cells_by_run(warehouse)
    runs = rows(warehouse, "from runs")
    together = defaultdict(list)
    for run in runs:
        together[run["benchmark"]] += grid.get(run["run_id"], {}).values()
    found = defaultdict(list)
    for row in rows(warehouse, "from funnel order by run_id, stage_no"):
        found[row["run_id"]].append(row)
    ends = {
        (row["run_id"], row["task_id"], row["rollout_index"]): row["last_stage"]
        for row in rows(warehouse, "from rollout_stages")
    }
    n_cells = 0
    for run in runs:
        name, own = run["run_id"], grid.get(run["run_id"], {})
        stages = kept_stages(run, together[run["benchmark"]])
        facts = {
            at: Facts(tuple(STAGES[stage](cell) for stage in stages), cell.fact("is_pass") is True)
            for at, cell in own.items()
        }
        expected = metrics_reference.funnel(list(facts.values()), stages)
        assert [row["stage"] for row in found[name]] == stages, name
        for got, row in zip(found[name], expected, strict=True):
            for column in ("n_reached", "n_lost", "n_observed", "n_implied", "n_out_of_order"):
                assert got[column] == row[column], (name, row["stage"], column)
            assert got["drop_rank"] == row.get("drop_rank"), (name, row["stage"])
            for column in ("reach_rate", "step_rate"):
                rate = None if row[column] is None else pytest.approx(float(row[column]))
                assert got[column] == rate, (name, row["stage"], column)
            assert got["n_reached"] == got["n_observed"] + got["n_implied"] - got["n_out_of_order"]
        for at, fact in facts.items():
            assert ends.pop((name, *at)) == last_stage(fact, stages), (name, at)
        n_cells += len(own)
    assert not ends
    return n_cells


def last_stage(facts: Facts, stages: list[str]) -> str | None:
    """The last stage before the first that is not shown; a pass got to the end, if expected."""
    if facts.is_pass and (facts.shown[0] or stages[0] != "expected"):
        return stages[-1]
    last = None
    for stage, shown in zip(stages, facts.shown, strict=True):
        if not shown:
            return last
        last = stage
    return last


def test_demo_funnels(demo: Path) -> None:
    """The funnels of the demo count what its rollouts show, stage by stage."""
    with open_warehouse(demo) as warehouse:
        assert check_funnels(warehouse) > 100


@needs_corpus
def test_corpus_funnels(corpus: Path) -> None:
    """The funnels of real results count what their rollouts show, stage by stage."""
    with open_warehouse(corpus) as warehouse:
        assert check_funnels(warehouse) > 500


def test_random_funnels(tmp_path: Path) -> None:
    """Missing, unscored and unexpected rollouts stand where the rule puts them."""
    files, _ = folder(7, 27)
    with open_warehouse(analyzed(tmp_path, files).path) as warehouse:
        assert check_funnels(warehouse) > 200


# What a row shows, by the rules of FORMATS.md


def shown(row: dict[str, Any]) -> dict[str, bool]:
    """Calls, text, feedback and truncation of a raw row."""
    items = events(clean(row))
    own = [e.kind != "tool_result" and not is_said_by_others(e) for e in items]
    first_own = own.index(True) if True in own else len(items)
    texts = [e.text for e in items if e.kind == "message" and not is_said_by_others(e)]
    response = row.get("response")
    response = response if isinstance(response, dict) else {}
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return {
        "call": any(e.kind == "tool_call" for e in items),
        "text": any(isinstance(text, str) and text.strip() for text in texts),
        "feedback": any(e.kind == "tool_result" for e in items)
        or any(map(is_said_by_others, items[first_own:])),
        "truncated": response.get("status") == "incomplete" or reason == "max_output_tokens",
    }


def is_said_by_others(event: Any) -> bool:
    return event.kind == "message" and event.role not in (None, "assistant")


def raw_rows(warehouse: Warehouse, base: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every rollout with the line it was read from."""
    texts: dict[str, list[bytes]] = {}
    names = ", ".join(("runs.benchmark", "rollouts.*"))
    for row in rows(warehouse, f"select {names} from rollouts join runs using (run_id)"):
        file = row["source_file"]
        if file not in texts:
            texts[file] = (base / file).read_bytes().split(b"\n")
        yield row, json.loads(texts[file][row["source_line"] - 1])


def check_facts(warehouse: Warehouse, base: Path) -> dict[str, int]:
    """Hold the facts of every rollout to its line; returns how often each was seen."""
    pairs = [(row, shown(raw), raw) for row, raw in raw_rows(warehouse, base)]
    full: dict[str, list[bool]] = defaultdict(list)
    for row, seen, raw in pairs:
        if row["reward"] is not None and row["reward"] >= 1 - 1e-9:
            full[row["benchmark"]].append(bool(seen["call"] or not events(clean(raw))))
    with_tools = {
        row["benchmark"]
        for row, seen, _ in pairs
        if seen["call"] and 10 * full[row["benchmark"]].count(False) <= len(full[row["benchmark"]])
    }
    with_items = {row["run_id"] for row, _, raw in pairs if events(clean(raw))}
    counts: dict[str, int] = defaultdict(int)
    for row, seen, raw in pairs:
        where = f"{row['source_file']}:{row['source_line']}"
        if not is_observed(clean(raw), run_has_items=row["run_id"] in with_items):
            assert not any(row[name] for name in FACTS[:3]), where
            continue
        action = seen["call"] if row["benchmark"] in with_tools else seen["text"]
        expected = (seen["call"] or seen["text"], action, seen["feedback"], seen["truncated"])
        assert tuple(row[name] for name in FACTS) == expected, where
        counts["rows"] += 1
        counts["empty"] += not expected[0]
        counts["truncated"] += seen["truncated"]
        counts["feedback"] += seen["feedback"]
        counts["passed without the action"] += bool(row["is_pass"]) and not action
    return counts


def test_demo_facts(demo: Path) -> None:
    """What the demo's rollouts show is what their lines say."""
    with open_warehouse(demo) as warehouse:
        counts = check_facts(warehouse, DEMO)
    assert counts["empty"] and counts["truncated"] and counts["feedback"]


@needs_corpus
def test_corpus_facts(corpus: Path) -> None:
    """What real rollouts show is what their lines say: output, action, feedback, truncation."""
    with open_warehouse(corpus) as warehouse:
        counts = check_facts(warehouse, CORPUS)
    assert counts["empty"] and counts["truncated"] and counts["feedback"]
    assert counts["passed without the action"]


def test_blank_text_is_no_output(tmp_path: Path) -> None:
    """White space of any kind is no text, in the last message and in those before."""
    said = ["\n", " ", "\t", " \r\n", "x"]
    message = lambda text: {"type": "message", "role": "assistant", "content": text}  # noqa: E731
    tasks = [rollout(n, 0, reward=0.0, output=[message(text)]) for n, text in enumerate(said)]
    tasks += [
        rollout(10 + n, 0, reward=0.0, output=[message(text), message("")])
        for n, text in enumerate(said)
    ]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": tasks})
    with_output = found.column("select task_id from rollouts where has_output order by task_id")
    assert with_output == ["14", "4"]


def test_truncation(tmp_path: Path) -> None:
    """An output is cut off where its status or reason says so; without one nothing is known."""
    said = {"output": [{"type": "message", "role": "assistant", "content": "so far"}]}
    cut = {"incomplete_details": {"reason": "max_output_tokens"}}
    responses = [
        {**said, "status": "incomplete"},
        {**said, "status": "completed", **cut},
        {**said, "status": "completed"},
        {**said, "incomplete_details": None},
        None,
    ]
    found = analyzed(
        tmp_path,
        {"a_rollouts.jsonl": [rollout(n, 0, response=r) for n, r in enumerate(responses)]},
    )
    told = found.column("select is_truncated from rollouts order by task_id")
    assert told == [True, True, False, False, None]


def test_unexpected_rows_in_the_funnel(tmp_path: Path) -> None:
    """A row nobody expected shows its stages out of order, whether it passed or not."""
    asked_for = [asked(task, 0) for task in range(2)]
    done = [rollout(0, 0, reward=0.0), rollout(0, 1, reward=0.0), rollout(1, 1)]
    found = analyzed(
        tmp_path,
        {"a_rollouts.jsonl": done, "a_rollouts_materialized_inputs.jsonl": asked_for},
    )
    first = found.rows("""
        select stage, n_reached, n_observed, n_implied, n_out_of_order
        from funnel where stage in ('expected', 'recorded', 'passed') order by stage_no
    """)
    assert first == [("expected", 2, 2, 0, 0), ("recorded", 1, 3, 0, 2), ("passed", 0, 1, 0, 1)]
