"""promptfoo: the output of `promptfoo eval`, a row per test, prompt and provider."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind
from . import (
    Claim,
    Claims,
    Files,
    Object,
    Reading,
    Readings,
    Reject,
    Row,
    Setting,
    as_json,
    atif,
    counted,
    fields,
    figure,
    get,
    gym_row,
    head,
    items,
    message,
    number,
    objects,
    packed,
    recorded,
    scores_of,
    text,
    total,
    without_empty,
)
from .chat import chat

TITLE = "promptfoo"
FILES = "`*.json` and `*.jsonl` of `promptfoo eval --output` (`results.results`)"
GIVES = "checks transcript tokens durations"
SCORE = (
    "`success` as 1 or 0; unscored after an error of the provider (`failureReason` 2). `score` and "
    "`namedScores` are scores beside it, `componentResults` are checks with their reasons"
)
NOTES = (
    "One run per provider and prompt. Tests with the same `vars` and assertions are repeats of one "
    "task, since promptfoo numbers each repeat as a test. `vars` and `metadata` are slices. "
    "promptfoo's own share counts errors as not passed. Runs that share questions and the file of "
    "their tests are a benchmark of its name."
)
NAMES = re.compile(r"\.jsonl?$", re.IGNORECASE)
BEGINNING = re.compile(rb'\s*\{\s*"(evalId|version|results)"\s*:')
ERROR = 2
LONGEST_NAME = 120
# What a provider's configuration calls its sampling, and what rows do.
SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
}
# `file://tests/cities.csv`, and what may follow: a function in it, a sheet.
TEST_FILE = re.compile(
    r"([^/\\]+)\.(?:csv|ya?ml|jsonl?|xlsx?|[cm]?[jt]s|py)(?:[:#][^/\\]*)?$", re.I
)
COUNTS = ("testPassCount", "testFailCount", "testErrorCount")


def claims(files: Files) -> Claims:
    """Outputs, by the keys of their first prompt or result."""
    for file in files:
        begun = head(file.path)
        is_document = BEGINNING.match(begun) and b'"results"' in begun and b'"prompt' in begun
        is_ours = is_document and (b'"testPassCount"' in begun or b'"vars"' in begun)
        is_row = file.base[-1] in "lL" and b'"testIdx"' in begun and b'"promptIdx"' in begun
        if is_ours or is_row:
            yield Claim(file, Kind.ROLLOUTS, file.folder, file.base.rpartition(".")[0])


def read(artifact: Artifact) -> Readings:
    is_lines = artifact.path.name.lower().endswith("l")
    config = None if is_lines else _config(artifact.path)
    columns = Columns(_sampling(config))
    yield from _test_set(config)
    if is_lines:
        contents: Iterable[tuple[str, Any]] = (("results", row) for row in objects(artifact.path))
    else:
        contents = packed.fields(artifact.path, "results")
    for name, value in contents:
        if name == "prompts":
            columns.prompts = [columns.variant(one, get(one, "provider")) for one in items(value)]
            yield from _figures(items(value), columns.prompts)
            yield from _template(items(value))
        elif name == "results" and isinstance(value, Reading):
            yield value
        elif name == "results":
            is_result = isinstance(get(value, "success"), bool) and get(value, "prompt") is not None
            reject = Reject("no result of promptfoo: no success or no prompt", str(value)[:200])
            yield columns.row(value) if is_result else reject


def _template(prompts: list[Any]) -> Readings:
    """The prompt that all rows fill in, if a file has one: two files may differ in it."""
    raw = {text(one, "raw") for one in prompts}
    if len(raw) == 1 and (written := next(iter(raw))):
        yield from (Setting(*each) for each in recorded({"prompt template": written}))


def _figures(prompts: list[Any], variants: list[str]) -> Readings:
    for prompt, variant in zip(prompts, variants, strict=True):
        n_passed, *others = [number(prompt, "metrics", key) for key in COUNTS]
        n_tests = total([n_passed, *others])
        if n_tests and n_passed is not None:
            yield counted("tests", n_tests, "num_rollouts", variant)
            share = n_passed / n_tests
            yield figure("testPassCount / tests", share, "filled_mean/reward", variant=variant)


def _config(path: Path) -> Any:
    """The configuration after the rows; a document that is damaged says so where these are read."""
    with suppress(ValueError):
        return next((one for name, one in packed.fields(path, "results") if name == "config"), None)
    return None


def _test_set(config: Any) -> Readings:
    """The file of all tests, if there is one."""
    tests = get(config, "tests")
    paths = {text(get(one, "path") or one) for one in (items(tests) or [tests])}
    path = paths.pop() if len(paths) == 1 else None
    if path and (match := TEST_FILE.search(path)):
        yield Setting("test_set", match[1])


def _sampling(config: Any) -> dict[str, Object]:
    """How each provider was asked, by its label or id."""
    ways_of: dict[str, list[Object]] = defaultdict(list)
    for provider in items(config, "providers"):
        # Either the entry is the provider, or its only key is the provider's id.
        is_keyed = isinstance(provider, dict) and len(provider) == 1 and "id" not in provider
        name, about = next(iter(provider.items())) if is_keyed else (_provider(provider), provider)
        if name is not None:
            own = fields(about, "config")
            ways_of[text(about, "label") or name].append(
                {
                    ours: value
                    for theirs, ours in SAMPLING.items()
                    if (value := number(own, theirs)) is not None
                }
            )
    # Of one provider in several ways the rows do not say which is theirs.
    return {name: ways[0] for name, ways in ways_of.items() if all(way == ways[0] for way in ways)}


class Columns:
    """The providers and prompts of a file, and its tests."""

    def __init__(self, sampling: dict[str, Object]) -> None:
        self.sampling = sampling
        self.prompts: list[str] = []
        self.known: dict[tuple[str, str], str] = {}
        self.tests: dict[str, str] = {}

    def variant(self, prompt: Any, provider: Any) -> str:
        """The provider, with the number of the prompt from its second one on."""
        model = _provider(provider) or "provider"
        key = (model, str(get(prompt, "label") or get(prompt, "display") or prompt))
        nth = 1 + sum(one == model for one, _ in self.known)
        return self.known.setdefault(key, model if nth == 1 else f"{model}-prompt-{nth}")

    def sampling_of(self, provider: str | None) -> Object:
        """The sampling of a provider, which rows may name by what follows its first colon."""
        if provider in self.sampling:
            return self.sampling[provider]
        known = [own for name, own in self.sampling.items() if name.partition(":")[2] == provider]
        return known[0] if len(known) == 1 else {}

    def row(self, result: Object) -> Row:
        test = fields(result, "testCase")
        variables = fields(result, "vars") or fields(test, "vars")
        content = as_json([variables, test.get("assert"), test.get("description")])
        question = hashlib.sha256(content.encode(errors="replace")).hexdigest()
        nth, place = result.get("testIdx"), result.get("promptIdx")
        first = str(nth if isinstance(nth, int) else len(self.tests))
        variant = self.variant(result["prompt"], result.get("provider"))
        if isinstance(place, int) and 0 <= place < len(self.prompts):
            variant = self.prompts[place]
        row = _row(result, {**variables, **fields(test, "metadata")})
        row["responses_create_params"] |= self.sampling_of(_provider(result.get("provider")))
        row["_ng_task_index"] = self.tests.setdefault(question, first)
        return Row(row, variant=variant, order=first.zfill(9), question=question)


def _provider(provider: Any) -> str | None:
    return text(get(provider, "label") or get(provider, "id")) or text(provider)


def _row(result: Object, slices: Object) -> Object:
    response, grading = fields(result, "response"), fields(result, "gradingResult")
    error = text(result, "error")
    is_broken = result.get("failureReason") == ERROR or (
        error and not grading and "failureReason" not in result
    )
    reward = None if is_broken else float(result["success"])
    spent = fields(result, "tokenUsage") or fields(response, "tokenUsage")
    counts = {
        "input_tokens": number(spent, "prompt"),
        "output_tokens": number(spent, "completion"),
    }
    # Of an answer from the cache no tokens are recorded.
    counts = counts if total(counts.values()) else {}
    scores = {"success": reward, "score": result.get("score"), **fields(result, "namedScores")}
    latency = number(result, "latencyMs")
    raw = get(result, "prompt", "raw") or text(result["prompt"]) or ""
    return gym_row(
        None,
        reward,
        request={"input": list(chat(raw, "user")), "model": _provider(result.get("provider"))},
        response={
            "output": _output(response["output"]) if "output" in response else None,
            "usage": atif.usage({**counts, "cost": number(result, "cost")}),
        },
        **scores_of({} if is_broken else scores, "success"),
        component_results=list(_checks(grading)),
        failed_assertion_types=_failed_types(grading),
        grading_reason=text(grading, "reason"),
        # What failed an assertion is the reason of the grade, and no error.
        error_message=error if is_broken else text(response, "error"),
        finish_reason=text(response, "finishReason"),
        total_run_time=None if latency is None else latency / 1000,
        metadata=slices,
    )


def _output(output: Any) -> list[Any]:
    """What the provider answered: text, calls of tools, or any other JSON."""
    calls = output if isinstance(output, list) else [output]
    if calls and all(get(one, "function") for one in calls):
        return list(chat([{"role": "assistant", "tool_calls": calls}]))
    return [message(output if isinstance(output, str) else as_json(output))]


def _visible_end(value: str | None) -> str | None:
    """A value whose closing line breaks can be seen: a pattern that ends in one hardly matches."""
    if value is None:
        return None
    bare = value.rstrip()
    return bare + value[len(bare) :].replace("\n", r"\n")


def _failed_types(grading: Object) -> list[str]:
    """The types of the assertions that failed; their values differ from test to test."""
    failed = [one for one in items(grading, "componentResults") if get(one, "pass") is False]
    return sorted({kind for one in failed if (kind := text(one, "assertion", "type"))})


def _checks(grading: Object) -> Iterator[Object]:
    """The assertions; one without a metric is named after its type and value."""
    seen: Counter[str] = Counter()
    for one in items(grading, "componentResults"):
        assertion = fields(one, "assertion")
        parts = [text(assertion, "type"), _visible_end(text(assertion, "value"))]
        plain = text(assertion, "metric") or ": ".join(part for part in parts if part)
        plain = " ".join((plain or "assertion").split())[:LONGEST_NAME]
        seen[plain] += 1
        yield without_empty(
            {
                "name": plain if seen[plain] == 1 else f"{plain} ({seen[plain]})",
                "pass": get(one, "pass"),
                "score": number(one, "score"),
                "reason": text(one, "reason"),
            }
        )
