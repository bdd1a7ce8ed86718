"""promptfoo: results by test, prompt and provider, with their assertions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fact_files import facts_of
from tests.results import Row, analyzed


def result(test: int, place: int, city: str, *, is_passed: bool, **more: Any) -> Row:
    """One result, as version 3 and 4 write it."""
    provider = ("openai:m-1", "openai:m-1", "local")[place]
    label = ("Ask: {{city}}", "Say: {{city}}", "Ask: {{city}}")[place]
    checks = [
        {"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "is-json"}},
        {
            "pass": is_passed,
            "score": 0.9 if is_passed else 0.2,
            "reason": "Paris is missing",
            "assertion": {"type": "contains", "value": "Paris", "metric": "right"},
        },
        {"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "is-json"}},
    ]
    return {
        "id": f"r-{test}-{place}",
        "testIdx": test,
        "promptIdx": place,
        "provider": {"id": provider, "label": ""},
        "prompt": {"raw": label.replace("{{city}}", city), "label": label},
        "vars": {"city": city},
        "testCase": {"vars": {"city": city}, "assert": [{"type": "is-json"}]},
        "success": is_passed,
        "score": 0.95 if is_passed else 0.6,
        "namedScores": {"right": 0.9 if is_passed else 0.2},
        "gradingResult": {"pass": is_passed, "componentResults": checks},
        "response": {"output": f"{city} is far", "finishReason": "stop"},
        "tokenUsage": {"prompt": 20, "completion": 4, "total": 24},
        "latencyMs": 1500,
        "cost": 0.01,
        "error": None if is_passed else "Paris is missing",
        "failureReason": 0 if is_passed else 1,
        **more,
    }


def prompt(provider: str, label: str, *counts: int) -> Row:
    """A prompt with what the file counts of it."""
    names = ("testPassCount", "testFailCount", "testErrorCount")
    return {
        "raw": label,
        "label": label,
        "provider": provider,
        "metrics": dict(zip(names, counts, strict=True)),
    }


BROKEN = {
    "error": "429 too many requests",
    "failureReason": 2,
    "response": {"error": "429"},
    "gradingResult": None,
    "tokenUsage": {"cached": 7},
    "score": 0,
}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]


def files() -> dict[str, Any]:
    """Two providers, one of them with two prompts; the second test repeats the first."""
    results = [
        result(0, 0, "Rome", is_passed=True),
        result(0, 1, "Rome", is_passed=False),
        result(0, 2, "Rome", is_passed=True, response={"output": CALLS}),
        result(1, 0, "Rome", is_passed=False),
        result(2, 0, "Bonn", is_passed=False, **BROKEN),
        result(2, 2, "Bonn", is_passed=True, response={"output": {"a": 1}}),
        {"testIdx": 9},
    ]
    prompts = [
        prompt("openai:m-1", "Ask: {{city}}", 1, 1, 1),
        prompt("openai:m-1", "Say: {{city}}", 0, 1, 0),
        prompt("local", "Ask: {{city}}", 2, 0, 0),
    ]
    whole = {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "prompts": prompts,
            "results": results,
            "stats": {"successes": 3},
        },
        "config": {"description": "cities"},
    }
    first = {
        "version": 1,
        "results": [
            {
                "prompt": {"raw": "Hi Ann", "display": "Hi {{name}}"},
                "vars": {"name": "Ann"},
                "response": {"output": "Hello"},
                "success": True,
            }
        ],
        "stats": {"successes": 1, "failures": 0},
    }
    return {
        "cities/output.json": [whole],
        "names/first.json": [first],
        "lines/out.jsonl": [result(0, 2, "Oslo", is_passed=True)],
        "cut/output.json": '{"evalId": "e", "results": {"prompts": [], "results": [{"vars": {',
    }


test_runs = facts_of(files(), "promptfoo")


DENIED = "API call error: 401 Unauthorized"
DENIALS: dict[str, Row] = {
    "an error": {**BROKEN, "error": DENIED},
    "a failed assertion": {"response": {"error": DENIED}},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", DENIALS)
def test_every_response_is_the_same_error(case: str, tmp_path: Path) -> None:
    """One finding with its count, whether the file calls these attempts errors or failures."""
    results = [result(n, 0, f"city {n}", is_passed=False, **DENIALS[case]) for n in range(5)]
    whole = {"evalId": "e", "results": {"version": 3, "prompts": [], "results": results}}
    actual = analyzed(tmp_path, {"output.json": [whole]})
    is_scored = case == "a failed assertion"
    assert actual.rows("select distinct is_scored, reward from rollouts") == [
        (is_scored, 0.0 if is_scored else None)
    ]
    assert actual.rows("select mode, n_failures, n_failures_observed from findings limit 1") == [
        ("error_message = API call error: 401 Unauthorized", 5, 5)
    ]
    text = (actual.path.parent / "report.md").read_text(encoding="utf-8")
    counted = "5 of 5 failures" if is_scored else "5 of 5 attempts (none is graded)"
    assert f"1. `error_message = API call error: 401 Unauthorized`: {counted}" in text


@pytest.mark.slow
def test_a_pattern_that_ends_in_a_line_break_shows_it(tmp_path: Path) -> None:
    """Hardly an answer matches it, and nobody would see why."""
    checks = [{"pass": False, "assertion": {"type": "regex", "value": "a b\n"}}]
    row = result(0, 0, "Rome", is_passed=False, gradingResult={"componentResults": checks})
    results = analyzed(
        tmp_path,
        {"results.json": [{"evalId": "e", "results": {"results": [row]}}]},
        needs=["checks"],
    )
    assert ("regex: a b\\n",) in results.rows("select check_name from checks")


@pytest.mark.slow
def test_sampling_is_the_provider_s(tmp_path: Path) -> None:
    """It is in the configuration after the rows; asked in two ways, a provider's is unknown."""
    providers = [
        {"id": "hub:openai:m-1", "config": {"temperature": 0.7, "max_tokens": 9, "apiKey": "x"}},
        {"local": {"config": {"temperature": 0, "top_p": "{{p}}"}}},
        "echo",
        {"id": "two", "config": {"temperature": 0}},
        {"id": "two", "config": {"temperature": 1}},
    ]
    rows = [result(0, place, "Rome", is_passed=True) for place in (0, 2)]
    rows += [{**rows[0], "provider": {"id": name}, "promptIdx": 9} for name in ("echo", "two")]
    whole = {"evalId": "e", "results": {"results": rows}, "config": {"providers": providers}}
    actual = analyzed(tmp_path, {"output.json": [whole]}, needs=["runs"])
    assert actual.rows("select model, sampling::varchar from runs order by all") == [
        ("echo", "{}"),
        ("local", '{"temperature": 0.0}'),
        ("openai:m-1", '{"temperature": 0.7, "max_output_tokens": 9}'),
        ("two", "{}"),
    ]


@pytest.mark.slow
def test_a_benchmark_has_the_name_of_the_file_of_tests(tmp_path: Path) -> None:
    """Where names of runs have nothing in common; a file called `tests` says nothing."""
    files: dict[str, Any] = {}
    sets = {
        "one_m": "far/cities.csv",
        "two_n": "cities.csv",
        "three": "tests.csv",
        "four": "b.yaml",
    }
    for place, (name, tests) in enumerate(sets.items()):
        cities = ("Rome", "Bonn") if place < 2 else ("Oslo", "Riga")
        rows = [result(n, 0, city, is_passed=n > 0) for n, city in enumerate(cities)]
        rows = [{**row, "id": f"{name}-{row['id']}", "latencyMs": place} for row in rows]
        whole = {"evalId": name, "results": {"version": 3, "prompts": [], "results": rows}}
        files[f"{name}.json"] = [whole | {"config": {"tests": [f"file://{tests}"]}}]
    actual = analyzed(tmp_path, files, needs=("runs",))
    assert actual.rows("select run_id, benchmark from runs order by all") == [
        ("four", "four"),
        ("one_m", "cities"),
        ("three", "four"),
        ("two_n", "cities"),
    ]
    settings = "select run_id, value from staging.run_settings where name = 'test_set' order by all"
    assert actual.rows(settings) == [
        ("four", "b"),
        ("one_m", "cities"),
        ("three", "tests"),
        ("two_n", "cities"),
    ]
