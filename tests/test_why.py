"""blade failures and blade why: how runs fail, and why one task does."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline import open_warehouse
from tests import results
from tests.lean import DIAGNOSIS, LOADED, METRICS
from tests.results import Outcome, Results, Row, asked, call, called, failure, rollout
from tests.results import said as words
from tests.test_security import EVIL, TERMINAL_ACTIVE

diagnosed = partial(results.analyzed, needs=(*LOADED, *METRICS, *DIAGNOSIS))

LONG = "word " * 40_000


def acted(tool: str, result: str, text: str = "done", **arguments: Any) -> list[Row]:
    """The output of an attempt that makes one call and then answers."""
    return [*called(tool, arguments, result), *words(text)]


def tried(task: int, index: int, reward: float, mode: str, result: str = "ok", **more: Any) -> Row:
    """An attempt that saves in some mode."""
    return rollout(
        task, index, reward=reward, output=acted("save", result, path="x", mode=mode), **more
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a: task 0 passes once of three, one lost; task 1 never, labelled; task 2 always; 3 fails.

    Run b passes whatever it tries, but asks something else as task 0 and never tries task 2. Run
    odd has tasks whose names look like citations, and rewards that leave 0..1.
    """
    full = "Error: disk 7 is full"
    names = ("Age:5", "Age:5:0", "a/b:c")
    files = {
        "odd_rollouts.jsonl": [
            rollout(None, index, ask=name, task_id=name, reward=reward)
            for name in names
            for index, reward in ((0, -1.0), (1, 2.0))
        ],
        "a_rollouts.jsonl": [
            tried(0, 0, 1.0, "keep"),
            tried(0, 1, 0.0, "drop"),
            tried(1, 0, 0.0, "keep", full, verdict="nothing was saved", timed_out=True),
            tried(1, 1, 0.0, "keep", full, timed_out=True),
            tried(2, 0, 1.0, "keep"),
        ],
        "a_rollouts_materialized_inputs.jsonl": [
            *(asked(0, index) for index in range(3)),
            *(asked(1, index) for index in range(2)),
            asked(2, 0),
            asked(3, 0),
        ],
        "a_rollouts_failures.jsonl": [failure(3, 0, "transient", error="no route to host 4")],
        "b_rollouts.jsonl": [
            tried(0, 0, 1.0, "keep", ask="something else"),
            tried(1, 0, 1.0, "keep"),
            tried(3, 0, 1.0, "keep"),
        ],
        "labels.jsonl": [
            {
                "run": "a",
                "task": 1,
                "cause": "BI+KG",
                "note": "never frees the disk",
                "evidence": "a/1:0#2",
                "by": "the review",
            }
        ],
    }
    return diagnosed(tmp_path_factory.mktemp("desk"), files)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A task that passes once and fails once, in which every text is hostile and long."""
    name = f"a/b:c#7 {EVIL}"
    hostile = EVIL + LONG
    rows = [
        rollout(
            None,
            index,
            ask=hostile,
            task_id=name,
            reward=reward,
            output=acted(EVIL, hostile, hostile, path=f"{EVIL}{index}{LONG}"),
            error_message=hostile,
            verifier_metadata={"category": EVIL[:50]},
        )
        for index, reward in ((0, 1.0), (1, 0.0))
    ]
    label = {"run": "evil", "task": name, "cause": "BI", "note": hostile[:9000], "by": EVIL}
    files = {"evil_rollouts.jsonl": rows, "labels.jsonl": [label]}
    return diagnosed(tmp_path_factory.mktemp("evil"), files)


def said(results: Results, *arguments: str) -> Outcome:
    return call(*arguments, "--warehouse", results.path)


def told(results: Results, *arguments: str) -> Any:
    """What a command prints as JSON."""
    found = said(results, *arguments, "--json")
    assert found.code == 0, found.stderr
    return json.loads(found.stdout)


def test_failures_counts_what_did_not_pass(desk: Results) -> None:
    """Every attempt that is no pass, whatever it is instead, and the share no rule explains."""
    (run,) = told(desk, "failures", "a")["runs"]
    counts = ("n_attempts", "n_passed", "n_failed", "n_failed_attempts", "n_missing")
    assert [run[name] for name in counts] == [7, 2, 3, 1, 1]
    assert run["n_not_passed"] == 5 == sum(mode["n_rollouts"] for mode in run["modes"])
    page = said(desk, "failures", "a").stdout
    assert page.startswith(
        "a\n5 of 7 attempts did not pass: 3 failed, 1 failed attempts, 1 missing\n"
    )
    assert page.splitlines()[2].startswith("UNEXPLAINED  ")


def test_every_example_leads_somewhere(demo: Path) -> None:
    """What is recorded can be shown, and what is not is told of by `why`."""
    runs = json.loads(call("failures", "--json", "--warehouse", demo).stdout)["runs"]
    modes = [mode for run in runs for mode in run["modes"] if mode["n_rollouts"]]
    recorded = {mode["example"]: mode["is_example_recorded"] for mode in modes}
    with open_warehouse(demo) as warehouse:
        rollouts = warehouse.execute("select run_id || '/' || rollout_id from rollouts").fetchall()
    known = {citation for (citation,) in rollouts}
    assert recorded == {example: example.partition("#")[0] in known for example in recorded}
    for command, kind in (("show", True), ("why", False)):
        example = next(name for name, is_recorded in recorded.items() if is_recorded is kind)
        assert call(command, example, "--warehouse", demo).code == 0


def test_failures_is_bounded_by_its_limit(demo: Path) -> None:
    """So many modes are listed, and how much is left is said."""
    arguments = ("failures", "office_desk_aster-8b", "--limit", "2", "--warehouse", demo)
    (run,) = json.loads(call(*arguments, "--json").stdout)["runs"]
    assert (len(run["modes"]), len(run["error_signatures"])) == (2, 2)
    n_rest = run["n_not_passed"] - sum(mode["n_rollouts"] for mode in run["modes"])
    lists_all = f"and {n_rest} attempts of other modes: --limit {run['n_modes']} lists all\n"
    assert lists_all in call(*arguments).stdout


def test_a_run_without_failures_says_so(desk: Results) -> None:
    """No table of nothing."""
    assert said(desk, "failures", "b").stdout == "b  all 3 attempts passed: no failures\n"


def test_an_unsettled_threshold_calls_nothing_failing(desk: Results) -> None:
    """Neither command guesses what passes; both name the key that settles it."""
    page = said(desk, "failures", "odd").stdout
    assert "from -1 to 2" in page and "pass_threshold = 2" in page and "blade.toml" in page
    assert "did not pass" not in page
    (run,) = told(desk, "failures", "odd")["runs"]
    assert (run["is_pass_settled"], run["n_passed"], run["n_failed"]) == (False, None, None)
    assert (run["n_not_passed"], run["unexplained_share"]) == (0, None)
    why = said(desk, "why", "odd/Age:5").stdout
    assert "pass unknown, reward -1" in why and "pass_threshold" in why


def test_why_tells_of_every_attempt(desk: Results) -> None:
    """In order, with verdict, primary mode and evidence; what was lost is there too."""
    story = told(desk, "why", "a/0")
    assert [attempt["citation"] for attempt in story["attempts"]] == ["a/0:0", "a/0:1", "a/0:2"]
    verdicts = [attempt["verdict"] for attempt in story["attempts"]]
    assert verdicts == ["passed", "failed", "missing"]
    assert story["attempts"][0]["primary"] is None
    assert story["attempts"][2]["primary"]["mode"] == "MISSING_ROW"
    page = said(desk, "why", "a/0").stdout
    assert page.index("a/0:0  passed") < page.index("a/0:1  failed") < page.index("a/0:2  missing")
    assert "question 0" in page


def test_why_shows_where_two_attempts_part(desk: Results) -> None:
    """The closest pair, both citations, and the argument in which their calls differ."""
    contrast = told(desk, "why", "a/0")["contrast"]
    assert (contrast["failing"], contrast["passing"]) == ("a/0:1#1", "a/0:0#1")
    assert contrast["difference"] == "arguments"
    assert contrast["arguments"] == [{"name": "mode", "failing": '"drop"', "passing": '"keep"'}]
    assert told(desk, "why", "a/1")["contrast"] is None
    assert 'mode: "drop" | "keep"' in said(desk, "why", "a/0").stdout


def test_why_contrasts_the_attempt_that_is_cited(demo: Path) -> None:
    """Each of the three that failed has a contrast of its own; without one the closest is told."""
    task = "office_desk_aster-8b/0"
    for cited in (":0", ":1", ":3", ""):
        story = json.loads(call("why", f"{task}{cited}", "--json", "--warehouse", demo).stdout)
        contrast = story["contrast"]
        assert contrast["failing"].startswith(f"{task}{cited}#" if cited else f"{task}:")
        assert contrast["passing"].startswith(f"{task}:2#")
        assert cited or contrast["is_closest"]


def test_why_compares_runs_only_where_they_ask_the_same(desk: Results) -> None:
    """A run that asks something else under the same name is pointed out, and no lead to follow."""
    own, other = told(desk, "why", "a/0")["runs"]
    assert (own["run_id"], own["bucket"]) == ("a", "sometimes")
    assert (own["n_passed"], own["n_scored"]) == (1, 2)
    assert (own["is_same_question"], other["is_same_question"]) == (True, False)
    page = said(desk, "why", "a/0").stdout
    assert "asks another question under this name" in page and "blade why b/0" not in page
    assert "blade why b/1" in said(desk, "why", "a/1").stdout


def test_why_tells_a_label_from_a_suggestion(desk: Results) -> None:
    """A curated cause comes with who said so and where, and what the rules would have said."""
    own = told(desk, "why", "a/1")["runs"][0]
    assert (own["cause"], own["is_suggested"], own["said_by"]) == ("BI+KG", False, "the review")
    assert own["label_source"] == "labels.jsonl:1"
    assert own["note"] == {"text": "never frees the disk", "n_characters": 20}
    page = said(desk, "why", "a/1").stdout
    for part in ("curated label", "never frees", "labels.jsonl:1", "by the review", "a/1:0#2"):
        assert part in page
    assert "the rules suggest " in " ".join(page.split())
    assert "behaviour (BI) and knowledge gap (KG)" in page
    assert "suggestion" in said(desk, "why", "a/0").stdout


def test_why_dives_where_nothing_passes(desk: Results) -> None:
    """What the attempts share, the best of them, and who does pass the task."""
    dive = told(desk, "why", "a/1")["dive"]
    assert (dive["shared_tools"], dive["n_with_error"], dive["passing_runs"]) == (
        ["save"],
        2,
        ["b"],
    )
    page = said(desk, "why", "a/1").stdout
    assert "never passed in this run" in page and "passed by b" in page
    assert "disk <n> is full" in page
    assert told(desk, "why", "a/0")["dive"] is None


def test_why_tells_of_a_task_the_run_lacks(desk: Results) -> None:
    """That other runs have it and this one has not is the story."""
    story = told(desk, "why", "b/2")
    assert (story["n_attempts"], story["attempts"], story["runs"][0]["n_scored"]) == (0, [], None)
    page = said(desk, "why", "b/2").stdout
    assert "the run has no attempt at this task" in page and "question 2" in page


def test_why_tells_of_a_failed_attempt(desk: Results) -> None:
    """Its class and its message, though there is no rollout to show."""
    page = said(desk, "why", "a/3").stdout
    assert "a/3:0  failed attempt (transient)" in page and "no route to host 4" in page
    assert "blade show" not in page


@pytest.mark.parametrize(
    ("asked_for", "task", "index"),
    [
        ("odd/Age:5", "Age:5", None),
        ("odd/Age:5:1", "Age:5", 1),
        ("odd/Age:5:0", "Age:5:0", None),
        ("odd/a/b:c", "a/b:c", None),
    ],
)
def test_a_task_goes_before_a_citation(
    desk: Results, asked_for: str, task: str, index: int | None
) -> None:
    """Names may hold slashes and colons; the attempt that is cited comes first."""
    story = told(desk, "why", asked_for)
    assert (story["task_id"], story["rollout_index"]) == (task, index)
    order = [attempt["rollout_index"] for attempt in story["attempts"]]
    assert order == ([1, 0] if index == 1 else [0, 1])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["why", "a"], ["a is not RUN/TASK", "blade why run_a/17"]),
        (["why", "c/0"], ["c: no such run", "Runs: a, b, odd"]),
        (["why", "a/9"], ["9: no such task in run a", "Tasks: 0, 1, 2, 3"]),
        (["why", "a/0:7"], ["a/0:7: no such attempt", "0, 1, 2"]),
        (["failures", "a", "--limit", "0"], ["--limit"]),
    ],
)
def test_what_is_not_there_is_said(desk: Results, arguments: list[str], parts: list[str]) -> None:
    """Exit code 2, with what there is."""
    refused = said(desk, *arguments)
    assert (refused.code, refused.stdout) == (2, "")
    for part in parts:
        assert part in refused.stderr


def test_hostile_text_is_inert_and_bounded(evil: Results) -> None:
    """Nothing a terminal acts on, no line of a rollout's own, and not a page of it."""
    task = evil.one("select run_id || '/' || task_id from task_outcomes")
    for arguments in (["failures"], ["why", task], ["why", f"{task}:1"]):
        page = said(evil, *arguments)
        assert page.code == 0, page.stderr
        assert not TERMINAL_ACTIVE.search(page.stdout)
        assert "\n# line" not in page.stdout
        assert len(page.stdout) < 20_000
        as_json = said(evil, *arguments, "--json").stdout
        assert not TERMINAL_ACTIVE.search(as_json)
        assert len(as_json) < 40_000
    refused = said(evil, "why", f"evil/{EVIL}?")
    assert refused.code == 2 and not TERMINAL_ACTIVE.search(refused.stderr)


def test_what_is_cut_says_how_long_it_was(evil: Results) -> None:
    """Texts that may be cut come with the length of the whole."""
    story = told(evil, "why", evil.one("select run_id || '/' || task_id from task_outcomes"))
    question = story["question"]
    assert len(question["text"]) == 1000
    assert question["n_characters"] == len(EVIL) + len(LONG)
    argument = story["contrast"]["arguments"][0]["failing"]
    assert len(argument) < 200 < len(LONG)
    (own,) = story["runs"]
    assert (len(own["note"]["text"]), own["note"]["n_characters"]) == (1000, 9000)


def test_commands_to_run_next_are_quoted(evil: Results) -> None:
    """A name from a file cannot add words to a command that is pasted."""
    task = evil.one("select run_id || '/' || task_id from task_outcomes")
    for line in told(evil, "why", task)["next"]:
        words = shlex.split(line)
        assert words[0] == "blade" and words[3:] == ["--warehouse", str(evil.path.parent)]
        assert words[2] == "evil" or words[2].startswith(task)
