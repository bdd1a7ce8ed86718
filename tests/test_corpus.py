"""Real results, with the figures that are known or published of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CORPUS, needs_corpus
from tests.fact_files import Fact, facts
from tests.results import Results, call

pytestmark = needs_corpus

HARNESSES = ("example_hermes", "example_opencode", "example_pi")


@facts("corpus")
def test_facts(corpus: Path, fact: Fact) -> None:
    """As tests/facts/corpus.test says."""
    fact.check(Results(corpus.parent))


def test_every_line_is_accounted_for(corpus: Path) -> None:
    """File by file: lines = rows + rejects + other + blank, and the lines are the file's."""
    rows = Results(corpus.parent).rows(
        "select path, n_bytes, n_lines, n_rows + n_rejects + n_other + n_blank from artifacts"
    )
    on_disk = {str(p.relative_to(CORPUS)): p for p in CORPUS.rglob("*") if p.is_file()}
    assert {row[0] for row in rows} == set(on_disk)
    for path, n_bytes, n_lines, n_reported in rows:
        content = on_disk[path].read_bytes()
        assert n_bytes == len(content)
        assert n_lines == content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
        assert n_lines == n_reported


def test_sample_is_whole(corpus: Path) -> None:
    """Every figure of an aggregate file is a row of reported_metrics."""
    file = "gym/structeval/example_rollouts_aggregate_metrics.json"
    (entry,) = json.loads((CORPUS / file).read_text())
    query = f"select task_id, metric, value from reported_metrics where source_file = '{file}'"
    rows = Results(corpus.parent).rows(query)
    assert {metric: value for task, metric, value in rows if task is None} == entry["agent_metrics"]
    assert {task for task, _, _ in rows} == {None, "0", "1", "2", "3", "4"}


def summary(corpus: Path, run: str) -> list[str]:
    """The lines of a run's summary, without the places that numbers came from."""
    text = (corpus.parent / "runs" / run / "report.md").read_text(encoding="utf-8")
    section = text.partition("## Executive Summary")[2].partition("\n## ")[0]
    return re.sub(r"<!--.*?-->", "", section).splitlines()


def compared(corpus: Path, *runs: str) -> list[dict[str, Any]]:
    outcome = call("compare", *runs, "--json", "--warehouse", corpus)
    assert outcome.code == 0, outcome.stderr
    rows: list[dict[str, Any]] = json.loads(outcome.stdout)["comparisons"]
    return rows


def test_structeval_slices(corpus: Path) -> None:
    """By mean reward XML is the loss, of 0.126 of 0.116; by pass@1 TOML the gain, all 20 points."""
    rows = compared(corpus, "structeval", "structeval_nonrenderable_example")
    assert [row["metric"] for row in rows] == ["mean_reward", "pass_at_1"]
    ledgers = [row["ledgers"]["slices"]["output_type"] for row in rows]
    tops = [(each["lines"][0]["line"], each["lines"][0]["shown"]) for each in ledgers]
    assert tops == [("XML", -0.126), ("TOML", 0.2)]
    assert [each["total_shown"] for each in ledgers] == [-0.116, 0.2]
    assert [row["delta"] for row in rows] == pytest.approx([-0.116, 0.2])
    assert [row["pairing"]["verified"] for row in rows] == [5, 5]


def test_structeval_in_the_summary(corpus: Path) -> None:
    """The run's summary has both: the reward that it lost, the passes that it gained."""
    lines = summary(corpus, "structeval_nonrenderable_example")
    (line,) = (line for line in lines if "vs `structeval`" in line)
    assert "mean reward -0.116" in line and "pass@1 +20.0 points" in line


def test_harnesses_share_one_task(corpus: Path) -> None:
    """Three harnesses at one task, whose question varies: no interval, and nothing decided."""
    rows = compared(corpus, *HARNESSES)
    assert {row["candidate"] for row in rows} == set(HARNESSES[1:])
    for row in rows:
        assert (row["pairing"]["unverified"], row["pairing"]["verified"]) == (1, 0)
        assert row["n_common_tasks"] == 1
        assert row["ci_new_tasks"] is None and row["se_new_tasks"] is None
        assert row["verdict"] == "inconclusive" and row["on_these_tasks"] == "not significant"
        # 2 of 5 against 4 of 5: of 252 ways to deal out six passes 132 are as far apart.
        assert row["p_any"] == pytest.approx(132 / 252)
        # The sign of one task is as far whichever way it falls.
        assert row["p_mean"] == 1


def test_harnesses_say_nothing_of_other_tasks(corpus: Path) -> None:
    """What differs on this task is reported, and that nothing follows for others."""
    text = call("compare", *HARNESSES[:2], "--full", "--warehouse", corpus).stdout
    words = " ".join(text.split())
    assert "one common task says nothing of other tasks" in words
    assert "settings that differ: agent anyswe_hermes -> anyswe_opencode" in words
    assert "1 paired by id alone" in words
    # It takes half the calls and no error: that much differs, and where both part.
    assert re.search(r"tool errors\s+1\s+7\.6\s+0\.4\s+-7\.2", text)
    assert "example_hermes/0:0#" in words and "example_opencode/0:0#" in words
    lines = summary(corpus, "example_opencode")
    (line,) = (line for line in lines if "vs `example_hermes`" in line)
    assert " on 1 common task: " in line and "95% CI" not in line
