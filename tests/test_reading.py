"""Reading by a plan: what is drawn, what a digest holds, and what labels say of all failures."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.analysis import reading as analysis
from pipeline.answers import reading
from pipeline.answers.rerender import relabel
from pipeline.warehouse import open_warehouse
from tests.conftest import DEMO
from tests.results import Results, Row, analyzed, call, called, lines, rollout, wrote

pytestmark = pytest.mark.slow

NEEDS = ("rollout_labels", "reading_plan", "read_shares", "artifacts", "rejects")
PLAN = """
    select run_id, task_id, rollout_index, stratum, draw_no, place, n_stratum
    from reading_plan
    where scope = '{scope}' {more}
    order by benchmark, place
"""


def attempts(n: int = 60) -> list[Row]:
    """Failures with three errors, two of them often, and passes of the same tasks without one."""
    errors = ("disk full", "no route", "bad token")
    rows = []
    for task in range(n):
        error = errors[0 if task % 2 else 1 if task % 3 else 2]
        output = [*called("save", {"to": task}, f"error: {error}"), *wrote("Done.")]
        rows.append(rollout(task, 0, reward=0.0, output=output))
        rows.append(rollout(task, 1, output=[*called("save", {"to": task}), *wrote("Done.")]))
    return rows


def label(row: tuple[Any, ...], mode: str, by: str = "ana", **fields: Any) -> Row:
    """A label of the rollout of a row of the plan."""
    run_id, task_id, index = row[:3]
    return {"run": run_id, "task": task_id, "rollout": index, "mode": mode, "by": by, **fields}


def planned(results: Results, scope: str = "benchmark", more: str = "") -> list[tuple[Any, ...]]:
    """The plan in its order."""
    return results.rows(PLAN.format(scope=scope, more=more))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two runs of one benchmark."""
    files = {"a_rollouts.jsonl": attempts(), "b_rollouts.jsonl": attempts(24)}
    return analyzed(tmp_path_factory.mktemp("plain"), files, needs=NEEDS)


class Labelled(Results):
    """Results with a file of labels that was written after they were analyzed."""

    def __init__(self, results: Results, labels: Path) -> None:
        super().__init__(results.path.parent)
        self.warehouse = relabel(self.path, labels, wanted=[f"main.{name}" for name in NEEDS])

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, by these labels."""
        return self.warehouse.sql(query).rows()


def labelled(results: Results, folder: Path, given: list[Row]) -> Results:
    """The results with these labels."""
    labels = folder / "labels.jsonl"
    labels.write_text(lines(given), encoding="utf-8")
    return Labelled(results, labels)


def test_every_failure_has_one_place(results: Results) -> None:
    """In the plan of all runs and in that of its own; strata partition them."""
    rows = planned(results)
    assert [row[5] for row in rows] == list(range(1, len(rows) + 1))
    failed = set(
        results.rows("select run_id, task_id, rollout_index from rollouts where not is_pass")
    )
    assert {row[:3] for row in rows} == failed and len(failed) == 84
    sizes = Counter(row[3] for row in rows)
    assert all(sizes[row[3]] == row[6] for row in rows)
    for run_id, n in (("a", 60), ("b", 24)):
        own = planned(results, "run", f"and run_id = '{run_id}'")
        assert [row[5] for row in own] == list(range(1, n + 1))


def test_two_of_each_stratum_come_first(results: Results) -> None:
    """Then strata in proportion to their size."""
    rows = planned(results)
    n_strata = len({row[3] for row in rows})
    assert n_strata > 2
    assert Counter(row[3] for row in rows[: 2 * n_strata]) == dict.fromkeys(
        {row[3] for row in rows}, 2
    )
    half = Counter(row[3] for row in rows[: len(rows) // 2])
    assert all(abs(half[row[3]] - row[6] / 2) <= 1.5 for row in rows)


def test_the_draw_is_that_of_the_run_too(results: Results) -> None:
    """A run's failures keep their order, with any other runs."""
    every = [row[:3] for row in sorted(planned(results), key=lambda row: (row[3], row[4]))]
    own = planned(results, "run", "and run_id = 'a'")
    own = [row[:3] for row in sorted(own, key=lambda row: (row[3], row[4]))]
    assert [key for key in every if key[0] == "a"] == own


@pytest.mark.slow
def test_labels_change_no_plan(results: Results, tmp_path: Path) -> None:
    """Neither modes nor renamings do; a seed draws another one."""
    rows = planned(results)
    given: list[Row] = [label(row, f"mode {row[5] % 3}") for row in rows[:30]]
    given.append({"rename": "mode 1", "to": "mode 2"})
    assert planned(labelled(results, tmp_path, given)) == rows
    other = planned(labelled(results, tmp_path, [label(rows[0], "x", seed=7)]))
    assert {row[:3] for row in other} == {row[:3] for row in rows} and other != rows


def shares(results: Results, columns: str, where: str = "run_id is null") -> dict[str, Any]:
    """Columns of read_shares of all runs, by value."""
    rows = results.rows(f"select value, {columns} from read_shares where {where} order by value")
    return {value: tuple(rest) for value, *rest in rows}


@pytest.mark.slow
def test_shares_weigh_strata(results: Results, tmp_path: Path) -> None:
    """Each by its part of all failures, with any number read; worked out from the plan."""
    rows = planned(results)[:20]
    given = [label(row, "odd" if row[4] % 2 else "even", cause="BI") for row in rows]
    got = labelled(results, tmp_path, given)
    expected = Fraction(0)
    sizes = {row[3]: row[6] for row in rows}
    for stratum, size in sizes.items():
        own = [row for row in rows if row[3] == stratum]
        expected += Fraction(size, 84) * Fraction(sum(row[4] % 2 for row in own), len(own))
    found = shares(got, "share, n_with, n_read, n_failures, n_with_outside, ci_low, ci_high")
    share, n_with, n_read, n_failures, n_outside, low, high = found["odd"]
    assert share == pytest.approx(float(expected))
    assert (n_read, n_failures, n_outside) == (20, 84, 0)
    assert n_with == sum(row[4] % 2 for row in rows)
    assert n_with / 84 < low < share < high < 1 - (20 - n_with) / 84
    assert found["BI"][0] == 1 and found["BI"][5] < 1 == found["BI"][6]
    assert found["even"][0] == pytest.approx(1 - share)


def test_what_was_skipped_ends_what_counts(results: Results, tmp_path: Path) -> None:
    """A reader who leaves one out cannot choose: what comes after it is counted only."""
    rows = planned(results)[:20]
    left_out = next(row for row in rows if row[4] == 3)
    given = [label(row, "m") for row in rows if row is not left_out]
    got = labelled(results, tmp_path, given)
    later = [row for row in rows if row[3] == left_out[3] and row[4] > 3]
    found = shares(got, "n_read, n_with, n_read_outside, n_with_outside")
    assert later and found["m"] == (19 - len(later), 19 - len(later), len(later), len(later))


def test_a_missing_share_says_why(results: Results, tmp_path: Path) -> None:
    """One sentence counts the strata of which too few are read; there is none beside a share."""
    rows = planned(results)
    strata = {row[3] for row in rows}
    labels = tmp_path / "labels.jsonl"
    labels.write_text(lines([label(rows[0], "stops")]), encoding="utf-8")
    few = reading.plan(results.path, labels=labels, seed=None)
    assert few["shares"][0]["share"] is None
    assert few["no_share"].endswith(f"of {len(strata)} of {len(strata)} strata.")
    labels.write_text(lines([label(row, "stops") for row in rows]), encoding="utf-8")
    every = reading.plan(results.path, labels=labels, seed=None)
    assert (every["shares"][0]["share"], every["no_share"]) == (1, None)


def test_what_is_outside_is_counted_only(results: Results, tmp_path: Path) -> None:
    """A pass that was read, and a failure drawn late, give no share."""
    rows = planned(results)
    given = [label(("a", "0", 1), "fine"), label(rows[-1], "late")]
    found = shares(labelled(results, tmp_path, given), "n_with, n_with_outside, share, ci_low")
    assert found == {"fine": (0, 1, None, None), "late": (0, 1, None, None)}


def test_a_full_reading_is_exact(results: Results, tmp_path: Path) -> None:
    """Where everything was read, the share is what it is; of one run, too."""
    own = planned(results, "run", "and run_id = 'b'")
    given = [label(row, "x" if int(row[1]) < 6 else "y") for row in own]
    got = labelled(results, tmp_path, given)
    found = shares(got, "share, ci_low, ci_high", "run_id = 'b'")
    assert found == {"x": (0.25, 0.25, 0.25), "y": (0.75, 0.75, 0.75)}
    assert shares(got, "share")["x"] == (None,), "of all runs, strata of a are unread"


def test_modes_are_renamed_in_order(results: Results, tmp_path: Path) -> None:
    """Two modes can be merged, and can change names; the given words are kept."""
    rows = planned(results)[:3]
    given: list[Row] = [
        label(row, mode) for row, mode in zip(rows, ("a", "b", " c\n d "), strict=True)
    ]
    steps = (("a", "z"), ("b", "a"), ("z", "b"), ("c d", "b"))
    given += [{"rename": old, "to": new} for old, new in steps]
    got = labelled(results, tmp_path, given)
    names = dict(got.rows("select mode_given, mode from rollout_labels"))
    assert names == {"a": "b", "b": "a", "c d": "b"}
    (counts,) = got.rows(
        "select n_lines, n_rows, n_rejects, n_other from artifacts where kind = 'labels'"
    )
    assert counts == (7, 7, 0, 0)


def test_a_person_corrects_their_own_label(results: Results, tmp_path: Path) -> None:
    """Of several persons all are kept; the last mode and the last cause count."""
    row = planned(results)[0]
    given = [
        label(row, "first"),
        label(row, "second", by="bob", cause="KG"),
        label(row, "third"),
        {"run": row[0], "task": row[1], "cause": "TI"},
    ]
    got = labelled(results, tmp_path, given)
    assert got.rows("select said_by, mode from rollout_labels") == [
        ("ana", "third"),
        ("bob", "second"),
    ]
    assert got.column("select reason from rejects") == ["superseded by labels.jsonl:3"]
    assert set(shares(got, "n_with")) == {"third", "KG"}


def test_kappa_by_hand() -> None:
    """Cohen's own example: 20 and 15 of 50 agree; chance gives one half."""
    table = Counter({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    n_both, n_agreed, agreement, kappa, low, high = analysis.kappa(table)
    assert (n_both, n_agreed, agreement) == (50, 35, 0.7)
    assert kappa == pytest.approx(0.4) and low is not None and high is not None
    # Wilson's interval of 35 of 50 is 0.5625 to 0.8090.
    assert (low, high) == (pytest.approx(0.125, abs=0.001), pytest.approx(0.618, abs=0.001))
    assert analysis.kappa(Counter({("y", "y"): 3}))[2:] == (1, None, None, None)


def test_agreement_of_two_readers(results: Results, tmp_path: Path) -> None:
    """Over the rollouts that both have read."""
    rows = planned(results)[:10]
    given = [label(row, "x" if row[5] < 6 else "y") for row in rows]
    given += [label(row, "x" if row[5] < 5 else "y", by="bob") for row in rows[:8]]
    labels = tmp_path / "labels.jsonl"
    labels.write_text(lines(given), encoding="utf-8")
    plan = reading.plan(results.path, labels=labels, seed=None)
    (row,) = plan["agreement"]
    assert [*row.values()][:5] == ["mode", "ana", "bob", 8, 7]
    # Both say x: 5 and 4 of 8; by chance 5/8 * 4/8 + 3/8 * 4/8 = 1/2.
    assert row["kappa"] == pytest.approx((7 / 8 - 1 / 2) / (1 / 2))


@pytest.mark.slow
def test_the_report_has_the_shares_and_verifies(copied: Path, tmp_path: Path) -> None:
    """Beside the literal modes, with who has read and what is cited; a wrong share is refuted."""
    plan = reading.plan(copied, "office_desk", size=20, seed=None)
    keys = [citation.replace(":", "/").split("/") for citation in plan["next"]]
    given = [label((run, task, int(index)), "stops early", cause="BI") for run, task, index in keys]
    results = tmp_path / "results"
    shutil.copytree(DEMO, results)
    (results / "labels.jsonl").write_text(lines(given), encoding="utf-8")
    out = tmp_path / "out"
    assert call("analyze", results, "--out", out).code == 0
    report = out / "benchmarks" / "office_desk" / "report.md"
    text = report.read_text(encoding="utf-8")
    assert "As read by `ana`: 20 of 89 failures" in text
    (row,) = (line for line in text.splitlines() if line.startswith("| `stops early` |"))
    assert row.startswith("| `stops early` | mode | 20 of 20 | 100.0% |")
    summary = text.partition("## Executive Summary")[2].partition("\n## ")[0]
    assert "\nRead 20 of 89 failures: `stops early` 100.0% of all (" in summary
    assert len(re.sub("<!--.*?-->", "", summary, flags=re.DOTALL).split()) <= 200
    assert call("verify", report).code == 0
    report.write_text(text.replace(row, row.replace("100.0%", "90.0%", 1)), encoding="utf-8")
    assert call("verify", report).code == 1


@pytest.mark.slow
def test_shares_of_new_labels_are_verified_without_an_analysis(
    copied: Path, tmp_path: Path
) -> None:
    """The share of a report is compared with the file that is named; the warehouse stays."""
    before = copied.read_bytes()
    plan = reading.plan(copied, "office_desk", size=20, seed=None)
    keys = [citation.replace(":", "/").split("/") for citation in plan["next"]]
    given = [label((run, task, int(index)), "stops early") for run, task, index in keys]
    labels = tmp_path / "labels.jsonl"
    labels.write_text(lines(given), encoding="utf-8")
    curated = copied.parent / "curated.md"
    runs = [word for run in ("aster", "birch") for word in ("--run", f"office_desk_{run}")]
    where = ("--warehouse", copied, "--out", curated)
    assert call("report", *runs, "--labels", labels, *where).code == 0
    text = curated.read_text(encoding="utf-8")
    (row,) = (line for line in text.splitlines() if line.startswith("| `stops early` |"))
    unlabelled = call("verify", curated)
    assert unlabelled.code == 1 and "--labels labels.jsonl" in unlabelled.stdout
    assert call("verify", curated, "--labels", labels).code == 0
    curated.write_text(text.replace(row, row.replace("100.0%", "90.0%", 1)), encoding="utf-8")
    wrong = call("verify", curated, "--labels", labels)
    assert wrong.code == 1 and "90.0%" in wrong.stdout
    assert copied.read_bytes() == before
    alone = call("verify", curated, "--labels", labels, "--metrics", DEMO / "notes.md")
    assert alone.code == 2 and "no rollouts" in alone.stderr


BAD = {
    "rollout is missing": {"mode": "m"},
    "mode and cause are missing": {"rollout": 0},
    "mode is not a few words": {"rollout": 0, "mode": "x" * 101},
    "rollout is a string, not a whole number": {"rollout": "0", "mode": "m"},
    "rollout is not a number from 0": {"rollout": -1, "mode": "m"},
    "the task has no rollout 9": {"rollout": 9, "mode": "m"},
    "seed is a list": {"rollout": 0, "mode": "m", "seed": [1]},
}


def test_bad_labels_are_refused(results: Results, tmp_path: Path) -> None:
    """Each with its reason."""
    given = [{"run": "a", "task": 0, **fields} for fields in BAD.values()]
    got = labelled(results, tmp_path, [*given, {"rename": "x"}, {"rename": "", "to": "y"}])
    reasons = got.column("select reason from rejects order by source_line")
    expected = [*BAD, "to is missing", "rename is not a few words"]
    assert len(reasons) == len(expected)
    assert all(reason.startswith(start) for reason, start in zip(reasons, expected, strict=True))


@pytest.fixture(scope="module")
def copied(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's warehouse where labels can be written beside it."""
    path = tmp_path_factory.mktemp("read") / "warehouse.duckdb"
    path.write_bytes(demo.read_bytes())
    return path


@pytest.mark.slow
def test_digests_are_short_and_cite(copied: Path) -> None:
    """Failures of the demo: at most 400 words, the question, the signs and what was done."""
    plan = reading.plan(copied, "office_desk", size=1000, seed=None)
    assert len(plan["next"]) == plan["n_failures"] == 89
    with open_warehouse(copied) as opened:
        for citation in plan["next"][::4]:
            digest = reading.digest(opened, citation)
            words = [word for part in digest.items() for text in part for word in text.split()]
            assert len(words) <= 400, citation
            assert digest["citation"] == citation and digest["verdict"] != "passed"
            assert {"asked", "did", "signs", "grader"} <= digest.keys(), citation


@pytest.mark.slow
def test_a_digest_is_of_its_own_attempt(tmp_path: Path) -> None:
    """Its own words, and results by the last call before them where an id is used again."""
    refused, made = called("book", {"seat": 1}, "Error: taken"), called("book", {"seat": 2})
    for item in made:
        item["call_id"] = refused[0]["call_id"]
    rows = [
        rollout(0, 0, ask="Book me a seat.", output=[*refused, *made, *wrote("ok")], reward=0.0),
        rollout(0, 1, ask="A seat, please.", output=wrote("no"), reward=0.0),
    ]
    analyzed(tmp_path, {"a_rollouts.jsonl": rows})
    first, second = (
        call("read", f"a/0:{index}", "--warehouse", tmp_path / "out").stdout for index in (0, 1)
    )
    assert "Book me a seat." in first and "A seat, please." in second
    assert "book x2" in first and "1 in error" in first


@pytest.mark.slow
def test_a_digest_names_what_nobody_expects(tmp_path: Path) -> None:
    """Also where nothing says whether a tool changes something."""
    expected = [{"name": "find", "arguments": {"id": 1}}]
    outputs = [[*called("find", {"id": 1}), *called("drop", {"id": 1}), *wrote("ok")], wrote("no")]
    rows = [
        rollout(task, 0, output=output, reward=0.0, expected_actions=expected)
        for task, output in enumerate(outputs)
    ]
    analyzed(tmp_path, {"a_rollouts.jsonl": rows})
    shown = call("read", "a/0:0", "--warehouse", tmp_path / "out").stdout
    assert "Not expected, may change something: drop (a/0:0#3)." in " ".join(shown.split())


@pytest.mark.slow
def test_the_loop_on_the_command_line(copied: Path) -> None:
    """The plan, a digest, labels, a renaming, and what they say."""
    where = ("--warehouse", copied)
    plan = json.loads(call("read", "office_desk", "--json", "--size", "12", *where).stdout)
    assert (plan["n_planned"], plan["n_read"], len(plan["next"])) == (12, 0, 12)
    assert sum(row["n_planned"] for row in plan["strata"]) == 12
    for row in plan["strata"]:
        assert row["inclusion_rate"] == pytest.approx(row["n_planned"] / row["n_stratum"])
    first = plan["next"][0]
    assert json.loads(call("read", first, "--json", *where).stdout) == plan["digests"][0]
    for number, citation in enumerate(plan["next"]):
        mode = "stops early" if number % 2 else "stops  soon"
        given = ("--label", "--mode", mode, "--by", "ana", "--evidence", f"{citation}#1")
        assert call("read", citation, *given, *where).code == 0
    assert call("read", "--rename", "stops soon", "stops early", *where).code == 0
    again = json.loads(call("read", "office_desk", "--json", "--size", "12", *where).stdout)
    assert (again["n_read"], again["next"], again["n_outside"]) == (12, [], 0)
    (share,) = again["shares"]
    assert (share["value"], share["n_with"], share["said_by"]) == ("stops early", 12, ["ana"])
    assert share["citations"][0].endswith("#1")
    page = call("read", "office_desk", "--size", "12", *where).stdout
    assert "read 12 of 89 failures" in page and "stops early" in page
    report = call("report", "--labels", copied.parent / "labels.jsonl", *where)
    assert report.code == 0


def test_refusals_of_the_command(copied: Path) -> None:
    """Nothing is written where a label would be refused; each says why."""
    where = ("--warehouse", copied, "--labels", copied.parent / "other.jsonl")
    wrong = {
        "several benchmarks": (),
        "needs --label": ("office_desk", "--mode", "x"),
        "mode and cause are missing": ("office_desk_aster-8b/0:0", "--label"),
        "no such rollout or event": (
            *("office_desk_aster-8b/0:0", "--label", "--mode", "x"),
            *("--evidence", "office_desk_aster-8b/0:0#999"),
        ),
        "not in this warehouse": ("office_desk_aster-8b/0:77", "--label", "--mode", "x"),
        "is not RUN/TASK:ROLLOUT": ("office_desk", "--label", "--mode", "x"),
        "no such benchmark or run": ("nothing_here",),
    }
    for reason, arguments in wrong.items():
        outcome = call("read", *arguments, *where)
        assert outcome.code == 2 and reason in outcome.stderr, outcome.stderr
    assert not (copied.parent / "other.jsonl").exists()


def drawn(sizes: tuple[int, ...], n: int) -> list[int]:
    """How many of each stratum the first n of a plan are, by the rule of reading_plan."""
    order = sorted(
        (0 if no <= 2 else (no - 0.5) / size, no, -size, stratum)
        for stratum, size in enumerate(sizes)
        for no in range(1, size + 1)
    )
    counts = Counter(row[3] for row in order[:n])
    return [counts[stratum] for stratum in range(len(sizes))]


@pytest.mark.slow
def test_intervals_cover_shares_in_strata_of_any_shape() -> None:
    """Strata, shares and the number that is read are drawn at random, 60 times.

    On average 93 to 97% of the intervals cover the share, and 19 of 20 such shapes 90% or more.
    """
    random = np.random.default_rng(5)
    coverage = []
    while len(coverage) < 60:
        n_strata = random.integers(2, 9)
        sizes = np.maximum((random.pareto(1.1, n_strata) + 0.3) * 30, 4).astype(int)
        n = int(random.integers(2 * n_strata + 4, 100))
        if not n < sizes.sum() < 5000:
            continue
        spread, middle = random.choice([0.2, 1, 8]), random.uniform(0.05, 0.7)
        planted = random.beta(middle * spread + 0.02, (1 - middle) * spread + 0.02, n_strata)
        bearing = np.round(sizes * planted).astype(int)
        true = bearing.sum() / sizes.sum()
        n_read = drawn(tuple(sizes.tolist()), n)
        covered = []
        for seen in random.hypergeometric(bearing, sizes - bearing, n_read, (200, n_strata)):
            _, low, high = analysis.estimate(sizes.tolist(), n_read, seen.tolist())
            covered.append(low - 1e-9 <= true <= high + 1e-9)
        coverage.append(np.mean(covered))
    assert 0.93 <= np.mean(coverage) <= 0.97
    assert np.quantile(coverage, 0.05) >= 0.9
