"""blade failures and blade why: what failures share, and what the record says of one task."""

from __future__ import annotations

import json
import re
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import results
from tests.lean import DIAGNOSIS, LOADED, METRICS
from tests.results import Outcome, Results, Row, asked, call, called, failure, rollout, rows_of
from tests.results import wrote as words
from tests.test_security import EVIL, TERMINAL_ACTIVE

LISTED = "report.looked mode_slices expected_tools report.failure_lines".split()
diagnosed = partial(results.analyzed, needs=(*LOADED, *METRICS, *DIAGNOSIS, *LISTED))

LONG = "word " * 40_000


def acted(tool: str, result: str, text: str = "done", **arguments: Any) -> list[Row]:
    """The output of an attempt that makes one call and then answers."""
    return [*called(tool, arguments, result), *words(text)]


def tried(task: int, index: int, reward: float, mode: str, result: str = "ok", **more: Any) -> Row:
    """An attempt that saves in some mode."""
    return rollout(
        task, index, reward=reward, output=acted("save", result, path="x", mode=mode), **more
    )


HOSTILE = EVIL + LONG
EVIL_TASK = f"a/b:c#7 {EVIL}"
EVIL_ROWS = [
    rollout(
        None,
        index,
        ask=HOSTILE,
        task_id=EVIL_TASK,
        reward=reward,
        output=acted(EVIL, HOSTILE, HOSTILE, path=f"{EVIL}{index}{LONG}"),
        error_message=HOSTILE,
        verifier_metadata={"category": EVIL[:50]},
    )
    for index, reward in ((0, 1.0), (1, 0.0))
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run a: task 0 passes once of three, one lost; task 1 never, labelled; task 2 always; 3 fails.

    Run b passes all that it tries, but asks something else as task 0 and never tries task 2. Run
    odd has tasks whose names look like citations, and rewards that leave 0..1. In run evil a task
    passes once and fails once, and every text is hostile and long.
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
            },
            {"run": "evil", "task": EVIL_TASK, "cause": "BI", "note": HOSTILE[:9000], "by": EVIL},
        ],
        "evil_rollouts.jsonl": EVIL_ROWS,
    }
    return diagnosed(tmp_path_factory.mktemp("desk"), files)


def evil_task(desk: Results) -> str:
    """How the task with hostile texts is cited."""
    query = "select run_id || '/' || task_id from task_outcomes where run_id = 'evil'"
    return str(desk.one(query))


def outcome_of(results: Results, *arguments: str) -> Outcome:
    return call(*arguments, "--warehouse", results.path)


def answer_of(results: Results, *arguments: str) -> Any:
    """What a command prints as JSON."""
    found = outcome_of(results, *arguments, "--json")
    assert found.code == 0, found.stderr
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def booked(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two runs at 20 tasks of two kinds: `pay` is expected everywhere.

    Run a pays at tasks 0 to 3 only, run b at tasks 0 to 9: who pays passes. Of the tasks that are
    not paid for, those from 10 on are of kind hard. Each attempt has two checks, and `settled` of
    the row says whether it passed. No answer is empty, none ends at a limit.
    """
    files = {
        f"{run}_rollouts.jsonl": [
            rollout(
                task,
                0,
                reward=float(task < n_paid),
                output=[
                    *called("look", {"id": task}),
                    *(called("pay", {"id": task}) if task < n_paid else []),
                    *words("done"),
                ],
                expected_actions=[{"name": "pay", "arguments": {"id": task}}],
                kind="hard" if task >= 10 else "easy",
                settled=task < n_paid,
                tests=[
                    {"name": "reads", "passed": task % 3 > 0},
                    {"name": "charges", "passed": task < n_paid or task % 2 == 0},
                ],
            )
            for task in range(20)
        ]
        for run, n_paid in (("a", 4), ("b", 10))
    }
    files["blade.toml"] = 'benchmark = "shop"\nslices = ["kind"]\n'
    return diagnosed(tmp_path_factory.mktemp("booked"), files)


def test_failures_counts_what_did_not_pass(desk: Results) -> None:
    """Every attempt that is no pass counts; each has one mode, or none is shared."""
    (found,) = answer_of(desk, "failures", "a")["benchmarks"]
    (run,) = found["runs"]
    counts = ("n_attempts", "n_passed", "n_failed", "n_failed_attempts", "n_missing")
    assert [run[name] for name in counts] == [7, 2, 3, 1, 1]
    primary = [mode["n_primary"] for mode in [*found["modes"], found["no_shared_sign"]]]
    assert run["n_not_passed"] == 5 == sum(primary)
    (mode,) = found["modes"]
    assert (mode["mode"], mode["n_failures"]) == ("no row recorded", 2)
    # One was given up, and of one there is no trace.
    parts = {part["mode"]: part["n_failures"] for part in mode["parts"]}
    assert parts == {"attempt failed: transient": 1, "no failure recorded": 1}


def test_modes_stand_beside_passes_and_runs(booked: Results) -> None:
    """Of all runs: failures and passes that bear a mode, each run's own, where it concentrates."""
    (found,) = answer_of(booked, "failures")["benchmarks"]
    assert [run["run_id"] for run in found["runs"]] == ["a", "b"]
    (mode,) = [each for each in found["modes"] if each["kind"] == "expected"]
    # Run a fails 16 tasks, run b 10 of them; nobody who fails pays.
    assert mode["mode"] in ("pay expected, never called", "pay expected, not made as expected")
    counts = ("n_failures", "n_failures_observed", "n_passes", "n_passes_observed", "n_tasks")
    assert [mode[name] for name in counts] == [26, 26, 0, 14, 16]
    assert [(each["run_id"], each["n_failures"], each["n_passes"]) for each in mode["runs"]] == [
        ("a", 16, 0),
        ("b", 10, 0),
    ]
    page = outcome_of(booked, "failures").stdout
    assert re.search(r"^pay expected.* 26 of 26 +0 of 14 +16 +16/0 +10/0 +tested", page, re.M)
    assert "A  a  16 of 20 attempts did not pass: 16 failed\n" in page
    (own,) = answer_of(booked, "failures", "b")["benchmarks"]
    (mode,) = [each for each in own["modes"] if each["kind"] == "expected"]
    assert [mode[name] for name in counts] == [10, 10, 0, 10, 10] and mode["runs"] == []


def test_expected_is_beside_actual(booked: Results) -> None:
    """Tool by tool, failures and passes, marked as counted and not tested."""
    (found,) = answer_of(booked, "failures")["benchmarks"]
    first, second = found["expected_tools"]
    names = ("tool", "n_failures_not_met", "n_passes_not_met", "n_failures_never")
    assert [first[name] for name in names] == ["pay", 26, 0, 26]
    assert (second["tool"], second["n_failures_unasked"], second["n_passes_unasked"]) == (
        "look",
        26,
        14,
    )


def test_what_was_looked_at_is_listed(booked: Results) -> None:
    """How much was looked at, what says the score again, and what no attempt shows."""
    (found,) = answer_of(booked, "failures")["benchmarks"]
    assert found["looked_at"]["same_as_score"] == ["settled"]
    # It fails in half of the failures and in no pass.
    assert found["looked_at"]["parts_of_score"] == ["tests: charges"]
    assert found["not_found"] == [
        {"what": "empty answers", "n_observed": 40, "n_without_message": 0},
        {"what": "ungraded attempts", "n_observed": 40, "n_without_message": 0},
    ]
    page = " ".join(outcome_of(booked, "failures").stdout.split())
    assert (
        "2 checks, 2 tools; same as the score: settled; part of the score: tests: charges "
        "not found empty answers (0 of 40), "
        "ungraded attempts (0 of 40) next" in page
    )


def test_few_failures_are_listed_one_by_one(desk: Results, booked: Results) -> None:
    """What the record says of each; of many failures three are examples."""
    (found,) = answer_of(desk, "failures", "a")["benchmarks"]
    lines = {line["citation"]: line["notes"] for line in found["failure_lines"]}
    note = ["error: disk 7 is full", "timed_out = true"]
    assert lines == {"a/1:0": note, "a/1:1": note}
    page = outcome_of(desk, "failures", "a").stdout
    assert "\nsingle failures, as the record says\n  a/1:0\n    error: disk 7 is full; " in page
    (found,) = answer_of(booked, "failures")["benchmarks"]
    assert len(found["failure_lines"]) == 3


def test_a_concentration_is_reported(demo: Path) -> None:
    """One slice that holds most failures of a mode and few attempts, as the relation has it."""
    found = json.loads(call("failures", "--json", "--warehouse", demo).stdout)["benchmarks"]
    modes = {mode["mode"]: mode for each in found for mode in each["modes"]}
    held = modes["crm_update expected, not made as expected"]["concentration"]
    assert (held["slice_key"], held["slice_value"]) == ("category", "crm")
    ((n_attempts, n_all),) = rows_of(
        demo,
        """
        select count(*) filter (slices['category'] = 'crm'), count(*)
        from expected inner join tasks using (task_id)
        where benchmark = 'office_desk' and run_id like 'office_desk%'
    """,
    )
    words = f"are in category = crm, where {n_attempts} of {n_all} attempts are"
    assert words in call("failures", "--warehouse", demo).stdout
    one = call("failures", "office_desk_aster-8b", "--warehouse", demo).stdout
    assert "are in category" not in one, "slices are counted over all runs"


def test_no_cause_is_printed_that_nobody_gave(demo: Path, desk: Results) -> None:
    """A cause comes with who gave it: a label, the profile or the record."""
    (found,) = answer_of(desk, "failures", "a")["benchmarks"]
    given = [(each["cause"], each["source"]) for each in found["runs"][0]["root_causes"]]
    assert sorted(given) == [("BI+KG", "label"), ("IR", "record")]
    page = call("failures", "--warehouse", demo).stdout
    for absent in ("(BI)", "(KG)", "(UK)", "(DA)", "suggest", "cause of"):
        assert absent not in page


def test_every_example_leads_somewhere(demo: Path) -> None:
    """What is cited of a mode can be shown, and `why` tells of its task."""
    found = json.loads(call("failures", "--json", "--warehouse", demo).stdout)["benchmarks"]
    cited = [mode["failing_citations"] for each in found for mode in each["modes"]]
    firsts = [citations[0] for citations in cited if citations]
    assert len(firsts) > 5
    for example in firsts[::6]:
        for command in ("show", "why"):
            citation = example if command == "show" else example.partition("#")[0]
            assert call(command, citation, "--warehouse", demo).code == 0, citation


def test_failures_is_bounded_by_its_limit(demo: Path) -> None:
    """So many modes are listed, and how many are left is printed."""
    arguments = ("failures", "office_desk_aster-8b", "--limit", "2", "--warehouse", demo)
    (found,) = json.loads(call(*arguments, "--json").stdout)["benchmarks"]
    assert (len(found["modes"]), len(found["runs"][0]["error_signatures"])) == (2, 2)
    n_more, n_all = found["n_modes"] - 2, found["n_modes"]
    assert f"and {n_more} more modes: --limit {n_all} lists all\n" in call(*arguments).stdout


def test_a_run_without_failures_says_so(desk: Results) -> None:
    """No table of nothing."""
    assert outcome_of(desk, "failures", "b").stdout == "b\nall 3 attempts passed: no failures\n"


def test_an_unsettled_threshold_calls_nothing_failing(desk: Results) -> None:
    """Neither command guesses what passes; both name the key that settles it."""
    page = outcome_of(desk, "failures", "odd").stdout
    assert "from -1 to 2" in page and "pass_threshold = NUMBER" in page and "blade.toml" in page
    assert "did not pass" not in page
    (found,) = answer_of(desk, "failures", "odd")["benchmarks"]
    (run,) = found["runs"]
    assert (run["is_pass_settled"], run["n_passed"], run["n_failed"]) == (False, None, None)
    assert (run["n_not_passed"], found["modes"], found["no_shared_sign"]) == (0, [], None)
    why = outcome_of(desk, "why", "odd/Age:5").stdout
    assert "pass unknown, reward -1" in why and "pass_threshold" in why


def test_why_tells_of_every_attempt(desk: Results) -> None:
    """In order, with verdict and mode; what was lost is there too."""
    story = answer_of(desk, "why", "a/0")
    assert [attempt["citation"] for attempt in story["attempts"]] == ["a/0:0", "a/0:1", "a/0:2"]
    verdicts = [attempt["verdict"] for attempt in story["attempts"]]
    assert verdicts == ["passed", "failed", "missing"]
    modes = [[mode["mode"] for mode in attempt["modes"]] for attempt in story["attempts"]]
    assert modes == [[], ["no shared sign"], ["no row recorded"]]


def test_why_shows_where_two_attempts_part(desk: Results) -> None:
    """The closest pair, both citations, and the argument in which their calls differ."""
    contrast = answer_of(desk, "why", "a/0")["contrast"]
    assert (contrast["failing"], contrast["passing"]) == ("a/0:1#1", "a/0:0#1")
    assert contrast["difference"] == "arguments"
    assert contrast["arguments"] == [{"name": "mode", "failing": '"drop"', "passing": '"keep"'}]
    assert answer_of(desk, "why", "a/1")["contrast"] is None


def test_why_contrasts_the_attempt_that_is_cited(demo: Path) -> None:
    """Each of the three that failed has a contrast of its own; without one the closest is shown."""
    task = "office_desk_aster-8b/0"
    for cited in (":0", ":1", ":3", ""):
        story = json.loads(call("why", f"{task}{cited}", "--json", "--warehouse", demo).stdout)
        contrast = story["contrast"]
        assert contrast["failing"].startswith(f"{task}{cited}#" if cited else f"{task}:")
        assert contrast["passing"].startswith(f"{task}:2#")
        assert cited or contrast["is_closest"]


def test_why_compares_runs_only_where_they_ask_the_same(desk: Results) -> None:
    """A run that asks something else under the same name is pointed out, and no lead to follow."""
    own, other = answer_of(desk, "why", "a/0")["runs"]
    assert (own["run_id"], own["bucket"]) == ("a", "sometimes")
    assert (own["n_passed"], own["n_scored"]) == (1, 2)
    assert (own["is_same_question"], other["is_same_question"]) == (True, False)
    page = outcome_of(desk, "why", "a/0").stdout
    assert "asks another question under this name" in page and "blade why b/0" not in page
    assert "blade why b/1" in outcome_of(desk, "why", "a/1").stdout


def test_why_says_who_gave_a_cause(desk: Results) -> None:
    """A label comes with who gave it and where; of what the record states, that it does."""
    own = answer_of(desk, "why", "a/1")["runs"][0]
    assert (own["cause"], own["source"], own["said_by"]) == ("BI+KG", "label", "the review")
    assert own["label_source"] == "labels.jsonl:1"
    assert own["note"] == {"text": "never frees the disk", "n_characters": 20}
    page = outcome_of(desk, "why", "a/1").stdout
    for part in ("by the label", "never frees", "labels.jsonl:1", "by the review", "a/1:0#2"):
        assert part in page
    assert "behaviour (BI) and knowledge gap (KG)" in page
    own, other = answer_of(desk, "why", "a/0")["runs"]
    assert (own["cause"], own["source"], other["cause"]) == ("IR", "record", None)
    assert "by the record" in outcome_of(desk, "why", "a/0").stdout


def test_why_shows_what_the_record_says(desk: Results, booked: Results) -> None:
    """Of each failing attempt its notes with the event; expected calls beside those made."""
    first, second = answer_of(desk, "why", "a/1")["attempts"]
    notes = [(each["kind"], each["note"]["text"], each["seq"]) for each in first["notes"]]
    assert notes == [("error", "error: disk 7 is full", 2), ("field", "timed_out = true", None)]
    assert len(second["notes"]) == 2
    calls = answer_of(booked, "why", "a/12")["expected_calls"]
    assert [(call["status"], call["tool"]) for call in calls] == [
        ("never", "pay"),
        ("unasked", "look"),
    ]


def test_why_tells_of_a_task_the_run_lacks(desk: Results) -> None:
    """That other runs have it and this one has not is the story."""
    story = answer_of(desk, "why", "b/2")
    assert (story["n_attempts"], story["attempts"], story["runs"][0]["n_scored"]) == (0, [], None)
    page = outcome_of(desk, "why", "b/2").stdout
    assert "the run has no attempt at this task" in page and "question 2" in page


def test_why_tells_of_a_failed_attempt(desk: Results) -> None:
    """Its class and its message, though there is no rollout to show."""
    page = outcome_of(desk, "why", "a/3").stdout
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
    story = answer_of(desk, "why", asked_for)
    assert (story["task_id"], story["rollout_index"]) == (task, index)
    order = [attempt["rollout_index"] for attempt in story["attempts"]]
    assert order == ([1, 0] if index == 1 else [0, 1])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["why", "a"], ["a is not RUN/TASK", "blade why run_a/17"]),
        (["why", "c/0"], ["c: no such run", "Runs: a, b, evil, odd"]),
        (["why", "a/9"], ["9: no such task in run a", "Tasks: 0, 1, 2, 3"]),
        (["why", "a/0:7"], ["a/0:7: no such attempt", "0, 1, 2"]),
        (["failures", "a", "--limit", "0"], ["--limit"]),
    ],
)
def test_what_is_missing_is_reported(desk: Results, arguments: list[str], parts: list[str]) -> None:
    """Exit code 2, with what there is."""
    refused = outcome_of(desk, *arguments)
    assert (refused.code, refused.stdout) == (2, "")
    for part in parts:
        assert part in refused.stderr


def test_hostile_text_is_inert_and_bounded(desk: Results) -> None:
    """Nothing a terminal acts on, no line of a rollout's own, and not a page of it."""
    task = evil_task(desk)
    for arguments in (["failures"], ["why", task], ["why", f"{task}:1"]):
        page = outcome_of(desk, *arguments)
        assert page.code == 0, page.stderr
        assert not TERMINAL_ACTIVE.search(page.stdout)
        assert "\n# line" not in page.stdout
        assert len(page.stdout) < 20_000
        as_json = outcome_of(desk, *arguments, "--json").stdout
        assert not TERMINAL_ACTIVE.search(as_json)
        assert len(as_json) < 40_000
    refused = outcome_of(desk, "why", f"evil/{EVIL}?")
    assert refused.code == 2 and not TERMINAL_ACTIVE.search(refused.stderr)


def test_what_is_cut_says_how_long_it_was(desk: Results) -> None:
    """Texts that may be cut come with the length of the whole."""
    story = answer_of(desk, "why", evil_task(desk))
    question = story["question"]
    assert len(question["text"]) == 1000
    assert question["n_characters"] == len(EVIL) + len(LONG)
    argument = story["contrast"]["arguments"][0]["failing"]
    assert len(argument) < 200 < len(LONG)
    (own,) = story["runs"]
    assert (len(own["note"]["text"]), own["note"]["n_characters"]) == (1000, 9000)


def test_commands_to_run_next_are_quoted(desk: Results) -> None:
    """A name from a file cannot add words to a command that is pasted."""
    task = evil_task(desk)
    for line in answer_of(desk, "why", task)["next"]:
        words = shlex.split(line)
        assert words[0] == "blade" and words[3:] == ["--warehouse", str(desk.path.parent)]
        assert words[2] == "evil" or words[2].startswith(task)
